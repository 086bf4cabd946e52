package dexsim

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/google/uuid"

	"swapkeep/sandbox/eip55"
)

// maxRequestedOrders limits the orders in a request to GET /orders and in its response.
const maxRequestedOrders = 50

// orderFilters are the parameters of GET /orders: whether a value is valid, and which
// orders it keeps. Sorting and paging are not simulated.
var orderFilters = map[string]struct {
	valid func(value string) bool
	keeps func(o orderEntry, value string) bool
}{
	"orderId":     {isHash, func(o orderEntry, v string) bool { return o.OrderID == common.HexToHash(v) }},
	"orderIds":    {isHashes, func(o orderEntry, v string) bool { return slices.Contains(hashes(v), o.OrderID) }},
	"orderType":   {isOrderType, func(o orderEntry, v string) bool { return o.Type == v }},
	"orderStatus": {func(v string) bool { return slices.Contains(statuses, v) }, func(o orderEntry, v string) bool { return o.OrderStatus == v }},
	"swapper":     {address.MatchString, func(o orderEntry, v string) bool { return common.Address(o.Swapper) == common.HexToAddress(v) }},
	"limit":       {isLimit, func(orderEntry, string) bool { return true }},
}

func isHash(v string) bool {
	var h common.Hash
	return h.UnmarshalText([]byte(v)) == nil
}

func isHashes(v string) bool {
	list := strings.Split(v, ",")
	return len(list) <= maxRequestedOrders && !slices.ContainsFunc(list, func(h string) bool { return !isHash(h) })
}

func hashes(v string) []common.Hash {
	var all []common.Hash
	for _, h := range strings.Split(v, ",") {
		all = append(all, common.HexToHash(h))
	}
	return all
}

func isOrderType(v string) bool {
	return slices.Contains([]string{"Dutch", "Dutch_V2", "Dutch_V3", "Limit", "Priority"}, v)
}

func isLimit(v string) bool {
	n, err := strconv.Atoi(v)
	return err == nil && n >= 1 && n <= maxRequestedOrders
}

func checkOrders(_ []byte, r *http.Request) error {
	q := r.URL.Query()
	if len(q) == 0 {
		return invalid(`"value" must contain at least one of [orderId, orderIds, orderStatus, swapper]`)
	}
	for name := range q {
		filter, known := orderFilters[name]
		if !known {
			return invalid(fmt.Sprintf("%q is not allowed", name))
		}
		if !filter.valid(q.Get(name)) {
			return invalid(fmt.Sprintf("%q is not valid", name))
		}
	}
	return nil
}

type ordersReply struct {
	RequestID string       `json:"requestId"`
	Orders    []orderEntry `json:"orders"`
}

// orderEntry is an order as GET /orders shows it.
type orderEntry struct {
	Type           string          `json:"type"`
	OrderStatus    string          `json:"orderStatus"`
	Signature      hexutil.Bytes   `json:"signature"`
	EncodedOrder   hexutil.Bytes   `json:"encodedOrder"`
	ChainID        uint64          `json:"chainId"`
	Nonce          string          `json:"nonce"`
	OrderID        common.Hash     `json:"orderId"`
	Swapper        eip55.Address   `json:"swapper"`
	Input          any             `json:"input"`
	Outputs        any             `json:"outputs"`
	CosignerData   any             `json:"cosignerData"`
	Cosignature    hexutil.Bytes   `json:"cosignature"`
	QuoteID        string          `json:"quoteId"`
	CreatedAt      int64           `json:"createdAt"`
	TxHash         *common.Hash    `json:"txHash,omitempty"`
	SettledAmounts []settledAmount `json:"settledAmounts,omitempty"`
}

type settledAmount struct {
	TokenOut  eip55.Address `json:"tokenOut"`
	AmountOut string        `json:"amountOut"`
	TokenIn   eip55.Address `json:"tokenIn"`
	AmountIn  string        `json:"amountIn"`
}

// v2Shown and v3Shown are the cosigner data as orders show it. V2's lacks the
// exclusivity.
type v2Shown struct {
	DecayStartTime  int64         `json:"decayStartTime"`
	DecayEndTime    int64         `json:"decayEndTime"`
	ExclusiveFiller eip55.Address `json:"exclusiveFiller"`
	InputOverride   string        `json:"inputOverride"`
	OutputOverrides []string      `json:"outputOverrides"`
}

type v3Shown struct {
	DecayStartBlock        int64         `json:"decayStartBlock"`
	ExclusiveFiller        eip55.Address `json:"exclusiveFiller"`
	ExclusivityOverrideBps int64         `json:"exclusivityOverrideBps"`
	InputOverride          string        `json:"inputOverride"`
	OutputOverrides        []string      `json:"outputOverrides"`
}

func (o *order) cosignerShown() any {
	d := o.data
	outputs := make([]string, len(d.outputs))
	for i, out := range d.outputs {
		outputs[i] = out.String()
	}
	if o.kind == v3Kind {
		return v3Shown{d.start.Int64(), eip55.Address(d.filler), d.exclusivity.Int64(), d.input.String(), outputs}
	}
	return v2Shown{d.start.Int64(), d.end.Int64(), eip55.Address(d.filler), d.input.String(), outputs}
}

// entry returns the order's entry with the given status.
func (o *order) entry(status orderStatus) orderEntry {
	info := o.terms.common()
	in, outs := o.terms.shown().legs()
	e := orderEntry{
		Type: o.kind.orderType, OrderStatus: status.status, Signature: o.signature, EncodedOrder: o.encoded, ChainID: o.market.ID,
		Nonce: info.Nonce.String(), OrderID: o.id, Swapper: eip55.Address(info.Swapper), Input: in, Outputs: outs,
		CosignerData: o.cosignerShown(), Cosignature: o.cosignature, QuoteID: o.quoteID, CreatedAt: o.created,
	}
	if status.tx != (common.Hash{}) {
		token, _ := o.terms.maxInput()
		first := o.terms.outputs()[0]
		e.TxHash = &status.tx
		e.SettledAmounts = []settledAmount{{eip55.Address(first.token), status.outs[0].String(), eip55.Address(token), status.in.String()}}
	}
	return e
}

// requestedOrders answers GET /orders, newest first.
func (s *Server) requestedOrders(ctx context.Context, _ []byte, r *http.Request) (any, error) {
	q := r.URL.Query()
	reply := &ordersReply{RequestID: uuid.NewString(), Orders: []orderEntry{}}
	limit := maxRequestedOrders
	if q.Has("limit") {
		limit, _ = strconv.Atoi(q.Get("limit"))
	}
	known := s.orders.list(func(o *order) bool { return o.named(q) })
	slices.Reverse(known)
	for _, o := range known {
		real, err := s.statusOnChain(ctx, o)
		if err != nil {
			return nil, err
		}
		status, found := s.claimed(ctx, o, s.orders.progress(o).outcome.Claim, real)
		if entry := o.entry(status); found && entry.fits(q) && len(reply.Orders) < limit {
			reply.Orders = append(reply.Orders, entry)
		}
	}
	return reply, nil
}

// named reports whether the request's orderId and orderIds, if any, include the order. It
// avoids reading the chain for the other orders.
func (o *order) named(q url.Values) bool {
	entry := orderEntry{OrderID: o.id}
	for _, name := range []string{"orderId", "orderIds"} {
		if q.Has(name) && !orderFilters[name].keeps(entry, q.Get(name)) {
			return false
		}
	}
	return true
}

func (e orderEntry) fits(q url.Values) bool {
	for name := range q {
		if !orderFilters[name].keeps(e, q.Get(name)) {
			return false
		}
	}
	return true
}

// An OrderState is an order as the control endpoint shows it: its true status, whatever
// GET /orders claims.
type OrderState struct {
	OrderID   common.Hash   `json:"orderId"`
	ChainID   uint64        `json:"chainId"`
	Type      string        `json:"type"`
	Swapper   eip55.Address `json:"swapper"`
	Deadline  int64         `json:"deadline"`
	Status    string        `json:"status"`
	TxHash    *common.Hash  `json:"txHash,omitempty"`
	LastError string        `json:"trouble,omitempty"` // the filler's latest error
	Outcome   Outcome       `json:"outcome"`
}

// Orders returns all accepted orders with their true status, oldest first.
func (s *Server) Orders(ctx context.Context) ([]OrderState, error) {
	states := []OrderState{}
	for _, o := range s.orders.list(nil) {
		st, err := s.state(ctx, o)
		if err != nil {
			return nil, err
		}
		states = append(states, st)
	}
	return states, nil
}

func (s *Server) state(ctx context.Context, o *order) (OrderState, error) {
	real, err := s.statusOnChain(ctx, o)
	info, now := o.terms.common(), s.orders.progress(o)
	st := OrderState{o.id, o.market.ID, o.kind.orderType, eip55.Address(info.Swapper), info.Deadline.Int64(), real.status, nil, now.lastError, now.outcome}
	if real.tx != (common.Hash{}) {
		st.TxHash = &real.tx
	}
	return st, err
}

// SetOutcome changes the outcome of an accepted order. Cosign and Refuse no longer have
// an effect.
func (s *Server) SetOutcome(id common.Hash, outcome Outcome) error {
	if err := outcome.check(); err != nil {
		return err
	}
	o := s.orders.find(id)
	if o == nil {
		return fmt.Errorf("no order %s", id)
	}
	s.orders.update(o, func(o *order) { o.outcome = outcome })
	o.market.wake()
	return nil
}

// Controls returns the order requests of the sandbox's control endpoint.
func (s *Server) Controls() map[string]func(*http.Request) (any, error) {
	return map[string]func(*http.Request) (any, error){
		"GET /orders": func(r *http.Request) (any, error) { return s.Orders(r.Context()) },
		"POST /orders/{id}": func(r *http.Request) (any, error) {
			var outcome Outcome
			dec := json.NewDecoder(r.Body)
			dec.DisallowUnknownFields()
			if err := dec.Decode(&outcome); err != nil && !errors.Is(err, io.EOF) {
				return nil, err
			}
			id := common.HexToHash(r.PathValue("id"))
			if err := s.SetOutcome(id, outcome); err != nil {
				return nil, err
			}
			return s.state(r.Context(), s.orders.find(id))
		},
	}
}
