package sandbox

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"
)

// seedDecoder walks the YAML tree itself, since it has to report every fault
// with its line, and numbers by their digits.
type seedDecoder struct {
	faults  SeedError
	anchors map[string]ast.Node
	depth   int
	aliases int
}

// Limits that keep a file whose aliases go in circles from going on for ever.
const (
	maxSeedDepth   = 16
	maxSeedAliases = 10_000
)

// entries are the known keys of a mapping.
type entries map[string]func(n ast.Node, path string)

type pair struct {
	key   string
	value ast.Node
}

func line(n ast.Node) int {
	if n == nil || n.GetToken() == nil || n.GetToken().Position == nil {
		return 0
	}
	return n.GetToken().Position.Line
}

func (d *seedDecoder) fault(n ast.Node, path, format string, args ...any) {
	d.faults = append(d.faults, SeedFault{Line: line(n), Path: strings.TrimPrefix(path, "."), Problem: fmt.Sprintf(format, args...)})
}

// plain follows anchors, aliases and tags to the node they stand for.
func (d *seedDecoder) plain(n ast.Node) ast.Node {
	for range maxSeedDepth {
		switch v := n.(type) {
		case *ast.AnchorNode:
			d.anchors[v.Name.String()] = v.Value
			n = v.Value
		case *ast.AliasNode:
			target, ok := d.anchors[v.Value.String()]
			d.aliases++
			if !ok || d.aliases > maxSeedAliases {
				return n
			}
			n = target
		case *ast.TagNode:
			n = v.Value
		default:
			return n
		}
	}
	return n
}

// pairs gives a mapping's entries in order; false when n is none.
func (d *seedDecoder) pairs(n ast.Node) ([]pair, bool) {
	var values []*ast.MappingValueNode
	switch v := d.plain(n).(type) {
	case *ast.MappingNode:
		values = v.Values
	case *ast.MappingValueNode:
		values = []*ast.MappingValueNode{v}
	default:
		return nil, false
	}
	out := make([]pair, len(values))
	for i, v := range values {
		key, _ := d.scalar(v.Key).(string)
		if key == "" {
			key = v.Key.GetToken().Value
		}
		out[i] = pair{key, v.Value}
	}
	return out, true
}

// mapping hands each entry to the function that knows its key.
func (d *seedDecoder) mapping(n ast.Node, path string, known entries) {
	pairs, ok := d.pairs(n)
	if !ok {
		d.fault(n, path, "a mapping is expected")
		return
	}
	seen := map[string]bool{}
	for _, p := range pairs {
		decode, ok := known[p.key]
		switch {
		case !ok:
			d.fault(p.value, path+"."+p.key, "unknown key; known are %s", strings.Join(slices.Sorted(maps.Keys(known)), ", "))
		case seen[p.key]:
			d.fault(p.value, path+"."+p.key, "given twice")
		default:
			seen[p.key] = true
			decode(p.value, path+"."+p.key)
		}
	}
}

func decodeList[T any](d *seedDecoder, n ast.Node, path string, into *[]T, decode func(ast.Node, string, *T)) {
	n = d.plain(n)
	if _, isNull := n.(*ast.NullNode); isNull {
		return
	}
	list, ok := n.(*ast.SequenceNode)
	if !ok {
		d.fault(n, path, "a list is expected")
		return
	}
	*into = make([]T, len(list.Values))
	for i, v := range list.Values {
		decode(v, fmt.Sprintf("%s[%d]", path, i), &(*into)[i])
	}
}

func (d *seedDecoder) text(into *string) func(ast.Node, string) {
	return func(n ast.Node, path string) {
		text, ok := scalarText(d.scalar(n))
		if !ok {
			d.fault(n, path, "text is expected")
		}
		*into = text
	}
}

func (d *seedDecoder) texts(into *[]string) func(ast.Node, string) {
	return func(n ast.Node, path string) {
		decodeList(d, n, path, into, func(n ast.Node, path string, s *string) { d.text(s)(n, path) })
	}
}

func (d *seedDecoder) number(into *int) func(ast.Node, string) {
	return func(n ast.Node, path string) {
		number, _ := d.scalar(n).(json.Number)
		v, err := strconv.Atoi(number.String())
		if err != nil {
			d.fault(n, path, "a whole number is expected")
		}
		*into = v
	}
}

func (d *seedDecoder) flag(into *bool) func(ast.Node, string) {
	return func(n ast.Node, path string) {
		v, ok := d.scalar(n).(bool)
		if !ok {
			d.fault(n, path, "true or false is expected")
		}
		*into = v
	}
}

func (d *seedDecoder) instant(into *time.Time) func(ast.Node, string) {
	return func(n ast.Node, path string) {
		text, _ := d.scalar(n).(string)
		at, ok := parseInstant(text, time.UTC)
		if !ok {
			d.fault(n, path, "an ISO 8601 time such as 2026-10-04T08:00:00Z is expected")
		}
		*into = at
	}
}

func (d *seedDecoder) modified(n ast.Node, path string, r *SeedRecord) {
	pairs, ok := d.pairs(n)
	if !ok {
		d.fault(n, path, "a mapping of field names to times is expected")
		return
	}
	r.Modified = map[string]time.Time{}
	for _, p := range pairs {
		var at time.Time
		d.instant(&at)(p.value, path+"."+p.key)
		r.Modified[p.key] = at
	}
}

// scalar gives text, a json.Number, a bool or nil; other nodes give themselves.
// A timestamp is text, and so is a number that JSON would not write that way.
func (d *seedDecoder) scalar(n ast.Node) any {
	switch v := d.plain(n).(type) {
	case *ast.StringNode:
		return v.Value
	case *ast.LiteralNode:
		return v.Value.Value
	case *ast.BoolNode:
		return v.Value
	case *ast.NullNode:
		return nil
	case *ast.IntegerNode, *ast.FloatNode:
		text := v.GetToken().Value
		if json.Valid([]byte(text)) {
			return json.Number(text)
		}
		return text
	default:
		return v
	}
}

// value turns a node into what JSON could hold.
func (d *seedDecoder) value(n ast.Node, path string) any {
	d.depth++
	defer func() { d.depth-- }()
	if d.depth > maxSeedDepth || d.aliases > maxSeedAliases {
		if len(d.faults) == 0 {
			d.fault(n, path, "too deep, or an alias that holds itself")
		}
		return nil
	}
	if list, ok := d.plain(n).(*ast.SequenceNode); ok {
		items := make([]any, len(list.Values))
		for i, v := range list.Values {
			items[i] = d.value(v, fmt.Sprintf("%s[%d]", path, i))
		}
		return items
	}
	if pairs, ok := d.pairs(n); ok {
		m := map[string]any{}
		for _, p := range pairs {
			m[p.key] = d.value(p.value, path+"."+p.key)
		}
		return m
	}
	v := d.scalar(n)
	if _, isNode := v.(ast.Node); isNode {
		d.fault(n, path, "a plain value is expected")
		return nil
	}
	return v
}
