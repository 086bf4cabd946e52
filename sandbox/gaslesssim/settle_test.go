package gaslesssim_test

import (
	"math/big"
	"testing"

	"github.com/ethereum/go-ethereum"
	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"

	"swapkeep/sandbox/contracts"
	"swapkeep/sandbox/gaslesssim"
	"swapkeep/sandbox/sandboxtest"
)

// The events, by the published topics of the provider's contracts.
var (
	jamFilled = common.HexToHash("0x9659aee63163c5924fca8de09494faaf9169aef36315127310d6e86596eb83dd")
	rfqFilled = common.HexToHash("0xadd7095becdaa725f0f33243630938c861b0bba83dfd217d4055701aa768ec2e")
	transfer  = crypto.Keccak256Hash([]byte("Transfer(address,address,uint256)"))
)

// A trade is a trade that settles.
type trade struct {
	name      string
	protocol  string
	chain     uint64
	sell, buy string // "" is the native coin
	amount    *big.Int
	more      fields
	settings  func(*gaslesssim.Settings)
}

var trades = []trade{
	{"jam", "jam", 1, "USDC", "WETH", sandboxtest.Units(1000, 6), fields{"fee": 40, "fee_recipient": partner.Hex(), "slippage": "0.5"}, nil},
	{"jam without fee", "jam", 1, "WETH", "USDC", sandboxtest.Units(1, 17), nil, nil},
	{"jam for the native coin", "jam", 8453, "USDC", "", sandboxtest.Units(1000, 6), fields{"fee": 40, "fee_recipient": partner.Hex()}, nil},
	{"jam on the chain with one protocol", "jam", 5330, "USDC", "WETH", sandboxtest.Units(100, 6), fields{"fee": 40, "fee_recipient": partner.Hex(), "slippage": "0.5"}, nil},
	{"jam of tokens without return values", "jam", 1, "USDT", "DAI", sandboxtest.Units(50, 6), nil, nil},
	{"jam to somebody else", "jam", 1, "USDC", "DAI", sandboxtest.Units(50, 6), fields{"receiver_address": "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC"}, nil},
	{"jam with a protocol fee", "jam", 1, "USDC", "DAI", sandboxtest.Units(50, 6), fields{"fee": 40, "fee_recipient": partner.Hex()},
		func(s *gaslesssim.Settings) { s.JAM.ProtocolFeeBps = 5 }},
	{"jam by what is wanted", "jam", 1, "USDC", "DAI", nil, fields{"sell_amounts": nil, "buy_amounts": sandboxtest.Units(50, 18)}, nil},
	{"jam on a permit", "jam", 8453, "USDC", "WETH", sandboxtest.Units(100, 6), fields{"approval_type": "Permit2"}, nil},
	{"rfq", "pmm", 1, "USDC", "WETH", sandboxtest.Units(1000, 6), fields{"fee": 40}, nil},
	{"rfq for the native coin", "pmm", 8453, "USDC", "", sandboxtest.Units(1000, 6), nil, nil},
	{"rfq of tokens without return values", "pmm", 1, "DAI", "USDT", sandboxtest.Units(50, 18), nil, nil},
	{"rfq on a permit", "pmm", 8453, "USDC", "WETH", sandboxtest.Units(100, 6), fields{"approval_type": "Permit2"}, nil},
	{"rfq on the same permit", "pmm", 8453, "USDC", "", sandboxtest.Units(100, 6), fields{"approval_type": "Permit2"}, nil},
}

// TestTradesSettle checks that a trade pays everyone exactly the quoted amounts, in one
// transaction of the settlement contract, with an approval of exactly the input.
func TestTradesSettle(t *testing.T) {
	w := start(t, 1, 8453, 5330)
	for _, tc := range trades {
		t.Run(tc.name, func(t *testing.T) {
			w := w.in(t)
			if tc.settings != nil {
				w.set(tc.settings)
				defer w.Gasless().Reset()
			}
			w.settles(tc)
		})
	}
}

func (w *world) settles(tc trade) {
	w.Helper()
	sell, buy := w.token(tc.chain, tc.sell), w.token(tc.chain, tc.buy)
	if tc.amount == nil {
		tc.amount = new(big.Int)
	}
	q := w.quote(tc.protocol, tc.chain, sell, buy, tc.amount, tc.more)
	w.target(q)
	w.approve(tc.chain, sell, q.ApprovalTarget, q.sold())
	receiver := w.user.Address
	if other, ok := tc.more["receiver_address"].(string); ok {
		receiver = common.HexToAddress(other)
	}
	amount, minimum := q.buy()
	before := w.balances(tc.chain, sell, buy, receiver)

	posted := w.post(q)
	if posted.Status != "Pending" || posted.Expiry != q.Expiry || (posted.TxHash != nil) != (tc.protocol == "pmm") {
		w.Errorf("posted: %+v", posted)
	}
	if s := w.status(q); s.Status != "Pending" || s.Amounts != nil {
		w.Errorf("before a block: %+v", s)
	}
	w.mine(tc.chain, 1)
	settled := w.status(q)
	if settled.Status != "Settled" || settled.TxHash == nil || settled.Amounts[buy.Hex()] != amount.String() {
		w.Fatalf("after a block: %+v", settled)
	}
	w.mine(tc.chain, 2)
	if s := w.status(q); s.Status != "Confirmed" || *s.TxHash != *settled.TxHash {
		w.Errorf("after three blocks: %+v", s)
	}

	after := w.balances(tc.chain, sell, buy, receiver)
	want := []*big.Int{new(big.Int).Neg(q.sold()), amount, new(big.Int), new(big.Int)}
	if tc.protocol == "jam" {
		want[2], want[3] = feeOf(q.PartnerFee), feeOf(q.ProtocolFee)
		if minimum.Cmp(amount) >= 0 {
			w.Errorf("JAM promises %s of %s", minimum, amount)
		}
	} else if minimum.Cmp(amount) != 0 {
		w.Errorf("RFQ promises %s of %s", minimum, amount)
	}
	for i, who := range []string{"sold", "received", "partner", "protocol"} {
		if moved := new(big.Int).Sub(after[i], before[i]); moved.Cmp(want[i]) != 0 {
			w.Errorf("%s: %s, want %s", who, moved, want[i])
		}
	}
	w.event(q, *settled.TxHash, buy, amount)
}

// target checks the spender that is published for the protocol.
func (w *world) target(q quote) {
	w.Helper()
	settlement := map[string]common.Address{"jam": jamSettlement, "pmm": rfqSettlement}[q.protocol]
	spender := map[string]common.Address{"jam": balanceManager, "pmm": rfqSettlement}[q.protocol]
	if q.permit2 {
		spender = permit2
	}
	if q.Settlement != settlement || q.ApprovalTarget != spender {
		w.Errorf("settlement %s, spender %s", q.Settlement, q.ApprovalTarget)
	}
}

func (w *world) balances(chain uint64, sell, buy, receiver common.Address) []*big.Int {
	w.Helper()
	return []*big.Int{
		w.balance(chain, w.user.Address, sell), w.balance(chain, receiver, buy), w.balance(chain, partner, buy),
		w.balance(chain, gaslesssim.ProtocolFees, buy),
	}
}

func feeOf(fees map[string]string) *big.Int {
	for _, fee := range fees {
		return number(fee)
	}
	return new(big.Int)
}

// event checks for the settlement's event and, for tokens, the transfer of the exact
// amount.
func (w *world) event(q quote, tx common.Hash, buy common.Address, amount *big.Int) {
	w.Helper()
	receipt, err := w.Chain(q.chain).Client().TransactionReceipt(w.Context(), tx)
	if err != nil {
		w.Fatal(err)
	}
	m := q.message(w.T)
	var topics []common.Hash
	if q.protocol == "jam" {
		topics = []common.Hash{jamFilled, common.BigToHash(number(m["nonce"].(string))), common.BytesToHash(w.user.Address[:])}
	} else {
		topics = []common.Hash{rfqFilled, common.BigToHash(number(q.QuoteID[len("121-"):]))}
	}
	filled, received := false, buy == native
	for _, l := range receipt.Logs {
		filled = filled || (l.Address == q.Settlement && sameTopics(l.Topics, topics))
		received = received || (l.Address == buy && l.Topics[0] == transfer && new(big.Int).SetBytes(l.Data).Cmp(amount) == 0)
	}
	if !filled || !received {
		w.Errorf("event %t, transfer %t in %d logs", filled, received, len(receipt.Logs))
	}
	if q.protocol == "jam" {
		w.jamEvent(receipt, q, buy, amount)
	}
}

func sameTopics(got, want []common.Hash) bool {
	if len(got) != len(want) {
		return false
	}
	for i := range want {
		if got[i] != want[i] {
			return false
		}
	}
	return true
}

// jamEvent checks the amounts in the event's data.
func (w *world) jamEvent(receipt *types.Receipt, q quote, buy common.Address, amount *big.Int) {
	w.Helper()
	for _, l := range receipt.Logs {
		if l.Address != jamSettlement {
			continue
		}
		values, err := contractABI(w, "JamSettlement").Events["BebopJamOrderFilled"].Inputs.NonIndexed().Unpack(l.Data)
		if err != nil {
			w.Fatal(err)
		}
		sells, buys := values[0].([]common.Address), values[1].([]common.Address)
		sold, bought := values[2].([]*big.Int), values[3].([]*big.Int)
		if sells[0] != q.sell || buys[0] != buy || sold[0].Cmp(q.sold()) != 0 || bought[0].Cmp(amount) != 0 {
			w.Errorf("event %v %v %v %v", sells, buys, sold, bought)
		}
	}
}

// TestSelfExecutedTradeSettles checks an RFQ trade that the taker sends.
func TestSelfExecutedTradeSettles(t *testing.T) {
	w := start(t, 1)
	usdc, weth := w.token(1, "USDC"), w.token(1, "WETH")
	q := w.quote("pmm", 1, usdc, weth, sandboxtest.Units(500, 6), fields{"gasless": "false", "expiry_type": "short"})
	if q.Status != "SIG_SUCCESS" || q.Tx.To != rfqSettlement || q.Tx.Value != "0x0" {
		t.Fatalf("the quote is %+v, want a transaction to the settlement contract", q)
	}
	w.approve(1, usdc, rfqSettlement, q.sold())
	before := w.balance(1, w.user.Address, weth)
	w.send(1, w.user, q.Tx.To, q.Tx.Data)
	amount, _ := q.buy()
	if got := new(big.Int).Sub(w.balance(1, w.user.Address, weth), before); got.Cmp(amount) != 0 {
		t.Errorf("got %s of %s", got, amount)
	}
	if code := w.refused(q, w.order(q)); code != 210 {
		t.Errorf("posted too: %d", code)
	}
}

// TestContractsRefuse checks that the contracts settle an order once, before its expiry,
// for no less than was signed and for its executor only, and that they hand out no funds.
func TestContractsRefuse(t *testing.T) {
	w := start(t, 1)
	usdc, weth := w.token(1, "USDC"), w.token(1, "WETH")
	services := w.Services()
	for protocol, payer := range map[string]common.Address{"jam": services["jamSolver"].Address, "pmm": services["rfqMaker"].Address} {
		w.approve(1, usdc, map[string]common.Address{"jam": balanceManager, "pmm": rfqSettlement}[protocol], sandboxtest.Units(10_000, 6))
		abiName := map[string]string{"jam": "JamSettlement", "pmm": "RfqSettlement"}[protocol]

		w.set(func(s *gaslesssim.Settings) { s.JAM.Outcome, s.RFQ.Outcome = "revert", "revert" })
		short := w.quote(protocol, 1, usdc, weth, sandboxtest.Units(100, 6), nil)
		w.post(short)
		w.mine(1, 1)
		failed := w.status(short)
		if failed.Status != "Failed" || failed.TxHash == nil {
			t.Fatalf("%s: too little was paid: %+v", protocol, failed)
		}
		to, data := w.input(*failed.TxHash)
		w.refuses(abiName, map[string]string{"jam": "InvalidFilledAmounts", "pmm": "UpdatedMakerAmountsTooLow"}[protocol], payer, to, data)

		w.set(func(s *gaslesssim.Settings) { s.JAM.Outcome, s.RFQ.Outcome = "settle", "settle" })
		q := w.quote(protocol, 1, usdc, weth, sandboxtest.Units(100, 6), nil)
		w.post(q)
		to, data = w.input(w.transaction(q))
		if protocol == "jam" {
			w.refuses(abiName, "InvalidExecutor", services["bridgeSolver"].Address, to, data)
		}
		w.refuses(abiName, map[string]string{"jam": "InvalidSigner", "pmm": "InvalidEIP712Signature"}[protocol], payer, to, tampered(t, data, sandboxtest.Units(100, 6)))
		w.mine(1, 1)
		if s := w.status(q); s.Status != "Settled" {
			t.Fatalf("%s: %+v", protocol, s)
		}
		w.refuses(abiName, "InvalidNonce", payer, to, data)

		late := w.quote(protocol, 1, usdc, weth, sandboxtest.Units(100, 6), nil)
		w.post(late)
		to, data = w.input(w.transaction(late))
		w.Chain(1).DropPending()
		w.Gasless().Reset() // so that the settlement is not sent again
		if err := w.Chain(1).Shift(3600e9); err != nil {
			t.Fatal(err)
		}
		w.refuses(abiName, "OrderExpired", payer, to, data)
	}
	w.refuses("JamBalanceManager", "InvalidCaller", w.user.Address, balanceManager,
		sandboxtest.Calldata(t, "transferTokens(address[],uint256[],address,address)", []common.Address{usdc}, []*big.Int{big.NewInt(1)}, w.user.Address, partner))
	w.refuses("JamSettlement", "InvalidCaller", w.user.Address, jamSettlement, sandboxtest.Calldata(t, "transferNativeFromContract(address,uint256)", partner, new(big.Int)))
}

// transaction returns the settlement of an order.
func (w *world) transaction(q quote) common.Hash {
	w.Helper()
	s := w.status(q)
	if s.TxHash == nil {
		w.Fatalf("nothing was sent: %+v", s)
	}
	return *s.TxHash
}

func (w *world) input(hash common.Hash) (common.Address, []byte) {
	w.Helper()
	tx, _, err := w.Chain(1).Client().TransactionByHash(w.Context(), hash)
	if err != nil {
		w.Fatal(err)
	}
	return *tx.To(), tx.Data()
}

// tampered replaces the amount in every word of calldata that equals it.
func tampered(t *testing.T, data []byte, amount *big.Int) []byte {
	t.Helper()
	word, other := common.BigToHash(amount), common.BigToHash(new(big.Int).Add(amount, big.NewInt(1)))
	found := false
	changed := append([]byte{}, data...)
	for i := 4; i+32 <= len(changed); i += 32 {
		if common.BytesToHash(changed[i:i+32]) == word {
			copy(changed[i:], other[:])
			found = true
		}
	}
	if !found {
		t.Fatal("no such amount")
	}
	return changed
}

// refuses checks that a call reverts with the named error of the contract.
func (w *world) refuses(contract, name string, from, to common.Address, data []byte) {
	w.Helper()
	_, err := w.Chain(1).Client().CallContract(w.Context(), ethereum.CallMsg{From: from, To: &to, Data: data}, nil)
	w.wantRevert(contract, name, err)
}

func (w *world) wantRevert(contract, name string, err error) {
	w.Helper()
	known, ok := contractABI(w, contract).Errors[name]
	if !ok {
		w.Fatalf("%s has no error %s", contract, name)
	}
	got := revertData(err)
	if len(got) < 4 || common.Bytes2Hex(got[:4]) != common.Bytes2Hex(known.ID[:4]) {
		w.Errorf("%s: got %v (%x), want %s", contract, err, got, name)
	}
}

func contractABI(w *world, name string) *abi.ABI {
	w.Helper()
	set, err := contracts.Open("")
	if err != nil {
		w.Fatal(err)
	}
	c, err := set.Get(name)
	if err != nil {
		w.Fatal(err)
	}
	return &c.ABI
}
