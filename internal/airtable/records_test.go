package airtable_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"airtable-replay/internal/airtable"
)

const expiredCursor = `{"error":{"type":"LIST_RECORDS_ITERATOR_NOT_AVAILABLE"}}`

func page(offset string, ids ...string) string {
	return strings.TrimSuffix(recordsJSON(ids...), "}") + `,"offset":"` + offset + `"}`
}

func ids(recs []airtable.Record) []string {
	out := make([]string, len(recs))
	for i, r := range recs {
		out[i] = r.ID
	}
	return out
}

func query(t *testing.T, a arrival) url.Values {
	t.Helper()
	u, err := url.Parse(a.URI)
	require.NoError(t, err)
	q, err := url.ParseQuery(u.RawQuery)
	require.NoError(t, err)
	return q
}

func TestListSaysWhatWasAsked(t *testing.T) {
	t.Parallel()
	w := serve(t, answer(200, recordsJSON(recA)))
	recs, err := w.client().ListRecords(t.Context(), airtable.ListRequest{
		Base: "appA", Table: "Orders", Fields: []string{"Order No", "Sent At"}, Formula: "{Order No}='A-1'",
		MaxRecords: 25, PageSize: 10, Sort: []airtable.Sort{{Field: "Sent At", Descending: true}, {Field: "Order No"}},
	})
	require.NoError(t, err)
	require.Equal(t, []string{recA}, ids(recs))
	a := w.only()
	require.Equal(t, http.MethodGet, a.Method)
	require.Empty(t, cmp.Diff(url.Values{
		"fields[]":           {"Order No", "Sent At"},
		"filterByFormula":    {"{Order No}='A-1'"},
		"maxRecords":         {"25"},
		"pageSize":           {"10"},
		"sort[0][field]":     {"Sent At"},
		"sort[0][direction]": {"desc"},
		"sort[1][field]":     {"Order No"},
		"sort[1][direction]": {"asc"},
	}, query(t, a)))
}

func TestServerReadsTheIdenticalFormula(t *testing.T) { // B06
	t.Parallel()
	for _, key := range []string{`(A+B) * 100%! #1 & more`, `O'Brien`, `it's Bob's 5" and 6" pipe`, "a\\b\n\tc\r", "é😀\u00a0", "x=y;z?/:@[]{}|^`<>~_-.,$"} {
		w := serve(t, answer(200, recordsJSON()))
		formula := airtable.EqualsAny("Name", []string{key})
		_, err := w.client().ListRecords(t.Context(), airtable.ListRequest{Base: "appA", Table: "Orders", Formula: formula})
		require.NoError(t, err)
		a := w.only()
		require.Equal(t, formula, query(t, a).Get("filterByFormula"))
		_, encoded, _ := strings.Cut(a.URI, "filterByFormula=")
		require.Len(t, encoded, airtable.FormulaLen(formula))
		for _, c := range encoded {
			require.True(t, c == '%' || strings.ContainsRune("-_.~", c) || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z', encoded)
		}
	}
}

func TestListFollowsOffsets(t *testing.T) {
	t.Parallel()
	w := serve(t, answer(200, page("itrX/recY", recA)), answer(200, page("itrX/recZ")), answer(200, recordsJSON(recB, recC)))
	recs, err := w.client().ListRecords(t.Context(), airtable.ListRequest{Base: "appA", Table: "Orders"})
	require.NoError(t, err)
	require.Equal(t, []string{recA, recB, recC}, ids(recs))
	var offsets []string
	for _, a := range w.seen() {
		offsets = append(offsets, query(t, a).Get("offset"))
	}
	require.Equal(t, []string{"", "itrX/recY", "itrX/recZ"}, offsets)
	require.Equal(t, "/v0/appA/Orders", w.seen()[0].URI)
}

func TestListPageIsOneRequest(t *testing.T) {
	t.Parallel()
	w := serve(t, answer(200, page("next", recA)))
	recs, next, err := w.client().ListPage(t.Context(), airtable.ListRequest{Base: "appA", Table: "Orders"}, "")
	require.NoError(t, err)
	require.Equal(t, "next", next)
	require.Equal(t, []string{recA}, ids(recs))
	w.only()
}

func TestEmptyTableAndEmptyCells(t *testing.T) {
	t.Parallel()
	w := serve(t, answer(200, `{"records":[]}`), answer(200, `{"records":[{"id":"`+recA+`","createdTime":"2026-01-02T03:04:05.000Z"}]}`))
	c := w.client()
	recs, err := c.ListRecords(t.Context(), airtable.ListRequest{Base: "appA", Table: "Orders"})
	require.NoError(t, err)
	require.Empty(t, recs)
	recs, err = c.ListRecords(t.Context(), airtable.ListRequest{Base: "appA", Table: "Orders"})
	require.NoError(t, err)
	require.Equal(t, airtable.Fields{}, recs[0].Fields)
}

func TestRecordOnTwoPagesIsOneRecord(t *testing.T) {
	t.Parallel()
	later := strings.Replace(recordsJSON(recA, recC), `{"Qty":0}`, `{"Qty":9}`, 1)
	w := serve(t, answer(200, page("o", recA, recB)), answer(200, later))
	recs, err := w.client().ListRecords(t.Context(), airtable.ListRequest{Base: "appA", Table: "Orders"})
	require.NoError(t, err)
	require.Equal(t, []string{recA, recB, recC}, ids(recs))
	require.Equal(t, json.Number("9"), recs[0].Fields["Qty"])
}

func TestExpiredCursorRestartsTheListing(t *testing.T) {
	t.Parallel()
	w := serve(t, answer(200, page("o", recA)), answer(422, expiredCursor), answer(200, page("p", recB)), answer(200, recordsJSON(recC)))
	recs, err := w.client().ListRecords(t.Context(), airtable.ListRequest{Base: "appA", Table: "Orders"})
	require.NoError(t, err)
	require.Equal(t, []string{recB, recC}, ids(recs))
	require.Empty(t, query(t, w.seen()[2]).Get("offset"))
}

func TestExpiredCursorRestartsBounded(t *testing.T) {
	t.Parallel()
	var script []step
	for range 4 {
		script = append(script, answer(200, page("o", recA)), answer(422, expiredCursor))
	}
	w := serve(t, script...)
	recs, err := w.client().ListRecords(t.Context(), airtable.ListRequest{Base: "appA", Table: "Orders"})
	require.True(t, failureOf(t, err).IsExpiredCursor())
	require.Nil(t, recs)
	require.Len(t, w.seen(), 8)
}

func TestCursorThatDoesNotAdvanceEnds(t *testing.T) {
	t.Parallel()
	w := serve(t, answer(200, page("o", recA)), answer(200, page("o", recB)))
	_, err := w.client().ListRecords(t.Context(), airtable.ListRequest{Base: "appA", Table: "Orders"})
	require.Contains(t, failureOf(t, err).Reason(), "does not advance")
	require.Equal(t, airtable.Retry, airtable.Classify(err))
}

func TestListFailsWithThePageThatFails(t *testing.T) {
	t.Parallel()
	w := serve(t, answer(200, page("o", recA)), answer(503, `<html>`))
	recs, err := w.client().ListRecords(t.Context(), airtable.ListRequest{Base: "appA", Table: "Orders"})
	require.Equal(t, 503, failureOf(t, err).Status)
	require.Nil(t, recs, "half a listing is no listing")
}

func TestLongListIsPosted(t *testing.T) {
	t.Parallel()
	req := airtable.ListRequest{Base: "appA", Table: "Q4/2026", Fields: []string{"No"}, PageSize: 100, Sort: []airtable.Sort{{Field: "No"}}}
	w := serve(t, answer(200, recordsJSON()), answer(200, page("o", recA)), answer(200, recordsJSON(recB)))
	c := w.client()
	address := func(r airtable.ListRequest) int {
		q := "fields%5B%5D=No&filterByFormula=&pageSize=100&sort%5B0%5D%5Bfield%5D=No&sort%5B0%5D%5Bdirection%5D=asc"
		return len(w.url()+"/v0/appA/Q4%2F2026?"+q) + airtable.FormulaLen(r.Formula)
	}
	req.Formula = strings.Repeat("x", 15_000-address(req))
	require.Equal(t, 15_000, address(req))
	_, err := c.ListRecords(t.Context(), req)
	require.NoError(t, err)
	req.Formula += "'"
	recs, err := c.ListRecords(t.Context(), req)
	require.NoError(t, err)
	require.Equal(t, []string{recA, recB}, ids(recs))

	all := w.seen()
	require.Equal(t, http.MethodGet, all[0].Method)
	require.Len(t, w.url()+all[0].URI, 15_000)
	for i, offset := range []string{"", `,"offset":"o"`} {
		a := all[i+1]
		require.Equal(t, http.MethodPost, a.Method)
		require.Equal(t, "/v0/appA/Q4%2F2026/listRecords", a.URI)
		require.Equal(t, fmt.Sprintf(`{"fields":["No"],"filterByFormula":%q,"pageSize":100,"sort":[{"field":"No","direction":"asc"}]%s}`, req.Formula, offset), a.Body)
	}
}

func TestInvalidListsAreNotSent(t *testing.T) {
	t.Parallel()
	for name, req := range map[string]airtable.ListRequest{
		"no base":              {Table: "Orders"},
		"no table":             {Base: "appA"},
		"page of 101":          {Base: "appA", Table: "Orders", PageSize: 101},
		"negative page":        {Base: "appA", Table: "Orders", PageSize: -1},
		"negative maximum":     {Base: "appA", Table: "Orders", MaxRecords: -1},
		"formula not UTF-8":    {Base: "appA", Table: "Orders", Formula: "{A}='\xff'"},
		"field not UTF-8":      {Base: "appA", Table: "Orders", Fields: []string{"\xff"}},
		"sort field not UTF-8": {Base: "appA", Table: "Orders", Sort: []airtable.Sort{{Field: "\xff"}}},
		"table not UTF-8":      {Base: "appA", Table: "\xff"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := serve(t)
			_, err := w.client().ListRecords(t.Context(), req)
			require.ErrorIs(t, err, airtable.ErrInvalidRequest)
			require.Equal(t, airtable.FateUnsent, failureOf(t, err).Fate)
			require.Empty(t, w.seen())
		})
	}
}

// A 200 that is no listing must not read as "no such record".
func TestForeignAnswerIsNotAnEmptyTable(t *testing.T) {
	t.Parallel()
	for _, body := range []string{`{}`, `{"records":null}`, `[]`, `null`, ``, `<html>`, `{"records":{}}`} {
		_, err := fixed(200, body).ListRecords(t.Context(), airtable.ListRequest{Base: "appA", Table: "Orders"})
		require.Equal(t, airtable.Retry, airtable.Classify(failureOf(t, err)), body)
	}
}
