package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"swapkeep/cmd/internal/amount"
	"swapkeep/cmd/internal/screen"
	"swapkeep/host/protocol"
)

// tradeFlags are the flags of a swap.
type tradeFlags struct {
	account, to, recipient, refundTo, slippage string
	providers                                  []string
	password                                   *secretFlag
}

func (f *tradeFlags) add(t *terminal, cmd *cobra.Command) {
	accountFlag(t, cmd, &f.account)
	flags := cmd.Flags()
	flags.StringVar(&f.to, "to", "", "destination `network` by name or chain id, also one that only a provider reaches (default the active network)")
	flags.StringVar(&f.slippage, "slippage", "", "slippage: the largest price change to accept, in `percent` (default the setting)")
	flags.StringSliceVar(&f.providers, "provider", nil, "ask only these `providers`: dex, bridge, intent, gasless, or their brands")
	flags.StringVar(&f.recipient, "recipient", "", "recipient `address`, if not the account; asks for the password")
	flags.StringVar(&f.refundTo, "refund-to", "", "refund `address`, if not the account; asks for the password")
	f.password = passwordFlag(flags)
	_ = cmd.RegisterFlagCompletionFunc("to", t.complete(completeNetworks))
	_ = cmd.RegisterFlagCompletionFunc("provider", cobra.FixedCompletions(
		[]cobra.Completion{"dex", "bridge", "intent", "gasless"}, cobra.ShellCompDirectiveNoFileComp))
}

// A trade is a parsed swap request.
type trade struct {
	account  protocol.Account
	src, dst protocol.Network
	pays     amount.Coin
	gets     amount.Coin
	params   protocol.QuoteParams
}

// coins returns the coins of the forms in which amounts are shown.
func (r trade) coins() map[string]amount.Coin {
	return map[string]amount.Coin{"tokenIn": r.pays, "tokenOut": r.gets, "coin": native(r.src)}
}

// tradeOf parses AMOUNT TOKEN TOKEN, or TOKEN AMOUNT TOKEN. Networks, tokens and amount
// are checked before the account, which may be asked for.
func (l *daemonConn) tradeOf(ctx context.Context, args []string, f *tradeFlags) (r trade, err error) {
	words := strings.Fields(strings.Join(args, " "))
	number, pays, gets := words[0], words[1], words[2]
	if !amount.IsNumber(number) && amount.IsNumber(pays) {
		number, pays = pays, number
	}
	if f.providers, err = providerKinds(f.providers); err != nil {
		return r, err
	}
	if r.src, err = l.network(ctx, ""); err == nil {
		r.dst, err = l.destination(ctx, f.to, f.providers)
	}
	if err != nil {
		return r, err
	}
	in, err := l.token(ctx, r.src.ChainID, pays)
	if err != nil {
		return r, err
	}
	out, err := l.destinationToken(ctx, r.dst.ChainID, gets, f.providers)
	if err == nil {
		err = errors.Join(l.t.checkSymbol(in, pays), l.t.checkSymbol(out, gets))
	}
	if err != nil {
		return r, err
	}
	r.pays, r.gets = coinOf(in), coinOf(out)
	n, err := r.pays.Parse(number)
	if err == nil && n.Sign() == 0 {
		err = amount.ErrNotPositive
	}
	if err != nil {
		return r, usageError{err}
	}
	if r.account, err = l.account(ctx, f.account); err != nil {
		return r, err
	}
	r.params = protocol.QuoteParams{
		Account: r.account.Address, SrcChainID: r.src.ChainID, TokenIn: in.Address, AmountIn: protocol.AmountOf(n),
		DstChainID: r.dst.ChainID, TokenOut: out.Address, Providers: f.providers,
	}
	return r, f.fill(&r.params)
}

// fill sets the quote parameters that come from flags.
func (f *tradeFlags) fill(p *protocol.QuoteParams) (err error) {
	for _, a := range []struct {
		flag, text string
		to         *protocol.Address
	}{{"recipient", f.recipient, &p.Recipient}, {"refund-to", f.refundTo, &p.RefundTo}} {
		if a.text == "" {
			continue
		}
		if *a.to, err = protocol.ParseAddress(a.text); err != nil {
			return usageError{fmt.Errorf("--%s %w", a.flag, err)}
		}
	}
	if f.slippage != "" {
		s, err := protocol.ParsePercent(strings.TrimSuffix(f.slippage, "%"))
		if err != nil {
			return usageError{fmt.Errorf("--slippage %w", err)}
		}
		p.Slippage = &s
	}
	return nil
}

// hasOtherRecipient reports whether the recipient or the refund address is not the account, which
// requires the password.
func (r trade) hasOtherRecipient() bool {
	p := r.params
	return p.Recipient != "" && p.Recipient != p.Account || p.RefundTo != "" && p.RefundTo != p.Account
}

func (r trade) title() string {
	where := " on " + r.src.Name
	if r.dst.ChainID != r.src.ChainID {
		where = fmt.Sprintf(", from %s to %s", r.src.Name, r.dst.Name)
	}
	return fmt.Sprintf("%s for %s%s, account %s %s", r.pays.Exact(r.params.AmountIn.Int()), r.gets.Symbol, where, r.account.Name, r.account.Address)
}

const tradeArguments = "AMOUNT TOKEN TOKEN"

const tradeHelp = "The amount is of the first token, which is paid from the active network: 1.5 ETH USDC swaps 1.5 ETH for USDC\n" +
	"(ETH 1.5 USDC means the same). Give tokens by symbol or address."

// tradeArgs accepts the three words of a trade, even if some are quoted together.
func tradeArgs(cmd *cobra.Command, args []string) error {
	return exactly("an amount and two tokens", 3)(cmd, strings.Fields(strings.Join(args, " ")))
}

func newQuote(t *terminal) *cobra.Command {
	var f tradeFlags
	cmd := &cobra.Command{
		Use: "quote " + tradeArguments, Short: "Get quotes for a swap from the providers", Args: tradeArgs,
		Long:              "Get quotes for a swap from the providers. Nothing is signed.\n\n" + tradeHelp,
		Example:           "  swapkeep quote 1.5 ETH USDC\n  swapkeep quote 250 USDC ETH --to base --slippage 0.3",
		ValidArgsFunction: t.complete(completeTrade),
	}
	f.add(t, cmd)
	cmd.RunE = t.withDaemon(func(ctx context.Context, l *daemonConn, args []string) error {
		r, err := l.tradeOf(ctx, args, &f)
		if err != nil {
			return err
		}
		return l.withPassword(ctx, r, &f, func(p protocol.QuoteParams) error {
			offers, err := l.quote(ctx, r, p)
			if err != nil || t.json {
				return t.inCoins(err, r.coins())
			}
			t.result.Title(r.title())
			printOffers(t.result, r, offers)
			return nil
		})
	})
	return cmd
}

// withPassword adds the password to a quote that requires it.
func (l *daemonConn) withPassword(ctx context.Context, r trade, f *tradeFlags, do func(protocol.QuoteParams) error) error {
	p := r.params
	if !r.hasOtherRecipient() {
		return do(p)
	}
	return l.unlock(ctx, f.password, func(secret protocol.Secret) error {
		p.Password = secret
		return do(p)
	})
}

// quote gets offers and prints each provider's answer as it arrives. It is an error if
// there is no offer.
func (l *daemonConn) quote(ctx context.Context, r trade, p protocol.QuoteParams) (protocol.QuoteResult, error) {
	type answer struct {
		result rawResult[protocol.QuoteResult]
		err    error
	}
	done, began := make(chan answer, 1), time.Now()
	go func() {
		result, err := ask[rawResult[protocol.QuoteResult]](ctx, l, "swap.quote", p)
		done <- answer{result, err}
	}()
	tick := time.NewTicker(spinTime)
	defer tick.Stop()
	for {
		select {
		case n := <-l.Notifications():
			if n.Method == "swap.quoted" {
				l.quoted(r, n.Params)
			}
		case <-tick.C:
			l.t.progress(began, "getting quotes")
		case a := <-done:
			l.t.talk.ClearProgress()
			if a.err == nil && l.t.json {
				a.err = writeRaw(l.t.out, a.result.raw)
			}
			if a.err == nil && len(a.result.value.Offers) == 0 {
				a.err = noOffer(a.result.value.Failures)
			}
			return a.result.value, a.err
		}
	}
}

// spinTime is the refresh interval of progress lines.
const spinTime = 100 * time.Millisecond

// progress prints what is being waited for, and for how long.
func (t *terminal) progress(since time.Time, what string) {
	if !t.json {
		t.talk.Progress(fmt.Sprintf("%.1f s", time.Since(since).Seconds()), what)
	}
}

// quoted prints one provider's best offer once all its offers have arrived, since the
// user chooses among all of them.
func (l *daemonConn) quoted(r trade, params json.RawMessage) {
	if l.t.json {
		_ = writeRaw(l.t.out, params)
		return
	}
	var q protocol.Quoted
	if json.Unmarshal(params, &q) != nil || len(q.Offers) == 0 || !q.Done {
		return
	}
	l.t.remark(fmt.Sprintf("%s offers %s", q.Provider, r.gets.Text(q.Offers[0].AmountOut.Int())))
}

// noOffer returns why there is no offer: the only failure, or all of them in one error.
func noOffer(failures map[string]*protocol.Error) error {
	var said []string
	for _, kind := range slices.Sorted(maps.Keys(failures)) {
		if len(failures) == 1 && failures[kind] != nil {
			return failures[kind]
		}
		message, _ := inWords(failures[kind])
		said = append(said, kind+": "+message)
	}
	if len(said) == 0 {
		return protocol.New("no_route", "no provider has an offer for this swap")
	}
	return protocol.New("no_route", strings.Join(said, "; "))
}

// printOffers prints the table of offers, then the route, rank and value of each on lines
// of their own, because a table with them would be too wide.
func printOffers(s *screen.Screen, r trade, q protocol.QuoteResult) {
	s.Table(offerColumns, offerRows(r, q.Offers))
	s.Blank()
	for i, o := range q.Offers {
		s.Fact(fmt.Sprintf("%d %s", i+1, o.Provider), routeText(o)+": "+rankText(o)+"; "+offerWorth(o))
	}
	printFailures(s, q.Failures)
}

// offerWorth compares an offer's input and output by the wallet's own prices.
func offerWorth(o protocol.Offer) string {
	switch {
	case o.USD.AmountIn == "" && o.USD.AmountOut == "":
		return unpriced
	case o.USD.AmountIn == o.USD.AmountOut:
		return "worth " + worthText(o.USD.AmountOut)
	}
	said := "worth " + worthText(o.USD.AmountOut) + ", for what is worth " + worthText(o.USD.AmountIn)
	if change, known := ownImpact(o.USD); known {
		said += " (" + change + ")"
	}
	return said
}

// ownImpact returns the difference in value between output and input in percent, by the
// wallet's own prices. The provider's own figure is not used.
func ownImpact(usd protocol.OfferUSD) (change string, known bool) {
	in, err := strconv.ParseFloat(string(usd.AmountIn), 64)
	out, failed := strconv.ParseFloat(string(usd.AmountOut), 64)
	if err != nil || failed != nil || in == 0 {
		return unpriced, false
	}
	return fmt.Sprintf("%+.2f %%", (out/in-1)*100), true
}

// rankText says why an offer has its rank, or why it cannot be executed.
func rankText(o protocol.Offer) string {
	switch {
	case o.Unusable != "":
		return "cannot be executed: " + o.Unusable
	case o.Rank != "":
		return o.Rank
	}
	return "not ranked"
}

// printFailures prints which providers have no offer and why. For a missing API key it
// also prints the remedy.
func printFailures(s *screen.Screen, failures map[string]*protocol.Error) {
	for _, kind := range slices.Sorted(maps.Keys(failures)) {
		f := failures[kind]
		if f == nil {
			continue
		}
		message, remedy := inWords(f)
		said := fmt.Sprintf("no offer: %s (%s)", message, f.Name)
		if f.Name == "provider_key" {
			said += "; " + remedy
		}
		s.Fact(kind, said)
	}
}

var offerColumns = []screen.Column{
	{Right: true}, {Head: "provider"}, {Head: "you get", Right: true}, {Head: "minimum", Right: true}, {Head: "after fee", Right: true}, {Head: "time", Right: true},
	{Head: "expires in", Right: true},
}

func offerRows(r trade, offers []protocol.Offer) (rows [][]string) {
	for i, o := range offers {
		rows = append(rows, []string{
			strconv.Itoa(i + 1), o.Provider, r.gets.Text(o.AmountOut.Int()), r.gets.Text(o.MinAmountOut.Int()), netText(r, o),
			duration(time.Duration(o.DurationSeconds * float64(time.Second))), duration(time.Until(o.Expires)),
		})
	}
	return rows
}

// netText formats the output after gas, if known.
func netText(r trade, o protocol.Offer) string {
	if o.NetAmountOut == "" {
		return "unknown"
	}
	return r.gets.Text(o.NetAmountOut.Int())
}

// duration formats a duration in seconds or minutes.
func duration(d time.Duration) string {
	switch {
	case d <= 0:
		return "0 s"
	case d < 2*time.Minute:
		return fmt.Sprintf("%d s", int(d.Round(time.Second).Seconds()))
	}
	return fmt.Sprintf("%d min", int(d.Round(time.Minute).Minutes()))
}

// chooseOffer asks the user to choose an offer. A single one is taken without a question.
func (l *daemonConn) chooseOffer(ctx context.Context, r trade, offers protocol.QuoteResult) (protocol.Offer, error) {
	if len(offers.Offers) == 1 || !l.t.interactive() {
		return offers.Offers[0], nil
	}
	printOffers(l.t.talk, r, offers)
	n, err := l.t.choose(ctx, "Which offer", len(offers.Offers))
	if err != nil {
		return protocol.Offer{}, err
	}
	return offers.Offers[n], nil
}

// errBlocked means that a finding of the review forbids the swap.
var errBlocked = errors.New("this swap is blocked")

// bigOf returns a as a number; zero if it is unset.
func bigOf(a protocol.Amount) *big.Int {
	if n := a.Int(); n != nil {
		return n
	}
	return new(big.Int)
}
