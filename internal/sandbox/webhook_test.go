package sandbox_test

import (
	"net/http"
	"net/http/httptest"
)

// listenForPings makes a webhook of the base and returns a channel of its pings.
func (w *world) listenForPings() <-chan *http.Request {
	w.t.Helper()
	pings := make(chan *http.Request, 100)
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		pings <- r
		rw.WriteHeader(http.StatusNoContent)
	}))
	w.t.Cleanup(server.Close)
	w.makeHook(`{"notificationUrl":"` + server.URL + `","specification":{"options":{"filters":{"dataTypes":["tableData"]}}}}`)
	return pings
}

func (w *world) makeHook(body string) map[string]any {
	w.t.Helper()
	a := w.send("POST", "/v0/bases/"+baseID+"/webhooks", body)
	if a.status != http.StatusOK {
		w.t.Fatal(a.body)
	}
	return a.json()
}
