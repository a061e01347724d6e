package airtable_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"airtable-replay/internal/airtable"
)

func TestWriteSendsExactlyTheGivenFields(t *testing.T) { // B32, B58
	t.Parallel()
	w := serve(t, answer(200, recordsJSON(recA)))
	result, err := writeTo(t, w.client())
	require.NoError(t, err)
	require.Empty(t, cmp.Diff(airtable.WriteResult{Records: []airtable.Record{{
		ID: recA, CreatedTime: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Fields: airtable.Fields{"Qty": json.Number("0")},
	}}}, result))

	a := w.only()
	require.Equal(t, http.MethodPatch, a.Method)
	require.Equal(t, "/v0/appA/Orders", a.URI)
	require.Equal(t, `{"records":[{"id":"recAAAAAAAAAAAAAA","fields":{"Status":"Done"}}]}`, a.Body)
	require.Equal(t, "Bearer "+token, a.Header.Get("Authorization"))
	require.Equal(t, "application/json", a.Header.Get("Content-Type"))
	require.Equal(t, "airtable-replay", a.Header.Get("User-Agent"))
	require.Equal(t, "gzip", a.Header.Get("Accept-Encoding"))
	require.Equal(t, fmt.Sprint(len(a.Body)), a.Header.Get("Content-Length"))
	for name := range a.Header {
		require.NotContains(t, strings.ToLower(name), "idempotency")
	}
}

func TestUpsertLeavesOutTheID(t *testing.T) { // B34
	t.Parallel()
	w := serve(t, answer(200, `{"records":[`+recordJSON(recB)+`],"createdRecords":["`+recB+`"],"updatedRecords":[]}`))
	_, err := w.client().WriteRecords(t.Context(), airtable.WriteRequest{
		Base: "appA", Table: "Orders", MergeOn: []string{"Order No"},
		Records: []airtable.WriteRecord{{Fields: airtable.Fields{"Order No": "A-1", "Note": nil}}},
	})
	require.NoError(t, err)
	require.Equal(t, `{"performUpsert":{"fieldsToMergeOn":["Order No"]},"records":[{"fields":{"Note":null,"Order No":"A-1"}}]}`, w.only().Body)
}

func TestUpsertTellsCreatedByPosition(t *testing.T) { // B72
	t.Parallel()
	w := serve(t, answer(200, `{"createdRecords":["`+recB+`","`+recC+`"],"updatedRecords":["`+recA+`"],"records":[`+
		recordJSON(recA)+`,`+recordJSON(recB)+`,`+recordJSON(recC)+`]}`))
	result, err := w.client().WriteRecords(t.Context(), airtable.WriteRequest{
		Base: "appA", Table: "Orders", MergeOn: []string{"No"},
		Records: []airtable.WriteRecord{
			{Fields: airtable.Fields{"No": "1"}},
			{Fields: airtable.Fields{"No": "2"}},
			{ID: recC, Fields: airtable.Fields{"No": "3"}},
		},
	})
	require.NoError(t, err)
	require.Equal(t, []bool{false, true, false}, result.Created, "a record with an ID is never created, whatever the lists say")
	require.Equal(t, recB, result.Records[1].ID)
}

func TestWriteCarriesValuesUnchanged(t *testing.T) {
	t.Parallel()
	fields := airtable.Fields{
		"Big":   json.Number("1970670598291982290"),
		"Exact": json.Number("0.10"),
		"HTML":  "a < b && c > d\u2028",
		"Tags":  []any{"x", "é"},
		"Links": []string{recB},
		"Count": 7,
		"Owner": map[string]any{"id": "usrAAAAAAAAAAAAAA"},
		"Off":   false,
		"Clear": nil,
	}
	w := serve(t, answer(200, recordsJSON(recA)))
	_, err := w.client().WriteRecords(t.Context(), airtable.WriteRequest{
		Base: "appA", Table: "Orders", Records: []airtable.WriteRecord{{ID: recA, Fields: fields}},
	})
	require.NoError(t, err)
	require.Equal(t, `{"records":[{"id":"recAAAAAAAAAAAAAA","fields":{"Big":1970670598291982290,"Clear":null,"Count":7,`+
		`"Exact":0.10,"HTML":"a < b && c > d\u2028","Links":["recBBBBBBBBBBBBBB"],"Off":false,`+
		`"Owner":{"id":"usrAAAAAAAAAAAAAA"},"Tags":["x","é"]}}]}`, w.only().Body)
}

func TestAnswerKeepsNumbersDigitForDigit(t *testing.T) {
	t.Parallel()
	c := fixed(200, `{"records":[{"id":"`+recA+`","createdTime":"2026-01-02T03:04:05.000Z","fields":{"N":1970670598291982290,"D":540.8333333333334,"L":[1e2]}}]}`)
	result, err := writeTo(t, c)
	require.NoError(t, err)
	require.Equal(t, airtable.Fields{"N": json.Number("1970670598291982290"), "D": json.Number("540.8333333333334"), "L": []any{json.Number("1e2")}}, result.Records[0].Fields)
}

func TestSecondAttemptIsTheSameBytes(t *testing.T) { // B57
	t.Parallel()
	w := serve(t, answer(503, `{}`), answer(200, recordsJSON(recA)))
	c := w.client()
	_, err := writeTo(t, c)
	require.Equal(t, 503, failureOf(t, err).Status)
	_, err = writeTo(t, c)
	require.NoError(t, err)
	all := w.seen()
	require.Len(t, all, 2)
	require.NotEmpty(t, all[0].Body)
	require.Equal(t, all[0].Raw, all[1].Raw)
	require.Equal(t, all[0].Conn, all[1].Conn, "an answered connection is used again")
}

func TestTableNamesAreOneSegment(t *testing.T) { // B09
	t.Parallel()
	for name, path := range map[string]string{
		"Institution/Location": "Institution%2FLocation",
		"Q4/2026 Pipeline":     "Q4%2F2026%20Pipeline",
		"What? #1":             "What%3F%20%231",
		"100%":                 "100%25",
		"A+B & C's":            "A%2BB%20%26%20C%27s",
		"..":                   "%2E%2E",
		"Bücher":               "B%C3%BCcher",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := serve(t, answer(200, recordsJSON(recA)), answer(200, recordsJSON()))
			c := w.client()
			req := writeOne()
			req.Table = name
			_, err := c.WriteRecords(t.Context(), req)
			require.NoError(t, err)
			_, err = c.ListRecords(t.Context(), airtable.ListRequest{Base: "appA", Table: name})
			require.NoError(t, err)
			for _, a := range w.seen() {
				require.Equal(t, "/v0/appA/"+path, a.URI)
			}
		})
	}
}

func TestInvalidWritesAreNotSent(t *testing.T) { // B68
	t.Parallel()
	rec := func(f airtable.Fields) airtable.WriteRecord { return airtable.WriteRecord{ID: recA, Fields: f} }
	many := make([]airtable.WriteRecord, 11)
	for i := range many {
		many[i] = airtable.WriteRecord{ID: fmt.Sprintf("rec%014d", i), Fields: airtable.Fields{"A": "x"}}
	}
	key := func(v any) airtable.WriteRecord {
		return airtable.WriteRecord{Fields: airtable.Fields{"No": v, "A": 1}}
	}
	no := []string{"No"}
	for _, tc := range []struct {
		name    string
		records []airtable.WriteRecord
		mergeOn []string
		says    string
	}{
		{"no records", nil, nil, "0 records"},
		{"eleven records", many, nil, "11 records"},
		{"no ID and no upsert", []airtable.WriteRecord{{Fields: airtable.Fields{"A": "x"}}}, nil, "has no ID"},
		{"same ID twice", []airtable.WriteRecord{rec(airtable.Fields{"A": "x"}), rec(airtable.Fields{"B": "y"})}, nil, "record 2: stands twice"},
		{"same key twice", []airtable.WriteRecord{key("7"), key("7")}, no, "record 2: stands twice"},
		{"merge value missing", []airtable.WriteRecord{{Fields: airtable.Fields{"A": 1}}}, no, `merge field "No"`},
		{"merge value null", []airtable.WriteRecord{key(nil)}, no, `merge field "No"`},
		{"merge value empty", []airtable.WriteRecord{key("")}, no, `merge field "No"`},
		{"four merge fields", []airtable.WriteRecord{key("7")}, []string{"No", "a", "b", "c"}, "at most 3"},
		{"nothing to write", []airtable.WriteRecord{rec(nil)}, nil, "nothing to write"},
		{"invalid UTF-8", []airtable.WriteRecord{rec(airtable.Fields{"Note": "a\xffb"})}, nil, `field "Note" is not valid UTF-8 (byte 0xff at offset 1)`},
		{"invalid UTF-8 deep down", []airtable.WriteRecord{rec(airtable.Fields{"L": []any{map[string]any{"k": "\xc3"}}})}, nil, `field "L"[0].k`},
		{"invalid UTF-8 in a map key", []airtable.WriteRecord{rec(airtable.Fields{"L": map[string]any{"\xff": "x"}})}, nil, "not valid UTF-8"},
		{"invalid UTF-8 in a field name", []airtable.WriteRecord{rec(airtable.Fields{"\xff": "x"})}, nil, "not valid UTF-8"},
		{"empty number", []airtable.WriteRecord{rec(airtable.Fields{"Qty": json.Number("")})}, nil, `field "Qty" is no JSON number`},
		{"words as number", []airtable.WriteRecord{rec(airtable.Fields{"Qty": json.Number("null")})}, nil, `field "Qty" is no JSON number`},
		{"float", []airtable.WriteRecord{rec(airtable.Fields{"Qty": 0.1})}, nil, "pass a json.Number"},
		{"struct", []airtable.WriteRecord{rec(airtable.Fields{"Qty": time.Time{}})}, nil, "is a time.Time"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			w := serve(t)
			_, err := w.client().WriteRecords(t.Context(), airtable.WriteRequest{Base: "appA", Table: "Orders", Records: tc.records, MergeOn: tc.mergeOn})
			e := failureOf(t, err)
			require.ErrorIs(t, err, airtable.ErrInvalidRequest)
			require.Contains(t, e.Reason(), tc.says)
			require.Equal(t, airtable.FateUnsent, e.Fate)
			require.Equal(t, airtable.Permanent, airtable.Classify(err))
			require.Empty(t, w.seen())
		})
	}
}

func TestTenRecordsAreOneRequest(t *testing.T) {
	t.Parallel()
	var req airtable.WriteRequest
	req.Base, req.Table = "appA", "Orders"
	var ids []string
	for i := range 10 {
		ids = append(ids, fmt.Sprintf("rec%014d", i))
		req.Records = append(req.Records, airtable.WriteRecord{ID: ids[i], Fields: airtable.Fields{"Qty": i}})
	}
	w := serve(t, answer(200, recordsJSON(ids...)))
	result, err := w.client().WriteRecords(t.Context(), req)
	require.NoError(t, err)
	require.Nil(t, result.Created)
	require.Len(t, result.Records, 10)
	require.Equal(t, ids[9], result.Records[9].ID)
	w.only()
}
