package intentsim

import (
	"math/big"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"swapkeep/sandbox/network"
)

// A Status is the status of an order.
type Status string

// The statuses. The last three are final.
const (
	Created       Status = "created"
	Deposited     Status = "deposited"
	Published     Status = "published"
	RefundPending Status = "refund_pending"
	Filled        Status = "filled"
	Refunded      Status = "refunded"
	Failed        Status = "failed"
)

// steps are the completed steps that the API shows for each status.
var steps = map[Status][]Status{
	Created:       {Created},
	Deposited:     {Created, Deposited},
	Published:     {Created, Deposited, Published},
	RefundPending: {Created, Deposited, Published},
	Filled:        {Created, Deposited, Published, Filled},
	Refunded:      {Created},
	Failed:        {Created},
}

// An address is marshalled in lower case, as in orders.
type address common.Address

func (a address) MarshalText() ([]byte, error) { return []byte(lower(common.Address(a))), nil }

// A isoTime is a time that is marshalled with milliseconds, in UTC.
type isoTime time.Time

func (t isoTime) MarshalText() ([]byte, error) {
	return []byte(time.Time(t).UTC().Format("2006-01-02T15:04:05.000Z07:00")), nil
}

// An orderReply is an order as the API shows it.
type orderReply struct {
	ID              string       `json:"id"`
	Type            string       `json:"type"`
	QuoteID         string       `json:"quoteId"`
	RouteID         string       `json:"routeId"`
	FromChainID     uint64       `json:"fromChainId"`
	FromToken       address      `json:"fromToken"`
	ToChainID       uint64       `json:"toChainId"`
	ToToken         address      `json:"toToken"`
	SrcAmount       string       `json:"srcAmount"`
	DestAmount      string       `json:"destAmount"`
	Status          Status       `json:"status"`
	Author          address      `json:"author"`
	Recipient       address      `json:"recipient"`
	RefundTo        address      `json:"refundTo"`
	FillerAddress   *address     `json:"fillerAddress"`
	ExternalOrderID *string      `json:"externalOrderId"`
	DepositTxHash   *common.Hash `json:"depositTxHash"`
	TradeType       string       `json:"tradeType"`
	CreatedAt       isoTime      `json:"createdAt"`
	UpdatedAt       isoTime      `json:"updatedAt"`
	Transactions    transactions `json:"transactions"`
	Timestamps      timestamps   `json:"timestamps"`
	StepsCompleted  []Status     `json:"stepsCompleted"`
	FromTokenMeta   tokenMeta    `json:"fromTokenMeta"`
	ToTokenMeta     tokenMeta    `json:"toTokenMeta"`
}

type transactions struct {
	Deposit *chainTx `json:"deposit,omitempty"`
	Fill    *chainTx `json:"fill,omitempty"`
	Refund  *chainTx `json:"refund,omitempty"`
}

type chainTx struct {
	Timestamp isoTime     `json:"timestamp"`
	TxHash    common.Hash `json:"txHash"`
	ChainID   uint64      `json:"chainId"`
	Amount    string      `json:"amount"`
}

type timestamps struct {
	CreatedAt   isoTime  `json:"createdAt"`
	PublishedAt *isoTime `json:"publishedAt,omitempty"`
	FailedAt    *isoTime `json:"failedAt,omitempty"`
}

type tokenMeta struct {
	Symbol   string  `json:"symbol"`
	Decimals uint8   `json:"decimals"`
	LogoURI  *string `json:"logoURI"`
}

func meta(t network.Token) tokenMeta { return tokenMeta{Symbol: t.Symbol, Decimals: t.Decimals} }

// An order is an order with the solver's state. orderReply is guarded by Server.mu. Once
// created, the order is changed only by the solver's goroutine.
type order struct {
	orderReply
	quote               *quote
	route               *route
	outcome             Outcome
	ending              ending
	created             time.Time
	duration            time.Duration // until it is filled, as quoted and scaled by PacePercent
	recipient, refundTo common.Address

	payment common.Hash // zero until the solver has paid
	over    bool        // nothing is left to do
	retry   time.Time   // used only by the solver's goroutine
}

// maxOrders limits the stored orders.
const maxOrders = 10_000

// createOrder creates the order of a route that has none. The caller holds the lock.
func (s *Server) createOrder(q *quote, r *route, deposit common.Hash) *order {
	now := s.clockNow()
	o := &order{
		orderReply: orderReply{
			ID: newOrderID(), Type: r.kind, QuoteID: q.id, RouteID: r.id,
			FromChainID: q.from.ID, FromToken: address(q.tokenIn.Address), ToChainID: q.to.ID, ToToken: address(q.tokenOut.Address),
			SrcAmount: q.amountIn.String(), DestAmount: r.amountOut.String(), Status: Created,
			Author: address(q.request.FromAddress), Recipient: address(q.recipient), RefundTo: address(q.refundTo),
			DepositTxHash: &deposit, TradeType: q.request.TradeType, CreatedAt: isoTime(now), UpdatedAt: isoTime(now),
			Timestamps: timestamps{CreatedAt: isoTime(now)}, StepsCompleted: steps[Created],
			FromTokenMeta: meta(q.tokenIn), ToTokenMeta: meta(q.tokenOut),
		},
		quote: q, route: r, outcome: s.settings.Outcome, created: now, recipient: q.recipient, refundTo: q.refundTo,
		duration: s.settings.paced(time.Duration(r.seconds) * time.Second),
	}
	if len(s.settings.Outcomes) > 0 {
		o.outcome, s.settings.Outcomes = s.settings.Outcomes[0], s.settings.Outcomes[1:]
	}
	o.ending = o.outcome.ending()
	q.used = true
	if len(s.orders) == maxOrders {
		s.orders = s.orders[1:]
	}
	s.orders = append(s.orders, o)
	return o
}

func (c Settings) paced(d time.Duration) time.Duration { return d * time.Duration(c.PacePercent) / 100 }

// newOrderID returns a random id in the API's format.
func newOrderID() string {
	const alphabet = "0123456789abcdefghijklmnopqrstuvwxyz"
	id := []byte("c")
	for range 24 {
		id = append(id, alphabet[rand.IntN(len(alphabet))])
	}
	return string(id)
}

// getOrder answers GET /v1/orders/by-id/{order}.
func (s *Server) getOrder(_ []byte, r *http.Request) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.IndexFunc(s.orders, func(o *order) bool { return o.ID == r.PathValue("order") })
	if i < 0 {
		return nil, errNotFound
	}
	return s.orders[i].orderReply, nil
}

// Page sizes of the order list.
const (
	usualOrders   = 10
	maxPageOrders = 20
	maxSearch     = 66
)

type ordersReply struct {
	Data   []orderReply `json:"data"`
	Cursor int          `json:"cursor,omitempty"`
}

// listOrders answers GET /v1/orders/{author}: the latest first.
func (s *Server) listOrders(_ []byte, r *http.Request) (any, error) {
	q := &query{Values: r.URL.Query()}
	limit, cursor := q.number("limit", usualOrders, 1, maxPageOrders), q.number("cursor", 0, 0, maxCursor)
	from, to, ids, search := q.chains("fromChainId"), q.chains("toChainId"), q.list("orderIds"), q.Get("txHashSearch")
	if !wellFormed(r.PathValue("author")) {
		q.issues = append(q.issues, issue{"address", badAddress, "custom"})
	}
	if len(search) > maxSearch {
		q.issues = append(q.issues, issue{"txHashSearch", "Too big: expected string to have <=66 characters", "too_big"})
	}
	if err := q.err(); err != nil {
		return nil, err
	}
	author := address(common.HexToAddress(r.PathValue("author")))
	s.mu.Lock()
	defer s.mu.Unlock()
	found := []orderReply{}
	for _, o := range slices.Backward(s.orders) {
		if o.Author == author && in(from, o.FromChainID) && in(to, o.ToChainID) && among(ids, o.ID) && o.mentions(search) {
			found = append(found, o.orderReply)
		}
	}
	var reply ordersReply
	reply.Data, reply.Cursor = page(found, cursor, limit)
	return reply, nil
}

// in reports whether a list is nil or contains the id.
func in(list []uint64, id uint64) bool { return list == nil || slices.Contains(list, id) }

// mentions reports whether the hash of one of the order's transactions contains part.
func (o *order) mentions(part string) bool {
	hashes := []string{o.DepositTxHash.Hex()}
	for _, tx := range []*chainTx{o.Transactions.Fill, o.Transactions.Refund} {
		if tx != nil {
			hashes = append(hashes, tx.TxHash.Hex())
		}
	}
	return slices.ContainsFunc(hashes, func(h string) bool { return strings.Contains(h, strings.ToLower(part)) })
}

// An Order is the true state of an order, for tests and the control endpoint.
type Order struct {
	ID      string      `json:"id"`
	QuoteID string      `json:"quoteId"`
	RouteID string      `json:"routeId"`
	Status  Status      `json:"status"` // as the API says
	Ending  string      `json:"ending"`
	Deposit common.Hash `json:"deposit"`
	Payment common.Hash `json:"payment"` // by the solver, whatever the API says; zero = none
	Owed    string      `json:"owed"`    // base units of the output
	Over    bool        `json:"over"`
}

// Orders returns all orders, oldest first.
func (s *Server) Orders() []Order {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := []Order{}
	for _, o := range s.orders {
		all = append(all, Order{o.ID, o.QuoteID, o.RouteID, o.Status, o.ending.name, *o.DepositTxHash, o.payment, o.DestAmount, o.over})
	}
	return all
}

// owed returns how much of an amount the solver pays.
func (o Outcome) owed(amount *big.Int) *big.Int {
	if o.PayBips == 0 {
		return amount
	}
	part := new(big.Int).Mul(amount, big.NewInt(o.PayBips))
	return part.Div(part, big.NewInt(allBips))
}
