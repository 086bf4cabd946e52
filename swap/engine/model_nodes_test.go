package engine

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"reflect"
	"slices"
	"time"

	"swapkeep/chain"
	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
)

// modelNodes answers for the model's chains as chain.MultiClient does with two hosts each, both
// of which confirm what is proven. Engine and sender use it; deep means that the sender
// does, which may have locked an account's nonces.
type modelNodes struct {
	m    *model
	deep bool
	only int // the host to ask, from 1; 0 = either
}

// modelHosts are the two hosts of each chain.
var modelHosts = [2]string{"first", "second"}

var (
	_ Nodes       = modelNodes{}
	_ chain.Nodes = modelNodes{}
)

// ask is called once for each question to chain id.
func (n modelNodes) ask(id uint64) (*modelChain, error) {
	n.m.hook(n.deep)
	return n.m.chainOf(id)
}

// read asks one host: it returns the chain and the host's latest block.
func (n modelNodes) read(id uint64) (c *modelChain, view int, err error) {
	if c, err = n.ask(id); err != nil {
		return nil, 0, err
	}
	host := c.reads()
	if n.only > 0 {
		host = n.only - 1
	}
	if host < 0 || c.down[host] {
		return nil, 0, fmt.Errorf("chain %d: %w", id, chain.ErrUnreachable)
	}
	return c, c.view(host), nil
}

func (n modelNodes) ReadsTransactions(id uint64) bool {
	_, err := n.m.chainOf(id)
	return err == nil
}

// agreeing returns what both hosts say, or ErrDisagree.
func agreeing[T any](n modelNodes, id uint64, ask func(modelNodes) (T, error)) (T, error) {
	var said [2]T
	for i := range said {
		var err error
		n.only = i + 1
		if said[i], err = ask(n); err != nil {
			return said[i], err
		}
	}
	if !reflect.DeepEqual(said[0], said[1]) {
		return said[0], fmt.Errorf("chain %d: %w", id, chain.ErrDisagree)
	}
	return said[0], nil
}

func (n modelNodes) Network(id uint64) (chain.Network, error) {
	c, err := n.m.chainOf(id)
	if err != nil {
		return chain.Network{}, err
	}
	return c.net, nil
}

// account returns an account as one host shows it.
func (n modelNodes) account(id uint64, who common.Address) (*modelChain, modelAccount, error) {
	c, view, err := n.read(id)
	if err != nil {
		return nil, modelAccount{}, err
	}
	return c, c.blocks[view].state[slices.Index(c.who[:], who)], nil
}

func (n modelNodes) Balance(_ context.Context, id uint64, account, token common.Address) (*big.Int, error) {
	c, a, err := n.account(id, account)
	switch {
	case err != nil:
		return nil, err
	case token == chain.Native:
		return new(big.Int).SetUint64(a.coin), nil
	}
	return new(big.Int).SetUint64(a.tokens[slices.Index(c.tokens[:], token)].balance), nil
}

func (n modelNodes) Balances(ctx context.Context, id uint64, account common.Address, tokens []common.Address) (all []*big.Int, err error) {
	for _, token := range tokens {
		b, err := n.Balance(ctx, id, account, token)
		if err != nil {
			return nil, err
		}
		all = append(all, b)
	}
	return all, nil
}

func (n modelNodes) Allowance(ctx context.Context, id uint64, token, owner, spender common.Address) (*big.Int, error) {
	all, err := n.Allowances(ctx, id, owner, []chain.Grantee{{Token: token, Spender: spender}})
	if err != nil {
		return nil, err
	}
	return all[0], nil
}

func (n modelNodes) Allowances(_ context.Context, id uint64, owner common.Address, asked []chain.Grantee) ([]*big.Int, error) {
	c, a, err := n.account(id, owner)
	if err != nil {
		return nil, err
	}
	all := make([]*big.Int, len(asked))
	for i, g := range asked {
		all[i] = new(big.Int)
		switch h := a.tokens[slices.Index(c.tokens[:], g.Token)]; {
		case g.Spender == swap.Permit2Contract:
			all[i].SetUint64(h.allowed)
		case g.Spender == depot && n.lies(c, "allowances") && g.Token == n.m.wish.token:
			all[i] = n.m.wish.amount
		case g.Spender == depot && !n.lies(c, "allowances"):
			all[i].SetUint64(h.vault)
		}
	}
	return all, nil
}

// AgreedAllowances returns what both hosts agree on.
func (n modelNodes) AgreedAllowances(ctx context.Context, id uint64, owner common.Address, asked []chain.Grantee) ([]*big.Int, error) {
	return agreeing(n, id, func(n modelNodes) ([]*big.Int, error) { return n.Allowances(ctx, id, owner, asked) })
}

func (n modelNodes) AgreedPermits(ctx context.Context, id uint64, permit2, owner common.Address, asked []chain.Grantee) ([]chain.PermitAllowance, error) {
	return agreeing(n, id, func(n modelNodes) ([]chain.PermitAllowance, error) {
		return n.PermitAllowances(ctx, id, permit2, owner, asked)
	})
}

func (n modelNodes) PermitAllowances(_ context.Context, id uint64, _, owner common.Address, asked []chain.Grantee) ([]chain.PermitAllowance, error) {
	c, a, err := n.account(id, owner)
	if err != nil {
		return nil, err
	}
	all := make([]chain.PermitAllowance, len(asked))
	for i, g := range asked {
		all[i].Amount = new(big.Int)
		if g.Spender == router {
			p := a.permits[slices.Index(c.tokens[:], g.Token)]
			all[i] = chain.PermitAllowance{Amount: new(big.Int).SetUint64(p.amount), Expiration: p.until, Nonce: p.nonce}
		}
	}
	return all, nil
}

// try runs calls on top of block view.
func (c *modelChain) try(view int, calls []chain.Call) (all []modelDone, err error) {
	st := c.blocks[view].state
	for _, x := range calls {
		did, err := c.execute(&st, time.Now(), modelCall{slices.Index(c.who[:], x.From), x.To, x.Value.Uint64(), x.Data, true})
		switch {
		case errors.Is(err, chain.ErrFunds):
			return nil, err
		case err != nil:
			return nil, fmt.Errorf("%w: %w", chain.ErrWouldRevert, err)
		}
		all = append(all, did)
	}
	return all, nil
}

func (n modelNodes) Simulate(_ context.Context, calls []chain.Call) (chain.Simulation, error) {
	c, view, err := n.read(calls[0].ChainID)
	if err != nil {
		return chain.Simulation{}, err
	}
	last := calls[len(calls)-1]
	lies := opaque(last) && n.lies(c, "simulations")
	if lies {
		calls = calls[:len(calls)-1]
	}
	all, err := c.try(view, calls)
	if err != nil {
		return chain.Simulation{}, err
	}
	if lies {
		all = append(all, modelDone{moves: []chain.Movement{{Token: n.m.wish.token, From: last.From, To: last.To, Amount: n.m.wish.amount}}})
	}
	sim := chain.Simulation{Shown: !c.blind, Block: uint64(view)}
	for _, did := range all {
		if sim.Shown {
			sim.Movements = append(sim.Movements, did.moves...)
			if !did.logsNoAllowance {
				sim.Grants = append(sim.Grants, did.grants...)
			}
		}
	}
	return sim, nil
}

// Simulations returns each host's own result.
func (n modelNodes) Simulations(ctx context.Context, calls []chain.Call) (all []chain.Simulation, err error) {
	fail := 0
	for n.only = 1; n.only <= len(modelHosts); n.only++ {
		sim, failed := n.Simulate(ctx, calls)
		switch {
		case errors.Is(failed, chain.ErrWouldRevert), errors.Is(failed, chain.ErrFunds):
			fail, err = fail+1, failed
		case failed != nil:
			return nil, failed
		}
		all = append(all, sim)
	}
	if fail == 1 {
		err = fmt.Errorf("chain %d: %w", calls[0].ChainID, chain.ErrDisagree)
	}
	return all, err
}

func (n modelNodes) Cost(ctx context.Context, x chain.Call) (chain.Cost, error) {
	return n.CostAt(ctx, x, chain.Normal)
}

// modelTips are the tips of the tiers, in wei.
var modelTips = map[chain.Tier]uint64{chain.Slow: 0.8 * modelGwei, "": modelGwei, chain.Normal: modelGwei, chain.Fast: 1.5 * modelGwei}

func (n modelNodes) CostAt(_ context.Context, x chain.Call, tier chain.Tier) (chain.Cost, error) {
	c, view, err := n.read(x.ChainID)
	if err != nil {
		return chain.Cost{}, err
	}
	limit := x.Gas
	if limit == 0 {
		all, err := c.try(view, []chain.Call{x})
		if err != nil {
			return chain.Cost{}, err
		}
		limit = all[0].gas + all[0].gas/5
	}
	big := func(x uint64) *big.Int { return new(big.Int).SetUint64(x) }
	tip := modelTips[tier]
	return chain.Cost{Gas: limit, Fees: chain.Fees{BaseFee: big(c.base), GasFeeCap: big(2*c.base + tip), GasTipCap: big(tip)}, Tier: tier,
		Expected: big(limit*(c.base+tip) + c.l1), L1: big(c.l1), Max: big(limit*(2*c.base+tip) + c.l1 + c.l1/4)}, nil
}

// IsContract knows the model's tokens and its other contracts.
func (n modelNodes) IsContract(_ context.Context, id uint64, a common.Address) (bool, error) {
	return agreeing(n, id, func(n modelNodes) (bool, error) {
		c, _, err := n.read(id)
		if err != nil {
			return false, err
		}
		there := slices.Contains(c.tokens[:], a) || a == router || a == swap.Permit2Contract || a == depot
		return there || n.lies(c, "code"), nil
	})
}

// Evidence needs both hosts to agree; the shallower depth counts.
func (n modelNodes) Evidence(_ context.Context, id uint64, hash common.Hash) (chain.Evidence, bool, error) {
	c, err := n.ask(id)
	if err != nil {
		return chain.Evidence{}, false, err
	}
	var seen []chain.Evidence
	for host, down := range c.down {
		if down {
			err = fmt.Errorf("chain %d: %w", id, chain.ErrUnreachable)
		} else if ev, ok := c.hostEvidence(host, hash); ok {
			seen = append(seen, ev)
		}
	}
	switch {
	case len(seen) == 0:
		return chain.Evidence{}, false, err
	case len(seen) == 1:
		return seen[0], false, err
	}
	agreed := seen[1] // never the deeper one
	agreed.Hosts, agreed.Success = modelHosts[:], agreed.Success != (c.flips && !n.deep)
	return agreed, agreed.Depth >= modelDepth, nil
}

// CheckReceipt needs one host, and holds evidence against the chain as it is.
func (n modelNodes) CheckReceipt(_ context.Context, ev chain.Evidence, logs bool) error {
	c, _, err := n.read(ev.Chain)
	if err != nil {
		return err
	}
	is, ok := c.hostEvidence(0, ev.Tx)
	if !ok || is.BlockHash != ev.BlockHash || is.Success != ev.Success || is.From != ev.From || is.Value.Cmp(ev.Value) != 0 || logs && !reflect.DeepEqual(is.Logs, ev.Logs) {
		return &chain.ForgedError{Hosts: ev.Hosts}
	}
	return nil
}

// both fails unless both hosts answer.
func (n modelNodes) both(id uint64) (*modelChain, error) {
	c, err := n.ask(id)
	if err == nil && (c.down[0] || c.down[1]) {
		return nil, fmt.Errorf("chain %d: %w", id, chain.ErrUnreachable)
	}
	return c, err
}

func (c *modelChain) block(number int) chain.Block {
	b := c.blocks[number]
	return chain.Block{Number: uint64(number), Hash: b.hash, Time: b.time.Truncate(time.Second)}
}

// settled returns the last block that is final for both hosts.
func (c *modelChain) settled() int { return max(min(c.view(0), c.view(1))+1-modelDepth, 0) }

func (n modelNodes) Settled(_ context.Context, id uint64) (chain.Block, []string, error) {
	c, err := n.both(id)
	if err != nil {
		return chain.Block{}, nil, err
	}
	return c.block(c.settled()), modelHosts[:], nil
}

func (n modelNodes) Head(_ context.Context, id uint64) (uint64, error) {
	c, err := n.both(id)
	if err != nil {
		return 0, err
	}
	return uint64(max(c.view(0), c.view(1))), nil
}

// Logs searches a few blocks at a time. One host may hide logs.
func (n modelNodes) Logs(_ context.Context, id uint64, f chain.LogFilter, from uint64) (chain.LogScan, error) {
	s := chain.LogScan{From: max(from, 1)}
	c, err := n.ask(id)
	if err != nil {
		return s, err
	}
	to := min(c.settled(), int(s.From)+4)
	for host, down := range c.down {
		for i := int(s.From); i <= to && !down && c.hides != host+1; i++ {
			s.Logs = append(s.Logs, c.shows(i, f)...)
		}
	}
	if _, err = n.both(id); err == nil && to >= int(s.From) {
		s.Through, s.Hosts = c.block(to), modelHosts[:]
	}
	return s, err
}

// shows returns the logs of a block that match f.
func (c *modelChain) shows(number int, f chain.LogFilter) (logs []*types.Log) {
	b := c.blocks[number]
	all := []*types.Log{}
	for _, r := range b.receipts {
		all = append(all, r.did.logs(r.tx.Hash(), b.hash)...)
	}
	for _, x := range b.fills {
		all = append(all, x.logs(c, b.hash)...)
	}
	for _, x := range b.payments {
		all = append(all, x.logs(b.hash)...)
	}
	for _, l := range all {
		wanted := func(i int, some []common.Hash) bool {
			return len(some) == 0 || i < len(l.Topics) && slices.Contains(some, l.Topics[i])
		}
		ok := f.Address == common.Address{} || l.Address == f.Address
		for i, some := range f.Topics {
			ok = ok && wanted(i, some)
		}
		if l.BlockNumber = uint64(number); ok {
			logs = append(logs, l)
		}
	}
	return logs
}

// NonceBit treats a bid's hash as its Permit2 nonce.
func (n modelNodes) NonceBit(_ context.Context, id uint64, _, _ common.Address, nonce *big.Int, block uint64) (bool, []string, error) {
	c, err := n.both(id)
	if err != nil {
		return false, nil, err
	}
	if void := c.invalidatedIn(common.BigToHash(nonce)); void > 0 && void <= int(block) {
		return true, modelHosts[:], nil
	}
	for _, b := range c.blocks[:block+1] {
		for _, x := range b.fills {
			if bidHash(x.bid.order).Big().Cmp(nonce) == 0 {
				return true, modelHosts[:], nil
			}
		}
	}
	return false, modelHosts[:], nil
}

func (n modelNodes) CheckLogs(_ context.Context, id, _ uint64, _ []string) error {
	_, err := n.both(id)
	return err
}

func (n modelNodes) BalanceDelta(_ context.Context, id uint64, account common.Address, block uint64) (chain.BalanceDelta, []string, error) {
	c, err := n.both(id)
	if err != nil {
		return chain.BalanceDelta{}, nil, err
	}
	at := func(i uint64) modelAccount { return c.blocks[i].state[slices.Index(c.who[:], account)] }
	before, after := at(block-1), at(block)
	grown := new(big.Int).Sub(new(big.Int).SetUint64(after.coin), new(big.Int).SetUint64(before.coin))
	return chain.BalanceDelta{Amount: grown, Sent: after.nonce - before.nonce, First: before.nonce}, modelHosts[:], nil
}

// hostEvidence is one host's answer about a transaction.
func (c *modelChain) hostEvidence(host int, hash common.Hash) (chain.Evidence, bool) {
	view := c.view(host)
	for i, b := range c.blocks[:view+1] {
		for _, x := range b.fills {
			if bidHash(x.bid.order) == hash {
				return chain.Evidence{Chain: c.net.ID, Tx: hash, Block: uint64(i), BlockHash: b.hash, Success: true, Depth: uint64(view - i + 1), FeePaid: new(big.Int), Hosts: []string{modelHosts[host]},
					To: router, Time: b.time, From: router, Value: new(big.Int), Logs: x.logs(c, b.hash)}, true
			}
		}
	}
	if x, block := c.payment(hash); x != nil && block <= view {
		return x.evidence(host, block, view), true
	}
	r, block := c.find(hash, view)
	if r == nil {
		return chain.Evidence{}, false
	}
	b := c.blocks[block]
	return chain.Evidence{Chain: c.net.ID, Tx: hash, Block: uint64(block), BlockHash: b.hash, Success: r.success, Depth: uint64(view - block + 1), GasUsed: r.gas,
		FeePaid: new(big.Int).SetUint64(r.paid), Hosts: []string{modelHosts[host]}, To: *r.tx.To(), Time: b.time, From: c.who[r.from], Value: r.tx.Value(), Logs: r.did.logs(hash, b.hash)}, true
}

// Nonces returns the lower of both hosts' answers; a second host that is behind does not
// know the pool either.
func (n modelNodes) Nonces(_ context.Context, id uint64, account common.Address) (chain.Nonces, error) {
	c, err := n.ask(id)
	if err != nil {
		return chain.Nonces{}, err
	}
	var agreed chain.Nonces
	from := slices.Index(c.who[:], account)
	for host, down := range c.down {
		if down {
			continue
		}
		view := c.view(host)
		latest := c.blocks[view].state[from].nonce
		next := latest
		if view == c.head() {
			next = c.pendingNonce(from)
		}
		if len(agreed.Hosts) == 0 {
			agreed = chain.Nonces{Block: uint64(view), Latest: latest, Next: next}
		}
		agreed.Block, agreed.Latest, agreed.Next = min(agreed.Block, uint64(view)), min(agreed.Latest, latest), min(agreed.Next, next)
		if next >= agreed.Highest {
			agreed.Highest, agreed.HighestHost = next, modelHosts[host]
		}
		agreed.Hosts = append(agreed.Hosts, modelHosts[host])
	}
	agreed.SingleHost = len(agreed.Hosts) < 2
	if len(agreed.Hosts) == 0 {
		return agreed, fmt.Errorf("chain %d: %w", id, chain.ErrUnreachable)
	}
	return agreed, nil
}

func (n modelNodes) Replaced(_ context.Context, id uint64, account common.Address, nonce, _ uint64, ours []common.Hash) ([]string, error) {
	c, err := n.ask(id)
	if err != nil {
		return nil, err
	}
	from := slices.Index(c.who[:], account)
	for host, down := range c.down {
		if down {
			return nil, fmt.Errorf("chain %d: %w", id, chain.ErrUnreachable)
		}
		view := c.view(host)
		if c.blocks[max(view+1-modelDepth, 0)].state[from].nonce <= nonce {
			return nil, nil
		}
		for _, hash := range ours {
			if r, _ := c.find(hash, view); r != nil {
				return nil, nil
			}
		}
	}
	return modelHosts[:], nil
}

// Reader takes no time: the bytes are about to be sent.
func (n modelNodes) Reader(_ context.Context, id uint64) (chain.Reader, error) {
	n.m.place()
	c, err := n.m.chainOf(id)
	if err != nil {
		return nil, err
	}
	if c.reads() < 0 {
		return nil, fmt.Errorf("chain %d: %w", id, chain.ErrUnreachable)
	}
	return modelReader{m: n.m, c: c}, nil
}

// A modelReader takes what the sender broadcasts, and answers nothing else.
type modelReader struct {
	chain.Reader
	m *model
	c *modelChain
}

func (r modelReader) SpreadTransaction(ctx context.Context, tx *types.Transaction) error {
	return r.SendTransaction(ctx, tx)
}

func (r modelReader) SendTransaction(_ context.Context, tx *types.Transaction) error {
	r.m.place()
	if r.c.send == "gone" {
		return errors.New("connection refused")
	}
	r.m.arrived(tx)
	err := r.deliver(tx)
	r.m.hook(true)
	return err
}

func (r modelReader) deliver(tx *types.Transaction) error {
	switch r.c.send {
	case "refused":
		return fmt.Errorf("%w: not this one", chain.ErrRejected)
	case "odd":
		return errors.New("something new")
	}
	if err := r.c.add(tx); err != nil {
		return err
	}
	if r.c.send == "lost" {
		return errors.New("connection reset")
	}
	return nil
}
