package intentsim_test

import (
	"bytes"
	"encoding/json"
	"math/big"
	"net/http"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"

	"swapkeep/sandbox"
	"swapkeep/sandbox/intentsim"
	"swapkeep/sandbox/sandboxtest"
)

func build(t *testing.T, s *sandbox.Sandbox, p pair) buildReply {
	t.Helper()
	q := mustAsk[quotesReply](t, s, http.MethodPost, "/v1/quotes", p.request(t, s))
	return mustAsk[buildReply](t, s, http.MethodPost, "/v1/deposit/build", buildRequest(s, q.QuoteID, p.route, nil))
}

// sent decodes the transactions of a plan.
func (b buildReply) sent(t *testing.T) []transaction {
	t.Helper()
	var all []transaction
	for _, a := range b.Approvals {
		if a.Request.Method == "eth_sendTransaction" {
			all = append(all, a.transaction(t))
		}
	}
	return all
}

// TestApprovals checks that an allowance is reset first if the token requires it, and
// that a sufficient one is left alone.
func TestApprovals(t *testing.T) {
	s := start(t, 1, 42161)
	p := pairs[4]
	usdt, contract := token(t, s, 1, "USDT"), s.Chain(1).Network.IntentDeposit()
	for _, tc := range []struct {
		allowed *big.Int
		want    []*big.Int
	}{
		{new(big.Int), []*big.Int{p.amount}},
		{big.NewInt(1), []*big.Int{new(big.Int), p.amount}},
		{p.amount, nil},
	} {
		approve := func(n *big.Int) {
			data := append(crypto.Keccak256([]byte("approve(address,uint256)"))[:4], common.LeftPadBytes(contract[:], 32)...)
			transact(t, s, 1, transaction{From: s.Accounts()[0].Address, To: usdt, Data: append(data, common.BigToHash(n).Bytes()...)})
		}
		approve(new(big.Int))
		approve(tc.allowed)
		txs := build(t, s, p).sent(t)
		if len(txs) != len(tc.want)+1 {
			t.Fatalf("%s allowed: %d transactions", tc.allowed, len(txs))
		}
		for i, want := range tc.want {
			if got := new(big.Int).SetBytes(txs[i].Data[36:]); txs[i].To != usdt || got.Cmp(want) != 0 {
				t.Errorf("%s allowed: approval %d is %s of %s", tc.allowed, i, got, txs[i].To)
			}
		}
		if txs[len(tc.want)].To != contract {
			t.Errorf("the deposit goes to %s", txs[len(tc.want)].To)
		}
	}
}

func TestProtocolFee(t *testing.T) {
	s := shared(t)
	set(t, s, func(c *intentsim.Settings) { c.ProtocolFee = "1000" })
	p := pairs[2]
	want := new(big.Int).Add(p.amount, big.NewInt(1000))
	plan := build(t, s, p)
	if got := plan.sent(t)[0].Value.ToInt(); got.Cmp(want) != 0 {
		t.Errorf("value %s, want %s", got, want)
	}
	if receipt := execute(t, s, p.from, plan); receipt.Status != types.ReceiptStatusSuccessful {
		t.Error("the deposit with a fee reverted")
	}
}

// TestPlansThatGoWrong checks that each wrong plan differs visibly or is refused by the
// token or the contract.
func TestPlansThatGoWrong(t *testing.T) {
	s := start(t, 8453, 42161)
	erc20, coin := pairs[0], pairs[1]
	coin.to = 42161
	count := func(n int) func(*testing.T, buildReply, []transaction) bool {
		return func(_ *testing.T, b buildReply, _ []transaction) bool { return len(b.Approvals) == n }
	}
	cases := []struct {
		plan  string
		pair  pair
		check func(*testing.T, buildReply, []transaction) bool
	}{
		{"wrong_from", erc20, func(_ *testing.T, _ buildReply, txs []transaction) bool {
			return txs[1].From != s.Accounts()[0].Address
		}},
		{"wrong_chain", erc20, func(_ *testing.T, _ buildReply, txs []transaction) bool { return string(txs[1].ChainID) == `"0x2106"` }},
		{"hex_chainid", erc20, func(_ *testing.T, _ buildReply, txs []transaction) bool { return string(txs[0].ChainID) == `"0x2105"` }},
		{"number_chainid", erc20, func(_ *testing.T, _ buildReply, txs []transaction) bool { return string(txs[1].ChainID) == `8453` }},
		{"missing_chain_switch", erc20, count(2)},
		{"switch_elsewhere", erc20, func(_ *testing.T, b buildReply, _ []transaction) bool {
			return string(b.Approvals[0].Request.Params[0]) == `{"chainId":"0x2106"}`
		}},
		{"unlimited_approve", erc20, func(_ *testing.T, _ buildReply, txs []transaction) bool {
			return bytes.Equal(txs[0].Data[36:], bytes.Repeat([]byte{255}, 32))
		}},
		{"stranger_contract", erc20, func(_ *testing.T, _ buildReply, txs []transaction) bool {
			return common.BytesToAddress(txs[0].Data[4:36]) == txs[1].To && txs[1].To != s.Chain(8453).Network.IntentDeposit()
		}},
		{"stranger_spender", erc20, func(_ *testing.T, _ buildReply, txs []transaction) bool {
			return common.BytesToAddress(txs[0].Data[4:36]) != txs[1].To
		}},
		{"extra_action", erc20, count(4)},
		{"extra_action", coin, count(2)},
		{"foreign_method", erc20, func(_ *testing.T, b buildReply, _ []transaction) bool {
			return b.Approvals[2].Request.Method == "personal_sign"
		}},
		{"solana", coin, func(_ *testing.T, b buildReply, _ []transaction) bool {
			return b.Approvals[0].Type == "solana_sendTransaction"
		}},
		{"two_deposits", erc20, func(_ *testing.T, b buildReply, _ []transaction) bool {
			return b.Approvals[2].isDeposit() && b.Approvals[3].isDeposit()
		}},
		{"no_deposit", erc20, func(_ *testing.T, b buildReply, _ []transaction) bool { return !b.Approvals[2].isDeposit() }},
		{"deposit_first", erc20, func(_ *testing.T, b buildReply, _ []transaction) bool { return b.Approvals[0].isDeposit() }},
		{"empty", erc20, count(0)},
		{"greedy", erc20, func(t *testing.T, b buildReply, _ []transaction) bool {
			return execute(t, s, 8453, b).Status == types.ReceiptStatusFailed
		}},
		{"other_token", erc20, func(t *testing.T, b buildReply, _ []transaction) bool {
			return execute(t, s, 8453, b).Status == types.ReceiptStatusFailed
		}},
		{"modest", erc20, func(t *testing.T, b buildReply, _ []transaction) bool {
			half := new(big.Int).Rsh(erc20.amount, 1)
			usdc, me := token(t, s, 8453, "USDC"), s.Accounts()[0].Address
			return gained(t, s, 8453, me, usdc, func() { execute(t, s, 8453, b) }).Cmp(half.Neg(half)) == 0
		}},
	}
	for _, tc := range cases {
		t.Run(tc.plan, func(t *testing.T) {
			set(t, s, func(c *intentsim.Settings) { c.Plan = tc.plan })
			b := build(t, s, tc.pair)
			if !tc.check(t, b, b.sent(t)) {
				t.Errorf("plan %+v", b)
			}
		})
	}
}

// TestLayoutChanges checks that layouts differ between runs and chains, and that a seed
// reproduces its layout.
func TestLayoutChanges(t *testing.T) {
	seen := map[[4]byte]bool{}
	for seed := range uint64(50) {
		for _, chain := range []uint64{1, 8453} {
			l := intentsim.NewLayout(seed, chain)
			if seen[l.Selector] {
				t.Errorf("seed %d, chain %d: the selector of another", seed, chain)
			}
			seen[l.Selector] = true
			if l != intentsim.NewLayout(seed, chain) {
				t.Error("the same seed gave another layout")
			}
			places := map[int]bool{}
			for _, at := range l.At {
				places[at] = true
			}
			if len(places) != len(l.At) || l.Words <= len(l.At) {
				t.Errorf("layout %+v", l)
			}
		}
	}
	var selectors []string
	for range 2 {
		s := sandboxtest.StartWith(t, sandbox.Options{Chains: []uint64{8453, 42161}, Period: -1, Instant: true})
		txs := build(t, s, pairs[0]).sent(t)
		selectors = append(selectors, string(txs[1].Data[:4]))
	}
	if selectors[0] == selectors[1] {
		t.Error("two runs have the same selector")
	}
}

func TestSettingsRefuse(t *testing.T) {
	s := shared(t)
	for name, change := range map[string]func(*intentsim.Settings){
		"rate":       func(c *intentsim.Settings) { c.RateLimit = -1 },
		"time":       func(c *intentsim.Settings) { c.ValidSeconds = -1 },
		"fee":        func(c *intentsim.Settings) { c.ProtocolFee = "1.5" },
		"plan":       func(c *intentsim.Settings) { c.Plan = "evil" },
		"filler":     func(c *intentsim.Settings) { c.DelayMS = map[string]int{"Nobody": 1} },
		"error":      func(c *intentsim.Settings) { c.Errors = []intentsim.Error{{Path: "/", Name: "Exception", Times: 1}} },
		"forever":    func(c *intentsim.Settings) { c.Errors = []intentsim.Error{{Path: "/", Name: "ValidationException"}} },
		"ending":     func(c *intentsim.Settings) { c.Outcome.Ending = "well" },
		"an ending":  func(c *intentsim.Settings) { c.Outcomes = []intentsim.Outcome{{Ending: "well"}} },
		"payment":    func(c *intentsim.Settings) { c.Outcome.PayBips = -1 },
		"two payers": func(c *intentsim.Settings) { c.Outcome.Reserve, c.Outcome.Stranger = true, true },
	} {
		settings := s.Intent().Settings()
		change(&settings)
		if s.Intent().Set(settings) == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

// TestControl checks that the control endpoint keeps members that are left out and
// replaces lists.
func TestControl(t *testing.T) {
	s := shared(t)
	post := func(body string) intentsim.Settings {
		t.Helper()
		resp, err := http.Post(s.ControlURL()+"/intent", "application/json", bytes.NewReader([]byte(body)))
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		var got intentsim.Settings
		if err := json.NewDecoder(resp.Body).Decode(&got); err != nil || resp.StatusCode != 200 {
			t.Fatalf("%d: %v", resp.StatusCode, err)
		}
		return got
	}
	post(`{"outcomes":[{"ending":"refund","payBips":9000},{"ending":"never"}]}`)
	got := post(`{"quoteSeconds":5,"outcomes":[{"ending":"fill"}]}`)
	if got.QuoteSeconds != 5 || got.ValidSeconds != 600 || len(got.Outcomes) != 1 || got.Outcomes[0] != (intentsim.Outcome{Ending: "fill"}) {
		t.Errorf("settings %+v", got)
	}
	resp, err := http.Get(s.ControlURL() + "/intent/orders")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var orders []intentsim.Order
	if err := json.NewDecoder(resp.Body).Decode(&orders); err != nil || len(orders) != 0 {
		t.Errorf("orders are %v, %v; want none", orders, err)
	}
}
