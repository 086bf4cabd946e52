package graph

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// racedElsewhere are the packages that other targets of the Makefile run under the race
// detector, with real services.
var racedElsewhere = []string{"keys", "priceapi/postgres", "priceapi/shared"}

// TestGoroutinesAreRaced checks that every package of what users and vendors run that
// starts a goroutine is in the Makefile's list of those under the race detector.
func TestGoroutinesAreRaced(t *testing.T) {
	raced := append(makeList(t, "RACED"), racedElsewhere...)
	all := list(t)
	starting := 0
	for name := range all {
		ships := slices.ContainsFunc([]string{"cmd/swapkeep", "cmd/swapkeepd", "cmd/swapkeep-server"}, func(program string) bool {
			return name == program || slices.Contains(ourPackages(all[program].Deps), name)
		})
		if !ships || !startsGoroutine(t, name) {
			continue
		}
		starting++
		if !slices.Contains(raced, name) {
			t.Errorf("%s starts goroutines and is not raced", name)
		}
	}
	if starting < 15 {
		t.Errorf("only %d packages start goroutines", starting)
	}
	for _, name := range raced {
		if _, ok := all[name]; !ok {
			t.Errorf("no package %s", name)
		}
	}
}

// TestOneGoroutineIsRunWhole checks that what SKIP_ONE_GOROUTINE leaves out under the race
// detector is run whole elsewhere: the packages that ask for it are the Makefile's WHOLE.
func TestOneGoroutineIsRunWhole(t *testing.T) {
	var asking []string
	for name := range list(t) {
		paths, err := filepath.Glob(filepath.Join("../..", name, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		if slices.ContainsFunc(paths, func(path string) bool {
			text, err := os.ReadFile(path)
			return err == nil && bytes.Contains(text, []byte(`Getenv("SKIP_ONE_`+`GOROUTINE")`))
		}) {
			asking = append(asking, name)
		}
	}
	slices.Sort(asking)
	if whole := makeList(t, "WHOLE"); !slices.Equal(asking, whole) {
		t.Errorf("%v leave tests out, WHOLE of the Makefile is %v", asking, whole)
	}
}

// TestUnracedAreRun checks that each test of a raced package that the race detector is not
// given by its name is in a package of UNRACED_IN or WHOLE, where plain runs it.
func TestUnracedAreRun(t *testing.T) {
	unraced := regexp.MustCompile(strings.ReplaceAll(strings.Join(makeList(t, "UNRACED"), " "), "$$", "$"))
	var having []string
	for _, name := range makeList(t, "RACED") {
		paths, err := filepath.Glob(filepath.Join("../..", name, "*_test.go"))
		if err != nil {
			t.Fatal(err)
		}
		if slices.ContainsFunc(paths, func(path string) bool { return declaresTest(t, path, unraced) }) && !slices.Contains(makeList(t, "WHOLE"), name) {
			having = append(having, name)
		}
	}
	if in := makeList(t, "UNRACED_IN"); !slices.Equal(having, in) {
		t.Errorf("%v have tests of UNRACED, UNRACED_IN is %v", having, in)
	}
}

func declaresTest(t *testing.T, path string, name *regexp.Regexp) bool {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	return slices.ContainsFunc(f.Decls, func(d ast.Decl) bool {
		fn, ok := d.(*ast.FuncDecl)
		return ok && fn.Recv == nil && name.MatchString(fn.Name.Name)
	})
}

// makeList returns the words of a variable of the Makefile.
func makeList(t *testing.T, name string) []string {
	t.Helper()
	text, err := os.ReadFile("../../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`(?m)^` + name + ` := ((?:.*\\\n)*.*)$`).FindSubmatch(text)
	if found == nil {
		t.Fatalf("the Makefile has no list %s", name)
	}
	return strings.Fields(strings.ReplaceAll(string(found[1]), "\\\n", " "))
}

// startsGoroutine reports whether a package's own source has a go statement, or a call of a
// method Go, as WaitGroups and error groups have.
func startsGoroutine(t *testing.T, name string) (starts bool) {
	paths, err := filepath.Glob(filepath.Join("../..", name, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") || strings.HasSuffix(path, "_faults.go") { // not in a release
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.GoStmt:
				starts = true
			case *ast.CallExpr:
				if s, ok := n.Fun.(*ast.SelectorExpr); ok && s.Sel.Name == "Go" {
					starts = true
				}
			}
			return true
		})
	}
	return starts
}
