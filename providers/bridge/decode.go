package bridge

import (
	"bytes"
	"math/big"

	"swapkeep/chain"
	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common"
)

// Decode returns what a step would do, from its bytes alone. It refuses whatever it does
// not fully understand, except calls of routers: their format is not published, so they are
// opaque and go to built-in contracts only, unless an isolated account makes them. It does no
// I/O and may be repeated.
func (p *Provider) Decode(t swap.Terms, s swap.Step) (swap.Effect, error) {
	if s.Kind != swap.CallStep || s.Call == nil || s.TypedData != nil {
		return swap.Effect{}, refuse(swap.Undecodable, "kind", "has no step of kind %q", s.Kind)
	}
	return decodeCall(t, *s.Call)
}

func decodeCall(t swap.Terms, c chain.Call) (swap.Effect, error) {
	d, err := checkTerms(t)
	if err != nil {
		return swap.Effect{}, err
	}
	if err := d.envelope(t, c); err != nil {
		return swap.Effect{}, err
	}
	if d.wraps(t.SrcChain, t.DstChain, t.TokenIn, t.TokenOut) {
		return d.decodeWrap(t, c)
	}
	switch d.roleOf(c.To, t) {
	case roleDepository:
		return d.decodeDeposit(t, c)
	case roleRouter, roleUnpinned:
		return opaque(t, c)
	}
	return swap.Effect{}, refuse(swap.NotPinned, "to", "wants %s called, which is not one of its built-in contracts for this on chain %d; choose another route", c.To, t.SrcChain)
}

// envelope checks the transaction around the calldata: exactly the native input is sent
// along, and nothing else.
func (d deployment) envelope(t swap.Terms, c chain.Call) error {
	along := new(big.Int)
	if t.TokenIn == nativeCoin {
		along = t.AmountIn
	}
	switch {
	case c.From != t.From():
		return refuse(swap.NotAsAccepted, "from", "wants a transaction from %s, not from %s", c.From, t.From())
	case c.ChainID != t.SrcChain:
		return refuse(swap.NotAsAccepted, "chainId", "wants a transaction on chain %d, not on %d", c.ChainID, t.SrcChain)
	case c.Value == nil || c.Value.Cmp(along) != 0:
		return refuse(swap.NotAsAccepted, "value", "does not want exactly the amount of the coin sent along").WithAmounts(swap.OfCoin, c.Value, along)
	case len(c.Data) > maxCalldata:
		return refuse(swap.Undecodable, "data", "has more than %d bytes of calldata", maxCalldata)
	}
	return nil
}

// Functions of the depository (relayprotocol/relay-depository).
var (
	depositNative = [selectorLen]byte{0x49, 0x29, 0x0c, 0x1c} // depositNative(address,bytes32)
	depositToken  = [selectorLen]byte{0xe8, 0x01, 0x79, 0x52} // depositErc20(address,address,uint256,bytes32)
	depositAll    = [selectorLen]byte{0x5a, 0x1e, 0xe3, 0xac} // depositErc20(address,address,bytes32), the whole allowance
)

const (
	selectorLen = 4
	wordLen     = 32
)

// Who is trusted with what follows a call.
const (
	trustedSolver = "relay_solver"
	trustedRouter = "relay_router"
)

// decodeDeposit reads a call of the depository to the last byte.
func (d deployment) decodeDeposit(t swap.Terms, c chain.Call) (swap.Effect, error) {
	switch {
	case t.SrcChain == t.DstChain:
		return swap.Effect{}, refuse(swap.Undecodable, "to", "wants a deposit made for a swap on one chain")
	case t.IsIsolated():
		return swap.Effect{}, refuse(swap.NotAsAccepted, "to", "wants a deposit that needs no isolated account; get a new quote")
	}
	words, err := argumentsOf(t, c.Data)
	if err != nil {
		return swap.Effect{}, err
	}
	want := [][]byte{common.LeftPadBytes(t.Account[:], wordLen)}
	if t.TokenIn != nativeCoin {
		want = append(want, common.LeftPadBytes(t.TokenIn[:], wordLen), common.BigToHash(t.AmountIn).Bytes())
	}
	for i, field := range []string{"depositor", "token", "amount"}[:len(want)] {
		if !bytes.Equal(words[i], want[i]) {
			return swap.Effect{}, refuse(swap.NotAsAccepted, field, "wants a deposit with another %s than was accepted", field)
		}
	}
	id := common.Hash(words[len(want)])
	if !isOrderID(id) {
		return swap.Effect{}, refuse(swap.Undecodable, "orderId", "wants a deposit that names no order")
	}
	return swap.Effect{
		Kind: swap.Deposit, Chain: t.SrcChain, Target: c.To, Spends: spends(t), TrustedTo: trustedSolver, DepositID: id,
	}, nil
}

// isOrderID reports whether a word may be the hash that names an order. An amount, an address or
// padding at the end of a stranger's transfer must not name one.
func isOrderID(id common.Hash) bool {
	var zeros [4]byte
	return [4]byte(id[:4]) != zeros && [4]byte(id[wordLen-4:]) != zeros
}

// argumentsOf returns the words of a deposit by the function for this kind of input.
func argumentsOf(t swap.Terms, data []byte) ([][]byte, error) {
	function, count := depositNative, 2
	if t.TokenIn != nativeCoin {
		function, count = depositToken, 4
	}
	switch {
	case len(data) >= selectorLen && [selectorLen]byte(data) == depositAll:
		return nil, refuse(swap.NotAsAccepted, "data", "wants a deposit of all that the depository may take, whatever that is")
	case len(data) != selectorLen+count*wordLen || [selectorLen]byte(data) != function:
		return nil, refuse(swap.Undecodable, "data", "wants a call of the depository that is no deposit of the input")
	}
	words := make([][]byte, count)
	for i := range words {
		words[i] = data[selectorLen+i*wordLen:][:wordLen]
	}
	return words, nil
}

// opaque returns the effect of a router call.
func opaque(t swap.Terms, c chain.Call) (swap.Effect, error) {
	if len(c.Data) < selectorLen {
		return swap.Effect{}, refuse(swap.Undecodable, "data", "wants a router called without saying what for")
	}
	trusted := trustedSolver
	if t.SrcChain == t.DstChain {
		trusted = trustedRouter
	}
	return swap.Effect{Kind: swap.Opaque, Chain: t.SrcChain, Target: c.To, Spends: spends(t), TrustedTo: trusted}, nil
}

func spends(t swap.Terms) []swap.Spend {
	return []swap.Spend{{Token: t.TokenIn, Amount: new(big.Int).Set(t.AmountIn)}}
}
