package sandbox

import (
	"crypto/sha256"
	"math/rand/v2"
	"strings"
)

const base62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

// newID makes an ID of Airtable's shape: a prefix of three letters and 14
// base-62 characters. It is random, because ids are never reused, not even by
// a sandbox that starts again beside a database that remembers the last one.
func newID(prefix string) string {
	var id strings.Builder
	id.WriteString(prefix)
	for range 14 {
		id.WriteByte(base62[rand.IntN(len(base62))])
	}
	return id.String()
}

// fixedID makes the same ID for the same parts, so that the tables, fields and
// records of a seed keep theirs from one start to the next.
func fixedID(prefix string, parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	var id strings.Builder
	id.WriteString(prefix)
	for _, b := range sum[:14] {
		id.WriteByte(base62[int(b)%len(base62)])
	}
	return id.String()
}

// shapedID says whether id looks like a whole Airtable ID of that prefix.
func shapedID(prefix, id string) bool {
	return len(id) == len(prefix)+14 && prefixedID(prefix, id)
}

// prefixedID is shapedID without the length: a seed may name its own ids.
func prefixedID(prefix, id string) bool {
	rest, ok := strings.CutPrefix(id, prefix)
	if !ok || rest == "" {
		return false
	}
	for _, c := range rest {
		if !strings.ContainsRune(base62, c) {
			return false
		}
	}
	return true
}
