package chain

import (
	"bytes"
	"context"
	"fmt"

	"github.com/ethereum/go-ethereum/common"
)

// TokenAnswers are a contract's answers about itself as a token: the bytes that each call
// returned, nil where it failed.
type TokenAnswers struct {
	Code     []byte // of the contract; empty = there is none
	Symbol   []byte // symbol()
	Name     []byte // name()
	Decimals []byte // decimals()
	Supply   []byte // totalSupply()
	Balance  []byte // balanceOf of the contract itself
	NFT      []byte // supportsInterface(0x80ac58cd), ERC-721
	Hosts    int    // that agree; 1 = only one is configured
}

// tokenGas is many times what six questions take at any real token, and little for a
// node.
const tokenGas = 5_000_000

var (
	symbolCall   = []byte{0x95, 0xd8, 0x9b, 0x41} // symbol()
	nameCall     = []byte{0x06, 0xfd, 0xde, 0x03} // name()
	decimalsCall = []byte{0x31, 0x3c, 0xe5, 0x67} // decimals()
	supplyCall   = []byte{0x18, 0x16, 0x0d, 0xdd} // totalSupply()
	// supportsInterface(bytes4) of ERC-165, asked about ERC-721
	isNFTCall = append([]byte{0x01, 0xff, 0xc9, 0xa7, 0x80, 0xac, 0x58, 0xcd}, make([]byte, 28)...)
)

// AskToken asks the contract at token about itself. Two hosts must agree where two are
// configured: whoever tells the decimals decides what an amount is. A call that fails is
// an answer; an error says nothing about the contract. Errors: ErrDisagree,
// ErrUnreachable.
func (h *MultiClient) AskToken(ctx context.Context, id uint64, token common.Address) (TokenAnswers, error) {
	p, err := h.pool(id)
	if err != nil {
		return TokenAnswers{}, err
	}
	a, hosts, err := quorumRead(ctx, p, p.surveyedEndpoints(ctx), fmt.Sprintf("token %s", token), sameToken, func(ctx context.Context, e *endpoint) (TokenAnswers, error) {
		return askToken(ctx, p.readerOf(e), token)
	})
	a.Hosts = len(hosts)
	return a, err
}

// sameToken compares what does not change while a token is in use.
func sameToken(a, b TokenAnswers) bool {
	return (len(a.Code) == 0) == (len(b.Code) == 0) && bytes.Equal(a.Decimals, b.Decimals) && bytes.Equal(a.Symbol, b.Symbol) && bytes.Equal(a.Name, b.Name)
}

func askToken(ctx context.Context, r reader, token common.Address) (a TokenAnswers, err error) {
	if a.Code, err = r.CodeAt(ctx, token, nil); err != nil {
		return TokenAnswers{}, fmt.Errorf("code at %s: %w", token, err)
	}
	if len(a.Code) == 0 {
		return a, nil
	}
	questions := []Question{{token, symbolCall}, {token, nameCall}, {token, decimalsCall}, {token, supplyCall}, {token, onAccounts(balanceOfSelector, token)}, {token, isNFTCall}}
	answers, err := askWithin(ctx, r, tokenGas, questions)
	if err != nil {
		return TokenAnswers{}, fmt.Errorf("token %s: %w", token, err)
	}
	a.Symbol, a.Name, a.Decimals, a.Supply, a.Balance, a.NFT = answers[0], answers[1], answers[2], answers[3], answers[4], answers[5]
	return a, nil
}

// Contracts returns the contracts of the network that this package calls. None of them is
// a token.
func (n Network) Contracts() []common.Address {
	return []common.Address{multicall3}
}

// NoWrappedReason returns why a network has no WrappedNative; "" if it has one.
func (n Network) NoWrappedReason() string {
	if n.WrappedNative != (common.Address{}) {
		return ""
	}
	return "no contract that wraps " + n.Symbol + " is known of " + n.Name
}
