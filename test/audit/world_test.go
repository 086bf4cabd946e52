package audit

import (
	"context"
	"encoding/json"
	"errors"
	"math/big"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
)

// fakeWorld is fabricated evidence of five orders of one account, which agrees in everything:
//
//	a  bridge: 100 USDC on chain 1 for 45 of a token on chain 10, after an approval
//	b  intent: 50 USDC on chain 1, refunded
//	c  dex: 100 USDC for 45 wei, by the account's own call
//	d  dex: a call that reverted
//	e  dex: signed for others to settle, and expired
type fakeWorld struct {
	*testAudit
	chains   map[uint64]*fakeChain
	books    map[string][]Entry
	onDisk   map[string]storedOrder
	journal  []senderRecord
	reported []OrderResult
	consents []Consent
	account  common.Address
	sign     func(chain uint64, tx *types.DynamicFeeTx) *types.Transaction
}

var (
	token    = common.Address{0xd}
	spender  = common.Address{0x5}
	provider = common.Address{0x77}
)

// fakeChain is a chain of which every block has one transaction.
type fakeChain struct {
	history    *chainHistory
	receipts   map[common.Hash]*types.Receipt
	txs        map[common.Hash]*types.Transaction
	sent       [][]byte
	pending    uint64
	allowances map[Grant]*big.Int
}

func (c *fakeChain) Receipt(_ context.Context, tx common.Hash) (*types.Receipt, error) {
	return c.receipts[tx], nil
}

func (c *fakeChain) Tx(_ context.Context, tx common.Hash) (*types.Transaction, error) {
	if c.txs[tx] == nil {
		return nil, errors.New("not found")
	}
	return c.txs[tx], nil
}

func (c *fakeChain) Block(context.Context, common.Hash) (*types.Block, error) {
	return types.NewBlockWithHeader(&types.Header{}), nil
}

func (c *fakeChain) Header(_ context.Context, number uint64) (*types.Header, error) {
	return &types.Header{Number: new(big.Int).SetUint64(number), Time: 1_000 + number}, nil
}

func (c *fakeChain) Sent() [][]byte { return c.sent }

func (c *fakeChain) Pending(context.Context, common.Address) (uint64, error) { return c.pending, nil }

func (c *fakeChain) Allowance(_ context.Context, g Grant) (*big.Int, error) {
	if n := c.allowances[g]; n != nil {
		return n, nil
	}
	return new(big.Int), nil
}

// moved is a token's transfer log.
func moved(of, from, to common.Address, n int64) *types.Log {
	return &types.Log{Address: of, Topics: []common.Hash{transferred, common.Hash(word(from)), common.Hash(word(to))}, Data: common.BigToHash(big.NewInt(n)).Bytes()}
}

// mine adds a block with a transaction and its logs. coin is what it brings the account.
func (f *fakeWorld) mine(chain uint64, tx *types.Transaction, status uint64, coin int64, logs ...*types.Log) *types.Receipt {
	c := f.chains[chain]
	n := uint64(len(c.history.blocks)) + 1
	for _, l := range logs {
		l.TxHash, l.BlockNumber = tx.Hash(), n
	}
	r := &types.Receipt{Status: status, TxHash: tx.Hash(), BlockNumber: new(big.Int).SetUint64(n), BlockHash: common.BigToHash(new(big.Int).SetUint64(chain<<32 + n)),
		EffectiveGasPrice: big.NewInt(2), GasUsed: 1_000, Logs: logs}
	c.receipts[tx.Hash()], c.txs[tx.Hash()] = r, tx
	c.history.blocks = append(c.history.blocks, &blockRecord{number: n, txs: types.Transactions{tx}, found: []*types.Receipt{r}})
	was := c.history.balances[f.account]
	now := new(big.Int).Add(was[len(was)-1], big.NewInt(coin))
	if from, _ := types.Sender(types.LatestSignerForChainID(new(big.Int).SetUint64(chain)), tx); from == f.account {
		now.Sub(now, ownTx{tx: tx, receipt: r}.cost())
		c.pending = tx.Nonce() + 1
	}
	c.history.balances[f.account] = append(was, now)
	return r
}

// own mines a transaction of the account on chain 1 and journals it.
func (f *fakeWorld) own(key, state string, to common.Address, status uint64, coin int64, logs ...*types.Log) *types.Receipt {
	tx := f.sign(1, &types.DynamicFeeTx{Nonce: f.chains[1].pending, To: &to, Gas: 1_000, GasFeeCap: big.NewInt(3), Data: []byte(key)})
	raw, _ := tx.MarshalBinary()
	f.chains[1].sent = append(f.chains[1].sent, raw)
	rec := senderRecord{Key: key, Nonce: tx.Nonce(), State: state}
	rec.Attempts = append(rec.Attempts, struct {
		Kind string
		Hash common.Hash
	}{"call", tx.Hash()})
	f.journal = append(f.journal, rec)
	return f.mine(1, tx, status, coin, logs...)
}

// paid mines a payment by a provider.
func (f *fakeWorld) paid(chain uint64, n int64, of common.Address) *types.Receipt {
	tx := types.NewTx(&types.LegacyTx{Nonce: uint64(len(f.chains[chain].history.blocks)), To: &of, GasPrice: big.NewInt(1), Gas: 1})
	key, _ := crypto.GenerateKey()
	signed, _ := types.SignTx(tx, types.LatestSignerForChainID(new(big.Int).SetUint64(chain)), key)
	return f.mine(chain, signed, 1, 0, moved(of, provider, f.account, n))
}

// end adds an order that ended like this to everything that knows of it.
func (f *fakeWorld) end(o Order, v verdict) {
	v.Sources = sourcesOf(v.ProvenBy)[0]
	o.State, o.Final, o.Ended, o.Verdict, o.Request, o.Digest = v.State, true, true, &v, "request "+o.ID, common.Hash{o.ID[0]}
	o.Terms.Account = f.account
	result := OrderResult{Order: o}
	kept := storedOrder{ID: o.ID, Request: o.Request, Digest: o.Digest, State: o.State, OrderByRequest: o.ID, History: []string{"accepted", "executing", o.State}}
	for _, state := range kept.History {
		result.History = append(result.History, struct{ State string }{state})
	}
	kept.Verdict = &storedVerdict{State: v.State, ProvenBy: v.ProvenBy}
	if v.Evidence != nil {
		kept.Verdict.Evidence = &struct{ Tx common.Hash }{v.Evidence.Tx}
	}
	f.onDisk[o.ID], f.reported = kept, append(f.reported, result)
	f.consents = append(f.consents, Consent{Request: o.Request, Digests: []common.Hash{o.Digest}, Order: o.ID})
}

func evidenceOf(chain uint64, r *types.Receipt) *evidence {
	return &evidence{ChainID: chain, Tx: r.TxHash, Block: r.BlockNumber.Uint64(), BlockHash: r.BlockHash, Success: r.Status == 1}
}

func newFakeWorld(t *testing.T) *fakeWorld {
	key, err := crypto.GenerateKey()
	if err != nil {
		t.Fatal(err)
	}
	f := &fakeWorld{testAudit: newTestAudit(), chains: map[uint64]*fakeChain{}, books: map[string][]Entry{}, onDisk: map[string]storedOrder{}, account: crypto.PubkeyToAddress(key.PublicKey)}
	f.sign = func(chain uint64, tx *types.DynamicFeeTx) *types.Transaction {
		return types.MustSignNewTx(key, types.LatestSignerForChainID(new(big.Int).SetUint64(chain)), tx)
	}
	f.Accounts, f.Chains, f.Listed = []common.Address{f.account}, map[uint64]chainReader{}, map[Grant]Allowance{}
	f.Books = func(kind string) ([]Entry, error) { return f.books[kind], nil }
	for _, id := range []uint64{1, 10} {
		h := &chainHistory{ID: id, accounts: f.Accounts, balances: map[common.Address][]*big.Int{f.account: {big.NewInt(1_000_000)}}}
		f.Histories = append(f.Histories, h)
		f.chains[id] = &fakeChain{history: h, receipts: map[common.Hash]*types.Receipt{}, txs: map[common.Hash]*types.Transaction{}, allowances: map[Grant]*big.Int{}}
		f.Chains[id] = f.chains[id]
	}
	terms := func(kind string, dst uint64, n string, out common.Address) terms {
		return terms{Provider: kind, SrcChainID: 1, DstChainID: dst, TokenIn: usdc, AmountIn: Amount(n), TokenOut: out, MinimumReceived: "40"}
	}
	logs := []json.RawMessage{nil}

	approval := &types.Log{Address: usdc, Topics: []common.Hash{approvalEvent, common.Hash(word(f.account)), common.Hash(word(spender))}, Data: make([]byte, 32)}
	f.own("a/0", "mined", usdc, 1, 0, approval)
	deposit := f.own("a/1", "mined", spender, 1, 0, moved(usdc, f.account, spender, 100))
	payment := f.paid(10, 45, token)
	f.books["bridge"] = []Entry{{Ref: "ra", Deposit: deposit.TxHash, Payment: payment.TxHash, Final: true, PaymentNamed: true}}
	f.end(Order{ID: "a", ProviderOrderID: "ra", Terms: terms("bridge", 10, "100", token)},
		verdict{State: "filled", ProvenBy: "arrival", Received: &spend{token, "45"}, Evidence: evidenceOf(10, payment), Deposit: evidenceOf(1, deposit), Logs: logs})

	deposit = f.own("b/0", "mined", spender, 1, 0, moved(usdc, f.account, spender, 50))
	payment = f.paid(1, 50, usdc)
	f.books["intent"] = []Entry{{Ref: "rb", Deposit: deposit.TxHash, Payment: payment.TxHash, Final: true, PaymentNamed: true, IsRefund: true}}
	f.end(Order{ID: "b", ProviderOrderID: "rb", Terms: terms("intent", 10, "50", token)},
		verdict{State: "refunded", ProvenBy: "refund", Received: &spend{usdc, "50"}, Evidence: evidenceOf(1, payment), Deposit: evidenceOf(1, deposit), Logs: logs})

	call := f.own("c/0", "mined", spender, 1, 45, moved(usdc, f.account, spender, 100))
	f.end(Order{ID: "c", Terms: terms("dex", 1, "100", native)}, verdict{State: "filled", ProvenBy: "own_call", Received: &spend{native, "45"}, Evidence: evidenceOf(1, call)})

	call = f.own("d/0", "reverted", spender, 0, 0)
	f.end(Order{ID: "d", Terms: terms("dex", 1, "100", token)}, verdict{State: "failed", ProvenBy: "revert", Evidence: evidenceOf(1, call)})

	signed := step{}
	signed.Effect.Deadline = time.Unix(1_001, 0)
	head, _ := f.chains[1].Header(t.Context(), 5)
	f.books["dex"] = []Entry{{Ref: "re", Final: true}}
	f.end(Order{ID: "e", ProviderOrderID: "re", Terms: terms("dex", 1, "100", token), Steps: []step{signed}},
		verdict{State: "expired", ProvenBy: "absence", Absence: &absence{ChainID: 1, From: 1, Through: 5, BlockHash: head.Hash(), Time: time.Unix(int64(head.Time), 0), Hosts: []string{"h"}}})
	for _, c := range f.chains {
		moves, _, _, err := c.history.accountEvents()
		if err != nil {
			t.Fatal(err)
		}
		c.history.before, c.history.after = map[holding]*big.Int{}, map[holding]*big.Int{}
		for _, of := range []holding{{f.account, usdc}, {f.account, token}} {
			c.history.before[of], c.history.after[of] = big.NewInt(1_000), big.NewInt(1_000)
			for _, m := range moves {
				if m.token == of.token {
					c.history.after[of].Add(c.history.after[of], m.amount)
				}
			}
		}
	}
	return f
}

// order returns what was told of an order, to be changed.
func (f *fakeWorld) order(id string) *Order {
	for i := range f.reported {
		if f.reported[i].Order.ID == id {
			return &f.reported[i].Order
		}
	}
	panic("no order " + id)
}

// receiptOf returns the receipt of a record's transaction.
func (f *fakeWorld) receiptOf(key string) *types.Receipt {
	for _, rec := range f.journal {
		if rec.Key == key {
			return f.chains[1].receipts[rec.Attempts[0].Hash]
		}
	}
	panic("no record " + key)
}
