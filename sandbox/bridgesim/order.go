package bridgesim

import (
	"encoding/binary"
	"math/big"
	"slices"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"
)

// An order is a quote that went out and what became of it.
type order struct {
	// What never changes.
	request common.Hash // the API's id
	id      common.Hash // of the deposit on the chain
	*offer
	parties
	created time.Time
	ttl     time.Duration // 0 = as long as it takes
	forced  bool          // the caller asked for a refund
	told    bool          // the caller asked for the order that the solver is bound to
	data    *orderData    // nil where no chain is crossed

	// Guarded by the server's mu; replaced by the goroutine that settles alone.
	state
}

// A state is where an order stands.
type state struct {
	status  string
	since   time.Time
	details string
	seen    *deposit
	payment common.Hash // zero until one was sent
	back    bool        // the payment is a refund
	// mustRefund: a fill is out of the question.
	mustRefund                   bool
	failReason, refundFailReason string
	// outcome was taken for this order when its deposit was seen, if any was.
	outcome *Outcome
	trouble string // the last thing that kept it from going on
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
	indexed []common.Hash // deposits that were reported
}

// Bounds of the book: the oldest go first.
const (
	maxOrders  = 10_000
	maxIndexed = 10_000
)

// ids makes the ids of a new order from what was asked.
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

// find is the order of a request, nil if there is none.
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
	Least       *big.Int       `json:"least"`
	AppFee      *big.Int       `json:"appFee"` // of the currency paid in, owed off the chain
	Status      string         `json:"status"`
	FailReason  string         `json:"failReason"`
	Deposit     common.Hash    `json:"deposit"` // zero until it was seen
	Payment     common.Hash    `json:"payment"` // zero until it was sent
	Refund      bool           `json:"refund"`  // whether the payment is one
	Trouble     string         `json:"trouble,omitempty"`
}

// Orders lists what was quoted since the last Reset, oldest first, and where it
// stands.
func (s *Server) Orders() []OrderView {
	s.mu.Lock()
	defer s.mu.Unlock()
	views := make([]OrderView, len(s.book.orders))
	for i, o := range s.book.orders {
		views[i] = OrderView{
			RequestID: o.request, OrderID: o.id, Operation: o.operation, Origin: o.origin.ID, Destination: o.destination.ID,
			User: o.user, Recipient: o.recipient, RefundTo: o.refundTo, AmountIn: o.amountIn, AmountOut: o.amountOut,
			Least: o.least, AppFee: o.appFee, Status: o.status, FailReason: o.failReason,
			Payment: o.payment, Refund: o.back, Trouble: o.trouble,
		}
		if o.seen != nil {
			views[i].Deposit = o.seen.tx
		}
	}
	return views
}
