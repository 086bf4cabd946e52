package intent

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"

	"swapkeep/chain"
	"swapkeep/providers/wire"
	"swapkeep/rest"
	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
)

// orderReply is an order in the provider's replies.
type orderReply struct {
	ID            string        `json:"id"`
	QuoteID       string        `json:"quoteId"`
	RouteID       string        `json:"routeId"`
	FromChainID   uint64        `json:"fromChainId"`
	FromToken     *wire.Address `json:"fromToken"`
	ToChainID     uint64        `json:"toChainId"`
	ToToken       *wire.Address `json:"toToken"`
	Status        string        `json:"status"`
	Author        *wire.Address `json:"author"`
	Recipient     *wire.Address `json:"recipient"`
	RefundTo      *wire.Address `json:"refundTo"`
	DepositTxHash *string       `json:"depositTxHash"`
	Transactions  struct {
		Fill   *namedTx `json:"fill"`
		Refund *namedTx `json:"refund"`
	} `json:"transactions"`
	Name string `json:"name"`
}

// namedTx is a transaction that the provider names.
type namedTx struct {
	TxHash  string `json:"txHash"`
	ChainID uint64 `json:"chainId"`
}

// findByDeposit finds an order by its deposit transaction (GET /v1/orders/{address}).
func (p *Provider) findByDeposit(ctx context.Context, o swap.Order, d depositRef) (orderReply, error) {
	reply, err := p.orders.Do(ctx, rest.Call{
		Method: http.MethodGet, Path: "/v1/orders/" + o.Terms.From().Hex(), Query: url.Values{"txHashSearch": {d.tx.Hex()}, "limit": {maxOrders}},
	})
	if err != nil {
		return orderReply{}, service.Refusal(err)
	}
	return readOrders(reply.Body, o, d)
}

// maxOrders is the largest page size of the API.
const maxOrders = "20"

// readOrders finds the order of a deposit in a list. An entry that names the deposit but
// differs from its order is a contradiction: its error is returned, not
// [swap.OrderUnknown].
func readOrders(raw []byte, o swap.Order, d depositRef) (orderReply, error) {
	var r struct {
		Data *[]json.RawMessage `json:"data"`
		Name string             `json:"name"`
	}
	if err := service.Read("orders", raw, &r); err != nil {
		return orderReply{}, garbage("orders", err)
	}
	switch {
	case r.Name != "":
		return orderReply{}, failure(r.Name)
	case r.Data == nil:
		return orderReply{}, refuse(swap.ProviderInvalidResponse, "data", "left out the list of orders")
	}
	var contradiction error
	for _, raw := range *r.Data {
		one, err := readOrder(raw, o, d)
		if err == nil {
			return one, nil
		}
		if one.ofDeposit(d) {
			contradiction = err
		}
	}
	if contradiction != nil {
		return orderReply{}, contradiction
	}
	return orderReply{}, refuse(swap.OrderUnknown, "txHash", "has no order for the deposit yet")
}

// statuses maps the provider's status words to states. Other words, including older ones,
// are not final: the deposit is mined.
var statuses = map[string]swap.State{
	"created":        swap.Settling,
	"deposited":      swap.Settling,
	"published":      swap.Settling,
	"filled":         swap.Filled,
	"refund_pending": swap.Settling,
	"refunded":       swap.Refunded,
	"failed":         swap.Failed,
}

// Status reports what the provider claims about an order.
func (p *Provider) Status(ctx context.Context, o swap.Order) (swap.Claim, error) {
	d, err := minedDeposit(o)
	if err != nil {
		return swap.Claim{}, err
	}
	r, err := p.queryOrder(ctx, o, d)
	if err != nil {
		return swap.Claim{}, err
	}
	c, err := r.claim()
	if o.ProviderOrderID == "" {
		c.ProviderOrderID = r.ID
	}
	return c, err
}

// queryOrder queries an order by its id, or by its deposit if it has no id or the provider does
// not find the id. Only the list shows for certain that an order is unknown: an id that is
// not found may not be indexed yet.
func (p *Provider) queryOrder(ctx context.Context, o swap.Order, d depositRef) (orderReply, error) {
	if o.ProviderOrderID == "" {
		return p.findByDeposit(ctx, o, d)
	}
	r, err := p.queryByID(ctx, o, d)
	unknown := &swap.Refusal{Code: swap.OrderUnknown}
	if !errors.Is(err, unknown) && !isStatus(err, http.StatusNotFound) {
		return r, err
	}
	found, missing := p.findByDeposit(ctx, o, d)
	if missing == nil || errors.Is(missing, unknown) || errors.Is(err, unknown) {
		return found, missing
	}
	return found, err
}

// queryByID queries an order by its id (GET /v1/orders/by-id/{orderId}).
func (p *Provider) queryByID(ctx context.Context, o swap.Order, d depositRef) (orderReply, error) {
	reply, err := p.orders.Do(ctx, rest.Call{Method: http.MethodGet, Path: "/v1/orders/by-id/" + url.PathEscape(o.ProviderOrderID)})
	if err != nil {
		return orderReply{}, service.Refusal(err)
	}
	r, err := readOrder(reply.Body, o, d)
	if err == nil && r.ID != o.ProviderOrderID {
		err = refuse(swap.ProviderInvalidResponse, "id", anotherOrder)
	}
	return r, err
}

// readOrder checks that a reply is about this order: a mismatch is an error and gives no
// status. Fields that the API may leave out are compared if present.
func readOrder(raw []byte, o swap.Order, d depositRef) (orderReply, error) {
	var r orderReply
	if err := service.Read("order", raw, &r); err != nil {
		return r, garbage("order", err)
	}
	if r.Name != "" {
		return r, failure(r.Name)
	}
	src, err := networkOf(o.Terms.SrcChain)
	if err != nil {
		return r, err
	}
	dst, err := destinationChainID(src, o.Terms.DstChain)
	if err != nil {
		return r, err
	}
	if !isID(r.ID) || r.Status == "" {
		return r, refuse(swap.ProviderInvalidResponse, "status", "left out the order's name or status")
	}
	orOurs := func(a *wire.Address, ours common.Address) bool { return a == nil || tokenOf(a.Address) == ours }
	for _, m := range []struct {
		field string
		same  bool
	}{
		{"quoteId", r.QuoteID == d.quoteID},
		{"routeId", r.RouteID == d.routeID},
		{"fromChainId", r.FromChainID == src.ProviderChainID},
		{"toChainId", r.ToChainID == dst},
		{"author", r.Author.Is(o.Terms.From())},
		{"recipient", orOurs(r.Recipient, o.Terms.Recipient)},
		{"refundTo", orOurs(r.RefundTo, o.Terms.RefundTo)},
		{"fromToken", orOurs(r.FromToken, o.Terms.TokenIn)},
		{"toToken", orOurs(r.ToToken, o.Terms.TokenOut)},
		{"depositTxHash", r.ofDeposit(d)},
	} {
		if !m.same {
			return r, refuse(swap.ProviderInvalidResponse, m.field, anotherOrder)
		}
	}
	return r, nil
}

const anotherOrder = "answered about another order than it was asked for"

// ofDeposit reports whether the order names the deposit d.
func (r orderReply) ofDeposit(d depositRef) bool {
	return r.DepositTxHash != nil && sameHash(*r.DepositTxHash, d.tx)
}

// nativePlaceholder is the other address that the API may use for the native coin, besides zero.
var nativePlaceholder = common.HexToAddress("0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE")

func tokenOf(a common.Address) common.Address {
	if a == nativePlaceholder {
		return chain.Native
	}
	return a
}

// claim converts the order to a claim. The transaction in it only says where to look first.
func (r orderReply) claim() (swap.Claim, error) {
	c := swap.Claim{State: swap.Settling, ProviderStatus: wire.Printable(r.Status)}
	if s, ok := statuses[r.Status]; ok {
		c.State = s
	}
	named := map[swap.State]*namedTx{swap.Filled: r.Transactions.Fill, swap.Refunded: r.Transactions.Refund, swap.Failed: r.Transactions.Refund}[c.State]
	if named != nil && named.TxHash != "" {
		tx, err := hexutil.Decode(named.TxHash)
		if err != nil || len(tx) != common.HashLength {
			return swap.Claim{}, refuse(swap.ProviderInvalidResponse, "txHash", "names a transaction that is none")
		}
		c.Tx, c.Chain = common.Hash(tx), named.ChainID
	}
	if c.State == swap.Failed {
		c.Reason = "the intent provider says that the order failed"
	}
	return c, nil
}

func sameHash(s string, h common.Hash) bool {
	b, err := hexutil.Decode(s)
	return err == nil && len(b) == common.HashLength && common.Hash(b) == h
}
