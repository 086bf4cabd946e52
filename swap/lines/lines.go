// Package lines says in lines what a person is asked to consent to. It turns decoded effects
// into them, and never a provider's own description. It does no I/O; what it must know of
// tokens, networks and worths it asks its caller.
package lines

import (
	"math/big"
	"slices"
	"strconv"
	"strings"
	"time"

	"swapkeep/chain"
	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common"
)

// A Token is what the wallet knows of a token.
type Token struct {
	Symbol   string // a symbol of a token that is not built in is anybody's word
	Decimals uint8
	BuiltIn  bool
}

// A Worth is an amount in dollars, by the wallet's own prices.
type Worth struct {
	Dollars string // two decimals
	Sources []string
	Age     time.Duration // of the oldest price
}

// Names knows what the lines name.
type Names interface {
	// Token returns a token of any chain; one that nobody knows has no symbol, and its
	// amounts are told in base units.
	Token(chainID uint64, token common.Address) Token
	// Network returns a network's name.
	Network(chainID uint64) string
	// Contract returns the name of a built-in contract; "" = none.
	Contract(chainID uint64, contract common.Address) string
	// Worth returns what an amount is worth; ok is false if no price is known.
	Worth(chainID uint64, token common.Address, amount *big.Int) (w Worth, ok bool)
}

// Keys of lines. Each has a message in each language.
const (
	from             = "line_from"                 // account, network
	pay              = "line_pay"                  // amount, network
	worth            = "line_worth"                // dollars, sources, age
	worthUnknown     = "line_worth_unknown"        //
	receiveLeast     = "line_receive_least"        // amount, network
	receivePromised  = "line_receive_promised"     // amount, network, who promises it
	toOwn            = "line_to_own"               // address
	toOther          = "line_to_other"             // address
	refundToOther    = "line_refund_to_other"      // address
	refundLeast      = "line_refund_least"         // amount
	isolated         = "line_isolated"             // address
	approve          = "line_approve"              // spender, amount
	approveOthers    = "line_approve_others"       // spender, amount, part of it for other orders
	permit           = "line_permit"               // spender, amount, until
	reset            = "line_reset"                // spender, token
	revoke           = "line_revoke"               // spender, token
	revokePermit2    = "line_revoke_permit2"       // spender, token
	fund             = "line_fund"                 // amount
	wrap             = "line_wrap"                 // amount, wrapped coin
	order            = "line_order"                // contract, until
	trust            = "line_trust"                // who, amount
	trustOpaque      = "line_trust_opaque"         // who, amount, contract
	feeMost          = "line_fee_most"             // most
	feeMostWorth     = "line_fee_most_worth"       // most, dollars
	feeL1            = "line_fee_l1"               // estimate
	feeNone          = "line_fee_none"             //
	walletFee        = "line_wallet_fee"           // percent, receiver
	walletFeeClaimed = "line_wallet_fee_claimed"   // percent, receiver
	makerFee         = "line_maker_fee"            // percent
	provider         = "line_provider"             // brand
	findingCode      = "line_finding"              // code
	walletFeeAsked   = "line_wallet_fee_requested" // percent
	deadline         = "line_deadline"             // until
	cancel           = "line_cancel"               // amount, network
	cancelRevoke     = "line_cancel_revoke"        //
	speedUp          = "line_speedup"              // amount, network
	speedUpRevoke    = "line_speedup_revoke"       //
	speedUpCancel    = "line_speedup_cancel"       // amount, network
)

// A builder collects the lines of one review.
type builder struct {
	Names
	r     swap.Review
	lines []swap.Line
}

// Of returns the lines of a review: what is paid and received, to whom, what may be taken by
// whom, what it costs, who is trusted with what, and the findings. The same review gives the
// same lines as long as names knows the same.
func Of(r swap.Review, names Names) []swap.Line {
	b := builder{Names: names, r: r}
	if r.Terms.Provider != swap.Wallet {
		b.add(swap.Note, provider, word("brand_"+string(r.Terms.Provider)))
	}
	b.add(swap.Note, from, address(r.Terms.Account), b.network(r.Terms.SrcChain))
	if r.Terms.Provider != swap.Wallet {
		b.paid()
		b.received()
	}
	for _, f := range r.Plan.Effects() {
		b.effect(f)
	}
	b.fees()
	b.add(swap.Note, deadline, moment(r.Terms.Deadline))
	for _, f := range r.Findings {
		b.finding(f)
	}
	return b.lines
}

// OfOrder returns the lines of an act on an order, cancel or speedup: which order it is, and the
// most that all transactions of it may cost then.
func OfOrder(act string, o swap.Order, names Names) []swap.Line {
	b := builder{Names: names, r: swap.Review{Terms: o.Terms, Offer: o.Offer, Plan: o.Plan}}
	t := o.Terms
	withInput, without := cancel, cancelRevoke
	switch {
	case act == "speedup" && o.Bump == nil: // what is in flight ends the order
		withInput, without = speedUpCancel, cancelRevoke
	case act == "speedup":
		withInput, without = speedUp, speedUpRevoke
	}
	if t.Provider == swap.Wallet {
		b.add(swap.Note, without)
	} else {
		b.add(swap.Note, withInput, b.amount(t.SrcChain, t.TokenIn, t.AmountIn), b.network(t.SrcChain))
		b.add(swap.Note, provider, word("brand_"+string(t.Provider)))
	}
	b.add(swap.Note, from, address(t.Account), b.network(t.SrcChain))
	if t.Provider == swap.Wallet {
		for _, f := range o.Plan.Effects() {
			b.effect(f)
		}
	}
	b.feeMost()
	return b.lines
}

func (b *builder) add(s swap.Severity, key string, args ...swap.Arg) {
	b.lines = append(b.lines, swap.Line{Key: key, Args: args, Severity: s})
}

func (b *builder) paid() {
	t := b.r.Terms
	b.add(swap.Note, pay, b.amount(t.SrcChain, t.TokenIn, t.AmountIn), b.network(t.SrcChain))
	if w, ok := b.Worth(t.SrcChain, t.TokenIn, t.AmountIn); ok {
		b.add(swap.Note, worth, dollars(w), text(strings.Join(w.Sources, ", ")), age(w.Age))
	} else {
		b.add(swap.Warn, worthUnknown)
	}
	if t.IsIsolated() {
		b.add(swap.Note, isolated, address(t.Isolated))
	}
}

func (b *builder) received() {
	t, last := b.r.Terms, b.r.Plan.LastEffect()
	least := b.amount(t.DstChain, t.TokenOut, t.MinOut)
	if last.TrustedTo != "" && len(last.Receives) == 0 {
		b.add(swap.Warn, receivePromised, least, b.network(t.DstChain), trusted(last))
	} else {
		b.add(swap.Note, receiveLeast, least, b.network(t.DstChain))
	}
	if t.Recipient == t.Account {
		b.add(swap.Note, toOwn, address(t.Recipient))
	} else {
		b.add(swap.Warn, toOther, address(t.Recipient))
	}
	if t.RefundTo != t.Account && b.r.Plan.Settlement == swap.ByProvider {
		b.add(swap.Warn, refundToOther, address(t.RefundTo))
	}
	if t.Refund != nil {
		b.add(swap.Note, refundLeast, b.amount(t.SrcChain, t.Refund.Token, t.Refund.Amount), trusted(last))
	}
}

// effect adds what a step allows or hands over; what it pays and brings stands in the lines of
// the whole swap.
func (b *builder) effect(f swap.Effect) {
	for _, a := range f.Approves {
		b.approval(f, a)
	}
	switch {
	case f.Kind == swap.Wrap && b.r.Terms.Wrap != (common.Address{}):
		b.add(swap.Note, wrap, b.amount(f.Chain, chain.Native, b.r.Terms.AmountIn), b.token(f.Chain, b.r.Terms.Wrap))
	case f.Kind == swap.Fund && b.coinFor(f).Sign() > 0:
		b.add(swap.Note, fund, b.amount(f.Chain, chain.Native, b.coinFor(f)))
	case f.Kind == swap.Signed: // one signed anew under the same consent may be good until then
		b.add(swap.Note, order, b.contract(f.Chain, f.Settler), moment(b.r.Terms.Deadline))
	case f.Kind == swap.Opaque:
		b.add(swap.Warn, trustOpaque, trusted(f), b.handedOver(f), b.contract(f.Chain, f.Target))
	case f.TrustedTo != "":
		b.add(swap.Warn, trust, trusted(f), b.handedOver(f))
	}
}

func (b *builder) approval(f swap.Effect, a swap.Approval) {
	spender := b.contract(f.Chain, a.Spender)
	switch {
	case a.Amount.Sign() == 0 && b.r.Terms.Provider != swap.Wallet:
		b.add(swap.Note, reset, spender, b.token(f.Chain, a.Token))
	case a.Amount.Sign() == 0 && swap.GrantOf(f).Kind == swap.ByPermit2:
		b.add(swap.Note, revokePermit2, spender, b.token(f.Chain, a.Token))
	case a.Amount.Sign() == 0:
		b.add(swap.Note, revoke, spender, b.token(f.Chain, a.Token))
	case !a.Until.IsZero(): // likewise
		b.add(swap.Note, permit, spender, b.amount(f.Chain, a.Token, a.Amount), moment(b.r.Terms.Deadline.Add(swap.MaxPermitLife)))
	case a.Shares != nil && a.Shares.Sign() > 0:
		b.add(swap.Note, approveOthers, spender, b.amount(f.Chain, a.Token, a.Amount), b.amount(f.Chain, a.Token, a.Shares))
	default:
		b.add(swap.Note, approve, spender, b.amount(f.Chain, a.Token, a.Amount))
	}
}

// coinFor returns the coin that a transfer to the isolated account moves besides the input.
func (b *builder) coinFor(f swap.Effect) *big.Int {
	t, sum := b.r.Terms, new(big.Int)
	for _, s := range f.Spends {
		if s.Token == chain.Native {
			sum.Add(sum, s.Amount)
		}
	}
	if t.TokenIn == chain.Native {
		sum.Sub(sum, t.AmountIn)
	}
	return sum
}

// handedOver returns what an effect hands over: what is lost at worst if nobody pays.
func (b *builder) handedOver(f swap.Effect) swap.Arg {
	t := b.r.Terms
	if i := slices.IndexFunc(f.Spends, func(s swap.Spend) bool { return s.Token == t.Input() }); i >= 0 {
		return b.amount(f.Chain, f.Spends[i].Token, f.Spends[i].Amount)
	}
	return b.amount(t.SrcChain, t.TokenIn, t.AmountIn)
}

// fees adds what the swap costs besides: the most that all transactions of the order may cost
// together, and the fees that others take.
func (b *builder) fees() {
	t, coin := b.r.Terms, chain.Native
	if len(b.r.Gas.Costs) == 0 {
		b.add(swap.Note, feeNone)
	} else {
		b.feeMost()
		l1 := new(big.Int)
		for _, c := range b.r.Gas.Costs {
			if c.L1 != nil {
				l1.Add(l1, c.L1)
			}
		}
		if l1.Sign() > 0 {
			b.add(swap.Note, feeL1, b.amount(t.SrcChain, coin, l1))
		}
	}
	switch b.r.FeeBasis() {
	case swap.FeeDecoded:
		b.add(swap.Note, walletFee, percent(t.FeeBps), address(t.FeeReceiver))
	case swap.FeeRequested:
		b.add(swap.Note, walletFeeAsked, percent(b.r.Offer.FeeRequested))
	case swap.FeeReported:
		b.add(swap.Note, walletFeeClaimed, percent(t.FeeBps), address(t.FeeReceiver))
	}
	if t.MakerFeeBps > 0 {
		b.add(swap.Note, makerFee, percent(t.MakerFeeBps))
	}
}

// feeMost adds the most that all transactions of the order may cost together.
func (b *builder) feeMost() {
	t := b.r.Terms
	most := b.amount(t.SrcChain, chain.Native, t.GasCeiling)
	if w, ok := b.Worth(t.SrcChain, chain.Native, t.GasCeiling); ok {
		b.add(swap.Note, feeMostWorth, most, dollars(w))
		return
	}
	b.add(swap.Note, feeMost, most)
}

func word(key string) swap.Arg { return swap.Arg{Kind: swap.WordArg, Value: key} }

func text(s string) swap.Arg { return swap.Arg{Kind: swap.TextArg, Value: s} }

func address(a common.Address) swap.Arg { return text(a.Hex()) }

func trusted(f swap.Effect) swap.Arg { return word("trusted_" + f.TrustedTo) }

func moment(at time.Time) swap.Arg { return text(at.UTC().Format("2006-01-02 15:04 UTC")) }

func percent(bps int) swap.Arg {
	return swap.Arg{Kind: swap.NumberArg, Value: decimal(big.NewInt(int64(bps)), 2), Unit: "%"}
}

func dollars(w Worth) swap.Arg {
	return swap.Arg{Kind: swap.NumberArg, Value: w.Dollars, Unit: "USD"}
}

// age rounds up to whole minutes.
func age(d time.Duration) swap.Arg {
	minutes := int64((d + time.Minute - 1) / time.Minute)
	return swap.Arg{Kind: swap.NumberArg, Value: strconv.FormatInt(max(minutes, 1), 10), Unit: "min"}
}
