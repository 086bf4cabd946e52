package graph

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// unverifiedFiles lists the files that may skip certificate checks: they ask a service on the
// same machine, by a loopback address, for its health, and send nothing secret.
var unverifiedFiles = []string{"cmd/swapkeep-server/healthy.go"}

// tlsOverrides lists the fields that disable or replace certificate verification.
var tlsOverrides = []string{"InsecureSkipVerify", "VerifyPeerCertificate", "VerifyConnection", "RootCAs"}

// TestCertificatesAreChecked reads all source that programs are built from and checks that
// no TLS setting is weaker than the system's.
func TestCertificatesAreChecked(t *testing.T) {
	root := filepath.Join("..", "..")
	files, found := 0, []string{}
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		name := entry.Name()
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (name == "node_modules" || name == "build" || path != root && strings.HasPrefix(name, ".")):
			return filepath.SkipDir
		case !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		files++
		ast.Inspect(file, func(n ast.Node) bool {
			if slices.ContainsFunc(fieldsSet(n), func(name string) bool { return slices.Contains(tlsOverrides, name) }) {
				where, _ := filepath.Rel(root, path)
				found = append(found, filepath.ToSlash(where))
			}
			return true
		})
		return nil
	})
	if err != nil || files < 500 {
		t.Fatalf("%d files read: %v", files, err)
	}
	slices.Sort(found)
	if found = slices.Compact(found); !slices.Equal(found, unverifiedFiles) {
		t.Errorf("certificates are not checked, or otherwise, in %v, want %v", found, unverifiedFiles)
	}
}

// fieldsSet returns the fields that a node sets, in a literal or by assignment.
func fieldsSet(n ast.Node) (names []string) {
	switch n := n.(type) {
	case *ast.KeyValueExpr:
		if key, ok := n.Key.(*ast.Ident); ok {
			names = append(names, key.Name)
		}
	case *ast.AssignStmt:
		for _, to := range n.Lhs {
			if field, ok := to.(*ast.SelectorExpr); ok {
				names = append(names, field.Sel.Name)
			}
		}
	}
	return names
}
