package intent

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"swapkeep/providers/providertest"
)

// TestPage checks that the tables of the provider's documentation page match the code.
func TestPage(t *testing.T) {
	providertest.CheckPage(t, "../../docs/providers/intent.md",
		providertest.GeneratedPart{From: "providers/intent/networks.go", Text: networkTable()},
		providertest.GeneratedPart{From: "providers/intent/networks.go: depots", Text: depotTable()},
		providertest.GeneratedPart{From: "providers/intent/across.go", Text: poolTable()},
		providertest.GeneratedPart{From: "providers/intent/orders.go", Text: statusTable()},
		providertest.GeneratedPart{From: "providers/intent/errors.go", Text: errorTable()},
	)
}

func networkTable() string {
	var b strings.Builder
	b.WriteString("| Chain | Enabled | Id of the provider | Name | Cross-chain |\n|---|---|---|---|---|\n")
	for _, n := range networks {
		fmt.Fprintf(&b, "| %d | %t | %d | %s | %t |\n", n.ChainID, n.Enabled, n.ProviderChainID, n.DisplayName, n.CrossChainEnabled)
	}
	b.WriteString("\n| Further chain | Name | Coin |\n|---|---|---|\n")
	for _, d := range destinations {
		fmt.Fprintf(&b, "| %d | %s | %s |\n", d.ChainID, d.Name, d.Symbol)
	}
	return b.String()
}

func depotTable() string {
	var b strings.Builder
	b.WriteString("| Chain | Contract | Who calls it |\n|---|---|---|\n")
	for _, d := range depositContracts {
		fmt.Fprintf(&b, "| %d | `%s` | the account |\n", d.chain, d.address)
	}
	p := &Provider{depositContracts: depositContracts}
	for _, n := range networks {
		if n.Enabled && p.IsolatesOn(n.ChainID) {
			fmt.Fprintf(&b, "| %d | none is built in | an isolated account |\n", n.ChainID)
		}
	}
	return b.String()
}

func poolTable() string {
	var b strings.Builder
	b.WriteString("| Chain | SpokePool | The coin, wrapped |\n|---|---|---|\n")
	for _, id := range slices.Sorted(maps.Keys(spokePools)) {
		fmt.Fprintf(&b, "| %d | `%s` | `%s` |\n", id, spokePools[id].address, spokePools[id].coin)
	}
	return b.String()
}

func statusTable() string {
	var b strings.Builder
	b.WriteString("| The provider's word | Claim |\n|---|---|\n")
	for _, word := range slices.Sorted(maps.Keys(statuses)) {
		fmt.Fprintf(&b, "| %s | %s |\n", word, statuses[word])
	}
	b.WriteString("| any other | settling |\n")
	return b.String()
}

func errorTable() string {
	var b strings.Builder
	b.WriteString("| Name | Code | The intent provider … |\n|---|---|---|\n")
	for _, f := range failures {
		name := f.Code
		if name == "" {
			name = fmt.Sprintf("(%d)", f.Status)
		}
		fmt.Fprintf(&b, "| %s | `%s` | %s |\n", name, f.Is, f.Says)
	}
	return b.String()
}
