package swap

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"
)

var update = flag.Bool("update", false, "rewrite the parts of the documentation that are drawn from the code")

// drawn are the parts of the documentation that are generated from tables in the code.
var drawn = []struct {
	page, from string
	draw       func() string
}{
	{"../docs/architecture.md", "swap/state.go", diagram},
	{"../docs/architecture.md", "swap/proof.go", proofTable},
	{"../docs/providers/README.md", "swap/capability.go", capabilityTable},
	{"../docs/providers/README.md", "swap/support.go", supportTableDrawn},
	{"../docs/providers/README.md", "swap/fee.go", feeTable},
}

// TestDiagram checks that the documentation matches the tables in the code; go test
// ./swap -run Diagram -update regenerates it.
func TestDiagram(t *testing.T) {
	for _, d := range drawn {
		b, err := os.ReadFile(d.page)
		if err != nil {
			t.Fatal(err)
		}
		open, end := "<!-- drawn from "+d.from+" -->\n", "<!-- end -->"
		head, rest, ok := strings.Cut(string(b), open)
		_, tail, ok2 := strings.Cut(rest, end)
		if !ok || !ok2 {
			t.Fatalf("%s has no place for what %s says", d.page, d.from)
		}
		want := head + open + d.draw() + end + tail
		switch {
		case want == string(b):
		case *update:
			if err := os.WriteFile(d.page, []byte(want), 0o644); err != nil {
				t.Fatal(err)
			}
		default:
			t.Errorf("%s is stale: go test ./swap -run Diagram -update", d.page)
		}
	}
}

// byKind draws a row per thing, with a cell for each provider.
func byKind(b *strings.Builder, corner string) func(name string, cell func(Kind) string) {
	fmt.Fprintf(b, "| %s | dex | bridge | intent | gasless |\n|---|---|---|---|---|\n", corner)
	return func(name string, cell func(Kind) string) {
		fmt.Fprintf(b, "| %s |", name)
		for _, k := range Kinds() {
			fmt.Fprintf(b, " %s |", cell(k))
		}
		b.WriteString("\n")
	}
}

func capabilityTable() string {
	var b strings.Builder
	row := byKind(&b, "")
	row("same-chain swaps", func(k Kind) string { return k.Capabilities().SameChain })
	row("cross-chain swaps", func(k Kind) string { return k.Capabilities().CrossChain })
	row("intent routing", func(k Kind) string { return k.Capabilities().Intents })
	row("gasless execution", func(k Kind) string { return k.Capabilities().Gasless })
	row("orders are followed", func(k Kind) string { return k.Capabilities().Tracking })
	return b.String()
}

func supportTableDrawn() string {
	var b strings.Builder
	row := byKind(&b, "Chain")
	for _, r := range supportTable {
		row(fmt.Sprint(r.chain), func(k Kind) string { return r.cells[slices.Index(Kinds(), k)].words() })
	}
	b.WriteString("\n| Chain | Provider | The spec had | Why it is otherwise |\n|---|---|---|---|\n")
	for _, x := range superseded {
		fmt.Fprintf(&b, "| %d | %s | %s | %s |\n", x.chain, x.kind, x.was.words(), x.why)
	}
	return b.String()
}

// TestSpecsTable checks that without the superseded cells the table is the spec's.
func TestSpecsTable(t *testing.T) {
	table := slices.Clone(supportTable)
	for _, x := range superseded {
		i, col := slices.IndexFunc(table, func(r supportRow) bool { return r.chain == x.chain }), slices.Index(Kinds(), x.kind)
		if i < 0 || reflect.DeepEqual(table[i].cells[col], x.was) || x.why == "" {
			t.Errorf("chain %d, %s: not superseded, or not said why", x.chain, x.kind)
			continue
		}
		table[i].cells[col] = x.was
	}
	spec := []supportRow{
		{1, [4]Cell{dex("V3", "V2"), bridged, intents, gasless}},
		{10, [4]Cell{dex("V3"), bridged, intents, gasless}},
		{56, [4]Cell{none, bridged, intents, gasless}},
		{8453, [4]Cell{dex("V3"), bridged, intents, gasless}},
		{42161, [4]Cell{dex("V3"), bridged, intents, gasless}},
		{143, [4]Cell{none, none, intents, none}},
		{43114, [4]Cell{none, none, none, none}},
		{5330, [4]Cell{none, bridged, disabled, gaslessOne}},
		{39, [4]Cell{none, none, disabled, none}},
	}
	if !reflect.DeepEqual(table, spec) {
		t.Errorf("the table is the spec's and its superseded cells no longer: %+v", table)
	}
}

// words returns a cell as the documentation shows it.
func (c Cell) words() string {
	out := []string{string(c.Support)}
	if last := len(c.Pools) - 1; last == 0 {
		out = append(out, c.Pools[0]+" pools")
	} else if last > 0 {
		out = append(out, strings.Join(c.Pools[:last], ", ")+" and "+c.Pools[last]+" pools")
	}
	for _, x := range []struct {
		is   bool
		word string
	}{{c.Auction, "auction route"}, {c.CrossChain, "cross-chain"}, {c.Note != "", c.Note}} {
		if x.is {
			out = append(out, x.word)
		}
	}
	return strings.Join(out, ", ")
}

func feeTable() string {
	var b strings.Builder
	with := DefaultFees()
	with.Partner.Receiver = common.Address{1}
	row := byKind(&b, "")
	row("the wallet's, bps", func(k Kind) string { return fmt.Sprint(with.ForProvider(k).FeeBps) })
	row("the provider's side, bps at most", func(k Kind) string { return fmt.Sprint(with.ForProvider(k).MakerBps) })
	row("how", func(k Kind) string { return with.ForProvider(k).Description })
	return b.String()
}

// proofTable draws every end with its proof, and the conditions that are only reported.
func proofTable() string {
	var b strings.Builder
	b.WriteString("| End | Of | What proves it |\n|---|---|---|\n")
	for _, r := range Proofs() {
		fmt.Fprintf(&b, "| %s | %s | %s |\n", r.End, r.Of, r.Means)
	}
	b.WriteString("\n| Only reported | Meaning |\n|---|---|\n")
	for _, c := range slices.Sorted(maps.Keys(unprovenEnds)) {
		fmt.Fprintf(&b, "| %s | %s |\n", c, unprovenEnds[c])
	}
	return b.String()
}

// diagram draws the state table in Mermaid, and its rows below.
func diagram() string {
	var b strings.Builder
	b.WriteString("```mermaid\nstateDiagram-v2\n    [*] --> accepted\n")
	for _, r := range stateTable {
		for _, n := range r.Next {
			fmt.Fprintf(&b, "    %s --> %s\n", r.State, n)
		}
		if len(r.Next) == 0 {
			fmt.Fprintf(&b, "    %s --> [*]\n", r.State)
		}
	}
	b.WriteString("```\n\n| State | Meaning | May become |\n|---|---|---|\n")
	for _, r := range stateTable {
		next := make([]string, len(r.Next))
		for i, n := range r.Next {
			next[i] = string(n)
		}
		if len(next) == 0 {
			next = []string{"(final)"}
		}
		fmt.Fprintf(&b, "| %s | %s | %s |\n", r.State, r.Means, strings.Join(next, ", "))
	}
	return b.String()
}
