package sandbox_test

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"airtable-replay/internal/sandbox"
)

// manyYAML has 25 records and an empty table.
func manyYAML() string {
	var out strings.Builder
	out.WriteString(`
bases:
  - id: appOrdersSandbox01
    tokens: [patSandbox.full]
    tables:
      - {name: Empty, fields: [{name: Name, type: singleLineText}]}
      - name: Many
        fields:
          - {name: Name, type: singleLineText}
          - {name: N, type: number}
          - {name: Size, type: singleSelect, choices: [small, large]}
        records:
`)
	for i := range 25 {
		fmt.Fprintf(&out, "          - {_id: rec%014d, Name: \"n%02d\", N: %d, Size: %s}\n", i, i, i, []string{"large", "small"}[i%2])
	}
	return out.String()
}

func pageIDs(from, to int) []string {
	var ids []string
	for i := from; i < to; i++ {
		ids = append(ids, fmt.Sprintf("rec%014d", i))
	}
	return ids
}

func TestEmptyTableIsExactlyAnEmptyList(t *testing.T) {
	t.Parallel()
	w := seededWorld(t, manyYAML(), noLimits())
	w.api("GET", "/Empty", "").is(http.StatusOK, `{"records":[]}`)
	w.api("GET", "/Empty?", "").is(http.StatusOK, `{"records":[]}`)
	w.api("GET", "/Empty/?", "").is(http.StatusOK, `{"records":[]}`)
	w.api("POST", "/Empty/listRecords", `{}`).is(http.StatusOK, `{"records":[]}`)
}

func TestMaxRecordsCapsAllPagesTogether(t *testing.T) {
	t.Parallel()
	w := seededWorld(t, manyYAML(), noLimits())
	var sizes []int
	var ids []string
	offset := ""
	for {
		page := w.api("GET", "/Many?pageSize=10&maxRecords=23&offset="+url.QueryEscape(offset), "")
		sizes = append(sizes, len(page.records()))
		ids = append(ids, page.ids()...)
		next, more := page.json()["offset"].(string)
		if !more {
			require.NotContains(t, page.json(), "offset", "the key is absent on the last page")
			break
		}
		require.Regexp(t, regexp.MustCompile(`^itr[0-9A-Za-z]{14}/rec[0-9A-Za-z]{14}$`), next)
		offset = next
	}
	require.Equal(t, []int{10, 10, 3}, sizes)
	require.Equal(t, pageIDs(0, 23), ids)
}

func TestPageCanBeReadAgainAndByPost(t *testing.T) {
	t.Parallel()
	w := seededWorld(t, manyYAML(), noLimits())
	offset := w.api("POST", "/Many/listRecords", `{"pageSize":20,"offset":""}`).json()["offset"].(string)
	for range 2 {
		page := w.api("POST", "/Many/listRecords", `{"pageSize":20,"offset":"`+offset+`"}`)
		require.Equal(t, pageIDs(20, 25), page.ids())
	}
}

func TestCursorGoesStaleAfterIdling(t *testing.T) {
	t.Parallel()
	w := seededWorld(t, manyYAML(), noLimits())
	offset := w.api("GET", "/Many?pageSize=20", "").json()["offset"].(string)
	w.pass(11 * time.Minute)
	w.api("GET", "/Many?offset="+url.QueryEscape(offset), "").
		is(http.StatusUnprocessableEntity, `{"error":{"type":"LIST_RECORDS_ITERATOR_NOT_AVAILABLE"}}`)
	w.api("GET", "/Many?offset=itrAAAAAAAAAAAAAA/recAAAAAAAAAAAAAA", "").
		is(http.StatusUnprocessableEntity, `{"error":{"type":"LIST_RECORDS_ITERATOR_NOT_AVAILABLE"}}`)
	w.set(func(o *sandbox.Options) { o.CursorLife = 0 })
	offset = w.api("GET", "/Many?pageSize=20", "").json()["offset"].(string)
	w.api("GET", "/Many?offset="+url.QueryEscape(offset), "").fails(http.StatusUnprocessableEntity, "LIST_RECORDS_ITERATOR_NOT_AVAILABLE", "")
	w.api("GET", "/Many?offset=junk", "").fails(http.StatusUnprocessableEntity, "INVALID_OFFSET_VALUE", "The value of offset junk is invalid")
}

func TestListSkipsWhatWasDeletedBetweenPages(t *testing.T) {
	t.Parallel()
	w := seededWorld(t, manyYAML(), noLimits())
	offset := w.api("GET", "/Many?pageSize=20", "").json()["offset"].(string)
	require.NoError(t, w.box.Delete(baseID, "Many", "rec00000000000021"))
	require.Equal(t, []string{"rec00000000000020", "rec00000000000022", "rec00000000000023", "rec00000000000024"},
		w.api("GET", "/Many?offset="+url.QueryEscape(offset), "").ids())
}

func TestListParametersOutOfRange(t *testing.T) {
	t.Parallel()
	w := seededWorld(t, manyYAML(), noLimits())
	for _, query := range []string{"pageSize=101", "pageSize=0", "pageSize=x", "maxRecords=-1", "sort[0][field]=N&sort[0][direction]=up",
		"cellFormat=string", "cellFormat=xml", "recordMetadata[]=color", "returnFieldsByFieldId=maybe"} {
		w.api("GET", "/Many?"+query, "").fails(http.StatusUnprocessableEntity, "INVALID_REQUEST_UNKNOWN",
			"Invalid request: parameter validation failed. Check your request data.")
	}
	for _, body := range []string{`{"pageSize":101}`, `{"pageSize":0}`, `{"offset":null}`, `{"fields":"Name"}`, `{"maxRecords":"3"}`, `{"cellFormat":"string","timeZone":"utc","userLocale":"en"}`} {
		w.api("POST", "/Many/listRecords", body).fails(http.StatusUnprocessableEntity, "INVALID_REQUEST_UNKNOWN", "Invalid request: parameter validation failed. Check your request data.")
	}
}

func TestListByPostReadsLocaleFromTheQueryAndToleratesItInTheBody(t *testing.T) {
	t.Parallel()
	w := seededWorld(t, manyYAML(), noLimits())
	got := w.api("POST", "/Many/listRecords?timeZone=utc&userLocale=en",
		`{"cellFormat":"string","maxRecords":1,"method":"post","timeZone":"utc","userLocale":"en"}`).records()
	require.Equal(t, map[string]any{"Name": "n00", "N": "0", "Size": "large"}, got[0]["fields"])
}

func TestListChoosesFields(t *testing.T) {
	t.Parallel()
	w := seededWorld(t, manyYAML(), noLimits())
	for _, query := range []string{"fields[]=N&fields[]=Size", "fields=N&fields=Size", "fields[0]=N&fields[1]=Size"} {
		got := w.api("GET", "/Many?maxRecords=1&"+query, "").records()
		require.Equal(t, map[string]any{"N": 0.0, "Size": "large"}, got[0]["fields"], query)
	}
	w.api("GET", "/Many?fields[]=Nope", "").fails(http.StatusUnprocessableEntity, "UNKNOWN_FIELD_NAME", `Unknown field name: "Nope"`)
	w.api("GET", "/Many?sort[0][field]=Nope", "").fails(http.StatusUnprocessableEntity, "UNKNOWN_FIELD_NAME", `Unknown field name: "Nope"`)
}

func TestListByFieldID(t *testing.T) {
	t.Parallel()
	w := seededWorld(t, manyYAML(), noLimits())
	schema := w.send("GET", "/v0/meta/bases/"+baseID+"/tables", "").json()
	many := schema["tables"].([]any)[1].(map[string]any)
	id := many["fields"].([]any)[1].(map[string]any)["id"].(string)
	got := w.send("GET", fmt.Sprintf("/v0/%s/%s?maxRecords=1&returnFieldsByFieldId=1&fields[]=%s", baseID, many["id"], id), "").records()
	require.Equal(t, map[string]any{id: 0.0}, got[0]["fields"])
}

func TestListSorts(t *testing.T) {
	t.Parallel()
	w := seededWorld(t, manyYAML(), noLimits())
	got := w.api("GET", "/Many?maxRecords=3&sort[0][field]=Size&sort[1][field]=N&sort[1][direction]=desc", "").ids()
	require.Equal(t, []string{"rec00000000000023", "rec00000000000021", "rec00000000000019"}, got, "options sort by their place: small first")
	got = w.api("POST", "/Many/listRecords", `{"maxRecords":2,"sort":[{"field":"N","direction":"desc"}]}`).ids()
	require.Equal(t, []string{"rec00000000000024", "rec00000000000023"}, got)
}

func TestOrderWithoutSortAndViewMeansNothing(t *testing.T) {
	t.Parallel()
	w := seededWorld(t, manyYAML(), noLimits())
	w.set(func(o *sandbox.Options) { o.ListOrder = "shuffled" })
	got := w.api("GET", "/Many", "").ids()
	require.NotEqual(t, pageIDs(0, 25), got)
	require.ElementsMatch(t, pageIDs(0, 25), got)
	require.Equal(t, pageIDs(0, 25), w.api("GET", "/Many?view=Grid%20view", "").ids())
}

func TestEmptyCellsSortFirst(t *testing.T) {
	t.Parallel()
	w := seededWorld(t, manyYAML(), noLimits())
	id, err := w.box.Edit(sandbox.Edit{Base: baseID, Table: "Many", Fields: map[string]any{"Name": "none"}})
	require.NoError(t, err)
	require.Equal(t, id, w.api("GET", "/Many?maxRecords=1&sort[0][field]=N", "").ids()[0])
}

func TestViews(t *testing.T) {
	t.Parallel()
	w := newWorld(t, noLimits())
	for _, id := range []string{"O-8", "O-9"} {
		w.api("POST", "/Orders", `{"fields":{"Order ID":"`+id+`","Status":"Shipped"}}`).fields()
	}
	var got []any
	for _, r := range w.api("GET", "/Orders?view=Shipped", "").records() {
		got = append(got, r["fields"].(map[string]any)["Order ID"])
	}
	require.Equal(t, []any{"O-9", "O-8"}, got, "a view filters and orders")
	require.Len(t, w.api("GET", "/Orders?view=Grid%20view", "").records(), 4)
	w.api("GET", "/Orders?view=Nope", "").fails(http.StatusUnprocessableEntity, "VIEW_NAME_NOT_FOUND", "View Nope not found")
	w.api("GET", "/Orders?view=viwAAAAAAAAAAAAAA", "").fails(http.StatusUnprocessableEntity, "VIEW_ID_NOT_FOUND", "View viwAAAAAAAAAAAAAA not found")
	tables := w.send("GET", "/v0/meta/bases/"+baseID+"/tables", "").json()["tables"].([]any)
	foreign := tables[0].(map[string]any)["views"].([]any)[0].(map[string]any)["id"].(string)
	w.api("GET", "/Orders?view="+foreign, "").is(http.StatusUnprocessableEntity, `{"error":{"type":"FAILED_STATE_CHECK"}}`)
}

func TestFormulaFaultsAreWordedAsByAirtable(t *testing.T) {
	t.Parallel()
	w := newWorld(t, noLimits())
	for formula, reason := range map[string]string{
		"{Order ID}=":              "Invalid formula. Please check your formula text.",
		"AND({Statuss}='x',{Zip})": "Unknown field names: statuss, zip",
		"NOPE({Status})":           "Unknown function names: NOPE",
	} {
		w.api("GET", "/Orders?filterByFormula="+url.QueryEscape(formula), "").fails(http.StatusUnprocessableEntity,
			"INVALID_FILTER_BY_FORMULA", "The formula for filtering records is invalid: "+reason)
	}
}

// Cases B01, B02, B06 and B14: the key arrives as it is meant, or not at all.
func TestLookupKeysSurviveEscaping(t *testing.T) {
	t.Parallel()
	w := newWorld(t, noLimits())
	for _, key := range []string{`O'Brien`, `Men's Clothing`, `He said "no"`, `J. "Jay" Pete`, `(A+B) * 100%! #1 & more`,
		`it's Bob's 5" and 6" pipe`, `back\slash`, `smörgås 🙂`, `{curly}`, "  spaced  "} {
		body, err := encodeFields(map[string]any{"Order ID": key})
		require.NoError(t, err)
		created := w.api("POST", "/Orders", body).json()["id"]
		literal := strings.ReplaceAll(strings.ReplaceAll(key, `\`, `\\`), `'`, `\'`)
		for _, formula := range []string{"{Order ID}='" + literal + "'", "OR({Order ID}='" + literal + "',{Order ID}='other')", "EXACT({order id},'" + literal + "')"} {
			require.Equal(t, []string{created.(string)}, w.api("GET", "/Orders?filterByFormula="+url.QueryEscape(formula), "").ids(), formula)
		}
	}
	require.Empty(t, w.api("GET", "/Orders?filterByFormula="+url.QueryEscape(`{Order ID}='o\'brien'`), "").records(), "= tells letter case apart")
}

func TestIndexAgreesWithEvaluation(t *testing.T) {
	t.Parallel()
	w := newWorld(t, noLimits())
	find := func(formula string) []string {
		return w.api("GET", "/Orders?filterByFormula="+url.QueryEscape(formula), "").ids()
	}
	for i, status := range []string{"Pending", "Shipped", "Pending"} {
		w.api("POST", "/Orders", fmt.Sprintf(`{"fields":{"Order ID":"K-%d","Status":%q,"Qty":%d}}`, i%2, status, i)).fields()
	}
	check := func() {
		for _, f := range []struct{ field, value string }{{"Order ID", "K-0"}, {"Order ID", "k-0"}, {"Status", "Pending"}, {"Status", "pending"}, {"Label", "K-0/Pending"}} {
			direct := fmt.Sprintf("{%s}='%s'", f.field, f.value)
			require.Equal(t, find("AND("+direct+",1)"), find(direct), direct)
		}
	}
	check()
	w.api("PATCH", "/Orders/recOrder000000001", `{"fields":{"Order ID":"K-0","Status":"Pending"}}`).fields()
	check()
	require.Equal(t, http.StatusOK, w.api("DELETE", "/Orders/recOrder000000001", "").status)
	check()
	require.NotEmpty(t, find("{Order ID}='K-0'"))
}

func TestLinkFieldsCompareByName(t *testing.T) {
	t.Parallel()
	w := newWorld(t, noLimits())
	find := func(formula string) []string {
		return w.api("GET", "/Orders?filterByFormula="+url.QueryEscape(formula), "").ids()
	}
	require.Equal(t, []string{"recOrder000000002"}, find("{Account}='A-1'"))
	require.Empty(t, find("{Account}='recAcme0000000001'"))
	require.Equal(t, []string{"recOrder000000001"}, find("RECORD_ID()='recOrder000000001'"))
	_, fields := w.schemaOf("Orders")
	require.Equal(t, []string{"recOrder000000001"}, find("{"+fields["Order ID"]["id"].(string)+"}='O-1'"), "fields go by ID too")
}
