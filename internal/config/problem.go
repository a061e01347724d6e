package config

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Problem is one fault of the file.
type Problem struct {
	Line   int    // of the faulty key, from 1; 0 when the fault has no place
	Path   string // key path: targets.Orders.fields.Status.rules
	Detail string // what is wrong and how to mend it; never a secret
}

// String is the problem on one line.
func (p Problem) String() string {
	text := p.Detail
	if p.Path != "" {
		text = p.Path + ": " + text
	}
	if p.Line > 0 {
		text = fmt.Sprintf("line %d: %s", p.Line, text)
	}
	return text
}

// Problems is the error of a refused file: every fault of it, in the order of the lines.
type Problems struct{ List []Problem }

// Error lists the problems, one a line.
func (p *Problems) Error() string {
	var text strings.Builder
	if len(p.List) == 1 {
		text.WriteString("configuration has 1 fault:")
	} else {
		fmt.Fprintf(&text, "configuration has %d faults:", len(p.List))
	}
	for _, problem := range p.List {
		text.WriteString("\n  " + problem.String())
	}
	return text.String()
}

func (p *Problems) sort() {
	slices.SortStableFunc(p.List, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Path, b.Path), cmp.Compare(a.Detail, b.Detail))
	})
	p.List = slices.Compact(p.List)
}
