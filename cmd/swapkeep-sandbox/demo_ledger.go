package main

import (
	"context"
	"fmt"
	"maps"
	"math/big"
	"slices"

	"github.com/ethereum/go-ethereum"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"

	"swapkeep/cmd/internal/amount"
	"swapkeep/host/protocol"
	"swapkeep/sandbox"
	"swapkeep/test/audit"
)

// A ledger checks one swap against the chains and the provider's records, independently
// of the daemon.
type ledger struct {
	plan        plan
	chain       *sandbox.Chain // source chain
	destination *sandbox.Chain // destination chain; the same for a swap on one chain
	account     common.Address
	native      coin
	pays        coin
	gets        coin

	// State before the swap, and what was consented to.
	review      protocol.Review
	minReceived *big.Int       // minimum received, in base units of gets
	ceiling     *big.Int       // wei, gas of all its transactions together
	sends       int            // transactions in the plan
	receiver    common.Address // of the fee; zero: none
	grants      []grant
	handed      int // transactions sent to the node
	nonces      map[uint64]uint64
	blocks      map[uint64]uint64 // head block number by chain id
	known       []string          // ids of the provider's orders
	before      holdings
}

func (s *demoRun) openLedger(p plan) (*ledger, error) {
	c, far := s.box.Chain(p.chain), s.box.Chain(p.destination())
	if c == nil || far == nil {
		return nil, fmt.Errorf("chain %d or %d does not run", p.chain, p.destination())
	}
	pays, paysKnown := coinNamed(c.Network, p.pays)
	gets, known := coinNamed(far.Network, p.receives)
	if !known || !paysKnown {
		return nil, fmt.Errorf("there is no %s on %s, or no %s on %s", p.pays, c.Network.Name, p.receives, far.Network.Name)
	}
	return &ledger{plan: p, chain: c, destination: far, account: common.HexToAddress(string(s.account)),
		native: nativeOf(c.Network), pays: pays, gets: gets}, nil
}

// where names the chains of a swap.
func (l *ledger) where() string {
	if l.destination == l.chain {
		return "on " + l.chain.Network.Name
	}
	return "from " + l.chain.Network.Name + " to " + l.destination.Network.Name
}

func (l *ledger) title(number int) string {
	title := fmt.Sprintf("Swap %d (%s): %s for %s %s", number, l.plan.way, l.pays.Text(l.plan.amount), l.gets.Symbol, l.where())
	switch l.plan.end {
	case refunded:
		title += ", to be refunded"
	case likely:
		title += ", paid by an unknown filler"
	}
	if l.plan.kill != nil {
		title += ", and the daemon killed " + l.plan.kill.name
	}
	return title
}

// open records the state before the swap and what the user consents to.
func (l *ledger) open(ctx context.Context, s *demoRun, r protocol.Review) (err error) {
	if r.Terms.FeeReceiver != "" {
		l.receiver = common.HexToAddress(string(r.Terms.FeeReceiver))
	}
	l.review, l.minReceived, l.ceiling = r, r.Terms.MinimumReceived.Int(), r.Terms.GasCeiling.Int()
	for _, step := range r.Steps {
		if step.Kind != "typed" {
			l.sends++
		}
	}
	l.nonces, l.blocks = map[uint64]uint64{}, map[uint64]uint64{}
	for _, c := range s.box.Chains() {
		l.blocks[c.ID] = c.Head().Number.Uint64()
		if l.nonces[c.ID], err = c.Client().NonceAt(ctx, l.account, nil); err != nil {
			return err
		}
	}
	l.handed = len(l.chain.Transactions())
	deals, err := s.providerOrders(ctx, l.plan.provider)
	if err != nil {
		return err
	}
	for _, d := range deals {
		l.known = append(l.known, d.Ref)
	}
	if l.grants, err = l.granted(ctx, r); err != nil {
		return err
	}
	l.before, err = l.holdings(ctx)
	return err
}

// newOrders returns the provider's orders that are new since open.
func (l *ledger) newOrders(ctx context.Context, s *demoRun) ([]audit.Entry, error) {
	all, err := s.providerOrders(ctx, l.plan.provider)
	return slices.DeleteFunc(all, func(d audit.Entry) bool { return slices.Contains(l.known, d.Ref) }), err
}

// holdings are the balances that a swap changes.
type holdings struct {
	pays *big.Int // the account's, of the input token
	gets *big.Int // the account's, of the output token
	fee  *big.Int // the fee receiver's, of the output token
}

func (l *ledger) holdings(ctx context.Context) (h holdings, err error) {
	if h.pays, err = balance(ctx, l.chain, l.pays, l.account); err != nil {
		return h, err
	}
	if h.gets, err = balance(ctx, l.destination, l.gets, l.account); err != nil {
		return h, err
	}
	h.fee = new(big.Int)
	if l.receiver != (common.Address{}) {
		h.fee, err = balance(ctx, l.destination, l.gets, l.receiver)
	}
	return h, err
}

func balance(ctx context.Context, on *sandbox.Chain, c coin, holder common.Address) (*big.Int, error) {
	if c.token == protocol.Native {
		return on.Client().BalanceAt(ctx, holder, nil)
	}
	out, err := view(ctx, on, c.address(), "balanceOf(address)", 1, holder)
	if err != nil {
		return nil, err
	}
	return out[0], nil
}

// A grant is an allowance that a review asks for. The spender of a permit pulls through
// Permit2.
type grant struct {
	token, spender common.Address
	permit         bool
	left           *big.Int
	nonce          uint64 // Permit2 nonce of the spender
}

// granted returns the allowances that a review asks for, with their current values.
func (l *ledger) granted(ctx context.Context, r protocol.Review) (all []grant, err error) {
	for _, step := range r.Steps {
		if step.Effect.Kind != "approve" && step.Effect.Kind != "permit" {
			continue
		}
		for _, a := range step.Effect.Approves {
			g := grant{token: common.HexToAddress(string(a.Token)), spender: common.HexToAddress(string(a.Spender)), permit: step.Effect.Kind == "permit"}
			if err := l.readAllowance(ctx, &g); err != nil {
				return nil, err
			}
			all = append(all, g)
		}
	}
	return all, nil
}

// readAllowance reads the current allowance of a spender.
func (l *ledger) readAllowance(ctx context.Context, g *grant) error {
	at, signature, words, args := g.token, "allowance(address,address)", 1, []common.Address{l.account, g.spender}
	if g.permit {
		at, signature, words = l.chain.Network.Contracts.Permit2, "allowance(address,address,address)", 3
		args = []common.Address{l.account, g.token, g.spender}
	}
	out, err := view(ctx, l.chain, at, signature, words, args...)
	if err != nil {
		return err
	}
	g.left = out[0]
	if g.permit {
		g.nonce = out[2].Uint64()
	}
	return nil
}

// view calls a contract's view function on addresses and returns that many words.
func view(ctx context.Context, on *sandbox.Chain, at common.Address, signature string, words int, args ...common.Address) ([]*big.Int, error) {
	data := crypto.Keccak256([]byte(signature))[:4]
	for _, a := range args {
		data = append(data, common.LeftPadBytes(a[:], 32)...)
	}
	raw, err := on.Client().CallContract(ctx, ethereum.CallMsg{To: &at, Data: data}, nil)
	if err != nil {
		return nil, fmt.Errorf("%s of %s: %w", signature, at, err)
	}
	if len(raw) != 32*words {
		return nil, fmt.Errorf("%s of %s: %d bytes", signature, at, len(raw))
	}
	out := make([]*big.Int, words)
	for i := range out {
		out[i] = new(big.Int).SetBytes(raw[32*i : 32*(i+1)])
	}
	return out, nil
}

var transferTopic = crypto.Keccak256Hash([]byte("Transfer(address,address,uint256)"))

// transfers returns the amounts of the token's transfers since open, from the account or
// to it.
func (l *ledger) transfers(ctx context.Context, on *sandbox.Chain, token common.Address, from bool) (amounts []*big.Int, err error) {
	if on.Head().Number.Uint64() == l.blocks[on.ID] {
		return nil, nil // no new block to query
	}
	topics := [][]common.Hash{{transferTopic}, {}, {common.BytesToHash(l.account[:])}}
	if from {
		topics[1], topics[2] = topics[2], nil
	}
	logs, err := on.Client().FilterLogs(ctx, ethereum.FilterQuery{
		FromBlock: new(big.Int).SetUint64(l.blocks[on.ID] + 1), Addresses: []common.Address{token}, Topics: topics,
	})
	for _, log := range logs {
		amounts = append(amounts, new(big.Int).SetBytes(log.Data))
	}
	return amounts, err
}

// named returns the coin of that address on the source chain. Tokens that the demo does
// not know are shown in base units.
func (l *ledger) named(token protocol.Address) coin {
	for _, c := range append([]coin{l.native, l.pays}, coinsOf(l.chain.Network)...) {
		if c.token == token {
			return c
		}
	}
	return coin{amount.Coin{Symbol: "units of " + string(token)}, token}
}

// contractNames maps names of the sandbox's manifest to names for people.
var contractNames = map[string]string{
	"universalRouter":     "the Universal Router",
	"permit2":             "Permit2",
	"v2DutchOrderReactor": "the V2 Dutch order reactor",
	"v3DutchOrderReactor": "the V3 Dutch order reactor",
	"bridgeDepository":    "the bridge's depository",
	"intentDeposit":       "the intent provider's deposit contract",
	"jamSettlement":       "the JAM settlement",
	"jamBalanceManager":   "the JAM balance manager",
	"rfqSettlement":       "the RFQ settlement",
}

// contract names a contract of the source chain.
func (l *ledger) contract(a protocol.Address) string {
	if name := l.nameOf(a); name != "" {
		return name + " " + short(a)
	}
	if c := l.named(a); c.Decimals > 0 && a != protocol.Native {
		return c.Symbol + " " + short(a)
	}
	return string(a)
}

// nameOf returns the name of a provider's contract, "" for any other address.
func (l *ledger) nameOf(a protocol.Address) string {
	at, named := common.HexToAddress(string(a)), l.chain.Network.Named()
	for _, name := range slices.Sorted(maps.Keys(contractNames)) {
		if named[name] == at {
			return contractNames[name]
		}
	}
	return ""
}

// knows reports whether a is a known contract of a provider.
func (l *ledger) knows(a protocol.Address) bool { return l.nameOf(a) != "" }
