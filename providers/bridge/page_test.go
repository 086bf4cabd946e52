package bridge

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"swapkeep/providers/providertest"
)

// TestPage checks that the tables of the provider's documentation match the code.
func TestPage(t *testing.T) {
	providertest.CheckPage(t, "../../docs/providers/bridge.md",
		providertest.GeneratedPart{From: "providers/bridge/pins.go", Text: contractTable()},
		providertest.GeneratedPart{From: "providers/bridge/status.go", Text: statusTable()},
		providertest.GeneratedPart{From: "providers/bridge/errors.go", Text: errorTable()},
	)
}

func contractTable() string {
	var b strings.Builder
	b.WriteString("| Chain | Depository | Routers |\n|---|---|---|\n")
	for _, d := range deployments {
		var versions []string
		for _, p := range d.pairs {
			versions = append(versions, p.version)
		}
		fmt.Fprintf(&b, "| %d | `%s` | %s |\n", d.chain, d.depository, strings.Join(versions, ", "))
	}
	b.WriteString("\n| Version | Router (native coin) | Approval proxy (tokens) |\n|---|---|---|\n")
	for _, p := range routerPairs {
		fmt.Fprintf(&b, "| %s | `%s` | `%s` |\n", p.version, p.router, p.proxy)
	}
	fmt.Fprintf(&b, "\nSolver, on every chain: `%s`.\n", solver)
	return b.String()
}

func statusTable() string {
	var b strings.Builder
	b.WriteString("| The provider's word | Claim |\n|---|---|\n")
	for _, word := range slices.Sorted(maps.Keys(statuses)) {
		note := ""
		switch {
		case statuses[word].unpaid:
			note = "; the deposit is reported to it again a minute after it was mined"
		case word == "failure":
			note = ", after 120 s in which it may turn into a refund; before that, settling"
		}
		fmt.Fprintf(&b, "| %s | %s%s |\n", word, statuses[word].state, note)
	}
	fmt.Fprintf(&b, "| %s | none: it does not know the request, and the deposit is reported to it again |\n| any other | settling |\n", statusUnknown)
	return b.String()
}

func errorTable() string {
	var b strings.Builder
	b.WriteString("| Code of the API | Code | The bridge provider … |\n|---|---|---|\n")
	for _, f := range failures {
		name := f.Code
		if name == "" {
			name = fmt.Sprintf("any with status %d", f.Status)
		}
		fmt.Fprintf(&b, "| %s | `%s` | %s |\n", name, f.Is, f.Says)
	}
	return b.String()
}
