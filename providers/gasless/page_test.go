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
	providertest.Page(t, "../../docs/providers/gasless.md",
		providertest.Drawn{From: "providers/gasless/contracts.go", Text: contractTable()},
		providertest.Drawn{From: "providers/gasless/submit.go", Text: statusTable()},
		providertest.Drawn{From: "providers/gasless/errors.go", Text: errorTable()},
	)
}

func contractTable() string {
	head := []string{"Chain", "In paths", "JAM settlement", "JAM spender", "RFQ settlement and spender"}
	return providertest.Table(head, deployments, func(d deployment) []any {
		rfq := providertest.Code(d.rfqSettlement)
		if d.rfqSettlement == (common.Address{}) {
			rfq = "not used"
		}
		return []any{d.chain, d.name, providertest.Code(d.jamSettlement), providertest.Code(d.balanceManager), rfq}
	})
}

func statusTable() string {
	words := slices.Sorted(maps.Keys(statuses))
	table := providertest.Table([]string{"The provider's word", "Claim"}, words, func(word string) []any { return []any{word, statuses[word]} })
	return table + "| any other | settling |\n"
}

func errorTable() string {
	return providertest.Table([]string{"Number", "Code", "The gasless provider …"}, failures, func(f wire.Failure) []any {
		return []any{f.Code, providertest.Code(f.Is), f.Says}
	})
}
