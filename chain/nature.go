package chain

import (
	"bytes"
	"context"
	"fmt"

	"github.com/ethereum/go-ethereum/common"
)

// Nature is what an address is, as far as it matters to whoever would call it.
type Nature struct {
	Code  bool `json:"code,omitempty"`  // a contract
	Token bool `json:"token,omitempty"` // that answers as an ERC-20 does
	NFT   bool `json:"nft,omitempty"`   // that says of itself to be ERC-721 or ERC-1155
}

// delegation begins the code of an account that has lent itself another's
// (EIP-7702): 0xef0100 and an address. Whoever holds the key may change it at any
// time, so that it is no contract for us.
var delegation = []byte{0xef, 0x01, 0x00}

// isMultiNFTCall is supportsInterface(bytes4) of ERC-165, asked about ERC-1155.
var isMultiNFTCall = append([]byte{0x01, 0xff, 0xc9, 0xa7, 0xd9, 0xb6, 0x7a, 0x26}, make([]byte, 28)...)

// Nature says what the address a is, by the word of two hosts where two are
// configured; of one host, where there is no other. In doubt a contract counts as a
// token: one that answers decimals(), or totalSupply() and balanceOf() (EIP-20,
// where decimals is optional). It may be repeated; an error says nothing about a.
// Errors: ErrDisagree, ErrUnreachable.
func (h *Hub) Nature(ctx context.Context, id uint64, a common.Address) (Nature, error) {
	p, err := h.pool(id)
	if err != nil {
		return Nature{}, err
	}
	n, _, err := alike(ctx, p, p.surveyed(ctx), fmt.Sprintf("what %s is", a), func(ctx context.Context, e *endpoint) (Nature, error) {
		return natureOf(ctx, p.by(e), a)
	})
	return n, err
}

// natureOf is what r's endpoints show a to be.
func natureOf(ctx context.Context, r reader, a common.Address) (Nature, error) {
	code, err := r.CodeAt(ctx, a, nil)
	if err != nil {
		return Nature{}, fmt.Errorf("code at %s: %w", a, err)
	}
	if len(code) == 0 || bytes.HasPrefix(code, delegation) {
		return Nature{}, nil
	}
	answers, err := askWithin(ctx, r, tokenGas, []Question{{a, decimalsCall}, {a, supplyCall}, {a, onAccounts(balanceOfSelector, a)}, {a, isNFTCall}, {a, isMultiNFTCall}})
	if err != nil {
		return Nature{}, fmt.Errorf("what %s is: %w", a, err)
	}
	return Nature{Code: true, Token: isToken(answers[0], answers[1], answers[2]), NFT: isYes(answers[3]) || isYes(answers[4])}, nil
}

// isToken judges the answers to decimals, totalSupply and balanceOf. What says more than
// a word counts too: in doubt a contract is a token.
func isToken(decimals, supply, balance []byte) bool {
	d := firstWord(decimals)
	return d != nil && d.BitLen() <= 8 || firstWord(supply) != nil && firstWord(balance) != nil
}

// isYes reads the answer of supportsInterface.
func isYes(out []byte) bool {
	n := firstWord(out)
	return n != nil && n.Sign() != 0
}
