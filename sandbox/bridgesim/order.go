package bridgesim

import (
	"encoding/binary"
	"math/big"
	"slices"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"
)

// An order is an issued quote and its progress.
type order struct {
	// Immutable.
	request common.Hash // the API's id
	id      common.Hash // of the deposit on the chain
	*offer
	parties
	created           time.Time
	ttl               time.Duration // 0 = unlimited
	refundForced      bool          // the caller asked for a refund
	wantsProtocolData bool          // the caller asked for the order that binds the solver
	data              *orderData    // nil if origin and destination are the same chain

	// Guarded by the server's mu. Only the settling goroutine replaces it.
	state
}

// A state is the progress of an order.
type state struct {
	status   string
	since    time.Time
	details  string
	deposit  *deposit
	payment  common.Hash // zero until sent
	isRefund bool        // the payment is a refund
	// mustRefund means that the order can no longer be filled.
	mustRefund                   bool
	failReason, refundFailReason string
	// outcome was taken from Settings.Next for this order when its deposit was seen; nil
	// if there was none.
	outcome   *Outcome
	lastError string // the last error
}

// A deposit was seen on an order's origin chain.
type deposit struct {
	tx       common.Hash
	from     common.Address
	currency common.Address
	amount   *big.Int
	at       time.Time
}

// A book holds the orders.
type book struct {
	count   uint64 // of quotes, for their ids
	orders  []*order
	indexed []common.Hash // reported deposits
}

// Limits of the book; the oldest entries are dropped.
const (
	maxOrders  = 10_000
	maxIndexed = 10_000
)

// ids returns the ids of a new order, derived from the request.
func (b *book) ids(layout uint64, body []byte) (request, id common.Hash) {
	b.count++
	count := binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, layout), b.count)
	id = crypto.Keccak256Hash(body, count)
	return crypto.Keccak256Hash([]byte("req"), id[:]), id
}

func (b *book) add(o *order) {
	if b.orders = append(b.orders, o); len(b.orders) > maxOrders {
		b.orders = slices.Delete(b.orders, 0, 1)
	}
}

func (b *book) index(tx common.Hash) {
	if b.indexed = append(b.indexed, tx); len(b.indexed) > maxIndexed {
		b.indexed = slices.Delete(b.indexed, 0, 1)
	}
}

// find returns the order of a request; nil if there is none.
func (b *book) find(request common.Hash) *order {
	i := slices.IndexFunc(b.orders, func(o *order) bool { return o.request == request })
	if i < 0 {
		return nil
	}
	return b.orders[i]
}

// An OrderView is an order as tests and the control endpoint see it.
type OrderView struct {
	RequestID   common.Hash    `json:"requestId"`
	OrderID     common.Hash    `json:"orderId"`
	Operation   string         `json:"operation"`
	Origin      uint64         `json:"origin"`
	Destination uint64         `json:"destination"`
	User        common.Address `json:"user"`
	Recipient   common.Address `json:"recipient"`
	RefundTo    common.Address `json:"refundTo"`
	AmountIn    *big.Int       `json:"amountIn"`
	AmountOut   *big.Int       `json:"amountOut"`
	MinimumOut  *big.Int       `json:"least"`
	AppFee      *big.Int       `json:"appFee"` // in the input currency; never paid out
	Status      string         `json:"status"`
	FailReason  string         `json:"failReason"`
	Deposit     common.Hash    `json:"deposit"` // zero until seen
	Payment     common.Hash    `json:"payment"` // zero until sent
	Refund      bool           `json:"refund"`  // whether the payment is a refund
	LastError   string         `json:"trouble,omitempty"`
}

// Orders returns all orders quoted since the last Reset, oldest first.
func (s *Server) Orders() []OrderView {
	s.mu.Lock()
	defer s.mu.Unlock()
	views := make([]OrderView, len(s.book.orders))
	for i, o := range s.book.orders {
		views[i] = OrderView{
			RequestID: o.request, OrderID: o.id, Operation: o.operation, Origin: o.origin.ID, Destination: o.destination.ID,
			User: o.user, Recipient: o.recipient, RefundTo: o.refundTo, AmountIn: o.amountIn, AmountOut: o.amountOut,
			MinimumOut: o.minAmountOut, AppFee: o.appFee, Status: o.status, FailReason: o.failReason,
			Payment: o.payment, Refund: o.isRefund, LastError: o.lastError,
		}
		if o.deposit != nil {
			views[i].Deposit = o.deposit.tx
		}
	}
	return views
}
