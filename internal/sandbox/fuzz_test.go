package sandbox_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"airtable-replay/internal/sandbox"
)

// Whatever a client sends, it is answered in JSON, and a refusal changes nothing.
func FuzzRequest(f *testing.F) {
	for _, seed := range [][3]string{
		{"GET", "/Orders?filterByFormula={Qty}=1&sort[0][field]=Qty&fields[]=Qty", ""},
		{"POST", "/Orders/listRecords", `{"filterByFormula":"OR({Order ID}='O-1')","sort":[{"field":"Qty"}],"offset":"itrA/recA"}`},
		{"PATCH", "/Orders", `{"performUpsert":{"fieldsToMergeOn":["Order ID"]},"typecast":true,"records":[{"fields":{"Order ID":"O-1","Tags":["x"],"Account":["n"]}}]}`},
		{"PUT", "/Orders/recOrder000000001", `{"fields":{"Files":[{"url":"https://a.b/c"}],"Code":{"text":"1"},"Owner":{"email":"x"}}}`},
		{"DELETE", "/Orders?records[]=recOrder000000001", ""},
	} {
		f.Add(seed[0], seed[1], seed[2])
	}
	parsed, err := sandbox.ParseSeed([]byte(seedYAML))
	require.NoError(f, err)
	f.Fuzz(func(t *testing.T, method, path, body string) {
		req, err := http.NewRequest(method, "http://sandbox.example/v0/"+baseID+path, strings.NewReader(body))
		if err != nil {
			t.Skip("no request at all")
		}
		req.RequestURI = req.URL.RequestURI()
		req.Header.Set("Authorization", "Bearer "+token)
		box, err := sandbox.New(parsed, sandbox.Config{})
		require.NoError(t, err)
		defer box.Close()
		rec := httptest.NewRecorder()
		box.Handler().ServeHTTP(rec, req)
		if rec.Code == http.StatusMovedPermanently || len(box.Requests()) == 0 {
			return // the path left the API
		}
		require.True(t, json.Valid(rec.Body.Bytes()), rec.Body.String())
		require.Less(t, rec.Code, 500)
		if rec.Code >= 400 {
			require.Empty(t, box.Changes())
		}
	})
}
