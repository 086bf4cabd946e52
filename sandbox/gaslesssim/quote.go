package gaslesssim

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"math/big"
	"strconv"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/google/uuid"

	"swapkeep/sandbox/eip55"
	"swapkeep/sandbox/network"
)

// A quote is an issued quote. It is immutable except for taken and order, which are
// guarded by the server's mutex.
type quote struct {
	quoteParams
	id         string
	protocol   *protocol
	market     *market
	deployment deployment

	sellToken, buyToken network.Token
	gross               *big.Int // paid by the payer
	net                 *big.Int // quoted amount for the receiver
	minAmount           *big.Int // minimum amount for the receiver
	fee, protocolFee    *big.Int // parts of gross
	protocolFeeBps      int64
	gasMicroUSD         int64
	eventID             *big.Int // RFQ: the number in the quote's id
	nonce               *big.Int
	expiry              int64
	payer               common.Address
	signatures          []eip55.Address // tokens that need a Permit2 signature

	taken bool // by an order
	order *order
}

// quoteReply holds the members of both protocols' responses.
type quoteReply struct {
	RequestID          string                      `json:"requestId"`
	Type               string                      `json:"type"`
	Status             string                      `json:"status"`
	QuoteID            string                      `json:"quoteId"`
	ChainID            uint64                      `json:"chainId"`
	ApprovalType       string                      `json:"approvalType"`
	NativeToken        string                      `json:"nativeToken"`
	Taker              eip55.Address               `json:"taker"`
	Receiver           eip55.Address               `json:"receiver"`
	Expiry             int64                       `json:"expiry"`
	Slippage           json.Number                 `json:"slippage"`
	GasFee             gasFee                      `json:"gasFee"`
	BuyTokens          map[eip55.Address]buyToken  `json:"buyTokens"`
	SellTokens         map[eip55.Address]sellToken `json:"sellTokens"`
	SettlementAddress  eip55.Address               `json:"settlementAddress"`
	ApprovalTarget     eip55.Address               `json:"approvalTarget"`
	RequiredSignatures []eip55.Address             `json:"requiredSignatures"`
	PriceImpact        float64                     `json:"priceImpact"`
	PartnerFee         map[eip55.Address]string    `json:"partnerFee,omitempty"`
	ProtocolFee        map[eip55.Address]string    `json:"protocolFee,omitempty"`
	Warnings           []warning                   `json:"warnings"`
	ToSign             any                         `json:"toSign"`
}

type gasFee struct {
	Native string  `json:"native"`
	USD    float64 `json:"usd"`
}

type buyToken struct {
	Amount            string  `json:"amount"`
	Decimals          uint8   `json:"decimals"`
	Symbol            string  `json:"symbol"`
	PriceUSD          float64 `json:"priceUsd"`
	MinimumAmount     string  `json:"minimumAmount"`
	Price             float64 `json:"price"`
	PriceBeforeFee    float64 `json:"priceBeforeFee"`
	AmountBeforeFee   string  `json:"amountBeforeFee"`
	DeltaFromExpected float64 `json:"deltaFromExpected"`
}

type sellToken struct {
	Amount         string  `json:"amount"`
	Decimals       uint8   `json:"decimals"`
	Symbol         string  `json:"symbol"`
	PriceUSD       float64 `json:"priceUsd"`
	Price          float64 `json:"price"`
	PriceBeforeFee float64 `json:"priceBeforeFee"`
}

type warning struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

// quote answers GET quote.
func (s *Server) quote(ctx context.Context, r *request) (any, error) {
	a, err := parseQuote(r.protocol, r.URL.Query())
	if err != nil {
		return nil, err
	}
	settings := s.Settings()
	b := *r.protocol.behaviour(&settings)
	if b.NoQuote != 0 {
		return nil, failure{b.NoQuote, "as the sandbox was told"}
	}
	demo := settings.APIKey != "" && key(r.Request) == ""
	q, err := s.offer(ctx, r, a, b, demo)
	if err != nil {
		return nil, err
	}
	reply, err := r.protocol.reply(s, q, q.reply())
	if err != nil {
		return nil, err
	}
	s.storeQuote(q)
	return reply, nil
}

// offer makes a quote.
func (s *Server) offer(ctx context.Context, r *request, a quoteParams, b Behaviour, demo bool) (*quote, error) {
	p, m := r.protocol, r.market
	q := &quote{quoteParams: a, protocol: p, market: m, deployment: p.deployment(m.Gasless()), payer: p.payer(s).Address, gasMicroUSD: b.GasMicroUSD}
	if a.approval == "Permit2" {
		q.deployment.spender = m.Contracts.Permit2
	}
	var sold, bought bool
	q.sellToken, sold = m.token(a.sell)
	q.buyToken, bought = m.token(a.buy)
	if !sold || !bought {
		return nil, failure{p.onToken, "token not supported"}
	}
	if err := q.price(m.exchange(q.sellToken, q.buyToken, b, demo), b.ProtocolFeeBps); err != nil {
		return nil, err
	}
	if err := q.checkPayer(ctx, b.SurplusBps); err != nil {
		return nil, err
	}
	if err := q.validate(ctx); err != nil {
		return nil, err
	}
	if err := q.askPermit(ctx); err != nil {
		return nil, err
	}
	return q, q.identify(ctx, b)
}

// price sets the amounts.
func (q *quote) price(x exchange, protocolFeeBps int64) error {
	if x.bps == 0 {
		return failure{q.protocol.onLiquidity, "no price"}
	}
	feeBps := q.feeBps + protocolFeeBps
	if q.sellAmount == nil {
		gross := ceil(new(big.Int).Mul(q.buyAmount, big.NewInt(allBps)), big.NewInt(allBps-feeBps))
		q.sellAmount = x.costs(gross)
	}
	worth := new(big.Int).Mul(q.sellAmount, big.NewInt(q.sellToken.MicroUSD))
	if worth.Div(worth, power(q.sellToken.Decimals)).Cmp(big.NewInt(q.protocol.minUSD)) < 0 {
		return failure{104, "the amount is below the smallest trade"}
	}
	q.gross = x.pays(q.sellAmount)
	if q.gross.Sign() <= 0 {
		return failure{106, "gas costs more than the amount is worth"}
	}
	q.fee, q.protocolFee, q.protocolFeeBps = part(q.gross, q.feeBps), part(q.gross, protocolFeeBps), protocolFeeBps
	q.net = new(big.Int).Sub(q.gross, q.fee)
	q.net.Sub(q.net, q.protocolFee)
	q.minAmount = q.net
	if q.protocol.firm {
		// The maker keeps the fee and pays the partner elsewhere.
		q.gross = q.net
	} else {
		q.minAmount = part(q.net, allBps-q.slippageBps)
	}
	if q.minAmount.Sign() <= 0 {
		return failure{106, "nothing is left of the amount"}
	}
	return nil
}

// checkPayer checks that the payer can pay.
func (q *quote) checkPayer(ctx context.Context, surplusBps int64) error {
	balance, err := q.market.balance(ctx, q.payer, q.payerToken())
	if err != nil {
		return err
	}
	if balance.Cmp(part(q.gross, allBps+max(surplusBps, 0))) < 0 {
		return failure{q.protocol.onLiquidity, "nobody offers so much"}
	}
	return nil
}

// payerToken returns the token that the payer gives. RFQ makers hold the native coin in
// wrapped form.
func (q *quote) payerToken() common.Address {
	if q.protocol.firm {
		return q.buyToken.Address
	}
	return q.buy
}

var (
	errTakerBalance  = failure{204, "the taker has too little of the token"}
	errTakerApproval = failure{205, "the taker has not approved enough"}
	errMakerBalance  = failure{206, "the maker has too little of the token"}
	errMakerApproval = failure{207, "the maker has not approved enough"}
)

// validate checks that the taker can pay now, unless only a price is wanted.
func (q *quote) validate(ctx context.Context) error {
	if q.skipValidation || q.taker == indicative {
		return nil
	}
	return q.market.checkFunds(ctx, q.taker, q.sell, q.deployment.spender, q.sellAmount, errTakerBalance, errTakerApproval)
}

// identify sets the quote's id, nonce and expiry.
func (q *quote) identify(ctx context.Context, b Behaviour) error {
	now, err := q.market.Now(ctx)
	if err != nil {
		return err
	}
	q.expiry = now.Add(time.Duration(b.ValiditySeconds) * time.Second).Unix()
	if q.eventID, err = number128(); err != nil {
		return err
	}
	if q.nonce, err = number128(); err != nil {
		return err
	}
	q.id = "121-" + q.eventID.String()
	if !q.protocol.firm {
		q.id = uuid.NewString()
	}
	return nil
}

// askPermit sets the tokens that need a Permit2 signature, which RFQ takes besides the
// order's. JAM needs only one signature for both.
func (q *quote) askPermit(ctx context.Context) error {
	if q.approval != "Permit2" || !q.firm() {
		return nil
	}
	allowed, err := q.market.read(ctx, q.market.Contracts.Permit2, q.market.abis.permit2, "allowance", q.taker, q.sell, q.deployment.settlement)
	if err != nil {
		return err
	}
	now, err := q.market.Now(ctx)
	if err != nil {
		return err
	}
	amount, expiration := allowed[0].(*big.Int), allowed[1].(*big.Int)
	if amount.Cmp(q.sellAmount) < 0 || expiration.Cmp(big.NewInt(now.Unix())) <= 0 {
		q.signatures = []eip55.Address{eip55.Address(q.sell)}
	}
	return nil
}

// number128 returns a random non-zero 128-bit number.
func number128() (*big.Int, error) {
	n, err := rand.Int(rand.Reader, new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 128), big.NewInt(1)))
	if err != nil {
		return nil, err
	}
	return n.Add(n, big.NewInt(1)), nil
}

func (q *quote) reply() quoteReply {
	buy, sell := eip55.Address(q.buy), eip55.Address(q.sell)
	sold, net, gross := whole(q.sellAmount, q.sellToken), whole(q.net, q.buyToken), whole(q.beforeFee(), q.buyToken)
	r := quoteReply{
		RequestID: uuid.NewString(), Type: "121", QuoteID: q.id, ChainID: q.market.ID, ApprovalType: q.approval,
		NativeToken: q.market.Native, Taker: eip55.Address(q.taker), Receiver: eip55.Address(q.receiver), Expiry: q.expiry,
		Slippage: json.Number(strconv.FormatFloat(float64(q.slippageBps)/100, 'f', -1, 64)),
		GasFee:   q.gasFee(),
		BuyTokens: map[eip55.Address]buyToken{buy: {
			Amount: q.net.String(), Decimals: q.buyToken.Decimals, Symbol: q.symbol(), PriceUSD: usd(q.buyToken.MicroUSD),
			MinimumAmount: q.minAmount.String(), Price: sold / net, PriceBeforeFee: sold / gross, AmountBeforeFee: q.beforeFee().String(),
		}},
		SellTokens: map[eip55.Address]sellToken{sell: {
			Amount: q.sellAmount.String(), Decimals: q.sellToken.Decimals, Symbol: q.sellToken.Symbol, PriceUSD: usd(q.sellToken.MicroUSD),
			Price: net / sold, PriceBeforeFee: gross / sold,
		}},
		SettlementAddress: eip55.Address(q.deployment.settlement), ApprovalTarget: eip55.Address(q.deployment.spender),
		RequiredSignatures: []eip55.Address{}, Warnings: []warning{},
		ToSign: q.protocol.toSign(q),
	}
	if q.firm() {
		r.Slippage = "0"
	}
	if q.feeBps > 0 {
		r.PartnerFee = map[eip55.Address]string{buy: q.fee.String()}
	}
	if q.protocolFeeBps > 0 {
		r.ProtocolFee = map[eip55.Address]string{buy: q.protocolFee.String()}
	}
	if q.signatures != nil {
		r.RequiredSignatures = q.signatures
	}
	return r
}

func (q *quote) firm() bool { return q.protocol.firm }

// beforeFee returns what the receiver would get without fees.
func (q *quote) beforeFee() *big.Int {
	n := new(big.Int).Add(q.net, q.fee)
	return n.Add(n, q.protocolFee)
}

func (q *quote) gasFee() gasFee {
	wei := new(big.Int).Mul(big.NewInt(q.gasMicroUSD), power(18))
	return gasFee{wei.Div(wei, big.NewInt(q.market.Wrapped.MicroUSD)).String(), usd(q.gasMicroUSD)}
}

func (q *quote) symbol() string {
	if q.buy == native {
		return q.market.Native
	}
	return q.buyToken.Symbol
}

func usd(micro int64) float64 { return float64(micro) / 1e6 }
