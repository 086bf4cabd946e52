package audit

import (
	"math/big"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
)

// TestSeededFaults seeds one fault at a time in evidence that agrees, one for each judgment,
// and checks that the whole audit finds it.
func TestSeededFaults(t *testing.T) {
	intact := newFakeWorld(t)
	if intact.judge(intact.onDisk, intact.journal, intact.reported, intact.consents); len(intact.findings) > 0 {
		t.Fatalf("in evidence that agrees: %q", intact.findings)
	}
	last := func(f *fakeWorld, chain uint64) *types.Receipt {
		b := f.chains[chain].history.blocks
		return b[len(b)-1].found[0]
	}
	left := func(f *fakeWorld, n int64) Grant {
		g := Grant{Chain: 1, Account: f.account, Token: usdc, Spender: spender}
		f.chains[1].allowances[g] = big.NewInt(n)
		return g
	}
	for name, x := range map[string]struct {
		seed func(f *fakeWorld)
		want string
	}{
		"paid twice in one transaction": {func(f *fakeWorld) {
			r := last(f, 10)
			r.Logs = append(r.Logs, moved(token, provider, f.account, 45))
			r.Logs[1].TxHash = r.TxHash
		}, "says that 45 came, and it was 90"},
		"paid twice in two transactions":         {func(f *fakeWorld) { f.paid(10, 45, token) }, "which is of no order"},
		"paid twice, and reported as paid twice": {func(f *fakeWorld) { twice(f, last(f, 10)) }, "got 90, the minimum is 40"},
		"paid one less than reported":            {func(f *fakeWorld) { last(f, 10).Logs[0].Data[31]-- }, "says that 45 came, and it was 44"},
		"paid too little":                        {func(f *fakeWorld) { f.order("a").Terms.MinimumReceived = "46" }, "got 45, the minimum is 46"},
		"paid for a part that is more":           {func(f *fakeWorld) { f.order("a").Verdict.Spent = &spend{usdc, "99"} }, "100 of the input left, want 99"},
		"took one more than accepted":            {func(f *fakeWorld) { f.receiptOf("a/1").Logs[0].Data[31]++ }, "101 of the input left, want 100"},
		"took nothing":                           {func(f *fakeWorld) { f.receiptOf("c/0").Logs = nil }, "0 of the input left, want 100"},
		"refunded one less":                      {func(f *fakeWorld) { f.chains[1].receipts[f.order("b").Verdict.Evidence.Tx].Logs[0].Data[31]-- }, "49 came back"},
		"refunded less than accepted":            {func(f *fakeWorld) { f.order("b").Terms.Refund = &spend{usdc, "51"} }, "50 came back, want 51"},
		"refunded twice":                         {func(f *fakeWorld) { f.paid(1, 50, usdc) }, "which is of no order"},
		"refunded and paid": {func(f *fakeWorld) {
			f.order("b").Terms.DstChainID = 1
			also(f, "b", token, 45)
		}, "of the output came as well"},
		"the output on the wrong chain": {func(f *fakeWorld) { also(f, "b", token, 45) }, "which it is not about"},
		"took in a call that failed":    {func(f *fakeWorld) { f.receiptOf("d/0").Logs = []*types.Log{movedIn(f, "d/0", 100)} }, "100 of the input left"},
		"another token moved":           {func(f *fakeWorld) { also(f, "c", common.Address{0xee}, 1) }, "which it is not about"},
		"one wei more came":             {func(f *fakeWorld) { coin(f, 1, 1) }, "46 of the coin came"},
		"one wei less came":             {func(f *fakeWorld) { coin(f, 1, -1) }, "44 of the coin came"},
		"a balance changed without a log": {func(f *fakeWorld) {
			f.chains[10].history.after[holding{f.account, token}].Add(big.NewInt(1_045), big.NewInt(1))
		}, "want 1045 by the transfers"},
		"an unwrap that is not one for one": {func(f *fakeWorld) {
			f.chains[1].history.Wrapped = usdc
			f.order("c").Verdict.Received = nil
		}, "want 100 to 100"},
		"a wrap that is not one for one": {func(f *fakeWorld) {
			f.order("a").Terms.Provider = "dex"
			f.order("a").Terms.DstChainID, f.order("a").Terms.TokenIn, f.chains[1].history.Wrapped = 1, native, token
		}, "wrapped or unwrapped 100 to"},
		"a revoke that moved something":      {func(f *fakeWorld) { f.order("c").Terms.Provider = "wallet" }, "a revoke moved 100"},
		"a transaction without an order":     {func(f *fakeWorld) { f.own("z/0", "mined", spender, 1, 0) }, "record z/0 is of no order"},
		"own transaction not in the journal": {func(f *fakeWorld) { f.journal = f.journal[1:] }, "was mined and is not in the journal"},
		"one sent that the journal lacks":    {func(f *fakeWorld) { unmined(f, 5) }, "was sent and is not in the journal"},
		"one sent by somebody else": {func(f *fakeWorld) {
			raw, _ := types.NewTx(&types.LegacyTx{}).MarshalBinary()
			f.chains[10].sent = [][]byte{raw}
		}, "was handed a transaction of"},
		"sent what is no transaction": {func(f *fakeWorld) { f.chains[1].sent = [][]byte{{1}} }, "bytes that are no transaction"},
		"a nonce left out":            {func(f *fakeWorld) { f.chains[1].pending++; f.own("d/1", "mined", spender, 1, 0) }, "mined nonce 6 after 5"},
		"something still waits":       {func(f *fakeWorld) { f.chains[1].pending++ }, "with what waits"},
		"a record signed twice":       {func(f *fakeWorld) { f.journal[1].Attempts = append(f.journal[1].Attempts, f.journal[1].Attempts[0]) }, "was signed twice"},
		"outbid by too little": {func(f *fakeWorld) {
			to := common.Address{}
			tx := f.sign(1, &types.DynamicFeeTx{Nonce: 4, To: &to, Gas: 1, GasFeeCap: big.NewInt(3)})
			raw, _ := tx.MarshalBinary()
			f.chains[1].sent = append(f.chains[1].sent, raw)
			f.journal[4].Attempts = append(f.journal[4].Attempts, f.journal[4].Attempts[0])
			f.journal[4].Attempts[1].Kind, f.journal[4].Attempts[1].Hash = "cancel", tx.Hash()
		}, "3 was outbid by 3 only"},
		"a record with another end":          {func(f *fakeWorld) { f.journal[4].State = "mined" }, "is mined, and reverted on the chain"},
		"a record left open":                 {func(f *fakeWorld) { f.journal[2].State = "sent" }, "is sent, and mined on the chain"},
		"a transaction in two records":       {func(f *fakeWorld) { r := f.journal[1]; r.Key = "b/1"; f.journal = append(f.journal, r) }, "is in the records"},
		"an allowance not listed":            {func(f *fakeWorld) { left(f, 1) }, "the list does not say so"},
		"an allowance listed as less":        {func(f *fakeWorld) { f.Listed[left(f, 2)] = Allowance{Kind: "erc20", Amount: "1", Reserved: "1"} }, "listed is 1"},
		"an allowance of no order":           {func(f *fakeWorld) { f.Listed[left(f, 1)] = Allowance{Kind: "erc20", Amount: "1", Reserved: "0"} }, "by no order that is named"},
		"an order reported twice":            {func(f *fakeWorld) { f.reported = append(f.reported, f.reported[0]) }, "is listed twice"},
		"an order lost from the disk":        {func(f *fakeWorld) { delete(f.onDisk, "c") }, "the journal does not have it"},
		"an order not reported":              {func(f *fakeWorld) { f.reported = f.reported[1:] }, "which the daemon does not list"},
		"a consent lost":                     {func(f *fakeWorld) { f.consents[0].Order = "y" }, "was accepted and is lost"},
		"a consent without answer":           {func(f *fakeWorld) { f.consents[0].Order = "" }, "has no answer"},
		"an order without consent":           {func(f *fakeWorld) { f.consents = f.consents[1:] }, "has no consent"},
		"an order of two consents":           {func(f *fakeWorld) { f.consents = append(f.consents, f.consents[0]) }, "is of two consents"},
		"digest without a consent":           {func(f *fakeWorld) { f.consents[0].Digests = nil }, "is not what was accepted"},
		"an end without a verdict":           {func(f *fakeWorld) { f.order("e").Verdict = nil }, "verdict <nil>"},
		"another final state in the journal": {func(f *fakeWorld) { o := f.onDisk["a"]; o.State = "refunded"; f.onDisk["a"] = o }, "the journal says that it is refunded"},
		"a history that goes back": {func(f *fakeWorld) {
			o := f.onDisk["a"]
			o.History = []string{"accepted", "settling", "executing", "filled"}
			f.onDisk["a"] = o
		}, "it goes back to executing"},
		"an end that there is not":       {func(f *fakeWorld) { f.order("d").State = "lost" }, "no such end"},
		"evidence of two orders":         {func(f *fakeWorld) { f.order("c").Verdict.Evidence = f.order("d").Verdict.Evidence }, "is of d too"},
		"evidence in another block":      {func(f *fakeWorld) { f.order("c").Verdict.Evidence.BlockHash = common.Hash{} }, "is not what the chain has"},
		"evidence that no block has":     {func(f *fakeWorld) { f.order("c").Verdict.Evidence.Tx = common.Hash{4} }, "is not what the chain has"},
		"evidence on no chain":           {func(f *fakeWorld) { f.order("c").Verdict.Evidence.ChainID = 9 }, "evidence on chain 9"},
		"a deposit of another order":     {func(f *fakeWorld) { f.order("a").Verdict.Deposit = f.order("b").Verdict.Deposit }, "is none of its own"},
		"searched in blocks that are no": {func(f *fakeWorld) { f.order("e").Verdict.Absence.BlockHash = common.Hash{} }, "what the chain does not have"},
		"expired too early":              {func(f *fakeWorld) { f.order("e").Steps[0].Effect.Deadline = f.order("e").Verdict.Absence.Time }, "it was good until"},
		"at a provider, of nobody":       {func(f *fakeWorld) { f.books["dex"] = append(f.books["dex"], Entry{Ref: "rz"}) }, "which nobody knows"},
		"an order twice at its provider": {func(f *fakeWorld) { f.books["bridge"] = append(f.books["bridge"], f.books["bridge"][0]) }, "the provider has it 2 times"},
		"at a provider no more":          {func(f *fakeWorld) { f.books["bridge"] = nil }, "the provider has it 0 times"},
		"filled, and nobody paid":        {func(f *fakeWorld) { f.books["bridge"][0].Payment = common.Hash{} }, "the provider paid nothing"},
		"expired, and somebody paid":     {func(f *fakeWorld) { f.books["dex"][0].Payment = f.paid(1, 45, token).TxHash }, "the provider paid by"},
		"filled, and refunded really":    {func(f *fakeWorld) { f.books["bridge"][0].IsRefund = true }, "the provider gave back by"},
		"paid by another transaction":    {func(f *fakeWorld) { f.books["bridge"][0].Payment = f.paid(10, 45, token).TxHash }, "the evidence is"},
		"final, and not ended":           {func(f *fakeWorld) { f.order("a").Ended = false }, "ended false"},
		"two likely paid by one payment": {func(f *fakeWorld) {
			for _, id := range []string{"a", "b"} {
				o := f.order(id)
				o.State, o.Condition, o.Final, o.Verdict, o.CandidatePayment = "settling", "likely_paid", false, nil, &candidate{Tx: common.Hash{7}}
			}
		}, "is of a too"},
		"open without a reason": {func(f *fakeWorld) {
			o := f.order("a")
			o.State, o.Final, o.Ended, o.Verdict = "settling", false, false, nil
		}, "it has no end"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFakeWorld(t)
			x.seed(f)
			f.judge(f.onDisk, f.journal, f.reported, f.consents)
			wantFound(t, name, f.testAudit, x.want)
		})
	}
}

// TestForeign checks that a transaction which somebody else signed needs no record, and the
// allowance that it left no order; nothing else in it is excused.
func TestForeign(t *testing.T) {
	for name, x := range map[string]struct {
		foreign bool
		log     func(f *fakeWorld, g Grant) *types.Log
		want    string
	}{
		"an approval":        {true, approvalLog, ""},
		"one by the daemon":  {false, approvalLog, "by no order that is named"},
		"a payment, foreign": {true, func(f *fakeWorld, _ Grant) *types.Log { return moved(usdc, f.account, spender, 1) }, "which is of no order"},
	} {
		f := newFakeWorld(t)
		g := Grant{Chain: 1, Account: f.account, Token: usdc, Spender: spender}
		tx := f.sign(1, &types.DynamicFeeTx{Nonce: 5, To: &usdc, GasFeeCap: big.NewInt(3)})
		f.mine(1, tx, 1, 0, x.log(f, g))
		f.Foreign = map[common.Hash]bool{tx.Hash(): x.foreign}
		f.chains[1].allowances[g], f.Listed[g] = big.NewInt(7), Allowance{Kind: "erc20", Amount: "7", Reserved: "0"}
		f.judge(f.onDisk, f.journal, f.reported, f.consents)
		wantFound(t, name, f.testAudit, x.want)
	}
}

func approvalLog(_ *fakeWorld, g Grant) *types.Log {
	return &types.Log{Address: g.Token, Topics: []common.Hash{approvalEvent, common.Hash(word(g.Account)), common.Hash(word(g.Spender))}, Data: make([]byte, 32)}
}

// twice doubles a payment of order a, and what is told of it.
func twice(f *fakeWorld, r *types.Receipt) {
	r.Logs[0].Data[31] *= 2
	f.order("a").Verdict.Received.Amount = "90"
}

// also adds a transfer to the transaction that ended an order.
func also(f *fakeWorld, id string, of common.Address, n int64) {
	e := f.order(id).Verdict.Evidence
	r := f.chains[e.ChainID].receipts[e.Tx]
	l := moved(of, provider, f.account, n)
	l.TxHash = r.TxHash
	r.Logs = append(r.Logs, l)
}

// movedIn is a transfer of USDC from the account in a record's transaction.
func movedIn(f *fakeWorld, key string, n int64) *types.Log {
	l := moved(usdc, f.account, spender, n)
	l.TxHash = f.receiptOf(key).TxHash
	return l
}

// coin changes what order c's block brought.
func coin(f *fakeWorld, chain uint64, n int64) {
	at := f.receiptOf("c/0").BlockNumber.Uint64()
	for _, b := range f.chains[chain].history.balances[f.account][at:] {
		b.Add(b, big.NewInt(n))
	}
}

// unmined hands a transaction of the account to the node of chain 1, which never mines it.
func unmined(f *fakeWorld, nonce uint64) {
	raw, _ := f.sign(1, &types.DynamicFeeTx{Nonce: nonce, To: &spender}).MarshalBinary()
	f.chains[1].sent = append(f.chains[1].sent, raw)
}
