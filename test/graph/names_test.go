package graph

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// readRenamed returns, by package, the names that were given up for plainer ones: Name for
// what a package declares, Type.Member for a field or method. testdata/renamed.txt has one
// package and name a line.
func readRenamed(t *testing.T) map[string][]string {
	t.Helper()
	text, err := os.ReadFile("testdata/renamed.txt")
	if err != nil {
		t.Fatal(err)
	}
	renamed := map[string][]string{}
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		pkg, name, ok := strings.Cut(strings.TrimSpace(line), " ")
		if !ok {
			t.Fatalf("malformed line %q", line)
		}
		renamed[pkg] = append(renamed[pkg], name)
	}
	return renamed
}

// declared returns what a file declares at package level, and the fields and methods of its
// types as Type.Member.
func declared(f *ast.File) (names []string) {
	members := func(of string, list *ast.FieldList) {
		for _, m := range list.List {
			for _, n := range m.Names {
				names = append(names, of+"."+n.Name)
			}
		}
	}
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil {
				names = append(names, d.Name.Name)
				continue
			}
			of := d.Recv.List[0].Type
			if p, ok := of.(*ast.StarExpr); ok {
				of = p.X
			}
			if g, ok := of.(*ast.IndexExpr); ok {
				of = g.X
			}
			if id, ok := of.(*ast.Ident); ok {
				names = append(names, id.Name+"."+d.Name.Name)
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.ValueSpec:
					for _, n := range s.Names {
						names = append(names, n.Name)
					}
				case *ast.TypeSpec:
					names = append(names, s.Name.Name)
					switch typ := s.Type.(type) {
					case *ast.StructType:
						members(s.Name.Name, typ.Fields)
					case *ast.InterfaceType:
						members(s.Name.Name, typ.Methods)
					}
				}
			}
		}
	}
	return names
}

// TestRenamedNamesStayAway fails where a package declares a name again that it gave up, in
// whatever file, for whatever system.
func TestRenamedNamesStayAway(t *testing.T) {
	for pkg, old := range readRenamed(t) {
		paths, err := filepath.Glob(filepath.Join("../..", pkg, "*.go"))
		if err != nil || len(paths) == 0 {
			t.Errorf("no files in %s: %v", pkg, err)
		}
		for _, path := range paths {
			f, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			for _, name := range declared(f) {
				if slices.Contains(old, name) {
					t.Errorf("%s declares %s, which was renamed", path, name)
				}
			}
		}
	}
}

// TestDeclared checks that every renamed name would be found, in each form of declaration.
func TestDeclared(t *testing.T) {
	for pkg, old := range readRenamed(t) {
		for _, name := range old {
			forms := []string{"func %s() {}", "var %s = 1", "const %s = 1", "type %s struct{}"}
			owner, member, ok := strings.Cut(name, ".")
			if ok {
				forms = []string{"func (t *%s) %s() {}", "func (%s) %s() {}", "type %s struct{ %s int }", "type %s interface{ %s() }", "func (%s[T]) %s() {}"}
			}
			for _, form := range forms {
				args := []any{name}
				if ok {
					args = []any{owner, member}
				}
				f, err := parser.ParseFile(token.NewFileSet(), "", "package p\n"+fmt.Sprintf(form, args...), 0)
				if err != nil {
					t.Fatal(err)
				}
				if !slices.Contains(declared(f), name) {
					t.Errorf("%s of %s is not found in the form %q", name, pkg, form)
				}
			}
		}
	}
}
