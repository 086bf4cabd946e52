package host

import (
	"encoding/json"
	"go/ast"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// refusers are the packages whose refusals name fields.
var refusers = []string{"../swap", "../swap/journal", "../swap/engine", "../swap/plan", "../providers/wire", "../providers/dex", "../providers/bridge", "../providers/intent", "../providers/gasless"}

// fieldsFile lists every field that a refusal can name; the extension has a text for
// each.
const fieldsFile = "../testdata/fields.json"

// TestRefusedFields checks that fieldsFile lists the fields that refusals name, read from
// the source. SWAPKEEP_BLESS=1 rewrites the file.
func TestRefusedFields(t *testing.T) {
	names := fieldNames{params: map[string]int{}, members: map[string]int{}, found: map[string]bool{}}
	sources := map[string][]*ast.File{}
	for _, dir := range refusers {
		sources[dir] = sourceOf(t, dir)
		names.declared(filepath.Base(dir), sources[dir])
	}
	for dir, files := range sources {
		for _, f := range files {
			ast.Inspect(f, func(n ast.Node) bool { names.used(filepath.Base(dir), n); return true })
		}
	}
	now := slices.Sorted(maps.Keys(names.found))
	if blessing {
		b, err := json.MarshalIndent(now, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(fieldsFile, append(b, '\n'), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	b, err := os.ReadFile(fieldsFile)
	if err != nil {
		t.Fatal(err)
	}
	var listed []string
	if err := json.Unmarshal(b, &listed); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(listed, now) {
		t.Errorf("%s is stale: run this test with SWAPKEEP_BLESS=1", fieldsFile)
	}
	// One example of each form in which a field is named.
	for _, name := range []string{"amountIn", "hooksHash", "partnerFee", "depositTxHash", "depositor", "encodedOrder", "outputs.curve", "approves"} {
		if !names.found[name] {
			t.Errorf("%s is not found: is it named in another form?", name)
		}
	}
}

// fieldNames collects field names by a convention: whatever takes the name of a field is
// called field, be it a parameter, a struct member or a range variable.
type fieldNames struct {
	params  map[string]int // package.function, or .method: index of the parameter
	members map[string]int // package.type: index of the member
	found   map[string]bool
}

func (n fieldNames) declared(pkg string, files []*ast.File) {
	for _, f := range files {
		ast.Inspect(f, func(node ast.Node) bool {
			switch d := node.(type) {
			case *ast.FuncDecl:
				if i := position(d.Type.Params); i >= 0 && d.Recv != nil {
					n.params["."+d.Name.Name] = i
				} else if i >= 0 {
					n.params[pkg+"."+d.Name.Name] = i
				}
			case *ast.TypeSpec:
				if s, ok := d.Type.(*ast.StructType); ok && position(s.Fields) >= 0 {
					n.members[pkg+"."+d.Name.Name] = position(s.Fields)
				}
			}
			return true
		})
	}
}

// position returns the index of the name field, or -1.
func position(list *ast.FieldList) int {
	i := 0
	for _, f := range list.List {
		for _, name := range f.Names {
			if name.Name == "field" || name.Name == "Field" {
				return i
			}
			i++
		}
		if len(f.Names) == 0 {
			i++
		}
	}
	return -1
}

func (n fieldNames) used(pkg string, node ast.Node) {
	switch e := node.(type) {
	case *ast.CallExpr:
		if i, ok := n.params[called(pkg, e.Fun)]; ok && i < len(e.Args) {
			n.take(e.Args[i])
		}
	case *ast.KeyValueExpr:
		if k, ok := e.Key.(*ast.Ident); ok && (k.Name == "Field" || k.Name == "field") {
			n.take(e.Value)
		}
	case *ast.CompositeLit:
		if list, ok := e.Type.(*ast.ArrayType); ok {
			for _, one := range e.Elts {
				n.member(pkg, list.Elt, one)
			}
		}
		n.member(pkg, e.Type, e)
	case *ast.RangeStmt:
		for _, over := range []struct {
			name ast.Expr
			key  bool
		}{{e.Key, true}, {e.Value, false}} {
			if id, ok := over.name.(*ast.Ident); ok && id.Name == "field" {
				n.each(e.X, over.key)
			}
		}
	}
}

// called returns the key of a called function in params: one of this package or of swap,
// or a method.
func called(pkg string, fun ast.Expr) string {
	switch f := fun.(type) {
	case *ast.Ident:
		return pkg + "." + f.Name
	case *ast.SelectorExpr:
		if x, ok := f.X.(*ast.Ident); ok && x.Name == "swap" {
			return "swap." + f.Sel.Name
		}
		return "." + f.Sel.Name
	}
	return ""
}

// member takes the field name from a struct literal without member names.
func (n fieldNames) member(pkg string, typ, value ast.Expr) {
	made, ok := value.(*ast.CompositeLit)
	if !ok {
		return
	}
	i := -1
	switch s := typ.(type) {
	case *ast.StructType:
		i = position(s.Fields)
	case *ast.Ident:
		if at, ok := n.members[pkg+"."+s.Name]; ok {
			i = at
		}
	}
	if i >= 0 && i < len(made.Elts) {
		n.take(made.Elts[i])
	}
}

func (n fieldNames) each(x ast.Expr, keys bool) {
	switch e := x.(type) {
	case *ast.SliceExpr:
		n.each(e.X, keys)
	case *ast.Ident: // a local variable
		if e.Obj == nil {
			return
		}
		if made, ok := e.Obj.Decl.(*ast.AssignStmt); ok && len(made.Rhs) == 1 {
			n.each(made.Rhs[0], keys)
		}
	case *ast.CompositeLit:
		for _, one := range e.Elts {
			if pair, ok := one.(*ast.KeyValueExpr); ok && keys {
				n.take(pair.Key)
			} else if !keys {
				n.take(one)
			}
		}
	}
}

func (n fieldNames) take(e ast.Expr) {
	if name, ok := literal(e); ok && name != "" {
		n.found[name] = true
	}
}
