package audit

import (
	"math/big"
	"slices"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
)

// TestJudgeRelay checks that a payment is linked to an order of the intent provider by nothing but
// the fill of exactly its deposit's relay, and that such an order must have ended.
func TestJudgeRelay(t *testing.T) {
	poolHere, poolThere := common.HexToAddress("0x5c7BCd6E7De5423a257D81B442095A1a6ced35C5"), common.HexToAddress("0x6f26Bf09B1C792e3228e5467807a900A503c0281")
	id := func(n int64) common.Hash { return common.BigToHash(big.NewInt(n)) }
	join := func(words ...common.Hash) (data []byte) {
		for _, w := range words {
			data = append(data, w[:]...)
		}
		return data
	}
	for name, x := range map[string]struct {
		change func(o *Order, e *Entry, made, fill *types.Log)
		linked bool
		why    string // why it may be open
	}{
		"its relay":            {func(*Order, *Entry, *types.Log, *types.Log) {}, true, ""},
		"less, named":          {func(o *Order, _ *Entry, _, _ *types.Log) { o.Terms.MinimumReceived = "46" }, true, ""},
		"less, unnamed":        {func(o *Order, e *Entry, _, _ *types.Log) { o.Terms.MinimumReceived, e.PaymentNamed = "46", false }, true, "the payment is less, and the provider does not name it"},
		"another id":           {func(_ *Order, _ *Entry, _, fill *types.Log) { fill.Topics[2] = id(8) }, false, "likely paid"},
		"another source":       {func(_ *Order, _ *Entry, _, fill *types.Log) { fill.Topics[1] = id(2) }, false, "likely paid"},
		"another destination":  {func(_ *Order, _ *Entry, made, _ *types.Log) { made.Topics[1] = id(2) }, false, "likely paid"},
		"another depositor":    {func(_ *Order, _ *Entry, made, _ *types.Log) { made.Topics[3] = id(2) }, false, "likely paid"},
		"another input":        {func(_ *Order, _ *Entry, _, fill *types.Log) { fill.Data[2*32+31]++ }, false, "likely paid"},
		"another deadline":     {func(_ *Order, _ *Entry, _, fill *types.Log) { fill.Data[5*32+31]++ }, false, "likely paid"},
		"another recipient":    {func(_ *Order, _ *Entry, made, _ *types.Log) { made.Data[7*32+31]++ }, false, "likely paid"},
		"paid to another":      {func(_ *Order, _ *Entry, _, fill *types.Log) { fill.Data[11*32+31]++ }, false, "likely paid"},
		"of another contract":  {func(_ *Order, _ *Entry, made, _ *types.Log) { made.Address = spender }, false, "likely paid"},
		"by another contract":  {func(_ *Order, _ *Entry, _, fill *types.Log) { fill.Address = spender }, false, "likely paid"},
		"the other chain's":    {func(_ *Order, _ *Entry, _, fill *types.Log) { fill.Address = poolHere }, false, "likely paid"},
		"an event of no relay": {func(_ *Order, _ *Entry, _, fill *types.Log) { fill.Topics[0] = id(1) }, false, "likely paid"},
	} {
		f := newFakeWorld(t)
		me := common.Hash(word(f.account))
		made := &types.Log{Address: poolHere, Topics: []common.Hash{relayMade, id(10), id(7), id(3)},
			Data: join(id(1), common.Hash(word(token)), id(100), id(45), id(0), id(9), id(0), me, id(0), id(320), id(0))}
		fill := &types.Log{Address: poolThere, Topics: []common.Hash{relayFilled, id(1), id(7), id(4)},
			Data: join(id(1), common.Hash(word(token)), id(100), id(45), id(1), id(9), id(0), id(0), id(3), me, id(0), me, id(0), id(45), id(0))}
		o := Order{ID: "z", ProviderOrderID: "rz", State: "settling", Condition: "likely_paid"}
		o.Terms = terms{Provider: "intent", Account: f.account, SrcChainID: 1, DstChainID: 10, TokenIn: usdc, TokenOut: token, AmountIn: "100", MinimumReceived: "40"}
		e := Entry{Ref: "rz", Final: true, PaymentNamed: true, Ending: "fill"}
		x.change(&o, &e, made, fill)
		e.Deposit = f.own("z/0", "mined", spender, 1, 0, made).TxHash
		paid := f.paid(10, 45, token)
		paid.Logs = slices.Insert(paid.Logs, 0, fill)
		e.Payment, o.CandidatePayment = paid.TxHash, &candidate{Tx: paid.TxHash}
		f.books["intent"] = []Entry{e}
		f.moves = append(f.moves, movement{chain: 10, tx: paid.TxHash, token: token, account: f.account, amount: big.NewInt(45)})
		if got := f.fillsRelay(o, e.Deposit, e.Payment); got != x.linked {
			t.Errorf("%s: linked %t", name, got)
		}
		if why := f.WhyOpen(o); why != x.why {
			t.Errorf("%s: it may be open since %q, want %q", name, why, x.why)
		}
		o.Verdict = &verdict{Evidence: &evidence{Tx: e.Payment}, Deposit: &evidence{ChainID: 1, Tx: e.Deposit, Success: true}}
		f.records[e.Deposit] = senderRecord{Key: "z/0", State: "mined"}
		if wrong := f.arrived(o); (wrong == "") != x.linked {
			t.Errorf("%s: %q", name, wrong)
		}
	}
}
