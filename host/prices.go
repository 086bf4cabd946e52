package host

import (
	"context"
	"maps"
	"math/big"
	"strconv"
	"strings"

	"swapkeep/host/protocol"
	"swapkeep/internal/clock"
	"swapkeep/priceapi/price"
	"swapkeep/priceapi/pricetable"
	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common"
)

// maxPriced is the maximum number of tokens in one request.
const maxPriced = 200

func (c *call) pricesList(_ context.Context, p *protocol.PricesParams) (any, error) {
	id, err := c.s.chainOr(p.ChainID)
	if err != nil {
		return nil, err
	}
	if len(p.Tokens) > maxPriced {
		return nil, badParam("tokens", "must be at most "+strconv.Itoa(maxPriced))
	}
	now, _ := c.s.Prices.Next()
	rows := pricedRows(now, id, p.Tokens)
	page, cursor, err := cutPage(rows, p.Cursor, p.Limit)
	return protocol.PricesResult{ChainID: id, Fetched: optionalTime(now.Fetched), Prices: list(page, priceOf), Cursor: cursor}, err
}

// pricedRows returns a chain's rows, by market cap, or those of the requested tokens in
// their order.
func pricedRows(now *pricetable.Table, chain uint64, asked []protocol.Address) (rows []pricetable.Row) {
	for _, a := range asked {
		if r, ok := now.Row(price.ID{Chain: chain, Address: evmAddress(a)}); ok {
			rows = append(rows, r)
		}
	}
	if len(asked) > 0 {
		return rows
	}
	for _, r := range now.Rows {
		if r.Token.Chain == chain {
			rows = append(rows, r)
		}
	}
	return rows
}

func priceOf(r pricetable.Row) protocol.Price {
	r.Stale = r.StaleAt(clock.Now())
	out := protocol.Price{Token: addressOf(r.Token.Address), Symbol: r.Token.Symbol, Stale: r.Stale, Holders: r.Facts.Holders}
	if !r.Facts.MarketCap.IsZero() {
		out.MarketCap, out.Diluted = protocol.USD(r.Facts.MarketCap.Fixed(2)), r.Facts.Diluted
	}
	if !r.Now.Known() {
		return out
	}
	out.Now, out.Source, out.Updated = usd(r.Now.Value), r.Now.Source.String(), optionalTime(r.Now.At)
	if r.Has24h() {
		_, _, percent := r.Change()
		out.DayAgo, out.ChangePct = usd(r.DayAgo.Value), &percent
	}
	return out
}

// usd formats a price without trailing zeros.
func usd(v price.Value) protocol.USD {
	return protocol.USD(strings.TrimSuffix(strings.TrimRight(v.String(), "0"), "."))
}

func (c *call) pricesHistory(ctx context.Context, p *protocol.PriceHistoryParams) (any, error) {
	id, err := c.s.chainOr(p.ChainID)
	if err != nil {
		return nil, err
	}
	period, ok := price.PeriodNamed(p.Period)
	if !ok {
		return nil, badParam("period", "must be 24h, week or month")
	}
	token := price.ID{Chain: id, Address: evmAddress(p.Token)}
	now, _ := c.s.Prices.Next()
	if _, ok := now.Row(token); !ok {
		return nil, badParam("token", "is not one whose price is kept; import it first (tokens.import)")
	}
	candles, err := c.s.Prices.Chart(ctx, token, period)
	if err != nil {
		return nil, err
	}
	return protocol.PriceHistory{
		ChainID: id, Token: addressOf(token.Address), Period: period.Name, StepSeconds: int(period.Step.Seconds()), Candles: list(candles, candleOf),
	}, nil
}

func candleOf(c price.Candle) protocol.Candle {
	return protocol.Candle{Time: c.At.UTC(), Open: usd(c.Open), High: usd(c.High), Low: usd(c.Low), Close: usd(c.Close)}
}

func (s *Server) pricesStatus() protocol.PricesStatus {
	out := s.Prices.Status()
	now, _ := s.Prices.Next()
	out.Fetched, out.Tokens = optionalTime(now.Fetched), len(now.Rows)
	out.Stale = staleOf(now)
	return out
}

func staleOf(b *pricetable.Table) (n int) {
	now := clock.Now()
	for _, r := range b.Rows {
		if r.StaleAt(now) {
			n++
		}
	}
	return n
}

// broadcastPrices broadcasts whenever prices were fetched or the number of stale ones changed,
// until ctx ends.
func (s *Server) broadcastPrices(ctx context.Context) {
	b, newer := s.Prices.Next()
	fetched, stale := b.Fetched, staleOf(b)
	for {
		select {
		case <-ctx.Done():
			return
		case <-newer:
		}
		b, newer = s.Prices.Next()
		if n := staleOf(b); !b.Fetched.Equal(fetched) || n != stale {
			s.broadcast("prices.changed", protocol.PricesChanged{Fetched: b.Fetched.UTC()})
			fetched, stale = b.Fetched, n
		}
	}
}

func (s *Server) valuedOffer(o swap.Offer) protocol.Offer {
	out := offerOf(o)
	r := o.Request
	out.USD = protocol.OfferUSD{
		AmountIn: s.dollars(r.SrcChain, r.TokenIn, r.AmountIn), AmountOut: s.dollars(r.DstChain, r.TokenOut, o.AmountOut),
		MinAmountOut: s.dollars(r.DstChain, r.TokenOut, o.MinOut), GasCost: s.dollars(r.SrcChain, common.Address{}, o.GasCost),
	}
	return out
}

func (s *Server) valuedReview(r swap.Review) protocol.Review {
	out := reviewOf(r)
	out.Offer = s.valuedOffer(r.Offer)
	out.Gas.USD = protocol.GasUSD{
		Expected: s.dollars(r.Terms.SrcChain, common.Address{}, r.Gas.Expected), Max: s.dollars(r.Terms.SrcChain, common.Address{}, r.Gas.Max),
	}
	for i, f := range out.Findings {
		extra, _ := new(big.Int).SetString(f.Data["extra"], 10)
		if worth := s.dollars(r.Terms.SrcChain, common.Address{}, extra); worth != "" {
			out.Findings[i].Data = maps.Clone(f.Data)
			out.Findings[i].Data["extraUSD"] = string(worth)
		}
	}
	return out
}

// coinPrice returns the current price of a network's native coin; "" = unknown.
func (s *Server) coinPrice(chain uint64) protocol.USD {
	now, _ := s.Prices.Next()
	if r, ok := now.Row(price.ID{Chain: chain}); ok && r.Current(clock.Now()) {
		return usd(r.Now.Value)
	}
	return ""
}

// dollars returns the worth of an amount with two decimals; "" = unknown.
func (s *Server) dollars(chain uint64, token common.Address, amount *big.Int) protocol.USD {
	if amount == nil {
		return ""
	}
	v, err := s.Prices.Dollars(price.ID{Chain: chain, Address: token}, amount)
	if err != nil {
		return ""
	}
	return protocol.USD(v.Fixed(2))
}
