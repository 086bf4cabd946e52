package dex

import (
	"context"
	"encoding/json"
	"math/big"
	"net/http"
	"slices"
	"strconv"
	"time"

	"swapkeep/chain"
	"swapkeep/rest"
	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common/hexutil"
)

const (
	// swapLife is the longest deadline asked for in the calldata.
	swapLife = 10 * time.Minute
	// maxGas is the most gas one transaction may have (EIP-7825).
	maxGas = 1 << 24
	// minGas is what any transaction costs.
	minGas = 21_000
	// maxCalldata is far above the longest route that is understood.
	maxCalldata = 32 << 10
)

// transaction is the swap object in the reply to POST /swap. Fee prices in it
// are left unread: we price our own transactions.
type transaction struct {
	To       *address  `json:"to"`
	From     *address  `json:"from"`
	Data     *string   `json:"data"`
	Value    *quantity `json:"value"`
	ChainID  *quantity `json:"chainId"`
	GasLimit *quantity `json:"gasLimit"`
}

// Build asks for the calldata of an offer and returns it as one call whose bytes
// were decoded and found to be within the terms. It may be repeated.
func (p *Provider) Build(ctx context.Context, o swap.Offer, t swap.Terms) (swap.Built, error) {
	now := p.now()
	deadline := now.Add(swapLife)
	if t.Deadline.Before(deadline) {
		deadline = t.Deadline
	}
	if !now.Before(o.Expires) || !now.Before(deadline) {
		return swap.Built{}, refuse(swap.QuoteExpired, "expires", "the quote has expired; get a new one")
	}
	if err := sameSwap(o, t); err != nil {
		return swap.Built{}, err
	}
	body, err := swapRequest(o, deadline)
	if err != nil {
		return swap.Built{}, err
	}
	reply, err := p.api.Do(ctx, rest.Call{Method: http.MethodPost, Path: "/swap", Body: body, Repeatable: true})
	if err != nil {
		return swap.Built{}, refusal(err)
	}
	call, err := readSwap(reply.Body, t)
	if err != nil {
		return swap.Built{}, err
	}
	step := swap.Step{Kind: swap.CallStep, Call: &call}
	effect, err := p.Decode(t, step)
	if err == nil {
		err = asQuoted(effect, o, now, deadline)
	}
	if err != nil {
		return swap.Built{}, err
	}
	return swap.Built{Steps: []swap.Step{step}, Settlement: swap.ByOwnCall}, nil
}

// asQuoted holds what the calldata does against the quote it was built from.
// The terms bound both; this keeps the offer that is shown from lying within them.
func asQuoted(f swap.Effect, o swap.Offer, now, deadline time.Time) error {
	least := new(big.Int)
	for _, r := range f.Receives {
		least.Add(least, r.Min)
	}
	switch {
	case !slices.EqualFunc(f.Pays, o.Fees, sameFee):
		return refuse(swap.NotAsAccepted, "fee", "the calldata pays other fees than the quote shows")
	case least.Cmp(o.MinOut) < 0:
		return refuse(swap.NotAsAccepted, "minAmountOut", "the calldata enforces %s, less than the quote's minimum %s", least, o.MinOut)
	case !f.Deadline.IsZero() && (f.Deadline.After(deadline) || !f.Deadline.After(now)):
		return refuse(swap.NotAsAccepted, "deadline", "the swap's deadline %s is not the one asked for", f.Deadline.UTC().Format(time.RFC3339))
	}
	return nil
}

// sameSwap checks that an offer, which may come from storage, is for the terms.
func sameSwap(o swap.Offer, t swap.Terms) error {
	r := o.Request
	list := []echo{
		{"provider", true, t.Provider == swap.DEX && o.Provider == swap.DEX},
		{"account", true, r.Account == t.Account},
		{"srcChainId", true, r.SrcChain == t.SrcChain && r.DstChain == t.DstChain},
		{"tokenIn", true, r.TokenIn == t.TokenIn},
		{"tokenOut", true, r.TokenOut == t.TokenOut},
		{"amountIn", r.AmountIn != nil && t.AmountIn != nil, t.AmountIn != nil && r.AmountIn != nil && r.AmountIn.Cmp(t.AmountIn) == 0},
		{"recipient", true, r.Recipient == t.Recipient},
		{"feeBps", true, r.FeeBps == t.FeeBps && r.FeeReceiver == t.FeeReceiver},
	}
	for _, c := range list {
		if !c.there || !c.same {
			return refuse(swap.NotAsAccepted, c.field, "the offer is for another %s than the terms", c.field)
		}
	}
	again, err := readQuote(o.Raw, r)
	switch {
	case err != nil:
		return err
	case again.Routing != o.Routing || o.MinOut == nil || again.MinOut.Cmp(o.MinOut) != 0:
		return refuse(swap.NotAsAccepted, "minAmountOut", "the offer is not what its quote says")
	case t.FloorOut == nil || again.MinOut.Cmp(t.FloorOut) < 0:
		return refuse(swap.NotAsAccepted, "floorOut", "the quote's minimum %s is below the accepted floor %v", again.MinOut, t.FloorOut)
	}
	return nil
}

// swapRequest writes the body of POST /swap. The quote is put in as it came:
// encoding it again would change its bytes. No permit: permitData and signature
// are both left out.
func swapRequest(o swap.Offer, deadline time.Time) ([]byte, error) {
	e, _, err := decodeQuote(o.Raw)
	if err != nil {
		return nil, err
	}
	body := append([]byte(`{"quote":`), e.Quote...)
	body = append(body, `,"refreshGasPrice":true,"simulateTransaction":false,"safetyMode":"SAFE","urgency":"normal","deadline":`...)
	body = strconv.AppendInt(body, deadline.Unix(), 10)
	return append(body, '}'), nil
}

// sameFee leaves the token out: a fee on native output is paid in its wrapped form.
func sameFee(a, b swap.Payment) bool { return a.To == b.To && a.Bps == b.Bps }

// readSwap turns a reply to /swap into a call from the account on the chain of
// the terms. What its bytes do is Decode's to say.
func readSwap(raw []byte, t swap.Terms) (chain.Call, error) {
	var reply struct {
		Swap *transaction `json:"swap"`
	}
	if err := json.Unmarshal(raw, &reply); err != nil {
		return chain.Call{}, garbage("reply", err)
	}
	if reply.Swap == nil {
		return chain.Call{}, refuse(swap.ProviderGarbage, "swap", "the dex provider's reply has no transaction")
	}
	tx := *reply.Swap
	err := checkEchoes([]echo{
		{"to", tx.To != nil, true},
		{"data", tx.Data != nil, true},
		{"value", tx.Value != nil, true},
		{"from", tx.From != nil, tx.From.is(t.Account)},
		{"chainId", tx.ChainID != nil, tx.ChainID.is(t.SrcChain)},
	})
	if err != nil {
		return chain.Call{}, err
	}
	data, err := hexutil.Decode(*tx.Data)
	if err != nil {
		return chain.Call{}, garbage("data", err)
	}
	if len(data) > maxCalldata {
		return chain.Call{}, refuse(swap.NotUnderstood, "data", "the calldata has %d bytes, more than any swap needs", len(data))
	}
	gas, err := gasLimit(tx.GasLimit)
	return chain.Call{ChainID: t.SrcChain, From: t.Account, To: tx.To.Address, Value: new(big.Int).Set(tx.Value.Int), Data: data, Gas: gas}, err
}

// gasLimit adds a quarter to the provider's limit, which can be tight. Without
// one our own node estimates.
func gasLimit(q *quantity) (uint64, error) {
	if q == nil {
		return 0, nil
	}
	if !q.IsUint64() || q.Uint64() < minGas || q.Uint64() > maxGas {
		return 0, refuse(swap.ProviderGarbage, "gasLimit", "the dex provider's gas limit %s is out of bounds", q)
	}
	return min(q.Uint64()*5/4, maxGas), nil
}
