package gasless

import (
	"maps"
	"slices"
	"testing"

	"swapkeep/providers/providertest"
	"swapkeep/providers/wire"

	"github.com/ethereum/go-ethereum/common"
)

// TestPage checks that the tables of the provider's documentation page match the code.
func TestPage(t *testing.T) {
	providertest.CheckPage(t, "../../docs/providers/gasless.md",
		providertest.GeneratedPart{From: "providers/gasless/contracts.go", Text: contractTable()},
		providertest.GeneratedPart{From: "providers/gasless/submit.go", Text: statusTable()},
		providertest.GeneratedPart{From: "providers/gasless/errors.go", Text: errorTable()},
	)
}

func contractTable() string {
	head := []string{"Chain", "In paths", "JAM settlement", "JAM spender", "RFQ settlement and spender"}
	return providertest.MarkdownTable(head, deployments, func(d deployment) []any {
		rfq := providertest.InlineCode(d.rfqSettlement)
		if d.rfqSettlement == (common.Address{}) {
			rfq = "not used"
		}
		return []any{d.chain, d.name, providertest.InlineCode(d.jamSettlement), providertest.InlineCode(d.balanceManager), rfq}
	})
}

func statusTable() string {
	words := slices.Sorted(maps.Keys(statuses))
	table := providertest.MarkdownTable([]string{"The provider's word", "Claim"}, words, func(word string) []any { return []any{word, statuses[word]} })
	return table + "| any other | settling |\n"
}

func errorTable() string {
	return providertest.MarkdownTable([]string{"Number", "Code", "The gasless provider …"}, failures, func(f wire.Failure) []any {
		return []any{f.Code, providertest.InlineCode(f.Is), f.Says}
	})
}
