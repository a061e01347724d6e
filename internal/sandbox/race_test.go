package sandbox_test

import (
	"fmt"
	"net/http"
	"net/url"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"airtable-replay/internal/sandbox"
)

// Upserts, edits by hand, listings, webhooks, faults and a moving clock at
// once: the log of changes must tell exactly the state that is left.
func TestEverythingAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, noLimits())
	w.makeHook(`{` + allData + `}`)
	_, err := w.box.AddFault(sandbox.Fault{Method: http.MethodPatch, Times: 10, Status: 503, ApplyLater: sandbox.Duration(time.Second), Skip: 3})
	require.NoError(t, err)
	var group sync.WaitGroup
	for worker := range 8 {
		group.Go(func() {
			for i := range 25 {
				body := upsertBody(fmt.Sprintf(`{"fields":{"Order ID":"K-%d","Qty":%d}}`, i%5, worker*100+i), `"Order ID"`)
				serve(w.box, "PATCH", "/v0/"+baseID+"/Orders", body)
				serve(w.box, "GET", "/v0/"+baseID+"/Orders?filterByFormula="+url.QueryEscape("{Order ID}='K-1'"), "")
				_, err := w.box.Edit(sandbox.Edit{Base: baseID, Table: "Orders", Record: "recOrder000000001", Fields: map[string]any{"Notes": fmt.Sprint(worker, i)}})
				if err != nil {
					t.Error(err)
				}
				serve(w.box, "GET", "/_sandbox/changes?after=100", "")
				w.box.Advance(100 * time.Millisecond)
			}
		})
	}
	group.Wait()
	w.box.Advance(time.Hour)
	records, err := w.box.Records(baseID, "Orders")
	require.NoError(t, err)
	cells := map[string]any{}
	for i, change := range w.box.Changes() {
		require.Equal(t, i+1, change.Seq)
		cells[change.Record+change.Field] = change.New
	}
	keys := map[any]int{}
	for _, r := range records {
		keys[r.Fields["Order ID"]]++
		for _, name := range []string{"Order ID", "Qty", "Notes"} {
			if v, changed := cells[r.ID+name]; changed {
				require.Equal(t, v, r.Fields[name])
			}
		}
	}
	for i := range 5 {
		require.Equal(t, 1, keys[fmt.Sprintf("K-%d", i)], "one lock: no key is created twice")
	}
}

// A batch is seen whole or not at all.
func TestReadersSeeWholeBatches(t *testing.T) {
	t.Parallel()
	w := newWorld(t, noLimits())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for i := range 100 {
			serve(w.box, "PATCH", "/v0/"+baseID+"/Orders", fmt.Sprintf(
				`{"records":[{"id":"recOrder000000001","fields":{"Qty":%d}},{"id":"recOrder000000002","fields":{"Qty":%d}}]}`, i+1, i+1))
		}
	}()
	for running := true; running; {
		select {
		case <-done:
			running = false
		default:
		}
		records, err := w.box.Records(baseID, "Orders")
		require.NoError(t, err)
		if records[0].Fields["Qty"] != nil {
			require.Equal(t, records[0].Fields["Qty"], records[1].Fields["Qty"])
		}
	}
}
