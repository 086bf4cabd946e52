package chain

import (
	"context"
	"fmt"
	"math/big"

	"github.com/ethereum/go-ethereum/common"
)

var (
	allowanceSelector       = []byte{0xdd, 0x62, 0xed, 0x3e} // allowance(address owner, address spender), of ERC-20
	permitAllowanceSelector = []byte{0x92, 0x7d, 0xa1, 0x05} // allowance(address owner, address token, address spender), of Permit2
)

// A Grantee is someone who may have been allowed to take a token.
type Grantee struct {
	Token, Spender common.Address
}

// A PermitAllowance is what Permit2 lets a spender take (AllowanceTransfer,
// PackedAllowance). Nonce is what the next PermitSingle for it must carry.
type PermitAllowance struct {
	Amount     *big.Int // uint160, base units; its largest value is never used up
	Expiration uint64   // uint48, Unix seconds of the last moment at which it holds
	Nonce      uint64   // uint48
}

// Allowance returns how much of token spender may take from owner, in base
// units.
func (h *Hub) Allowance(ctx context.Context, id uint64, token, owner, spender common.Address) (*big.Int, error) {
	p, err := h.pool(id)
	if err != nil {
		return nil, err
	}
	return tokenAmount(ctx, reader{p}, token, "allowance", onAccounts(allowanceSelector, owner, spender))
}

// Allowances returns Allowance for each of asked, nil for a token that does not
// answer properly. It uses Multicall3 where the chain has it.
func (h *Hub) Allowances(ctx context.Context, id uint64, owner common.Address, asked []Grantee) ([]*big.Int, error) {
	p, err := h.pool(id)
	if err != nil {
		return nil, err
	}
	questions := make([]question, len(asked))
	for i, g := range asked {
		questions[i] = question{g.Token, onAccounts(allowanceSelector, owner, g.Spender)}
	}
	answers, err := ask(ctx, reader{p}, questions)
	if err != nil {
		return nil, fmt.Errorf("allowances: %w", err)
	}
	return amounts(answers), nil
}

// PermitAllowances returns what the Permit2 contract at permit2 lets each of
// asked take from owner. An answer that Permit2 cannot give is an error: no
// permit may be signed over it.
func (h *Hub) PermitAllowances(ctx context.Context, id uint64, permit2, owner common.Address, asked []Grantee) ([]PermitAllowance, error) {
	p, err := h.pool(id)
	if err != nil {
		return nil, err
	}
	questions := make([]question, len(asked))
	for i, g := range asked {
		questions[i] = question{permit2, onAccounts(permitAllowanceSelector, owner, g.Token, g.Spender)}
	}
	answers, err := ask(ctx, reader{p}, questions)
	if err != nil {
		return nil, fmt.Errorf("permit2 allowances: %w", err)
	}
	all := make([]PermitAllowance, len(asked))
	for i, out := range answers {
		if all[i], err = readPermitAllowance(out); err != nil {
			return nil, fmt.Errorf("permit2 allowance of token %s: %w", asked[i].Token, err)
		}
	}
	return all, nil
}

// readPermitAllowance reads (uint160 amount, uint48 expiration, uint48 nonce).
func readPermitAllowance(out []byte) (PermitAllowance, error) {
	if len(out) != 3*32 {
		return PermitAllowance{}, fmt.Errorf("the contract answered %d bytes", len(out))
	}
	var words [3]*big.Int
	for i, bits := range []int{160, 48, 48} {
		words[i] = new(big.Int).SetBytes(out[32*i : 32*i+32])
		if words[i].BitLen() > bits {
			return PermitAllowance{}, fmt.Errorf("the contract answered a value of more than %d bits", bits)
		}
	}
	return PermitAllowance{Amount: words[0], Expiration: words[1].Uint64(), Nonce: words[2].Uint64()}, nil
}
