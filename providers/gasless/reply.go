package gasless

import (
	"encoding/json"
	"math/big"
	"slices"
	"strings"

	"swapkeep/providers/wire"
	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common"
)

// API values that decide something.
const (
	approvalType = "Standard" // a plain ERC-20 allowance
	oneToOne     = "121"      // one token for one token
)

// quoteReply is the reply to GET /quote. Fields that decide nothing are ignored.
type quoteReply struct {
	Type               string                  `json:"type"`
	Status             string                  `json:"status"`
	QuoteID            string                  `json:"quoteId"`
	ChainID            *wire.Number            `json:"chainId"`
	ApprovalType       string                  `json:"approvalType"`
	Taker              *wire.Address           `json:"taker"`
	Receiver           *wire.Address           `json:"receiver"`
	Expiry             *wire.Number            `json:"expiry"`
	BuyTokens          map[string]bought       `json:"buyTokens"`
	SellTokens         map[string]sold         `json:"sellTokens"`
	SettlementAddress  *wire.Address           `json:"settlementAddress"`
	ApprovalTarget     *wire.Address           `json:"approvalTarget"`
	RequiredSignatures []json.RawMessage       `json:"requiredSignatures"`
	PartnerFee         map[string]*wire.Amount `json:"partnerFee"`
	ProtocolFee        map[string]*wire.Amount `json:"protocolFee"`
	Tx                 json.RawMessage         `json:"tx"`
	ToSign             json.RawMessage         `json:"toSign"`
	OnchainOrderType   string                  `json:"onchainOrderType"` // RFQ only
	HooksHash          *string                 `json:"hooksHash"`        // JAM only
	Solver             string                  `json:"solver"`           // JAM only
	Makers             []string                `json:"makers"`           // RFQ only
}

// bought is the output of one token, after fees.
type bought struct {
	Amount        *wire.Amount `json:"amount"`
	MinimumAmount *wire.Amount `json:"minimumAmount"`
}

// sold is the input of one token.
type sold struct {
	Amount *wire.Amount `json:"amount"`
}

// decode parses a reply to the endpoint name, or the error that the API sends with status
// 200.
func decode(name string, raw []byte, to any) error {
	var e struct {
		Error json.RawMessage `json:"error"`
	}
	if err := json.Unmarshal(raw, &e); err != nil {
		return garbage("reply", err)
	}
	if !wire.IsNull(e.Error) {
		return failed(e.Error)
	}
	if err := service.Read(name, raw, to); err != nil {
		return garbage("reply", err)
	}
	return nil
}

func garbage(field string, err error) error {
	r := refuse(swap.ProviderInvalidResponse, field, "sent an invalid response: %v", err)
	r.Err = err
	return r
}

func decodeQuote(raw []byte) (quoteReply, error) {
	var q quoteReply
	if err := decode("quote", raw, &q); err != nil {
		return q, err
	}
	if wire.IsNull(q.ToSign) {
		return q, refuse(swap.ProviderInvalidResponse, "toSign", "left out the order in its reply")
	}
	if !isID(q.QuoteID) {
		return q, refuse(swap.ProviderInvalidResponse, "quoteId", "has no usable name for its quote")
	}
	return q, nil
}

// maxID bounds the length of the provider's ids: a UUID, or a type and 39 digits.
const maxID = 80

// isID accepts only letters, digits, hyphens and underscores, since ids go into queries.
func isID(s string) bool {
	return s != "" && len(s) <= maxID && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_") == ""
}

// checkEchoes checks that the quote is for the request, and that the contracts to approve and to
// sign for are the built-in ones.
func (q quoteReply) checkEchoes(d expectedOrder, r swap.QuoteRequest) error {
	if q.SettlementAddress.Is(bebopRouter) || q.ApprovalTarget.Is(bebopRouter) {
		return refuse(swap.NoMinimum, "settlementAddress", "settles this pair by its router, whose orders hold no minimum; choose another provider or amount")
	}
	buy, sell := q.outputEntry(d), q.inputEntry(d)
	err := service.CheckEchoes([]wire.Echo{
		{Field: "type", Present: q.Type != "", Matches: q.Type == oneToOne},
		{Field: "chainId", Present: q.ChainID != nil, Matches: q.ChainID.IsID(r.SrcChain)},
		{Field: "approvalType", Present: q.ApprovalType != "", Matches: q.ApprovalType == approvalType},
		{Field: "taker", Present: q.Taker != nil, Matches: q.Taker.Is(d.taker)},
		{Field: "receiver", Present: q.Receiver != nil, Matches: q.Receiver.Is(d.receiver)},
		{Field: "expiry", Present: q.Expiry != nil, Matches: true},
		{Field: "requiredSignatures", Present: true, Matches: len(q.RequiredSignatures) == 0},
		{Field: "tx", Present: true, Matches: wire.IsNull(q.Tx)},
		{Field: "sellTokens", Present: len(q.SellTokens) > 0, Matches: len(q.SellTokens) == 1 && sell.Amount.Is(d.amountIn)},
		{Field: "buyTokens", Present: len(q.BuyTokens) > 0, Matches: len(q.BuyTokens) == 1 && buy.Amount != nil && buy.Amount.Sign() > 0},
		{Field: "hooksHash", Present: true, Matches: q.HooksHash == nil || *q.HooksHash == noHooks},
		{Field: "onchainOrderType", Present: true, Matches: q.OnchainOrderType == "" || q.OnchainOrderType == d.primaryType},
	})
	switch {
	case err != nil:
		return err
	case q.Status != d.successStatus:
		return refuse(swap.ProviderRefused, "status", "gave no quote but the word %q", wire.Printable(q.Status))
	case q.SettlementAddress == nil || q.ApprovalTarget == nil:
		return refuse(swap.ProviderInvalidResponse, "settlementAddress", "left out its contracts in its reply")
	case !q.SettlementAddress.Is(d.settlement):
		return refuse(swap.NotPinned, "settlementAddress", "would settle at %s, which is not its built-in contract on chain %d", q.SettlementAddress, d.chain)
	case !q.ApprovalTarget.Is(d.spender):
		return refuse(swap.NotPinned, "approvalTarget", "wants %s allowed, which is not its built-in spender on chain %d", q.ApprovalTarget, d.chain)
	}
	return nil
}

// outputEntry is the reply's entry for the output token.
func (q quoteReply) outputEntry(d expectedOrder) bought {
	b, _ := ofToken(q.BuyTokens, d.buyToken())
	return b
}

// inputEntry is the reply's entry for the input token.
func (q quoteReply) inputEntry(d expectedOrder) sold {
	s, _ := ofToken(q.SellTokens, d.sellToken)
	return s
}

// ofToken finds a token's entry in a map keyed by address.
func ofToken[T any](m map[string]T, token common.Address) (T, bool) {
	for k, v := range m {
		if a, err := wire.ParseAddress(k); err == nil && a == token {
			return v, true
		}
	}
	var none T
	return none, false
}

// checkFees checks the fee amounts that the reply shows against the agreed rates. JAM takes its
// fees in the order; RFQ includes them in the price.
func (q quoteReply) checkFees(d expectedOrder, out *big.Int) error {
	for _, f := range []struct {
		field string
		of    map[string]*wire.Amount
		bps   int
	}{{"partnerFee", q.PartnerFee, d.feeBps}, {"protocolFee", q.ProtocolFee, d.makerBps}} {
		for token, n := range f.of {
			a, err := wire.ParseAddress(token)
			switch {
			case err != nil || n == nil:
				return refuse(swap.ProviderInvalidResponse, f.field, "shows a fee that cannot be read")
			case a != d.buyToken():
				return refuse(swap.NotAsAccepted, f.field, "takes a fee in %s", a)
			case n.Cmp(maxFee(out, n.Int, f.bps)) > 0:
				return refuse(swap.NotAsAccepted, f.field, "takes a fee of %s, more than %d bps", n, f.bps)
			}
		}
	}
	return nil
}

// maxFee is the largest fee that a rate allows on the output before the fee, rounded up.
func maxFee(net, fee *big.Int, bps int) *big.Int {
	f := new(big.Int).Add(net, fee)
	f.Mul(f, big.NewInt(int64(bps)))
	return f.Div(f.Add(f, big.NewInt(9_999)), big.NewInt(10_000))
}

// settlerNames names who would settle, in the provider's words.
func (q quoteReply) settlerNames() []string {
	if q.Solver != "" {
		return []string{q.Solver}
	}
	return slices.Clone(q.Makers)
}
