package plan

import (
	"context"
	"errors"
	"math/big"
	"testing"

	"swapkeep/chain"
	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common"
)

// worthPricer knows what tokens are worth for the gas guard, and nothing else.
type worthPricer struct{ pricerFunc }

func (worthPricer) Worth(context.Context, uint64, common.Address, *big.Int) (*big.Int, error) {
	return big.NewInt(7), nil
}

type oneNetwork struct{ noNodes }

func (oneNetwork) Network(uint64) (chain.Network, error) {
	return chain.Network{WrappedNative: common.Address{1}}, nil
}

// TestGasIsWeighedByWorth checks that what gas is weighed against may rest on a price that
// other guards do not take.
func TestGasIsWeighedByWorth(t *testing.T) {
	none := func(uint64, common.Address, uint64, common.Address, *big.Int) (*big.Int, error) {
		return nil, errors.New("no oracle")
	}
	got := valueInNative(t.Context(), oneNetwork{}, worthPricer{none}, swap.Terms{SrcChain: 1, TokenIn: common.Address{2}, AmountIn: big.NewInt(1)})
	if got == nil || got.Int64() != 7 {
		t.Errorf("%v", got)
	}
}
