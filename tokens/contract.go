package tokens

import (
	"bytes"
	"context"
	"fmt"
	"math/big"
	"strings"
	"unicode/utf8"

	"github.com/ethereum/go-ethereum/common"
)

// Answers are a contract's answers about itself as a token: the bytes that each call
// returned, nil where it failed.
type Answers struct {
	Code     []byte // of the contract; empty = there is none
	Symbol   []byte // symbol(): string, or bytes32 for some old tokens
	Name     []byte // name(): string or bytes32
	Decimals []byte // decimals(): uint8
	Supply   []byte // totalSupply(): uint256
	Balance  []byte // balanceOf(address), of any address: uint256
	NFT      []byte // supportsInterface(0x80ac58cd), ERC-721: bool
	Hosts    int    // that agree on the answers
}

// A Chain asks contracts; two hosts, where two are configured, must agree. A call that
// fails is an answer; an error means that the chain could not be asked, and says nothing
// about the contract.
type Chain interface {
	AskToken(ctx context.Context, chain uint64, address common.Address) (Answers, error)
}

// delegationPrefix begins the code of an account that delegates to a contract (EIP-7702).
var delegationPrefix = []byte{0xef, 0x01, 0x00}

// token decodes the answers of the contract at that id. Its only error is a
// *NotTokenError. A token without a name is named by its symbol; one without a symbol or
// decimals cannot be shown and is refused.
func (a Answers) token(at id) (Token, error) {
	t := Token{Chain: at.chain, Address: at.address, Symbol: clean(text(a.Symbol), maxSymbol), Name: clean(text(a.Name), maxName)}
	decimals := number(a.Decimals)
	why := ""
	switch {
	case len(a.Code) == 0:
		why = "there is no contract at that address"
	case bytes.HasPrefix(a.Code, delegationPrefix):
		why = "it is an account, and no contract"
	case isTrue(a.NFT):
		why = "it is a collection of NFTs"
	case number(a.Supply) == nil || number(a.Balance) == nil:
		why = "the contract keeps no balances"
	case decimals == nil:
		why = "the contract does not say how many decimals it has"
	case decimals.Cmp(big.NewInt(MaxDecimals)) > 0:
		why = fmt.Sprintf("the contract claims over %d decimals", MaxDecimals)
	case t.Symbol == "":
		why = "the contract has no symbol that can be shown"
	}
	if why != "" {
		return Token{}, &NotTokenError{why}
	}
	if t.Name == "" {
		t.Name = t.Symbol
	}
	t.Decimals, t.DecimalsFrom = uint8(decimals.Uint64()), sourceOfHosts(a.Hosts)
	return t, nil
}

// number decodes a word; nil if there is not exactly one.
func number(out []byte) *big.Int {
	if len(out) != 32 {
		return nil
	}
	return new(big.Int).SetBytes(out)
}

func isTrue(out []byte) bool {
	n := number(out)
	return n != nil && n.IsUint64() && n.Uint64() == 1
}

// maxText is how many bytes of a string are used.
const maxText = 1024

// text decodes a returned string, or the bytes32 of an old token. Anything else is empty.
func text(out []byte) string {
	if len(out) == 32 {
		return valid(bytes.TrimRight(out, "\x00"))
	}
	if len(out) < 64 {
		return ""
	}
	offset, ok := small(out[:32], len(out)-32)
	if !ok {
		return ""
	}
	rest := out[offset:]
	length, ok := small(rest[:32], len(rest)-32)
	if !ok {
		return ""
	}
	return valid(rest[32:][:min(length, maxText)])
}

// small decodes a word that must be at most limit.
func small(word []byte, limit int) (int, bool) {
	n := number(word)
	if !n.IsInt64() || n.Int64() > int64(limit) {
		return 0, false
	}
	return int(n.Int64()), true
}

func valid(b []byte) string {
	if utf8.Valid(b) {
		return string(b)
	}
	return strings.ToValidUTF8(string(b), "")
}
