package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"time"

	"swapkeep/host/protocol"
)

// settleTime bounds the way of one order from consent to its end.
const settleTime = 45 * time.Second

// A plan is one swap of the story.
type plan struct {
	chain    uint64
	amount   *big.Int // wei of the native coin, which pays
	receives string   // symbol
	kill     bool     // the daemon is killed in the middle
}

var (
	ether     = big.NewInt(1e18)
	halfEther = big.NewInt(5e17)
)

var demoSwaps = []plan{
	{chain: 1, amount: ether, receives: "USDC"},
	{chain: 8453, amount: ether, receives: "USDC", kill: true},
	{chain: 1, amount: halfEther, receives: "WETH"},
}

func chainsOf(plans []plan) (ids []uint64) {
	for _, p := range plans {
		if !slices.Contains(ids, p.chain) {
			ids = append(ids, p.chain)
		}
	}
	return ids
}

// An outcome is what became of one swap.
type outcome struct {
	plan    plan
	network string
	order   protocol.Order
	pays    coin
	gets    coin
	got     *big.Int // what the chain says has arrived
	fee     *big.Int // what it says the wallet's vendor got
	took    time.Duration
	killed  int   // daemons meanwhile
	err     error // nil only for a swap that is filled, as the chain shows too
}

// swap carries one plan through: quote, review, consent, proof.
func (s *show) swap(ctx context.Context, number int, p plan) outcome {
	l, err := s.openLedger(p)
	if err != nil {
		return outcome{plan: p, err: err}
	}
	s.out.heading(l.title(number))
	r := outcome{plan: p, network: l.name, pays: l.pays, gets: l.gets}
	review, err := s.offered(ctx, l)
	if err == nil {
		err = l.open(ctx, review.Terms)
	}
	if err != nil {
		r.err = err
		return r
	}
	began, killed := time.Now(), s.killed
	if p.kill {
		r.order, r.err = s.killedInTheMiddle(ctx, l, review)
	} else {
		r.order, r.err = s.carriedOut(ctx, review)
	}
	r.took, r.killed = time.Since(began), s.killed-killed
	if r.err == nil {
		r.got, r.fee, r.err = s.settled(ctx, l, r.order)
	}
	return r
}

// offered gets an offer and the review of what it would do.
func (s *show) offered(ctx context.Context, l *ledger) (protocol.Review, error) {
	if err := s.network(ctx, l); err != nil {
		return protocol.Review{}, err
	}
	quote, err := ask[protocol.QuoteResult](ctx, s.port, "swap.quote", protocol.QuoteParams{
		Account: s.account, TokenIn: l.pays.token, AmountIn: protocol.AmountOf(l.plan.amount), TokenOut: l.gets.token,
		Providers: []string{"dex"},
	})
	if err != nil {
		return protocol.Review{}, err
	}
	if len(quote.Offers) == 0 {
		if failure := quote.Failures["dex"]; failure != nil {
			return protocol.Review{}, failure
		}
		return protocol.Review{}, errors.New("no offer, and no reason for that")
	}
	best := quote.Offers[0]
	s.out.fact("offer", fmt.Sprintf("%s by %s; at least %s at a slippage of %s %%",
		l.gets.text(best.AmountOut.Int()), best.Provider, l.gets.text(best.MinAmountOut.Int()), best.Slippage))
	s.out.fact("route", printable(strings.TrimSpace(best.Routing+" "+best.Route)))
	review, err := ask[protocol.Review](ctx, s.port, "swap.prepare", protocol.PrepareParams{Offer: best.ID})
	if err != nil {
		return review, err
	}
	s.reviewed(l, review)
	if review.Blocked {
		return review, errors.New("the review forbids this swap")
	}
	return review, nil
}

// network makes the plan's chain the active one.
func (s *show) network(ctx context.Context, l *ledger) error {
	list, err := ask[protocol.NetworksResult](ctx, s.port, "networks.list", protocol.None{})
	if err != nil {
		return err
	}
	if list.Active != l.plan.chain {
		if _, err := ask[protocol.SelectResult](ctx, s.port, "networks.select", protocol.SelectParams{ChainID: l.plan.chain}); err != nil {
			return err
		}
	}
	s.out.fact("network", fmt.Sprintf("%s (%d) is the active one", l.name, l.plan.chain))
	return nil
}

// reviewed prints what the user is asked to accept, decoded by the daemon from
// the provider's bytes.
func (s *show) reviewed(l *ledger, r protocol.Review) {
	for _, step := range r.Steps {
		s.effect(l, step.Effect)
	}
	t := r.Terms
	s.out.fact("floor", fmt.Sprintf("%s to %s; with less it fails and only its gas is paid", l.gets.text(t.FloorOut.Int()), s.whose(t.Recipient)))
	s.out.fact("fees", l.fees(r))
	s.out.fact("gas", fmt.Sprintf("%s expected, %s at most; the plan's ceiling is %s",
		l.native.text(r.Gas.Expected.Int()), l.native.text(r.Gas.Max.Int()), l.native.text(t.GasCeiling.Int())))
	if len(r.Findings) == 0 {
		s.out.fact("findings", "none: decoded, within the terms, simulated, price checked, gas affordable")
	}
	for _, f := range r.Findings {
		s.out.styled(severityStyles[f.Severity], "finding", fmt.Sprintf("%s (%s): %s", f.Code, f.Severity, printable(f.Text)))
	}
	s.out.fact("digest", string(r.Digest))
}

var severityStyles = map[string]style{"warn": warn, "acknowledge": warn, "block": bad}

func (s *show) whose(a protocol.Address) string {
	if a == s.account {
		return "the own account"
	}
	return string(a)
}

// effect says what a step would do, as the daemon decoded it.
func (s *show) effect(l *ledger, e protocol.Effect) {
	words := []string{e.Kind + ":"}
	for _, spend := range e.Spends {
		words = append(words, "pays "+l.named(spend.Token).text(spend.Amount.Int()))
	}
	for _, a := range e.Approves {
		words = append(words, fmt.Sprintf("lets %s pull %s", a.Spender, l.named(a.Token).text(a.Amount.Int())))
	}
	s.out.fact("review", strings.Join(append(words, "to", l.contract(e.Target)), " "))
	for _, r := range e.Receives {
		s.out.fact("", fmt.Sprintf("which enforces at least %s for %s", l.named(r.Token).text(r.Min.Int()), s.whose(r.To)))
	}
}

// fees says what the wallet's vendor takes of the output, and what more the
// provider's side may take.
func (l *ledger) fees(r protocol.Review) string {
	wallet, maker := "no wallet fee", "no maker fee"
	if r.Terms.FeeReceiver != "" && r.Terms.FeeBps > 0 {
		wallet = fmt.Sprintf("wallet fee %d bps, about %s, to %s", r.Terms.FeeBps,
			l.gets.text(feeIn(r.Offer.AmountOut.Int(), r.Terms.FeeBps)), short(r.Terms.FeeReceiver))
	}
	if r.Terms.MakerFeeBps > 0 {
		maker = fmt.Sprintf("maker fee at most %d bps", r.Terms.MakerFeeBps)
	}
	return wallet + "; " + maker
}

// consent executes the review that was shown, findings that need a second act
// included.
func (s *show) consent(ctx context.Context, r protocol.Review) (protocol.Order, error) {
	var codes []string
	for _, f := range r.Findings {
		if f.Severity == "acknowledge" {
			codes = append(codes, f.Code)
		}
	}
	s.out.fact("consent", "swap.execute with that digest"+secondAct(codes))
	return ask[protocol.Order](ctx, s.port, "swap.execute", protocol.ExecuteParams{
		Request: newRequest(), Digest: r.Digest, Acknowledge: codes,
	})
}

func secondAct(codes []string) string {
	if len(codes) == 0 {
		return ""
	}
	return "; second act for " + strings.Join(codes, ", ")
}

func (s *show) carriedOut(ctx context.Context, r protocol.Review) (protocol.Order, error) {
	f := &follower{began: time.Now()}
	o, err := s.consent(ctx, r)
	if err != nil {
		return o, err
	}
	return s.follow(ctx, f, o.ID, ended)
}

func ended(o protocol.Order) bool { return o.Final }

// A follower knows how far an order's story has been told.
type follower struct {
	began time.Time
	told  int // lines of its history
	tx    protocol.Hash
}

// follow tells an order's story until enough of it has happened.
// Notifications are hints; the order itself is asked each time.
func (s *show) follow(ctx context.Context, f *follower, id string, enough func(protocol.Order) bool) (protocol.Order, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, settleTime, fmt.Errorf("the order did not get there in %v", settleTime))
	defer cancel()
	defer s.out.progressed()
	for {
		r, err := ask[protocol.OrderResult](ctx, s.port, "swap.order", protocol.OrderParams{Order: id})
		if err != nil {
			return r.Order, reason(ctx, err)
		}
		s.tell(f, r)
		if enough(r.Order) {
			return r.Order, nil
		}
		if err := s.change(ctx, f, r.Order); err != nil {
			return r.Order, reason(ctx, err)
		}
	}
}

// change waits for a newer revision of an order.
func (s *show) change(ctx context.Context, f *follower, known protocol.Order) error {
	for {
		params, err := s.port.await(ctx, "swap.order", func() {
			s.out.progress(seconds(time.Since(f.began)), fmt.Sprintf("%s: %s", known.State, known.Means))
		})
		if err != nil {
			return err
		}
		var news protocol.Order
		if err := json.Unmarshal(params, &news); err != nil {
			return fmt.Errorf("swap.order: %w", err)
		}
		if news.ID == known.ID && news.Revision > known.Revision {
			return nil
		}
	}
}

// words say more than the notes of a history, for a first look.
var words = map[string]string{
	"accepted":      "consent is on disk; nothing has been signed",
	"executing":     "for each step: check, simulate, sign, write down, send",
	"steps done":    "every step is done; the chain is asked for the proof",
	"proven filled": "proven: at least the floor has arrived",
}

func (s *show) tell(f *follower, r protocol.OrderResult) {
	for _, e := range r.History[min(f.told, len(r.History)):] {
		note := e.Note
		if told, ok := words[note]; ok {
			note = told
		}
		if e.Condition != "" {
			note += " (" + e.Condition + ")"
		}
		s.out.event(seconds(e.Time.Sub(f.began)), e.State, printable(note))
	}
	f.told = len(r.History)
	if tx := sentBy(r.Order); tx != "" && tx != f.tx {
		s.out.fact("", "tx "+string(tx))
		f.tx = tx
	}
}

// sentBy is the transaction of the present step, else of the last finished one.
func sentBy(o protocol.Order) (tx protocol.Hash) {
	for _, step := range o.Steps {
		if step.Tx != "" {
			tx = step.Tx
		}
	}
	if o.Sending != "" {
		return o.Sending
	}
	return tx
}

// settled prints the proof and compares it with the chain. Errors: a swap that
// is not filled, and one of which the chain says something else.
func (s *show) settled(ctx context.Context, l *ledger, o protocol.Order) (got, fee *big.Int, err error) {
	v := o.Verdict
	if o.State != "filled" || v == nil || v.Evidence == nil || v.Received == nil {
		return nil, nil, fmt.Errorf("the order ended as %s: %s", o.State, printable(o.Means+" "+o.Reason))
	}
	e := v.Evidence
	s.out.fact("proof", fmt.Sprintf("block %d, %d deep, %s (%s)", e.Block, e.Depth, v.Sources, strings.Join(e.Hosts, ", ")))
	if got, fee, err = l.moved(ctx); err != nil {
		return nil, nil, err
	}
	s.out.fact("received", fmt.Sprintf("%s; the floor was %s", l.gets.text(got), l.gets.text(o.Terms.FloorOut.Int())))
	s.out.fact("paid", fmt.Sprintf("%s, gas %s (%s units), wallet fee %s", l.pays.text(o.Terms.AmountIn.Int()),
		l.native.text(e.FeePaid.Int()), grouped(fmt.Sprint(e.GasUsed)), l.gets.orNone(fee)))
	switch floor := o.Terms.FloorOut.Int(); {
	case got.Cmp(floor) < 0 || v.Short:
		err = fmt.Errorf("less than the floor of %s arrived", l.gets.text(floor))
	case got.Cmp(v.Received.Amount.Int()) != 0:
		err = fmt.Errorf("the daemon says that %s arrived, the chain says %s", l.gets.text(v.Received.Amount.Int()), l.gets.text(got))
	}
	return got, fee, err
}
