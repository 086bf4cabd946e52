package plan

import (
	"context"
	"errors"
	"math/big"
	"slices"
	"testing"
	"time"

	"swapkeep/chain"
	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common"
)

var (
	throwaway = common.HexToAddress("0x3333333333333333333333333333333333333333")
	called    = common.HexToAddress("0x1111111111111111111111111111111111111111") // not built in anywhere
)

// isolatedTerms are those of an opaque call of a token, or of the coin.
func isolatedTerms(in common.Address) swap.Terms {
	t, _ := erc20()
	t.Provider, t.Isolated, t.TokenIn, t.DstChain = swap.Intent, throwaway, in, 10
	return t
}

// opaqueStep is the step of an isolated account that spends the input.
func opaqueStep(t swap.Terms) swap.Step {
	c := chain.Call{ChainID: 1, From: t.From(), To: called, Value: new(big.Int), Data: []byte{1, 2, 3, 4}}
	if t.TokenIn == native {
		c.Value = t.AmountIn
	}
	return swap.Step{Kind: swap.CallStep, Call: &c, Effect: swap.Effect{Kind: swap.Opaque, Chain: 1, Target: called, TrustedTo: "X", Spends: []swap.Spend{{Token: t.TokenIn, Amount: t.AmountIn}}}}
}

// An opaqueProvider takes every call for an opaque one, and isolates as told.
type opaqueProvider struct {
	swap.Provider
	isolates bool
	decoded  *int
}

func (p opaqueProvider) IsolatesOn(uint64) bool { return p.isolates }

func (p opaqueProvider) Decode(t swap.Terms, _ swap.Step) (swap.Effect, error) {
	*p.decoded++
	return opaqueStep(t).Effect, nil
}

// TestDecodeIsolated checks that the account's own calls in a plan with an isolated account
// are read by our own decoder alone, which knows transfers to that account and nothing
// else, and that the provider's come from the isolated account.
func TestDecodeIsolated(t *testing.T) {
	for _, in := range []common.Address{usdc, native} {
		terms, decoded := isolatedTerms(in), 0
		p := opaqueProvider{decoded: &decoded}
		steps := append(swap.FundSteps(terms, big.NewInt(1e14)), approveStep(terms, called, terms.AmountIn, new(big.Int)), opaqueStep(terms))
		if in == native {
			steps = slices.Delete(steps, 1, 2)
		}
		for i, s := range steps {
			f, err := DecodeStep(p, terms, s)
			if err != nil || swap.Digest(terms, []swap.Effect{f}) != swap.Digest(terms, []swap.Effect{s.Effect}) {
				t.Errorf("step %d: %+v, %v", i+1, f, err)
			}
		}
		if decoded != 1 {
			t.Errorf("the provider read %d steps", decoded)
		}
	}
	token := func(t swap.Terms) chain.Call { return swap.TransferCall(1, usdc, account, throwaway, t.AmountIn) }
	own := func(t swap.Terms) chain.Call { c := *opaqueStep(t).Call; c.From = account; return c }
	for name, c := range map[string]struct {
		code   swap.Code
		call   func(swap.Terms) chain.Call
		change func(*chain.Call)
	}{
		"the provider's call":              {swap.Undecodable, own, func(*chain.Call) {}},
		"an approval":                      {swap.Undecodable, func(t swap.Terms) chain.Call { return approveCall(t, called, t.AmountIn) }, func(c *chain.Call) { c.From = account }},
		"a transfer to another":            {swap.NotAsAccepted, token, func(c *chain.Call) { c.Data[35]++ }},
		"of another token":                 {swap.Undecodable, token, func(c *chain.Call) { c.To = weth }},
		"in another encoding":              {swap.Undecodable, token, func(c *chain.Call) { c.Data = append(c.Data, 0) }},
		"on another chain":                 {swap.NotAsAccepted, token, func(c *chain.Call) { c.ChainID = 10 }},
		"from another":                     {swap.NotAsAccepted, token, func(c *chain.Call) { c.From = thief }},
		"the provider's call from another": {swap.NotAsAccepted, own, func(c *chain.Call) { c.From = thief }},
		"with the coin":                    {swap.NotAsAccepted, own, func(c *chain.Call) { c.From, c.Value = throwaway, big.NewInt(1) }},
		"to nobody":                        {swap.NotAsAccepted, own, func(c *chain.Call) { c.From, c.To = throwaway, native }},
		"without data":                     {swap.Undecodable, own, func(c *chain.Call) { c.From, c.Data = throwaway, nil }},
	} {
		t.Run(name, func(t *testing.T) {
			terms, decoded := isolatedTerms(usdc), 0
			call := c.call(terms)
			c.change(&call)
			_, err := DecodeStep(opaqueProvider{decoded: &decoded}, terms, swap.Step{Kind: swap.CallStep, Call: &call})
			refusedWith(t, err, c.code)
		})
	}
	plain, decoded := isolatedTerms(usdc), 0
	plain.Isolated = common.Address{}
	call := *opaqueStep(isolatedTerms(usdc)).Call
	_, err := DecodeStep(opaqueProvider{decoded: &decoded}, plain, swap.Step{Kind: swap.CallStep, Call: &call})
	refusedWith(t, err, swap.NotAsAccepted) // from an account that the terms do not have
}

// pricedNodes charge ten wei for a unit of gas at most, and half of that as things are. A call
// without gas is estimated at 50,000 units.
type pricedNodes struct {
	Nodes
	used map[common.Address]uint64 // by account, the transactions that it sent
	err  error
}

const estimated = 50_000

func (n pricedNodes) Cost(_ context.Context, c chain.Call) (chain.Cost, error) {
	if c.Gas == 0 {
		c.Gas = estimated
	}
	gas := new(big.Int).SetUint64(c.Gas)
	return chain.Cost{Gas: c.Gas, Expected: new(big.Int).Mul(gas, big.NewInt(5)), Max: new(big.Int).Mul(gas, big.NewInt(10))}, n.err
}

func (n pricedNodes) Balance(context.Context, uint64, common.Address, common.Address) (*big.Int, error) {
	return big.NewInt(1), nil
}

func (n pricedNodes) Nonces(_ context.Context, _ uint64, a common.Address) (chain.Nonces, error) {
	return chain.Nonces{Highest: n.used[a]}, n.err
}

// TestFundSteps checks what is moved to the isolated account: the input, and half more gas
// than its steps and the way back may cost, within the ceiling; and only what was not moved
// before.
func TestFundSteps(t *testing.T) {
	pl := &Planner{Nodes: pricedNodes{}}
	for _, in := range []common.Address{usdc, native} {
		terms := isolatedTerms(in)
		steps, units := []swap.Step{opaqueStep(terms)}, int64(minDeferredGas+sweepGas)
		if in != native {
			steps, units = slices.Insert(steps, 0, approveStep(terms, called, terms.AmountIn, new(big.Int))), units+approveGas
		}
		for name, ceiling := range map[string]*big.Int{"enough": terms.GasCeiling, "too little": big.NewInt(1000)} {
			want := big.NewInt(units * 10 * 3 / 2)
			terms.GasCeiling = ceiling
			if name == "too little" {
				want = big.NewInt(1000)
			}
			got, err := pl.fundSteps(t.Context(), terms, swap.Offer{}, steps, nil)
			if err != nil {
				t.Fatal(err)
			}
			coins := new(big.Int).Set(got[0].Call.Value)
			if in == native {
				coins.Sub(coins, terms.AmountIn)
			} else if token, to, n, ok := swap.TransferOf(*got[len(got)-1].Call); len(got) != 2 || !ok || token != usdc || to != throwaway || n.Cmp(terms.AmountIn) != 0 {
				t.Errorf("%+v", got)
			}
			if coins.Cmp(want) != 0 || got[0].Call.To != throwaway || got[0].Call.From != account {
				t.Errorf("%s: gas of %s, want %s: %+v", name, coins, want, got)
			}
			for n := range got {
				rest, err := pl.fundSteps(t.Context(), terms, swap.Offer{}, steps, got[:n+1])
				if err != nil || len(rest) != len(got)-n-1 {
					t.Errorf("after %d transfers: %+v (%v)", n+1, rest, err)
				}
			}
		}
		terms.Isolated = common.Address{}
		if got, err := pl.fundSteps(t.Context(), terms, swap.Offer{}, steps, nil); err != nil || got != nil {
			t.Errorf("without an isolated account: %+v, %v", got, err)
		}
	}
	none := errors.New("no price of gas")
	_, err := (&Planner{Nodes: pricedNodes{err: none}}).fundSteps(t.Context(), isolatedTerms(usdc), swap.Offer{}, nil, nil)
	if !errors.Is(err, none) {
		t.Errorf("%v", err)
	}
}

// TestGasOfIsolated checks that what the account must have counts everything once: the
// input if it is the coin, what is moved for gas, and the fees of its own transfers. Once
// that is moved it must have nothing more, and what a plan costs is the same in each case.
func TestGasOfIsolated(t *testing.T) {
	nodes := pricedNodes{}
	for _, in := range []common.Address{usdc, native} {
		terms := isolatedTerms(in)
		own := []swap.Step{opaqueStep(terms)}
		isolated := int64(minDeferredGas * 10)
		if in != native {
			own, isolated = slices.Insert(own, 0, approveStep(terms, called, terms.AmountIn, new(big.Int))), isolated+approveGas*10
		}
		moved := big.NewInt(9e6)
		funds := swap.FundSteps(terms, moved)
		fees := int64(len(funds)) * estimated * 10
		gas, value, err := gasOf(t.Context(), nodes, terms, swap.Offer{}, swap.Plan{Steps: slices.Concat(funds, own)})
		if err != nil {
			t.Fatal(err)
		}
		want := new(big.Int).Add(moved, big.NewInt(fees))
		if in == native {
			want.Add(want, terms.AmountIn)
		}
		if need := new(big.Int).Add(gas.Max, value); need.Cmp(want) != 0 || gas.Max.Int64() != fees+isolated {
			t.Errorf("it must have %s, want %s; gas of %s, want %d", need, want, gas.Max, fees+isolated)
		}
		gas, value, err = gasOf(t.Context(), nodes, terms, swap.Offer{Gas: 1}, swap.Plan{Steps: own})
		if need := new(big.Int).Add(gas.Max, value); err != nil || need.Sign() != 0 {
			t.Errorf("once it is moved it must have %s (%v)", need, err)
		}
		r := swap.Review{Terms: terms}
		r.Gas, _, _ = gasOf(t.Context(), nodes, terms, swap.Offer{}, swap.Plan{Steps: slices.Concat(funds, own)})
		found := judgeIsolated(r, slices.Concat(funds, own))
		if extra := big.NewInt(fees/2 + estimated*5).String(); len(found) != 1 || found[0].Severity != swap.Note || found[0].Data["isolated"] != throwaway.Hex() || found[0].Data["extra"] != extra {
			t.Errorf("%+v, want %s more", found, extra)
		}
		r.Terms.Isolated = common.Address{}
		if found := judgeIsolated(r, own); found != nil {
			t.Errorf("%+v", found)
		}
	}
}

// numbered are isolated accounts whose last byte is their number, from the first that no
// order took.
type numbered struct {
	taken uint32
	err   error
}

func (a numbered) NextIsolated(_ context.Context, owner common.Address, from uint32) (uint32, common.Address, error) {
	n := max(from, a.taken)
	return n, numberedAt(n), a.err
}

func (numbered) TakeIsolated(context.Context, common.Address, uint32) error { return nil }

func numberedAt(n uint32) common.Address { return common.BytesToAddress([]byte{0x15, byte(n)}) }

// TestIsolate checks which isolated account a request gets: the first that no order took and
// that never sent anything, and none where the provider needs none.
func TestIsolate(t *testing.T) {
	errNodes, errKeys := errors.New("no node"), swap.Refuse(swap.SessionRequired, "locked")
	all := map[common.Address]uint64{}
	for n := range uint32(200) {
		all[numberedAt(n)] = 1
	}
	for name, c := range map[string]struct {
		provider swap.Provider
		accounts IsolatedAccounts
		nodes    pricedNodes
		number   uint32
		want     common.Address
		code     swap.Code
		err      error
	}{
		"the first":               {opaqueProvider{isolates: true}, numbered{}, pricedNodes{}, 0, numberedAt(0), "", nil},
		"that was not taken":      {opaqueProvider{isolates: true}, numbered{taken: 7}, pricedNodes{}, 7, numberedAt(7), "", nil},
		"nor used":                {opaqueProvider{isolates: true}, numbered{taken: 7}, pricedNodes{used: map[common.Address]uint64{numberedAt(7): 1, numberedAt(8): 9, numberedAt(10): 1}}, 9, numberedAt(9), "", nil},
		"all were used":           {opaqueProvider{isolates: true}, numbered{}, pricedNodes{used: all}, 0, common.Address{}, swap.UnsupportedRoute, nil},
		"the keys are locked":     {opaqueProvider{isolates: true}, numbered{err: errKeys}, pricedNodes{}, 0, common.Address{}, swap.SessionRequired, errKeys},
		"no node answers":         {opaqueProvider{isolates: true}, numbered{}, pricedNodes{err: errNodes}, 0, common.Address{}, "", errNodes},
		"not on this network":     {opaqueProvider{}, numbered{}, pricedNodes{}, 0, common.Address{}, "", nil},
		"a provider without any":  {routeProvider{}, numbered{}, pricedNodes{}, 0, common.Address{}, "", nil},
		"no isolated accounts":    {opaqueProvider{isolates: true}, nil, pricedNodes{}, 0, common.Address{}, "", nil},
		"nobody asks if unneeded": {opaqueProvider{}, numbered{err: errKeys}, pricedNodes{err: errNodes}, 0, common.Address{}, "", nil},
	} {
		t.Run(name, func(t *testing.T) {
			pl := &Planner{Nodes: c.nodes, Isolated: c.accounts}
			r, err := pl.isolate(t.Context(), c.provider, pairAsked)
			if c.code != "" {
				refusedWith(t, err, c.code)
			}
			if c.err != nil && !errors.Is(err, c.err) || (err == nil) != (c.code == "" && c.err == nil) {
				t.Errorf("error %v, want %v", err, c.err)
			}
			if r.Isolated != c.want || r.Number != c.number || r.Account != pairAsked.Account {
				t.Errorf("%s, number %d, want %s, %d", r.Isolated, r.Number, c.want, c.number)
			}
		})
	}
}

// TestIsolationGas checks that an offer is ranked with the transfers that its isolated
// account takes.
func TestIsolationGas(t *testing.T) {
	for name, c := range map[string]struct {
		r    swap.QuoteRequest
		want uint64
	}{
		"none":    {swap.QuoteRequest{TokenIn: usdc}, 0},
		"a token": {swap.QuoteRequest{TokenIn: usdc, Isolated: throwaway}, 107_000},
		"coin":    {swap.QuoteRequest{Isolated: throwaway}, 42_000},
	} {
		if got := isolationGas(c.r); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
}

// TestFundedWhere checks that the input must be with the account until it was moved, and
// with the isolated account after that.
func TestFundedWhere(t *testing.T) {
	terms := isolatedTerms(usdc)
	asked := common.Address{}
	pl := &Planner{Nodes: heldNodes{asked: &asked}, Orders: noOrders{}, Now: time.Now}
	funds := swap.FundSteps(terms, big.NewInt(1))
	if !(priorSteps{done: funds}).funded(usdc) || (priorSteps{done: funds[:1]}).funded(usdc) {
		t.Error("the input is taken for moved by the gas, or not by itself")
	}
	for moved, want := range map[bool]common.Address{false: account, true: throwaway} {
		if err := pl.CheckFunded(t.Context(), terms, false, moved); err != nil || asked != want {
			t.Errorf("moved is %t: asked for the balance of %s, %v", moved, asked, err)
		}
	}
}

// heldNodes hold enough, and record of whom the balance was asked.
type heldNodes struct {
	Nodes
	asked *common.Address
}

func (n heldNodes) Balance(_ context.Context, _ uint64, a, _ common.Address) (*big.Int, error) {
	*n.asked = a
	return big.NewInt(1e18), nil
}

// An isolatingProvider offers and builds what its opaque call needs.
type isolatingProvider struct{ opaqueProvider }

func (isolatingProvider) Kind() swap.Kind { return swap.Intent }

func (isolatingProvider) Pins() swap.Pins { return nil }

func (p isolatingProvider) Quote(_ context.Context, r swap.QuoteRequest) ([]swap.Offer, error) {
	return []swap.Offer{{Request: r, AmountOut: big.NewInt(1000), MinOut: big.NewInt(995)}}, nil
}

func (p isolatingProvider) Build(_ context.Context, _ swap.Offer, t swap.Terms) (swap.Built, error) {
	b := swap.Built{Steps: []swap.Step{opaqueStep(t)}, Settlement: swap.ByProvider}
	if t.TokenIn != native {
		b.Spender = called
	}
	return b, nil
}

// settling makes a provider one that settles orders.
type settling struct {
	isolatingProvider
	swap.Settler
}

// TestDryRunOfIsolated checks that a dry run asks for routes that need an isolated account,
// which stands for nobody's, and that their plans are checked with it.
func TestDryRunOfIsolated(t *testing.T) {
	for _, in := range []common.Address{usdc, native} {
		for _, isolates := range []bool{true, false} {
			decoded := 0
			r := DryRun{Provider: settling{isolatingProvider: isolatingProvider{opaqueProvider{isolates: isolates, decoded: &decoded}}}, Nodes: someNodes{}, Fees: swap.DefaultFees()}
			q := swap.QuoteRequest{Account: account, Recipient: account, RefundTo: account, SrcChain: 1, TokenIn: in, AmountIn: big.NewInt(1000), DstChain: 10, TokenOut: weth, SlippageBps: 50}
			offers, err := r.Quote(t.Context(), q)
			if err != nil || len(offers) != 1 || (offers[0].Request.Isolated != common.Address{}) != isolates {
				t.Fatalf("%+v, %v", offers, err)
			}
			plan, err := r.Plan(t.Context(), offers[0])
			if !isolates {
				refusedWith(t, err, swap.NotPinned)
				continue
			}
			if want := map[bool]int{false: 4, true: 2}[in == native]; err != nil || len(plan.Steps) != want {
				t.Errorf("%d steps, want %d: %v", len(plan.Steps), want, err)
			}
		}
	}
}

// A lateProvider names the contract of its call only with an offer: one that is not built
// in, so that it has none but for an isolated account.
type lateProvider struct {
	routeProvider
	field string        // of the refusal
	then  *swap.Refusal // for an isolated account too
	asked *[]common.Address
}

func (p lateProvider) Quote(_ context.Context, r swap.QuoteRequest) ([]swap.Offer, error) {
	*p.asked = append(*p.asked, r.Isolated)
	switch {
	case r.Isolated == (common.Address{}):
		return nil, swap.RefuseField(swap.NotPinned, p.field, "not built in")
	case p.then != nil:
		return nil, p.then
	}
	return []swap.Offer{rawOffer("1")}, nil
}

// TestIsolatedLate checks that a provider that names a contract which is not built in is
// asked once more, for an isolated account, and that the offer is then for that one; where
// it cannot help, or there is none, the reason is told.
func TestIsolatedLate(t *testing.T) {
	still := swap.RefuseField(swap.NotPinned, "to", "still not")
	for name, c := range map[string]struct {
		kind     swap.Kind
		field    string
		then     *swap.Refusal
		accounts IsolatedAccounts
		nodes    pricedNodes
		asked    int
		code     swap.Code
	}{
		"offered":                {swap.Bridge, "to", nil, numbered{}, pricedNodes{}, 2, ""},
		"refused again":          {swap.Bridge, "to", still, numbered{}, pricedNodes{}, 2, swap.NotPinned},
		"another contract":       {swap.Bridge, "depository", nil, numbered{}, pricedNodes{}, 1, swap.NotPinned},
		"another provider":       {swap.DEX, "to", nil, numbered{}, pricedNodes{}, 1, swap.NotPinned},
		"no isolated accounts":   {swap.Bridge, "to", nil, nil, pricedNodes{}, 1, swap.NotPinned},
		"the keys are locked":    {swap.Bridge, "to", nil, numbered{err: swap.Refuse(swap.SessionRequired, "locked")}, pricedNodes{}, 1, swap.SessionRequired},
		"all were used":          {swap.Bridge, "to", nil, numbered{}, pricedNodes{used: map[common.Address]uint64{numberedAt(0): 1, numberedAt(1): 1, numberedAt(2): 1, numberedAt(3): 1, numberedAt(4): 1}}, 1, swap.UnsupportedRoute},
		"the next, which is not": {swap.Bridge, "to", nil, numbered{}, pricedNodes{used: map[common.Address]uint64{numberedAt(0): 1}}, 2, ""},
	} {
		t.Run(name, func(t *testing.T) {
			var asked []common.Address
			p := lateProvider{routeProvider{kind: c.kind}, c.field, c.then, &asked}
			q := newTestQuoter(map[swap.Kind]swap.Provider{c.kind: p})
			q.planner.Isolated, c.nodes.Nodes = c.accounts, noNodes{}
			q.planner.Nodes = c.nodes
			r := pairAsked
			r.DstChain = 10
			if c.kind == swap.DEX {
				r.DstChain = 1
			}
			offers, err := q.ask(t.Context(), q.newRanking(t.Context(), r, nil), c.kind, func() error { return nil })
			if c.code != "" {
				refusedWith(t, err, c.code)
			} else if err != nil || len(offers) != 1 || offers[0].Request.Isolated != asked[1] || offers[0].Request.Account != r.Account || offers[0].Request.Number != uint32(asked[1][common.AddressLength-1]) {
				t.Errorf("%+v, %v", offers, err)
			}
			if len(asked) != c.asked || asked[0] != (common.Address{}) {
				t.Errorf("asked for %v", asked)
			}
			if c.accounts == nil || c.nodes.used != nil {
				return
			}
			asked = nil
			_, err = DryRun{Provider: p, Nodes: someNodes{}, Fees: swap.DefaultFees()}.Quote(t.Context(), r)
			if want := c.asked > 1 || c.code == swap.SessionRequired; (len(asked) == 2) != want || want && asked[1] != standIn || (err == nil) != (want && c.then == nil) {
				t.Errorf("dry: asked for %v, %v", asked, err)
			}
		})
	}
}

// TestIsolatedIsRedacted checks that what is kept of a refused answer knows the isolated account,
// and that the refusal after which one is taken is not kept.
func TestIsolatedIsRedacted(t *testing.T) {
	still := swap.RefuseField(swap.NotPinned, "to", "still not")
	p := lateProvider{routeProvider{kind: swap.Bridge}, "to", still, new([]common.Address)}
	q := newTestQuoter(map[swap.Kind]swap.Provider{swap.Bridge: p})
	q.planner.Isolated, q.planner.Nodes = numbered{}, pricedNodes{Nodes: noNodes{}}
	var kept [][]common.Address
	q.planner.Keep = func(ctx context.Context, _ swap.Kind, accounts ...common.Address) (context.Context, func(error)) {
		return ctx, func(err error) {
			refusedWith(t, err, swap.NotPinned)
			kept = append(kept, accounts)
		}
	}
	r := pairAsked
	r.DstChain = 10
	_, err := q.ask(t.Context(), q.newRanking(t.Context(), r, nil), swap.Bridge, func() error { return nil })
	refusedWith(t, err, swap.NotPinned)
	if len(kept) != 1 || !slices.Contains(kept[0], numberedAt(0)) || !slices.Contains(kept[0], r.Account) {
		t.Errorf("kept for %v", kept)
	}
}

// TestMayIsolate checks on which chains isolated accounts may have been used: all that a
// provider serves that names its contracts only with an offer, and of others those it says.
func TestMayIsolate(t *testing.T) {
	says := func(isolates bool) swap.Provider { return isolatingProvider{opaqueProvider{isolates: isolates}} }
	for name, c := range map[string]struct {
		p     swap.Provider
		chain uint64
		want  bool
	}{
		"the bridge":                 {routeProvider{kind: swap.Bridge}, 56, true},
		"the bridge, not served":     {routeProvider{kind: swap.Bridge}, 39, false},
		"the DEX":                    {routeProvider{kind: swap.DEX}, 1, false},
		"the intent provider":        {says(true), 1, true},
		"the intent provider, built": {says(false), 1, false},
	} {
		if got := MayIsolate(c.p, c.chain); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}
