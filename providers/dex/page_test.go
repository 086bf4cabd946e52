package dex

import (
	"fmt"
	"testing"

	"swapkeep/providers/providertest"
)

// TestPage checks that the tables of the provider's documentation match the code.
func TestPage(t *testing.T) {
	providertest.CheckPage(t, "../../docs/providers/dex.md",
		providertest.GeneratedPart{From: "providers/dex/pins.go", Text: contractTable()},
		providertest.GeneratedPart{From: "providers/dex/bounds.go", Text: boundsTable()},
		providertest.GeneratedPart{From: "providers/dex/status.go", Text: wordsTable()},
	)
}

func contractTable() string {
	table := providertest.MarkdownTable([]string{"Chain", "Router " + routerVersion, "Wrapped coin", "Auction", "Reactor"}, deployments, func(d deployment) []any {
		return []any{d.chain, providertest.InlineCode(d.router), providertest.InlineCode(d.wrapped), d.auction.routing, providertest.InlineCode(d.reactor)}
	})
	return table + fmt.Sprintf("\nPermit2: `%s`. Cosigner: `%s`; in the sandbox `%s`.\n", permit2, cosigner, sandboxCosigner)
}

func boundsTable() string {
	return providertest.MarkdownTable([]string{"Refused", "As", "Field"}, orderRules, func(r orderRule) []any {
		return []any{r.says, providertest.InlineCode(r.code), providertest.InlineCode(r.field)}
	})
}

func wordsTable() string {
	return providertest.MarkdownTable([]string{"The API's word", "Claim", "Beside it"}, orderStatuses, func(w orderStatus) []any {
		return []any{w.word, w.state, w.note}
	})
}
