package gasless_test

import (
	"fmt"
	"math/big"
	"testing"
	"time"

	"swapkeep/providers/providertest"
	"swapkeep/sandbox"
	"swapkeep/sandbox/operator"
	"swapkeep/sandbox/sandboxtest"

	"github.com/ethereum/go-ethereum"
	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
)

// A testOrder is one signed order of the account that buys WETH.
type testOrder struct {
	sell         common.Address
	amount, buys *big.Int
	nonce        int64
}

// A testSettlement settles an order of the account through a solver or maker, who pays for it.
type testSettlement struct {
	at, spender common.Address // called contract; contract that pulls the input
	call        func(m *settlementFixture, b testOrder, solver common.Address) []byte
}

// A settlementFixture is an account with open orders and a solver who settles them.
type settlementFixture struct {
	t             *testing.T
	chain         *sandbox.Chain
	taker, solver sandbox.Account
	weth          common.Address
	until         *big.Int
}

// TestHostileToken: the token that one order sells settles, within its own transfer,
// another order of the same account. Each order pays its own minimum, or the transaction
// reverts.
func TestHostileToken(t *testing.T) {
	t.Parallel()
	s := sandboxtest.Start(t, 1)
	c := s.Chains()[0]
	m := &settlementFixture{t: t, chain: c, taker: s.Accounts()[0], solver: s.Accounts()[1], weth: c.Network.Wrapped.Address, until: big.NewInt(time.Now().Add(time.Hour).Unix())}
	g, usdc := c.Network.Gasless(), sandboxtest.Token(t, c, "USDC")
	settlements := map[string]testSettlement{
		"JAM": {g.JamSettlement, g.JamBalanceManager, jamSettled},
		"RFQ": {g.RfqSettlement, g.RfqSettlement, rfqSettled},
	}
	nonce := int64(100)
	ways := []struct {
		outer, inner string
		reverts      bool // the contract is not reentered
	}{{"JAM", "JAM", true}, {"JAM", "RFQ", false}, {"RFQ", "JAM", false}, {"RFQ", "RFQ", false}}
	for _, way := range ways {
		t.Run(way.inner+" within "+way.outer, func(t *testing.T) {
			m := *m
			m.t = t
			outer, inner := settlements[way.outer], settlements[way.inner]
			token := sandboxtest.Deploy(t, c, m.solver, "HostileToken")
			nonce += 2
			first := testOrder{token, big.NewInt(1e18), big.NewInt(1e17), nonce}
			second := testOrder{usdc, big.NewInt(100e6), big.NewInt(3e16), nonce + 1}
			m.sends(m.solver, token, "transfer(address,uint256)", m.taker.Address, first.amount)
			m.sends(m.taker, token, "approve(address,uint256)", outer.spender, first.amount)
			m.sends(m.taker, usdc, "approve(address,uint256)", inner.spender, second.amount)
			m.sends(m.solver, m.weth, "approve(address,uint256)", outer.spender, first.buys)
			m.sends(m.solver, m.weth, "transfer(address,uint256)", token, second.buys)
			m.sends(m.solver, token, "lend(address,address)", m.weth, inner.spender)
			m.sends(m.solver, token, "arm(uint256,address,bytes)", big.NewInt(1), inner.at, inner.call(&m, second, token))
			weth, sold := m.balance(m.weth), m.balance(usdc)
			r := sandboxtest.Transact(t, c, m.solver, operator.Call{To: outer.at, Data: outer.call(&m, first, m.solver.Address), Gas: 2_000_000})
			got, left := new(big.Int).Sub(m.balance(m.weth), weth), new(big.Int).Sub(sold, m.balance(usdc))
			wants, leaves := new(big.Int).Add(first.buys, second.buys), second.amount
			if way.reverts {
				wants, leaves = new(big.Int), new(big.Int)
			}
			if done := r.Status == types.ReceiptStatusSuccessful; done == way.reverts || got.Cmp(wants) != 0 || left.Cmp(leaves) != 0 {
				t.Errorf("status %d: %s left, %s arrived, of %s", r.Status, left, got, wants)
			}
		})
	}
	providertest.Report(t, fmt.Sprintf("hostile: gasless: a hostile token in %d orders that have another settled: all held", len(ways)))
}

func (m *settlementFixture) balance(token common.Address) *big.Int {
	m.t.Helper()
	return sandboxtest.Balance(m.t, m.chain, m.taker.Address, token)
}

func (m *settlementFixture) sends(who sandbox.Account, to common.Address, method string, args ...any) {
	m.t.Helper()
	sandboxtest.MustTransact(m.t, m.chain, who, operator.Call{To: to, Data: sandboxtest.Calldata(m.t, method, args...), Gas: 1_000_000})
}

// signed is the taker's signature over the digest that a view method of the contract
// returns.
func (m *settlementFixture) signed(at common.Address, form abi.ABI, method string, args ...any) []byte {
	m.t.Helper()
	data, err := form.Pack(method, args...)
	if err != nil {
		m.t.Fatal(err)
	}
	digest, err := m.chain.Client().CallContract(m.t.Context(), ethereum.CallMsg{To: &at, Data: data}, nil)
	if err != nil {
		m.t.Fatal(err)
	}
	signature, err := crypto.Sign(digest, m.taker.Key)
	if err != nil {
		m.t.Fatal(err)
	}
	signature[64] += 27
	return signature
}

func (m *settlementFixture) packed(form abi.ABI, method string, args ...any) []byte {
	m.t.Helper()
	data, err := form.Pack(method, args...)
	if err != nil {
		m.t.Fatal(err)
	}
	return data
}

func jamSettled(m *settlementFixture, b testOrder, _ common.Address) []byte {
	type jamOrder struct {
		Taker, Receiver                    common.Address
		Expiry, ExclusivityDeadline, Nonce *big.Int
		Executor                           common.Address
		PartnerInfo                        *big.Int
		SellTokens, BuyTokens              []common.Address
		SellAmounts, BuyAmounts            []*big.Int
		UsingPermit2                       bool
	}
	o := jamOrder{
		Taker: m.taker.Address, Receiver: m.taker.Address, Expiry: m.until, ExclusivityDeadline: new(big.Int), Nonce: big.NewInt(b.nonce), PartnerInfo: new(big.Int),
		SellTokens: []common.Address{b.sell}, BuyTokens: []common.Address{m.weth}, SellAmounts: []*big.Int{b.amount}, BuyAmounts: []*big.Int{b.buys},
	}
	form := sandboxtest.Contract(m.t, "JamSettlement").ABI
	signature := m.signed(m.chain.Network.Gasless().JamSettlement, form, "hashJamOrder", o, common.Hash{})
	return m.packed(form, "settleInternal", o, signature, []*big.Int{}, []byte{})
}

func rfqSettled(m *settlementFixture, b testOrder, maker common.Address) []byte {
	type single struct {
		Expiry                     *big.Int
		TakerAddress, MakerAddress common.Address
		MakerNonce                 *big.Int
		TakerToken, MakerToken     common.Address
		TakerAmount, MakerAmount   *big.Int
		Receiver                   common.Address
		PackedCommands, Flags      *big.Int
	}
	type makerSignature struct {
		SignatureBytes []byte
		Flags          *big.Int
	}
	type oldQuote struct {
		UseOldAmount            bool
		MakerAmount, MakerNonce *big.Int
	}
	nonce := big.NewInt(b.nonce)
	o := single{m.until, m.taker.Address, maker, nonce, b.sell, m.weth, b.amount, b.buys, m.taker.Address, new(big.Int), new(big.Int)}
	form := sandboxtest.Contract(m.t, "RfqSettlement").ABI
	signature := m.signed(m.chain.Network.Gasless().RfqSettlement, form, "hashSingleOrder", o, uint64(0), b.buys, nonce)
	return m.packed(form, "settleSingle", o, makerSignature{[]byte{}, new(big.Int)}, new(big.Int), oldQuote{false, b.buys, nonce}, signature)
}
