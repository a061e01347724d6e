package config

import (
	"reflect"
	"regexp"
	"strings"
	"unicode"

	"github.com/goccy/go-yaml/ast"
)

var (
	reference = regexp.MustCompile(`^\$\{(file:[^{}\n]+|[A-Za-z_][A-Za-z0-9_]*)\}`)
	// bareEnd is what may follow a plain scalar.
	bareEnd = regexp.MustCompile(`^[ \t]*([,\]}\r\n]|[ \t]#|$)`)
)

// quoteReferences puts plain references (token: ${NAME}) into quotes: between the braces of a flow
// mapping YAML does not take the braces of a reference. Lines stay what they were.
func quoteReferences(text string) string {
	var out strings.Builder
	before := byte('\n') // the last character that was not blank
	for i := 0; i < len(text); {
		n := 1
		switch c := text[i]; {
		case c == '#' && (i == 0 || strings.IndexByte(" \t\n", text[i-1]) >= 0):
			n = lineLen(text[i:])
		case (c == '"' || c == '\'') && opens(before):
			n = quotedLen(text[i:])
		case c == '$' && opens(before):
			if ref := reference.FindString(text[i:]); ref != "" && bareEnd.MatchString(text[i+len(ref):]) {
				out.WriteString("'" + strings.ReplaceAll(ref, "'", "''") + "'")
				before, i = '}', i+len(ref)
				continue
			}
		}
		out.WriteString(text[i : i+n])
		if last := text[i+n-1]; last != ' ' && last != '\t' && last != '\r' {
			before = last
		}
		i += n
	}
	return out.String()
}

// opens tells whether a scalar may begin after the character.
func opens(c byte) bool { return strings.IndexByte(":,[{-\n", c) >= 0 }

// lineLen is the length of the rest of the line, without its end.
func lineLen(s string) int {
	if i := strings.IndexByte(s, '\n'); i > 0 {
		return i
	}
	return len(s)
}

// quotedLen is the length of the quoted scalar that s begins with.
func quotedLen(s string) int {
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] == '\\' && s[0] == '"':
			i++
		case s[i] == s[0] && s[0] == '\'' && strings.HasPrefix(s[i+1:], "'"):
			i++
		case s[i] == s[0]:
			return i + 1
		}
	}
	return len(s)
}

// scalar is a node's text as written.
func (r *reader) scalar(n ast.Node, at keyPath) (string, bool) {
	switch node := n.(type) {
	case *ast.StringNode:
		return node.Value, true
	case *ast.LiteralNode:
		return node.Value.Value, true
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.InfinityNode, *ast.NanNode:
		return node.GetToken().Value, true
	}
	r.fault(at, "write a single value")
	return "", false
}

// literal is the text of a value that cannot be a reference: it may appear in errors and logs, where
// a secret that was referred to by mistake must not.
func (r *reader) literal(n ast.Node, at keyPath) (string, bool) {
	text, ok := r.scalar(n, at)
	if ok && text != "" && reference.FindString(text) == text {
		r.fault(at, "takes no reference; secrets, base IDs and addresses do")
		return "", false
	}
	return text, ok
}

// text is the text of a value that may be a reference as a whole. It never appears in errors.
func (r *reader) text(n ast.Node, at keyPath) (string, bool) {
	text, ok := r.scalar(n, at)
	if !ok || reference.FindString(text) != text || text == "" {
		return text, ok
	}
	return r.look(text[2:len(text)-1], at)
}

// look reads an environment variable or a file. Neither its value nor part of it gets into an error.
func (r *reader) look(name string, at keyPath) (string, bool) {
	path, isFile := strings.CutPrefix(name, "file:")
	if !isFile {
		value, ok := r.env(name)
		if !ok || value == "" {
			r.fault(at, "the environment variable %s is not set", name)
		}
		return value, ok && value != ""
	}
	data, err := r.file(path)
	if err != nil {
		r.fault(at, "the file cannot be read: %v", err)
		return "", false
	}
	value := strings.TrimSuffix(strings.TrimSuffix(string(data), "\n"), "\r")
	if value == "" {
		r.fault(at, "the file %s is empty", path)
	}
	return value, value != ""
}

// scan reads a secret, which has to be a reference.
func (s *Secret) scan(r *reader, n ast.Node, at keyPath) {
	text, ok := r.scalar(n, at)
	if !ok {
		return
	}
	if reference.FindString(text) != text || text == "" {
		r.fault(at, "a secret does not stand in the file; write ${NAME} for an environment variable or ${file:PATH}")
		return
	}
	value, ok := r.look(text[2:len(text)-1], at)
	if ok && strings.ContainsFunc(value, func(c rune) bool { return unicode.IsSpace(c) || unicode.IsControl(c) }) {
		r.fault(at, "what %s holds has blanks or line breaks in it, which no token has", text)
		return
	}
	s.value = value
}

// scan reads a path of the payload.
func (p *Path) scan(r *reader, n ast.Node, at keyPath) {
	text, ok := r.literal(n, at)
	if !ok {
		return
	}
	parsed, err := ParsePath(text)
	if err != nil {
		r.fault(at, "%v", err)
	}
	*p = parsed
}

// scan reads a path, or {sha256: payload}.
func (k *KeyPath) scan(r *reader, n ast.Node, at keyPath) {
	if _, ok := n.(ast.MapNode); !ok {
		k.Path.scan(r, n, at)
		return
	}
	entries, _ := r.entries(n, at)
	if len(entries) == 1 && entries[0].key == "sha256" {
		if text, ok := r.scalar(r.resolve(entries[0].value, at), at); ok && text == "payload" {
			k.SHA256 = true
			return
		}
	}
	r.fault(at, "write a path of the payload, or {sha256: payload}")
}

// scan reads a field's name, or a whole version.
func (o *OwnVersion) scan(r *reader, n ast.Node, at keyPath) {
	o.Version.defaults()
	if _, ok := n.(ast.MapNode); ok {
		r.decode(n, reflect.ValueOf(&o.Version).Elem(), at)
		return
	}
	o.bare = true
	o.Field, _ = r.literal(n, at)
}
