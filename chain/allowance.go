package chain

import (
	"context"
	"fmt"
	"math/big"
	"slices"

	"github.com/ethereum/go-ethereum/common"
)

var (
	allowanceSelector       = []byte{0xdd, 0x62, 0xed, 0x3e} // allowance(address owner, address spender), of ERC-20
	permitAllowanceSelector = []byte{0x92, 0x7d, 0xa1, 0x05} // allowance(address owner, address token, address spender), of Permit2
)

// A Grantee is a spender who may have an allowance of a token.
type Grantee struct {
	Token, Spender common.Address
}

// A PermitAllowance is what Permit2 lets a spender take (PackedAllowance of
// AllowanceTransfer). The next PermitSingle for it must carry Nonce.
type PermitAllowance struct {
	Amount     *big.Int // uint160, base units; the maximum never decreases
	Expiration uint64   // uint48, Unix seconds of the last moment at which it is valid
	Nonce      uint64   // uint48
}

// Allowance returns how much of token spender may take from owner, in base
// units.
func (h *MultiClient) Allowance(ctx context.Context, id uint64, token, owner, spender common.Address) (*big.Int, error) {
	p, err := h.pool(id)
	if err != nil {
		return nil, err
	}
	return tokenAmount(ctx, reader{p}, token, "allowance", onAccounts(allowanceSelector, owner, spender))
}

// Allowances returns Allowance for each of asked, nil for a token that does not
// answer properly. It uses Multicall3 where the chain has it.
func (h *MultiClient) Allowances(ctx context.Context, id uint64, owner common.Address, grantees []Grantee) ([]*big.Int, error) {
	p, err := h.pool(id)
	if err != nil {
		return nil, err
	}
	return allowancesOf(ctx, reader{p}, owner, grantees)
}

// AgreedAllowances is Allowances, but two hosts must agree where two are configured.
// Errors: ErrDisagree, ErrUnreachable.
func (h *MultiClient) AgreedAllowances(ctx context.Context, id uint64, owner common.Address, grantees []Grantee) ([]*big.Int, error) {
	p, err := h.pool(id)
	if err != nil {
		return nil, err
	}
	all, _, err := quorumRead(ctx, p, p.surveyedEndpoints(ctx), fmt.Sprintf("allowances of %s", owner), sameAmounts, func(ctx context.Context, e *endpoint) ([]*big.Int, error) {
		return allowancesOf(ctx, p.readerOf(e), owner, grantees)
	})
	return all, err
}

// sameAmounts compares amounts, some of which may be nil.
func sameAmounts(a, b []*big.Int) bool {
	return slices.EqualFunc(a, b, func(x, y *big.Int) bool {
		if x == nil || y == nil {
			return x == y
		}
		return x.Cmp(y) == 0
	})
}

func allowancesOf(ctx context.Context, r reader, owner common.Address, grantees []Grantee) ([]*big.Int, error) {
	questions := make([]Question, len(grantees))
	for i, g := range grantees {
		questions[i] = Question{g.Token, onAccounts(allowanceSelector, owner, g.Spender)}
	}
	answers, err := ask(ctx, r, questions)
	if err != nil {
		return nil, fmt.Errorf("allowances: %w", err)
	}
	return amounts(answers, firstWord), nil // a longer answer is an allowance too: contracts read its first word only
}

// PermitAllowances returns what the Permit2 contract at permit2 lets each of asked take
// from owner. An answer that Permit2 cannot give is an error: no permit may be signed on
// top of it.
func (h *MultiClient) PermitAllowances(ctx context.Context, id uint64, permit2, owner common.Address, grantees []Grantee) ([]PermitAllowance, error) {
	p, err := h.pool(id)
	if err != nil {
		return nil, err
	}
	return permitsOf(ctx, reader{p}, permit2, owner, grantees)
}

// AgreedPermits is PermitAllowances, but two hosts must agree where two are configured.
// Errors: ErrDisagree, ErrUnreachable.
func (h *MultiClient) AgreedPermits(ctx context.Context, id uint64, permit2, owner common.Address, grantees []Grantee) ([]PermitAllowance, error) {
	p, err := h.pool(id)
	if err != nil {
		return nil, err
	}
	all, _, err := quorumRead(ctx, p, p.surveyedEndpoints(ctx), fmt.Sprintf("permit2 allowances of %s", owner), samePermits, func(ctx context.Context, e *endpoint) ([]PermitAllowance, error) {
		return permitsOf(ctx, p.readerOf(e), permit2, owner, grantees)
	})
	return all, err
}

func samePermits(a, b []PermitAllowance) bool {
	return slices.EqualFunc(a, b, func(x, y PermitAllowance) bool {
		return x.Amount.Cmp(y.Amount) == 0 && x.Expiration == y.Expiration && x.Nonce == y.Nonce
	})
}

func permitsOf(ctx context.Context, r reader, permit2, owner common.Address, grantees []Grantee) ([]PermitAllowance, error) {
	questions := make([]Question, len(grantees))
	for i, g := range grantees {
		questions[i] = Question{permit2, onAccounts(permitAllowanceSelector, owner, g.Token, g.Spender)}
	}
	answers, err := ask(ctx, r, questions)
	if err != nil {
		return nil, fmt.Errorf("permit2 allowances: %w", err)
	}
	all := make([]PermitAllowance, len(grantees))
	for i, out := range answers {
		if all[i], err = readPermitAllowance(out); err != nil {
			return nil, fmt.Errorf("permit2 allowance of token %s: %w", grantees[i].Token, err)
		}
	}
	return all, nil
}

// readPermitAllowance decodes (uint160 amount, uint48 expiration, uint48 nonce).
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
