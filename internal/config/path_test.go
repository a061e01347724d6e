package config_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"airtable-replay/internal/config"
)

func TestParsePath(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"id":                               {"id"},
		"order.id":                         {"order", "id"},
		"order.Delivery Date":              {"order", "Delivery Date"},
		`order\.id`:                        {`order\.id`},
		`a\\.b`:                            {`a\\`, "b"},
		`\@type.\#`:                        {`\@type`, `\#`},
		"lines.0.sku":                      {"lines", "0", "sku"},
		"lines.#.sku":                      {"lines", "#", "sku"},
		"lines.#":                          {"lines", "#"},
		`a.#(kind=="bill.to").id`:          {"a", `#(kind=="bill.to")`, "id"},
		`a.#(kind=="x)")#.id`:              {"a", `#(kind=="x)")#`, "id"},
		`a.#(b.#(c=="d\"")#).id`:           {"a", `#(b.#(c=="d\"")#)`, "id"},
		"schöne.größe":                     {"schöne", "größe"},
		strings.Repeat("a.", 50) + "final": append(strings.Split(strings.Repeat("a.", 49)+"a", "."), "final"),
	} {
		got, err := config.ParsePath(text)
		require.NoError(t, err, text)
		require.Equal(t, want, got.Segments, text)
		require.Equal(t, text, got.Text)
	}
	for text, want := range map[string]string{
		"": "is empty", ".": "is empty", "a.": "is empty", ".a": "is empty", "a..b": "is empty",
		"a.*": "another key", "a?": "another key", "a|b": "another key",
		"@this": `\@`, "a.@reverse": `\@`, "!x": `\!`, "{a,b}": `\{`, "[a]": `\[`,
		`a\`: "ends in a backslash", "a#": "stands alone", "#b": "stands alone",
		"#(a": "no matching", `#("a)`: "no matching", "#(a)b": "a dot has to follow", "#(a)#b": "a dot has to follow",
	} {
		_, err := config.ParsePath(text)
		require.ErrorContains(t, err, want, text)
	}
	require.True(t, config.IsEach("#"))
	require.True(t, config.IsEach("#(a==1)#"))
	require.False(t, config.IsEach("#(a==1)"))
	require.False(t, config.IsEach(`\#`))
}

func FuzzParsePath(f *testing.F) {
	for _, seed := range []string{"order.id", `a\.b.#.c`, `#(a=="b")#.c`, "#(", `\`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		path, err := config.ParsePath(text)
		if err != nil {
			return
		}
		require.Equal(t, text, strings.Join(path.Segments, "."), "the segments are the path")
		require.NotContains(t, path.Segments, "")
	})
}
