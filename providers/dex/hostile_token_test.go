package dex_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"testing"
	"time"

	"swapkeep/chain"
	"swapkeep/providers/dex"
	"swapkeep/providers/providertest"
	"swapkeep/sandbox/dexsim"
	"swapkeep/sandbox/operator"
	"swapkeep/sandbox/sandboxtest"
	"swapkeep/swap"

	"github.com/ethereum/go-ethereum"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/ethclient"
)

// A scam is a token that, within its own transfer, has an open signed order of the account
// filled from its own holdings. The tests check on the published contracts what the account
// then gets for a swap through the token, and whether the order was filled.
type scam struct {
	*trader
	order swap.Order // signed, and open
	fill  []byte     // the reactor's call that fills it
	poor  common.Address
	rich  common.Address // its pools pay enough, those of poor too little
	hook  common.Address // of the V4 pools that are made with the tokens
	armed common.Address // the contract that makes the hostile call; zero means the token
}

// in returns a copy for a subtest.
func (x *scam) in(t *testing.T) *scam {
	y, z := *x.trader, *x
	y.t, z.trader = t, &y
	return &z
}

// TestHostileToken: for every form of program, a token that takes part in it makes hostile
// calls at a moment of its choice. Either the program is refused, or each minimum is paid
// separately, or the swap fails.
func TestHostileToken(t *testing.T) {
	t.Parallel()
	x := newScam(t)
	for _, form := range dex.Forms {
		t.Run(form.Name, func(t *testing.T) { x.in(t).attacked(form) })
	}
	t.Run("what was taken before", func(t *testing.T) { x.in(t).takes(dex.Forms[0]) })
	accepted := slices.DeleteFunc(slices.Clone(dex.Forms), func(f dex.Form) bool { return f.Refused != "" })
	providertest.Report(t, fmt.Sprintf("hostile: dex: a hostile token in %d forms of program: %d refused, %d held", len(dex.Forms), len(dex.Forms)-len(accepted), len(accepted)))
}

// attacked runs a form with each hostile call at each moment, over pools that pay enough
// and over pools that do not.
func (x *scam) attacked(form dex.Form) {
	t := x.t
	t.Helper()
	if data := form.Program(t, x.terms(form, x.rich), x.rich); form.Refused == "" {
		if _, err := dex.Checked(x.terms(form, x.rich), data); err != nil {
			t.Errorf("refused: %v", err)
		}
	} else if _, err := dex.Checked(x.terms(form, x.rich), data); !errors.Is(err, &swap.Refusal{Code: form.Refused}) {
		t.Errorf("%v, want it refused as %s", err, form.Refused)
	}
	both := 0
	fills := hook{x.reactor(), x.fill}
	for nth := 1; nth <= 4; nth++ {
		r := x.tries(form, x.rich, nth, fills)
		if r.filled {
			both++
		}
		x.holds(form, nth, r)
		if r = x.tries(form, x.poor, nth, fills); form.Refused == "" && !r.tooLittle {
			t.Errorf("at transfer %d, of pools that pay too little: %+v", nth, r)
		}
		x.holds(form, nth, r)
	}
	takes := hook{x.chain.Network.Contracts.UniversalRouter, dex.SweepTo(t, x.rich, x.order.Terms.TokenOut)}
	if _, err := x.node.CallContract(t.Context(), ethereum.CallMsg{To: &takes.to, Data: takes.data}, nil); err != nil {
		t.Errorf("nobody could take what lies in the router: %v", err)
	}
	if r := x.tries(form, x.rich, 1, takes); r.done || r.tooLittle {
		t.Errorf("the router is entered again: %+v", r)
	}
	if both == 0 {
		t.Error("the order was never filled: nothing was shown")
	}
}

// terms returns terms of a swap for at least what the order is for.
func (x *scam) terms(form dex.Form, token common.Address) swap.Terms {
	t := x.order.Terms
	t.Deadline = t.Deadline.UTC().Truncate(time.Second)
	if form.First {
		t.TokenIn, t.AmountIn = token, sandboxtest.Units(90_000, 18)
	}
	if form.Native {
		t.TokenOut = native
	}
	return t
}

// A hook is the call that the token makes.
type hook struct {
	to   common.Address
	data []byte
}

// A run is the outcome of a swap with a hostile token in it.
type run struct {
	done      bool
	tooLittle bool     // it failed because too little would have arrived
	filled    bool     // the order was filled
	got       *big.Int // of the output in either form, by the account
	why       string
}

// holds requires everything that was taken to be paid for.
func (x *scam) holds(form dex.Form, nth int, r run) {
	x.t.Helper()
	minimum := new(big.Int)
	if r.done {
		minimum.Add(minimum, x.order.Terms.MinOut)
	}
	if r.filled {
		minimum.Add(minimum, x.order.Terms.MinOut)
	}
	if form.Refused == "" && r.got.Cmp(minimum) < 0 {
		x.t.Errorf("at transfer %d: %s arrived, for minimums of %s: %+v", nth, r.got, minimum, r)
	}
}

// errTooLittle are selectors of the router's errors: V2TooLittleReceived,
// V3TooLittleReceived, V4TooLittleReceived, InsufficientToken, InsufficientETH.
var errTooLittle = []string{"849eaf98", "39d35496", "8b063d73", "675cae38", "6a12f104"}

// tries simulates a form, with a hook in the nth transfer of the token, on the present
// state of the chain, which it leaves unchanged.
func (x *scam) tries(form dex.Form, token common.Address, nth int, h hook) run {
	x.t.Helper()
	terms := x.terms(form, token)
	call := func(to common.Address, data []byte) map[string]any {
		return map[string]any{"from": x.who.Address, "to": to, "input": hexutil.Bytes(data)}
	}
	look := []map[string]any{
		call(x.chain.Network.Contracts.Multicall3, sandboxtest.Calldata(x.t, "getEthBalance(address)", x.who.Address)),
		call(x.chain.Network.Wrapped.Address, sandboxtest.Calldata(x.t, "balanceOf(address)", x.who.Address)),
	}
	at := token
	if x.armed != native {
		at = x.armed
	}
	calls := append(look, call(at, sandboxtest.Calldata(x.t, "arm(uint256,address,bytes)", big.NewInt(int64(nth)), h.to, h.data)),
		call(x.chain.Network.Contracts.UniversalRouter, form.Program(x.t, terms, token)))
	calls = append(append(calls, look...), call(permit2, sandboxtest.Calldata(x.t, "nonceBitmap(address,uint256)", x.who.Address, new(big.Int).Rsh(x.nonce(), 8))))
	var blocks []struct {
		Calls []struct {
			Status     hexutil.Uint64
			ReturnData hexutil.Bytes
			Error      struct{ Message, Data string }
		}
	}
	block := map[string]any{"calls": calls}
	if err := x.node.Client().CallContext(x.t.Context(), &blocks, "eth_simulateV1", map[string]any{"blockStateCalls": []any{block}}, "latest"); err != nil {
		x.t.Fatal(err)
	}
	c := blocks[0].Calls
	word := func(i int) *big.Int { return new(big.Int).SetBytes(c[i].ReturnData) }
	r := run{done: c[3].Status == 1, got: new(big.Int), why: c[3].Error.Message + " " + c[3].Error.Data}
	r.got.Sub(r.got.Add(word(4), word(5)), new(big.Int).Add(word(0), word(1)))
	r.filled = word(6).Bit(int(new(big.Int).And(x.nonce(), big.NewInt(255)).Int64())) == 1
	for _, e := range errTooLittle {
		r.tooLittle = r.tooLittle || !r.done && strings.Contains(r.why, e)
	}
	return r
}

// takes sends the program whose minimum is a difference of the account's balance, and shows
// that one payment satisfies both minimums.
func (x *scam) takes(form dex.Form) {
	x.t.Helper()
	usdc, wrapped := x.order.Terms.TokenIn, x.chain.Network.Wrapped.Address
	paid, got := x.balance(usdc, x.who.Address), x.balance(wrapped, x.who.Address)
	x.send(chain.Call{To: x.poor, Data: sandboxtest.Calldata(x.t, "arm(uint256,address,bytes)", big.NewInt(1), x.reactor(), x.fill), Gas: 2_000_000})
	x.send(chain.Call{To: x.chain.Network.Contracts.UniversalRouter, Data: form.Program(x.t, x.terms(form, x.poor), x.poor), Gas: 2_000_000})
	paid.Sub(paid, x.balance(usdc, x.who.Address))
	got.Sub(x.balance(wrapped, x.who.Address), got)
	minimum := x.order.Terms.MinOut
	x.t.Logf("%s USDC left, %s WETH arrived, for two minimums of %s", paid, got, minimum)
	if paid.Cmp(sandboxtest.Units(2000, 6)) != 0 || !x.used(*x.proof().Nonce) || got.Cmp(minimum) < 0 || got.Cmp(new(big.Int).Add(minimum, minimum)) >= 0 {
		x.t.Errorf("%s left, %s arrived", paid, got)
	}
}

func (x *scam) proof() swap.Proof {
	p, err := x.p.Proof(x.order)
	if err != nil {
		x.t.Fatal(err)
	}
	return p
}

func (x *scam) reactor() common.Address { return x.proof().Fill[0].Address }
func (x *scam) nonce() *big.Int         { return x.proof().Nonce.Nonce }

// newScam makes the tokens, their pools, and a signed order that is open.
func newScam(t *testing.T) *scam {
	s := sandboxtest.Start(t, 1)
	if err := s.DEX().Set(dexsim.Settings{Auctions: dexsim.AuctionsAlways, Outcome: dexsim.Outcome{Fill: "never"}}); err != nil {
		t.Fatal(err)
	}
	p, err := dex.New(dex.Config{Base: s.DEXURL(), Sandbox: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	c := s.Chains()[0]
	node, err := ethclient.DialContext(t.Context(), c.RPC())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(node.Close)
	x := &scam{trader: &trader{t: t, p: p, node: node, chain: c, who: s.Accounts()[4]}}
	usdc, wrapped := sandboxtest.Token(t, c, "USDC"), c.Network.Wrapped.Address
	maker := *x.trader
	maker.who = s.Accounts()[5]
	m := &scam{trader: &maker}
	x.order = x.auction(usdc, wrapped, "1000000000", 0)
	var falls time.Time
	x.fill, falls = x.filling(s.DEXURL())
	x.hook = m.makesHook()
	m.hook = x.hook
	x.poor, x.rich = m.makes(1), m.makes(10_000)
	for _, token := range []common.Address{x.poor, x.rich} {
		m.gives(wrapped, token, sandboxtest.Units(5, 18))
		m.send(chain.Call{To: token, Data: sandboxtest.Calldata(t, "lend(address,address)", wrapped, x.reactor()), Gas: 200_000})
		m.gives(token, x.who.Address, sandboxtest.Units(1_000_000, 18))
		x.mayTake(token, permit2, sandboxtest.Units(1_000_000, 18))
		x.permitted(token, sandboxtest.Units(1_000_000, 18).String())
	}
	m.gives(wrapped, x.hook, big.NewInt(5e17))
	m.send(chain.Call{To: x.hook, Data: sandboxtest.Calldata(t, "lend(address,address)", wrapped, x.reactor()), Gas: 200_000})
	x.mayTake(usdc, permit2, sandboxtest.Units(2000, 6))
	x.permitted(usdc, "1000000000")
	head, err := node.HeaderByNumber(t.Context(), nil)
	if left := falls.Sub(time.Unix(int64(head.Time), 0)); err == nil && left > 0 { // by then the price has fallen to the minimum
		err = c.Shift(left)
	}
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// filling returns the reactor call that fills the order, as the order service lists it, and
// when the price has fallen to its end.
func (x *scam) filling(service string) ([]byte, time.Time) {
	type listed struct {
		Orders []struct {
			EncodedOrder, Signature hexutil.Bytes
			CosignerData            struct{ DecayEndTime int64 }
		}
	}
	url := fmt.Sprintf("%s/orders?orderId=%s", service, x.proof().Fill[0].Topics[1])
	o := sandboxtest.MustAsk[listed](x.t, "GET", url, nil).Orders[0]
	data, err := sandboxtest.Contract(x.t, "V2DutchOrderReactor").ABI.Pack("execute", struct{ Order, Sig []byte }{o.EncodedOrder, o.Signature})
	if err != nil {
		x.t.Fatal(err)
	}
	return data, time.Unix(o.CosignerData.DecayEndTime, 0)
}

// makes deploys a hostile token with pools of every version. On the far side they hold
// milli thousandths of a WETH.
func (x *scam) makes(milli int64) common.Address {
	x.t.Helper()
	token := sandboxtest.Deploy(x.t, x.chain, x.who, "HostileToken")
	usdc, wrapped := sandboxtest.Token(x.t, x.chain, "USDC"), x.chain.Network.Wrapped.Address
	ether := new(big.Int).Mul(big.NewInt(milli), big.NewInt(1e15))
	many := sandboxtest.Units(1_000_000, 18)
	x.pools(usdc, sandboxtest.Units(10_000, 6), token, many)
	x.pools(token, many, wrapped, ether)
	eighth := func(n *big.Int) *big.Int { return new(big.Int).Rsh(n, 3) }
	x.v4Pools(usdc, eighth(sandboxtest.Units(10_000, 6)), token, eighth(many))
	x.v4Pools(token, eighth(many), wrapped, eighth(ether))
	return token
}

// pools makes a V2 pair and a V3 pool of two tokens, each with those amounts.
func (x *scam) pools(a common.Address, ofA *big.Int, b common.Address, ofB *big.Int) {
	x.t.Helper()
	if bytes.Compare(a[:], b[:]) > 0 {
		a, ofA, b, ofB = b, ofB, a, ofA
	}
	n, until := x.chain.Network.Contracts, big.NewInt(time.Now().Add(24*time.Hour).Unix())
	for _, who := range []common.Address{n.V2Router, n.PositionManager} {
		x.mayTake(a, who, ofA)
		x.mayTake(b, who, ofB)
	}
	x.send(chain.Call{To: n.V2Router, Gas: 6_000_000, Data: sandboxtest.Calldata(x.t, "addLiquidity(address,address,uint256,uint256,uint256,uint256,address,uint256)",
		a, b, ofA, ofB, common.Big0, common.Big0, x.who.Address, until)})
	price := new(big.Int).Lsh(ofB, 192)
	price.Sqrt(price.Div(price, ofA))
	manager, fee, tick := sandboxtest.Contract(x.t, "PositionManager"), big.NewInt(500), big.NewInt(887270)
	for _, c := range []struct {
		method string
		args   []any
	}{
		{"createAndInitializePoolIfNecessary", []any{a, b, fee, price}},
		{"mint", []any{mintParams{a, b, fee, new(big.Int).Neg(tick), tick, ofA, ofB, common.Big0, common.Big0, x.who.Address, until}}},
	} {
		data, err := manager.ABI.Pack(c.method, c.args...)
		if err != nil {
			x.t.Fatal(err)
		}
		x.send(chain.Call{To: n.PositionManager, Data: data, Gas: 10_000_000})
	}
}

// mintParams are the parameters of the position manager's mint.
type mintParams struct {
	Token0, Token1                 common.Address
	Fee, TickLower, TickUpper      *big.Int
	Amount0Desired, Amount1Desired *big.Int
	Amount0Min, Amount1Min         *big.Int
	Recipient                      common.Address
	Deadline                       *big.Int
}

func (x *scam) mayTake(token, spender common.Address, n *big.Int) {
	x.t.Helper()
	x.send(chain.Call{To: token, Data: sandboxtest.Calldata(x.t, "approve(address,uint256)", spender, n), Gas: 100_000})
}

func (x *scam) gives(token, to common.Address, n *big.Int) {
	x.t.Helper()
	sandboxtest.MustTransact(x.t, x.chain, x.who, operator.Call{To: token, Data: sandboxtest.Calldata(x.t, "transfer(address,uint256)", to, n), Gas: 100_000})
}
