package providertest

import (
	"math/big"
	"testing"

	"swapkeep/chain"
	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common"
)

// Isolated is the isolated account of every flow whose provider needs one on the source
// chain, or whose request names it. Such a flow's recorded replies are for calls from it.
var Isolated = common.HexToAddress("0x1501471501471501471501471501471501471501")

// An isolating provider knows beforehand where its calls must come from an isolated account.
type isolating interface {
	IsolatesOn(chainID uint64) bool
}

// isolate returns the request as package swap makes it: with an isolated account where the
// provider's calls must come from one.
func isolate(p swap.Provider, r swap.QuoteRequest) swap.QuoteRequest {
	if i, ok := p.(isolating); ok && i.IsolatesOn(r.SrcChain) {
		r.Isolated = Isolated
	}
	return r
}

// gasMoved is what the flows move to the isolated account besides the input, in wei.
var gasMoved = big.NewInt(1e15)

// funding is what package swap puts before a plan that an isolated account carries out.
func funding(t swap.Terms) (effects []swap.Effect) {
	if !t.IsIsolated() {
		return nil
	}
	for _, s := range swap.FundSteps(t, gasMoved) {
		effects = append(effects, s.Effect)
	}
	return effects
}

// isolated: without its isolated account, or with another, the provider offers and builds
// nothing.
func (h *harness) isolated(t *testing.T) {
	honest, terms := h.flow.Request, h.terms
	defer func() { h.flow.Request, h.terms = honest, terms }()
	offer, _, err := h.quote(t.Context(), h.p)
	if err != nil {
		t.Fatal(err)
	}
	offer.Request = honest.WithActualFee(offer.Fees)
	for name, of := range map[string]common.Address{"none": {}, "another": common.HexToAddress(Attacker), "the account": honest.Account} {
		other := terms
		other.Isolated = of
		if _, err := h.p.Build(t.Context(), offer, other); code(err) == "" {
			t.Errorf("terms with %s: %v", name, err)
		}
		if _, err := h.p.Decode(other, h.order.Plan.Steps[len(h.order.Plan.Steps)-1]); code(err) == "" {
			t.Errorf("a call for terms with %s: %v", name, err)
		}
	}
	h.flow.Request.Isolated = common.Address{}
	_, always := h.p.(isolating)
	if _, _, err := h.quote(t.Context(), h.p); code(err) == "" || always && code(err) != swap.NotPinned {
		t.Errorf("a quote without an isolated account: %v", err)
	}
}

// fundingMovements checks simulated movements of a whole plan with an isolated account: the
// input and the gas go to it, and nothing else leaves the account itself. x and honest are
// of the last step alone.
func (h *harness) fundingMovements(t *testing.T, x swap.Expected, honest chain.Simulation) (tried int) {
	if !h.terms.IsIsolated() {
		return 0
	}
	account, attacker := h.terms.Account, common.HexToAddress(Attacker)
	x.Effects = append(funding(h.terms), x.Effects...)
	var funds []chain.Movement
	for _, f := range funding(h.terms) {
		funds = append(funds, chain.Movement{Token: f.Spends[0].Token, From: account, To: Isolated, Amount: f.Spends[0].Amount})
	}
	with := func(funds []chain.Movement, more ...chain.Movement) chain.Simulation {
		s := honest
		s.Movements = append(append(append([]chain.Movement{}, funds...), more...), honest.Movements...)
		return s
	}
	if err := swap.CheckSimulation(h.terms, x, with(funds)); err != nil {
		t.Errorf("exactly the input and the gas go to the isolated account: %v", err)
	}
	granted := with(funds)
	granted.Grants = []chain.Grant{grant(h.terms.TokenIn, account, attacker)}
	for name, s := range map[string]chain.Simulation{
		"nothing is moved":              with(nil),
		"the last is not moved":         with(funds[:len(funds)-1]),
		"the last twice":                with(funds, funds[len(funds)-1]),
		"the input to another":          with(funds, chain.Movement{Token: h.terms.TokenIn, From: account, To: attacker, Amount: big.NewInt(1)}),
		"another token of the account":  with(funds, move(attacker, account, attacker, nil)),
		"another token to the isolated": with(funds, move(attacker, account, Isolated, nil)),
		"an NFT of the account":         with(funds, move(attacker, account, Isolated, big.NewInt(7))),
		"an allowance of the account":   granted,
	} {
		tried++
		if err := swap.CheckSimulation(h.terms, x, s); code(err) == "" {
			t.Errorf("%s: signed although a simulation shows it: %v", name, err)
		}
	}
	return tried
}
