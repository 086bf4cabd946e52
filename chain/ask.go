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

// gasOfAll is what a common call of as many questions as there may be takes. Fewer
// may have it too: what oracles and pools take to answer differs widely.
const gasOfAll = gasOfAsking + gasOfAnswer*askedAtOnce

// Ask returns the answers to all questions, in their order, nil for one that
// reverted. Where the chain has Multicall3 they are asked together, up to 200 in one
// call and of one block; an address without code answers nothing, not nil. One
// endpoint's word is taken, of its latest block. It may be repeated. Errors:
// ErrNoNetwork, ErrWrongChain, ErrUnreachable, or what a node said.
func (h *Hub) Ask(ctx context.Context, id uint64, qs []Question) ([][]byte, error) {
	p, err := h.pool(id)
	if err != nil {
		return nil, err
	}
	return askWithin(ctx, reader{p}, gasOfAll, qs)
}
