package gasless

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"swapkeep/chain"
	"swapkeep/providers/wire"
	"swapkeep/rest"
	"swapkeep/swap"
)

const (
	// maxLife is the longest that an order may wait for settlement.
	maxLife = 15 * time.Minute
)

// Quote requests EXACT_INPUT prices from every protocol that the chain has. It may be
// repeated, but makers dislike frequent requests.
func (p *Provider) Quote(ctx context.Context, r swap.QuoteRequest) ([]swap.Offer, error) {
	return p.Stream(ctx, r, func(swap.Offer) {})
}

// Stream is Quote that also passes each offer to report as it arrives. The returned offers
// are sorted, best first. A valid request fails only if no protocol has an offer; otherwise
// the failures are reported to [swap.PartRefused].
func (p *Provider) Stream(ctx context.Context, r swap.QuoteRequest, minimum func(swap.Offer)) ([]swap.Offer, error) {
	d, err := checkRequest(r)
	if err != nil {
		return nil, err
	}
	type answer struct {
		offer swap.Offer
		err   error
		by    string
	}
	asked := d.venuesFor(r)
	answers := make(chan answer, len(asked))
	for _, v := range asked {
		go func() {
			o, err := p.quoteProtocol(ctx, v, r)
			answers <- answer{o, err, v.protocol.name}
		}()
	}
	var offers []swap.Offer
	failed := map[string]error{}
	for range asked {
		switch a := <-answers; {
		case a.err != nil:
			failed[a.by] = a.err
		default:
			offers = append(offers, a.offer)
			minimum(a.offer)
		}
	}
	if len(offers) == 0 {
		return nil, mergeRefusals(failed)
	}
	for _, err := range failed {
		swap.PartRefused(ctx, err)
	}
	now := p.now()
	slices.SortFunc(offers, func(a, b swap.Offer) int { return cmp.Or(byConsentTime(now, a, b), byNetOutput(a, b)) })
	return offers, nil
}

// venuesFor are the protocols whose fills of the request can be proven, or only the one
// that the request names.
func (d deployment) venuesFor(r swap.QuoteRequest) []venue {
	return slices.DeleteFunc(d.venues(), func(v venue) bool {
		return r.TokenOut == nativeCoin && !v.provesNativeOut || r.Routing != "" && r.Routing != v.protocol.name
	})
}

// consentTime is how long a person needs to read a review and to consent to it with a
// password. RFQ quotes live 10 s without a key (30 s on chain 1), and 60 s and 75 s with
// one (docs.bebop.xyz, market-makers/trade-lifecycle/quotes).
const consentTime = 30 * time.Second

// byConsentTime sorts offers that a person has time to accept before those that expire sooner,
// whatever they pay: those would need a fresh quote, at another price.
func byConsentTime(now time.Time, a, b swap.Offer) int {
	hasty := func(o swap.Offer) int {
		if o.Expires.Before(now.Add(consentTime)) {
			return 1
		}
		return 0
	}
	return hasty(a) - hasty(b)
}

// byNetOutput sorts by output, best first: amounts are after fees, and neither protocol costs
// gas. Between equal outputs the higher minimum wins, then the protocol's name.
func byNetOutput(a, b swap.Offer) int {
	if c := b.AmountOut.Cmp(a.AmountOut); c != 0 {
		return c
	}
	if c := b.MinOut.Cmp(a.MinOut); c != 0 {
		return c
	}
	return strings.Compare(a.Routing, b.Routing)
}

// quoteProtocol quotes one protocol. It runs in its own goroutine, where a panic on a malformed reply
// would end the process; it is returned as an error instead.
func (p *Provider) quoteProtocol(ctx context.Context, v venue, r swap.QuoteRequest) (o swap.Offer, err error) {
	defer func() {
		if x := recover(); x != nil {
			o, err = swap.Offer{}, refuse(swap.ProviderInvalidResponse, "reply", "sent a reply that cannot be read: %v", x)
		}
	}()
	reply, err := p.api[v.protocol.name].Do(ctx, rest.Call{Method: http.MethodGet, Path: v.path("/quote"), Query: p.query(v, r)})
	if err != nil {
		return swap.Offer{}, service.Refusal(err)
	}
	q, err := p.read(v, reply.Body, r)
	if err != nil {
		return swap.Offer{}, err
	}
	q.offer.Expires, err = v.signableUntil(q.order, reply)
	return q.offer, err
}

// query is the parameters of GET /quote. Addresses are in EIP-55 form; the API refuses
// others. The API's check of balance and allowance is skipped, since quotes come before the
// approval.
func (p *Provider) query(v venue, r swap.QuoteRequest) url.Values {
	d := v.expectedFor(r)
	q := url.Values{
		"sell_tokens": {d.sellToken.Hex()}, "buy_tokens": {d.buyToken().Hex()}, "sell_amounts": {d.amountIn.String()},
		"taker_address": {d.taker.Hex()}, "receiver_address": {d.receiver.Hex()},
		"approval_type": {approvalType}, "gasless": {"true"}, "skip_validation": {"true"},
	}
	if p.source != "" {
		q.Set("source", p.source)
	}
	if d.feeBps > 0 {
		q.Set("fee", strconv.Itoa(d.feeBps))
	}
	v.addQuery(q, r)
	return q
}

// percent converts bps to the API's form of slippage: percent with at most two decimals.
func percent(bps int) string { return strconv.FormatFloat(float64(bps)/100, 'f', -1, 64) }

// minTimeLeft is how much time package swap wants left when it signs an order. An offer that
// starts with less would be quoted again and again.
const minTimeLeft = 5 * time.Second

// signableUntil returns until when the order may be signed, by our clock: its expiry less the time
// that the provider needs to settle it. If the provider's clock is ahead of ours the
// difference is taken off as well; if it is behind nothing is added.
func (v venue) signableUntil(o order, reply *rest.Reply) (time.Time, error) {
	skew, err := service.Skew(reply)
	if err != nil {
		return time.Time{}, err
	}
	ends := o.core.expiresAt()
	expires := ends.Add(-v.settleMargin - max(skew, 0))
	switch {
	case ends.After(reply.Received.Add(maxLife)):
		return time.Time{}, refuse(swap.NotAsAccepted, "expiry", "would let the order live until %s, more than %d minutes", ends.Format(time.RFC3339), int(maxLife.Minutes()))
	case !expires.After(reply.Received.Add(minTimeLeft)):
		return time.Time{}, refuse(swap.QuoteExpired, "expiry", "leaves less than %s to settle the order; get a new quote, and check this machine's clock", v.settleMargin+minTimeLeft)
	}
	return expires, nil
}

// codePriority ranks the reasons of two failed protocols: the code that comes first here is
// reported, with the texts of both. Lies come first, then what the user can fix, then
// temporary failures. NoRoute says little, but the protocol may have a route later or for
// another amount. It comes before NoMinimum, which stays true of the protocol.
var codePriority = []swap.Code{
	swap.NotAsAccepted, swap.NotPinned, swap.Undecodable, swap.ProviderInvalidResponse, swap.ClockSkew, swap.ProviderKey,
	swap.InsufficientFunds, swap.AmountTooSmall, swap.ProviderBusy, swap.ProviderDown, swap.QuoteExpired, swap.ProviderRefused, swap.NoRoute, swap.NoMinimum,
}

// mergeRefusals says why no protocol has an offer.
func mergeRefusals(failed map[string]error) error {
	var list []*swap.Refusal
	var says []string
	for _, pr := range protocols {
		err, ok := failed[pr.name]
		if !ok {
			continue
		}
		var r *swap.Refusal
		if !errors.As(err, &r) {
			return err // the caller gave up
		}
		list = append(list, r)
		says = append(says, pr.name+": "+r.Reason)
	}
	slices.SortStableFunc(list, func(a, b *swap.Refusal) int { return codePriorityOf(a.Code) - codePriorityOf(b.Code) })
	if len(list) == 1 {
		return list[0]
	}
	first := *list[0]
	first.Reason = strings.Join(says, "; ")
	return &first
}

func codePriorityOf(c swap.Code) int {
	if i := slices.Index(codePriority, c); i >= 0 {
		return i
	}
	return len(codePriority)
}

// A checkedQuote is a quote that was checked against its request.
type checkedQuote struct {
	offer   swap.Offer
	order   order
	quoteID string
}

// read is readQuote with a cache of the last few replies.
func (p *Provider) read(v venue, raw []byte, r swap.QuoteRequest) (checkedQuote, error) {
	q, err := p.quoteCache[v.protocol.name].Read(raw, r, func(raw []byte) (checkedQuote, error) { return v.readQuote(raw, r) })
	q.offer.Raw = raw
	return q, err
}

// readQuote parses a reply to /quote into an offer, or refuses it. It is pure, so an offer
// from storage gives the same result again.
func (v venue) readQuote(raw []byte, r swap.QuoteRequest) (checkedQuote, error) {
	if _, err := checkRequest(r); err != nil {
		return checkedQuote{}, err
	}
	q, err := decodeQuote(raw)
	if err != nil {
		return checkedQuote{}, err
	}
	d := v.expectedFor(r)
	if err := q.checkEchoes(d, r); err != nil {
		return checkedQuote{}, err
	}
	o, err := d.read(q.ToSign, nil)
	if err != nil {
		return checkedQuote{}, err
	}
	if !q.Expiry.Is(o.core.expiry) {
		return checkedQuote{}, refuse(swap.NotAsAccepted, "expiry", "shows another expiry than the order has")
	}
	if err := o.matches(q.ToSign); err != nil {
		return checkedQuote{}, err
	}
	b := q.outputEntry(d)
	out, err := o.quotedOutput(b, o.core, r.SlippageBps)
	if err != nil {
		return checkedQuote{}, err
	}
	if err := q.checkFees(d, out); err != nil {
		return checkedQuote{}, err
	}
	network, _ := chain.NetworkByID(v.chain)
	offer := swap.Offer{
		Provider: swap.Gasless, Request: r, Routing: v.protocol.name, Route: wire.Printable(strings.Join(q.settlerNames(), ", ")),
		AmountOut: out, MinOut: o.core.minBuy, Gasless: true, Duration: network.BlockTime, Fees: o.fees(d), Raw: raw,
	}
	if minimum := b.MinimumAmount; minimum != nil && !minimum.Is(o.core.minBuy) {
		offer.QuotedMin = minimum.Int
	}
	if r.TokenIn == nativeCoin {
		offer.Wrap = d.sellToken
	}
	return checkedQuote{offer, o, q.QuoteID}, nil
}
