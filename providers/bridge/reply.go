package bridge

import (
	"encoding/json"
	"math/big"
	"net/url"
	"strings"

	"swapkeep/providers/wire"
	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
)

// quoteReply is the reply to POST /quote/v2. Fields that decide nothing are not read.
type quoteReply struct {
	RequestID *string `json:"requestId"`
	Steps     []step  `json:"steps"`
	Fees      struct {
		Relayer *cost `json:"relayer"`
		App     *cost `json:"app"`
	} `json:"fees"`
	Details  details `json:"details"`
	Protocol *struct {
		V2 *payment `json:"v2"`
	} `json:"protocol"`
}

type details struct {
	Operation      string        `json:"operation"`
	Sender         *wire.Address `json:"sender"`
	Recipient      *wire.Address `json:"recipient"`
	CurrencyIn     *amount       `json:"currencyIn"`
	CurrencyOut    *amount       `json:"currencyOut"`
	RefundCurrency *amount       `json:"refundCurrency"`
	GasTopup       *amount       `json:"currencyGasTopup"`
	TimeEstimate   *wire.Ratio   `json:"timeEstimate"`
	Slippage       *struct {
		Total *wire.Number `json:"total"`
	} `json:"slippageTolerance"`
}

type currency struct {
	ChainID *wire.Number  `json:"chainId"`
	Address *wire.Address `json:"address"`
}

func (c currency) is(chainID uint64, token common.Address) bool {
	return c.ChainID.IsID(chainID) && c.Address.Is(token)
}

func (c currency) present() bool { return c.ChainID != nil && c.Address != nil }

type amount struct {
	Currency currency     `json:"currency"`
	Amount   *wire.Amount `json:"amount"`
	Minimum  *wire.Amount `json:"minimumAmount"`
}

func (a *amount) present() bool { return a != nil && a.Currency.present() && a.Amount != nil }

// A cost is a fee as it is shown. It may be negative, where the API adds something.
type cost struct {
	Currency struct {
		ChainID json.RawMessage `json:"chainId"`
		Address string          `json:"address"`
	} `json:"currency"`
	Amount string `json:"amount"`
}

// positive reports whether a fee above zero is shown, in whatever token.
func (c *cost) positive() bool {
	return c != nil && strings.Trim(c.Amount, "0") != "" && !strings.HasPrefix(c.Amount, "-")
}

// in returns a fee in base units of a token: zero if it is in another one, or negative.
func (c *cost) in(chainID uint64, token common.Address) (*big.Int, error) {
	if c == nil {
		return new(big.Int), nil
	}
	a, err := wire.ParseAddress(c.Currency.Address)
	id := new(wire.Number)
	if err != nil || json.Unmarshal(c.Currency.ChainID, id) != nil || !id.IsID(chainID) || a != token {
		return new(big.Int), nil
	}
	n, ok := new(big.Int).SetString(c.Amount, 10)
	if len(c.Amount) > 79 || !ok || n.BitLen() > 256 {
		return nil, refuse(swap.ProviderInvalidResponse, "fees", "shows a fee that is no number")
	}
	if n.Sign() < 0 {
		n.SetInt64(0)
	}
	return n, nil
}

// A payment is the deposit that the bridge's protocol expects.
type payment struct {
	OrderID   *string         `json:"orderId"`
	Order     json.RawMessage `json:"orderData"`
	Signature *string         `json:"orderSignature"`
	Details   *struct {
		Chain      string        `json:"chainId"` // the protocol's name for it
		Depository *wire.Address `json:"depository"`
		Currency   *wire.Address `json:"currency"`
		Amount     *wire.Amount  `json:"amount"`
	} `json:"paymentDetails"`
}

// A step is something that the account must do.
type step struct {
	ID             string  `json:"id"`
	Kind           string  `json:"kind"`
	RequestID      *string `json:"requestId"`
	DepositAddress *string `json:"depositAddress"`
	Items          []item  `json:"items"`
}

type item struct {
	Status string          `json:"status"`
	Data   json.RawMessage `json:"data"`
	Check  *struct {
		Endpoint string `json:"endpoint"`
	} `json:"check"`
}

// A transaction is an item's data. The call is built from what is read here; the gas in it
// is an estimate at most.
type transaction struct {
	From     *wire.Address   `json:"from"`
	To       *wire.Address   `json:"to"`
	Data     *string         `json:"data"`
	Value    *wire.Amount    `json:"value"`
	ChainID  *wire.Number    `json:"chainId"`
	Gas      json.RawMessage `json:"gas"`
	calldata []byte
}

func decodeQuote(raw []byte) (quoteReply, error) {
	var q quoteReply
	if err := service.Read("quote", raw, &q); err != nil {
		return q, garbage("reply", err)
	}
	return q, nil
}

// id returns the request's id. Versions of the API have it in different places; all that
// are there must agree.
func (q quoteReply) id() (common.Hash, error) {
	given := []*string{q.RequestID}
	for _, s := range q.Steps {
		given = append(given, s.RequestID)
		for _, i := range s.Items {
			if i.Check == nil {
				continue
			}
			id, err := statusRequestID(i.Check.Endpoint)
			if err != nil {
				return common.Hash{}, err
			}
			given = append(given, id)
		}
	}
	var id common.Hash
	for _, s := range given {
		if s == nil {
			continue
		}
		h, err := parseHash(*s)
		switch {
		case err != nil || h == (common.Hash{}):
			return common.Hash{}, refuse(swap.ProviderInvalidResponse, "requestId", "has no usable name for the request")
		case id != (common.Hash{}) && h != id:
			return common.Hash{}, refuse(swap.NotAsAccepted, "requestId", "mixes two requests in one reply")
		}
		id = h
	}
	if id == (common.Hash{}) {
		return common.Hash{}, refuse(swap.ProviderInvalidResponse, "requestId", "left out the name of the request")
	}
	return id, nil
}

// statusRequestID returns the request that a status endpoint is about. Only the id is used.
func statusRequestID(endpoint string) (*string, error) {
	u, err := url.Parse(endpoint)
	if err != nil || !strings.HasPrefix(u.Path, "/intents/status") || u.Host != "" || !u.Query().Has("requestId") {
		return nil, refuse(swap.ProviderInvalidResponse, "check", "names no usable place to ask for the request's state")
	}
	id := u.Query().Get("requestId")
	return &id, nil
}

// parseHash parses 0x and 64 hex digits.
func parseHash(s string) (common.Hash, error) {
	b, err := hexutil.Decode(strings.ToLower(s))
	if err != nil || len(b) != common.HashLength {
		return common.Hash{}, refuse(swap.ProviderInvalidResponse, "hash", "names something that is no hash")
	}
	return common.Hash(b), nil
}

// echoes checks that the quote is for what was requested.
func (q quoteReply) echoes(r swap.QuoteRequest) error {
	d := q.Details
	in, out := d.CurrencyIn, d.CurrencyOut
	return service.CheckEchoes([]wire.Echo{
		{Field: "sender", Present: true, Matches: d.Sender == nil || d.Sender.Is(r.From())},
		{Field: "recipient", Present: d.Recipient != nil, Matches: d.Recipient.Is(r.Recipient)},
		{Field: "currencyIn", Present: in.present(), Matches: in.present() && in.Currency.is(r.SrcChain, r.TokenIn)},
		{Field: "amountIn", Present: true, Matches: in.present() && in.Amount.Is(r.AmountIn)},
		{Field: "currencyOut", Present: out.present() && out.Minimum != nil, Matches: out.present() && out.Currency.is(r.DstChain, r.TokenOut)},
		{Field: "slippageTolerance", Present: true, Matches: d.Slippage == nil || d.Slippage.Total == nil || d.Slippage.Total.IsID(uint64(r.SlippageBps))},
		{Field: "currencyGasTopup", Present: true, Matches: d.GasTopup == nil || d.GasTopup.Amount == nil || d.GasTopup.Amount.Sign() == 0},
	})
}

// minOut returns the quoted output and its minimum, which must follow from the slippage.
func (q quoteReply) minOut(slippageBps int) (out, minimum *big.Int, err error) {
	out, minimum = q.Details.CurrencyOut.Amount.Int, q.Details.CurrencyOut.Minimum.Int
	switch {
	case out.Sign() <= 0 || minimum.Sign() <= 0:
		err = refuse(swap.AmountTooSmall, "amountOut", "would pay nothing for so little; enter a larger amount")
	case minimum.Cmp(out) > 0 || minimum.Cmp(minAfterSlippage(out, slippageBps)) < 0:
		err = refuse(swap.NotAsAccepted, "minimumAmount", "has a minimum that does not follow from the amount and the slippage that was asked for")
	}
	return out, minimum, err
}

// appFee bounds the wallet's fee, where it is shown in the input token, by the rate that
// was asked for. Zero means that the API will not collect it.
func (q quoteReply) appFee(r swap.QuoteRequest) error {
	fee, err := q.Fees.App.in(r.SrcChain, r.TokenIn)
	if err != nil {
		return err
	}
	if maxFee := shareOf(r.AmountIn, r.FeeBps); fee.Cmp(maxFee) > 0 {
		return refuse(swap.NotAsAccepted, "appFees", "takes a fee of %s for the wallet, more than %d bps", fee, r.FeeBps)
	}
	return nil
}

// minAfterSlippage returns n less the slippage, rounded down as the API does.
func minAfterSlippage(n *big.Int, slippageBps int) *big.Int {
	f := new(big.Int).Mul(n, big.NewInt(int64(10_000-slippageBps)))
	return f.Div(f, big.NewInt(10_000))
}

// shareOf returns bps of n, rounded up.
func shareOf(n *big.Int, bps int) *big.Int {
	f := new(big.Int).Mul(n, big.NewInt(int64(bps)))
	return f.Div(f.Add(f, big.NewInt(9_999)), big.NewInt(10_000))
}
