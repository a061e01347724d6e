package sandbox

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// builder makes the tables of a seed, and goes on after a fault to find all.
type builder struct {
	s      *Sandbox
	dry    bool // only for its faults: the environment is not looked at
	faults SeedError
}

func (b *builder) fault(line int, path, format string, args ...any) {
	b.faults = append(b.faults, SeedFault{Line: line, Path: path, Problem: fmt.Sprintf(format, args...)})
}

// build takes the seed in: first all tables with the names of their fields,
// then what fields refer to, then the records, then their links.
func (b *builder) build(seed Seed) error {
	for i, sb := range seed.Bases {
		b.base(sb, fmt.Sprintf("bases[%d]", i))
	}
	for i, a := range seed.Automations {
		b.automation(a, fmt.Sprintf("automations[%d]", i))
	}
	if len(b.faults) > 0 {
		slices.SortStableFunc(b.faults, func(a, b SeedFault) int { return cmp.Compare(a.Line, b.Line) })
		return b.faults
	}
	return nil
}

func (b *builder) base(sb SeedBase, path string) {
	if !prefixedID("app", sb.ID) {
		b.fault(sb.line, path+".id", "%q is no base ID: app and letters or digits", sb.ID)
	}
	if b.s.base(sb.ID) != nil {
		b.fault(sb.line, path+".id", "%s is there twice", sb.ID)
		return
	}
	base := &base{id: sb.ID, name: sb.Name, open: len(sb.Tokens) == 0 && !b.s.config.RequireToken}
	if base.name == "" {
		base.name = sb.ID
	}
	for i, p := range sb.People {
		if p.ID == "" && p.Email == "" {
			b.fault(sb.line, fmt.Sprintf("%s.people[%d]", path, i), "id or email is needed")
		}
		if p.ID == "" {
			p.ID = fixedID("usr", p.Email)
		}
		base.people = append(base.people, person(p))
	}
	b.s.bases = append(b.s.bases, base)
	for i, t := range sb.Tokens {
		b.token(base, t, fmt.Sprintf("%s.tokens[%d]", path, i))
	}
	for i, st := range sb.Tables {
		b.table(base, st, fmt.Sprintf("%s.tables[%d]", path, i))
	}
	if len(b.faults) > 0 {
		return // what follows would only repeat them
	}
	b.configure(base, sb, path)
	if len(b.faults) == 0 {
		b.records(base, sb, path)
	}
}

func (b *builder) token(base *base, st SeedToken, path string) {
	secret, ok := b.resolve(st.Token, st.line, path)
	if !ok {
		return
	}
	if secret == "" {
		b.fault(st.line, path, "a token is needed")
		return
	}
	for _, scope := range st.Scopes {
		if !slices.Contains(allScopes, scope) {
			b.fault(st.line, path+".scopes", "unknown scope %q; known are %s", scope, strings.Join(allScopes, ", "))
		}
	}
	granted := grant{scopes: st.Scopes, role: roleCreate}
	if len(st.Scopes) == 0 {
		granted.scopes = allScopes
	}
	if st.Permission != "" {
		if granted.role, ok = parseRole(st.Permission); !ok {
			b.fault(st.line, path+".permission", "unknown permission level %q; known are %s", st.Permission, strings.Join(roleNames, ", "))
		}
	}
	t := b.s.token(secret)
	if t == nil {
		owner := st.Owner
		if owner == "" {
			owner = tokenLabel(secret)
		}
		t = &token{secret: secret, state: tokenValid, grants: map[string]grant{},
			owner: person{ID: fixedID("usr", "owner", owner), Email: owner + "@sandbox.invalid", Name: owner}}
		b.s.tokens = append(b.s.tokens, t)
	}
	t.grants[base.id] = granted
}

func (b *builder) table(base *base, st SeedTable, path string) {
	switch {
	case st.Name == "":
		b.fault(st.line, path+".name", "a name is needed")
	case base.table(st.Name) != nil:
		b.fault(st.line, path+".name", "%q is there twice", st.Name)
	case len(st.Fields) == 0:
		b.fault(st.line, path+".fields", "a table needs at least one field")
	case st.ID != "" && !prefixedID("tbl", st.ID):
		b.fault(st.line, path+".id", "%q is no table ID: tbl and letters or digits", st.ID)
	}
	t := newTable(base, st.ID, st.Name)
	t.desc = st.Description
	base.tables = append(base.tables, t)
	for i, sf := range st.Fields {
		at := fmt.Sprintf("%s.fields[%d]", path, i)
		k := kinds[sf.Type]
		switch {
		case sf.Name == "":
			b.fault(sf.line, at+".name", "a name is needed")
		case t.field(sf.Name) != nil:
			b.fault(sf.line, at+".name", "%q is there twice", sf.Name)
		case k == nil:
			b.fault(sf.line, at+".type", "unknown field type %q", sf.Type)
		case sf.ID != "" && !prefixedID("fld", sf.ID):
			b.fault(sf.line, at+".id", "%q is no field ID: fld and letters or digits", sf.ID)
		default:
			t.addField(sf.ID, sf.Name, k).desc = sf.Description
		}
	}
	if len(t.fields) > 0 {
		t.primary = t.fields[0]
	}
	if st.Primary != "" {
		if t.primary = t.field(st.Primary); t.primary == nil {
			b.fault(st.line, path+".primary", "there is no field %q", st.Primary)
		}
	}
}

func newTable(b *base, id, name string) *table {
	if id == "" {
		id = fixedID("tbl", b.id, name)
	}
	t := &table{base: b, id: id, name: name, byID: map[string]*record{}, indexes: map[string]index{}}
	t.views = []*view{{id: fixedID("viw", b.id, name, "Grid view"), name: "Grid view", kind: "grid"}}
	return t
}

func (t *table) addField(id, name string, k *kind) *field {
	if id == "" {
		id = fixedID("fld", t.base.id, t.id, name)
	}
	f := &field{table: t, id: id, name: name, kind: k, config: map[string]any{}}
	t.fields = append(t.fields, f)
	return f
}

// configure fills in what fields and views refer to.
func (b *builder) configure(base *base, sb SeedBase, path string) {
	for i, st := range sb.Tables {
		t := base.tables[i]
		for k, sf := range st.Fields {
			if problem := t.field(sf.Name).configure(sf); problem != "" {
				b.fault(sf.line, fmt.Sprintf("%s.tables[%d].fields[%d]", path, i, k), "%s", problem)
			}
		}
	}
	for i, st := range sb.Tables {
		t := base.tables[i]
		for k, sf := range st.Fields {
			if problem := t.field(sf.Name).bind(sf, b.s.options); problem != "" {
				b.fault(sf.line, fmt.Sprintf("%s.tables[%d].fields[%d]", path, i, k), "%s", problem)
			}
		}
		for k, sv := range st.Views {
			b.view(t, sv, fmt.Sprintf("%s.tables[%d].views[%d]", path, i, k))
		}
	}
}

func (b *builder) view(t *table, sv SeedView, path string) {
	v := t.view(sv.Name)
	if v == nil {
		v = &view{id: fixedID("viw", t.base.id, t.name, sv.Name), name: sv.Name, kind: "grid"}
		t.views = append(t.views, v)
	}
	if sv.Name == "" {
		b.fault(sv.line, path+".name", "a name is needed")
	}
	if sv.Filter != "" {
		code, complaint := t.compile(sv.Filter, b.s.options.formula())
		if complaint != "" {
			b.fault(sv.line, path+".filter", "%s", complaint)
		}
		v.filter = code
	}
	for _, key := range sv.Sort {
		f := t.field(key.Field)
		if f == nil {
			b.fault(sv.line, path+".sort", "there is no field %q", key.Field)
			continue
		}
		v.sort = append(v.sort, sortKey{f, key.Desc})
	}
}
