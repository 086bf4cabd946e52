package host

import (
	"encoding/json"
	"math/big"
	"strings"
	"testing"

	"swapkeep/chain"
	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common"
)

// TestReportOnTheWire checks that an unproven end shows what is known and what was seen.
func TestReportOnTheWire(t *testing.T) {
	o := swap.Order{Progress: swap.Progress{State: swap.Settling, Condition: swap.PaymentSeen, Claim: &swap.Claim{State: swap.Filled},
		Candidate: &swap.CandidatePayment{End: swap.Filled, Chain: 10, Tx: common.Hash{1}, Token: usdc, Amount: big.NewInt(7), From: stranger, Time: testTime}}}
	b, err := json.Marshal(orderOf(o))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`"final":false,"ended":false,"condition":"payment_seen","reported":true,"step":0,`,
		`"candidatePayment":{"end":"filled","chainId":10,"tx":"` + common.Hash{1}.Hex() + `","token":"` + usdc.Hex() + `","amount":"7","from":"` + stranger.Hex() + `","time":"`,
	} {
		if !strings.Contains(string(b), want) {
			t.Errorf("no %s in %s", want, b)
		}
	}
	o.Condition = swap.LikelyPaid
	if b, _ = json.Marshal(orderOf(o)); !strings.Contains(string(b), `"final":false,"ended":true,"condition":"likely_paid","reported":true`) {
		t.Errorf("likely paid: %s", b)
	}
	o.Condition, o.Candidate = swap.WaitingForUnlock, nil
	if b, _ = json.Marshal(orderOf(o)); strings.Contains(string(b), "report") || strings.Contains(string(b), "candidatePayment") {
		t.Errorf("order = %s, want no report and no payment seen", b)
	}
}

// TestCloseOnTheWire checks that an open order on a chain that was shut down shows that it can be
// closed, wherever it stands.
func TestCloseOnTheWire(t *testing.T) {
	for state, want := range map[swap.State]bool{swap.Accepted: true, swap.Executing: true, swap.Settling: true, swap.Closed: false, swap.Failed: false} {
		o := swap.Order{Progress: swap.Progress{State: state}, Created: testTime}
		if from := orderOf(o).CanCloseFrom; !from.IsZero() {
			t.Errorf("%s on a running chain: from %s", state, from)
		}
		o.ChainEnded = true
		if from := orderOf(o).CanCloseFrom; from.Equal(testTime) != want {
			t.Errorf("%s: from %s", state, from)
		}
	}
}

// TestVerdictOnTheWire checks that a verdict shows everything that proved it, with a
// text.
func TestVerdictOnTheWire(t *testing.T) {
	tx := common.Hash{1}
	o := swap.Order{Progress: swap.Progress{State: swap.Filled, Claim: &swap.Claim{State: swap.Filled, ProviderStatus: "success", Chain: 10, Tx: tx}}, Outcome: swap.Outcome{Verdict: &swap.Verdict{
		State: swap.Filled, ProvenBy: "arrival", Received: &swap.Spend{Token: usdc, Amount: big.NewInt(7)}, BelowMinimum: true, Spent: &swap.Spend{Token: usdc, Amount: big.NewInt(8)}, Sources: swap.TwoHosts,
		Evidence: &chain.Evidence{Chain: 10, Tx: tx, From: router, Value: big.NewInt(5), Time: testTime, FeePaid: new(big.Int)},
		Deposit:  &chain.Evidence{Chain: 1, Tx: common.Hash{2}, FeePaid: new(big.Int)},
		Logs:     []swap.LogRef{{Chain: 10, Tx: tx, Index: 3}, {Chain: 10, Tx: tx, Index: -1, BalanceIncrease: true}},
		Absence:  &swap.Absence{Chain: 1, From: 5, Through: chain.Block{Number: 9, Hash: common.Hash{9}, Time: testTime}, Hosts: []string{"a", "b"}},
	}}}
	b, err := json.Marshal(orderOf(o))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`"provenBy":"arrival"`, `"belowMinimum":true,"spent":{"token":"` + usdc.Hex() + `","amount":"8"}`, `"from":"` + router.Hex() + `","value":"5","time":"`, `"deposit":{"chainId":1`,
		`"logs":[{"chainId":10,"tx":"` + tx.Hex() + `","logIndex":3},{"chainId":10,"tx":"` + tx.Hex() + `","logIndex":-1,"balanceIncrease":true}]`,
		`"absence":{"chainId":1,"from":5,"through":9,`, `"hosts":["a","b"]`, `"claim":{"state":"filled","providerStatus":"success","chainId":10,`,
	} {
		if !strings.Contains(string(b), want) {
			t.Errorf("no %s in %s", want, b)
		}
	}
}
