package mirror_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"airtable-replay/internal/mirror"

	"github.com/stretchr/testify/require"
)

// What a payload cell says is read back as the very bytes that were filed.
func FuzzPayloadCell(f *testing.F) {
	for _, seed := range []string{"", "{}", "{\x00\xff", "a\x00", "[base64, as the payload is not plain text]\nQUJD", "x\n[cut here: 9]", "x\n[cut here: 9]\n", "🚲"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		cell := mirror.PayloadText(raw)
		require.True(t, utf8.ValidString(cell))
		require.NotContains(t, cell, "\x00")
		read, fault := mirror.PayloadBytes(cell)
		require.Empty(t, fault)
		require.Equal(t, string(raw), string(read))
	})
}

// A cut cell is never longer than the limit, begins as the text does, and is never taken for whole.
func FuzzCut(f *testing.F) {
	f.Add("short", 200)
	f.Add(strings.Repeat("🚲é", 500), 300)
	f.Fuzz(func(t *testing.T, text string, limit int) {
		if !utf8.ValidString(text) {
			return
		}
		limit = 200 + max(limit, -limit, 0)%1000
		cell := mirror.Cut(text, limit)
		require.LessOrEqual(t, utf16Len(cell), limit)
		if utf16Len(text) <= limit {
			require.Equal(t, text, cell)
			return
		}
		at := strings.LastIndex(cell, "\n[cut here: ")
		require.Positive(t, at)
		require.True(t, strings.HasPrefix(text, cell[:at]))
		_, fault := mirror.PayloadBytes(cell)
		require.NotEmpty(t, fault)
	})
}
