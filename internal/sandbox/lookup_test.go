package sandbox_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"airtable-replay/internal/sandbox"
)

// lookupSeed has formulas that follow from their own record and some that do not.
const lookupSeed = `
bases:
  - id: appOrdersSandbox01
    tables:
      - name: Accounts
        fields: [{name: Account ID, type: singleLineText}, {name: Tier, type: number}]
        records: [{_id: recAcme0000000001, Account ID: a}, {_id: recBolt0000000001, Account ID: b, Tier: 5}]
      - name: Orders
        fields:
          - {name: Key, type: singleLineText}
          - {name: Qty, type: number}
          - {name: State, type: singleSelect, choices: [a, b]}
          - {name: Done, type: checkbox}
          - {name: Account, type: multipleRecordLinks, linked_table: Accounts}
          - {name: Tier, type: multipleLookupValues, link: Account, field: Tier}
          - {name: Held, type: count, link: Account}
          - {name: Joined, type: formula, formula: "{Key} & {State}"}
          - {name: Twice, type: formula, formula: "{Joined} & {Joined}"}
          - {name: Half, type: formula, formula: "{Qty} / 2"}
          - {name: Linked, type: formula, formula: "{Account} & ''"}
          - {name: Year, type: formula, formula: "YEAR(NOW())"}
          - {name: Changed, type: lastModifiedTime, watches: [Done]}
          - {name: Minute, type: formula, formula: "MINUTE({Changed})"}
`

// Whatever was written, deleted, renamed or switched between two listings, a
// formula that is looked up finds what the same one finds when it is tried on
// every record: AND around it keeps it from being looked up.
func TestLookupsFindWhatEvaluationFinds(t *testing.T) {
	t.Parallel()
	subjects := []string{
		"{Key}", "{Qty}", "{State}", "{Done}", "{Account}", "{Tier}", "{Held}", "{Joined}", "{Twice}", "{Half}", "{Linked}", "{Year}",
		"{Minute}", "LOWER({Key})", "LOWER({Joined})", "UPPER({Key}&{Qty})", "RECORD_ID()", "{Qty}+1", "MINUTE(NOW())", "'recAcme0000000001'&{Key}",
	}
	constants := []string{"''", "'a'", "'A'", "'b'", "'ab'", "'AB'", "'aa'", "'abab'", "'5'", "0", "1", "-1", "5", "2.5", "2026", "3", "'a, b'", "'A5'"}
	rapid.Check(t, func(rt *rapid.T) {
		w := newLookupWorld(t)
		defer w.box.Close()
		for range rapid.IntRange(3, 12).Draw(rt, "steps") {
			w.change(rt)
			subject := rapid.SampledFrom(subjects).Draw(rt, "subject")
			var terms []string
			for _, constant := range rapid.SliceOfN(rapid.SampledFrom(constants), 1, 4).Draw(rt, "constants") {
				terms = append(terms, subject+"="+constant)
			}
			asked := "OR(" + strings.Join(terms, ",") + ")"
			require.Equal(rt, w.find(rt, "AND("+asked+")"), w.find(rt, asked), asked)
		}
	})
}

// lookupWorld is a small sandbox of its own for every draw of the property.
type lookupWorld struct {
	box   *sandbox.Sandbox
	clock *manualClock
}

func newLookupWorld(t *testing.T) *lookupWorld {
	seed, err := sandbox.ParseSeed([]byte(lookupSeed))
	require.NoError(t, err)
	clock := &manualClock{}
	clock.nanos.Store(start.UnixNano())
	box, err := sandbox.New(seed, sandbox.Config{Now: clock.Now})
	require.NoError(t, err)
	return &lookupWorld{box, clock}
}

func (w *lookupWorld) ids(rt *rapid.T, table string) []string {
	records, err := w.box.Records(baseID, table)
	require.NoError(rt, err)
	ids := make([]string, len(records))
	for i, r := range records {
		ids[i] = r.ID
	}
	return ids
}

func (w *lookupWorld) find(rt *rapid.T, source string) []string {
	rec := serve(w.box, http.MethodGet, "/v0/"+baseID+"/Orders?filterByFormula="+url.QueryEscape(source), "")
	require.Equal(rt, http.StatusOK, rec.Code, rec.Body.String())
	var page struct{ Records []struct{ ID string } }
	require.NoError(rt, json.Unmarshal(rec.Body.Bytes(), &page))
	ids := []string{}
	for _, r := range page.Records {
		ids = append(ids, r.ID)
	}
	return ids
}

// change does one random thing to the base.
func (w *lookupWorld) change(rt *rapid.T) {
	text := rapid.SampledFrom([]any{nil, "a", "A", "b", "aa", "5"})
	number := rapid.SampledFrom([]any{nil, 0, 1, -1, 5, 2.5})
	order := append([]string{""}, w.ids(rt, "Orders")...)
	switch rapid.SampledFrom([]string{"write", "write", "write", "write", "account", "delete", "time", "choice", "option", "drop"}).Draw(rt, "change") {
	case "write":
		fields := map[string]any{"Key": text.Draw(rt, "key"), "Qty": number.Draw(rt, "qty")}
		if rapid.Bool().Draw(rt, "more") {
			fields = map[string]any{"Done": rapid.Bool().Draw(rt, "done"), "Account": rapid.SliceOfNDistinct(
				rapid.SampledFrom(w.ids(rt, "Accounts")), 0, 2, rapid.ID).Draw(rt, "account"),
				"State": rapid.SampledFrom([]any{nil, "a", "b"}).Draw(rt, "state")}
		}
		w.edit(rt, "Orders", rapid.SampledFrom(order).Draw(rt, "order"), fields)
	case "account":
		w.edit(rt, "Accounts", "recAcme0000000001", map[string]any{"Account ID": text.Draw(rt, "name"), "Tier": number.Draw(rt, "tier")})
	case "delete":
		if id := rapid.SampledFrom(order).Draw(rt, "deleted"); id != "" {
			require.NoError(rt, w.box.Delete(baseID, "Orders", id))
		}
	case "time":
		w.clock.nanos.Add(int64(rapid.IntRange(1, 90).Draw(rt, "seconds")) * int64(time.Second))
		w.box.Wake()
	case "choice":
		w.renameChoices(rt)
	case "option":
		require.NoError(rt, w.box.SetOptions(func(o *sandbox.Options) {
			o.NumberEqualsText, o.ZeroEqualsBlank = rapid.Bool().Draw(rt, "text"), rapid.Bool().Draw(rt, "zero")
			o.SameValueBumps = rapid.Bool().Draw(rt, "bumps")
		}))
	case "drop":
		name := rapid.SampledFrom([]string{"State", "Qty", "Account"}).Draw(rt, "field")
		if w.box.DeleteField(baseID, "Orders", name) == nil { // it may be gone already
			rec := serve(w.box, http.MethodPost, "/_sandbox/fields", fmt.Sprintf(
				`{"base":%q,"table":"Orders","field":%q,"create":{"type":"singleLineText"}}`, baseID, name))
			require.Equal(rt, http.StatusOK, rec.Code, rec.Body.String())
		}
	}
}

// edit writes by hand. A field that a draw replaced by text refuses some values.
func (w *lookupWorld) edit(rt *rapid.T, table, record string, fields map[string]any) {
	if _, err := w.box.Edit(sandbox.Edit{Base: baseID, Table: table, Record: record, Fields: fields}); err != nil {
		require.Regexp(rt, "INVALID_VALUE_FOR_COLUMN|INVALID_MULTIPLE_CHOICE_OPTIONS", err.Error())
	}
}

// renameChoices makes "a" read as "ab", or back, in every cell that holds it.
func (w *lookupWorld) renameChoices(rt *rapid.T) {
	rec := serve(w.box, http.MethodGet, "/v0/meta/bases/"+baseID+"/tables", "")
	var schema struct {
		Tables []struct {
			ID, Name string
			Fields   []struct {
				ID, Name string
				Options  struct{ Choices []struct{ ID, Name string } }
			}
		}
	}
	require.NoError(rt, json.Unmarshal(rec.Body.Bytes(), &schema))
	for _, table := range schema.Tables {
		for _, field := range table.Fields {
			if len(field.Options.Choices) != 2 {
				continue
			}
			name := rapid.SampledFrom([]string{"a", "ab"}).Draw(rt, "choice")
			body := fmt.Sprintf(`{"options":{"choices":[{"id":%q,"name":%q},{"id":%q,"name":"b"}]}}`,
				field.Options.Choices[0].ID, name, field.Options.Choices[1].ID)
			rec := serve(w.box, http.MethodPatch, "/v0/meta/bases/"+baseID+"/tables/"+table.ID+"/fields/"+field.ID, body)
			require.Equal(rt, http.StatusOK, rec.Code, rec.Body.String())
		}
	}
}
