package config

import (
	"errors"
	"fmt"
	"strings"
)

// Path says where in a payload a value stands: keys and array indexes, separated by dots, in gjson's
// notation. A backslash takes the next character literally (order\.id is one key), # stands for each
// element of an array (lines.#.id), and #(kind=="billing") for the first that matches, #(…)# for all.
type Path struct {
	Text     string
	Segments []string // one step each, escapes kept
}

// ParsePath reads a path, and refuses what could match by accident: wildcards, modifiers, pipes.
func ParsePath(text string) (Path, error) {
	p := Path{Text: text}
	for rest := text; ; {
		n, err := segmentLen(rest)
		if err != nil {
			return Path{}, fmt.Errorf("path %q: %w", text, err)
		}
		p.Segments = append(p.Segments, rest[:n])
		if n == len(rest) {
			return p, nil
		}
		rest = rest[n+1:]
	}
}

// IsEach tells whether a segment yields several elements: # or #(…)#.
func IsEach(segment string) bool {
	return segment == "#" || strings.HasPrefix(segment, "#(") && strings.HasSuffix(segment, ")#")
}

func segmentLen(s string) (int, error) {
	if strings.HasPrefix(s, "#(") {
		return queryLen(s)
	}
	if s == "" || s[0] == '.' {
		return 0, errors.New("a part of it is empty; write a literal dot in a key as \\.")
	}
	if strings.IndexByte("@!{[", s[0]) >= 0 {
		return 0, fmt.Errorf("%q is not supported; write a key that begins with it as \\%c", s[:1], s[0])
	}
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
			if i == len(s) {
				return 0, errors.New("it ends in a backslash")
			}
		case '.':
			return i, nil
		case '*', '?', '|':
			return 0, fmt.Errorf("%q is not supported, as it may match another key; write a literal one as \\%c", s[i:i+1], s[i])
		case '#':
			if len(s) > 1 && (i > 0 || s[1] != '.') {
				return 0, errors.New("# stands alone between dots; write a literal one as \\#")
			}
		}
	}
	return len(s), nil
}

// queryLen is the length of the #(…) or #(…)# that s begins with.
func queryLen(s string) (int, error) {
	depth, quoted := 0, false
	for i := 1; i < len(s); i++ {
		switch c := s[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '(':
			depth++
		case c == ')':
			if depth--; depth > 0 {
				continue
			}
			n := i + 1
			if n < len(s) && s[n] == '#' {
				n++
			}
			if n < len(s) && s[n] != '.' {
				return 0, errors.New("a dot has to follow #(…)")
			}
			return n, nil
		}
	}
	return 0, errors.New("#( has no matching )")
}

// KeyPath says where the sender's ID of a record is: at a path of the payload, or, for append-only
// targets, in the payload's own SHA-256.
type KeyPath struct {
	Path
	SHA256 bool
}

// OwnVersion is a source's own version field: a name, with the target's kind and precision, or a
// whole Version.
type OwnVersion struct {
	Version
	bare bool
}
