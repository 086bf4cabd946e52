package dex

import (
	"fmt"
	"testing"

	"swapkeep/providers/providertest"
)

// TestPage checks that the tables of the provider's documentation match the code.
func TestPage(t *testing.T) {
	providertest.Page(t, "../../docs/providers/dex.md",
		providertest.Drawn{From: "providers/dex/pins.go", Text: contractTable()},
		providertest.Drawn{From: "providers/dex/bounds.go", Text: boundsTable()},
		providertest.Drawn{From: "providers/dex/status.go", Text: wordsTable()},
	)
}

func contractTable() string {
	table := providertest.Table([]string{"Chain", "Router " + routerVersion, "Wrapped coin", "Auction", "Reactor"}, deployments, func(d deployment) []any {
		return []any{d.chain, providertest.Code(d.router), providertest.Code(d.wrapped), d.auction.routing, providertest.Code(d.reactor)}
	})
	return table + fmt.Sprintf("\nPermit2: `%s`. Cosigner: `%s`; in the sandbox `%s`.\n", permit2, cosigner, sandboxCosigner)
}

func boundsTable() string {
	return providertest.Table([]string{"Refused", "As", "Field"}, orderRules, func(r orderRule) []any {
		return []any{r.says, providertest.Code(r.code), providertest.Code(r.field)}
	})
}

func wordsTable() string {
	return providertest.Table([]string{"The API's word", "Claim", "Beside it"}, orderWords, func(w orderWord) []any {
		return []any{w.word, w.claims, w.says}
	})
}
