package host

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"math/big"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"swapkeep/chain"
	"swapkeep/extension/messages"
	"swapkeep/host/protocol"
	"swapkeep/priceapi/price"
	"swapkeep/swap"
	"swapkeep/swap/engine"
	"swapkeep/swap/journal"
	"swapkeep/swap/plan"
)

// TestWordsAreTheWalletsOwn checks that the protocol's vocabularies, which repeat tables
// of other packages for clients, equal what those packages declare.
func TestWordsAreTheWalletsOwn(t *testing.T) {
	swaps, chains := sourceOf(t, "../swap"), sourceOf(t, "../chain")
	judges := slices.Concat(swaps, sourceOf(t, "../swap/engine"), sourceOf(t, "../swap/plan"))
	var proofs, kinds, periods []string
	for _, p := range swap.Proofs() {
		proofs = append(proofs, p.By)
	}
	for _, k := range swap.Kinds() {
		kinds = append(kinds, string(k))
	}
	for _, p := range price.Periods() {
		periods = append(periods, p.Name)
	}
	trusted := slices.Concat(beginning(sourceOf(t, "../providers/bridge"), "trusted"), beginning(sourceOf(t, "../providers/intent"), "trusted"))
	for name, own := range map[string][]string{
		"ProviderKind": kinds, "OrderKind": constants(swaps, "Kind"), "SupportLevel": constants(swaps, "Support"),
		"StepKind": constants(swaps, "StepKind"), "EffectKind": constants(swaps, "EffectKind"), "SettledBy": constants(swaps, "SettledBy"),
		"FeeBasis": constants(swaps, "FeeBasis"),
		"Severity": constants(swaps, "Severity"), "FindingCode": slices.Collect(maps.Keys(findingsOf(judges))), "ProvenBy": proofs, "VerdictSource": constants(swaps, "SourceCode"), "VerdictReceipt": constants(swaps, "ReceiptCode"),
		"OrderState": constants(swaps, "State"), "Condition": constants(swaps, "Condition"), "AllowanceKind": constants(swaps, "AllowanceKind"),
		"ReasonCode": constants(swaps, "ReasonCode"), "TextAuthor": constants(swaps, "TextAuthor"), "Trusted": trusted,
		"AttemptKind": constants(chains, "AttemptKind"), "ChartPeriod": periods,
	} {
		i := slices.IndexFunc(protocol.Vocabularies, func(v protocol.Vocabulary) bool { return v.Name == name })
		if i < 0 {
			t.Errorf("no vocabulary %s", name)
			continue
		}
		declared := slices.Sorted(slices.Values(protocol.Vocabularies[i].Words))
		if want := slices.Sorted(slices.Values(own)); !slices.Equal(declared, want) {
			t.Errorf("%s: the protocol says %q, the wallet %q", name, declared, want)
		}
	}
	for _, tier := range []chain.Tier{protocol.TierNormal, protocol.TierFast} {
		if tier != chain.Normal && tier != chain.Fast {
			t.Errorf("no tier %s", tier)
		}
	}
}

// sourceOf parses a package without its tests.
func sourceOf(t *testing.T, dir string) (files []*ast.File) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, text, 0)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	return files
}

// constants returns the nonempty values of the constants of a type.
func constants(files []*ast.File, typ string) (values []string) {
	for _, f := range files {
		ast.Inspect(f, func(n ast.Node) bool {
			spec, ok := n.(*ast.ValueSpec)
			if !ok {
				return true
			}
			if of, ok := spec.Type.(*ast.Ident); ok && of.Name == typ && len(spec.Values) == 1 {
				if value, ok := literal(spec.Values[0]); ok && value != "" {
					values = append(values, value)
				}
			}
			return true
		})
	}
	return values
}

// beginning returns the values of constants with a name prefix.
func beginning(files []*ast.File, prefix string) (values []string) {
	for _, f := range files {
		ast.Inspect(f, func(n ast.Node) bool {
			if spec, ok := n.(*ast.ValueSpec); ok && len(spec.Names) == 1 && len(spec.Values) == 1 && strings.HasPrefix(spec.Names[0].Name, prefix) {
				if value, ok := literal(spec.Values[0]); ok {
					values = append(values, value)
				}
			}
			return true
		})
	}
	return values
}

// TestFindingsFillTheirMessages checks that each finding of the wallet has the data that its
// message for people needs.
func TestFindingsFillTheirMessages(t *testing.T) {
	for code, data := range findingsOf(slices.Concat(sourceOf(t, "../swap"), sourceOf(t, "../swap/engine"), sourceOf(t, "../swap/plan"))) {
		if _, ok := messages.Filled("finding_"+code, data, func(_, value, _ string) string { return value }); !ok {
			t.Errorf("%s has data %v, and its message needs other", code, data)
		}
	}
}

// valueOf returns an element of a literal without its key.
func valueOf(e ast.Expr) ast.Expr {
	if kv, ok := e.(*ast.KeyValueExpr); ok {
		return kv.Value
	}
	return e
}

// findingsOf returns the codes of all findings that a package makes, with their data: its keys,
// each with some value. Each is written as a literal of its four fields, alone or in a list.
func findingsOf(files []*ast.File) map[string]map[string]string {
	codes := map[string]map[string]string{}
	fields := reflect.TypeFor[swap.Finding]().NumField()
	of := func(typ ast.Expr) bool {
		if s, ok := typ.(*ast.SelectorExpr); ok {
			typ = s.Sel
		}
		id, ok := typ.(*ast.Ident)
		return ok && id.Name == "Finding"
	}
	take := func(made *ast.CompositeLit) {
		if len(made.Elts) != fields {
			return
		}
		code, ok := literal(valueOf(made.Elts[0]))
		if !ok {
			return
		}
		codes[code] = map[string]string{}
		if data, ok := valueOf(made.Elts[3]).(*ast.CompositeLit); ok {
			for _, e := range data.Elts {
				if key, ok := literal(e.(*ast.KeyValueExpr).Key); ok {
					codes[code][key] = "some"
				}
			}
		}
	}
	for _, f := range files {
		ast.Inspect(f, func(n ast.Node) bool {
			made, ok := n.(*ast.CompositeLit)
			if !ok {
				return true
			}
			if list, ok := made.Type.(*ast.ArrayType); ok && of(list.Elt) {
				for _, one := range made.Elts {
					if one, ok := one.(*ast.CompositeLit); ok {
						take(one)
					}
				}
			} else if of(made.Type) {
				take(made)
			}
			return true
		})
	}
	return codes
}

func literal(e ast.Expr) (string, bool) {
	lit, ok := e.(*ast.BasicLit)
	if !ok || lit.Kind != token.STRING {
		return "", false
	}
	value, err := strconv.Unquote(lit.Value)
	return value, err == nil
}

// TestEmptyLists checks that empty lists are encoded as such, and as null only where the
// protocol says so.
func TestEmptyLists(t *testing.T) {
	for _, v := range []any{
		orderOf(swap.Order{Progress: swap.Progress{Proposal: &swap.Proposal{}}}), reviewOf(swap.Review{}), entryOf(journal.Entry{}),
		allowanceOf(engine.Allowance{Amount: new(big.Int), Review: &swap.Review{}}), providerOf(swap.ProviderInfo{Endpoint: &swap.Endpoint{}}),
		(&Server{}).quotedOf(json.RawMessage("1"), plan.QuoteUpdate{}),
	} {
		nulls(t, reflect.ValueOf(v), reflect.TypeOf(v).Name())
	}
}

// nulls reports lists and objects within v that would be encoded as null without being
// declared so, or the reverse.
func nulls(t *testing.T, v reflect.Value, path string) {
	t.Helper()
	if v.Kind() == reflect.Pointer && !v.IsNil() {
		v = v.Elem()
	}
	if v.Kind() != reflect.Struct {
		return
	}
	for i := range v.NumField() {
		f := v.Type().Field(i)
		if !f.IsExported() {
			continue
		}
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if k := f.Type.Kind(); (k == reflect.Slice || k == reflect.Map) && options == "" {
			if declared := f.Tag.Get("null") == "list"; v.Field(i).IsNil() != declared {
				t.Errorf("%s.%s is null: %t, and said to be: %t", path, name, v.Field(i).IsNil(), declared)
			}
		}
		nulls(t, v.Field(i), path+"."+name)
	}
}
