package pipeline_test

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"airtable-replay/internal/deadletter"
	"airtable-replay/internal/pipeline"
)

var seeds = []string{
	"", "{}", "null", `{"id":"T-1"}`, `{"id":"T-1","at":"2026-10-04T08:00:00Z","fields":{"Name":"A","Qty":1,"Status":"Paid","Tags":["red"]}}`,
	`{"id":17,"at":7,"fields":{"Due":"2026-05-10","Owner":["recAAAAAAAAAAAAAA"],"Order":["O-1",2],"Person":{"id":"usr"},"Code":{"text":"x"}}}`,
	`{"id":["x"],"fields":{"Invoice PDF":[{"url":"https://x.test/a"}],"Active":false,"Notes":null,"Stars":3,"Meeting":"2026-01-02T03:04:05+01:00"}}`,
	"{\"id\":\"\xff\"}", `{"id":"\ud800"}`, `{"id":1,"id":2}`, "\x00", strings.Repeat("[", 300), `{"order":{"id":"O"},"updated_at":"x","seq":1e5}`,
	`{"keys":{"order.id":"T-9"},"lines":[{"kind":"order","id":1,"tag":"red"}],"people":[{"name":"A"}]}`,
}

// soundProblem holds a refusal to what callers rely on.
func soundProblem(t *testing.T, p *deadletter.Problem) {
	t.Helper()
	require.Contains(t, deadletter.Reasons(), p.Reason)
	require.NotEmpty(t, p.Detail)
	require.True(t, utf8.ValidString(p.Detail))
	require.NotContains(t, p.Detail, "\n")
	require.NotContains(t, p.Detail, "\x00")
	require.Less(t, len(p.Detail), 4096)
}

func FuzzIdentify(f *testing.F) {
	for _, seed := range seeds {
		f.Add([]byte(seed))
	}
	sources := book(f).Sources()
	f.Fuzz(func(t *testing.T, payload []byte) {
		before := bytes.Clone(payload)
		for _, s := range sources {
			got := s.Identify(payload)
			require.True(t, reflect.DeepEqual(got, s.Identify(payload)), "the same bytes, the same answer")
			for _, text := range []string{got.TargetID, got.VersionRaw} {
				require.True(t, utf8.ValidString(text) && !strings.ContainsRune(text, 0), "a text column takes it")
				require.LessOrEqual(t, len(text), 1024)
			}
			if got.Problem != nil {
				soundProblem(t, got.Problem)
				continue
			}
			require.True(t, json.Valid(payload) && utf8.Valid(payload))
			require.NotEmpty(t, got.TargetID)
		}
		require.Equal(t, before, payload)
	})
}

func FuzzValidate(f *testing.F) {
	for _, seed := range seeds {
		f.Add([]byte(seed), true)
	}
	b, s := book(f), schema()
	f.Fuzz(func(t *testing.T, payload []byte, upsert bool) {
		op := deadletter.Update
		if upsert {
			op = deadletter.Upsert
		}
		for _, src := range b.Sources() {
			w, invalid := src.Validate(payload, op, s)
			again, invalidAgain := src.Validate(payload, op, s)
			require.True(t, reflect.DeepEqual(w, again) && reflect.DeepEqual(invalid, invalidAgain), "deterministic")
			if invalid != nil {
				require.NotEmpty(t, invalid.Errors)
				soundProblem(t, invalid.Problem())
				continue
			}
			soundWrite(t, src, w, payload)
		}
	})
}

// soundWrite holds a write that passed to the payload that it came from.
func soundWrite(t *testing.T, src *pipeline.Source, w pipeline.Write, payload []byte) {
	t.Helper()
	require.Equal(t, src.Identify(payload).TargetID, w.Key)
	require.NotEmpty(t, w.Key)
	require.NotZero(t, len(w.Fields)+len(w.Links), "there is something to write")
	_, err := json.Marshal(w.Fields)
	require.NoError(t, err)
	for name := range w.Fields {
		require.Contains(t, src.Target.Fields, name)
	}
	if src.Name != "things" {
		return
	}
	var sent struct {
		Fields map[string]any `json:"fields"`
	}
	decoder := json.NewDecoder(bytes.NewReader(payload))
	decoder.UseNumber()
	require.NoError(t, decoder.Decode(&sent))
	for name, value := range w.Fields {
		require.True(t, reflect.DeepEqual(sent.Fields[name], value), "%s is written as it was sent", name)
	}
}

// A number either comes back from a double with its digits, or is refused.
func TestNumbersAreExactOrRefused(t *testing.T) {
	t.Parallel()
	src, s := source(t, "things"), schema()
	passes := func(literal string) bool {
		_, invalid := src.Validate(thing(`{"Qty":`+literal+`}`), deadletter.Update, s)
		return invalid == nil
	}
	rapid.Check(t, func(r *rapid.T) {
		f := rapid.Float64().Filter(func(f float64) bool { return f-f == 0 }).Draw(r, "double")
		if !passes(strconv.FormatFloat(f, 'g', -1, 64)) {
			r.Fatalf("a double's own digits were refused: %v", f)
		}
		i := rapid.Int64().Draw(r, "integer")
		shown, err := json.Marshal(float64(i))
		if err != nil {
			r.Fatal(err)
		}
		literal := strconv.FormatInt(i, 10)
		if passes(literal) != (literal == string(shown)) {
			r.Fatalf("%d, which a double gives back as %s", i, shown)
		}
	})
}
