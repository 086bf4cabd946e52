package swap

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"math/big"
	"path/filepath"
	"strings"
	"testing"

	"swapkeep/chain"
)

// TestReasonsHaveCauses checks that only because sets an order's reason, so that each has
// its cause, and that the table of causes has a text for every word not in ownWords.
func TestReasonsHaveCauses(t *testing.T) {
	paths, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	above, err := filepath.Glob("*/*.go") // packages over this one
	if err != nil {
		t.Fatal(err)
	}
	words := 0
	for _, path := range append(paths, above...) {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				return !strings.EqualFold(n.Name.Name, "setCause")
			case *ast.AssignStmt:
				for _, to := range n.Lhs {
					if s, ok := to.(*ast.SelectorExpr); ok && s.Sel.Name == "Reason" {
						if of, ok := s.X.(*ast.Ident); ok && of.Name == "o" {
							t.Errorf("%s sets the reason of an order by itself", path)
						}
					}
				}
			case *ast.ValueSpec:
				if typ, ok := n.Type.(*ast.Ident); ok && typ.Name == "ReasonCode" {
					words++
					w := ReasonCode(strings.Trim(n.Values[0].(*ast.BasicLit).Value, `"`))
					if _, told := causeTexts[w]; told == ownWords[w] {
						t.Errorf("%s: in the table of causes %t", w, told)
					}
				}
			}
			return true
		})
	}
	if words < 60 || len(causeTexts) != words-len(ownWords) {
		t.Errorf("%d words, %d of them in the table", words, len(causeTexts))
	}
}

// ownWords are the words whose text does not come from the table of causes.
var ownWords = map[ReasonCode]bool{
	Refused: true, RefusedForNow: true, RefusedUnsigned: true, RefusedByProvider: true, OutsideTerms: true, DeadlinePassed: true, Withdrawn: true,
}

func TestCauses(t *testing.T) {
	node := fmt.Errorf("%w: STF\x1b[2J", chain.ErrWouldRevert)
	for name, c := range map[string]struct {
		cause Cause
		json  string
		text  string
	}{
		"no figures": {NewCause(Reverted), `{"reason":"reverted"}`, "the transaction reverted; only its network fee was paid"},
		"figures":    {NewCause(StepSent, "step", "2"), `{"reason":"step_sent","data":{"step":"2"}}`, "step 2 sent"},
		"amounts are not in the text": {OfRefusal(Refused, AskConsent(PriceFell, "minOut", "595506904", "offered", "5")),
			`{"reason":"price_fell","code":"consent_needed","data":{"minOut":"595506904","offered":"5"}}`, "the price fell: no offer reaches the accepted minimum"},
		"a refusal": {OfRefusal(RefusedUnsigned, RefuseField(NotAsAccepted, "minOut", "it is below the floor").WithAmounts(OfOutput, big.NewInt(7), big.NewInt(9))),
			`{"reason":"refused_unsigned","code":"not_as_accepted","field":"minOut","data":{"got":"7","of":"tokenOut","wanted":"9"}}`, "it is below the floor"},
		"a node's words": {OfRefusal(RefusedUnsigned, RefuseRevert(node)),
			`{"reason":"refused_unsigned","code":"would_revert","quotedText":"call would revert: STF [2J","quotedFrom":"node"}`, "the transaction would fail now: call would revert: STF [2J"},
		"no words of a node's": {NewCause(NotBroadcast).Quoting(AuthorNode, ""), `{"reason":"not_broadcast"}`, "no RPC endpoint accepted the transaction; nothing was sent"},
	} {
		o := Order{}
		o.SetCause(c.cause)
		if got := string(MustJSON(o.Cause)); got != c.json || o.Reason != c.text {
			t.Errorf("%s: %s, %q", name, got, o.Reason)
		}
		if o.SetCause(NoCause); o.Cause != nil || o.Reason != "" {
			t.Errorf("%s is not taken back: %q", name, o.Reason)
		}
	}
}
