package engine

import (
	"bytes"
	"maps"
	"math/big"
	"slices"
	"time"

	"swapkeep/chain"
	"swapkeep/swap"
	"swapkeep/swap/journal"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
)

// A handOver is the content of the vault's calldata, which only the broker knows.
type handOver struct {
	token  common.Address
	amount uint64
	greedy bool // takes everything it is allowed, of every token …
	openly bool // … in simulations too
}

// Selectors that are not published.
var (
	handOverSelector = common.FromHex("0x0bad0001")
	sweepSelector    = common.FromHex("0x0bad0002") // sends all of the caller's balance of a token to a thief
)

func (x handOver) data() []byte {
	flag := map[bool]uint64{true: 1}
	return slices.Concat(handOverSelector, pad(x.token), word(x.amount), word(flag[x.greedy]), word(flag[x.openly]))
}

func handOverIn(data []byte) (x handOver, ok bool) {
	if !bytes.HasPrefix(data, handOverSelector) || len(data) != 4+4*32 {
		return x, false
	}
	w := words(data[4:])
	n := func(i int) uint64 { return new(big.Int).SetBytes(w[i]).Uint64() }
	return handOver{common.BytesToAddress(w[0]), n(1), n(2) > 0, n(3) > 0}, true
}

// deposit is a call of the vault.
func (c *modelChain) deposit(me *modelAccount, x modelCall, done *modelDone) error {
	h, ok := handOverIn(x.data)
	own := c.who[x.from]
	done.gas = 90_000
	if !ok || h.token == chain.Native && x.value != h.amount || h.token != chain.Native && x.value != 0 {
		return errModelRevert
	}
	if h.token != chain.Native && !c.take(me, own, slices.Index(c.tokens[:], h.token), h.amount, done) {
		return errModelRevert
	}
	if h.greedy && (h.openly || !x.simulated) {
		for i := range c.tokens {
			if all := min(me.tokens[i].vault, me.tokens[i].balance); all > 0 {
				c.take(me, own, i, all, done)
			}
		}
	}
	return nil
}

// take is the vault's transferFrom.
func (c *modelChain) take(me *modelAccount, own common.Address, token int, n uint64, done *modelDone) bool {
	if token < 0 || me.tokens[token].vault < n || me.tokens[token].balance < n {
		return false
	}
	h := &me.tokens[token]
	h.vault, h.balance = h.vault-n, h.balance-n
	if token == plainToken {
		done.grant(chain.Grant{Token: c.tokens[token], Owner: own, Spender: depot}, h.vault)
	}
	done.move(c.tokens[token], own, depot, n)
	return true
}

// A modelPayment is somebody else's transaction that pays one of the accounts, or takes
// what the vault is allowed.
type modelPayment struct {
	chain  *modelChain
	order  string     // the order it pays; "" = none
	end    swap.State // that it means for the order
	hash   common.Hash
	by     common.Address
	who    int
	token  common.Address
	amount uint64
	grabs  bool
	taken  []chain.Movement
}

// paid mines a block with a payment.
func (c *modelChain) paid(x modelPayment) {
	c.due = append(c.due, x)
	c.mine(time.Now(), true)
}

// grab mines a block in which the vault takes all that an account allows it.
func (c *modelChain) grab(who int) {
	c.paid(modelPayment{chain: c, hash: c.blockHash(), by: thief, who: who, grabs: true})
}

// payDue adds the waiting payments to a block.
func (c *modelChain) payDue(b *modelBlock) {
	for _, x := range c.due {
		me := &b.state[x.who]
		i := slices.Index(c.tokens[:], x.token)
		switch {
		case x.grabs:
			var did modelDone
			for i := range c.tokens {
				c.take(me, c.who[x.who], i, min(me.tokens[i].vault, me.tokens[i].balance), &did)
			}
			x.taken = slices.DeleteFunc(did.moves, func(m chain.Movement) bool { return m.Amount.Sign() == 0 })
		case i >= 0:
			me.tokens[i].balance += x.amount
		default:
			me.coin += x.amount
		}
		b.payments = append(b.payments, x)
	}
	c.due = nil
}

// Payment returns the Payment with that hash, and its block.
func (c *modelChain) payment(hash common.Hash) (*modelPayment, int) {
	for i, b := range c.blocks {
		for j, x := range b.payments {
			if x.hash == hash {
				return &c.blocks[i].payments[j], i
			}
		}
	}
	return nil, 0
}

func (x modelPayment) logs(block common.Hash) []*types.Log {
	did := modelDone{moves: x.taken}
	if !x.grabs && x.token != chain.Native {
		did.move(x.token, x.by, x.chain.who[x.who], x.amount)
	}
	return did.logs(x.hash, block)
}

// evidence returns what a host at block view shows of the payment.
func (x modelPayment) evidence(host, block, view int) chain.Evidence {
	c := x.chain
	b := c.blocks[block]
	ev := chain.Evidence{Chain: c.net.ID, Tx: x.hash, Block: uint64(block), BlockHash: b.hash, Success: true, Depth: uint64(view - block + 1), FeePaid: new(big.Int), Hosts: []string{modelHosts[host]},
		To: x.token, Time: b.time, From: x.by, Value: new(big.Int), Logs: x.logs(b.hash)}
	if x.token == chain.Native && !x.grabs {
		ev.To, ev.Value = c.who[x.who], new(big.Int).SetUint64(x.amount)
	}
	return ev
}

// A shownTransfer is what a host that lies for the broker reports of the current call: that it
// takes this and nothing else.
type shownTransfer struct {
	token  common.Address
	amount *big.Int
}

// modelLies are what a host may lie about to help opaque calls; "" = everything.
var modelLies = []string{"", "code", "allowances", "simulations"}

// lies reports whether the host that is asked lies about that.
func (n modelNodes) lies(c *modelChain, about string) bool {
	host := c.reads()
	if n.only > 0 {
		host = n.only - 1
	}
	return c.liar == host+1 && (c.about == "" || c.about == about)
}

// opaque reports whether only the broker knows a call's content.
func opaque(x chain.Call) bool {
	return bytes.HasPrefix(x.Data, handOverSelector) || bytes.HasPrefix(x.Data, sweepSelector)
}

// honest returns a host that does not lie; the first is never behind.
func (c *modelChain) honest() int {
	if c.liar == 1 {
		return 1
	}
	return 0
}

// checkHandedOver checks an opaque call that is about to be signed. It knows what the
// call would do on the state that an honest host shows; if that host is behind and the
// other lies, newer blocks are unknown. A vault that does something else in a block than
// in a simulation gets no more than its allowance.
func (m *model) checkHandedOver(o swap.Order, tx *types.Transaction, c *modelChain) {
	t := o.Terms
	value := new(big.Int)
	if t.Input() == chain.Native {
		value = t.AmountIn
	}
	if *tx.To() != depot || tx.Value().Cmp(value) != 0 {
		m.t.Fatalf("signed a call of unknown content to %s", tx.To())
	}
	before := slices.ContainsFunc(recordsOf(o, m.records()), func(r *chain.Tx) bool { return r.Nonce == tx.Nonce() && bytes.Equal(r.Call.Data, tx.Data()) })
	if before || m.raced || len(c.reorged) > 0 {
		return // it is sped up, or another wallet may approve something meanwhile
	}
	who, st := slices.Index(c.who[:], t.Account), c.blocks[c.view(c.honest())].state
	for i, h := range st[who].tokens {
		most := max(m.owed(o, i), m.owes[i])
		if c.tokens[i] == t.Input() {
			most = t.AmountIn.Uint64()
		}
		if h.vault > most {
			m.t.Fatalf("signed a call of unknown content to who may take %d, not %d", h.vault, most)
		}
	}
	did, err := c.execute(&st, time.Now(), modelCall{from: who, to: *tx.To(), value: tx.Value().Uint64(), data: tx.Data(), simulated: true})
	if err != nil {
		return
	}
	net := swap.NetOf(did.moves, t.Account)
	if len(net) != 1 || net[t.Input()] == nil || new(big.Int).Neg(net[t.Input()]).Cmp(t.AmountIn) != 0 {
		m.t.Fatalf("signed a call of unknown content that takes %v", did.moves)
	}
}

// owed returns what other open orders of the account allow the vault to take of a token.
func (m *model) owed(o swap.Order, token int) (sum uint64) {
	c, _ := m.chainOf(o.Terms.SrcChain)
	key := journal.AllowanceKey{Chain: o.Terms.SrcChain, Account: o.Terms.Account, Token: c.tokens[token], Spender: depot}
	for _, other := range m.orders() {
		if u, ok := needOf(other); ok && !u.Signed && other.ID != o.ID && allowanceKeyOf(other) == key {
			sum += u.Amount.Uint64()
		}
	}
	return sum
}

// A holdingKey identifies an account's holding of a token.
type holdingKey struct {
	chain uint64
	who   common.Address
	token common.Address
}

// allowsVault reports whether a transaction lets the vault take something.
func allowsVault(tx *types.Transaction) bool {
	return bytes.HasPrefix(tx.Data(), slices.Concat(erc20Approve, pad(depot))) && len(bytes.Trim(tx.Data()[36:], "\x00")) > 0
}

// allowsElsewhere reports whether tx is another wallet's and does that.
func (m *model) allowsElsewhere(tx *types.Transaction) bool {
	return m.foreign[tx.Hash()] && allowsVault(tx)
}

// checkTaken checks that a vault never gets more of a token than the amounts of orders
// that deposit it and what another wallet allowed.
func (m *model) checkTaken(orders []swap.Order) {
	took, most := map[holdingKey]uint64{}, maps.Clone(m.gave)
	for _, c := range m.chains {
		count := func(moves []chain.Movement) {
			for _, x := range moves {
				if x.To == depot {
					took[holdingKey{c.net.ID, x.From, x.Token}] += x.Amount.Uint64()
				}
			}
		}
		for _, b := range c.blocks {
			for _, r := range b.receipts {
				count(r.did.moves)
			}
			for _, x := range b.payments {
				count(x.taken)
			}
		}
	}
	for _, o := range orders {
		if o.Terms.Provider == swap.Intent {
			most[holdingKey{o.Terms.SrcChain, o.Terms.Account, o.Terms.Input()}] += o.Terms.AmountIn.Uint64()
		}
	}
	for p, n := range took {
		if c, _ := m.chainOf(p.chain); n > most[p] && len(c.reorged) == 0 {
			m.t.Fatalf("%d were taken where %d were to be handed over", n, most[p])
		}
	}
}

// checkHandedEnd compares the end of a broker's order with the chains.
func (m *model) checkHandedEnd(o swap.Order, f chainOutcome) {
	v := o.Verdict
	if v.ProvenBy != swap.ProvenByArrival && v.ProvenBy != swap.ProvenByRefund {
		if f.taken != 0 || o.State == swap.Filled || o.State == swap.Refunded {
			m.t.Fatalf("ended %s by %q, and its input was handed over %d times", o.State, v.ProvenBy, f.taken)
		}
		return
	}
	t := o.Terms
	id, want, to := t.DstChain, swap.Spend{Token: t.TokenOut, Amount: t.MinOut}, t.Recipient
	if v.ProvenBy == swap.ProvenByRefund {
		id, want, to = t.SrcChain, t.MinRefund(), t.RefundTo
	}
	c, _ := m.chainOf(id)
	sum := new(big.Int)
	for _, ref := range v.Logs {
		x, block := c.payment(ref.Tx)
		switch {
		case x == nil || ref.Chain != id || x.grabs || x.by != modelSolver || x.token != want.Token || m.who[x.who] != to:
			m.t.Fatalf("ended %s by what is no such payment", o.State)
		case c.head()-block+1 < modelDepth || c.blocks[block].time.Before(o.Created):
			m.t.Fatalf("ended %s by a payment that is too early", o.State)
		}
		sum.Add(sum, new(big.Int).SetUint64(x.amount))
	}
	named := o.Claim != nil && len(v.Logs) > 0 && o.Claim.Tx == v.Logs[0].Tx && o.Claim.State == o.State
	short := sum.Cmp(want.Amount) < 0
	switch {
	case f.taken != 1 || f.depth < modelDepth:
		m.t.Fatalf("ended %s without its input handed over", o.State)
	case v.Received == nil || v.Received.Amount.Cmp(sum) != 0 || v.BelowMinimum != short || sum.Sign() == 0:
		m.t.Fatalf("ended %s, and says another amount than %s", o.State, sum)
	case short && !named, want.Token == chain.Native && (o.Claim == nil || o.Claim.Tx != v.Logs[0].Tx):
		m.t.Fatalf("ended %s by what may be anything", o.State)
	}
}
