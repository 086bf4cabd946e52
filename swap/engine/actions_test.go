package engine

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"testing"

	"swapkeep/swap"
)

// TestEveryStateHasItsAction checks that the engine has an action for every state of
// package swap that is not final, and for no other.
func TestEveryStateHasItsAction(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "../state.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	open := 0
	ast.Inspect(file, func(n ast.Node) bool {
		c, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		if kind, ok := c.Type.(*ast.Ident); !ok || kind.Name != "State" {
			return true
		}
		text, err := strconv.Unquote(c.Values[0].(*ast.BasicLit).Value)
		if err != nil {
			t.Fatal(err)
		}
		s := swap.State(text)
		if _, acts := actions[s]; acts == s.Final() {
			t.Errorf("%s is final: %t, and has an action: %t", s, s.Final(), acts)
		}
		if !s.Final() {
			open++
		}
		return true
	})
	if open < 5 || open != len(actions) {
		t.Errorf("%d states that are not final, %d actions", open, len(actions))
	}
}
