package sandbox_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"airtable-replay/internal/sandbox"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	baseID = "appOrdersSandbox01"
	token  = "patSandbox.full"
)

// start is when the tests' clocks begin; it stands still until a test moves it.
var start = time.Date(2026, 10, 4, 12, 0, 0, 0, time.UTC)

// seedYAML has a table with every writable type, and one linked to it.
const seedYAML = `
bases:
  - id: appOrdersSandbox01
    name: Orders
    tokens: [patSandbox.full]
    tables:
      - name: Accounts
        fields:
          - {name: Account ID, type: singleLineText}
          - {name: Name, type: singleLineText}
          - {name: Orders, type: multipleRecordLinks, linked_table: Orders, inverse: Account}
          - {name: Orders Changed At, type: lastModifiedTime, watches: [Orders]}
        records:
          - {_id: recAcme0000000001, Account ID: A-1, Name: Acme}
          - {_id: recBolt0000000001, Account ID: A-2, Name: Bolt}
      - name: Orders
        primary: Order ID
        fields:
          - {name: Order ID, type: singleLineText}
          - {name: Status, type: singleSelect, choices: [Pending, Shipped, Delivered]}
          - {name: Tags, type: multipleSelects, choices: [red, green, blue]}
          - {name: Qty, type: number}
          - {name: Price, type: currency}
          - {name: Share, type: percent}
          - {name: Wait, type: duration}
          - {name: Stars, type: rating, max: 5}
          - {name: Active, type: checkbox}
          - {name: Delivery Date, type: date}
          - {name: Source Updated At, type: dateTime}
          - {name: Local Time, type: dateTime, time_zone: America/Los_Angeles}
          - {name: Notes, type: multilineText}
          - {name: Story, type: richText}
          - {name: Mail, type: email}
          - {name: Files, type: multipleAttachments}
          - {name: Code, type: barcode}
          - {name: Owner, type: singleCollaborator}
          - {name: Team, type: multipleCollaborators}
          - {name: Account, type: multipleRecordLinks, linked_table: Accounts, inverse: Orders}
          - {name: Account Name, type: multipleLookupValues, link: Account, field: Name}
          - {name: Accounts Held, type: count, link: Account}
          - {name: Account Names, type: rollup, link: Account, field: Name, formula: "ARRAYJOIN(values, '+')"}
          - {name: Label, type: formula, formula: "{Order ID} & '/' & {Status}"}
          - {name: Ratio, type: formula, formula: "1 / {Qty}"}
          - {name: Number, type: autoNumber}
          - {name: Created, type: createdTime}
          - {name: Changed, type: lastModifiedTime}
          - {name: Delivery Date Changed At, type: lastModifiedTime, watches: [Delivery Date]}
          - {name: Changed By, type: lastModifiedBy}
          - {name: Open, type: button, label: Open, formula: "'https://shop.example/' & {Order ID}"}
        views:
          - {name: Shipped, filter: "{Status}='Shipped'", sort: [{field: Order ID, desc: true}]}
        records:
          - {_id: recOrder000000001, Order ID: O-1, Status: Delivered, Delivery Date: 2026-10-01, Source Updated At: 2026-10-04T08:00:00Z, _modified: {Delivery Date: 2026-09-28T10:00:00Z}}
          - {_id: recOrder000000002, Order ID: O-2, Status: Pending, Qty: 0, Account: [A-1]}
`

// world is a sandbox behind HTTP with a clock that only the test moves.
type world struct {
	t     *testing.T
	box   *sandbox.Sandbox
	url   string
	clock *manualClock
}

// manualClock stands still until it is moved.
type manualClock struct{ nanos atomic.Int64 }

func (c *manualClock) Now() time.Time { return time.Unix(0, c.nanos.Load()) }

// pass lets time go by.
func (w *world) pass(d time.Duration) {
	w.clock.nanos.Add(int64(d))
	w.box.Wake()
}

func noLimits() sandbox.Config { return sandbox.Config{Penalty: 30 * time.Second} }

func newWorld(t *testing.T, cfg sandbox.Config) *world {
	t.Helper()
	return seededWorld(t, seedYAML, cfg)
}

func seededWorld(t *testing.T, yaml string, cfg sandbox.Config) *world {
	t.Helper()
	seed, err := sandbox.ParseSeed([]byte(yaml))
	require.NoError(t, err)
	clock := &manualClock{}
	clock.nanos.Store(start.UnixNano())
	if cfg.Now == nil {
		cfg.Now = clock.Now
	}
	box, err := sandbox.New(seed, cfg)
	require.NoError(t, err)
	server := httptest.NewServer(box.Handler())
	t.Cleanup(func() {
		box.Close()
		server.Close()
	})
	return &world{t: t, box: box, url: server.URL, clock: clock}
}

// answer is a response with its body read.
type answer struct {
	t      *testing.T
	status int
	header http.Header
	body   string
}

func (w *world) send(method, path, body string, header ...string) answer {
	w.t.Helper()
	req, err := http.NewRequestWithContext(w.t.Context(), method, w.url+path, strings.NewReader(body))
	require.NoError(w.t, err)
	req.Header.Set("Authorization", "Bearer "+token)
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := client.Do(req)
	require.NoError(w.t, err)
	defer func() { require.NoError(w.t, resp.Body.Close()) }()
	raw, err := io.ReadAll(resp.Body)
	require.NoError(w.t, err)
	return answer{w.t, resp.StatusCode, resp.Header, string(raw)}
}

// client keeps no connections, so that none outlives its test.
var client = &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}

// api sends to a table of the base, control to the control API.
func (w *world) api(method, path, body string) answer {
	w.t.Helper()
	return w.send(method, "/v0/"+baseID+path, body)
}

func (w *world) control(method, path, body string) answer {
	w.t.Helper()
	a := w.send(method, "/_sandbox"+path, body)
	require.Less(w.t, a.status, 300, a.body)
	return a
}

// json decodes the answer's body.
func (a answer) json() map[string]any {
	a.t.Helper()
	dec := json.NewDecoder(bytes.NewReader([]byte(a.body)))
	dec.UseNumber()
	var v map[string]any
	require.NoError(a.t, dec.Decode(&v), a.body)
	return v
}

// is wants a status and exactly that body.
func (a answer) is(status int, body string) {
	a.t.Helper()
	require.Equal(a.t, status, a.status, a.body)
	require.Equal(a.t, body, a.body)
}

// fails wants a refusal in the usual envelope; no message: any.
func (a answer) fails(status int, kind, message string) {
	a.t.Helper()
	require.Equal(a.t, status, a.status, a.body)
	if message == "" {
		require.Contains(a.t, a.body, `"type":"`+kind+`"`)
		return
	}
	want := map[string]any{"type": kind, "message": message}
	require.Empty(a.t, cmp.Diff(map[string]any{"error": want}, a.json()))
}

// fields wants success and gives the fields of a single record.
func (a answer) fields() map[string]any {
	a.t.Helper()
	require.Equal(a.t, http.StatusOK, a.status, a.body)
	fields, ok := a.json()["fields"].(map[string]any)
	require.True(a.t, ok, a.body)
	return fields
}

// records wants success and gives the records of a list or batch.
func (a answer) records() []map[string]any {
	a.t.Helper()
	require.Equal(a.t, http.StatusOK, a.status, a.body)
	var out struct{ Records []map[string]any }
	require.NoError(a.t, json.Unmarshal([]byte(a.body), &out))
	return out.Records
}

func (a answer) ids() []string {
	a.t.Helper()
	var ids []string
	for _, r := range a.records() {
		ids = append(ids, r["id"].(string))
	}
	return ids
}

func number(text string) json.Number { return json.Number(text) }

// serve answers without a network.
func serve(box *sandbox.Sandbox, method, path, body string) *httptest.ResponseRecorder {
	req := httptest.NewRequest(method, path, strings.NewReader(body))
	req.Header.Set("Authorization", "Bearer "+token)
	rec := httptest.NewRecorder()
	box.Handler().ServeHTTP(rec, req)
	return rec
}

func encodeFields(fields map[string]any) (string, error) {
	raw, err := json.Marshal(map[string]any{"fields": fields})
	return string(raw), err
}

func (w *world) set(change func(*sandbox.Options)) {
	w.t.Helper()
	require.NoError(w.t, w.box.SetOptions(change))
}
