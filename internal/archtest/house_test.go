package archtest_test

import (
	"fmt"
	"go/token"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// floors is the house from the ground up. A package may import whatever stands
// on a lower floor, but not its neighbours.
var floors = [][]string{
	{"internal/deadletter"},
	{"internal/airtable", "internal/telemetry", "internal/config"},
	{"internal/pipeline"},
	{"internal/store"},
	{"internal/pacing"},
	{"internal/notify"},
	{"internal/pass"},
	{"internal/mirror", "internal/live", "internal/replay"},
	{"internal/jobs", "internal/doctor"},
	{"internal/httpapi", "internal/console"},
	{"internal/app"},
	{"cmd/airtable-replay"},
}

// annex is a package beside the floors: what it imports of the module, and who
// imports it. One that stands on a package of the house imports that, what is
// below it, and support. Tests of any floor may import what is marked support.
type annex struct {
	on         string
	imports    []string
	importedBy []string
	support    bool
}

var annexes = map[string]annex{
	"api":                            {importedBy: []string{"internal/httpapi", "internal/app"}},
	"api/client":                     {importedBy: []string{"cmd/airtable-replay"}},
	"migrations":                     {importedBy: []string{"internal/store/storetest", "internal/app", "cmd/airtable-replay"}, support: true},
	"web":                            {importedBy: []string{"internal/console", "internal/button"}},
	"internal/httpapi/internal/oapi": {importedBy: []string{"internal/httpapi"}},
	"internal/sandbox":               {imports: []string{"internal/sandbox/formula"}, importedBy: []string{"internal/sandbox/conformance", "internal/app", "cmd/airtable-replay"}, support: true},
	"internal/sandbox/conformance":   {imports: []string{"internal/sandbox"}},
	"internal/sandbox/formula":       {importedBy: []string{"internal/sandbox"}, support: true},
	"internal/localpg":               {importedBy: []string{"internal/store/storetest", "internal/app", "cmd/airtable-replay"}, support: true},
	"internal/store/storetest":       {on: "internal/store", importedBy: []string{"migrations"}, support: true},
	"internal/app/apptest":           {on: "internal/app", support: true},
	"internal/archtest":              {},
	"internal/button":                {imports: []string{"web"}, importedBy: []string{"internal/console", "cmd/airtable-replay"}, support: true},
}

// reserved are the dependencies that only some packages may import, in the code
// that users run: prefix of the import path => packages.
var reserved = map[string][]string{
	"github.com/riverqueue/river":                {"internal/jobs", "internal/app", "migrations"},
	"riverqueue.com/riverui":                     {"internal/app"},
	"github.com/riverqueue/rivercontrib":         {"internal/app"},
	"github.com/jackc/pgx":                       {"internal/store", "internal/store/storetest", "internal/pacing", "internal/jobs", "internal/app", "internal/localpg", "migrations"},
	"github.com/pressly/goose":                   {"migrations"},
	"github.com/fergusstrange/embedded-postgres": {"internal/localpg"},
	"github.com/go-chi/chi":                      {"internal/httpapi", "internal/httpapi/internal/oapi", "internal/console", "internal/sandbox", "internal/app"},
	"github.com/prometheus/client_golang":        {"internal/telemetry", "internal/httpapi", "internal/app"},
	"github.com/go-playground/validator":         {"internal/pipeline", "internal/config"},
}

// sealed are the packages that import nothing but the standard library, and why.
var sealed = map[string]string{
	"internal/deadletter": "what must never be wrong has no I/O, no clock and no dependency",
}

func TestImportsPointDown(t *testing.T) {
	t.Parallel()
	requireKept(t, strayImports(ours(t)))
}

func TestEveryPackageHasItsPlace(t *testing.T) {
	t.Parallel()
	requireKept(t, homeless(ours(t)))
}

func TestReservedDependencies(t *testing.T) {
	t.Parallel()
	requireKept(t, strayDependencies(ours(t)))
}

func TestHouseRulesFindBreaches(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ file, imports, want string }{
		"down":                     {"internal/pass/a.go", module + "/internal/store", ""},
		"up":                       {"internal/store/a.go", module + "/internal/pass", "internal/store may not import internal/pass"},
		"neighbour":                {"internal/live/a.go", module + "/internal/replay", "may not import internal/replay"},
		"ground":                   {"internal/deadletter/a.go", module + "/internal/config", "may not import internal/config"},
		"command":                  {"internal/app/a.go", module + "/cmd/airtable-replay", "may not import cmd/airtable-replay"},
		"sandbox to client":        {"internal/sandbox/a.go", module + "/internal/airtable", "may not import internal/airtable"},
		"sandbox test to client":   {"internal/sandbox/a_test.go", module + "/internal/airtable", "may not import internal/airtable"},
		"sandbox to formula":       {"internal/sandbox/a.go", module + "/internal/sandbox/formula", ""},
		"sandbox in code":          {"internal/pass/a.go", module + "/internal/sandbox", "may not import internal/sandbox"},
		"sandbox in a test":        {"internal/pass/a_test.go", module + "/internal/sandbox", ""},
		"own package from outside": {"internal/pass/a_test.go", module + "/internal/pass", ""},
		"upwards in a test":        {"internal/store/a_test.go", module + "/internal/app", "may not import internal/app"},
		"test support in code":     {"internal/replay/a.go", module + "/internal/store/storetest", "may not import internal/store/storetest"},
		"below the test support":   {"internal/store/storetest/a.go", module + "/internal/config", ""},
		"under the test support":   {"internal/store/storetest/a.go", module + "/internal/store", ""},
		"support on support":       {"internal/app/apptest/a.go", module + "/internal/store/storetest", ""},
		"above the test support":   {"internal/store/storetest/a.go", module + "/internal/pacing", "may not import internal/pacing"},
		"support in the emulator":  {"internal/sandbox/a_test.go", module + "/internal/localpg", "may not import internal/localpg"},
		"unknown":                  {"internal/pass/a.go", module + "/internal/util", "may not import internal/util"},
	} {
		requireFound(t, name, c.want, strayImports(sample(t, c.file, importing(c.imports))))
	}
	for name, c := range map[string]struct{ file, imports, want string }{
		"river where it works":       {"internal/jobs/a.go", "github.com/riverqueue/river", ""},
		"river elsewhere":            {"internal/replay/a.go", "github.com/riverqueue/river/rivertype", "only internal/jobs, internal/app, migrations"},
		"pgx above the store":        {"internal/pass/a.go", "github.com/jackc/pgx/v5", "may not import github.com/jackc/pgx/v5"},
		"pgx in a test":              {"internal/pass/a_test.go", "github.com/jackc/pgx/v5", ""},
		"a dependency of the domain": {"internal/deadletter/a.go", "github.com/google/uuid", "imports only the standard library"},
		"the standard library":       {"internal/deadletter/a.go", "encoding/json", ""},
		"a domain test's dependency": {"internal/deadletter/a_test.go", "pgregory.net/rapid", ""},
	} {
		requireFound(t, name, c.want, strayDependencies(sample(t, c.file, importing(c.imports))))
	}
	requireFound(t, "no place", "internal/util has no place", homeless(sample(t, "internal/util/a.go", "package util\n")))
	requireFound(t, "a place", "", homeless(sample(t, "internal/pass/a.go", "package pass\n")))
}

func importing(name string) string { return "package p\n\nimport _ " + strconv.Quote(name) + "\n" }

// place is one import of a file.
type place struct {
	name string
	pos  token.Pos
}

func (f goFile) imports() []place {
	var found []place
	for _, spec := range f.syntax.Imports {
		name, _ := strconv.Unquote(spec.Path.Value) // the parser saw to that
		found = append(found, place{name, spec.Pos()})
	}
	return found
}

// strayImports finds imports within the module that the house does not allow.
func strayImports(t tree) []string {
	var breaches []string
	for _, f := range t {
		for _, i := range f.imports() {
			target, within := strings.CutPrefix(i.name, module+"/")
			if within && !mayImport(f, target) {
				breaches = append(breaches, f.at(i.pos, "%s may not import %s: imports point down", f.folder(), target))
			}
		}
	}
	return breaches
}

func mayImport(f goFile, target string) bool {
	from := f.folder()
	if f.test && from == target {
		return true
	}
	home := annexes[from] // of a floor: nothing
	if slices.Contains(home.imports, target) || home.on != "" && home.on == target {
		return true
	}
	if beside, ok := annexes[target]; ok {
		supported := f.test && floorOf(from) >= 0 || home.on != ""
		return slices.Contains(beside.importedBy, from) || beside.support && supported
	}
	lower := floorOf(target)
	return lower >= 0 && lower < max(floorOf(from), floorOf(home.on))
}

// floorOf counts from the ground; -1 is nowhere.
func floorOf(folder string) int {
	return slices.IndexFunc(floors, func(floor []string) bool { return slices.Contains(floor, folder) })
}

// homeless finds packages that the tables above do not know.
func homeless(t tree) []string {
	var breaches []string
	for folder := range t.packages() {
		if _, beside := annexes[folder]; !beside && floorOf(folder) < 0 {
			breaches = append(breaches, fmt.Sprintf("%s has no place in the house: give it one in house_test.go", folder))
		}
	}
	return breaches
}

// strayDependencies finds imports of other modules where they do not belong.
func strayDependencies(t tree) []string {
	var breaches []string
	for _, f := range t {
		if f.test {
			continue
		}
		for _, i := range f.imports() {
			if why, ok := sealed[f.folder()]; ok && !standard(i.name) {
				breaches = append(breaches, f.at(i.pos, "%s imports only the standard library, not %s: %s", f.folder(), i.name, why))
			} else if owners := owners(i.name); owners != nil && !slices.Contains(owners, f.folder()) {
				breaches = append(breaches, f.at(i.pos, "%s may not import %s: only %s may", f.folder(), i.name, strings.Join(owners, ", ")))
			}
		}
	}
	return breaches
}

// owners lists who may import a dependency; nil is everybody.
func owners(name string) []string {
	for _, prefix := range slices.Sorted(maps.Keys(reserved)) {
		if name == prefix || strings.HasPrefix(name, prefix+"/") {
			return reserved[prefix]
		}
	}
	return nil
}

// standard tells packages of the standard library, whose first element has no dot.
func standard(name string) bool {
	first, _, _ := strings.Cut(path.Clean(name), "/")
	return !strings.Contains(first, ".") && first != module
}
