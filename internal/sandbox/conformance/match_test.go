package conformance_test

import (
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"airtable-replay/internal/sandbox"
	"airtable-replay/internal/sandbox/conformance"
)

// play runs a scenario that the test writes, on a sandbox.
func play(t *testing.T, text string) error {
	t.Helper()
	all, err := conformance.Load(fstest.MapFS{"a.txtar": {Data: []byte("Title.\nsource: here\n" + text)}})
	require.NoError(t, err)
	target, _ := emulated(t)
	return target.Play(t.Context(), all[0])
}

const create = "-- request --\nPOST /<table>\n\n{\"fields\":{\"Name\":\"<run>\",\"Qty\":0}}\n-- answer --\n"

// A suite that cannot fail would be worth nothing.
func TestDifferencesAreFound(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ answer, want string }{
		"status":        {"201\n", "want status 201, got 200"},
		"missing key":   {"200\n\n{\"...\":0,\"deleted\":true}", "$.deleted: is missing"},
		"further key":   {"200\n\n{\"id\":\"<rec A>\",\"createdTime\":\"<fresh T>\",\"fields\":{\"Name\":\"<run>\"}}", "$.fields.Changed: was not expected"},
		"value":         {"200\n\n{\"...\":0,\"fields\":{\"...\":0,\"Qty\":1}}", "$.fields.Qty: want 1, got 0"},
		"type":          {"200\n\n{\"...\":0,\"fields\":[]}", "$.fields: want a list of 0"},
		"shape":         {"200\n\n{\"...\":0,\"createdTime\":\"<rec A>\"}", "$.createdTime: want <rec A>"},
		"binding":       {"200\n\n{\"...\":0,\"id\":\"<any A>\",\"createdTime\":\"<any A>\"}", "want <any A>, which is"},
		"header":        {"200\nContent-Type: text/html\n", "header Content-Type: want text/html"},
		"absent header": {"200\nContent-Type: none\n", "header Content-Type: want none"},
		"wanted header": {"200\nX-Nothing: some\n", "header X-Nothing: want some"},
		"exactly":       {"200 exactly\n\n{}", "want exactly {}"},
		"unbound":       {"200\n-- request --\nGET /<table>/<rec Z>\n-- answer --\n200\n", "<rec Z> is not known yet"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.ErrorContains(t, play(t, create+c.answer), c.want)
		})
	}
	require.NoError(t, play(t, create+"200\n\n{\"...\":0,\"fields\":{\"...\":0,\"Name\":\"<run>\",\"Qty\":0.0,\"Number\":\"<number N>\"}}"))
}

// Whoever is in the table already is left alone, whatever an exchange reads.
func TestOnlyOwnRecordsAreDeleted(t *testing.T) {
	t.Parallel()
	target, box := emulated(t)
	_, err := box.Edit(sandbox.Edit{Base: base, Table: "Conformance", Fields: map[string]any{"Name": "theirs"}})
	require.NoError(t, err)
	all, err := conformance.Load(fstest.MapFS{"a.txtar": {Data: []byte("Title.\nsource: here\n" + create + "200\n" +
		"-- request --\nPOST /<table>/listRecords\n\n{}\n-- answer --\n200\n" +
		"-- request --\nPATCH /<table>\n\n{\"performUpsert\":{\"fieldsToMergeOn\":[\"Name\"]},\"records\":[{\"fields\":{\"Name\":\"theirs\"}},{\"fields\":{\"Name\":\"new\"}}]}\n-- answer --\n200\n" +
		"-- request --\nGET /<table>\n-- answer --\n200\n\n{\"records\":[{\"...\":0},{\"...\":0},{\"...\":0}]}\n")}})
	require.NoError(t, err)
	require.NoError(t, target.Play(t.Context(), all[0]))
	left, err := box.Records(base, "Conformance")
	require.NoError(t, err)
	require.Len(t, left, 1)
	require.Equal(t, "theirs", left[0].Fields["Name"])
}

func TestMalformedFilesAreNamed(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"-- request --\nGET /\n-- answer --\n200\n": "a.txtar: a title",
		"T\nsource: x\n":                                                            "0 parts",
		"T\nsource: x\n-- request --\nGET /\n":                                      "must come in pairs",
		"T\nsource: x\n-- answer --\n200\n-- request --\nGET /\n":                   "not request and answer",
		"T\nsource: x\n-- request --\nGET\n-- answer --\n200\n":                     "no method and path",
		"T\nsource: x\n-- request --\nGET /\n-- answer --\nfine\n":                  "no status",
		"T\nsource: x\n-- request --\nGET /\nAccept\n-- answer --\n200\n":           "no header",
		"T\nsource: x\n-- request --\nGET /\n-- answer --\n200\nContent-Type\n\n{}": "no header",
	} {
		_, err := conformance.Load(fstest.MapFS{"a.txtar": {Data: []byte(text)}})
		require.ErrorContains(t, err, want, text)
	}
	_, err := conformance.Load(fstest.MapFS{})
	require.ErrorContains(t, err, "no exchanges")
}
