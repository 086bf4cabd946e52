package host

import (
	"encoding/json"
	"math/big"
	"net/url"
	"strconv"
	"strings"
	"time"

	"swapkeep/chain"
	"swapkeep/host/protocol"
	"swapkeep/swap"
	"swapkeep/swap/engine"
	"swapkeep/swap/journal"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
)

// The functions below convert domain types to wire types: amounts as decimal strings,
// addresses with checksum, times in UTC. Signatures and the provider's raw words stay in
// the daemon.

func list[A, B any](in []A, f func(A) B) []B {
	out := make([]B, len(in))
	for i, a := range in {
		out[i] = f(a)
	}
	return out
}

func offerID(o swap.Offer) string { return o.ID }

func addressOf(a common.Address) protocol.Address { return protocol.Address(a.Hex()) }

// optionalAddress omits the zero address where it means none.
func optionalAddress(a common.Address) protocol.Address {
	if a == (common.Address{}) {
		return ""
	}
	return addressOf(a)
}

func amountOf(n *big.Int) protocol.Amount { return protocol.AmountOf(n) }

// zeroIfNegative returns n, or zero if it is negative: gas may cost more than a swap yields.
func zeroIfNegative(n *big.Int) *big.Int {
	if n != nil && n.Sign() < 0 {
		return new(big.Int)
	}
	return n
}

func hashOf(h common.Hash) protocol.Hash { return protocol.Hash(h.Hex()) }

func optionalHash(h common.Hash) protocol.Hash {
	if h == (common.Hash{}) {
		return ""
	}
	return hashOf(h)
}

func orderOf(o swap.Order) protocol.Order {
	steps := list(o.Plan.Steps, stepOf)
	for i := range steps {
		steps[i].Data, steps[i].Typed = "", nil
		steps[i].Done = i < len(o.Results)
		if steps[i].Done {
			steps[i].Tx, steps[i].Skipped = optionalHash(o.Results[i].Tx), o.Results[i].Skipped
		}
	}
	out := protocol.Order{
		ID: o.ID, Request: protocol.UUID(strings.ToLower(o.Request)), Digest: hashOf(o.Digest), Origin: o.Origin, Confirmed: confirmedOf(o.Seal),
		Terms: termsOf(o.Terms), Offer: offerOf(o.Offer), Steps: steps, Acknowledge: o.AckCodes,
		Revision: o.Revision, Cancelling: o.Cancel && !o.Tampered(), State: string(o.State), Final: o.Final(), Ended: o.Ended(), Reported: o.Unproven(),
		Condition: string(o.Condition), Step: o.Step, CurrentTx: optionalHash(o.CurrentTx), Wrapped: o.Wrapped, Isolation: isolationOf(o.Isolation), ProviderOrderID: o.ProviderOrderID, Claim: claimOf(o.Claim), CandidatePayment: candidateOf(o.Candidate), Verdict: verdictOf(o.Verdict), Closing: closingOf(o.Closing),
		Reason: o.Reason, Cause: causeOf(o.Cause), Created: utc(o.Created), Updated: utc(o.Updated), EndedAt: optionalTime(o.EndedAt), Checked: utc(o.Checked), Attempts: list(o.Attempts, attemptOf),
	}
	if from, ok := o.CloseTime(); ok && !o.Ended() {
		out.CanCloseFrom = utc(from)
	}
	if o.Bump != nil {
		out.Speedup = string(o.Bump.Tier)
	}
	if s := o.Submission; s != nil {
		out.Submission = &protocol.Submitted{First: utc(s.First), Last: utc(s.Last), Tries: s.Tries, Accepted: s.Accepted, Refused: s.Refused}
	}
	for _, a := range engine.Leftovers(o) {
		out.Leftovers = append(out.Leftovers, protocol.Leftover{ChainID: o.Terms.SrcChain, Token: addressOf(a.Token), Spender: addressOf(a.Spender), Amount: amountOf(a.Amount)})
	}
	if p := o.Proposal; p != nil {
		out.Proposal = &protocol.Proposal{Reason: p.Reason, Cause: causeOf(p.Cause), Created: utc(p.Made), Review: reviewOf(p.Review)}
	}
	return out
}

func isolationOf(i *swap.Isolation) *protocol.Isolation {
	if i == nil {
		return nil
	}
	returned := func(r swap.Returned) protocol.Returned {
		return protocol.Returned{Token: addressOf(r.Token), Amount: amountOf(r.Amount), Tx: hashOf(r.Tx)}
	}
	return &protocol.Isolation{Returned: list(i.Returned, returned), Left: list(i.Left, spendOf)}
}

func attemptOf(a swap.Attempt) protocol.Attempt {
	return protocol.Attempt{Kind: string(a.Kind), Tx: hashOf(a.Tx), MaxFee: amountOf(a.FeeCap), MaxPriorityFee: amountOf(a.TipCap), Signed: utc(a.Signed)}
}

func reviewOf(r swap.Review) protocol.Review {
	return protocol.Review{
		Digest: hashOf(r.Digest), Terms: termsOf(r.Terms), Offer: offerOf(r.Offer), Steps: list(r.Plan.Steps, stepOf),
		Settlement: string(r.Plan.Settlement), Gas: gasOf(r.Gas), Findings: list(r.Findings, findingOf), Lines: list(r.Lines, lineOf),
		FeeBasis: string(r.FeeBasis()), StatedMinimum: amountOf(r.QuotedMinimum()), Blocked: r.Blocked(), Expires: utc(r.Expires),
	}
}

func offerOf(o swap.Offer) protocol.Offer {
	r := o.Request
	return protocol.Offer{
		ID: o.ID, Provider: string(o.Provider), Account: addressOf(r.Account), Isolated: optionalAddress(r.Isolated),
		SrcChainID: r.SrcChain, TokenIn: addressOf(r.TokenIn), AmountIn: amountOf(r.AmountIn),
		DstChainID: r.DstChain, TokenOut: addressOf(r.TokenOut), AmountOut: amountOf(o.AmountOut), MinAmountOut: amountOf(o.MinOut),
		Recipient: addressOf(r.Recipient), RefundTo: addressOf(r.RefundTo), Slippage: protocol.Percent(r.SlippageBps),
		Routing: o.Routing, Route: o.Route, Gas: o.Gas, DurationSeconds: o.Duration.Seconds(), Expires: utc(o.Expires),
		Fees: list(o.Fees, paymentOf), FeeRequested: o.FeeRequested, GasCost: amountOf(o.GasCost), NetAmountOut: amountOf(zeroIfNegative(o.Net)), Rank: o.Rank,
		Gasless: o.Gasless, Wrap: optionalAddress(o.Wrap), Refund: optionalSpend(o.Refund), Unusable: o.Unusable,
	}
}

func termsOf(t swap.Terms) protocol.Terms {
	return protocol.Terms{
		Provider: string(t.Provider), Account: addressOf(t.Account), Isolated: optionalAddress(t.Isolated),
		SrcChainID: t.SrcChain, TokenIn: addressOf(t.TokenIn), AmountIn: amountOf(t.AmountIn),
		DstChainID: t.DstChain, TokenOut: addressOf(t.TokenOut), Recipient: addressOf(t.Recipient), MinimumReceived: amountOf(t.MinOut),
		Deadline: utc(t.Deadline), RefundTo: addressOf(t.RefundTo), FeeBps: t.FeeBps, FeeReceiver: optionalAddress(t.FeeReceiver),
		MakerFeeBps: t.MakerFeeBps, GasCeiling: amountOf(t.GasCeiling), Refund: optionalSpend(t.Refund), Wrap: optionalAddress(t.Wrap),
	}
}

func stepOf(s swap.Step) protocol.Step {
	out := protocol.Step{Kind: string(s.Kind), Effect: effectOf(s.Effect)}
	if c := s.Call; c != nil {
		out.To, out.Value, out.Data = addressOf(c.To), amountOf(c.Value), hexutil.Encode(c.Data)
	}
	if s.TypedData != nil {
		out.Typed, _ = json.Marshal(s.TypedData) // what cannot be encoded cannot be hashed either
	}
	return out
}

func effectOf(e swap.Effect) protocol.Effect {
	return protocol.Effect{
		Kind: string(e.Kind), ChainID: e.Chain, Target: addressOf(e.Target),
		Spends:    list(e.Spends, spendOf),
		Approves:  list(e.Approves, approvalOf),
		Receives:  list(e.Receives, receiveOf),
		Pays:      list(e.Pays, paymentOf),
		Deadline:  optionalTime(e.Deadline),
		TrustedTo: e.TrustedTo,
		Settler:   optionalAddress(e.Settler),
		DepositID: optionalHash(e.DepositID),
	}
}

// optionalTime keeps the zero time zero, whatever its zone.
func optionalTime(t time.Time) time.Time {
	if t.IsZero() {
		return time.Time{}
	}
	return utc(t)
}

// utc returns a time in UTC. A time from a provider or a node may be beyond the year
// 9999, which JSON cannot encode; it becomes the zero time, or the whole message would
// fail.
func utc(t time.Time) time.Time {
	if t = t.UTC(); t.Year() < 0 || t.Year() > 9999 {
		return time.Time{}
	}
	return t
}

func spendOf(s swap.Spend) protocol.Spend {
	return protocol.Spend{Token: addressOf(s.Token), Amount: amountOf(s.Amount)}
}

func optionalSpend(s *swap.Spend) *protocol.Spend {
	if s == nil {
		return nil
	}
	out := spendOf(*s)
	return &out
}

func approvalOf(a swap.Approval) protocol.Approval {
	return protocol.Approval{Token: addressOf(a.Token), Spender: addressOf(a.Spender), Amount: amountOf(a.Amount), OtherOrders: amountOf(a.Shares), Until: optionalTime(a.Until)}
}

func receiveOf(r swap.Receive) protocol.Receive {
	return protocol.Receive{Token: addressOf(r.Token), To: addressOf(r.To), Min: amountOf(r.Min)}
}

func paymentOf(p swap.Payment) protocol.Payment {
	return protocol.Payment{Token: addressOf(p.Token), To: addressOf(p.To), Bps: p.Bps}
}

func gasOf(g swap.Gas) protocol.Gas {
	return protocol.Gas{
		Expected: amountOf(g.Expected), Max: amountOf(g.Max), Balance: amountOf(g.Balance),
		Missing: amountOf(g.Missing), Share: g.Share, Costs: list(g.Costs, costOf),
	}
}

func costOf(c chain.Cost) protocol.Cost {
	return protocol.Cost{
		Gas: c.Gas, BaseFee: amountOf(c.Fees.BaseFee), MaxFee: amountOf(c.Fees.GasFeeCap), MaxPriorityFee: amountOf(c.Fees.GasTipCap),
		L1: amountOf(c.L1), Expected: amountOf(c.Expected), Max: amountOf(c.Max),
	}
}

func findingOf(f swap.Finding) protocol.Finding {
	return protocol.Finding{Code: f.Code, Severity: string(f.Severity), Text: f.Text, Data: f.Data}
}

func confirmedOf(s *swap.Seal) *protocol.Confirmed {
	if s == nil || s.By == "" {
		return nil
	}
	return &protocol.Confirmed{Act: s.Action, Origin: s.Origin, By: string(s.By), Lines: hashOf(s.Lines), At: utc(s.ActedAt)}
}

func lineOf(l swap.Line) protocol.Line {
	return protocol.Line{Key: l.Key, Args: list(l.Args, argOf), Severity: string(l.Severity)}
}

func argOf(a swap.Arg) protocol.Arg {
	return protocol.Arg{Kind: string(a.Kind), Value: a.Value, Unit: a.Unit}
}

func claimOf(c *swap.Claim) *protocol.Claim {
	if c == nil {
		return nil
	}
	return &protocol.Claim{State: string(c.State), ProviderStatus: c.ProviderStatus, ChainID: c.Chain, Tx: optionalHash(c.Tx), Reason: c.Reason}
}

func candidateOf(s *swap.CandidatePayment) *protocol.CandidatePayment {
	if s == nil {
		return nil
	}
	return &protocol.CandidatePayment{
		End: string(s.End), ChainID: s.Chain, Tx: hashOf(s.Tx), Token: addressOf(s.Token), Amount: amountOf(s.Amount),
		From: addressOf(s.From), Time: optionalTime(s.Time),
	}
}

func closingOf(c *swap.Closing) *protocol.Closing {
	if c == nil {
		return nil
	}
	out := &protocol.Closing{At: utc(c.At), By: c.By, Watched: !c.Unwatched, Claim: claimOf(c.Claim), CandidatePayment: candidateOf(c.Candidate)}
	for id, block := range c.Searched {
		if out.Searched == nil {
			out.Searched = make(map[string]uint64, len(c.Searched))
		}
		out.Searched[strconv.FormatUint(id, 10)] = block
	}
	return out
}

func verdictOf(v *swap.Verdict) *protocol.Verdict {
	if v == nil {
		return nil
	}
	out := &protocol.Verdict{
		State: string(v.State), ProvenBy: v.ProvenBy, BelowMinimum: v.BelowMinimum, Sources: string(v.Sources), Receipt: string(v.Receipt), Evidence: evidenceOf(v.Evidence), Deposit: evidenceOf(v.Deposit),
	}
	if len(v.Logs) > 0 {
		out.Logs = list(v.Logs, logRefOf)
	}
	if a := v.Absence; a != nil {
		out.Absence = &protocol.Absence{ChainID: a.Chain, From: a.From, Through: a.Through.Number, BlockHash: hashOf(a.Through.Hash), Time: utc(a.Through.Time), Hosts: a.Hosts}
	}
	for _, x := range []struct {
		of *swap.Spend
		to **protocol.Spend
	}{{v.Received, &out.Received}, {v.Spent, &out.Spent}} {
		if x.of != nil {
			s := spendOf(*x.of)
			*x.to = &s
		}
	}
	return out
}

func logRefOf(l swap.LogRef) protocol.LogRef {
	return protocol.LogRef{ChainID: l.Chain, Tx: hashOf(l.Tx), LogIndex: l.Index, BalanceIncrease: l.BalanceIncrease}
}

func evidenceOf(e *chain.Evidence) *protocol.Evidence {
	if e == nil {
		return nil
	}
	return &protocol.Evidence{
		ChainID: e.Chain, Tx: hashOf(e.Tx), Block: e.Block, BlockHash: hashOf(e.BlockHash), Success: e.Success, Depth: e.Depth,
		GasUsed: e.GasUsed, FeePaid: amountOf(e.FeePaid), Hosts: e.Hosts, To: addressOf(e.To),
		From: optionalAddress(e.From), Value: amountOf(e.Value), Time: optionalTime(e.Time),
	}
}

func entryOf(e journal.Entry) protocol.Entry {
	return protocol.Entry{Time: utc(e.Time), State: string(e.State), Condition: string(e.Condition), Step: e.Step, Note: e.Note, Cause: causeOf(e.Cause)}
}

// causeOf returns a refusal's name and details as its error has them.
func causeOf(c *swap.Cause) *protocol.Cause {
	if c == nil {
		return nil
	}
	return &protocol.Cause{Reason: string(c.Reason), Error: string(c.Code), Details: detailsOf(c.Data, c.Field), QuotedText: c.QuotedText, QuotedFrom: string(c.QuotedFrom)}
}

func providerOf(p swap.ProviderInfo) protocol.Provider {
	out := protocol.Provider{Kind: string(p.Kind), Ready: p.Ready, Reason: p.Reason, Support: map[string]protocol.Support{}, Can: protocol.Capabilities(p.Can), Fee: protocol.ProviderFee(p.Fee)}
	for id, c := range p.Support {
		out.Support[strconv.FormatUint(id, 10)] = protocol.Support{
			Support: string(c.Support), CrossChain: c.CrossChain, Note: c.Note, Pools: c.Pools, Auction: c.Auction,
		}
	}
	if p.Endpoint != nil {
		addEndpoints(&out, *p.Endpoint)
	}
	return out
}

// addEndpoints adds a provider's endpoints. For the daemon's own address only the host is
// shown, as for every other setting: the rest may be an access key.
func addEndpoints(out *protocol.Provider, at swap.Endpoint) {
	if u, err := url.Parse(at.Base); err == nil {
		out.Host = u.Host
	}
	out.FrontendURL, out.Networks = at.Frontend, map[string]protocol.ProviderNetwork{}
	for _, n := range at.Networks {
		out.Networks[strconv.FormatUint(n.ChainID, 10)] = protocol.ProviderNetwork{
			Enabled: n.Enabled, HyperstreamChainID: n.ProviderChainID, DisplayName: n.DisplayName, CrossChainEnabled: n.CrossChainEnabled,
		}
	}
}

func networkOf(n chain.Network) protocol.Network {
	return protocol.Network{
		ChainID: n.ID, Name: n.Name, Symbol: n.Symbol, Decimals: int(n.Decimals),
		WrappedNative: optionalAddress(n.WrappedNative), NoWrapped: n.NoWrappedReason(), Explorer: n.Explorer, Depth: n.Depth,
		BlockTimeSeconds: n.BlockTime.Seconds(), Fees: string(n.Fee), L1Fee: string(n.L1Fee), GasCeiling: amountOf(n.GasCeiling),
		Ended: n.Ended,
	}
}

// rpcOf returns the result of an endpoint's last use. A failed endpoint is retried after
// a while, and RetryAt is omitted once that time has come.
func rpcOf(h chain.EndpointHealth, now time.Time) protocol.RPC {
	out := protocol.RPC{Host: h.Host, Block: h.Head, Behind: h.Behind, Failure: h.Failure}
	if now.Before(h.RetryAt) {
		out.RetryAt = utc(h.RetryAt)
	}
	return out
}
