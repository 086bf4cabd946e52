package main

import (
	"context"
	"fmt"
	"math/big"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"swapkeep/cmd/internal/screen"
	"swapkeep/host/protocol"
)

// priceFlags select the prices to show.
type priceFlags struct {
	network, period string
	limit           int
	watch, coverage bool
}

// periodSpans are the lengths of the chart periods.
var periodSpans = map[string]time.Duration{"24h": 24 * time.Hour, "week": 7 * 24 * time.Hour, "month": 30 * 24 * time.Hour}

func newPrices(t *terminal) *cobra.Command {
	f := priceFlags{period: "24h", limit: 20}
	cmd := &cobra.Command{
		Use: "prices [TOKEN ...]", Short: "Show token prices with a chart of the last day, week or month",
		Long: "Show token prices in US dollars, the 24-hour change, and a chart of the last day, week or month: of a network's tokens\n" +
			"by market cap, or of tokens given by symbol or address. A price that is too old is marked stale.",
		Example:           "  swapkeep prices\n  swapkeep prices ETH USDC --network base --period week\n  swapkeep prices --watch",
		ValidArgsFunction: t.complete(completeTokens),
	}
	flags := cmd.Flags()
	flags.StringVar(&f.network, "network", "", "`network` by name or chain id (default the active one)")
	flags.StringVar(&f.period, "period", f.period, "`period` of the chart: 24h, week or month")
	flags.IntVar(&f.limit, "limit", f.limit, "show at most this `many` tokens, 1 to 200")
	flags.BoolVar(&f.coverage, "coverage", false, "show instead how many tokens of each network have a current price")
	flags.BoolVar(&f.watch, "watch", false, "update with every fetch until Ctrl-C")
	_ = cmd.RegisterFlagCompletionFunc("network", t.complete(completeNetworks))
	_ = cmd.RegisterFlagCompletionFunc("period", cobra.FixedCompletions([]cobra.Completion{"24h", "week", "month"}, cobra.ShellCompDirectiveNoFileComp))
	cmd.MarkFlagsMutuallyExclusive("coverage", "watch")
	cmd.RunE = t.withDaemon(func(ctx context.Context, l *daemonConn, args []string) error {
		if f.coverage {
			return l.coverage(ctx)
		}
		return l.prices(ctx, f, args)
	})
	return cmd
}

func (l *daemonConn) prices(ctx context.Context, f priceFlags, names []string) error {
	if periodSpans[f.period] == 0 {
		return usageError{fmt.Errorf("--period is %q: must be 24h, week or month", f.period)}
	}
	if f.limit < 1 || f.limit > protocol.PageMax {
		return usageError{fmt.Errorf("--limit is %d: must be 1 to %d", f.limit, protocol.PageMax)}
	}
	n, err := l.network(ctx, f.network)
	if err != nil {
		return err
	}
	p := protocol.PricesParams{ChainID: n.ChainID, Limit: f.limit}
	for _, name := range names {
		token, err := l.token(ctx, n.ChainID, name)
		if err != nil {
			return err
		}
		p.Tokens = append(p.Tokens, token.Address)
	}
	if err := l.awaitPrices(ctx, p); err != nil {
		return err
	}
	for {
		if err := l.printPrices(ctx, n, f, p); err != nil || !f.watch {
			return err
		}
		if err := l.pricesFetched(ctx); err != nil {
			return err
		}
	}
}

// firstPrices limits the wait for the first fetch of a new home.
const firstPrices = 15 * time.Second

// awaitPrices waits for the first fetch if there has been none, as right after the
// daemon's first start.
func (l *daemonConn) awaitPrices(ctx context.Context, p protocol.PricesParams) error {
	r, err := ask[protocol.PricesResult](ctx, l, "prices.list", p)
	if err != nil || !r.Fetched.IsZero() || len(r.Prices) == 0 {
		return err
	}
	if !l.t.json {
		l.t.talk.Line("waiting for the first prices")
	}
	first, cancel := context.WithTimeout(ctx, firstPrices)
	defer cancel()
	if err := l.pricesFetched(first); err != nil && (first.Err() == nil || ctx.Err() != nil) {
		return err
	}
	return nil // the table says if there are no prices
}

// pricesFetched waits for the notification of the next fetch.
func (l *daemonConn) pricesFetched(ctx context.Context) error {
	for {
		select {
		case note := <-l.Notifications():
			if note.Method == "prices.changed" {
				return nil
			}
		case <-l.Done():
			return l.Err()
		case <-ctx.Done():
			return printedError{ctx.Err()} // the usual way to end it
		}
	}
}

var priceColumns = []screen.Column{
	{Head: "token"}, {Head: "US dollars", Right: true}, {Head: "24 h", Right: true}, {Head: "", Shrinks: true}, {Head: "market cap", Right: true}, {Head: "holders", Right: true}, {Head: "from"}, {Head: "age", Right: true},
}

// sparkWidth is the width of a sparkline in columns.
const sparkWidth = 24

func (l *daemonConn) printPrices(ctx context.Context, n protocol.Network, f priceFlags, p protocol.PricesParams) error {
	r, err := ask[rawResult[protocol.PricesResult]](ctx, l, "prices.list", p)
	if err != nil {
		return err
	}
	if l.t.json {
		return writeRaw(l.t.out, r.raw)
	}
	rows := make([][]string, 0, len(r.value.Prices))
	for _, price := range r.value.Prices {
		drawn, err := l.spark(ctx, n.ChainID, price, f.period)
		if err != nil {
			return err
		}
		rows = append(rows, priceRow(price, drawn))
	}
	columns := append([]screen.Column(nil), priceColumns...)
	columns[3].Head = "last " + f.period
	l.t.result.Line(n.Name + ", " + fetchedText(r.value.Fetched))
	if len(rows) == 0 {
		l.t.result.Line("no token's price is kept there")
	} else {
		l.t.result.Table(columns, rows)
	}
	return l.t.result.Err()
}

func fetchedText(at time.Time) string {
	if at.IsZero() {
		return "no prices have been fetched yet"
	}
	return "prices of " + clockTime(at)
}

// spark draws a token's chart.
func (l *daemonConn) spark(ctx context.Context, chain uint64, p protocol.Price, period string) (string, error) {
	if p.Now == "" {
		return "", nil
	}
	chart, err := ask[protocol.PriceHistory](ctx, l, "prices.history", protocol.PriceHistoryParams{ChainID: chain, Token: p.Token, Period: period})
	if err != nil {
		return "", err
	}
	span := periodSpans[period]
	begin := time.Now().Add(-span)
	var figures []screen.Figure
	for _, c := range chart.Candles {
		if v, err := strconv.ParseFloat(string(c.Close), 64); err == nil {
			figures = append(figures, screen.Figure{At: float64(c.Time.Sub(begin)) / float64(span), Value: v})
		}
	}
	return screen.Spark(figures, sparkWidth), nil
}

func priceRow(p protocol.Price, drawn string) []string {
	if p.Now == "" {
		return []string{p.Symbol, unpriced, "", "", capText(p), holdersText(p), "", ""}
	}
	age := duration(time.Since(p.Updated))
	if p.Stale {
		age = "stale, " + age
	}
	return []string{p.Symbol, dollarText(p.Now), changeText(p), drawn, capText(p), holdersText(p), p.Source, age}
}

// unpriced is shown for a missing price, never zero.
const unpriced = "price unavailable"

// dollarText formats a price: with two decimals from one dollar on, below that with six
// significant digits.
func dollarText(p protocol.USD) string {
	whole, part, _ := strings.Cut(string(p), ".")
	if whole != "0" {
		return grouped(whole) + "." + (part + "00")[:2]
	}
	lead := len(part) - len(strings.TrimLeft(part, "0"))
	return whole + "." + (part + "00")[:max(2, min(len(part+"00"), lead+6))]
}

// grouped inserts commas between thousands.
func grouped(digits string) string {
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

func changeText(p protocol.Price) string {
	if p.ChangePct == nil {
		return "-"
	}
	return fmt.Sprintf("%+.2f %%", *p.ChangePct)
}

func capText(p protocol.Price) string {
	if p.MarketCap == "" {
		return "-"
	}
	whole, _, _ := strings.Cut(string(p.MarketCap), ".")
	text := grouped(whole)
	if p.Diluted {
		text += " (all supply)"
	}
	return text
}

func holdersText(p protocol.Price) string {
	if p.Holders == 0 {
		return "-"
	}
	return grouped(strconv.FormatUint(p.Holders, 10))
}

// worthText formats a value in US dollars, or says that it is unavailable.
func worthText(usd protocol.USD) string {
	if usd == "" {
		return unpriced
	}
	if zero, err := strconv.ParseFloat(string(usd), 64); err == nil && zero == 0 {
		return "under 0.01 US dollars"
	}
	whole, part, _ := strings.Cut(string(usd), ".")
	return "about " + grouped(whole) + "." + part + " US dollars"
}

// coinWorth returns the value of wei of native coin at coin US dollars each.
func coinWorth(coin protocol.USD, wei *big.Int) string {
	one, ok := new(big.Rat).SetString(string(coin))
	if coin == "" || !ok {
		return unpriced
	}
	worth := one.Mul(one, new(big.Rat).SetFrac(wei, big.NewInt(1e18)))
	return worthText(protocol.USD(worth.FloatString(2)))
}
