package config

import (
	"fmt"

	"github.com/goccy/go-yaml/ast"
)

// anchors collects the anchors of a document.
type anchors map[string]ast.Node

// Visit notes an anchor's value under its name.
func (a anchors) Visit(n ast.Node) ast.Visitor {
	if anchor, ok := n.(*ast.AnchorNode); ok {
		a[anchor.Name.GetToken().Value] = anchor.Value
	}
	return a
}

// resolve looks through anchors, aliases and tags; nil for null.
func (r *reader) resolve(n ast.Node, at keyPath) ast.Node {
	for range 20 {
		switch node := n.(type) {
		case *ast.AnchorNode:
			n = node.Value
		case *ast.TagNode:
			n = node.Value
		case *ast.AliasNode:
			target, ok := r.anchors[node.Value.GetToken().Value]
			if !ok {
				r.fault(at, "names the anchor *%s, which stands nowhere", node.Value.GetToken().Value)
				return nil
			}
			n = target
		case *ast.NullNode, nil:
			return nil
		default:
			return n
		}
	}
	r.fault(at, "its aliases run in a circle")
	return nil
}

// entry is one key of a mapping with its value.
type entry struct {
	key   string
	value ast.Node
}

// entries lists a mapping's keys, those of merged mappings (<<) after its own. It notes each key's
// line, and a key that stands twice as a fault.
func (r *reader) entries(n ast.Node, at keyPath) ([]entry, bool) {
	mapping, ok := n.(ast.MapNode)
	if !ok {
		r.fault(at, "write a mapping: key: value")
		return nil, false
	}
	var own []entry
	var merged []ast.Node
	first := map[string]int{}
	for it := mapping.MapRange(); it.Next(); {
		if it.Key().IsMergeKey() {
			merged = append(merged, it.Value())
			continue
		}
		key, line := keyOf(it.Key()), it.Key().GetToken().Position.Line
		path := at.sub(key)
		if before, twice := first[key]; twice {
			r.found = append(r.found, Problem{line, path.String(), fmt.Sprintf("stands twice, first on line %d", before)})
			continue
		}
		first[key], r.lines[path.String()] = line, line
		own = append(own, entry{key, it.Value()})
	}
	for _, n := range merged {
		own = r.merge(own, n, at, first)
	}
	return own, true
}

// merge adds the keys of a merged mapping, or of each of a list of them, that are not there yet.
func (r *reader) merge(own []entry, n ast.Node, at keyPath, have map[string]int) []entry {
	n = r.resolve(n, at)
	if list, ok := n.(*ast.SequenceNode); ok {
		for _, n := range list.Values {
			own = r.merge(own, n, at, have)
		}
		return own
	}
	mapping, ok := n.(ast.MapNode)
	if !ok {
		r.fault(at, "<< takes a mapping or a list of mappings")
		return own
	}
	for it := mapping.MapRange(); it.Next(); {
		key := keyOf(it.Key())
		if _, there := have[key]; there || it.Key().IsMergeKey() {
			continue
		}
		have[key] = it.Key().GetToken().Position.Line
		r.lines[at.sub(key).String()] = have[key]
		own = append(own, entry{key, it.Value()})
	}
	return own
}

func keyOf(key ast.MapKeyNode) string {
	switch k := key.(type) {
	case *ast.StringNode:
		return k.Value
	case *ast.MappingKeyNode:
		return k.Value.GetToken().Value
	default:
		return key.GetToken().Value
	}
}
