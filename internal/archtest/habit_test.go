package archtest_test

import (
	"fmt"
	"go/ast"
	"go/token"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// vagueNames name no subject: packages so called attract everything.
var vagueNames = []string{"util", "utils", "common", "helper", "helpers", "manager", "managers", "misc", "shared", "base", "types"}

// httpFolders speak HTTP, where Get, Do and Handle mean something.
var httpFolders = []string{"internal/httpapi", "internal/console", "internal/sandbox", "cmd/airtable-replay"}

var (
	vagueVerb = regexp.MustCompile(`^(Get|Do|Process|Handle)([A-Z]|$)`)
	vagueType = regexp.MustCompile(`(Manager|Helper|Impl|Util|Utils)$`)
)

// dictatedNames are methods whose names an interface of the standard library
// chose.
var dictatedNames = map[string]string{
	"Handle": "slog.Handler",
}

func TestNamesSaySomething(t *testing.T) {
	t.Parallel()
	requireKept(t, vague(ours(t)))
}

func TestTestsNeverSleep(t *testing.T) {
	t.Parallel()
	requireKept(t, sleepingTests(ours(t)))
}

func TestSkippedTestsSayWhy(t *testing.T) {
	t.Parallel()
	requireKept(t, silentSkips(ours(t)))
}

func TestTestsRunSideBySide(t *testing.T) {
	t.Parallel()
	requireKept(t, lonelyTests(ours(t)))
}

func TestHabitRulesFindBreaches(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		breaches           func(tree) []string
		file, source, want string
	}{
		"vague package":         {vague, "internal/util/a.go", "package util", "names no subject"},
		"vague test package":    {vague, "internal/common/a_test.go", "package common_test", "names no subject"},
		"vague verb":            {vague, "internal/store/a.go", "package store\n\nfunc GetEntry() {}", "GetEntry"},
		"vague method":          {vague, "internal/store/a.go", "package store\n\nfunc (Tx) Process() {}", "Process"},
		"a word that begins so": {vague, "internal/store/a.go", "package store\n\nfunc Domain() {}", ""},
		"dictated name":         {vague, "internal/telemetry/a.go", "package telemetry\n\nfunc (h handler) Handle() {}", ""},
		"verb of HTTP":          {vague, "internal/httpapi/a.go", "package httpapi\n\nfunc GetEntry() {}", ""},
		"vague type":            {vague, "internal/store/a.go", "package store\n\ntype leaseManager int", "leaseManager"},
		"sleep":                 {sleepingTests, "a/a_test.go", "package a\n\nfunc f() { time.Sleep(1) }", "wait for an event"},
		"sleep in the product":  {sleepingTests, "a/a.go", "package a\n\nfunc f() { time.Sleep(1) }", ""},
		"skip":                  {silentSkips, "a/a_test.go", "package a\n\nfunc f() { t.Skip() }", "say why"},
		"skip with nothing":     {silentSkips, "a/a_test.go", "package a\n\nfunc f() { t.Skip(\"\") }", "say why"},
		"skip now":              {silentSkips, "a/a_test.go", "package a\n\nfunc f() { t.SkipNow() }", "say why"},
		"skip with a reason":    {silentSkips, "a/a_test.go", "package a\n\nfunc f() { t.Skip(\"no key\") }", ""},
		"lonely":                {lonelyTests, "a/a_test.go", "package a\n\nfunc TestA(t *testing.T) {}", "TestA does not call t.Parallel"},
		"side by side":          {lonelyTests, "a/a_test.go", "package a\n\nfunc TestA(t *testing.T) { t.Parallel() }", ""},
		"changes environment":   {lonelyTests, "a/a_test.go", "package a\n\nfunc TestA(t *testing.T) { t.Setenv(\"A\", \"b\") }", ""},
		"main":                  {lonelyTests, "a/a_test.go", "package a\n\nfunc TestMain(m *testing.M) {}", ""},
	} {
		requireFound(t, name, c.want, c.breaches(sample(t, c.file, c.source+"\n")))
	}
}

func vague(t tree) []string {
	var breaches []string
	for folder, files := range t.written().packages() {
		if slices.Contains(vagueNames, path.Base(folder)) {
			breaches = append(breaches, fmt.Sprintf("%s names no subject: name it after what it is about", folder))
		}
		for _, f := range files {
			breaches = append(breaches, f.vagueDeclarations(slices.Contains(httpFolders, folder))...)
		}
	}
	return breaches
}

func (f goFile) vagueDeclarations(speaksHTTP bool) []string {
	var breaches []string
	complain := func(name *ast.Ident) {
		breaches = append(breaches, f.at(name.Pos(), "%s says little: use a word of the domain", name.Name))
	}
	for _, declaration := range f.syntax.Decls {
		switch declaration := declaration.(type) {
		case *ast.FuncDecl:
			name := declaration.Name
			_, dictated := dictatedNames[name.Name]
			if dictated = dictated && declaration.Recv != nil; vagueVerb.MatchString(name.Name) && !speaksHTTP && !dictated {
				complain(name)
			}
		case *ast.GenDecl:
			for _, spec := range declaration.Specs {
				if kind, ok := spec.(*ast.TypeSpec); ok && vagueType.MatchString(kind.Name.Name) {
					complain(kind.Name)
				}
			}
		}
	}
	return breaches
}

// calls yields the calls of receiver.method, where an empty receiver is any.
func (f goFile) calls(within ast.Node, visit func(receiver, method string, call *ast.CallExpr)) {
	ast.Inspect(within, func(node ast.Node) bool {
		call, ok := node.(*ast.CallExpr)
		if !ok {
			return true
		}
		if selector, ok := call.Fun.(*ast.SelectorExpr); ok {
			receiver, _ := selector.X.(*ast.Ident)
			if receiver != nil {
				visit(receiver.Name, selector.Sel.Name, call)
			}
		}
		return true
	})
}

func sleepingTests(t tree) []string {
	var breaches []string
	for _, f := range t.tests() {
		f.calls(f.syntax, func(receiver, method string, call *ast.CallExpr) {
			if receiver == "time" && method == "Sleep" {
				breaches = append(breaches, f.at(call.Pos(), "a test sleeps: wait for an event, or inject the clock"))
			}
		})
	}
	return breaches
}

func silentSkips(t tree) []string {
	var breaches []string
	for _, f := range t.tests() {
		f.calls(f.syntax, func(_, method string, call *ast.CallExpr) {
			if method == "SkipNow" || (method == "Skip" || method == "Skipf") && !reasoned(call) {
				breaches = append(breaches, f.at(call.Pos(), "a test is skipped silently: say why"))
			}
		})
	}
	return breaches
}

func reasoned(call *ast.CallExpr) bool {
	if len(call.Args) == 0 {
		return false
	}
	literal, ok := call.Args[0].(*ast.BasicLit)
	return !ok || literal.Kind != token.STRING || len(literal.Value) > len(`""`)
}

// lonelyTests finds tests that keep others waiting without need: those that
// change the process's environment must.
func lonelyTests(t tree) []string {
	var breaches []string
	for _, f := range t.tests() {
		for function := range f.functions() {
			name := function.Name.Name
			if function.Recv != nil || !strings.HasPrefix(name, "Test") || name == "TestMain" {
				continue
			}
			free := false
			f.calls(function, func(_, method string, _ *ast.CallExpr) {
				free = free || slices.Contains([]string{"Parallel", "Setenv", "Chdir"}, method)
			})
			if !free {
				breaches = append(breaches, f.at(function.Pos(), "%s does not call t.Parallel", name))
			}
		}
	}
	return breaches
}
