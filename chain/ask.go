package chain

import (
	"context"

	"github.com/ethereum/go-ethereum/common"
)

// A Question is a read-only call of a contract.
type Question struct {
	To   common.Address
	Data []byte
}

// maxMulticallGas is the gas limit of a common call with the most questions. Calls with fewer
// get the same: oracles and pools differ widely in the gas that an answer takes.
const maxMulticallGas = multicallBaseGas + multicallGasPerCall*maxBatchCalls

// Ask returns the answers to all questions, in their order: nil for one that reverted,
// empty and not nil for an address without code. Where the chain has Multicall3, up to
// 200 go into one call and read the same block. It relies on one endpoint and its latest
// block. It may be repeated. Errors: ErrNoNetwork, ErrWrongChain, ErrUnreachable, or a
// node's error.
func (h *MultiClient) Ask(ctx context.Context, id uint64, qs []Question) ([][]byte, error) {
	p, err := h.pool(id)
	if err != nil {
		return nil, err
	}
	return askWithin(ctx, reader{p}, maxMulticallGas, qs)
}
