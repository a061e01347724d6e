package config

import (
	"errors"
	"os"
	"reflect"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// Option changes how Load reads.
type Option func(*reader)

// WithFiles reads the files of ${file:PATH} through the function instead of from the disk.
func WithFiles(read func(path string) ([]byte, error)) Option {
	return func(r *reader) { r.file = read }
}

// Load reads a configuration file. Secrets are references: ${NAME} is taken from the environment,
// through lookup, ${file:PATH} from the file, less one line break at its end. Base IDs and addresses
// may be references as well. The error of a refused file is *Problems and lists every fault.
func Load(data []byte, lookup func(string) (string, bool), options ...Option) (*File, error) {
	r := &reader{env: lookup, file: os.ReadFile, anchors: map[string]ast.Node{}, lines: map[string]int{}}
	for _, option := range options {
		option(r)
	}
	f := &File{}
	if top, ok := r.parse(data); ok {
		r.decodeNew(top, reflect.ValueOf(f).Elem(), nil)
		f.name()
		c := &checker{reader: r, file: f}
		c.check()
	}
	if len(r.found) > 0 {
		problems := &Problems{List: r.found}
		problems.sort()
		return nil, problems
	}
	return f, nil
}

// parse reads the syntax. The parser's own errors quote the file, secrets included: of them, only
// message and line are passed on.
func (r *reader) parse(data []byte) (ast.Node, bool) {
	tree, err := parser.ParseBytes([]byte(quoteReferences(string(data))), 0, parser.AllowDuplicateMapKey())
	if err != nil {
		problem := Problem{Detail: "the file is not readable as YAML"}
		var syntax yaml.Error
		if errors.As(err, &syntax) {
			problem.Detail = "the YAML is faulty: " + syntax.GetMessage()
			problem.Line = syntax.GetToken().Position.Line
		}
		r.found = append(r.found, problem)
		return nil, false
	}
	var bodies []ast.Node
	for _, doc := range tree.Docs {
		if doc.Body != nil && doc.Body.Type() != ast.NullType {
			bodies = append(bodies, doc.Body)
		}
	}
	switch len(bodies) {
	case 0:
		r.found = append(r.found, Problem{Detail: "the file is empty"})
		return nil, false
	case 1:
		ast.Walk(anchors(r.anchors), bodies[0])
		return bodies[0], true
	}
	line := bodies[1].GetToken().Position.Line
	r.found = append(r.found, Problem{Line: line, Detail: "a second document begins here; the configuration is one document"})
	return nil, false
}

// name tells each part of the file its key.
func (f *File) name() {
	for name, b := range f.Bases {
		b.Name = name
	}
	for name, t := range f.Targets {
		t.Name = name
		if t.Table == "" {
			t.Table = name
		}
	}
	for name, s := range f.Sources {
		s.Name = name
	}
	for name, e := range f.Notify {
		e.Name = name
	}
}
