package dex

import (
	"encoding/json"
	"math/big"
	"reflect"

	"swapkeep/providers/wire"
	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/signer/core/apitypes"
)

// auctionQuote is the quote object of an auction. The order to sign is in permitData and
// the one to post in encodedOrder; both are compared with the order built here. orderInfo,
// which describes the order too, is not read; aggregatedOutputs is only shown.
type auctionQuote struct {
	ChainID   *wire.Quantity `json:"chainId"`
	Swapper   *address       `json:"swapper"`
	TradeType string         `json:"tradeType"`
	Input     *struct {
		Token         *address     `json:"token"`
		Amount        *wire.Amount `json:"amount"`
		MaximumAmount *wire.Amount `json:"maximumAmount"`
	} `json:"input"`
	Output *struct {
		Token     *address `json:"token"`
		Recipient *address `json:"recipient"`
	} `json:"output"`
	Slippage     *wire.Ratio    `json:"slippageTolerance"`
	OrderID      *common.Hash   `json:"orderId"`
	EncodedOrder *hexutil.Bytes `json:"encodedOrder"`

	Outputs json.RawMessage `json:"aggregatedOutputs"` // read by [statedMinimum] only
}

// auctionRoute is the route text shown to the user.
const auctionRoute = "UniswapX auction"

// readAuction reads an auction quote. It rebuilds the order and requires it to equal the
// order that the API asks to be signed, the one whose hash is orderId, and the one in
// encodedOrder.
func readAuction(o swap.Offer, e envelope, d orderTerms) (parsedQuote, error) {
	var q auctionQuote
	if err := service.Read("quote.auction", e.Quote, &q); err != nil {
		return parsedQuote{}, garbage("quote", err)
	}
	if err := q.echoes(e, o.Request); err != nil {
		return parsedQuote{}, err
	}
	given, err := d.readOrder(e.PermitData)
	if err != nil {
		return parsedQuote{}, err
	}
	got, fees, err := given.checkBounds(d)
	if err != nil {
		return parsedQuote{}, err
	}
	order := d.build(given)
	if !order.permit().same(given.permit()) {
		return parsedQuote{}, refuse(swap.Undecodable, "permitData", "the order is not one that this version would build")
	}
	if err := q.checkOrder(order); err != nil {
		return parsedQuote{}, err
	}
	o.Gasless, o.Route, o.Duration = true, auctionRoute, d.kind.usual(order, o.Duration)
	o.AmountOut, o.MinOut, o.Fees = got.end, got.end, fees // the end amount is all that is guaranteed
	var lines []outputLine
	_ = json.Unmarshal(q.Outputs, &lines) // for display only; what cannot be read is ignored
	o.QuotedMin = statedMinimum(lines, o)
	return parsedQuote{offer: o, quote: e, order: &order}, nil
}

// echoes checks the request fields that the quote repeats. Only orderId and encodedOrder
// must be present: the order itself states everything else.
func (q auctionQuote) echoes(e envelope, r swap.QuoteRequest) error {
	list := []wire.Echo{
		{Field: "permitTransaction", Present: true, Matches: wire.IsNull(e.PermitTransaction)},
		{Field: "tradeType", Present: true, Matches: q.TradeType == "" || q.TradeType == exactInput},
		{Field: "chainId", Present: true, Matches: q.ChainID == nil || q.ChainID.IsID(r.SrcChain)},
		{Field: "swapper", Present: true, Matches: q.Swapper == nil || q.Swapper.is(r.Account)},
		{Field: "slippageTolerance", Present: true, Matches: q.Slippage == nil || q.Slippage.Cmp(big.NewRat(int64(r.SlippageBps), 100)) == 0},
		{Field: "orderId", Present: q.OrderID != nil, Matches: true},
		{Field: "encodedOrder", Present: q.EncodedOrder != nil, Matches: true},
	}
	if in := q.Input; in != nil {
		list = append(list, wire.Echo{Field: "input.token", Present: true, Matches: in.Token == nil || in.Token.is(r.TokenIn)},
			wire.Echo{Field: "input.amount", Present: true, Matches: in.Amount == nil || in.Amount.Is(r.AmountIn)},
			wire.Echo{Field: "input.maximumAmount", Present: true, Matches: in.MaximumAmount == nil || in.MaximumAmount.Is(r.AmountIn)})
	}
	if out := q.Output; out != nil {
		list = append(list, wire.Echo{Field: "output.token", Present: true, Matches: out.Token == nil || out.Token.is(r.TokenOut)},
			wire.Echo{Field: "output.recipient", Present: true, Matches: out.Recipient == nil || out.Recipient.is(r.Recipient)})
	}
	return service.CheckEchoes(list)
}

// checkOrder requires the quote to refer to the order, by its hash and in the encoding that the
// cosigner and the reactor get.
func (q auctionQuote) checkOrder(o dutchOrder) error {
	if *q.OrderID != o.hash() {
		return refuse(swap.NotAsAccepted, "orderId", "the quote is for another order than the one to be signed")
	}
	encoded, err := o.kind.decode(*q.EncodedOrder)
	if err != nil {
		return err
	}
	return encoded.checkIs(o)
}

// readOrder reads the order that the API asks to be signed.
func (d orderTerms) readOrder(raw json.RawMessage) (dutchOrder, error) {
	var data struct {
		Primary string `json:"primaryType"`

		Domain wire.Strict[permitDomain]   `json:"domain"`
		Types  wire.Strict[apitypes.Types] `json:"types"`
		Values json.RawMessage             `json:"values"` // read by [readValues], which refuses unknown members
	}
	if err := service.Read("permitData", raw, &data); err != nil {
		return dutchOrder{}, garbage("permitData", err)
	}
	list := append(data.Domain.Is.echoes(d.chain, data.Types.Is, d.kind.quoted), primaryEcho(data.Primary, witnessPermit))
	if err := service.CheckEchoes(append(list, wire.Echo{Field: "permitData.values", Present: data.Values != nil, Matches: true})); err != nil {
		return dutchOrder{}, err
	}
	tree, err := readTree(data.Values)
	if err != nil {
		return dutchOrder{}, garbage("permitData.values", err)
	}
	return d.kind.permitted(tree)
}

// permitted reads the order from the message that is signed. The Permit2 transfer around it
// must have the order's own input, reactor, nonce and deadline.
func (k *auctionKind) permitted(message any) (dutchOrder, error) {
	v, err := readValues(k.types, witnessPermit, message)
	if err != nil {
		return dutchOrder{}, garbage("permitData.values", err)
	}
	o := orderOf(k, v["witness"].(values))
	if !o.permit().same(v) {
		return o, refuse(swap.NotAsAccepted, "permitted", "the permit around the order allows something else than the order takes")
	}
	return o, nil
}

// orderIn reads the order from a step's typed data, which must equal the data that would be
// built for the terms. It also returns the recipient's output and the fees.
func (p *Provider) orderIn(t swap.Terms, pr tokenPair, given apitypes.TypedData) (o dutchOrder, got dutchLine, fees []swap.Payment, err error) {
	d := p.orderTermsUnder(t, pr)
	if d.kind == nil {
		return o, got, nil, refuse(swap.NotAsAccepted, "typed", "there is no auction for this swap")
	}
	if o, err = d.kind.permitted(given.Message); err != nil {
		return o, got, nil, refuse(swap.Undecodable, "typed", "the message has not the values of an order: %v", err)
	}
	if got, fees, err = o.checkBounds(d); err != nil {
		return o, got, nil, err
	}
	if o = d.build(o); !reflect.DeepEqual(given, o.typed(t.SrcChain)) {
		return o, got, nil, refuse(swap.Undecodable, "typed", "the message is not an order for Permit2 on chain %d as this version writes it", t.SrcChain)
	}
	return o, got, fees, o.checkEndsBy(t.Deadline)
}

// readOrder returns what an order to be signed would do.
func (p *Provider) readOrder(t swap.Terms, pr tokenPair, given apitypes.TypedData) (swap.Effect, error) {
	o, got, fees, err := p.orderIn(t, pr, given)
	if err != nil {
		return swap.Effect{}, err
	}
	return swap.Effect{
		Kind: swap.Signed, Chain: t.SrcChain, Target: permit2, Settler: o.reactor,
		Spends:   []swap.Spend{{Token: o.input.token, Amount: new(big.Int).Set(o.input.end)}},
		Receives: []swap.Receive{{Token: got.token, To: got.recipient, Min: new(big.Int).Set(got.end)}},
		Pays:     fees, Deadline: o.ends(),
	}, nil
}
