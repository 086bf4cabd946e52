package dex

import (
	"errors"
	"math/big"
	"slices"
	"testing"

	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common"
	"pgregory.net/rapid"
)

// A model executes router commands concretely, as the Universal Router's source does
// (Dispatcher, Payments, V2 and V3 modules), on balances and with pools whose rates are
// given. Decode and the model were written independently: what Decode promises must come
// true in every run that does not revert.
type model struct {
	has    map[common.Address]map[common.Address]*big.Int // owner, token
	caller common.Address
	rate   func() int64                // base units of output per 1e12 of input
	gross  map[common.Address]*big.Int // paid out by the last pools of swaps
	// others is what other payers gave the caller for something else, from within a
	// transfer of testDAI; other returns how much the next one gives.
	others map[common.Address]*big.Int
	other  func() int64
}

var (
	errRevert = errors.New("revert")
	testPool  = common.HexToAddress("0x9001")
)

func (m *model) balance(who, token common.Address) *big.Int {
	if m.has[who] == nil {
		m.has[who] = map[common.Address]*big.Int{}
	}
	if m.has[who][token] == nil {
		m.has[who][token] = new(big.Int)
	}
	return m.has[who][token]
}

func (m *model) move(token, from, to common.Address, n *big.Int) error {
	n = new(big.Int).Set(n)
	if from != testPool && m.balance(from, token).Cmp(n) < 0 {
		return errRevert
	}
	m.balance(from, token).Sub(m.balance(from, token), n)
	m.balance(to, token).Add(m.balance(to, token), n)
	return nil
}

func (m *model) mapped(a common.Address) common.Address {
	switch a {
	case msgSender:
		return m.caller
	case addressThis:
		return base.router
	}
	return a
}

func (m *model) execute(list []op) error {
	for _, o := range list {
		if err := m.command(o); err != nil {
			return err
		}
	}
	return nil
}

func (m *model) command(o op) error {
	addr := func(i int) common.Address { return o.args[i].(common.Address) }
	num := func(i int) *big.Int { return o.args[i].(*big.Int) }
	router := base.router
	switch o.code {
	case 0x00, 0x08:
		path, ok := o.args[3].([]common.Address)
		if !ok {
			var err error
			if path, err = v3Path(o.args[3].([]byte)); err != nil {
				return errRevert
			}
		}
		return m.swap(m.mapped(addr(0)), num(1), num(2), path, o.args[4].(bool), o.code == 0x08)
	case 0x0b:
		n := num(1)
		if n.Cmp(contractBalance) == 0 {
			n = new(big.Int).Set(m.balance(router, nativeCoin))
		}
		if err := m.move(nativeCoin, router, testPool, n); err != nil {
			return err
		}
		return m.move(base.wrapped, testPool, m.mapped(addr(0)), n)
	case 0x0c:
		n := new(big.Int).Set(m.balance(router, base.wrapped))
		if n.Cmp(num(1)) < 0 {
			return errRevert
		}
		if err := m.move(base.wrapped, router, testPool, n); err != nil {
			return err
		}
		return m.move(nativeCoin, testPool, m.mapped(addr(0)), n)
	case 0x04:
		n := new(big.Int).Set(m.balance(router, addr(0)))
		if n.Cmp(num(2)) < 0 {
			return errRevert
		}
		return m.move(addr(0), router, m.mapped(addr(1)), n)
	case 0x06:
		if num(2).Sign() <= 0 || num(2).Cmp(big.NewInt(10_000)) > 0 {
			return errRevert
		}
		n := new(big.Int).Mul(m.balance(router, addr(0)), num(2))
		return m.move(addr(0), router, m.mapped(addr(1)), n.Div(n, big.NewInt(10_000)))
	case 0x10:
		return m.unlock(o)
	case 0x0a:
		return nil // the model pulls from the caller with or without it
	}
	return errRevert
}

func (m *model) swap(to common.Address, in, min *big.Int, path []common.Address, fromUser, v2 bool) error {
	if len(path) < 2 {
		return errRevert
	}
	payer := base.router
	if fromUser {
		payer = m.caller
	}
	n := new(big.Int).Set(in)
	if in.Cmp(contractBalance) == 0 {
		if v2 && fromUser {
			return errRevert // does not fit uint160
		}
		n.Set(m.balance(base.router, path[0]))
	}
	if n.Sign() == 0 && !v2 {
		return errRevert
	}
	if err := m.move(path[0], payer, testPool, n); err != nil {
		return err
	}
	for range path[1:] {
		n.Mul(n, big.NewInt(m.rate())).Div(n, big.NewInt(1e12))
	}
	last, seen := path[len(path)-1], new(big.Int).Set(n)
	if slices.Contains(path, testDAI) {
		paid := big.NewInt(m.other())
		if m.others[last] == nil {
			m.others[last] = new(big.Int)
		}
		m.others[last].Add(m.others[last], paid)
		m.balance(m.caller, last).Add(m.balance(m.caller, last), paid)
		if v2 && to == m.caller {
			seen.Add(seen, paid)
		}
	}
	if seen.Cmp(min) < 0 {
		return errRevert
	}
	if m.gross[last] == nil {
		m.gross[last] = new(big.Int)
	}
	m.gross[last].Add(m.gross[last], n)
	return m.move(last, testPool, to, n)
}

// randomOp returns any command, with arguments that an attacker would think of.
func randomOp(t *rapid.T) op {
	who := rapid.SampledFrom([]common.Address{msgSender, addressThis, testAccount, base.router, testAttacker, testFeeTo, testMaker})
	token := rapid.SampledFrom([]common.Address{nativeCoin, base.wrapped, testUSDC, testDAI})
	amount := rapid.SampledFrom([]*big.Int{new(big.Int), big.NewInt(1), half, oneEther, contractBalance})
	min := rapid.SampledFrom([]int64{0, 1, 1_000_000, 2_000_000_000})
	bips := rapid.SampledFrom([]int64{0, 1, 20, 40, 10_000})
	path := rapid.SliceOfN(token, 2, 3)
	switch rapid.IntRange(0, 7).Draw(t, "command") {
	case 7:
		return v4Op(randomActs(t)...)
	case 0:
		return wrapOp(who.Draw(t, "to"), amount.Draw(t, "n"))
	case 1:
		return unwrapOp(who.Draw(t, "to"), min.Draw(t, "min"))
	case 2:
		return sweepOp(token.Draw(t, "token"), who.Draw(t, "to"), min.Draw(t, "min"))
	case 3:
		return portionOp(token.Draw(t, "token"), who.Draw(t, "to"), bips.Draw(t, "bips"))
	case 4:
		return permitOp(testPermit(amount.Draw(t, "n")), make([]byte, signatureLen))
	case 5:
		return v3Op(who.Draw(t, "to"), amount.Draw(t, "n"), min.Draw(t, "min"), rapid.Bool().Draw(t, "user"), path.Draw(t, "path")...)
	}
	return v2Op(who.Draw(t, "to"), amount.Draw(t, "n"), min.Draw(t, "min"), rapid.Bool().Draw(t, "user"), path.Draw(t, "path")...)
}

// testPermit allows the router an amount of USDC.
func testPermit(n *big.Int) permit {
	return permit{testUSDC, n, big.NewInt(testDeadline.Unix()), new(big.Int), base.router, big.NewInt(testDeadline.Unix())}
}

// templates are honest programs for three pairs, and those over V4, for tampering.
func templates() []struct {
	terms swap.Terms
	list  []op
} {
	noFee := ethToUSDC()
	noFee.FeeBps, noFee.FeeReceiver = 0, common.Address{}
	out := nativeOut()
	out.AmountIn = oneEther
	type template = struct {
		terms swap.Terms
		list  []op
	}
	list := []template{
		{ethToUSDC(), honest()},
		{ethToUSDC(), harmlessPrograms["a split"]},
		{ethToUSDC(), harmlessPrograms["two versions in a row"]},
		{ethToUSDC(), harmlessPrograms["change is sent back"]},
		{noFee, ops(wrapOp(addressThis, oneEther), v3Op(msgSender, half, 1_000_000_000, false, base.wrapped, testUSDC), v2Op(msgSender, half, 1_000_000_000, false, base.wrapped, testUSDC))},
		{noFee, ops(wrapOp(addressThis, oneEther), v2Op(msgSender, oneEther, 2_000_000_000, false, base.wrapped, testDAI, testUSDC))}, // refused
		{noFee, ops(wrapOp(addressThis, oneEther), v3Op(msgSender, half, 1_000_000_000, false, base.wrapped, testDAI, testUSDC), v2Op(addressThis, half, 0, false, base.wrapped, testDAI, testUSDC), sweepOp(testUSDC, msgSender, 1_000_000_000))},
		{out, ops(v3Op(addressThis, oneEther, 0, true, testUSDC, base.wrapped), portionOp(base.wrapped, testFeeTo, 20), unwrapOp(msgSender, 1_000_000))},
		{out, ops(permitOp(testPermit(oneEther), make([]byte, signatureLen)), v3Op(addressThis, oneEther, 0, true, testUSDC, base.wrapped), portionOp(base.wrapped, testFeeTo, 20), unwrapOp(msgSender, 1_000_000))},
		{out, ops(v3Op(addressThis, half, 0, true, testUSDC, base.wrapped), v2Op(addressThis, half, 0, true, testUSDC, testDAI, base.wrapped), unwrapOp(addressThis, 0), portionOp(nativeCoin, testFeeTo, 20), portionOp(nativeCoin, testMaker, 20), sweepOp(nativeCoin, msgSender, 1_000_000))},
	}
	for _, p := range v4Programs {
		list = append(list, template{p.terms(), p.list})
	}
	return list
}

// tamper changes, adds, duplicates, drops or moves up to three commands.
func tamper(t *rapid.T, list []op) []op {
	list = slices.Clone(list)
	for range rapid.IntRange(0, 3).Draw(t, "changes") {
		i := rapid.IntRange(0, len(list)-1).Draw(t, "at")
		switch kind := rapid.IntRange(0, 4).Draw(t, "kind"); {
		case list[i].code == 0x10 && rapid.Bool().Draw(t, "an action"):
			list[i] = tamperActs(t, list[i])
		case kind == 0:
			list[i] = randomOp(t)
		case kind == 1:
			list = slices.Insert(list, i, randomOp(t))
		case kind == 2:
			list = slices.Insert(list, i, list[rapid.IntRange(0, len(list)-1).Draw(t, "which")])
		case kind == 3:
			if len(list) > 1 {
				list = slices.Delete(list, i, i+1)
			}
		case kind == 4:
			j := rapid.IntRange(0, len(list)-1).Draw(t, "with")
			list[i], list[j] = list[j], list[i]
		}
	}
	return list
}

// TestPromisesComeTrue: for every program that is accepted, whatever the pools then give,
// exactly the input leaves, at least the promised output arrives, the fees are as stated,
// nobody else gets anything and nothing stays in the router.
func TestPromisesComeTrue(t *testing.T) {
	accepted, ran := 0, 0
	try := func(t *rapid.T) {
		tpl := rapid.SampledFrom(templates()).Draw(t, "template")
		list := tamper(t, tpl.list)
		f, err := checked(tpl.terms, program(t, testDeadline.Unix(), list))
		if err != nil {
			return
		}
		accepted++
		m := &model{has: map[common.Address]map[common.Address]*big.Int{}, gross: map[common.Address]*big.Int{}, others: map[common.Address]*big.Int{}, caller: testAccount, rate: func() int64 {
			return rapid.SampledFrom([]int64{1, 1000, 3000, 1e9, 1e12, 3e12}).Draw(t, "rate")
		}, other: func() int64 { return rapid.SampledFrom([]int64{0, 1_000_000_000, 3_000_000_000}).Draw(t, "other") }}
		for _, token := range []common.Address{nativeCoin, base.wrapped, testUSDC, testDAI} { // enough to lose
			m.balance(testAccount, token).Mul(oneEther, big.NewInt(10))
		}
		if tpl.terms.TokenIn == nativeCoin {
			if err := m.move(nativeCoin, testAccount, base.router, tpl.terms.AmountIn); err != nil {
				t.Fatal(err)
			}
		}
		if m.execute(list) != nil {
			return
		}
		ran++
		checkPromises(t, m, tpl.terms, f)
	}
	for range 30 {
		rapid.Check(t, try)
	}
	if accepted < 100 || ran < 50 {
		t.Errorf("only %d programs were accepted and %d ran: nothing was shown", accepted, ran)
	}
	t.Logf("%d programs accepted, %d ran to the end", accepted, ran)
}

// gain returns how much of a token the program brought the account, which started with 10
// ether of everything.
func (m *model) gain(token common.Address) *big.Int {
	n := new(big.Int).Sub(m.balance(testAccount, token), new(big.Int).Mul(oneEther, big.NewInt(10)))
	if paid := m.others[token]; paid != nil {
		n.Sub(n, paid)
	}
	return n
}

// checkPromises compares a finished run with the promised effect.
func checkPromises(t *rapid.T, m *model, terms swap.Terms, f swap.Effect) {
	for who, tokens := range m.has {
		for token, n := range tokens {
			got := new(big.Int).Set(n)
			switch who {
			case testPool:
				continue
			case testAccount:
				got = m.gain(token)
			}
			if err := verdict(who, token, got, m, terms, f); err != "" {
				t.Fatalf("%s: %s of %s", err, got, token)
			}
		}
	}
	for _, r := range f.Receives {
		if got := m.gain(r.Token); got.Cmp(r.Min) < 0 {
			t.Fatalf("%s arrived, promised %s", got, r.Min)
		}
	}
}

// verdict checks what one party gained of one token.
func verdict(who, token common.Address, got *big.Int, m *model, terms swap.Terms, f swap.Effect) string {
	poolOut := base.pooled(terms.TokenOut)
	pooledOut := token == terms.TokenOut || token == poolOut
	switch {
	case who == base.router && got.Sign() != 0:
		return "stays in the router"
	case who == base.router:
		return ""
	case who == testAccount && token == terms.TokenIn:
		if new(big.Int).Neg(got).Cmp(terms.AmountIn) != 0 {
			return "another amount left"
		}
		return ""
	case who == testAccount && token != terms.TokenOut && got.Sign() != 0:
		return "moved besides"
	case who == testAccount:
		return ""
	}
	bps := 0
	for _, p := range f.Pays {
		if p.To == who {
			bps = p.Bps
		}
	}
	gross := m.gross[poolOut]
	if gross == nil || !pooledOut {
		gross = new(big.Int)
	}
	maxFee := new(big.Int).Mul(gross, big.NewInt(int64(bps)))
	if got.Cmp(maxFee.Div(maxFee, big.NewInt(10_000))) > 0 {
		return "somebody else gained " + who.Hex()
	}
	minFee := new(big.Int).Mul(maxFee, big.NewInt(10_000-int64(terms.MakerFeeBps))) // another fee may come first
	paid := new(big.Int).Set(m.balance(who, poolOut))                               // in either form of a native output
	if terms.TokenOut != poolOut {
		paid.Add(paid, m.balance(who, terms.TokenOut))
	}
	if who == terms.FeeReceiver && pooledOut && paid.Cmp(minFee.Sub(minFee.Div(minFee, big.NewInt(10_000)), big.NewInt(2))) < 0 {
		return "our fee is less than was said"
	}
	return ""
}
