package main

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"swapkeep/cmd/internal/screen"
	"swapkeep/extension/messages"
	"swapkeep/host/protocol"
)

// reviewed prints the review that the user is asked to accept, as the daemon decoded it
// from the provider's bytes. It is an error if nobody should accept it.
func (s *demoRun) reviewed(l *ledger, r protocol.Review) error {
	l.review = r
	s.steps(l, r.Steps)
	t := r.Terms
	s.out.Fact("floor", fmt.Sprintf("%s to %s; %s", l.gets.Text(t.MinimumReceived.Int()), s.whose(t.Recipient), floors[l.lastKind()]))
	s.out.Fact("worth", fmt.Sprintf("pays %s, gets %s, gas %s; by the wallet's own prices, never the provider's",
		worth(r.Offer.USD.AmountIn), worth(r.Offer.USD.AmountOut), worth(r.Gas.USD.Expected)))
	s.out.Fact("trusted", l.trusted(r))
	s.out.Fact("fees", l.fees(r))
	s.out.Fact("gas", fmt.Sprintf("%s expected, %s at most; the plan's ceiling is %s",
		l.native.Text(r.Gas.Expected.Int()), l.native.Text(r.Gas.Max.Int()), l.native.Text(t.GasCeiling.Int())))
	if len(r.Findings) == 0 {
		s.out.Fact("findings", "none: decoded, within the terms, simulated, price checked, gas affordable")
	}
	for _, f := range r.Findings {
		s.out.Styled(severityStyles[f.Severity], "finding", fmt.Sprintf("%s (%s): %s", f.Code, f.Severity, screen.Printable(f.Text)))
	}
	s.out.Fact("digest", string(r.Digest))
	if r.Blocked {
		return errors.New("the review forbids this swap")
	}
	return s.approved(l, r)
}

// worth formats a value in US dollars, or says that it is unavailable.
func worth(usd protocol.USD) string {
	if usd == "" {
		return "price unavailable"
	}
	return "$" + string(usd)
}

// floors say what happens below the minimum received, by the plan's last step.
var floors = map[string]string{
	"swap":    "with less it fails and only its gas is paid",
	"order":   "for less its contract does not take what was signed for",
	"deposit": "less would be told, and not be taken for the whole",
	"opaque":  "less would be told, and not be taken for the whole",
}

// trusted says whom the swap has to trust.
func (l *ledger) trusted(r protocol.Review) string {
	for _, step := range r.Steps {
		if e := step.Effect; e.TrustedTo != "" {
			return messages.Trusted(screen.Printable(e.TrustedTo)) + ", to settle it: at worst it keeps " + l.pays.Text(l.plan.amount) + ", and nothing else"
		} else if e.Settler != "" {
			return "nobody: " + l.contract(e.Settler) + " enforces what is signed"
		}
	}
	return "nobody: the call itself enforces the floor"
}

var severityStyles = map[string]screen.Style{"warn": screen.Warn, "acknowledge": screen.Warn, "block": screen.Bad}

func (s *demoRun) whose(a protocol.Address) string {
	if a == s.account {
		return "the own account"
	}
	return string(a)
}

// stepKinds describe how a step is carried out.
var stepKinds = map[string]string{
	"call":  "a transaction to ",
	"typed": "a signature for ",
	"late":  "a transaction, made after the signature, to ",
}

// steps prints the steps of a plan in order. The allowance of a late swap is left out: it
// was shown with the permit that the swap carries.
func (s *demoRun) steps(l *ledger, steps []protocol.Step) {
	for i, step := range steps {
		if step.Kind == "late" {
			step.Effect.Approves = nil
		}
		number := ""
		if len(steps) > 1 {
			number = fmt.Sprintf("%d of %d, ", i+1, len(steps))
		}
		s.effect(l, number, step)
		until := ""
		for _, a := range step.Effect.Approves {
			if !a.Until.IsZero() {
				until = "until " + a.Until.UTC().Format(time.DateOnly) + ", "
			}
		}
		s.out.Fact("", until+"by "+stepKinds[step.Kind]+l.contract(step.Effect.Target))
	}
}

// effect prints what a step would do, as the daemon decoded it.
func (s *demoRun) effect(l *ledger, number string, step protocol.Step) {
	e := step.Effect
	pays, to := "pays ", e.Target
	if e.Settler != "" {
		pays, to = "offers ", e.Settler
	}
	var does []string
	for _, spend := range e.Spends {
		does = append(does, pays+l.named(spend.Token).Text(spend.Amount.Int())+" to "+l.contract(to))
	}
	for _, a := range e.Approves {
		does = append(does, "lets "+l.contract(a.Spender)+" pull "+l.most(a))
	}
	s.out.Fact("review", number+e.Kind+": "+strings.Join(does, "; "))
	for _, r := range e.Receives {
		s.out.Fact("", fmt.Sprintf("which enforces at least %s for %s", l.named(r.Token).Text(r.Min.Int()), s.whose(r.To)))
	}
}

// most says how much a spender may pull.
func (l *ledger) most(a protocol.Approval) string {
	if a.Amount.Int().Sign() == 0 {
		return "nothing of " + l.named(a.Token).Symbol + " any more"
	}
	return "exactly " + l.named(a.Token).Text(a.Amount.Int())
}

// approved confirms the review's approvals like a careful person. It is an error if one
// is for more than is paid or for an unknown spender.
func (s *demoRun) approved(l *ledger, r protocol.Review) error {
	for _, step := range r.Steps {
		if step.Effect.Kind != "approve" {
			continue
		}
		for _, a := range step.Effect.Approves {
			n := a.Amount.Int()
			if n.Sign() != 0 && n.Cmp(l.plan.amount) != 0 || common.HexToAddress(string(a.Token)) != l.spent() || !l.knows(a.Spender) {
				return fmt.Errorf("the review lets %s pull %s, which nobody asked for", l.contract(a.Spender), l.most(a))
			}
			s.out.Styled(screen.Good, "confirmed", "the approval: "+l.contract(a.Spender)+" may pull "+l.most(a)+", and no more")
		}
	}
	return nil
}

// fees describes the wallet's fee on the output, and the maker fee.
func (l *ledger) fees(r protocol.Review) string {
	wallet, maker := "no wallet fee", "no maker fee"
	if r.FeeBasis == "asked" {
		wallet = fmt.Sprintf("wallet fee %d bps asked for (the provider does not say whether it takes it)", r.Offer.FeeAsked)
	}
	if r.Terms.FeeReceiver != "" && r.Terms.FeeBps > 0 {
		wallet = fmt.Sprintf("wallet fee %d bps, about %s, to %s (%s)", r.Terms.FeeBps,
			l.gets.Text(feeIn(r.Offer.AmountOut.Int(), r.Terms.FeeBps)), short(r.Terms.FeeReceiver), r.FeeBasis)
	}
	if r.Terms.MakerFeeBps > 0 {
		maker = fmt.Sprintf("maker fee at most %d bps", r.Terms.MakerFeeBps)
	}
	return wallet + "; " + maker
}
