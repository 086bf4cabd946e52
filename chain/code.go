package chain

import (
	"bytes"
	"context"
	"fmt"

	"github.com/ethereum/go-ethereum/common"
)

// delegation begins the code of an account that delegates to a contract (EIP-7702):
// 0xef0100 and an address. The holder of the key may change it at any time, so it does
// not count as a contract.
var delegation = []byte{0xef, 0x01, 0x00}

// IsContract reports whether there is a contract at a. Two hosts must agree where two are
// configured. It may be repeated; an error says nothing about a. Errors: ErrDisagree,
// ErrUnreachable.
func (h *MultiClient) IsContract(ctx context.Context, id uint64, a common.Address) (bool, error) {
	p, err := h.pool(id)
	if err != nil {
		return false, err
	}
	is, _, err := quorumReadEqual(ctx, p, p.surveyedEndpoints(ctx), fmt.Sprintf("what %s is", a), func(ctx context.Context, e *endpoint) (bool, error) {
		code, err := p.readerOf(e).CodeAt(ctx, a, nil)
		if err != nil {
			return false, fmt.Errorf("code at %s: %w", a, err)
		}
		return len(code) > 0 && !bytes.HasPrefix(code, delegation), nil
	})
	return is, err
}
