package deadletter_test

import (
	"encoding/json"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"airtable-replay/internal/deadletter"
)

var (
	timestamps = deadletter.VersionSpec{Kind: deadletter.VersionTimestamp}
	numbers    = deadletter.VersionSpec{Kind: deadletter.VersionNumber}
	tied       = deadletter.VersionSpec{Kind: deadletter.VersionTimestamp, TieBreak: true}
)

func TestParseVersion(t *testing.T) {
	t.Parallel()

	for _, tt := range []struct {
		name string
		spec deadletter.VersionSpec
		raw  any
		tie  any
		want string // String; empty: the zero version
		err  string // part of the error
	}{
		{name: "nothing", spec: timestamps, raw: nil},
		{name: "empty text", spec: numbers, raw: ""},
		{name: "nothing but a tie-break", spec: tied, raw: nil, tie: json.Number("4")},

		{name: "utc", spec: timestamps, raw: "2026-10-05T09:00:00Z", want: "2026-10-05T09:00:00Z"},
		{name: "small letters", spec: timestamps, raw: "2026-10-05t09:00:00z", want: "2026-10-05T09:00:00Z"},
		{name: "offset", spec: timestamps, raw: "2026-10-05T09:00:00+02:00", want: "2026-10-05T07:00:00Z"},
		{name: "short offset", spec: timestamps, raw: "2026-10-05T09:00:00-05", want: "2026-10-05T14:00:00Z"},
		{name: "offset without colon", spec: timestamps, raw: "2026-10-05T09:00:00+0530", want: "2026-10-05T03:30:00Z"},
		{name: "space for T", spec: timestamps, raw: "2026-10-05 09:00:00+00", want: "2026-10-05T09:00:00Z"},
		{name: "no seconds", spec: timestamps, raw: "2026-10-05T09:00Z", want: "2026-10-05T09:00:00Z"},
		{name: "basic form", spec: timestamps, raw: "20261005T090000.5Z", want: "2026-10-05T09:00:00.5Z"},
		{name: "comma", spec: timestamps, raw: "2026-10-05T09:00:00,25Z", want: "2026-10-05T09:00:00.25Z"},
		{name: "milliseconds are the usual precision", spec: timestamps, raw: "2026-10-05T09:00:00.123999Z", want: "2026-10-05T09:00:00.123Z"},
		{name: "seconds", spec: deadletter.VersionSpec{Kind: deadletter.VersionTimestamp, Precision: time.Second}, raw: "2026-10-05T09:00:00.999Z", want: "2026-10-05T09:00:00Z"},
		{name: "nanoseconds", spec: deadletter.VersionSpec{Kind: deadletter.VersionTimestamp, Precision: time.Nanosecond}, raw: "2026-10-05T09:00:00.1234567899Z", want: "2026-10-05T09:00:00.123456789Z"},
		{name: "spaces around", spec: timestamps, raw: " 2026-10-05T09:00:00Z\n", want: "2026-10-05T09:00:00Z"},
		{name: "tie-break", spec: tied, raw: "2026-10-05T09:00:00Z", tie: json.Number("7"), want: "2026-10-05T09:00:00Z#7"},
		{name: "tie-break in a text cell", spec: tied, raw: "2026-10-05T09:00:00Z", tie: "0012", want: "2026-10-05T09:00:00Z#12"},
		{name: "tie-break as a double", spec: tied, raw: "2026-10-05T09:00:00Z", tie: json.Number("1e3"), want: "2026-10-05T09:00:00Z#1000"},
		{name: "tie-break that is not declared", spec: timestamps, raw: "2026-10-05T09:00:00Z", tie: "x", want: "2026-10-05T09:00:00Z"},

		{name: "no zone", spec: timestamps, raw: "2026-10-05T09:00:00", err: "has no time zone: add Z or an offset"},
		{name: "date alone", spec: timestamps, raw: "2026-10-05", err: "without a time of day and a zone"},
		{name: "seconds or milliseconds", spec: timestamps, raw: json.Number("1760000000"), err: "not guessed"},
		{name: "seconds or milliseconds as text", spec: timestamps, raw: "1760000000000", err: "not guessed"},
		{name: "no such day", spec: timestamps, raw: "2026-02-30T09:00:00Z", err: "is not an ISO 8601 timestamp"},
		{name: "no such hour", spec: timestamps, raw: "2026-02-03T25:00:00Z", err: "is not an ISO 8601 timestamp"},
		{name: "no such offset", spec: timestamps, raw: "2026-02-03T05:00:00+24:00", err: "is not an ISO 8601 timestamp"},
		{name: "words", spec: timestamps, raw: "yesterday", err: "is not an ISO 8601 timestamp"},
		{name: "unset time", spec: timestamps, raw: "0001-01-01T00:00:00Z", err: "unset time"},
		{name: "year 10000 by its zone", spec: timestamps, raw: "9999-12-31T23:59:59-01:00", err: "outside the years"},
		{name: "endless fraction", spec: timestamps, raw: "2026-10-05T09:00:00." + strings.Repeat("1", 100) + "Z", err: "is not an ISO 8601 timestamp"},
		{name: "truth value", spec: timestamps, raw: true, err: "must be text or a number"},
		{name: "double", spec: numbers, raw: 5.0, err: "must be text or a number"},
		{name: "spaces", spec: timestamps, raw: "  ", err: "holds only spaces"},
		{name: "fraction as a tie-break", spec: tied, raw: "2026-10-05T09:00:00Z", tie: json.Number("1.5"), err: `tie-break "1.5" must be a whole number`},
		{name: "words as a tie-break", spec: tied, raw: "2026-10-05T09:00:00Z", tie: "first", err: `tie-break "first" is not a number`},
		{name: "truth value as a tie-break", spec: tied, raw: "2026-10-05T09:00:00Z", tie: true, err: "tie-break (a bool) must be text or a number"},

		{name: "number", spec: numbers, raw: json.Number("42"), want: "42"},
		{name: "zero is a version", spec: numbers, raw: json.Number("-0.0"), want: "0"},
		{name: "number in a text cell", spec: numbers, raw: "+007.50", want: "7.5"},
		{name: "beyond doubles", spec: numbers, raw: "1970670598291982291", want: "1970670598291982291"},
		{name: "exponent", spec: numbers, raw: json.Number("12.5E+2"), want: "1250"},
		{name: "small", spec: numbers, raw: json.Number("5e-3"), want: "0.005"},
		{name: "very small", spec: numbers, raw: json.Number("-1.5e-300"), want: "-1.5e-300"},
		{name: "very large", spec: numbers, raw: json.Number("1e1000"), want: "1e1000"},

		{name: "just too large", spec: numbers, raw: "10e1000", err: "too long a number"},
		{name: "just too small", spec: numbers, raw: "0.1e-1000", err: "too long a number"},
		{name: "exponent without end", spec: numbers, raw: "1e999999999", err: "too long a number"},
		{name: "exponent without end, downwards", spec: numbers, raw: "1e-99999999999999999999", err: "too long a number"},
		{name: "digits without end", spec: numbers, raw: strings.Repeat("9", 257), err: "too long a number"},
		{name: "timestamp where a number is declared", spec: numbers, raw: "2026-10-05T09:00:00Z", err: "declared as one"},
		{name: "hexadecimal", spec: numbers, raw: "0x10", err: "is not a number"},
		{name: "not a number", spec: numbers, raw: json.Number("NaN"), err: "is not a number"},
		{name: "dot without digits", spec: numbers, raw: "5.", err: "is not a number"},
		{name: "dot first", spec: numbers, raw: ".5", err: "is not a number"},
		{name: "exponent without digits", spec: numbers, raw: "5e", err: "is not a number"},
		{name: "undeclared kind", spec: deadletter.VersionSpec{}, raw: "5", err: "use timestamp or number"},
		{name: "long text is cut in the error", spec: numbers, raw: strings.Repeat("é", 100), err: strings.Repeat("é", 30) + "…"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			v, err := deadletter.ParseVersion(tt.spec, tt.raw, tt.tie)
			if tt.err != "" {
				require.ErrorContains(t, err, tt.err)
				require.True(t, v.IsZero())
				return
			}
			require.NoError(t, err)
			require.Equal(t, tt.want, v.String())
			require.Equal(t, tt.want == "", v.IsZero())
		})
	}
}

func TestVersionCompare(t *testing.T) {
	t.Parallel()

	ts := func(raw string) deadletter.Version { return parse(t, timestamps, raw, "") }
	withTie := func(raw, tie string) deadletter.Version { return parse(t, tied, raw, tie) }
	num := func(raw string) deadletter.Version { return parse(t, numbers, raw, "") }
	const at = "2026-10-05T09:00:00Z"
	for _, tt := range []struct {
		name       string
		v, w       deadletter.Version
		want       int
		comparable bool
	}{
		{"older time", ts("2026-10-05T08:59:59.999Z"), ts(at), -1, true},
		{"same instant", ts("2026-10-05T11:00:00+02:00"), ts(at), 0, true},
		{"tie-breaks as numbers", withTie(at, "10"), withTie(at, "9"), 1, true},
		{"large tie-breaks", withTie(at, "9007199254740993"), withTie(at, "9007199254740992"), 1, true},
		{"no tie-break is 0", withTie(at, ""), withTie(at, "0"), 0, true},
		{"no tie-break before 1", withTie(at, ""), withTie(at, "1"), -1, true},
		{"no tie-break after -1", withTie(at, ""), withTie(at, "-1"), 1, true},
		{"time before tie-break", withTie("2026-10-05T09:00:01Z", "1"), withTie(at, "9"), 1, true},
		{"numbers", num("10"), num("9"), 1, true},
		{"negative numbers", num("-10"), num("-9"), -1, true},
		{"about zero", num("-0.1"), num("0.1"), -1, true},
		{"zero", num("0"), num("-0e5"), 0, true},
		{"fractions", num("1.10"), num("1.1"), 0, true},
		{"beyond doubles", num("9007199254740993"), num("9007199254740992"), 1, true},
		{"prefix", num("12"), num("123"), -1, true},
		{"unlike kinds", num("10"), ts(at), 0, false},
		{"none with one", deadletter.Version{}, ts(at), 0, false},
		{"none with none", deadletter.Version{}, deadletter.Version{}, 0, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			got, ok := tt.v.Compare(tt.w)
			require.Equal(t, tt.comparable, ok)
			require.Equal(t, tt.want, sign(got))
			back, ok := tt.w.Compare(tt.v)
			require.Equal(t, tt.comparable, ok)
			require.Equal(t, -tt.want, sign(back))
		})
	}
}

func sign(n int) int { return min(1, max(-1, n)) }

func TestLater(t *testing.T) {
	t.Parallel()

	older, newer := parse(t, numbers, "1", ""), parse(t, numbers, "2", "")
	require.Equal(t, newer, deadletter.Later(older, newer))
	require.Equal(t, newer, deadletter.Later(newer, older))
	require.Equal(t, older, deadletter.Later(older, deadletter.Version{}))
	require.Equal(t, older, deadletter.Later(deadletter.Version{}, older))
	require.True(t, deadletter.Later(older, parse(t, timestamps, "2026-10-05T09:00:00Z", "")).IsZero(), "of unlike kinds neither is later")

	plain, zeroTie := parse(t, tied, "2026-10-05T09:00:00Z", ""), parse(t, tied, "2026-10-05T09:00:00Z", "0")
	require.Equal(t, plain, deadletter.Later(plain, zeroTie), "of two that are the same the first stays")
	require.False(t, plain.Equal(zeroTie))
}

func TestVersionCell(t *testing.T) {
	t.Parallel()

	micros := deadletter.VersionSpec{Kind: deadletter.VersionTimestamp, Precision: time.Microsecond}
	nanos := deadletter.VersionSpec{Kind: deadletter.VersionTimestamp, Precision: time.Nanosecond, TieBreak: true}
	require.Equal(t, "2026-10-05T09:00:00.000Z", parse(t, timestamps, "2026-10-05T09:00:00Z", "").Cell())
	require.Equal(t, "2026-10-05T09:00:00.120Z", parse(t, micros, "2026-10-05T09:00:00.12Z", "").Cell())
	require.Equal(t, "2026-10-05T09:00:00.120500Z", parse(t, micros, "2026-10-05T09:00:00.1205Z", "").Cell())
	require.Equal(t, "2026-10-05T09:00:00.120000001Z", parse(t, nanos, "2026-10-05T09:00:00.120000001Z", "").Cell())
	require.Equal(t, json.Number("1970670598291982291"), parse(t, numbers, "1970670598291982291", "").Cell())
	require.Nil(t, deadletter.Version{}.Cell())

	require.Nil(t, parse(t, nanos, "2026-10-05T09:00:00Z", "").Tie())
	require.Equal(t, json.Number("12"), parse(t, nanos, "2026-10-05T09:00:00Z", "12").Tie())

	at, ok := parse(t, timestamps, "2026-10-05T11:00:00+02:00", "").Time()
	require.True(t, ok)
	require.Equal(t, time.Date(2026, 10, 5, 9, 0, 0, 0, time.UTC), at)
	_, ok = parse(t, numbers, "5", "").Time()
	require.False(t, ok)
}

func TestVersionText(t *testing.T) {
	t.Parallel()

	for _, text := range []string{"", "timestamp:2026-10-05T09:00:00.123456789Z", "timestamp:2026-10-05T09:00:00Z#-12", "number:1e1000", "number:0", "number:-7.5#0"} {
		var v deadletter.Version
		require.NoError(t, v.UnmarshalText([]byte(text)))
		back, err := v.MarshalText()
		require.NoError(t, err)
		require.Equal(t, text, string(back))
	}
	for _, text := range []string{"5", "number:", "number:5#", "number:#5", "colour:5", "timestamp:5", "number:2026-10-05T09:00:00Z"} {
		var v deadletter.Version
		require.Error(t, v.UnmarshalText([]byte(text)), text)
		require.True(t, v.IsZero())
	}

	type row struct {
		Version deadletter.Version `json:"version,omitzero"`
	}
	encoded, err := json.Marshal(row{parse(t, numbers, "42", "")})
	require.NoError(t, err)
	require.JSONEq(t, `{"version":"number:42"}`, string(encoded))
	var decoded row
	require.NoError(t, json.Unmarshal(encoded, &decoded))
	require.Equal(t, "42", decoded.Version.String())
}

// TestVersionNumbersAreExact compares against exact rationals.
func TestVersionNumbersAreExact(t *testing.T) {
	t.Parallel()

	rapid.Check(t, func(t *rapid.T) {
		literal := rapid.StringMatching(`-?[0-9]{1,20}(\.[0-9]{1,20})?(e[+-]?[0-9]{1,2})?`)
		a, b := literal.Draw(t, "a"), literal.Draw(t, "b")
		x, y := parse(t, numbers, a, ""), parse(t, numbers, b, "")
		p, _ := new(big.Rat).SetString(a)
		q, _ := new(big.Rat).SetString(b)

		got, ok := x.Compare(y)
		require.True(t, ok)
		require.Equal(t, p.Cmp(q), sign(got))
		back, ok := new(big.Rat).SetString(x.String())
		require.True(t, ok)
		require.Zero(t, p.Cmp(back), "%s reads back as %s", a, x)
		require.Equal(t, json.Number(x.String()), x.Cell())

		key, ok := new(big.Rat).SetString(x.SortKey())
		require.True(t, ok)
		require.Zero(t, p.Cmp(key))
	})
}

// TestVersionSortKey: the key orders as Compare does, also before 1970.
func TestVersionSortKey(t *testing.T) {
	t.Parallel()

	nanos := deadletter.VersionSpec{Kind: deadletter.VersionTimestamp, Precision: time.Nanosecond}
	rapid.Check(t, func(t *rapid.T) {
		moment := func(label string) deadletter.Version {
			at := time.Unix(rapid.Int64Range(-4, 4).Draw(t, label), rapid.Int64Range(0, 999_999_999).Draw(t, label+" ns"))
			return parse(t, nanos, at.UTC().Format(time.RFC3339Nano), "")
		}
		a, b := moment("a"), moment("b")
		p, ok := new(big.Rat).SetString(a.SortKey())
		require.True(t, ok)
		q, ok := new(big.Rat).SetString(b.SortKey())
		require.True(t, ok)
		c, _ := a.Compare(b)
		require.Equal(t, c, p.Cmp(q))
	})
	require.Empty(t, deadletter.Version{}.SortKey())
}

func FuzzParseVersion(f *testing.F) {
	for _, seed := range []string{"2026-10-05T09:00:00Z", "20261005T0900+02", "1e999999999", "-0.0e-0", "1760000000", "", "9e1000", "0001-01-01T00:00:00Z"} {
		f.Add(seed, "5", true, false)
		f.Add(seed, "", false, true)
	}
	f.Fuzz(func(t *testing.T, raw, tie string, timestamp, asNumber bool) {
		spec := deadletter.VersionSpec{Kind: deadletter.VersionNumber, Precision: time.Nanosecond, TieBreak: true}
		if timestamp {
			spec.Kind = deadletter.VersionTimestamp
		}
		var value any = raw
		if asNumber {
			value = json.Number(raw)
		}
		v, err := deadletter.ParseVersion(spec, value, tie)
		if err != nil {
			require.True(t, v.IsZero(), "an error comes without a version")
			return
		}
		text, err := v.MarshalText()
		require.NoError(t, err)
		var stored deadletter.Version
		require.NoError(t, stored.UnmarshalText(text))
		require.True(t, v.Equal(stored), "storage loses nothing: %q", text)
		if v.IsZero() {
			return
		}
		c, ok := v.Compare(stored)
		require.True(t, ok && c == 0)
		cell, err := deadletter.ParseVersion(spec, v.Cell(), v.Tie())
		require.NoError(t, err)
		require.True(t, v.Equal(cell), "the cell says the same")
	})
}
