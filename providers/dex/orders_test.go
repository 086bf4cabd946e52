package dex

import (
	"encoding/json"
	"maps"
	"math/big"
	"net/http"
	"slices"
	"testing"
	"time"

	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common"
)

// auctionRequest returns the request of a recorded auction.
func auctionRequest(name string) swap.QuoteRequest {
	r := usdcRequest()
	if name == "ethereum-auction" {
		r.SrcChain, r.DstChain = 1, 1
		r.TokenIn, r.TokenOut = common.HexToAddress("0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48"), deployments[0].wrapped
	}
	return r
}

// auctionTerms are what the user accepts with a recorded auction.
func auctionTerms(name string, o dutchOrder) swap.Terms {
	r := auctionRequest(name)
	return swap.Terms{
		Provider: swap.DEX, Account: r.Account, Recipient: r.Recipient, RefundTo: r.RefundTo, SrcChain: r.SrcChain, DstChain: r.DstChain,
		TokenIn: r.TokenIn, AmountIn: r.AmountIn, TokenOut: r.TokenOut, MinOut: o.outputs[0].end, Deadline: testDeadline,
		FeeBps: 40, FeeReceiver: testFeeTo, MakerFeeBps: 20, GasCeiling: oneEther,
	}
}

// clone copies an order, so that lies about it do not change the recorded one.
func (o dutchOrder) clone() dutchOrder {
	line := func(l dutchLine) dutchLine {
		if l.curve != nil {
			c := curve{blocks: new(big.Int).Set(l.curve.blocks)}
			for _, n := range l.curve.amounts {
				c.amounts = append(c.amounts, new(big.Int).Set(n))
			}
			l.curve, l.adjust = &c, new(big.Int).Set(l.adjust)
		}
		l.start, l.end = new(big.Int).Set(l.start), new(big.Int).Set(l.end)
		return l
	}
	outputs := o.outputs
	o.input, o.outputs = line(o.input), nil
	for _, l := range outputs {
		o.outputs = append(o.outputs, line(l))
	}
	return o
}

func plus(n *big.Int, m int64) *big.Int { return new(big.Int).Add(n, big.NewInt(m)) }

// part returns a share of n in basis points.
func part(n *big.Int, bps int64) *big.Int {
	out := new(big.Int).Mul(n, big.NewInt(bps))
	return out.Div(out, big.NewInt(wholeBps))
}

// made adds an output like the first one, with bps of its amounts.
func (o *dutchOrder) made(to common.Address, bps int64) {
	l := o.clone().outputs[0]
	l.recipient, l.start, l.end = to, part(l.start, bps), part(l.end, bps)
	if l.curve != nil {
		l.curve.amounts[0].Sub(l.start, l.end)
	}
	o.outputs = append(o.outputs, l)
}

// An orderLie changes the order that a service asks to be signed; the service lies
// consistently in every place.
type orderLie struct {
	lie  func(o *dutchOrder)
	want swap.Code // "" = accepted
	// instead is the reason to refuse signing it, where that is another one.
	instead swap.Code
	// quotedOnly: only the request, or its time, reveals it; the terms may be wide enough.
	quotedOnly bool
}

// orderLies are told about both kinds, lieV3 about the kind that has curves.
var orderLies = map[string]orderLie{
	"as recorded":                                {lie: func(*dutchOrder) {}},
	"another nonce":                              {lie: func(o *dutchOrder) { o.nonce = new(big.Int) }},
	"the highest nonce":                          {lie: func(o *dutchOrder) { o.nonce = plus(new(big.Int).Lsh(big.NewInt(1), 256), -1) }},
	"an earlier deadline":                        {lie: func(o *dutchOrder) { o.deadline = plus(o.deadline, -60) }},
	"a fee cut by one":                           {lie: func(o *dutchOrder) { o.outputs[1].start = plus(o.outputs[1].start, -1) }},
	"the maker's fee":                            {lie: func(o *dutchOrder) { o.shareOut(20) }},
	"another reactor":                            {lie: func(o *dutchOrder) { o.reactor = testAttacker }, want: swap.NotPinned},
	"Permit2 as reactor":                         {lie: func(o *dutchOrder) { o.reactor = permit2 }, want: swap.NotPinned},
	"another chain's reactor":                    {lie: func(o *dutchOrder) { o.reactor = deployments[1].reactor }, want: swap.NotPinned},
	"no cosigner":                                {lie: func(o *dutchOrder) { o.cosigner = nativeCoin }, want: swap.NotPinned},
	"another cosigner":                           {lie: func(o *dutchOrder) { o.cosigner = testAttacker }, want: swap.NotPinned},
	"the real chains' cosigner":                  {lie: func(o *dutchOrder) { o.cosigner = cosigner }, want: swap.NotPinned},
	"another swapper":                            {lie: func(o *dutchOrder) { o.swapper = testAttacker }, want: swap.NotAsAccepted},
	"a validation contract":                      {lie: func(o *dutchOrder) { o.validator = testAttacker }, want: swap.NotAsAccepted},
	"validation data":                            {lie: func(o *dutchOrder) { o.validation = []byte{1} }, want: swap.NotAsAccepted},
	"another input":                              {lie: func(o *dutchOrder) { o.input.token = testDAI }, want: swap.NotAsAccepted},
	"more input":                                 {lie: func(o *dutchOrder) { o.input.start, o.input.end = plus(o.input.start, 1), plus(o.input.end, 1) }, want: swap.NotAsAccepted},
	"more input in the end":                      {lie: func(o *dutchOrder) { o.input.end = plus(o.input.end, 1) }, want: swap.NotAsAccepted},
	"without limit":                              {lie: func(o *dutchOrder) { o.input.end = plus(new(big.Int).Lsh(big.NewInt(1), 256), -1) }, want: swap.NotAsAccepted},
	"less input":                                 {lie: func(o *dutchOrder) { o.input.start = plus(o.input.start, -1) }, want: swap.NotAsAccepted},
	"another output":                             {lie: func(o *dutchOrder) { o.outputs[0].token = testDAI }, want: swap.NotAsAccepted},
	"the fee in another token":                   {lie: func(o *dutchOrder) { o.outputs[1].token = testDAI }, want: swap.NotAsAccepted},
	"native for wrapped":                         {lie: func(o *dutchOrder) { o.outputs[0].token, o.outputs[1].token = nativeCoin, nativeCoin }, want: swap.NotAsAccepted},
	"another recipient":                          {lie: func(o *dutchOrder) { o.outputs[0].recipient = testAttacker }, want: swap.NotAsAccepted},
	"no recipient":                               {lie: func(o *dutchOrder) { o.outputs[0].recipient = nativeCoin }, want: swap.NotAsAccepted},
	"the recipient twice":                        {lie: func(o *dutchOrder) { o.outputs = append(o.outputs, o.outputs[0]) }, want: swap.NotAsAccepted},
	"the fee twice":                              {lie: func(o *dutchOrder) { o.outputs = append(o.outputs, o.outputs[1]) }, want: swap.NotAsAccepted},
	"the fee to somebody else":                   {lie: func(o *dutchOrder) { o.outputs[1].recipient = testMaker }, want: swap.NotAsAccepted},
	"the fee to the reactor":                     {lie: func(o *dutchOrder) { o.outputs[1].recipient = o.reactor }, want: swap.NotAsAccepted},
	"the fee to nobody":                          {lie: func(o *dutchOrder) { o.outputs[1].recipient = nativeCoin }, want: swap.NotAsAccepted},
	"no fee":                                     {lie: func(o *dutchOrder) { o.outputs = o.outputs[:1] }, want: swap.NotAsAccepted},
	"nothing but the fee":                        {lie: func(o *dutchOrder) { o.outputs = o.outputs[1:] }, want: swap.NotAsAccepted},
	"no output":                                  {lie: func(o *dutchOrder) { o.outputs = nil }, want: swap.Undecodable},
	"four outputs":                               {lie: func(o *dutchOrder) { o.made(testMaker, 1); o.made(testFriend, 1) }, want: swap.Undecodable},
	"an output of nothing":                       {lie: func(o *dutchOrder) { o.outputs[0].end = new(big.Int) }, want: swap.NotAsAccepted},
	"an output that grows":                       {lie: func(o *dutchOrder) { o.outputs[0].end = plus(o.outputs[0].start, 1) }, want: swap.NotAsAccepted},
	"the maker takes too much":                   {lie: func(o *dutchOrder) { o.shareOut(21) }, want: swap.NotAsAccepted},
	"a fee that is too high":                     {lie: func(o *dutchOrder) { o.outputs[1].start = plus(o.outputs[1].start, 1e12) }, want: swap.NotAsAccepted},
	"a fee that is too low":                      {lie: func(o *dutchOrder) { o.scaleFee(39) }, want: swap.NotAsAccepted},
	"a fee that does not shrink":                 {lie: func(o *dutchOrder) { o.steady(1) }, want: swap.NotAsAccepted},
	"an output that ends below its market price": {lie: func(o *dutchOrder) { o.sink(80) }, want: swap.NotAsAccepted, quotedOnly: true},
	"an output that ends at one base unit":       {lie: func(o *dutchOrder) { o.outputs[0].end, o.outputs[1].end = big.NewInt(1), big.NewInt(1) }, want: swap.NotAsAccepted, quotedOnly: true},
	"an output that begins far above the price":  {lie: func(o *dutchOrder) { o.rise(2) }},
	"an auction of over a day":                   {lie: func(o *dutchOrder) { o.deadline = big.NewInt(testNow.Add(maxOrderLife + time.Second).Unix()) }, want: swap.NotAsAccepted},
	"an auction that never ends":                 {lie: func(o *dutchOrder) { o.deadline = plus(new(big.Int).Lsh(big.NewInt(1), 256), -1) }, want: swap.Undecodable},
	"an auction without times":                   {lie: func(o *dutchOrder) { o.deadline = new(big.Int) }, want: swap.Undecodable},
	"a deadline too soon": {lie: func(o *dutchOrder) { o.deadline = big.NewInt(testNow.Add(minOrderLife - time.Second).Unix()) },
		want: swap.QuoteExpired, quotedOnly: true},
}

// shareOut gives the maker its share of the total, and the recipient the rest.
func (o *dutchOrder) shareOut(bps int64) {
	all := new(big.Int).Add(o.outputs[0].start, o.outputs[1].start)
	sumEnd := new(big.Int).Add(o.outputs[0].end, o.outputs[1].end)
	o.made(testMaker, 1)
	for i, l := range []*dutchLine{&o.outputs[0], &o.outputs[2]} {
		if i == 1 {
			l.start, l.end = part(all, bps), part(sumEnd, bps)
		} else {
			l.start, l.end = new(big.Int).Sub(l.start, part(all, bps)), new(big.Int).Sub(l.end, part(sumEnd, bps))
		}
		if l.curve != nil {
			l.curve.amounts[0].Sub(l.start, l.end)
		}
	}
}

// scaleFee sets the wallet's fee, which was recorded as 40 bps.
func (o *dutchOrder) scaleFee(bps int64) {
	l := &o.outputs[1]
	l.start, l.end = new(big.Int).Div(new(big.Int).Mul(l.start, big.NewInt(bps)), big.NewInt(40)), new(big.Int).Div(new(big.Int).Mul(l.end, big.NewInt(bps)), big.NewInt(40))
	if l.curve != nil {
		l.curve.amounts[0].Sub(l.start, l.end)
	}
}

// steady keeps an output at its start amount.
func (o *dutchOrder) steady(i int) {
	l := &o.outputs[i]
	l.end = l.start
	if l.curve != nil {
		l.curve = l.curve.flat()
	}
}

// rise multiplies the start amount of every output, and leaves the end as it is.
func (o *dutchOrder) rise(times int64) {
	for i := range o.outputs {
		l := &o.outputs[i]
		l.start = new(big.Int).Mul(l.start, big.NewInt(times))
		if l.curve != nil {
			l.curve.amounts[0].Sub(l.start, l.end)
		}
	}
}

// sink makes every output shrink by bps.
func (o *dutchOrder) sink(bps int64) {
	for i := range o.outputs {
		l := &o.outputs[i]
		l.end = part(l.start, wholeBps-bps)
		if l.curve != nil {
			l.curve.amounts[0].Sub(l.start, l.end)
		}
	}
}

var lieV3 = map[string]orderLie{
	"another base fee":                       {lie: func(o *dutchOrder) { o.baseFee = big.NewInt(7) }},
	"no curve for the input":                 {lie: func(o *dutchOrder) { o.input.curve = &curve{blocks: new(big.Int)} }},
	"the output rises first":                 {lie: func(o *dutchOrder) { o.bend(2, -100) }},
	"more points":                            {lie: func(o *dutchOrder) { o.bend(2, 100) }},
	"the input rises":                        {lie: func(o *dutchOrder) { o.input.curve.amounts[0] = big.NewInt(-1) }, want: swap.NotAsAccepted},
	"the input falls":                        {lie: func(o *dutchOrder) { o.input.curve.amounts[0] = big.NewInt(1) }, want: swap.NotAsAccepted},
	"the input adjusted by the base fee":     {lie: func(o *dutchOrder) { o.input.adjust = big.NewInt(1) }, want: swap.NotAsAccepted},
	"the output adjusted by the base fee":    {lie: func(o *dutchOrder) { o.outputs[0].adjust = big.NewInt(1) }, want: swap.NotAsAccepted},
	"an amount below zero":                   {lie: func(o *dutchOrder) { o.outputs[0].curve.amounts[0] = plus(o.outputs[0].start, 1) }, want: swap.Undecodable},
	"an amount of more than twice the start": {lie: func(o *dutchOrder) { o.outputs[0].curve.amounts[0] = new(big.Int).Neg(plus(o.outputs[0].start, 1)) }, want: swap.Undecodable},
	"a fee that rises":                       {lie: func(o *dutchOrder) { o.outputs[1].curve.amounts[0] = big.NewInt(-1) }, want: swap.Undecodable},
	"a point at block zero":                  {lie: func(o *dutchOrder) { o.blocks(0) }, want: swap.NotAsAccepted},
	"two points at one block":                {lie: func(o *dutchOrder) { o.bend(4, 100) }, want: swap.NotAsAccepted},
	"blocks out of order":                    {lie: func(o *dutchOrder) { o.bend(5, 100) }, want: swap.NotAsAccepted},
	"more blocks than amounts":               {lie: func(o *dutchOrder) { o.blocks(4 | 9<<blockBits) }, want: swap.NotAsAccepted},
	"more amounts than blocks": {lie: func(o *dutchOrder) {
		o.outputs[0].curve.amounts = append(o.outputs[0].curve.amounts, big.NewInt(1))
	}, want: swap.Undecodable},
	"another course of the fee": {lie: func(o *dutchOrder) { o.outputs[1].curve.blocks = big.NewInt(9) }, want: swap.Undecodable},
	"seventeen points": {lie: func(o *dutchOrder) {
		o.outputs[0].curve.amounts = slices.Repeat(o.outputs[0].curve.amounts, maxElements+1)
	}, want: swap.ProviderInvalidResponse, instead: swap.Undecodable},
	"the fee stays for a while": {lie: func(o *dutchOrder) {
		o.bend(2, 100)
		o.outputs[1].curve.amounts[0] = new(big.Int)
		o.outputs[0].curve.amounts[0] = new(big.Int).Set(o.outputs[0].curve.amounts[1])
	}, want: swap.NotAsAccepted},
}

// blocks sets the packed blocks of every curve.
func (o *dutchOrder) blocks(packed int64) {
	for _, l := range append(slices.Clone(o.outputs), o.input) {
		l.curve.blocks = big.NewInt(packed)
	}
}

// bend adds a point before the recorded one to every curve, at which bps of the recorded
// change have happened.
func (o *dutchOrder) bend(block, bps int64) {
	for _, l := range append(slices.Clone(o.outputs), o.input) {
		l.curve.blocks = big.NewInt(4<<blockBits | block)
		first := new(big.Int).Mul(l.curve.amounts[0], big.NewInt(bps))
		if bps < 0 && l.recipient != testAccount {
			first = new(big.Int) // fees may not rise
		}
		l.curve.amounts = append([]*big.Int{first.Quo(first, big.NewInt(wholeBps))}, l.curve.amounts...)
	}
}

// liesAbout returns the tables that apply to an order's kind.
func liesAbout(o dutchOrder) map[string]orderLie {
	all := maps.Clone(orderLies)
	if o.kind == dutchV3 {
		maps.Copy(all, lieV3)
	}
	return all
}

// quoted makes a service lie about its order consistently: in what it asks to be signed, in
// the order's id and in its encoding.
func (c orderLie) quoted(t *testing.T, name string) error {
	o := recordedOrder(t, name+".quote.json").clone()
	c.lie(&o)
	reply := tree(t, name+".quote.json")
	consistent(t, reply, o)
	body := written(t, reply)
	p := serve(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(body) })
	offers, err := p.Quote(t.Context(), auctionRequest(name))
	if (err == nil) != (len(offers) == 1) {
		t.Errorf("%d offers, %v", len(offers), err)
	}
	return err
}

// signed offers the same order for signing from another source.
func (c orderLie) signed(t *testing.T, name string) error {
	good := recordedOrder(t, name+".quote.json")
	o := good.clone()
	c.lie(&o)
	terms, typed := auctionTerms(name, good), o.typed(auctionRequest(name).SrcChain)
	if !c.quotedOnly && c.want == "" && len(o.outputs) > 0 {
		terms.MinOut = o.outputs[0].end
	}
	f, err := sandboxProvider.Decode(terms, swap.Step{Kind: swap.TypedStep, TypedData: &typed})
	if err == nil {
		err = swap.Check(terms, []swap.Effect{f}, sandboxProvider.Pins())
	}
	return err
}

// recordedAuctions are the auctions that the lies are about.
var recordedAuctions = []string{"ethereum-auction", "base-auction"}

// TestOddOrders checks that unusual but harmless orders are accepted.
func TestOddOrders(t *testing.T) {
	for _, name := range recordedAuctions {
		for what, c := range liesAbout(recordedOrder(t, name+".quote.json")) {
			if c.want != "" {
				continue
			}
			t.Run(name+"/"+what, func(t *testing.T) {
				if err := c.quoted(t, name); err != nil {
					t.Errorf("quoted: %v", err)
				}
				if err := c.signed(t, name); err != nil {
					t.Errorf("to be signed: %v", err)
				}
			})
		}
	}
}

// A replyLie changes a reply. It is refused with a code, or is harmless.
type replyLie struct {
	change func(t *testing.T, reply map[string]any)
	want   swap.Code
}

// strangersOrder is the recorded order, paid to somebody else.
func strangersOrder(t testing.TB) dutchOrder {
	o := recordedOrder(t, "base-auction.quote.json").clone()
	o.outputs[0].recipient = testAttacker
	return o
}

// dataLies are typed data that are not Permit2's for an order, and orders that appear in
// one place only.
var dataLies = map[string]replyLie{
	"as recorded":        {func(*testing.T, map[string]any) {}, ""},
	"a chain as text":    {func(_ *testing.T, r map[string]any) { at(r, "permitData", "domain")["chainId"] = "8453" }, ""},
	"a deadline as text": {func(_ *testing.T, r map[string]any) { at(r, "permitData", "values")["deadline"] = "1800000000" }, ""},
	"another name":       {func(_ *testing.T, r map[string]any) { at(r, "permitData", "domain")["name"] = "UniswapX" }, swap.NotAsAccepted},
	"a version":          {func(_ *testing.T, r map[string]any) { at(r, "permitData", "domain")["version"] = "1" }, swap.ProviderInvalidResponse},
	"a salt":             {func(_ *testing.T, r map[string]any) { at(r, "permitData", "domain")["salt"] = "0x" }, swap.ProviderInvalidResponse},
	"another chain":      {func(_ *testing.T, r map[string]any) { at(r, "permitData", "domain")["chainId"] = 1 }, swap.NotAsAccepted},
	"another contract": {func(_ *testing.T, r map[string]any) {
		at(r, "permitData", "domain")["verifyingContract"] = base.reactor.Hex()
	}, swap.NotAsAccepted},
	"no domain":            {func(_ *testing.T, r map[string]any) { delete(at(r, "permitData"), "domain") }, swap.ProviderInvalidResponse},
	"no permit":            {func(_ *testing.T, r map[string]any) { r["permitData"] = nil }, swap.ProviderInvalidResponse},
	"another primary type": {func(_ *testing.T, r map[string]any) { at(r, "permitData")["primaryType"] = permitSingle }, swap.NotAsAccepted},
	"an additional type":   {func(_ *testing.T, r map[string]any) { at(r, "permitData", "types")["Mail"] = []any{} }, swap.NotAsAccepted},
	"a missing type":       {func(_ *testing.T, r map[string]any) { delete(at(r, "permitData", "types"), "OrderInfo") }, swap.NotAsAccepted},
	"the other kind's types": {func(t *testing.T, r map[string]any) {
		at(r, "permitData")["types"] = tree(t, "ethereum-auction.quote.json")["permitData"].(map[string]any)["types"]
	}, swap.NotAsAccepted},
	"members in another order": {func(_ *testing.T, r map[string]any) {
		list := at(r, "permitData", "types")["V3DutchOutput"].([]any)
		list[0], list[1] = list[1], list[0]
	}, swap.NotAsAccepted},
	"a permit of a router": {func(t *testing.T, r map[string]any) {
		r["permitData"] = tree(t, "base-usdc-weth.quote.json")["permitData"]
	}, swap.NotAsAccepted},
	"an unlimited permit around it": {func(_ *testing.T, r map[string]any) {
		at(r, "permitData", "values", "permitted")["amount"] = plus(new(big.Int).Lsh(big.NewInt(1), 256), -1).String()
	}, swap.NotAsAccepted},
	"a permit for somebody else": {func(_ *testing.T, r map[string]any) { at(r, "permitData", "values")["spender"] = testAttacker.Hex() }, swap.NotAsAccepted},
	"a permit of another token": {func(_ *testing.T, r map[string]any) {
		at(r, "permitData", "values", "permitted")["token"] = testDAI.Hex()
	}, swap.NotAsAccepted},
	"a permit for longer":       {func(_ *testing.T, r map[string]any) { at(r, "permitData", "values")["deadline"] = 1800000001 }, swap.NotAsAccepted},
	"a permit of another nonce": {func(_ *testing.T, r map[string]any) { at(r, "permitData", "values")["nonce"] = "1" }, swap.NotAsAccepted},
	"an additional value":       {func(_ *testing.T, r map[string]any) { at(r, "permitData", "values")["note"] = "" }, swap.ProviderInvalidResponse},
	"a missing value": {func(_ *testing.T, r map[string]any) {
		delete(at(r, "permitData", "values", "witness", "info"), "additionalValidationData")
	}, swap.ProviderInvalidResponse},
	"another order behind an honest one": {func(t *testing.T, r map[string]any) {
		at(r, "permitData")["values"] = strangersOrder(t).permit().message()
	}, swap.NotAsAccepted},
	"another order is encoded": {func(t *testing.T, r map[string]any) {
		at(r, "quote")["encodedOrder"] = common.Bytes2Hex(nil)
		at(r, "quote")["encodedOrder"] = "0x" + common.Bytes2Hex(encodeOrder(t, strangersOrder(t), nil, nil))
	}, swap.NotAsAccepted},
	"another order is named": {func(t *testing.T, r map[string]any) { at(r, "quote")["orderId"] = strangersOrder(t).hash().Hex() }, swap.NotAsAccepted},
	"no name":                {func(_ *testing.T, r map[string]any) { delete(at(r, "quote"), "orderId") }, swap.ProviderInvalidResponse},
	"no encoding":            {func(_ *testing.T, r map[string]any) { delete(at(r, "quote"), "encodedOrder") }, swap.ProviderInvalidResponse},
	"a transaction besides":  {func(_ *testing.T, r map[string]any) { r["permitTransaction"] = map[string]any{"to": permit2.Hex()} }, swap.NotAsAccepted},
	"the blocks of the input in every output": {func(t *testing.T, r map[string]any) { // as the vendor's SDK writes it
		o := recordedOrder(t, "base-auction.quote.json").clone()
		o.input.curve = &curve{blocks: new(big.Int)}
		consistent(t, r, o)
		wrong := o.clone()
		wrong.outputs[0].curve.blocks, wrong.outputs[1].curve.blocks = new(big.Int), new(big.Int)
		at(r, "quote")["encodedOrder"] = "0x" + common.Bytes2Hex(encodeOrder(t, wrong, nil, nil))
	}, swap.NotAsAccepted},
}

// read reads a recorded quote with the lie in it.
func (c replyLie) read(t *testing.T, name string, r swap.QuoteRequest) error {
	reply := tree(t, name+".quote.json")
	c.change(t, reply)
	_, err := sandboxProvider.readQuote(written(t, reply), r)
	return err
}

// TestOddData checks that differently written data are accepted.
func TestOddData(t *testing.T) {
	for name, c := range dataLies {
		if err := c.read(t, "base-auction", usdcRequest()); c.want == "" && err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestAuctionTyped checks that a stored order is accepted, and refused under other terms.
func TestAuctionTyped(t *testing.T) {
	o := recordedOrder(t, "base-auction.quote.json")
	terms := auctionTerms("base-auction", o)
	typed := o.typed(8453)
	raw := written(t, typed)
	if err := json.Unmarshal(raw, &typed); err != nil {
		t.Fatal(err)
	}
	stored := swap.Step{Kind: swap.TypedStep, TypedData: &typed}
	if _, err := sandboxProvider.Decode(terms, stored); err != nil {
		t.Fatalf("from storage: %v", err)
	}
	for name, change := range map[string]func(*swap.Terms){
		"an earlier consent": func(t *swap.Terms) { t.Deadline = t.Deadline.Add(-time.Second) },
		"less input":         func(t *swap.Terms) { t.AmountIn = plus(t.AmountIn, -1) },
		"another recipient":  func(t *swap.Terms) { t.Recipient = testFriend },
		"another account":    func(t *swap.Terms) { t.Account = testFriend },
		"another fee":        func(t *swap.Terms) { t.FeeBps = 20 },
		"no fee":             func(t *swap.Terms) { t.FeeBps, t.FeeReceiver = 0, nativeCoin },
		"another output":     func(t *swap.Terms) { t.TokenOut = nativeCoin },
		"native input":       func(t *swap.Terms) { t.TokenIn = nativeCoin },
		"wrapped first":      func(t *swap.Terms) { t.TokenIn, t.Wrap = nativeCoin, testUSDC },
		"another chain":      func(t *swap.Terms) { t.SrcChain, t.DstChain = 10, 10 },
		"another kind":       func(t *swap.Terms) { t.SrcChain, t.DstChain = 1, 1 },
	} {
		other := terms
		change(&other)
		if _, err := sandboxProvider.Decode(other, stored); codeOf(err) == "" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestAuctionBuild checks that the plan is one order to sign, which ends with the consent.
func TestAuctionBuild(t *testing.T) {
	body := fixture(t, "base-auction.quote.json")
	p := serve(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(body) })
	offers, err := p.Quote(t.Context(), usdcRequest())
	if err != nil {
		t.Fatal(err)
	}
	offer := offers[0]
	if !offer.Gasless || offer.Routing != "DUTCH_V3" || offer.Gas != 0 || offer.Wrap != nativeCoin || offer.Duration != 13*time.Second {
		t.Errorf("offer = %+v, want a gasless DUTCH_V3 with a wrap, 13 s", offer)
	}
	terms := auctionTerms("base-auction", recordedOrder(t, "base-auction.quote.json"))
	built, err := p.Build(t.Context(), offer, terms)
	if err != nil || built.Settlement != swap.ByProvider || built.Spender != permit2 || len(built.Steps) != 1 {
		t.Errorf("Build = %+v, %v, want one step settled by the provider", built, err)
	}
	for name, change := range map[string]func(*swap.Terms, *swap.Offer){
		"a higher minimum":   func(t *swap.Terms, _ *swap.Offer) { t.MinOut = plus(t.MinOut, 1) },
		"an earlier consent": func(t *swap.Terms, _ *swap.Offer) { t.Deadline = t.Deadline.Add(-time.Second) },
		"an expired offer":   func(_ *swap.Terms, o *swap.Offer) { o.Expires = testNow },
		"another minimum":    func(_ *swap.Terms, o *swap.Offer) { o.MinOut = plus(o.MinOut, -1) },
		"another routing":    func(_ *swap.Terms, o *swap.Offer) { o.Routing = classic },
		"other fees":         func(_ *swap.Terms, o *swap.Offer) { o.Fees = nil },
	} {
		other, changed := terms, offer
		change(&other, &changed)
		if _, err := p.Build(t.Context(), changed, other); codeOf(err) == "" {
			t.Errorf("%s: %v", name, err)
		}
	}
}
