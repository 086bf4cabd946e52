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

// unchecked may ask without a look at certificates: what asks a service on its own
// machine, by a loopback address, whether it is well, and bears nothing secret.
var unchecked = []string{"cmd/swapkeep-server/healthy.go"}

// waived are what switches the check of certificates off, or puts another in its place.
var waived = []string{"InsecureSkipVerify", "VerifyPeerCertificate", "VerifyConnection", "RootCAs"}

// TestCertificatesAreChecked reads all source that programs are built of: no setting of
// TLS is less strict than the system's.
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
			if slices.ContainsFunc(set(n), func(name string) bool { return slices.Contains(waived, name) }) {
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
	if found = slices.Compact(found); !slices.Equal(found, unchecked) {
		t.Errorf("certificates are not checked, or otherwise, in %v, want %v", found, unchecked)
	}
}

// set are the fields that a node sets: in a literal, or by assignment.
func set(n ast.Node) (names []string) {
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
