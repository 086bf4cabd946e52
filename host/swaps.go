package host

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"strings"

	"swapkeep/chain"
	"swapkeep/host/protocol"
	"swapkeep/swap"
	"swapkeep/swap/engine"
	"swapkeep/swap/journal"

	"github.com/ethereum/go-ethereum/common"
)

func (c *call) swapProviders(context.Context, *protocol.None) (any, error) {
	return protocol.ProvidersResult{Providers: list(c.s.Swaps.Providers(), providerOf)}, nil
}

// swapDestinations lists the chains a provider pays out on. For networks known here it
// uses the local data.
func (c *call) swapDestinations(ctx context.Context, p *protocol.DestinationsParams) (any, error) {
	kind, err := kindOf(p.Provider)
	if err != nil {
		return nil, err
	}
	reached, err := c.s.Swaps.Destinations(ctx, kind)
	if err != nil {
		return nil, err
	}
	out := []protocol.Destination{}
	for _, n := range c.s.Networks.Networks() {
		if slices.ContainsFunc(reached, func(d swap.Destination) bool { return d.ChainID == n.ID }) {
			out = append(out, protocol.Destination{ChainID: n.ID, Name: n.Name, Symbol: n.Symbol, Decimals: int(n.Decimals), Explorer: n.Explorer, Known: true})
		}
	}
	reached = slices.DeleteFunc(reached, func(d swap.Destination) bool { return c.s.hasNetwork(d.ChainID) })
	slices.SortFunc(reached, func(a, b swap.Destination) int {
		return cmp.Or(strings.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name)), cmp.Compare(a.ChainID, b.ChainID))
	})
	return protocol.DestinationsResult{Destinations: append(out, list(reached, destinationOf)...)}, nil
}

func destinationOf(d swap.Destination) protocol.Destination {
	return protocol.Destination{ChainID: d.ChainID, Name: d.Name, Symbol: d.Symbol, Decimals: int(d.Decimals), Explorer: d.Explorer}
}

func (c *call) swapFees(context.Context, *protocol.None) (any, error) {
	f := c.s.Swaps.Fees()
	return protocol.FeesResult{FeeBps: f.FeeBps, PartnerInfo: protocol.Partner{
		Name: f.PartnerInfo.Name, ReceiverAddress: optionalAddress(f.PartnerInfo.Receiver), Website: f.PartnerInfo.Website,
	}}, nil
}

// quoteOf builds a quote request from the parameters: from the active network, for an own
// account, within the slippage bounds. The swap service adds fees.
func (c *call) quoteOf(ctx context.Context, p *protocol.QuoteParams) (swap.QuoteRequest, []swap.Kind, error) {
	src, err := c.s.activeNetwork()
	if err != nil {
		return swap.QuoteRequest{}, nil, err
	}
	fill(&p.SrcChainID, src)
	fill(&p.DstChainID, p.SrcChainID)
	fill(&p.Recipient, p.Account)
	fill(&p.RefundTo, p.Account)
	slippage := c.s.Settings.Slippage()
	if p.Slippage != nil {
		slippage = *p.Slippage
	}
	switch {
	case p.SrcChainID != src:
		return swap.QuoteRequest{}, nil, protocol.Newf("network_not_active", "chain %d is not the active network, which is %d", p.SrcChainID, src)
	case slippage < swap.MinSlippageBps || slippage > swap.MaxSlippageBps:
		return swap.QuoteRequest{}, nil, protocol.New("slippage_bounds", "").With("field", "slippage")
	case slippage > engine.TerminalSlippageBps && !c.atTerminal():
		return swap.QuoteRequest{}, nil, protocol.New("slippage_terminal", "").With("field", "slippage")
	}
	kinds, err := kindsOf(p.Providers)
	if err == nil {
		err = c.ownAccount(ctx, p.Account)
	}
	return swap.QuoteRequest{
		Account: evmAddress(p.Account), SrcChain: p.SrcChainID, TokenIn: evmAddress(p.TokenIn), AmountIn: p.AmountIn.Int(),
		DstChain: p.DstChainID, TokenOut: evmAddress(p.TokenOut), Recipient: evmAddress(p.Recipient), RefundTo: evmAddress(p.RefundTo),
		SlippageBps: int(slippage),
	}, kinds, err
}

func fill[T comparable](to *T, value T) {
	var zero T
	if *to == zero {
		*to = value
	}
}

func kindsOf(names []string) ([]swap.Kind, error) {
	kinds := list(names, func(n string) swap.Kind { return swap.Kind(n) })
	for i, k := range kinds {
		if !slices.Contains(swap.Kinds(), k) {
			return nil, unknownProvider("providers", names[i])
		}
		if slices.Contains(kinds[:i], k) {
			return nil, badParam("providers", "names "+names[i]+" twice")
		}
	}
	return kinds, nil
}

func unknownProvider(parameter, name string) *protocol.Error {
	return protocol.Newf("bad_params", "unknown provider %q; use dex, bridge, intent or gasless", shorten(name)).With("parameter", parameter)
}

func kindOf(name string) (swap.Kind, error) {
	if kind := swap.Kind(name); slices.Contains(swap.Kinds(), kind) {
		return kind, nil
	}
	return "", unknownProvider("provider", name)
}

func (c *call) ownAccount(ctx context.Context, a protocol.Address) error {
	accounts, err := c.s.Wallet.Accounts(ctx)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(accounts, func(own protocol.Account) bool { return own.Address == a }) {
		return protocol.Newf("unknown_account", "no wallet here holds %s", a)
	}
	return nil
}

// confirmForeign requires the password before a swap may pay or refund to an address
// other than the swap's own account: whoever controls the browser must not redirect the
// money of an open session. An offer's plan names the same addresses, and plans are made
// from offers only. The password then counts for that address until the session ends.
func (c *call) confirmForeign(ctx context.Context, p *protocol.QuoteParams) error {
	var foreign []protocol.Address
	for _, a := range []protocol.Address{p.Recipient, p.RefundTo} {
		if a != p.Account && !c.isConfirmed(a) {
			foreign = append(foreign, a)
		}
	}
	switch {
	case len(foreign) == 0:
		return nil
	case slices.Contains(foreign, protocol.Native):
		return badParam("recipient", "and refundTo must not be the zero address: what is sent there is lost")
	case len(p.Password) == 0:
		return protocol.New("password_required", "").With("address", string(foreign[0]))
	}
	if err := c.s.Wallet.CheckPassword(ctx, p.Password); err != nil {
		return err
	}
	for _, a := range foreign {
		c.confirm(a)
	}
	return nil
}

func (c *call) swapPrepare(ctx context.Context, p *protocol.PrepareParams) (any, error) {
	done, err := c.s.acquireQuoteSlot(ctx, c.caller().Origin)
	if err != nil {
		return nil, err
	}
	defer done()
	review, err := c.s.Swaps.Prepare(ctx, p.Offer)
	if err != nil {
		return nil, err
	}
	if err := c.stillActive(review.Terms.SrcChain); err != nil {
		return nil, err
	}
	why, err := c.s.Swaps.Takes(ctx, review, c.atTerminal())
	if err != nil {
		return nil, err
	}
	out := c.s.valuedReview(review)
	if c.atTerminal() {
		out.AmountAgain = len(why) > 0
	} else {
		out.PasswordFor = list(why, func(r engine.Reason) string { return string(r) })
	}
	return out, nil
}

func (c *call) atTerminal() bool { return c.caller().Kind == protocol.KindTerminal }

// actCaller returns the caller of an act, and checks the password if one was given.
func (c *call) actCaller(ctx context.Context, password protocol.Secret, amount protocol.Amount) (engine.Caller, error) {
	caller := engine.Caller{Origin: c.caller().Origin, Session: c.session.id, Terminal: c.atTerminal(), Password: len(password) > 0, Amount: amount.Int()}
	caller.Present, caller.Ended = func() bool { return c.sessionOf() == c.session }, c.session.ended
	if !caller.Password {
		return caller, nil
	}
	return caller, c.s.Wallet.CheckPassword(ctx, password)
}

func (c *call) swapExecute(ctx context.Context, p *protocol.ExecuteParams) (any, error) {
	caller, err := c.actCaller(ctx, p.Password, p.Amount)
	if err != nil {
		return nil, err
	}
	r := engine.ExecuteRequest{
		Caller: caller, Request: string(p.Request), Digest: common.HexToHash(string(p.Digest)), Acknowledge: p.Acknowledge,
	}
	return c.byPerson(ctx, p.Request, p, func(ctx context.Context) (any, error) { return orderOr(c.s.Swaps.Execute(ctx, r)) })
}

func orderOr(o swap.Order, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	return orderOf(o), nil
}

func (c *call) swapCancel(ctx context.Context, p *protocol.CancelParams) (any, error) {
	caller, err := c.actCaller(ctx, p.Password, "")
	if err != nil {
		return nil, err
	}
	r := engine.CancelRequest{
		Caller: caller, Request: string(p.Request), Order: p.Order, Digest: common.HexToHash(string(p.Digest)),
	}
	return c.byPerson(ctx, p.Request, p, func(ctx context.Context) (any, error) { return orderOr(c.s.Swaps.Cancel(ctx, r)) })
}

func (c *call) swapClose(ctx context.Context, p *protocol.CloseParams) (any, error) {
	caller, err := c.actCaller(ctx, protocol.Secret{}, "")
	if err != nil {
		return nil, err
	}
	o, err := c.s.Swaps.Close(ctx, engine.CloseRequest{
		Caller: caller, Request: string(p.Request), Order: p.Order, Digest: common.HexToHash(string(p.Digest)),
	})
	return orderOr(o, err)
}

func (c *call) swapSpeedup(ctx context.Context, p *protocol.SpeedupParams) (any, error) {
	caller, err := c.actCaller(ctx, p.Password, "")
	if err != nil {
		return nil, err
	}
	r := engine.SpeedUpRequest{
		Caller: caller, Request: string(p.Request), Order: p.Order, Digest: common.HexToHash(string(p.Digest)),
		Tier: chain.Tier(p.Tier), GasCeiling: p.GasCeiling.Int(),
	}
	return c.byPerson(ctx, p.Request, p, func(ctx context.Context) (any, error) { return orderOr(c.s.Swaps.SpeedUp(ctx, r)) })
}

func (c *call) swapAccept(ctx context.Context, p *protocol.AcceptParams) (any, error) {
	caller, err := c.actCaller(ctx, p.Password, p.Amount)
	if err != nil {
		return nil, err
	}
	r := engine.AcceptRequest{
		Caller: caller, Request: string(p.Request), Order: p.Order, Digest: common.HexToHash(string(p.Digest)), Acknowledge: p.Acknowledge,
	}
	return c.byPerson(ctx, p.Request, p, func(ctx context.Context) (any, error) { return orderOr(c.s.Swaps.Accept(ctx, r)) })
}

// swapOrder omits the oldest history lines above MaxHistory, and more if the rest does
// not fit one message: a line that quotes a provider may be long.
func (c *call) swapOrder(_ context.Context, p *protocol.OrderParams) (any, error) {
	o, history, err := c.s.Swaps.Order(p.Order)
	if err != nil {
		return nil, err
	}
	shown := history[max(0, len(history)-protocol.MaxHistory):]
	for ; ; shown = shown[(len(shown)+1)/2:] {
		out := protocol.OrderResult{Order: orderOf(o), History: list(shown, entryOf), Omitted: len(history) - len(shown)}
		page, err := json.Marshal(out)
		if err != nil || len(page) <= protocol.MaxResult-responseOverhead || len(shown) == 0 {
			return json.RawMessage(page), err
		}
	}
}

// swapOrders returns fewer entries than requested if they do not fit one message; the
// cursor continues after them. An order that alone does not fit is shown as unreadable,
// because it would otherwise hide all older ones.
func (c *call) swapOrders(_ context.Context, p *protocol.OrdersParams) (any, error) {
	limit, err := pageOf(p.Limit)
	if err != nil {
		return nil, err
	}
	for ; ; limit /= 2 {
		orders, next, err := c.s.Swaps.Orders(evmAddress(p.Account), p.Open, p.Cursor, limit)
		if err != nil {
			return nil, err
		}
		page, err := json.Marshal(protocol.OrdersResult{Orders: list(orders, orderOf), Cursor: next})
		switch {
		case err != nil || len(page) <= protocol.MaxResult-responseOverhead:
			return json.RawMessage(page), err
		case limit == 1:
			return protocol.OrdersResult{Orders: list(orders, oversizedOrder), Cursor: next}, nil
		}
	}
}

// openOrders yields all open orders, newest first, of an account or with the zero address
// of all accounts. If the listing fails, it ends with the error.
func (s *Server) openOrders(ctx context.Context, account common.Address) iter.Seq2[swap.Order, error] {
	return func(yield func(swap.Order, error) bool) {
		for cursor, more := "", true; more; more = cursor != "" {
			page, next, err := s.Swaps.Orders(account, true, cursor, protocol.PageMax)
			if err = cmp.Or(err, ctx.Err()); err != nil {
				yield(swap.Order{}, err)
				return
			}
			for _, o := range page {
				if !yield(o, nil) {
					return
				}
			}
			cursor = next
		}
	}
}

// oversizedOrder replaces an order that fits no message.
func oversizedOrder(o swap.Order) protocol.Order {
	return orderOf(journal.UnreadableOrder(o.ID, !o.Ended(), fmt.Errorf("order %s: %w: it is too long to be shown", o.ID, journal.ErrUnreadable)))
}

// responseOverhead is the room reserved for the response around a result.
const responseOverhead = protocol.MaxID + 64
