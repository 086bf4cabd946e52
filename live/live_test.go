package live

import (
	"testing"

	"swapkeep/chain"
	"swapkeep/swap"
)

// silent has one network, whose hosts must not be asked: any question panics.
type silent struct{ Nodes }

func (silent) Networks() []chain.Network { return []chain.Network{{ID: 5330}} }

// TestProviderElsewhere: of one provider nothing is asked, and nothing told, on a network
// that it does not serve.
func TestProviderElsewhere(t *testing.T) {
	if swap.SupportOf(swap.DEX, 5330).Support == swap.Active {
		t.Fatal("the dex provider serves 5330 now: take another network")
	}
	if r := Examine(t.Context(), World{Nodes: silent{}, Provider: swap.DEX}); len(r.Rows) != 0 {
		t.Errorf("Examine without networks reports %v, want nothing", r.Rows)
	}
}
