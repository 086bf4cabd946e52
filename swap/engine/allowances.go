package engine

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"sync"
	"time"

	"swapkeep/chain"
	"swapkeep/swap"
	"swapkeep/swap/journal"
	"swapkeep/swap/plan"

	"github.com/ethereum/go-ethereum/common"
)

// An Allowance is what a spender may pull from an account now, as read from the chain.
type Allowance struct {
	Chain    uint64
	Token    common.Address
	Spender  common.Address
	Kind     swap.AllowanceKind
	Name     string       // of the spender; "" = not pinned
	Provider swap.Kind    // the provider that pins the spender
	Amount   *big.Int     // base units
	Expires  time.Time    // zero = never
	Share    *big.Int     // what open orders still need of it
	Leftover string       // id of the ended or lapsed order that last granted it
	Review   *swap.Review // of its revoke; consent is its Digest. nil = none prepared
}

// An AllowancesRequest asks for a page of allowances. Only known tokens are paired with
// spenders that are pinned or that our orders have approved: a node alone cannot list
// everything that an account ever granted.
type AllowancesRequest struct {
	Account common.Address
	Chain   uint64
	Tokens  []common.Address // the wallet's; those of earlier orders are added
	Cursor  string           // "" at the start
	Prepare bool             // prepare the revoke of each for consent
}

// Bounds of one page.
const (
	pairsAtOnce = 400 // pairs of token and spender that are read
	rowsAtOnce  = 50  // allowances returned
	askedAtOnce = 4   // revokes priced concurrently

	cursorFields = 3
)

// Allowances lists the account's allowances, each with its prepared revoke if r.Prepare
// is set. Those that are zero or expired are left out, so a page may be empty before the
// end. It may be repeated.
func (s *Service) Allowances(ctx context.Context, r AllowancesRequest) (page []Allowance, next string, err error) {
	net, err := s.o.Nodes.Network(r.Chain)
	if err != nil {
		return nil, "", err
	}
	generation := s.Generation()
	past, err := s.o.Journal.Grants(r.Account, r.Chain)
	if err != nil {
		return nil, "", err
	}
	pairs, err := pairsAfter(s.pairs(r, past), r.Cursor)
	if err != nil {
		return nil, "", err
	}
	rest := len(pairs) > pairsAtOnce
	pairs = pairs[:min(len(pairs), pairsAtOnce)]
	found, err := s.granted(ctx, r, pairs)
	if err != nil {
		return nil, "", err
	}
	if len(found) > rowsAtOnce {
		found, rest = found[:rowsAtOnce], true
		pairs = pairs[:1+slices.Index(pairs, found[rowsAtOnce-1].grant())]
	}
	if rest {
		next = cursorOf(pairs[len(pairs)-1])
	}
	if err := s.annotateAllowances(r.Account, found, past); err != nil {
		return nil, "", err
	}
	if r.Prepare {
		err = s.prepareRevokes(ctx, r.Account, net, found, generation)
	}
	return found, next, err
}

func (a Allowance) grant() swap.Grant {
	return swap.Grant{Token: a.Token, Spender: a.Spender, Kind: a.Kind}
}

// pairs returns every allowance that may have been granted, sorted, without duplicates.
func (s *Service) pairs(r AllowancesRequest, past map[swap.Grant]string) (all []swap.Grant) {
	tokens := slices.Clone(r.Tokens)
	spenders := s.pinned(r.Chain)
	for g := range past {
		tokens = append(tokens, g.Token)
		if _, ok := spenders[g.Spender]; !ok {
			spenders[g.Spender] = knownSpender{}
		}
	}
	_, hasPermit2 := spenders[swap.Permit2Contract]
	for _, token := range tokens {
		if token == chain.Native {
			continue
		}
		for spender := range spenders {
			all = append(all, swap.Grant{Token: token, Spender: spender, Kind: swap.ByToken})
			if hasPermit2 && spender != swap.Permit2Contract {
				all = append(all, swap.Grant{Token: token, Spender: spender, Kind: swap.ByPermit2})
			}
		}
	}
	slices.SortFunc(all, compare)
	return slices.Compact(all)
}

func compare(g swap.Grant, h swap.Grant) int {
	if c := g.Token.Cmp(h.Token); c != 0 {
		return c
	}
	if c := g.Spender.Cmp(h.Spender); c != 0 {
		return c
	}
	return strings.Compare(string(g.Kind), string(h.Kind))
}

// cursorOf encodes the last pair of a page as a cursor.
func cursorOf(g swap.Grant) string {
	return fmt.Sprintf("%s/%s/%s", g.Token.Hex(), g.Spender.Hex(), g.Kind)
}

// pairsAfter returns the pairs that follow the cursor, whose own pair need not exist any more.
func pairsAfter(all []swap.Grant, cursor string) ([]swap.Grant, error) {
	if cursor == "" {
		return all, nil
	}
	part := strings.Split(cursor, "/")
	if len(part) != cursorFields || !common.IsHexAddress(part[0]) || !common.IsHexAddress(part[1]) {
		return nil, swap.RefuseField(swap.BadRequest, "cursor", "is none of this list")
	}
	last := swap.Grant{Token: common.HexToAddress(part[0]), Spender: common.HexToAddress(part[1]), Kind: swap.AllowanceKind(part[2])}
	i, found := slices.BinarySearchFunc(all, last, compare)
	if found {
		i++
	}
	return all[i:], nil
}

// A knownSpender spender is a pinned contract with its display name.
type knownSpender struct {
	name     string
	provider swap.Kind
}

// spenderNames names the pinned routers that have a better-known name than their role.
var spenderNames = map[swap.Kind]string{swap.DEX: "Uniswap Universal Router"}

// pinned returns the providers' contracts on a chain that can be given an allowance.
func (s *Service) pinned(chainID uint64) map[common.Address]knownSpender {
	all := map[common.Address]knownSpender{}
	for _, k := range swap.Kinds() {
		p, ok := s.o.Providers[k]
		if !ok {
			continue
		}
		for _, pin := range p.Pins() {
			if _, twice := all[pin.Address]; twice || pin.Chain != chainID || pin.Role != swap.Spender && pin.Role != swap.Router && pin.Role != swap.Depot {
				continue
			}
			name := fmt.Sprintf("%s %s", k, pin.Role)
			if pin.Role == swap.Router && spenderNames[k] != "" {
				name = spenderNames[k]
			}
			if pin.Address == swap.Permit2Contract {
				name = "Permit2"
			}
			all[pin.Address] = knownSpender{name, k}
		}
	}
	return all
}

// granted reads the pairs from the chain and keeps those nonzero and not expired.
func (s *Service) granted(ctx context.Context, r AllowancesRequest, pairs []swap.Grant) (found []Allowance, err error) {
	byKind := map[swap.AllowanceKind][]chain.Grantee{}
	for _, g := range pairs {
		byKind[g.Kind] = append(byKind[g.Kind], chain.Grantee{Token: g.Token, Spender: g.Spender})
	}
	amounts, err := s.o.Nodes.Allowances(ctx, r.Chain, r.Account, byKind[swap.ByToken])
	if err != nil {
		return nil, err
	}
	permits, err := s.o.Nodes.PermitAllowances(ctx, r.Chain, swap.Permit2Contract, r.Account, byKind[swap.ByPermit2])
	if err != nil {
		return nil, err
	}
	names := s.pinned(r.Chain)
	for _, g := range pairs {
		a := Allowance{Chain: r.Chain, Token: g.Token, Spender: g.Spender, Kind: g.Kind, Name: names[g.Spender].name, Provider: names[g.Spender].provider}
		switch g.Kind {
		case swap.ByToken:
			a.Amount, amounts = amounts[0], amounts[1:]
		case swap.ByPermit2:
			a.Amount, a.Expires = permits[0].Amount, plan.PermitExpiry(permits[0])
			permits = permits[1:]
			if !a.Expires.IsZero() && s.o.Now().After(a.Expires) {
				continue
			}
		}
		if a.Amount != nil && a.Amount.Sign() > 0 {
			found = append(found, a)
		}
	}
	return found, nil
}

// unlimitedAmounts are the amounts granted for "no limit": the maximum of a token with 96-bit
// amounts, and anything from Permit2's maximum (160 bits) upwards.
var unlimitedAmounts = [2]*big.Int{largest(96), largest(160)}

func largest(bits uint) *big.Int {
	n := new(big.Int).Lsh(big.NewInt(1), bits)
	return n.Sub(n, big.NewInt(1))
}

// Unlimited reports whether a has one of the amounts that mean no limit.
func (a Allowance) Unlimited() bool {
	return a.Amount.Cmp(unlimitedAmounts[0]) == 0 || a.Amount.Cmp(unlimitedAmounts[1]) >= 0
}

// annotateAllowances fills in what open orders need of each allowance, and which order left it.
func (s *Service) annotateAllowances(account common.Address, found []Allowance, past map[swap.Grant]string) error {
	for i := range found {
		a := &found[i]
		n, err := needs(s.o.Journal, account, a.Chain, a.grant(), s.o.Now())
		if err != nil {
			return err
		}
		a.Share = n.share
		if id, ok := past[a.grant()]; ok {
			if o, err := s.o.Journal.Get(id); err == nil && (leftUnused(o, a.grant()) || n.share.Sign() == 0 && (lapsed(o, s.o.Now()) || exceeded(o, *a))) {
				a.Leftover = id
			}
		}
	}
	return nil
}

// exceeded reports whether a is left from an allowance that o, which has ended, granted
// for other orders too, one of which was paid before the approval was mined.
func exceeded(o swap.Order, a Allowance) bool {
	return o.State.Final() && slices.ContainsFunc(granted(o), func(g swap.Approval) bool {
		return g.Shares != nil && g.Shares.Sign() > 0 && g.Token == a.Token && g.Spender == a.Spender && a.Amount.Cmp(g.Amount) <= 0
	})
}

// leftUnused reports whether o ended without using g, which it granted. A signed permit counts
// even if its call was never sent: anyone who received the signature can submit it to
// Permit2.
func leftUnused(o swap.Order, g swap.Grant) bool {
	same := func(a swap.Approval) bool { return a.Token == g.Token && a.Spender == g.Spender }
	if g.Kind == swap.ByToken {
		return slices.ContainsFunc(Leftovers(o), same)
	}
	granted := func(s swap.Step) bool {
		return s.Effect.Kind == swap.Permit && slices.ContainsFunc(s.Effect.Approves, same)
	}
	return o.State.Final() && o.Permit != nil && o.State != swap.Filled && !pulled(o) && slices.ContainsFunc(o.Plan.Steps, granted)
}

// A need is what open orders require of an allowance.
type need struct {
	share   *big.Int // whole amounts of all orders, signed or not
	order   string   // one that needs some of it
	revokes []string // orders that revoke it
}

// needs returns what open orders require of g at now. Orders whose record cannot be read
// are ignored: revoking an allowance too early loses no money.
func needs(j *journal.Journal, account common.Address, chainID uint64, g swap.Grant, now time.Time) (n need, err error) {
	key := journal.AllowanceKey{Chain: chainID, Account: account, Token: g.Token, Spender: g.Spender}
	if g.Kind == swap.ByPermit2 {
		key.Spender = swap.Permit2Contract
	}
	n.share = new(big.Int)
	uses, err := j.Uses(key)
	for _, line := range uses {
		o, err := j.Get(line.Order)
		u, open := journal.UseOf(o, key)
		switch {
		case errors.Is(err, journal.ErrUnreadable) || errors.Is(err, &swap.Refusal{Code: swap.OrderUnknown}) || err == nil && (!open || lapsed(o, now)):
		case err != nil:
			return n, err
		case o.Terms.Provider != swap.Wallet && (g.Kind == swap.ByToken || mentions(o, g.Spender)):
			n.share.Add(n.share, u.Amount)
			n.order = u.Order
		case o.Terms.Provider == swap.Wallet && swap.GrantOf(o.Plan.Steps[0].Effect) == g:
			n.revokes = append(n.revokes, u.Order)
		}
	}
	return n, err
}

// mentions reports whether a step of o calls a or grants it an allowance.
func mentions(o swap.Order, a common.Address) bool {
	return slices.ContainsFunc(o.Plan.Steps, func(s swap.Step) bool {
		return s.Effect.Target == a || slices.ContainsFunc(s.Effect.Approves, func(b swap.Approval) bool { return b.Spender == a })
	})
}

// prepareRevokes makes the plan that revokes each allowance and keeps it for consent. An
// allowance whose plan fails is listed without one, so that a token that makes nodes fail
// does not hide the others. If every plan fails, and not because it would revert, the
// nodes are at fault and their errors are returned.
func (s *Service) prepareRevokes(ctx context.Context, account common.Address, net chain.Network, found []Allowance, generation uint64) error {
	errs := make([]error, len(found))
	turn := make(chan struct{}, askedAtOnce)
	var wg sync.WaitGroup
	for i := range found {
		wg.Go(func() {
			turn <- struct{}{}
			defer func() { <-turn }()
			r, err := s.ReviewRevoke(ctx, account, net, found[i].grant())
			switch {
			case err == nil:
				found[i].Review = &r
			case !errors.Is(err, chain.ErrWouldRevert):
				errs[i] = err
			}
		})
	}
	wg.Wait()
	if len(found) > 0 && !slices.Contains(errs, nil) {
		return errors.Join(errs...)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	var reviews []swap.Review
	for _, a := range found {
		if a.Review != nil {
			reviews = append(reviews, *a.Review)
		}
	}
	if !s.KeepReviews(generation, reviews...) {
		return swap.Refuse(swap.PlanUnknown, "the wallet was locked or switched meanwhile; list the allowances again")
	}
	return nil
}

// Revoke journals the user's consent to revoke one allowance and starts the order. It
// behaves like [Service.Execute], and fails with AllowanceInUse if an open order needs
// the allowance.
func (s *Service) Revoke(ctx context.Context, r ExecuteRequest) (swap.Order, error) {
	return s.carryOut(ctx, "revoke", r)
}

// checkNotNeeded fails with AllowanceInUse if at now an open order needs the allowance, or an
// order other than except is already revoking it.
func checkNotNeeded(j *journal.Journal, account common.Address, chainID uint64, g swap.Grant, except string, now time.Time) error {
	n, err := needs(j, account, chainID, g, now)
	if err != nil {
		return err
	}
	if n.share.Sign() > 0 {
		return &swap.Refusal{Code: swap.AllowanceInUse, Reason: "an open order still needs this allowance; cancel that order first, or wait for its end",
			Data: map[string]string{"order": n.order, "reserved": n.share.String()}}
	}
	if i := slices.IndexFunc(n.revokes, func(id string) bool { return id != except }); i >= 0 {
		return &swap.Refusal{Code: swap.AllowanceInUse, Reason: "this allowance is being revoked already", Data: map[string]string{"order": n.revokes[i]}}
	}
	return nil
}
