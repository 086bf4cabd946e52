package audit

import (
	"context"
	"encoding/json"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"

	"swapkeep/host/protocol"
)

// The TestJudge tests cover all that the audit excuses: each function gets what it excuses,
// and similar cases that it must not.

var (
	ours, usdc  = common.Address{0xa}, common.Address{0xc}
	pays, other = common.Hash{1}, common.Hash{2}
	depositTx   = common.Hash{3} // a deposit
)

func amount(n int64) Amount { return amountOf(big.NewInt(n)) }

// testOrder is an order of 100 USDC on chain 1 for at least 40 of a token on chain 10.
func testOrder(kind string, out common.Address) Order {
	return Order{
		ID: "a", Request: "r", Digest: other, State: "settling", ProviderOrderID: "x",
		Terms: terms{
			Provider: kind, Account: ours, SrcChainID: 1, DstChainID: 10,
			TokenIn: usdc, AmountIn: amount(100), TokenOut: out, MinimumReceived: amount(40),
		},
	}
}

func endedAs(o Order, v verdict) Order {
	o.State, o.Final, o.Verdict = v.State, true, &v
	return o
}

// A testAudit keeps its findings.
type testAudit struct {
	*Audit
	findings []string
}

// newTestAudit returns an audit of these orders, without evidence.
func newTestAudit(orders ...Order) *testAudit {
	r := &testAudit{Audit: &Audit{Context: context.Background(), Count: func(string, int) {}}}
	r.Find = func(format string, args ...any) { r.findings = append(r.findings, fmt.Sprintf(format, args...)) }
	r.begin()
	for _, o := range orders {
		r.orders[o.ID] = OrderResult{Order: o}
	}
	return r
}

// wantFound checks for a finding that contains want, or for none if want is "".
func wantFound(t *testing.T, name string, r *testAudit, want string) {
	t.Helper()
	if want == "" && len(r.findings) > 0 || want != "" && !slices.ContainsFunc(r.findings, func(f string) bool { return strings.Contains(f, want) }) {
		t.Errorf("%s: found %q, want %q", name, r.findings, want)
	}
}

// TestJudgeGifts checks that a payment for a deposit that a reorg dropped is excused by
// chain, account, token and amount, and nothing else in the same transaction is.
func TestJudgeGifts(t *testing.T) {
	given := movement{10, ours, common.Address{0xd}, big.NewInt(41), pays, 5}
	for name, x := range map[string]struct {
		change func(*movement)
		want   string
	}{
		"the payment as made":                  {func(*movement) {}, ""},
		"out of the account":                   {func(m *movement) { m.amount = big.NewInt(-41) }, "is of no order"},
		"less than was owed":                   {func(m *movement) { m.amount = big.NewInt(39) }, "is of no order"},
		"twice the payment":                    {func(m *movement) { m.amount = big.NewInt(81) }, "is of no order"},
		"another token":                        {func(m *movement) { m.token = usdc }, "is of no order"},
		"another chain":                        {func(m *movement) { m.chain = 1 }, "is of no order"},
		"another transaction":                  {func(m *movement) { m.tx = other }, "is of no order"},
		"to another of ours":                   {func(m *movement) { m.account = common.Address{0xb} }, "is of no order"},
		"payment of an order that received it": {nil, "is of no order"}, // its own payment is no gift
	} {
		o, m := testOrder("intent", given.token), given
		e := Entry{Ref: "x", Deposit: depositTx, Payment: pays}
		if x.change != nil {
			x.change(&m)
		} else {
			o = endedAs(o, verdict{State: "filled", ProvenBy: "arrival", Evidence: &evidence{Tx: pays}})
		}
		r := newTestAudit(o)
		r.recordDropped(o, e)
		r.moves = []movement{m}
		r.checkMovements()
		wantFound(t, name, r, x.want)
	}
}

// TestJudgeCoins checks that received native coin is excused as a gift or an awaited
// payment, up to its amount; anything else is found.
func TestJudgeCoins(t *testing.T) {
	tx := types.NewTx(&types.LegacyTx{})
	p := &blockRecord{number: 5, txs: types.Transactions{tx}}
	e := Entry{Ref: "x", Deposit: depositTx, Payment: tx.Hash()}
	gift := func(r *testAudit, o Order) { r.recordDropped(o, e) }
	awaited := func(r *testAudit, o Order) { r.recordAwaited(o, e) }
	for name, x := range map[string]struct {
		note     func(*testAudit, Order)
		out      common.Address
		chain    uint64
		received int64
		want     string
	}{
		"a gift":                             {gift, native, 10, 45, ""},
		"a gift that did not come":           {gift, native, 10, 0, "of the coin came"},
		"more than a gift":                   {gift, native, 10, 81, "of the coin came"},
		"coin in the block of a token gift":  {gift, usdc, 10, 1, "of the coin came"},
		"a gift on another chain":            {gift, native, 1, 45, "of the coin came"},
		"awaited":                            {awaited, native, 10, 45, ""},
		"more than is awaited":               {awaited, native, 10, 81, "of the coin came"},
		"the coin where it is a token":       {awaited, usdc, 10, 45, "of the coin came"},
		"the input where it is a token":      {awaited, native, 1, 45, "of the coin came"},
		"nobody's":                           {func(*testAudit, Order) {}, native, 10, 45, "of the coin came"},
		"coin leaves in the block of a gift": {gift, native, 10, -1, "of the coin came"},
	} {
		o := testOrder("intent", x.out)
		r := newTestAudit(o)
		x.note(r, o)
		r.checkBlockCoins(x.chain, ours, p, big.NewInt(x.received))
		wantFound(t, name, r, x.want)
	}
}

// TestJudgeKnown checks that an entry without a known name is excused only by the end of an
// unnamed order of the same provider, or by a deposit of ours that a reorg dropped.
func TestJudgeKnown(t *testing.T) {
	paid := verdict{State: "filled", ProvenBy: "arrival", Evidence: &evidence{Tx: pays}}
	unnamed := endedAs(testOrder("intent", native), paid)
	unnamed.ProviderOrderID = ""
	for name, x := range map[string]struct {
		o    Order
		kind string
		e    Entry
		lost bool
		want bool
	}{
		"by the order's reference":             {testOrder("intent", native), "intent", Entry{Ref: "X"}, false, true},
		"another's name":                       {testOrder("intent", native), "bridge", Entry{Ref: "X"}, false, false},
		"unnamed, by its end":                  {unnamed, "intent", Entry{Ref: "y", Payment: pays}, false, true},
		"unnamed, another payment":             {unnamed, "intent", Entry{Ref: "y", Payment: other}, false, false},
		"unnamed, another provider":            {unnamed, "bridge", Entry{Ref: "y", Payment: pays}, false, false},
		"unnamed, unpaid":                      {unnamed, "intent", Entry{Ref: "y"}, false, false},
		"a second one of a named order":        {endedAs(testOrder("intent", native), paid), "intent", Entry{Ref: "y", Payment: pays}, false, false},
		"its own deposit was dropped":          {testOrder("intent", native), "intent", Entry{Ref: "y", Deposit: depositTx}, true, true},
		"its own deposit is mined":             {testOrder("intent", native), "intent", Entry{Ref: "y", Deposit: depositTx}, false, false},
		"dropped deposit, entry names another": {testOrder("intent", native), "intent", Entry{Ref: "y", Deposit: other}, true, false},
	} {
		r := newTestAudit(x.o)
		r.records[depositTx] = senderRecord{Key: "a/0"}
		if x.lost {
			r.recordDropped(x.o, Entry{Deposit: depositTx})
		}
		if got := r.known(x.kind, x.e); got != x.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

// TestJudgeEndless checks that only an order whose payment nothing can prove may stay open.
func TestJudgeEndless(t *testing.T) {
	for name, x := range map[string]struct {
		out  common.Address
		e    Entry
		paid bool
		may  bool
	}{
		"the provider pays nobody":        {usdc, Entry{Ending: "claim_refund"}, false, true},
		"the provider is about to pay":    {usdc, Entry{Ending: "fill"}, false, false},
		"the coin, unnamed":               {native, Entry{Ending: "fail_fill", Payment: pays, Final: true}, true, true},
		"the coin, named":                 {native, Entry{Ending: "fill", Payment: pays, Final: true, PaymentNamed: true}, true, false},
		"the coin, not named yet":         {native, Entry{Payment: pays}, true, false},
		"a token, unnamed":                {usdc, Entry{Ending: "fail_fill", Payment: pays, Final: true}, true, false},
		"a token back, unnamed":           {native, Entry{Ending: "fail_refund", Payment: pays, Final: true, IsRefund: true}, true, false},
		"a payment that the chain forgot": {native, Entry{Ending: "fill", Payment: pays, Final: true, PaymentNamed: true}, false, true},
	} {
		o := testOrder("intent", x.out)
		if why := whyOpenFor(o, x.e, x.paid, false); (why != "") != x.may {
			t.Errorf("%s: %q", name, why)
		}
	}
}

// TestJudgeUnlinked checks that an order which the intent provider paid plainly, and whose payment
// it names, must be likely paid by just that payment.
func TestJudgeUnlinked(t *testing.T) {
	named := Entry{Payment: pays, Final: true, PaymentNamed: true}
	for name, x := range map[string]struct {
		e         Entry
		plain     bool
		condition string
		by        common.Hash
		may       bool
	}{
		"likely paid":                  {named, true, "likely_paid", pays, true},
		"likely paid by another":       {named, true, "likely_paid", common.Hash{9}, false},
		"waiting":                      {named, true, "awaiting_proof", common.Hash{}, false},
		"less, or by a contract":       {named, false, "awaiting_proof", common.Hash{}, true},
		"unnamed":                      {Entry{Payment: pays, Final: true}, true, "payment_seen", common.Hash{}, true},
		"refunded by an unknown payer": {Entry{Payment: pays, Final: true, PaymentNamed: true, IsRefund: true}, true, "payment_seen", common.Hash{}, true},
	} {
		o := testOrder("intent", usdc)
		o.Condition, o.CandidatePayment = x.condition, &candidate{Tx: x.by}
		if why := whyUnlinked(o, x.e, x.plain); (why != "") != x.may {
			t.Errorf("%s: %q", name, why)
		}
	}
}

// TestJudgeCrowded checks that received coin may be unclear only if something else in its
// block changed the balance.
func TestJudgeCrowded(t *testing.T) {
	const unclear = "amount_unclear"
	named := Entry{Ending: "fill", Payment: pays, Final: true, PaymentNamed: true}
	for name, x := range map[string]struct {
		out       common.Address
		condition string
		crowded   bool
		may       bool
	}{
		"the coin":                       {native, unclear, true, true},
		"the coin, alone in its block":   {native, unclear, false, false},
		"a token":                        {usdc, unclear, true, false},
		"the coin, open for other cause": {native, "", true, false},
	} {
		o := testOrder("intent", x.out)
		o.Condition = x.condition
		if why := whyOpenFor(o, named, true, x.crowded); (why != "") != x.may {
			t.Errorf("%s: %q", name, why)
		}
	}
}

// TestJudgeContested checks that a payment may stay unproven if another open order of the
// account, which nobody pays, waits for it too.
func TestJudgeContested(t *testing.T) {
	token := common.Address{0xd}
	paid := Entry{Ref: "x", Payment: pays, Final: true}
	for name, x := range map[string]struct {
		change func(rival *Order, m *movement)
		unpaid bool
		want   bool
	}{
		"the rival awaits the same output":           {func(*Order, *movement) {}, true, true},
		"the rival awaits it as a refund":            {func(p *Order, _ *movement) { back(p, 10, token, 30) }, true, true},
		"the rival awaits a refund on another chain": {func(p *Order, _ *movement) { back(p, 1, token, 30) }, true, false},
		"the rival is paid":                          {func(*Order, *movement) {}, false, false},
		"the rival has ended":                        {func(p *Order, _ *movement) { p.Final = true }, true, false},
		"the rival awaits more than came":            {func(p *Order, _ *movement) { p.Terms.MinimumReceived = amount(50) }, true, false},
		"the rival awaits less":                      {func(p *Order, _ *movement) { p.Terms.MinimumReceived = amount(20) }, true, false},
		"the rival awaits another token":             {func(p *Order, _ *movement) { p.Terms.TokenOut = usdc }, true, false},
		"the rival is of another account":            {func(p *Order, _ *movement) { p.Terms.Account = usdc }, true, false},
		"the payment moved nothing":                  {func(_ *Order, m *movement) { m.tx = other }, true, false},
		"less came than either is owed":              {func(_ *Order, m *movement) { m.amount = big.NewInt(39) }, true, false},
		"there is no rival":                          {func(p *Order, _ *movement) { p.ID = "a" }, true, false},
	} {
		o, rival := testOrder("intent", token), testOrder("intent", token)
		rival.ID = "b"
		m := movement{10, ours, token, big.NewInt(45), pays, 5}
		x.change(&rival, &m)
		r := newTestAudit(o, rival)
		r.moves = []movement{m}
		if got := r.ambiguousPayment(o, paid, func(Order) bool { return x.unpaid }); got != x.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

// back makes an order wait for a refund of n of a token.
func back(o *Order, chain uint64, token common.Address, n int64) {
	o.Terms.SrcChainID, o.Terms.TokenIn, o.Terms.AmountIn = chain, token, amount(n)
	o.Terms.TokenOut = usdc
}

// TestJudgeBook checks that an order its provider named or paid is in its records once.
func TestJudgeBook(t *testing.T) {
	paid := endedAs(testOrder("intent", native), verdict{State: "filled", ProvenBy: "arrival", Evidence: &evidence{Tx: pays}})
	unnamed, unreported := paid, endedAs(testOrder("intent", native), verdict{State: "cancelled", ProvenBy: "withdrawn"})
	unnamed.ProviderOrderID, unreported.ProviderOrderID = "", ""
	expired := endedAs(testOrder("dex", native), verdict{State: "expired", ProvenBy: "absence"})
	entry := Entry{Ref: "x", Payment: pays}
	for name, x := range map[string]struct {
		o      Order
		book   []Entry
		handed bool
		times  int
	}{
		"once":                              {paid, []Entry{entry, {Ref: "y"}}, true, 1},
		"missing":                           {paid, []Entry{{Ref: "y", Payment: pays}}, true, 0},
		"twice":                             {paid, []Entry{entry, entry}, true, 2},
		"unnamed":                           {unnamed, []Entry{entry}, true, 1},
		"unnamed, missing":                  {unnamed, nil, true, 0},
		"named, missing":                    {expired, []Entry{{Ref: "y"}}, true, 0},
		"the provider never knew the order": {unreported, []Entry{entry}, false, 0},
	} {
		if _, times := entryOf(x.o, x.book); times != x.times || mustBeInBook(x.o) != x.handed {
			t.Errorf("%s: %d times, handed %t", name, times, mustBeInBook(x.o))
		}
	}
}

// TestJudgeWays checks that the table has each proof of the protocol except the one that
// cannot occur here.
func TestJudgeWays(t *testing.T) {
	i := slices.IndexFunc(protocol.Vocabularies, func(v protocol.Vocabulary) bool { return v.Name == "ProvenBy" })
	for _, by := range protocol.Vocabularies[i].Words {
		if _, known := proofRules[by]; known == (by == "tx_replaced") {
			t.Errorf("%s: known %t", by, known)
		}
	}
	j := slices.IndexFunc(protocol.Vocabularies, func(v protocol.Vocabulary) bool { return v.Name == "VerdictSource" })
	for _, by := range protocol.Vocabularies[i].Words {
		for _, source := range sourcesOf(by) {
			if !slices.Contains(protocol.Vocabularies[j].Words, source) {
				t.Errorf("%s: %s is no source of the protocol", by, source)
			}
		}
	}
	if len(proofRules) != len(protocol.Vocabularies[i].Words)-1 {
		t.Errorf("%d ways, and there are %d words", len(proofRules), len(protocol.Vocabularies[i].Words))
	}
}

// TestJudgeProven checks that a verdict without what its proof requires is found.
func TestJudgeProven(t *testing.T) {
	ev := func(tx common.Hash, chain uint64) *evidence {
		return &evidence{ChainID: chain, Tx: tx, Success: true}
	}
	logs, none := []json.RawMessage{nil}, &absence{ChainID: 1, From: 1, Through: 2, Hosts: []string{"h"}}
	for name, x := range map[string]struct {
		v    verdict
		want string
	}{
		"a fill":                                        {verdict{State: "filled", ProvenBy: "fill", Evidence: ev(pays, 1), Logs: logs}, ""},
		"a fill without evidence":                       {verdict{State: "filled", ProvenBy: "fill", Logs: logs}, "with evidence <nil>"},
		"a fill without logs":                           {verdict{State: "filled", ProvenBy: "fill", Evidence: ev(pays, 1)}, "without [logs]"},
		"a fill by its own transaction":                 {verdict{State: "filled", ProvenBy: "fill", Evidence: ev(depositTx, 1), Logs: logs}, "its own true"},
		"a fill that failed":                            {verdict{State: "filled", ProvenBy: "fill", Evidence: &evidence{ChainID: 1, Tx: pays}, Logs: logs}, "success false"},
		"a fill on another chain":                       {verdict{State: "filled", ProvenBy: "fill", Evidence: ev(pays, 10), Logs: logs}, "on chain 10"},
		"a fill, and searched in vain":                  {verdict{State: "filled", ProvenBy: "fill", Evidence: ev(pays, 1), Logs: logs, Absence: none}, "absence &"},
		"another's call as its own":                     {verdict{State: "filled", ProvenBy: "own_call", Evidence: ev(pays, 1)}, "its own false"},
		"an arrival without a deposit":                  {verdict{State: "filled", ProvenBy: "arrival", Evidence: ev(pays, 10), Logs: logs}, "without [received deposit]"},
		"an end of another way":                         {verdict{State: "filled", ProvenBy: "refund", Evidence: ev(pays, 1), Logs: logs}, "the verdict is filled"},
		"a way that there is not":                       {verdict{State: "failed", ProvenBy: "tx_replaced"}, "the verdict is failed"},
		"a nonce used":                                  {verdict{State: "failed", ProvenBy: "order_nonce_used", Absence: none}, ""},
		"a nonce used, not searched":                    {verdict{State: "failed", ProvenBy: "order_nonce_used"}, "absence <nil>"},
		"void, and not searched":                        {verdict{State: "cancelled", ProvenBy: "invalidated", Evidence: ev(depositTx, 1)}, "absence <nil>"},
		"void without a transaction":                    {verdict{State: "cancelled", ProvenBy: "invalidated", Absence: none}, "evidence <nil>"},
		"withdrawn, and signed":                         {verdict{State: "cancelled", ProvenBy: "withdrawn"}, "has its transaction a/0"},
		"proof that it was never sent, but it is mined": {verdict{State: "expired", ProvenBy: "never_sent"}, "no transaction of its that was rejected"},
		"cancelled by what is no cancel":                {verdict{State: "cancelled", ProvenBy: "cancel", Evidence: ev(depositTx, 1)}, "no transaction of an account of its to itself"},
		"proof of a revoke for an order that is a swap": {verdict{State: "filled", ProvenBy: "revoke", Evidence: ev(depositTx, 1)}, "it is no revoke"},
		"a revert that succeeded":                       {verdict{State: "failed", ProvenBy: "revert", Evidence: ev(depositTx, 1)}, "success true"},
		"expired, searched too short":                   {verdict{State: "expired", ProvenBy: "absence", Absence: none}, "it was good until"},
	} {
		x.v.Sources = sourcesOf(x.v.ProvenBy)[0]
		proving(t, name, x.v, x.want)
	}
	proving(t, "without sources", verdict{State: "failed", ProvenBy: "order_nonce_used", Absence: none}, `sources ""`)
	proving(t, "searched by nobody", verdict{State: "failed", ProvenBy: "order_nonce_used", Absence: none, Sources: "never_sent"}, `sources "never_sent"`)
	proving(t, "never sent, by a host", verdict{State: "expired", ProvenBy: "never_sent", Sources: "one_host"}, `sources "one_host"`)
}

func proving(t *testing.T, name string, v verdict, want string) {
	t.Helper()
	o := endedAs(testOrder("dex", native), v)
	o.Steps = []step{{}}
	r := newTestAudit(o)
	r.records[depositTx] = senderRecord{Key: "a/0", State: "mined"}
	r.checkProof(o)
	wantFound(t, name, r, want)
}

// TestJudgeEndOf checks that a record's end is that of its mined attempt.
func TestJudgeEndOf(t *testing.T) {
	rec := senderRecord{Key: "a/0"}
	if err := json.Unmarshal([]byte(`[{"Kind":"call","Hash":"0x01`+strings.Repeat("00", 31)+`"},{"Kind":"cancel","Hash":"0x02`+strings.Repeat("00", 31)+`"}]`), &rec.Attempts); err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct {
		hash   byte
		status uint64
		want   string
	}{{1, 1, "mined"}, {1, 0, "reverted"}, {2, 1, "cancelled"}, {3, 1, "rejected"}} {
		mined := map[common.Hash]ownTx{{x.hash}: {receipt: &types.Receipt{Status: x.status}}}
		if got := endOf(rec, mined); got != x.want {
			t.Errorf("attempt %d mined with status %d: %s, want %s", x.hash, x.status, got, x.want)
		}
	}
}

// TestJudgeTakes checks which of an account's own transactions cannot bring it the coin.
func TestJudgeTakes(t *testing.T) {
	word := strings.Repeat("00", 32)
	for _, x := range []struct {
		what  string
		to    common.Address
		data  string
		value int64
		want  bool
	}{
		{"nothing, in another's place", ours, "", 0, true},
		{"a call of itself", ours, "00", 0, false},
		{"an approval", usdc, "095ea7b3" + word + word, 0, true},
		{"a wrap", usdc, "d0e30db0", 7, true},
		{"an unwrap", usdc, "2e1a7d4d" + word, 0, false},
		{"a swap", usdc, "3593564c", 7, false},
	} {
		tx := types.NewTx(&types.DynamicFeeTx{To: &x.to, Data: common.FromHex(x.data), Value: big.NewInt(x.value)})
		if got := cannotReceive(ours, tx); got != x.want {
			t.Errorf("%s: cannotReceive = %t, want %t", x.what, got, x.want)
		}
	}
}

// TestCancels checks which transactions cancel an order: those of its account, or of its isolated
// account, to itself.
func TestCancels(t *testing.T) {
	o := testOrder("intent", native)
	o.Terms.Account, o.Terms.Isolated = common.Address{1}, common.Address{2}
	for name, x := range map[string]struct {
		from, to common.Address
		want     bool
	}{
		"of the account":             {common.Address{1}, common.Address{1}, true},
		"of the isolated account":    {common.Address{2}, common.Address{2}, true},
		"of another account":         {common.Address{3}, common.Address{3}, false},
		"from the isolated to other": {common.Address{2}, common.Address{1}, false},
	} {
		tx := types.NewTx(&types.DynamicFeeTx{To: &x.to})
		r := &Audit{isolatedTxs: []ownTx{{account: x.from, tx: tx}}}
		o.Verdict = &verdict{Evidence: &evidence{Tx: tx.Hash()}}
		if wrong := r.cancels(o); (wrong == "") != x.want {
			t.Errorf("%s: %q", name, wrong)
		}
	}
}
