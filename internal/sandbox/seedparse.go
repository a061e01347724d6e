package sandbox

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// ParseSeed reads a seed file. The error is a [SeedError] that lists every
// fault with its line: of the form, and of the tables and values it describes.
func ParseSeed(data []byte) (Seed, error) {
	file, err := parseYAML(data)
	if err != nil {
		return Seed{}, SeedError{syntaxFault(err)}
	}
	d := &seedDecoder{anchors: map[string]ast.Node{}}
	var seed Seed
	if len(file.Docs) > 1 {
		d.fault(file.Docs[1], "", "one document is expected, this file has more")
	}
	if len(file.Docs) > 0 && file.Docs[0].Body != nil {
		d.seed(file.Docs[0].Body, &seed)
	}
	if len(seed.Bases) == 0 && len(d.faults) == 0 {
		d.faults = append(d.faults, SeedFault{Line: 1, Path: "bases", Problem: "at least one base is needed"})
	}
	if len(d.faults) == 0 {
		d.faults = check(seed)
	}
	if len(d.faults) > 0 {
		slices.SortStableFunc(d.faults, func(a, b SeedFault) int { return cmp.Compare(a.Line, b.Line) })
		return Seed{}, d.faults
	}
	return seed, nil
}

// bareReference is a ${NAME} without quotes. Between braces YAML does not take
// one, though everybody writes {token: ${NAME}}.
var bareReference = regexp.MustCompile(`([:,\[][ \t]*)(\$\{[A-Za-z_][A-Za-z0-9_]*\})`)

// parseYAML reads the file as it is, and when that fails with its bare
// references quoted. Lines stay the same.
func parseYAML(data []byte) (*ast.File, error) {
	file, err := parser.ParseBytes(data, 0, parser.AllowDuplicateMapKey())
	if err == nil {
		return file, nil
	}
	quoted := bareReference.ReplaceAll(data, []byte(`$1"$2"`))
	if file, quotedErr := parser.ParseBytes(quoted, 0, parser.AllowDuplicateMapKey()); quotedErr == nil {
		return file, nil
	}
	return nil, err
}

func syntaxFault(err error) SeedFault {
	f := SeedFault{Path: "yaml", Problem: err.Error()}
	var syntax *yaml.SyntaxError
	if errors.As(err, &syntax) {
		f.Problem = syntax.Message
		if syntax.Token != nil && syntax.Token.Position != nil {
			f.Line = syntax.Token.Position.Line
		}
	}
	return f
}

// check builds the tables once for their faults.
func check(seed Seed) SeedError {
	s := &Sandbox{options: defaultOptions(DefaultConfig()), clock: newClock(nil, 0)}
	var faults SeedError
	errors.As((&builder{s: s, dry: true}).build(seed), &faults)
	return faults
}

func (d *seedDecoder) seed(n ast.Node, seed *Seed) {
	d.mapping(n, "", entries{
		"bases": func(n ast.Node, path string) { decodeList(d, n, path, &seed.Bases, d.base) },
		"automations": func(n ast.Node, path string) {
			decodeList(d, n, path, &seed.Automations, d.automation)
		},
	})
}

func (d *seedDecoder) automation(n ast.Node, path string, a *SeedAutomation) {
	a.line = line(n)
	d.mapping(n, path, entries{
		"base": d.text(&a.Base), "table": d.text(&a.Table), "checkbox": d.text(&a.Checkbox),
		"post": d.text(&a.Post), "token": d.text(&a.Token),
	})
}

func (d *seedDecoder) base(n ast.Node, path string, b *SeedBase) {
	b.line = line(n)
	d.mapping(n, path, entries{
		"id": d.text(&b.ID), "name": d.text(&b.Name),
		"tokens": func(n ast.Node, path string) { decodeList(d, n, path, &b.Tokens, d.token) },
		"people": func(n ast.Node, path string) { decodeList(d, n, path, &b.People, d.person) },
		"tables": func(n ast.Node, path string) { decodeList(d, n, path, &b.Tables, d.table) },
	})
}

func (d *seedDecoder) token(n ast.Node, path string, t *SeedToken) {
	t.line = line(n)
	if _, isMapping := d.pairs(n); !isMapping {
		d.text(&t.Token)(n, path)
		return
	}
	d.mapping(n, path, entries{"token": d.text(&t.Token), "scopes": d.texts(&t.Scopes), "owner": d.text(&t.Owner),
		"permission": d.text(&t.Permission)})
}

func (d *seedDecoder) person(n ast.Node, path string, p *SeedPerson) {
	d.mapping(n, path, entries{"id": d.text(&p.ID), "email": d.text(&p.Email), "name": d.text(&p.Name)})
}

func (d *seedDecoder) table(n ast.Node, path string, t *SeedTable) {
	t.line = line(n)
	d.mapping(n, path, entries{
		"id": d.text(&t.ID), "name": d.text(&t.Name), "description": d.text(&t.Description),
		"primary": d.text(&t.Primary),
		"fields":  func(n ast.Node, path string) { decodeList(d, n, path, &t.Fields, d.field) },
		"views":   func(n ast.Node, path string) { decodeList(d, n, path, &t.Views, d.view) },
		"records": func(n ast.Node, path string) { decodeList(d, n, path, &t.Records, d.record) },
	})
}

func (d *seedDecoder) field(n ast.Node, path string, f *SeedField) {
	f.line = line(n)
	d.mapping(n, path, entries{
		"id": d.text(&f.ID), "name": d.text(&f.Name), "type": d.text(&f.Type), "description": d.text(&f.Description),
		"choices": d.texts(&f.Choices), "linked_table": d.text(&f.LinkedTable), "inverse": d.text(&f.Inverse),
		"watches": d.texts(&f.Watches), "link": d.text(&f.Link), "field": d.text(&f.Field),
		"formula": d.text(&f.Formula), "label": d.text(&f.Label), "time_zone": d.text(&f.TimeZone),
		"result": d.text(&f.Result), "max": d.number(&f.Max),
	})
}

func (d *seedDecoder) view(n ast.Node, path string, v *SeedView) {
	v.line = line(n)
	d.mapping(n, path, entries{
		"name": d.text(&v.Name), "filter": d.text(&v.Filter),
		"sort": func(n ast.Node, path string) {
			decodeList(d, n, path, &v.Sort, func(n ast.Node, path string, s *SeedSort) {
				d.mapping(n, path, entries{"field": d.text(&s.Field), "desc": d.flag(&s.Desc)})
			})
		},
	})
}

// record takes every key but _id, _created and _modified as a field.
func (d *seedDecoder) record(n ast.Node, path string, r *SeedRecord) {
	pairs, ok := d.pairs(n)
	if !ok {
		d.fault(n, path, "a record is a mapping of field names to values")
		return
	}
	r.line, r.Fields, r.lines = line(n), map[string]any{}, map[string]int{}
	for _, p := range pairs {
		at := fmt.Sprintf("%s.%s", path, p.key)
		switch p.key {
		case "_id":
			d.text(&r.ID)(p.value, at)
		case "_created":
			d.instant(&r.Created)(p.value, at)
		case "_modified":
			d.modified(p.value, at, r)
		default:
			if _, twice := r.lines[p.key]; twice {
				d.fault(p.value, at, "given twice")
			}
			r.lines[p.key] = line(p.value)
			r.Fields[p.key] = d.value(p.value, at)
		}
	}
}
