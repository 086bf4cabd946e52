//go:build faults && linux

package torture

import (
	"encoding/json"
	"math/big"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"

	"swapkeep/host/protocol"
	"swapkeep/test/journalreader"
)

// The TestJudge tests cover all that a round excuses: each function gets what it excuses,
// and similar cases that it must not.

var (
	ours, usdc  = common.Address{0xa}, common.Address{0xc}
	pays, other = common.Hash{1}, common.Hash{2}
	depositTx   = common.Hash{3} // a deposit
)

func amount(n int64) protocol.Amount { return protocol.AmountOf(big.NewInt(n)) }

func hashed(h common.Hash) protocol.Hash { return protocol.Hash(h.Hex()) }

// testOrder is an order of 100 USDC on chain 1 for at least 40 of a token on chain 10.
func testOrder(kind string, out common.Address) protocol.Order {
	return protocol.Order{
		ID: "a", Request: "r", Digest: hashed(other), State: "settling", Ref: "x",
		Terms: protocol.Terms{
			Provider: kind, Account: protocol.Address(ours.Hex()), SrcChainID: 1, DstChainID: 10,
			TokenIn: protocol.Address(usdc.Hex()), AmountIn: amount(100), TokenOut: protocol.Address(out.Hex()), MinimumReceived: amount(40),
		},
	}
}

func endedAs(o protocol.Order, v protocol.Verdict) protocol.Order {
	o.State, o.Final, o.Verdict = v.State, true, &v
	return o
}

// newTestAudit returns a reckoning of these orders, without a world.
func newTestAudit(orders ...protocol.Order) *audit {
	r := newAudit(&world{report: newReport(0)}, nil)
	for _, o := range orders {
		r.orders[o.ID] = protocol.OrderResult{Order: o}
	}
	return r
}

// wantFound checks for a finding that contains want, or for none if want is "".
func wantFound(t *testing.T, name string, r *audit, want string) {
	t.Helper()
	if want == "" && len(r.findings) > 0 || want != "" && !slices.ContainsFunc(r.findings, func(f string) bool { return strings.Contains(f, want) }) {
		t.Errorf("%s: found %q, want %q", name, r.findings, want)
	}
}

func TestJudgeNumbers(t *testing.T) {
	for _, x := range []struct {
		rounds, only int
		want         []int
	}{{3, -1, []int{0, 1, 2}}, {6, 16, []int{16}}, {0, 0, []int{0}}, {0, -1, nil}} {
		if got := roundNumbers(x.rounds, x.only); !slices.Equal(got, x.want) {
			t.Errorf("%d rounds, %d alone: %v, want %v", x.rounds, x.only, got, x.want)
		}
	}
}

// TestJudgeRests checks that in peace a daemon is ended only if its clock leapt by days,
// and only after half of the time.
func TestJudgeRests(t *testing.T) {
	for _, x := range []struct {
		pid   int
		leapt []int
		left  time.Duration
		want  bool
	}{
		{7, []int{3, 7}, longestPeace / 3, true},
		{7, []int{3, 7}, longestPeace, false},
		{7, []int{3}, longestPeace / 3, false},
		{0, []int{0}, longestPeace / 3, false},
	} {
		if got := rests(x.pid, x.leapt, x.left); got != x.want {
			t.Errorf("%+v: %t", x, got)
		}
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
		"as it was":            {func(*movement) {}, ""},
		"out of the account":   {func(m *movement) { m.amount = big.NewInt(-41) }, "is of no order"},
		"less than was owed":   {func(m *movement) { m.amount = big.NewInt(39) }, "is of no order"},
		"twice as much":        {func(m *movement) { m.amount = big.NewInt(81) }, "is of no order"},
		"another token":        {func(m *movement) { m.token = usdc }, "is of no order"},
		"another chain":        {func(m *movement) { m.chain = 1 }, "is of no order"},
		"another transaction":  {func(m *movement) { m.tx = other }, "is of no order"},
		"to another of ours":   {func(m *movement) { m.account = common.Address{0xb} }, "is of no order"},
		"of an order that got": {nil, "is of no order"}, // its own payment is no gift
	} {
		o, m := testOrder(intent, given.token), given
		e := journalreader.Entry{Ref: "x", Deposit: depositTx, Payment: pays}
		if x.change != nil {
			x.change(&m)
		} else {
			o = endedAs(o, protocol.Verdict{State: "filled", By: "arrival", Evidence: &protocol.Evidence{Tx: hashed(pays)}})
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
	e := journalreader.Entry{Ref: "x", Deposit: depositTx, Payment: tx.Hash()}
	gift := func(r *audit, o protocol.Order) { r.recordDropped(o, e) }
	awaited := func(r *audit, o protocol.Order) { r.recordAwaited(o, e) }
	for name, x := range map[string]struct {
		note  func(*audit, protocol.Order)
		out   common.Address
		chain uint64
		came  int64
		want  string
	}{
		"a gift":                         {gift, native, 10, 45, ""},
		"a gift that did not come":       {gift, native, 10, 0, "of the coin came"},
		"more than a gift":               {gift, native, 10, 81, "of the coin came"},
		"the coin beside a gift":         {gift, usdc, 10, 1, "of the coin came"},
		"a gift on another chain":        {gift, native, 1, 45, "of the coin came"},
		"awaited":                        {awaited, native, 10, 45, ""},
		"more than is awaited":           {awaited, native, 10, 81, "of the coin came"},
		"the coin where it is a token":   {awaited, usdc, 10, 45, "of the coin came"},
		"the input where it is a token":  {awaited, native, 1, 45, "of the coin came"},
		"nobody's":                       {func(*audit, protocol.Order) {}, native, 10, 45, "of the coin came"},
		"gone, beside one that is given": {gift, native, 10, -1, "of the coin came"},
	} {
		o := testOrder(intent, x.out)
		r := newTestAudit(o)
		x.note(r, o)
		r.checkBlockCoins(x.chain, ours, p, big.NewInt(x.came))
		wantFound(t, name, r, x.want)
	}
}

// TestJudgeKnown checks that an entry without a known name is excused only by the end of an
// unnamed order of the same provider, or by a deposit of ours that a reorg dropped.
func TestJudgeKnown(t *testing.T) {
	paid := protocol.Verdict{State: "filled", By: "arrival", Evidence: &protocol.Evidence{Tx: hashed(pays)}}
	unnamed := endedAs(testOrder(intent, native), paid)
	unnamed.Ref = ""
	for name, x := range map[string]struct {
		o    protocol.Order
		kind string
		e    journalreader.Entry
		lost bool
		want bool
	}{
		"by its name":                     {testOrder(intent, native), intent, journalreader.Entry{Ref: "X"}, false, true},
		"another's name":                  {testOrder(intent, native), bridge, journalreader.Entry{Ref: "X"}, false, false},
		"unnamed, by its end":             {unnamed, intent, journalreader.Entry{Ref: "y", Payment: pays}, false, true},
		"unnamed, another payment":        {unnamed, intent, journalreader.Entry{Ref: "y", Payment: other}, false, false},
		"unnamed, another provider":       {unnamed, bridge, journalreader.Entry{Ref: "y", Payment: pays}, false, false},
		"unnamed, unpaid":                 {unnamed, intent, journalreader.Entry{Ref: "y"}, false, false},
		"a second one of a named order":   {endedAs(testOrder(intent, native), paid), intent, journalreader.Entry{Ref: "y", Payment: pays}, false, false},
		"its deposit gone":                {testOrder(intent, native), intent, journalreader.Entry{Ref: "y", Deposit: depositTx}, true, true},
		"its deposit there":               {testOrder(intent, native), intent, journalreader.Entry{Ref: "y", Deposit: depositTx}, false, false},
		"a deposit that is gone, and not": {testOrder(intent, native), intent, journalreader.Entry{Ref: "y", Deposit: other}, true, false},
	} {
		r := newTestAudit(x.o)
		r.records[depositTx] = journalreader.Record{Key: "a/0"}
		if x.lost {
			r.recordDropped(x.o, journalreader.Entry{Deposit: depositTx})
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
		e    journalreader.Entry
		paid bool
		may  bool
	}{
		"nobody is paid":                  {usdc, journalreader.Entry{Ending: "claim_refund"}, false, true},
		"it is about to pay":              {usdc, journalreader.Entry{Ending: "fill"}, false, false},
		"the coin, unnamed":               {native, journalreader.Entry{Ending: "fail_fill", Payment: pays, Final: true}, true, true},
		"the coin, named":                 {native, journalreader.Entry{Ending: "fill", Payment: pays, Final: true, PaymentNamed: true}, true, false},
		"the coin, not named yet":         {native, journalreader.Entry{Payment: pays}, true, false},
		"a token, unnamed":                {usdc, journalreader.Entry{Ending: "fail_fill", Payment: pays, Final: true}, true, false},
		"a token back, unnamed":           {native, journalreader.Entry{Ending: "fail_refund", Payment: pays, Final: true, IsRefund: true}, true, false},
		"a payment that the chain forgot": {native, journalreader.Entry{Ending: "fill", Payment: pays, Final: true, PaymentNamed: true}, false, true},
	} {
		o := testOrder(intent, x.out)
		o.Claim = &protocol.Claim{State: "failed"} // what the daemon heard is no excuse
		if why := whyOpenFor(o, x.e, x.paid, false); (why != "") != x.may {
			t.Errorf("%s: %q", name, why)
		}
	}
}

// TestJudgeCrowded checks that received coin may be unclear only if something else in its
// block changed the balance.
func TestJudgeCrowded(t *testing.T) {
	const unclear = "amount_unclear"
	named := journalreader.Entry{Ending: "fill", Payment: pays, Final: true, PaymentNamed: true}
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
		o := testOrder(intent, x.out)
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
	paid := journalreader.Entry{Ref: "x", Payment: pays, Final: true}
	for name, x := range map[string]struct {
		change func(rival *protocol.Order, m *movement)
		unpaid bool
		want   bool
	}{
		"as its output":            {func(*protocol.Order, *movement) {}, true, true},
		"given back":               {func(p *protocol.Order, _ *movement) { back(p, 10, token, 30) }, true, true},
		"given back elsewhere":     {func(p *protocol.Order, _ *movement) { back(p, 1, token, 30) }, true, false},
		"which is paid":            {func(*protocol.Order, *movement) {}, false, false},
		"which has ended":          {func(p *protocol.Order, _ *movement) { p.Final = true }, true, false},
		"which waits for more":     {func(p *protocol.Order, _ *movement) { p.Terms.MinimumReceived = amount(50) }, true, false},
		"which waits for less":     {func(p *protocol.Order, _ *movement) { p.Terms.MinimumReceived = amount(20) }, true, false},
		"of another token":         {func(p *protocol.Order, _ *movement) { p.Terms.TokenOut = protocol.Address(usdc.Hex()) }, true, false},
		"of another account":       {func(p *protocol.Order, _ *movement) { p.Terms.Account = protocol.Address(usdc.Hex()) }, true, false},
		"and nothing came of its":  {func(_ *protocol.Order, m *movement) { m.tx = other }, true, false},
		"and less came than owed":  {func(_ *protocol.Order, m *movement) { m.amount = big.NewInt(39) }, true, false},
		"but there is no such one": {func(p *protocol.Order, _ *movement) { p.ID = "a" }, true, false},
	} {
		o, rival := testOrder(intent, token), testOrder(intent, token)
		rival.ID = "b"
		m := movement{10, ours, token, big.NewInt(45), pays, 5}
		x.change(&rival, &m)
		r := newTestAudit(o, rival)
		r.moves = []movement{m}
		if got := r.ambiguousPayment(o, paid, func(protocol.Order) bool { return x.unpaid }); got != x.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

// back makes an order wait for a refund of n of a token.
func back(o *protocol.Order, chain uint64, token common.Address, n int64) {
	o.Terms.SrcChainID, o.Terms.TokenIn, o.Terms.AmountIn = chain, protocol.Address(token.Hex()), amount(n)
	o.Terms.TokenOut = protocol.Address(usdc.Hex())
}

// TestJudgeBook checks that an order its provider named or paid is in its records once.
func TestJudgeBook(t *testing.T) {
	paid := endedAs(testOrder(intent, native), protocol.Verdict{State: "filled", By: "arrival", Evidence: &protocol.Evidence{Tx: hashed(pays)}})
	unnamed, untold := paid, endedAs(testOrder(intent, native), protocol.Verdict{State: "cancelled", By: "withdrawn"})
	unnamed.Ref, untold.Ref = "", ""
	expired := endedAs(testOrder(dex, native), protocol.Verdict{State: "expired", By: "absence"})
	entry := journalreader.Entry{Ref: "x", Payment: pays}
	for name, x := range map[string]struct {
		o      protocol.Order
		book   []journalreader.Entry
		handed bool
		times  int
	}{
		"once":             {paid, []journalreader.Entry{entry, {Ref: "y"}}, true, 1},
		"missing":          {paid, []journalreader.Entry{{Ref: "y", Payment: pays}}, true, 0},
		"twice":            {paid, []journalreader.Entry{entry, entry}, true, 2},
		"unnamed":          {unnamed, []journalreader.Entry{entry}, true, 1},
		"unnamed, missing": {unnamed, nil, true, 0},
		"named, missing":   {expired, []journalreader.Entry{{Ref: "y"}}, true, 0},
		"never told":       {untold, []journalreader.Entry{entry}, false, 0},
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
		if _, known := proofRules[by]; known == (by == "other_nonce") {
			t.Errorf("%s: known %t", by, known)
		}
	}
	if len(proofRules) != len(protocol.Vocabularies[i].Words)-1 {
		t.Errorf("%d ways, and there are %d words", len(proofRules), len(protocol.Vocabularies[i].Words))
	}
}

// TestJudgeProven checks that a verdict without what its proof requires is found.
func TestJudgeProven(t *testing.T) {
	ev := func(tx common.Hash, chain uint64) *protocol.Evidence {
		return &protocol.Evidence{ChainID: chain, Tx: hashed(tx), Success: true}
	}
	logs, none := []protocol.LogRef{{}}, &protocol.Absence{ChainID: 1, From: 1, Through: 2, Hosts: []string{"h"}}
	for name, x := range map[string]struct {
		v    protocol.Verdict
		want string
	}{
		"a fill":                         {protocol.Verdict{State: "filled", By: "fill", Evidence: ev(pays, 1), Logs: logs}, ""},
		"a fill without evidence":        {protocol.Verdict{State: "filled", By: "fill", Logs: logs}, "with evidence <nil>"},
		"a fill without logs":            {protocol.Verdict{State: "filled", By: "fill", Evidence: ev(pays, 1)}, "without [logs]"},
		"a fill by its own transaction":  {protocol.Verdict{State: "filled", By: "fill", Evidence: ev(depositTx, 1), Logs: logs}, "its own true"},
		"a fill that failed":             {protocol.Verdict{State: "filled", By: "fill", Evidence: &protocol.Evidence{ChainID: 1, Tx: hashed(pays)}, Logs: logs}, "success false"},
		"a fill on another chain":        {protocol.Verdict{State: "filled", By: "fill", Evidence: ev(pays, 10), Logs: logs}, "on chain 10"},
		"a fill, and searched in vain":   {protocol.Verdict{State: "filled", By: "fill", Evidence: ev(pays, 1), Logs: logs, Absence: none}, "absence &"},
		"another's call as its own":      {protocol.Verdict{State: "filled", By: "own_call", Evidence: ev(pays, 1)}, "its own false"},
		"an arrival without a deposit":   {protocol.Verdict{State: "filled", By: "arrival", Evidence: ev(pays, 10), Logs: logs}, "without [received deposit]"},
		"an end of another way":          {protocol.Verdict{State: "filled", By: "refund", Evidence: ev(pays, 1), Logs: logs}, "the verdict is filled"},
		"a way that there is not":        {protocol.Verdict{State: "failed", By: "other_nonce"}, "the verdict is failed"},
		"a nonce used":                   {protocol.Verdict{State: "failed", By: "used_nonce", Absence: none}, ""},
		"a nonce used, not searched":     {protocol.Verdict{State: "failed", By: "used_nonce"}, "absence <nil>"},
		"void, and not searched":         {protocol.Verdict{State: "cancelled", By: "void", Evidence: ev(depositTx, 1)}, "absence <nil>"},
		"void without a transaction":     {protocol.Verdict{State: "cancelled", By: "void", Absence: none}, "evidence <nil>"},
		"withdrawn, and signed":          {protocol.Verdict{State: "cancelled", By: "withdrawn"}, "has its transaction a/0"},
		"never sent, and mined":          {protocol.Verdict{State: "expired", By: "never_sent"}, "no transaction of its that was rejected"},
		"cancelled by what is no cancel": {protocol.Verdict{State: "cancelled", By: "cancel", Evidence: ev(depositTx, 1)}, "no transaction of the account to itself"},
		"a revoke that is none":          {protocol.Verdict{State: "filled", By: "revoke", Evidence: ev(depositTx, 1)}, "it is no revoke"},
		"a revert that succeeded":        {protocol.Verdict{State: "failed", By: "revert", Evidence: ev(depositTx, 1)}, "success true"},
		"expired, searched too short":    {protocol.Verdict{State: "expired", By: "absence", Absence: none}, "it was good until"},
	} {
		x.v.Sources = "one source"
		proving(t, name, x.v, x.want)
	}
	proving(t, "without sources", protocol.Verdict{State: "failed", By: "used_nonce", Absence: none}, `sources ""`)
}

func proving(t *testing.T, name string, v protocol.Verdict, want string) {
	t.Helper()
	o := endedAs(testOrder(dex, native), v)
	o.Steps = []protocol.Step{{}}
	r := newTestAudit(o)
	r.records[depositTx] = journalreader.Record{Key: "a/0", State: "mined"}
	r.checkProof(o)
	wantFound(t, name, r, want)
}

// TestJudgeStored checks the comparison of the daemon's answers with the disk.
func TestJudgeStored(t *testing.T) {
	o := endedAs(testOrder(dex, native), protocol.Verdict{State: "failed", By: "used_nonce"})
	lines := []string{"accepted", "settling", "failed"}
	kept := func() journalreader.Order {
		d := journalreader.Order{ID: "a", Request: "r", Digest: other, State: "failed", OrderByRequest: "a", History: slices.Clone(lines)}
		d.Verdict = &struct {
			State, By string
			Evidence  *struct{ Tx common.Hash }
		}{State: "failed", By: "used_nonce"}
		return d
	}
	for name, x := range map[string]struct {
		change func(all map[string]journalreader.Order, d *journalreader.Order)
		want   string
	}{
		"the same":          {func(map[string]journalreader.Order, *journalreader.Order) {}, ""},
		"one more":          {func(all map[string]journalreader.Order, d *journalreader.Order) { all["b"] = *d }, "which the daemon does not list"},
		"one less":          {nil, "the journal does not have it"},
		"another request":   {func(_ map[string]journalreader.Order, d *journalreader.Order) { d.Request = "s" }, "told was"},
		"another digest":    {func(_ map[string]journalreader.Order, d *journalreader.Order) { d.Digest = pays }, "told was"},
		"another's request": {func(_ map[string]journalreader.Order, d *journalreader.Order) { d.OrderByRequest = "b" }, "its request"},
		"another end":       {func(_ map[string]journalreader.Order, d *journalreader.Order) { d.State = "filled" }, "says that it is filled"},
		"no end":            {func(_ map[string]journalreader.Order, d *journalreader.Order) { d.State = "settling" }, "says that it is settling"},
		"listed as open":    {func(_ map[string]journalreader.Order, d *journalreader.Order) { d.Open = true }, "index of what is open"},
		"another proof":     {func(_ map[string]journalreader.Order, d *journalreader.Order) { d.Verdict.By = "absence" }, "verdict"},
		"no proof":          {func(_ map[string]journalreader.Order, d *journalreader.Order) { d.Verdict = nil }, "verdict"},
		"evidence untold": {func(_ map[string]journalreader.Order, d *journalreader.Order) {
			d.Verdict.Evidence = &struct{ Tx common.Hash }{pays}
		}, "evidence"},
		"a line untold": {func(_ map[string]journalreader.Order, d *journalreader.Order) {
			d.History = append(d.History, "failed")
		}, "4 lines"},
		"a line changed":     {func(_ map[string]journalreader.Order, d *journalreader.Order) { d.History[1] = "executing" }, "line 1"},
		"a history backward": {func(_ map[string]journalreader.Order, d *journalreader.Order) { d.History[0] = "executing" }, "begins with"},
	} {
		r := newTestAudit(o)
		told := r.orders["a"]
		for _, state := range lines {
			told.History = append(told.History, protocol.Entry{State: state})
		}
		r.orders["a"] = told
		all, d := map[string]journalreader.Order{}, kept()
		if x.change != nil {
			x.change(all, &d)
			all["a"] = d
		}
		r.checkStored(all)
		wantFound(t, name, r, x.want)
	}
}

// TestJudgeEndOf checks that a record's end is that of its mined attempt.
func TestJudgeEndOf(t *testing.T) {
	rec := journalreader.Record{Key: "a/0"}
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
		if cannotReceive(ours, tx) != x.want {
			t.Errorf("%s: %v", x.what, !x.want)
		}
	}
}
