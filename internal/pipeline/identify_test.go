package pipeline_test

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"airtable-replay/internal/deadletter"
)

func TestIdentifyReadsID(t *testing.T) {
	t.Parallel()
	for id, want := range map[string]string{
		`"O-1"`: "O-1", `" O-1 "`: " O-1 ", `"o'brien \"x\""`: `o'brien "x"`, `17`: "17", `-3`: "-3", `0`: "0",
		`123456789012345678901234567890`: "123456789012345678901234567890", `["A"]`: "A", `[7]`: "7", `"0012"`: "0012",
		`"` + strings.Repeat("x", 1024) + `"`: strings.Repeat("x", 1024),
	} {
		got := source(t, "things").Identify([]byte(`{"id":` + id + `,"at":"2026-10-04T08:00:00Z"}`))
		require.Nil(t, got.Problem, id)
		require.Equal(t, want, got.TargetID)
	}
	for id, want := range map[string]string{
		`""`: "is empty", `null`: "no ID at id", `true`: "is true", `{}`: "is an object", `[]`: "is a list", `["a","b"]`: "is a list",
		`1.5`: "1.5", `1e5`: "1e5", `-0`: "-0", `[["a"]]`: "is a list", `"a\u0000"`: "NUL",
	} {
		got := source(t, "things").Identify([]byte(`{"id":` + id + `}`))
		require.Empty(t, got.TargetID)
		require.NotNil(t, got.Problem, id)
		require.Equal(t, deadletter.ReasonValidationFailed, got.Problem.Reason)
		require.Contains(t, got.Problem.Detail, want)
		require.Contains(t, got.Problem.Detail, "Thing ID: ")
	}
}

func TestIdentifyReadsVersion(t *testing.T) {
	t.Parallel()
	parse := func(name string, raw, tie any) deadletter.Version {
		v, err := deadletter.ParseVersion(source(t, name).Spec, raw, tie)
		require.NoError(t, err)
		return v
	}
	at := "2026-10-04T10:00:00.123456+02:00"
	got := source(t, "things").Identify([]byte(`{"id":"T-1","at":"` + at + `"}`))
	require.Nil(t, got.Problem)
	require.Equal(t, at, got.VersionRaw, "as sent")
	require.True(t, got.Version.Equal(parse("things", at, nil)))

	got = source(t, "orders").Identify([]byte(`{"order":{"id":1},"updated_at":"2026-10-04T08:00:00Z","seq":12345678901234567890}`))
	require.Nil(t, got.Problem)
	require.True(t, got.Version.Equal(parse("orders", "2026-10-04T08:00:00Z", number("12345678901234567890"))))

	got = source(t, "accounts").Identify([]byte(`{"id":"A","seq":1970670598291982290}`))
	require.Nil(t, got.Problem)
	require.Equal(t, "1970670598291982290", got.VersionRaw)
	require.Equal(t, map[string]any{"Seq": "1970670598291982290"}, source(t, "accounts").VersionCells(got.Version), "text, beyond 2^53")

	for _, payload := range []string{`{"id":"T-1"}`, `{"id":"T-1","at":null}`, `{"id":"T-1","at":""}`} {
		got = source(t, "things").Identify([]byte(payload))
		require.Nil(t, got.Problem, "no version is no fault here; the decision is the domain's (mission C5)")
		require.True(t, got.Version.IsZero())
		require.Empty(t, got.VersionRaw)
	}
}

func TestIdentifyRefusesVersions(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		source, payload string
		reason          deadletter.Reason
		raw             string
	}{
		{"things", `{"id":"T-1","at":1759564800}`, deadletter.ReasonVersionKindMismatch, "1759564800"},
		{"things", `{"id":"T-1","at":"2026-10-04T08:00:00"}`, deadletter.ReasonInvalidValue, "2026-10-04T08:00:00"},
		{"things", `{"id":"T-1","at":"yesterday"}`, deadletter.ReasonInvalidValue, "yesterday"},
		{"things", `{"id":"T-1","at":{"t":1}}`, deadletter.ReasonInvalidValue, ""},
		{"things", `{"id":"T-1","at":"a\u0000"}`, deadletter.ReasonInvalidValue, ""},
		{"things", `{"id":"T-1","at":"` + strings.Repeat("9", 201) + `"}`, deadletter.ReasonInvalidValue, ""},
		{"accounts", `{"id":"A","seq":"2026-10-04T08:00:00Z"}`, deadletter.ReasonVersionKindMismatch, "2026-10-04T08:00:00Z"},
		{"accounts", `{"id":"A","seq":"x"}`, deadletter.ReasonInvalidValue, "x"},
		{"numbers", `{"id":1,"seq":9007199254740993}`, deadletter.ReasonInvalidValue, "9007199254740993"},
		{"orders", `{"order":{"id":"O"},"updated_at":"2026-10-04T08:00:00Z","seq":"x"}`, deadletter.ReasonInvalidValue, "2026-10-04T08:00:00Z"},
	} {
		got := source(t, c.source).Identify([]byte(c.payload))
		require.NotNil(t, got.Problem, c.payload)
		require.Equal(t, c.reason, got.Problem.Reason, c.payload)
		require.NotEmpty(t, got.TargetID, "the ID is readable all the same")
		require.True(t, got.Version.IsZero())
		require.Equal(t, c.raw, got.VersionRaw)
	}
	require.Contains(t, source(t, "numbers").Identify([]byte(`{"id":1,"seq":9007199254740993}`)).Problem.Detail, "text: true")
}

func TestIdentifyByContent(t *testing.T) {
	t.Parallel()
	for _, payload := range []string{`{"body":"x"}`, "not JSON", "", "\xff\x00"} {
		sum := sha256.Sum256([]byte(payload))
		require.Equal(t, hex.EncodeToString(sum[:]), source(t, "events").Identify([]byte(payload)).TargetID)
	}
	w, invalid := source(t, "events").Validate([]byte(`{"body":"x"}`), deadletter.Upsert, schema())
	require.Nil(t, invalid)
	require.True(t, w.Versionless)
	require.True(t, w.Target.AppendOnly)
	require.Nil(t, w.CreateFault())
}

func TestVersionCells(t *testing.T) {
	t.Parallel()
	s := source(t, "orders")
	cells := map[string]any{"Source Updated At": "2026-10-04T08:00:00.000Z", "Source Sequence": number("7")}
	v, err := s.ReadVersion(cells)
	require.NoError(t, err)
	require.Equal(t, cells, s.VersionCells(v))
	untied, err := s.ReadVersion(map[string]any{"Source Updated At": "2026-10-04T08:00:00.000Z"})
	require.NoError(t, err)
	require.Equal(t, map[string]any{"Source Updated At": "2026-10-04T08:00:00.000Z", "Source Sequence": nil}, s.VersionCells(untied))
	require.Nil(t, s.VersionCells(deadletter.Version{}))
	blank, err := s.ReadVersion(nil)
	require.NoError(t, err)
	require.True(t, blank.IsZero())
	_, err = s.ReadVersion(map[string]any{"Source Updated At": "soon"})
	require.Error(t, err)
	require.Nil(t, source(t, "events").VersionCells(v))
	none, err := source(t, "events").ReadVersion(cells)
	require.NoError(t, err)
	require.True(t, none.IsZero())
}
