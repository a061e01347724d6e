package airtable

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
)

// matchesNothing is the formula for an empty list of keys.
const matchesNothing = "FALSE()"

// EqualsAny is a formula that is true where the field's text is exactly one of
// the keys: {Field}='k', or OR({Field}='k1',{Field}='k2'). The comparison is
// case-sensitive. An empty key is left out, since it would find every record
// without one; with no key left the formula matches nothing.
func EqualsAny(field string, keys []string) string {
	ref := FieldRef(field)
	terms := make([]string, 0, len(keys))
	for _, k := range keys {
		if k != "" {
			terms = append(terms, ref+"="+Literal(k))
		}
	}
	return anyOf(terms)
}

var plainNumber = regexp.MustCompile(`^-?[0-9]+(\.[0-9]+)?$`)

// EqualsNumber is EqualsAny for a number field, where quoted digits may not
// compare equal. Numbers are written out in decimals; one with an exponent is
// refused. Whether 0 also finds empty cells is not known of Airtable: the caller
// has to look at the field of what came back.
func EqualsNumber(field string, numbers []json.Number) (string, error) {
	ref := FieldRef(field)
	terms := make([]string, len(numbers))
	for i, n := range numbers {
		if !plainNumber.MatchString(string(n)) {
			return "", fmt.Errorf("number key %d for field %q: write it in decimals, without an exponent", i+1, field)
		}
		terms[i] = ref + "=" + string(n)
	}
	return anyOf(terms), nil
}

// RecordIDIn is a formula that is true for the records of these IDs. An ID that
// does not exist is merely not found.
func RecordIDIn(ids []string) string {
	terms := make([]string, len(ids))
	for i, id := range ids {
		terms[i] = "RECORD_ID()=" + Literal(id)
	}
	return anyOf(terms)
}

func anyOf(terms []string) string {
	switch len(terms) {
	case 0:
		return matchesNothing
	case 1:
		return terms[0]
	}
	return "OR(" + strings.Join(terms, ",") + ")"
}

// Backslash, the delimiter and the three line characters are escaped; a literal
// may stand anywhere and holds exactly the text (cases B01, B02, B14).
var literalEscapes = strings.NewReplacer(`\`, `\\`, `'`, `\'`, "\n", `\n`, "\r", `\r`, "\t", `\t`)

// Literal is the text as a formula's string.
func Literal(text string) string { return "'" + literalEscapes.Replace(text) + "'" }

// FieldRef is a reference to a field by name or ID.
func FieldRef(field string) string { return "{" + strings.ReplaceAll(field, "}", `\}`) + "}" }

// CanReference reports whether a formula can name the field: Airtable takes no
// more than one closing brace, and a backslash before one would escape it. Such
// a field can still be referred to by its ID.
func CanReference(field string) bool {
	return field != "" && strings.Count(field, "}") <= 1 && !strings.Contains(field+"}", `\}`)
}

// FormulaLen is the length of the formula in a URL, percent-encoded.
func FormulaLen(formula string) int {
	n := 0
	for i := range len(formula) {
		if unreserved(formula[i]) {
			n++
		} else {
			n += 3
		}
	}
	return n
}

func unreserved(b byte) bool {
	return 'a' <= b && b <= 'z' || 'A' <= b && b <= 'Z' || '0' <= b && b <= '9' || strings.IndexByte("-_.~", b) >= 0
}

// ChunkKeys splits keys, in order, into lists whose EqualsAny formula takes at
// most maxEncoded characters of a URL. A key that exceeds it alone gets a chunk
// of its own, to be sent by POST.
func ChunkKeys(field string, keys []string, maxEncoded int) [][]string {
	frame := FormulaLen("OR()") - FormulaLen(",")
	var chunks [][]string
	size := 0
	for i, k := range keys {
		term := FormulaLen("," + FieldRef(field) + "=" + Literal(k))
		if i == 0 || frame+size+term > maxEncoded {
			chunks, size = append(chunks, nil), 0
		}
		last := len(chunks) - 1
		chunks[last] = append(chunks[last], k)
		size += term
	}
	return chunks
}
