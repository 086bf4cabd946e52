package dex

import (
	"bytes"
	"math/big"

	"swapkeep/chain"
	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common"
)

// A selector is the first four bytes of calldata.
type selector [4]byte

// The functions that are understood.
var (
	depositFn  = selector{0xd0, 0xe3, 0x0d, 0xb0} // WETH9 deposit()
	withdrawFn = selector{0x2e, 0x1a, 0x7d, 0x4d} // WETH9 withdraw(uint256)
	executeFn  = selector{0x35, 0x93, 0x56, 0x4c} // UniversalRouter execute(bytes,bytes[],uint256)
)

// A reader returns what one function of one contract does, under terms that were checked.
type reader func(t swap.Terms, pr tokenPair, c chain.Call, args []byte) (swap.Effect, error)

// callReaders lists everything that a call step may do. Approvals are not in it: package
// swap makes and reads its own. Nor is the router's execute without a deadline: such a
// transaction would stay valid forever.
var callReaders = []struct {
	is   func(pr tokenPair) common.Address // returns the contract that has the function
	fn   selector
	read reader
}{
	{func(pr tokenPair) common.Address { return pr.wrapped }, depositFn, readDeposit},
	{func(pr tokenPair) common.Address { return pr.wrapped }, withdrawFn, readWithdraw},
	{func(pr tokenPair) common.Address { return pr.router }, executeFn, readExecute},
}

// Decode returns what a step would do, from its bytes alone; a deferred step must have its call
// by now. It refuses whatever it does not fully understand, and whatever no honest plan for
// the terms contains. It does no I/O and may be repeated.
func (p *Provider) Decode(t swap.Terms, s swap.Step) (swap.Effect, error) {
	pr, err := checkTerms(t)
	if err != nil {
		return swap.Effect{}, err
	}
	switch {
	case s.Kind == swap.TypedStep && s.TypedData != nil && s.Call == nil && s.TypedData.PrimaryType == witnessPermit:
		return p.readOrder(t, pr, *s.TypedData)
	case s.Kind == swap.TypedStep && s.TypedData != nil && s.Call == nil:
		return readPermit(t, pr, *s.TypedData)
	case s.Kind != swap.CallStep && s.Kind != swap.DeferredStep || s.Call == nil || s.TypedData != nil:
		return swap.Effect{}, refuse(swap.Undecodable, "kind", "the dex provider has no step of kind %q", s.Kind)
	}
	c := *s.Call
	switch {
	case c.From != t.Account:
		return swap.Effect{}, refuse(swap.NotAsAccepted, "from", "the transaction is from %s, not from the account", c.From)
	case c.ChainID != t.SrcChain:
		return swap.Effect{}, refuse(swap.NotAsAccepted, "chainId", "the transaction is for chain %d, not for %d", c.ChainID, t.SrcChain)
	case c.Value == nil || c.Value.Sign() < 0:
		return swap.Effect{}, refuse(swap.Undecodable, "value", "the transaction has no sound value")
	case len(c.Data) < len(selector{}) || len(c.Data) > maxCalldata:
		return swap.Effect{}, refuse(swap.Undecodable, "data", "calldata of %d bytes", len(c.Data))
	}
	fn := selector(c.Data[:4])
	args, _, err := splitTag(c.Data[4:])
	if err != nil {
		return swap.Effect{}, err
	}
	known := false
	for _, r := range callReaders {
		to := r.is(pr)
		if c.To != to || to == (common.Address{}) {
			continue
		}
		known = true
		if r.fn == fn {
			return r.read(t, pr, c, args)
		}
	}
	if !known {
		return swap.Effect{}, refuse(swap.NotPinned, "to", "the transaction calls %s, which is not a built-in contract on chain %d", c.To, t.SrcChain)
	}
	return swap.Effect{}, refuse(swap.Undecodable, "data", "function %x of %s is not one that a swap needs", fn, c.To)
}

// checkTerms refuses terms that would make decoding ambiguous.
func checkTerms(t swap.Terms) (tokenPair, error) {
	pr, err := pairOf(t.SrcChain, t.TokenIn, t.TokenOut)
	zero := common.Address{}
	switch {
	case err != nil:
		return pr, err
	case t.Provider != swap.DEX || t.SrcChain != t.DstChain:
		return pr, refuse(swap.UnsupportedRoute, "dstChainId", "the dex provider swaps on one chain only")
	case t.AmountIn == nil || t.AmountIn.Sign() <= 0 || t.AmountIn.Cmp(contractBalance) >= 0:
		return pr, refuse(swap.AmountZero, "amountIn", "the amount must be above zero and below 2^255")
	case !pr.holds(t.AmountIn):
		return pr, refuse(swap.BadRequest, "amountIn", "Permit2 cannot allow exactly this amount")
	case t.TokenIn == t.TokenOut:
		return pr, refuse(swap.SameToken, "tokenOut", "token in and token out are the same")
	case t.Wrap != zero:
		return pr, refuse(swap.BadRequest, "wrap", "the dex provider takes the native coin as it is")
	case !pr.isToken(t.TokenIn) || !pr.isToken(t.TokenOut):
		return pr, refuse(swap.BadRequest, "tokenIn", "a contract of the swap itself is no token")
	case t.Account == zero || t.Recipient == zero || reserved(t.Account, pr.deployment) || reserved(t.Recipient, pr.deployment):
		return pr, refuse(swap.BadRequest, "recipient", "account and recipient must be accounts, not contracts of the swap")
	case t.FeeBps > 0 && (t.FeeReceiver == zero || t.FeeReceiver == t.Recipient || t.FeeReceiver == t.Account || reserved(t.FeeReceiver, pr.deployment)):
		return pr, refuse(swap.BadRequest, "feeReceiver", "the fee receiver is a party to the swap")
	}
	return pr, nil
}

// readDeposit reads a wrap: the caller's value becomes its wrapped coin.
func readDeposit(t swap.Terms, pr tokenPair, c chain.Call, args []byte) (swap.Effect, error) {
	switch {
	case !pr.wrap:
		return swap.Effect{}, refuse(swap.NotAsAccepted, "data", "the transaction wraps the native coin, which is not the accepted swap")
	case len(args) != 0:
		return swap.Effect{}, refuse(swap.Undecodable, "data", "%d bytes follow a deposit", len(args))
	case c.Value.Cmp(t.AmountIn) != 0:
		return swap.Effect{}, refuse(swap.NotAsAccepted, "value", "the transaction does not wrap exactly the amount").WithAmounts(swap.OfCoin, c.Value, t.AmountIn)
	}
	return oneToOneEffect(swap.Wrap, t, pr), nil
}

// readWithdraw reads an unwrap: the caller's wrapped coin becomes its native coin.
func readWithdraw(t swap.Terms, pr tokenPair, c chain.Call, args []byte) (swap.Effect, error) {
	var n *big.Int
	switch vals, err := unpackStrict(words("uint256"), args); {
	case !pr.unwrap:
		return swap.Effect{}, refuse(swap.NotAsAccepted, "data", "the transaction unwraps the native coin, which is not the accepted swap")
	case err != nil:
		return swap.Effect{}, err
	case c.Value.Sign() != 0:
		return swap.Effect{}, refuse(swap.NotAsAccepted, "value", "the transaction would also send the coin").WithAmounts(swap.OfCoin, c.Value, nil)
	default:
		n = vals[0].(*big.Int)
	}
	if n.Cmp(t.AmountIn) != 0 {
		return swap.Effect{}, refuse(swap.NotAsAccepted, "amountIn", "the transaction does not unwrap exactly the amount").WithAmounts(swap.OfInput, n, t.AmountIn)
	}
	return oneToOneEffect(swap.Unwrap, t, pr), nil
}

// oneToOneEffect names the account as the receiver, whatever the terms say: the wrapped
// coin pays its caller only.
func oneToOneEffect(k swap.EffectKind, t swap.Terms, pr tokenPair) swap.Effect {
	return swap.Effect{
		Kind: k, Chain: t.SrcChain, Target: pr.wrapped,
		Spends:   []swap.Spend{{Token: t.TokenIn, Amount: new(big.Int).Set(t.AmountIn)}},
		Receives: []swap.Receive{{Token: t.TokenOut, To: t.Account, Min: new(big.Int).Set(t.AmountIn)}},
	}
}

// words returns the ABI arguments of a flat list of types.
func words(types ...string) abi.Arguments {
	var out abi.Arguments
	for _, name := range types {
		typ, err := abi.NewType(name, "", nil)
		if err != nil {
			panic(err) // only constants are passed
		}
		out = append(out, abi.Argument{Type: typ})
	}
	return out
}

// unpackStrict decodes arguments and encodes them again. Bytes that do not come out the same
// contain something that was not read (trailing bytes, dirty padding, offsets that overlap)
// and are refused.
func unpackStrict(form abi.Arguments, data []byte) ([]any, error) {
	vals, err := form.Unpack(data)
	if err != nil {
		return nil, &swap.Refusal{Code: swap.Undecodable, Field: "data", Reason: "the calldata is not of the known form", Err: err}
	}
	again, err := form.Pack(vals...)
	if err != nil || !bytes.Equal(again, data) {
		return nil, refuse(swap.Undecodable, "data", "the calldata is not in its one canonical encoding")
	}
	return vals, nil
}
