package proof

import (
	"math/big"
	"slices"
	"strings"
	"testing"

	"swapkeep/chain"
	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
)

// acrossEvents has the events as the contract declares them (testdata/live/FACTS.md, "Across").
var acrossEvents = func() abi.ABI {
	const members = `{"name":"inputToken","type":"bytes32"},{"name":"outputToken","type":"bytes32"},{"name":"inputAmount","type":"uint256"},{"name":"outputAmount","type":"uint256"}`
	a, err := abi.JSON(strings.NewReader(`[{"type":"event","name":"FundsDeposited","inputs":[` + members + `,
		{"name":"destinationChainId","type":"uint256","indexed":true},{"name":"depositId","type":"uint256","indexed":true},{"name":"quoteTimestamp","type":"uint32"},
		{"name":"fillDeadline","type":"uint32"},{"name":"exclusivityDeadline","type":"uint32"},{"name":"depositor","type":"bytes32","indexed":true},{"name":"recipient","type":"bytes32"},
		{"name":"exclusiveRelayer","type":"bytes32"},{"name":"message","type":"bytes"}]},
	{"type":"event","name":"FilledRelay","inputs":[` + members + `,{"name":"repaymentChainId","type":"uint256"},
		{"name":"originChainId","type":"uint256","indexed":true},{"name":"depositId","type":"uint256","indexed":true},{"name":"fillDeadline","type":"uint32"},
		{"name":"exclusivityDeadline","type":"uint32"},{"name":"exclusiveRelayer","type":"bytes32"},{"name":"relayer","type":"bytes32","indexed":true},{"name":"depositor","type":"bytes32"},
		{"name":"recipient","type":"bytes32"},{"name":"messageHash","type":"bytes32"},
		{"name":"relayExecutionInfo","type":"tuple","components":[{"name":"updatedRecipient","type":"bytes32"},{"name":"updatedMessageHash","type":"bytes32"},{"name":"updatedOutputAmount","type":"uint256"},{"name":"fillType","type":"uint8"}]}]}]`))
	if err != nil {
		panic(err)
	}
	return a
}()

var (
	poolThere = common.HexToAddress("0x09aea4b2242abC8bb4BB78D537A67a245A7bEC64")
	poolHere  = common.HexToAddress("0x6f26Bf09B1C792e3228e5467807a900A503c0281")
	filler    = common.HexToAddress("0x00000000000000000000000000000000000F111e")
	isolated  = common.HexToAddress("0x0000000000000000000000000000000000150a7e")
)

// A relayCase is a deposit with its fill, each of whose members a test may change.
type relayCase struct {
	at, paidAt               common.Address // who logs them
	dst, origin, id, fillID  int64
	in, out                  int64 // amounts
	inToken, outToken        common.Address
	depositor, to, exclusive common.Address
	deadline, exclusivity    uint32
	message                  string

	// Of the fill, if they differ from the deposit's.
	fill func(*relayFillCase)
}

// A relayFillCase are the members of a fill.
type relayFillCase struct {
	inToken, outToken                       common.Address
	in, out                                 int64
	deadline, exclusivity                   uint32
	exclusive, depositor, to, updated       common.Address
	messageHash, updatedHash                common.Hash
	updatedAmount                           int64
	kind                                    uint8
	logs                                    func(fill *types.Log) []*types.Log // of the transaction; nil = the fill and the payment
	transferTo, transferToken, transferFrom common.Address
}

func theRelay() *relayCase {
	return &relayCase{at: poolHere, paidAt: poolThere, dst: 8453, origin: 10, id: 77, fillID: 77, in: 1010, out: 1000, inToken: weth, outToken: usdc, depositor: isolated, to: account, deadline: 1_800_000_000, exclusivity: 9}
}

func pack(t testing.TB, event string, at common.Address, topics []common.Hash, args ...any) *types.Log {
	t.Helper()
	e := acrossEvents.Events[event]
	data, err := e.Inputs.NonIndexed().Pack(args...)
	if err != nil {
		t.Fatal(err)
	}
	return &types.Log{Address: at, Topics: append([]common.Hash{e.ID}, topics...), Data: data}
}

func word(n int64) common.Hash { return common.BigToHash(big.NewInt(n)) }

func transferLog(token, from, to common.Address, amount int64) *types.Log {
	return &types.Log{Address: token, Topics: []common.Hash{chain.TransferTopic, TopicOf(from), TopicOf(to)}, Data: word(amount).Bytes()}
}

func (c *relayCase) deposit(t testing.TB) *types.Log {
	return pack(t, "FundsDeposited", c.at, []common.Hash{word(c.dst), word(c.id), TopicOf(c.depositor)},
		TopicOf(c.inToken), TopicOf(c.outToken), big.NewInt(c.in), big.NewInt(c.out), uint32(5), c.deadline, c.exclusivity, TopicOf(c.to), TopicOf(c.exclusive), []byte(c.message))
}

// filled returns the logs of the transaction that fills the relay.
func (c *relayCase) filled(t testing.TB) []*types.Log {
	f := relayFillCase{inToken: c.inToken, outToken: c.outToken, in: c.in, out: c.out, deadline: c.deadline, exclusivity: c.exclusivity, exclusive: c.exclusive, depositor: c.depositor, to: c.to, updated: c.to, updatedAmount: c.out,
		transferFrom: filler, transferTo: c.to, transferToken: c.outToken}
	if c.fill != nil {
		c.fill(&f)
	}
	info := struct {
		UpdatedRecipient, UpdatedMessageHash [32]byte
		UpdatedOutputAmount                  *big.Int
		FillType                             uint8
	}{TopicOf(f.updated), f.updatedHash, big.NewInt(f.updatedAmount), f.kind}
	l := pack(t, "FilledRelay", c.paidAt, []common.Hash{word(c.origin), word(c.fillID), TopicOf(filler)},
		TopicOf(f.inToken), TopicOf(f.outToken), big.NewInt(f.in), big.NewInt(f.out), big.NewInt(1), f.deadline, f.exclusivity, TopicOf(f.exclusive), TopicOf(f.depositor), TopicOf(f.to), f.messageHash, info)
	if f.logs != nil {
		return f.logs(l)
	}
	return []*types.Log{l, transferLog(f.transferToken, f.transferFrom, f.transferTo, f.updatedAmount)}
}

// link returns the awaited payment, with the deposit's receipt having these logs.
func link(change func(*swap.Arrival), logs ...*types.Log) AwaitedPayment {
	a := &swap.Arrival{Chain: 8453, Token: usdc, To: account, Least: big.NewInt(990), From: []common.Address{poolThere},
		Link: &swap.Link{Relay: &swap.Relay{Source: poolHere, Destination: poolThere, Coin: weth}}}
	if change != nil {
		change(a)
	}
	return Awaited(swap.Proof{Arrival: a}, &chain.Evidence{Chain: 10, Success: true, Logs: logs})[0]
}

var fillTx = common.Hash{0xf1}

func evidenceOf(logs []*types.Log) chain.Evidence {
	return chain.Evidence{Chain: 8453, Tx: fillTx, Success: true, Logs: logs}
}

// TestRelayTopics holds the topics against those that were seen.
func TestRelayTopics(t *testing.T) {
	for want, got := range map[string]common.Hash{
		"0x32ed1a409ef04c7b0227189c3a103dc5ac10e775a15b785dcc510201f7c25ad3": fundsDeposited,
		"0x44b559f101f8fbcc8a0ea43fa91a05a729a5ea6e14a7c75aa750374690137208": filledRelay,
	} {
		if got.Hex() != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// TestRelayed has the fills that are the relay's of our own deposit, and those that are not: every
// member changed one at a time.
func TestRelayed(t *testing.T) {
	filled := func(change func(*relayFillCase)) func(*relayCase) {
		return func(c *relayCase) { c.fill = change }
	}
	native := func(a *swap.Arrival) { a.Token = chain.Native }
	unwrapped := func(l *types.Log) []*types.Log {
		return []*types.Log{l, transferLog(weth, filler, poolThere, 1000), {Address: weth, Topics: []common.Hash{withdrawal, TopicOf(poolThere)}, Data: word(1000).Bytes()}}
	}
	for _, tc := range []struct {
		name   string
		change func(*relayCase)
		await  func(*swap.Arrival)
		got    int64 // 0 = not linked
		from   common.Address
		index  int
		other  bool // it fills another relay, to the awaited account
	}{
		{name: "the relay", got: 1000, from: filler, index: 1},
		{name: "more than the minimum asks", await: func(a *swap.Arrival) { a.Least = big.NewInt(1) }, got: 1000, from: filler, index: 1},
		{name: "a slow fill", change: filled(func(f *relayFillCase) { f.updatedAmount, f.kind, f.transferFrom = 970, 2, poolThere }), got: 970, from: poolThere, index: 1},
		{name: "a fast fill for less", change: filled(func(f *relayFillCase) { f.updatedAmount = 970 }), got: 970, from: filler, index: 1},

		{name: "another contract's deposit", change: func(c *relayCase) { c.at = thief }, other: true},
		{name: "another contract's fill", change: func(c *relayCase) { c.paidAt = thief }, other: true},
		{name: "the other chain's contract", change: func(c *relayCase) { c.paidAt = poolHere }, other: true},
		{name: "to another chain", change: func(c *relayCase) { c.dst = 1 }, other: true},
		{name: "with a message", change: func(c *relayCase) { c.message = "x" }, other: true},
		{name: "less than the minimum", await: func(a *swap.Arrival) { a.Least = big.NewInt(1001) }, other: true},
		{name: "another token is awaited", await: func(a *swap.Arrival) { a.Token = weth }, other: true},
		{name: "of another chain", change: func(c *relayCase) { c.origin = 1 }, other: true},
		{name: "of another deposit", change: func(c *relayCase) { c.fillID = 78 }, other: true},
		{name: "input token", change: filled(func(f *relayFillCase) { f.inToken = usdc }), other: true},
		{name: "output token", change: filled(func(f *relayFillCase) { f.outToken = weth }), other: true},
		{name: "input amount", change: filled(func(f *relayFillCase) { f.in-- }), other: true},
		{name: "output amount", change: filled(func(f *relayFillCase) { f.out-- }), other: true},
		{name: "deadline", change: filled(func(f *relayFillCase) { f.deadline++ }), other: true},
		{name: "exclusivity", change: filled(func(f *relayFillCase) { f.exclusivity++ }), other: true},
		{name: "exclusive relayer", change: filled(func(f *relayFillCase) { f.exclusive = filler }), other: true},
		{name: "depositor", change: filled(func(f *relayFillCase) { f.depositor = thief }), other: true},
		{name: "recipient", change: filled(func(f *relayFillCase) { f.to = thief }), other: true},
		{name: "message", change: filled(func(f *relayFillCase) { f.messageHash = common.Hash{1} }), other: true},
		{name: "updated message", change: filled(func(f *relayFillCase) { f.updatedHash = common.Hash{1} }), other: true},
		{name: "updated recipient", change: filled(func(f *relayFillCase) { f.updated, f.transferTo = thief, thief })},
		{name: "updated to nothing", change: filled(func(f *relayFillCase) { f.updatedAmount = 0 })},

		{name: "filled by the recipient itself, who pays nobody", change: filled(func(f *relayFillCase) { f.logs = func(l *types.Log) []*types.Log { return []*types.Log{l} } })},
		{name: "paid another amount", change: filled(func(f *relayFillCase) {
			f.logs = func(l *types.Log) []*types.Log { return []*types.Log{l, transferLog(usdc, filler, account, 999)} }
		})},
		{name: "paid another token", change: filled(func(f *relayFillCase) { f.transferToken = weth })},
		{name: "paid another", change: filled(func(f *relayFillCase) { f.transferTo = thief })},
		{name: "paid before the fill", change: filled(func(f *relayFillCase) {
			f.logs = func(l *types.Log) []*types.Log { return []*types.Log{transferLog(usdc, filler, account, 1000), l} }
		})},
		{name: "paid by the next fill", change: filled(func(f *relayFillCase) {
			f.logs = func(l *types.Log) []*types.Log {
				next := *l
				next.Topics = slices.Clone(l.Topics)
				next.Topics[2] = word(78)
				return []*types.Log{l, &next, transferLog(usdc, filler, account, 1000)}
			}
		}), other: true},
		{name: "taken from the recipient before", change: filled(func(f *relayFillCase) {
			f.logs = func(l *types.Log) []*types.Log {
				return []*types.Log{transferLog(usdc, account, filler, 600), l, transferLog(usdc, filler, account, 1000)}
			}
		}), got: 400, from: filler, index: 2},

		{name: "the coin", change: func(c *relayCase) {
			c.outToken, c.fill = weth, func(f *relayFillCase) { f.logs = unwrapped }
		}, await: native, got: 1000, from: filler},
		{name: "the coin, burnt", change: func(c *relayCase) {
			c.outToken, c.fill = weth, func(f *relayFillCase) {
				f.logs = func(l *types.Log) []*types.Log {
					return []*types.Log{l, transferLog(weth, poolThere, common.Address{}, 1000)}
				}
			}
		}, await: native, got: 1000, from: filler},
		{name: "the wrapped coin, to a contract", change: func(c *relayCase) {
			c.outToken, c.fill = weth, func(f *relayFillCase) {
				f.logs = func(l *types.Log) []*types.Log { return []*types.Log{l, transferLog(weth, poolThere, account, 1000)} }
			}
		}, await: native},
		{name: "the coin, unwrapped by another", change: func(c *relayCase) {
			c.outToken, c.fill = weth, func(f *relayFillCase) {
				f.logs = func(l *types.Log) []*types.Log {
					return []*types.Log{l, {Address: weth, Topics: []common.Hash{withdrawal, TopicOf(filler)}, Data: word(1000).Bytes()}}
				}
			}
		}, await: native},
		{name: "the coin, in another token", change: filled(func(f *relayFillCase) { f.logs = unwrapped }), await: native, other: true},
		{name: "the wrapped coin is awaited, and the coin was paid", change: func(c *relayCase) {
			c.outToken, c.fill = weth, func(f *relayFillCase) { f.logs = unwrapped }
		}, await: func(a *swap.Arrival) { a.Token = weth }},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := theRelay()
			if tc.change != nil {
				tc.change(c)
			}
			x := link(tc.await, transferLog(weth, isolated, poolHere, 1010), c.deposit(t))
			ev := evidenceOf(c.filled(t))
			paid, sum, ok := x.Linked(ev)
			switch {
			case ok != (tc.got > 0):
				t.Fatalf("linked: %t, %+v", ok, paid)
			case ok && (sum.Int64() != tc.got || len(paid) != 1 || paid[0].From != tc.from || paid[0].Ref.Chain != 8453 || paid[0].Ref.Tx != fillTx || paid[0].Ref.Index != tc.index || (paid[0].Ref.Account == x.To) != (x.Token == chain.Native)):
				t.Errorf("%s, %+v", sum, paid)
			case x.FillsOtherRelay(ev) != tc.other:
				t.Errorf("fills another relay: %t", !tc.other)
			}
		})
	}
}

// TestRelayOfDeposit has the receipts of a deposit that name no relay.
func TestRelayOfDeposit(t *testing.T) {
	c := theRelay()
	one := c.deposit(t)
	other := *one
	other.Topics = slices.Clone(one.Topics)
	other.Topics[2] = word(78)
	cut := *one
	cut.Data = one.Data[:len(one.Data)-1]
	for name, logs := range map[string][]*types.Log{"none": nil, "two": {one, &other}, "the same twice": {one, one}, "one that cannot be decoded": {&cut}, "one more that cannot": {one, &cut}} {
		x := link(nil, logs...)
		if _, _, ok := x.Linked(evidenceOf(c.filled(t))); ok {
			t.Errorf("%s: linked", name)
		}
		if what, log, ok := x.Search(); what != "arrival" || !ok || log.Topics[0] != chain.TransferTopic {
			t.Errorf("%s: searched for %s, %+v", name, what, log)
		}
	}
	x := link(nil, one)
	if what, log, ok := x.Search(); what != "relay" || !ok || !log.Matches(c.filled(t)[0]) || log.Address != poolThere {
		t.Errorf("searched for %s, %+v", what, log)
	}
	x = Awaited(swap.Proof{Arrival: &x.Arrival}, &chain.Evidence{Chain: 10, Logs: []*types.Log{one}})[0]
	if _, _, ok := x.Linked(evidenceOf(c.filled(t))); ok {
		t.Error("linked by a deposit that failed")
	}
}

// TestRelaysOfOneTransaction checks that of two fills in one transaction each has its own payment.
func TestRelaysOfOneTransaction(t *testing.T) {
	one, two := theRelay(), theRelay()
	two.id, two.fillID = 78, 78
	ev := evidenceOf(append(one.filled(t), two.filled(t)...))
	for i, c := range []*relayCase{one, two} {
		paid, sum, ok := link(nil, c.deposit(t)).Linked(ev)
		if !ok || sum.Int64() != 1000 || paid[0].Ref.Index != 1+2*i {
			t.Errorf("fill %d: %t, %s, %+v", i, ok, sum, paid)
		}
	}
}

// FuzzRelay: any two logs link a payment only if the relay's members are the same by the ABI
// decoder, which shares no code with ours.
func FuzzRelay(f *testing.F) {
	c := theRelay()
	d, logs := c.deposit(f), c.filled(f)
	join := func(topics []common.Hash) (all []byte) {
		for _, h := range topics {
			all = append(all, h[:]...)
		}
		return all
	}
	f.Add(join(d.Topics), d.Data, join(logs[0].Topics), logs[0].Data)
	c.message = "a message"
	with := c.deposit(f)
	f.Add(join(with.Topics), with.Data, join(logs[0].Topics), logs[0].Data)
	f.Add(join(d.Topics[:3]), d.Data[:320], join(logs[0].Topics[:1]), []byte{})
	split := func(b []byte) (all []common.Hash) {
		for ; len(b) >= common.HashLength && len(all) < 4; b = b[common.HashLength:] {
			all = append(all, common.Hash(b))
		}
		return all
	}
	decode := func(l *types.Log, event string) map[string]any {
		e, m := acrossEvents.Events[event], map[string]any{}
		if len(l.Topics) != 4 || l.Topics[0] != e.ID || e.Inputs.UnpackIntoMap(m, l.Data) != nil {
			return nil
		}
		return m
	}
	f.Fuzz(func(t *testing.T, topics, data, fillTopics, fillData []byte) {
		if len(data)+len(fillData) > 4096 {
			return
		}
		made := &types.Log{Address: poolHere, Topics: split(topics), Data: data}
		fill := &types.Log{Address: poolThere, Topics: split(fillTopics), Data: fillData}
		x := link(nil, made)
		got, is := readFill(fill)
		pay := transferLog(usdc, filler, account, 0)
		if is {
			pay.Data = common.BigToHash(got.amount).Bytes()
		}
		_, sum, ok := x.Linked(evidenceOf([]*types.Log{fill, pay}))
		if !ok {
			return
		}
		a, b := decode(made, "FundsDeposited"), decode(fill, "FilledRelay")
		if a == nil || b == nil {
			t.Fatal("linked by what the ABI decoder refuses")
		}
		for _, same := range []string{"inputToken", "outputToken", "fillDeadline", "exclusivityDeadline", "exclusiveRelayer", "recipient"} {
			if a[same] != b[same] {
				t.Errorf("%s: %v and %v", same, a[same], b[same])
			}
		}
		if a["inputAmount"].(*big.Int).Cmp(b["inputAmount"].(*big.Int)) != 0 || a["outputAmount"].(*big.Int).Cmp(b["outputAmount"].(*big.Int)) != 0 {
			t.Error("the amounts differ")
		}
		if made.Topics[1] != word(8453) || made.Topics[2] != fill.Topics[2] || fill.Topics[1] != word(10) || made.Topics[3] != common.Hash(b["depositor"].([32]byte)) || len(a["message"].([]byte)) != 0 || sum.Sign() <= 0 {
			t.Error("another relay")
		}
	})
}
