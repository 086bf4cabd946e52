package intentsim

import (
	"net/http"
	"slices"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"
)

// submitFields is the schema of PUT /v1/deposit/submit. A signedTransaction in place of
// the hash is for non-EVM chains.
var submitFields = []field{
	{"quoteId", true, isID},
	{"routeId", true, isID},
	{"txHash", true, isHash},
}

type submitRequest struct {
	QuoteID string      `json:"quoteId"`
	RouteID string      `json:"routeId"`
	TxHash  common.Hash `json:"txHash"`
}

type submitReply struct {
	OrderID string      `json:"orderId"`
	TxHash  common.Hash `json:"txHash"`
}

// putSubmit answers PUT /v1/deposit/submit: it creates the order, or returns the existing
// one for the same hash. The transaction itself is checked later.
func (s *Server) putSubmit(body []byte, r *http.Request) (any, error) {
	b, err := parse[submitRequest](body, submitFields)
	if err != nil {
		return nil, err
	}
	if s.loseQuote(b.QuoteID) {
		return nil, errQuote(b.QuoteID, b.RouteID)
	}
	if reply, err := s.submitted(b); reply != nil || err != nil {
		return reply, err
	}
	q, route, err := s.usableQuote(r.Context(), b.QuoteID, b.RouteID)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if o := s.orderOf(q.id, route.id); o != nil || q.used {
		return nil, errRace
	}
	if s.settings.Conflicts > 0 {
		s.settings.Conflicts--
		return nil, errConflict(s.createOrder(q, route, crypto.Keccak256Hash(b.TxHash[:])).ID)
	}
	o := s.createOrder(q, route, b.TxHash)
	return submitReply{o.ID, *o.DepositTxHash}, nil
}

// errRace is the response to the second of two concurrent submits.
var errRace = fail("DuplicateRecordException", "", nil)

// loseQuote marks a quote as lost if the settings say so, and reports whether it did.
func (s *Server) loseQuote(quoteID string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	q := s.quotes[quoteID]
	if q == nil || q.used || s.settings.LoseQuotes == 0 {
		return false
	}
	s.settings.LoseQuotes--
	q.lost = true
	return true
}

// submitted returns the response for a route that has an order already; nil if it has
// none.
func (s *Server) submitted(b submitRequest) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if o := s.orderOf(b.QuoteID, b.RouteID); o != nil {
		if *o.DepositTxHash != b.TxHash {
			return nil, errConflict(o.ID)
		}
		return submitReply{o.ID, b.TxHash}, nil
	}
	if slices.ContainsFunc(s.orders, func(o *order) bool { return *o.DepositTxHash == b.TxHash }) {
		return nil, fail("DuplicateRecordException", "Order with this deposit transaction already exists", nil)
	}
	return nil, nil
}

// orderOf returns the order of a quote's route; nil if there is none. The caller holds
// the lock.
func (s *Server) orderOf(quoteID, routeID string) *order {
	i := slices.IndexFunc(s.orders, func(o *order) bool { return o.QuoteID == quoteID && o.RouteID == routeID })
	if i < 0 {
		return nil
	}
	return s.orders[i]
}
