package sandbox_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"airtable-replay/internal/sandbox"
)

// seedFaults are broken files and how each of their complaints begins.
var seedFaults = map[string]struct {
	yaml string
	want []string
}{
	"form": {`
bases:
  - id: appA
    nmae: x
    tables:
      - name: T
        fields: [{name: A, type: singleLineText, choices: 5}]
        records:
          - just text
          - {_created: yesterday, A: x, A: y}
automations: {}
extra: 1
`, []string{
		"line 4: bases[0].nmae: unknown key; known are id, name, people, tables, tokens",
		"line 7: bases[0].tables[0].fields[0].choices: a list is expected",
		"line 9: bases[0].tables[0].records[0]: a record is a mapping of field names to values",
		"line 10: bases[0].tables[0].records[1]._created: an ISO 8601 time such as 2026-10-04T08:00:00Z is expected",
		"line 10: bases[0].tables[0].records[1].A: given twice",
		"line 11: automations: a list is expected",
		"line 12: extra: unknown key; known are automations, bases",
	}},
	"names": {`
bases:
  - id: base1
    tokens: [{token: t, scopes: [everything]}]
    tables:
      - {name: T, primary: Z, fields: [{name: A, type: singleLineText}, {name: A, type: number}, {name: B, type: text}]}
      - {name: T, fields: []}
`, []string{
		`line 3: bases[0].id: "base1" is no base ID: app and letters or digits`,
		`line 4: bases[0].tokens[0].scopes: unknown scope "everything"`,
		`line 6: bases[0].tables[0].fields[1].name: "A" is there twice`,
		`line 6: bases[0].tables[0].fields[2].type: unknown field type "text"`,
		`line 6: bases[0].tables[0].primary: there is no field "Z"`,
		`line 7: bases[0].tables[1].name: "T" is there twice`,
	}},
	"references": {`
bases:
  - id: appA
    tables:
      - name: T
        fields:
          - {name: A, type: singleLineText, watches: [A]}
          - {name: B, type: lastModifiedTime, watches: [Z]}
          - {name: C, type: multipleRecordLinks, linked_table: U}
          - {name: D, type: formula, formula: "{Z}"}
          - {name: E, type: count, link: A}
          - {name: F, type: formula}
          - {name: G, type: dateTime, time_zone: Mars}
          - {name: H, type: lastModifiedTime, watches: [B]}
automations:
  - {base: appZ, table: T, checkbox: A, post: "http://x.example"}
  - {base: appA, table: T, checkbox: A, post: "http://x.example"}
`, []string{
		"line 7: bases[0].tables[0].fields[0]: watches means nothing for a field of type singleLineText",
		`line 8: bases[0].tables[0].fields[1]: watches: there is no field "Z"`,
		`line 9: bases[0].tables[0].fields[2]: linked_table: there is no table "U"`,
		"line 10: bases[0].tables[0].fields[3]: formula: Unknown field names: z",
		`line 11: bases[0].tables[0].fields[4]: link: "A" is no link field of T`,
		"line 12: bases[0].tables[0].fields[5]: formula: is needed",
		`line 13: bases[0].tables[0].fields[6]: time_zone: "Mars" is unknown`,
		`line 14: bases[0].tables[0].fields[7]: watches: "B" is computed`,
		`line 16: automations[0].base: there is no base "appZ"`,
		`line 17: automations[1].checkbox: "A" is no checkbox of table "T"`,
	}},
	"values": {`
bases:
  - id: appA
    tables:
      - name: T
        fields:
          - {name: A, type: singleLineText}
          - {name: S, type: singleSelect, choices: [x]}
          - {name: N, type: number}
          - {name: L, type: multipleRecordLinks, linked_table: T}
          - {name: C, type: createdTime}
        records:
          - {_id: nope, A: a}
          - A: b
            S: y
          - A: c
            N: many
          - {A: d, Z: 1, _modified: {C: 2026-01-01T00:00:00Z}}
          - {A: e, C: 2026-01-01T00:00:00Z}
          - {A: f, L: [nobody]}
`, []string{
		`line 13: bases[0].tables[0].records[0]._id: "nope" is no record ID`,
		`line 15: bases[0].tables[0].records[1].S: INVALID_MULTIPLE_CHOICE_OPTIONS`,
		`line 17: bases[0].tables[0].records[2].N: INVALID_VALUE_FOR_COLUMN: Field "N" cannot accept the provided value`,
		`line 18: bases[0].tables[0].records[3]._modified: "C" is no editable field`,
		`line 18: bases[0].tables[0].records[3]: there is no field "Z"`,
		`line 19: bases[0].tables[0].records[4].C: INVALID_VALUE_FOR_COLUMN: Field "C" cannot accept a value because the field is computed`,
		`line 20: bases[0].tables[0].records[5].L: T has no record "nobody"`,
	}},
	"syntax":  {"bases:\n  - {id: appA\n", []string{"line 2: yaml:"}},
	"nothing": {"", []string{"line 1: bases: at least one base is needed"}},
	"circle":  {"bases:\n  - id: appA\n    tables: [{name: T, fields: [{name: A, type: singleLineText}], records: [{A: &x [*x]}]}]\n", []string{"line 3: bases[0].tables[0].records[0].A"}},
}

func TestSeedFaultsAreAllReportedWithTheirLines(t *testing.T) {
	t.Parallel()
	for name, c := range seedFaults {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := sandbox.ParseSeed([]byte(c.yaml))
			var faults sandbox.SeedError
			require.ErrorAs(t, err, &faults)
			lines := strings.Split(err.Error(), "\n")
			require.Len(t, lines, len(c.want), err.Error())
			for _, want := range c.want {
				require.Condition(t, func() bool {
					for _, line := range lines {
						if strings.HasPrefix(line, want) {
							return true
						}
					}
					return false
				}, "%q is missing in\n%s", want, err)
			}
		})
	}
}

func TestSeedValues(t *testing.T) {
	t.Parallel()
	w := seededWorld(t, `
bases:
  - id: appOrdersSandbox01
    tokens: [patSandbox.full]
    tables:
      - name: Parents
        fields: [{name: Name, type: singleLineText}, {name: Children, type: multipleRecordLinks, linked_table: T, inverse: Parent}]
        records: [{Name: P-1}, {Name: P-2, Children: [first]}]
      - name: T
        fields:
          - {name: Name, type: singleLineText}
          - {name: At, type: dateTime}
          - {name: Day, type: date}
          - {name: N, type: number}
          - {name: On, type: checkbox}
          - {name: Many, type: multipleSelects, choices: [a, b]}
          - {name: Text, type: multilineText}
          - {name: Parent, type: multipleRecordLinks, linked_table: Parents, inverse: Children}
          - {name: Files, type: multipleAttachments}
        records:
          - {Name: first, At: 2026-10-04 08:00:00, Day: 2026-10-04, N: 1000, On: true, Many: [b, a]}
          - {Name: 00712, At: 2026-10-04T10:00:00+02:00, N: 1000.0, On: false, Text: "two\nlines", Parent: P-1, Files: [{url: "https://files.example.test/a.pdf"}]}
          - {Name: 9007199254740993, N: 9007199254740993, _created: 2021-01-01T00:00:00Z, Text: ~}
          - Name: &name fourth
            Text: *name
`, noLimits())
	var got []map[string]any
	records, err := w.box.Records(baseID, "T")
	require.NoError(t, err)
	for _, r := range records {
		delete(r.Fields, "Files")
		got = append(got, r.Fields)
	}
	parents, err := w.box.Records(baseID, "Parents")
	require.NoError(t, err)
	want := []map[string]any{
		{"Name": "first", "At": "2026-10-04T08:00:00.000Z", "Day": "2026-10-04", "N": 1000.0, "On": true, "Many": []any{"b", "a"}, "Parent": []string{parents[1].ID}},
		{"Name": "00712", "At": "2026-10-04T08:00:00.000Z", "N": 1000.0, "Text": "two\nlines", "Parent": []string{parents[0].ID}},
		{"Name": "9007199254740993", "N": 9007199254740992.0},
		{"Name": "fourth", "Text": "fourth"},
	}
	require.Empty(t, cmp.Diff(want, got))
	require.Equal(t, []string{records[1].ID}, parents[0].Fields["Children"])
	require.Equal(t, time.Date(2021, 1, 1, 0, 0, 0, 0, time.UTC), records[2].Created)
	require.Empty(t, w.box.Changes(), "a seed is where the log begins")
}

func TestSeedEnvironmentIsLookedUpWhenTheSandboxStarts(t *testing.T) {
	t.Parallel()
	seed, err := sandbox.ParseSeed([]byte(`
bases:
  - id: appA
    tokens: ["${API_TOKEN}"]
    tables: [{name: T, fields: [{name: A, type: checkbox}]}]
automations:
  - {base: appA, table: T, checkbox: A, post: "${SERVICE}/x", token: "${BUTTON_TOKEN}"}
`))
	require.NoError(t, err)
	_, err = sandbox.New(seed, sandbox.Config{LookupEnv: func(string) (string, bool) { return "", false }})
	require.EqualError(t, err, "line 4: bases[0].tokens[0]: the environment has no API_TOKEN\n"+
		"line 7: automations[0].post: the environment has no SERVICE\n"+
		"line 7: automations[0].token: the environment has no BUTTON_TOKEN")
	box, err := sandbox.New(seed, sandbox.Config{LookupEnv: func(name string) (string, bool) {
		return map[string]string{"API_TOKEN": "patSandbox.full", "SERVICE": "http://service.example", "BUTTON_TOKEN": "b"}[name], true
	}})
	require.NoError(t, err)
	defer box.Close()
	require.Equal(t, 200, serve(box, "GET", "/v0/appA/T", "").Code)
}

// The seed of the documentation, word for word: its ${BUTTON_TOKEN} stands
// between braces without quotes.
func TestSeedTakesBareReferencesBetweenBraces(t *testing.T) {
	t.Parallel()
	seed, err := sandbox.ParseSeed([]byte(`
bases:
  - id: appOrdersSandbox01
    tokens: [${API_TOKEN}, patSandbox.full]
    tables:
      - name: Dead Letter Queue
        primary: Name
        fields:
          - {name: Name, type: singleLineText}
          - {name: Replay Requested, type: checkbox}
automations:                                  # the Replay button
  - {base: appOrdersSandbox01, table: Dead Letter Queue, checkbox: Replay Requested, post: "http://127.0.0.1:8080/v1/entries/{record}/replay", token: ${BUTTON_TOKEN}}
`))
	require.NoError(t, err)
	require.Equal(t, "${BUTTON_TOKEN}", seed.Automations[0].Token)
	require.Equal(t, "http://127.0.0.1:8080/v1/entries/{record}/replay", seed.Automations[0].Post)
	require.Equal(t, "${API_TOKEN}", seed.Bases[0].Tokens[0].Token)
	_, err = sandbox.ParseSeed([]byte("bases:\n  - {id: appA, tokens: [${A}, ]]}\n"))
	require.ErrorContains(t, err, "line 2: yaml:")
}

func FuzzParseSeed(f *testing.F) {
	f.Add(seedYAML)
	f.Add(twoBases)
	f.Add("bases: [{id: appA, tables: [{name: T, fields: [{name: A, type: formula, formula: '1'}], records: [{A: &a [*a]}]}]}]")
	f.Fuzz(func(t *testing.T, text string) {
		seed, err := sandbox.ParseSeed([]byte(text))
		if err != nil {
			require.NotEmpty(t, err.Error())
			return
		}
		require.NotEmpty(t, seed.Bases)
	})
}
