package bridgesim

import (
	"cmp"
	"context"
	"net/http"

	"github.com/ethereum/go-ethereum/common"
)

// statusReply is the response of GET /intents/status/v3. Times are milliseconds.
type statusReply struct {
	Status           string        `json:"status"`
	Details          string        `json:"details,omitempty"`
	InTxHashes       []common.Hash `json:"inTxHashes"`
	TxHashes         []common.Hash `json:"txHashes"`
	UpdatedAt        int64         `json:"updatedAt"`
	OriginChain      uint64        `json:"originChainId"`
	DestinationChain uint64        `json:"destinationChainId"`
	QuoteCreatedAt   int64         `json:"quoteCreatedAt"`
	FailReason       string        `json:"failReason"`
	RefundFailReason string        `json:"refundFailReason"`
}

// olderStatus is the response of the first two versions.
type olderStatus struct {
	Status           string        `json:"status"`
	InTxHashes       []common.Hash `json:"inTxHashes"`
	TxHashes         []common.Hash `json:"txHashes"`
	Time             int64         `json:"time"`
	OriginChain      uint64        `json:"originChainId"`
	DestinationChain uint64        `json:"destinationChainId"`
}

// Names of the first two versions for the states of the third, where they differ.
var (
	secondVersion = map[string]string{delayed: pending, submitted: pending}
	firstVersion  = map[string]string{waiting: "received", delayed: pending, submitted: pending, refunded: "fallback"}
)

// unknown is the status of an unknown request.
var unknown = map[string]string{"status": "unknown"}

// noReason stands for the absence of a reason.
const noReason = "N/A"

// shown returns an order's status. The caller holds the server's mu.
func (o *order) shown() statusReply {
	r := statusReply{
		Status: o.state.status, Details: o.details, InTxHashes: []common.Hash{}, TxHashes: []common.Hash{},
		UpdatedAt: o.since.UnixMilli(), QuoteCreatedAt: o.created.UnixMilli(),
		OriginChain: o.origin.ID, DestinationChain: o.destination.ID,
		FailReason: cmp.Or(o.failReason, noReason), RefundFailReason: cmp.Or(o.refundFailReason, noReason),
	}
	if o.deposit != nil && r.Status != waiting {
		r.InTxHashes = append(r.InTxHashes, o.deposit.tx)
	}
	if o.payment != (common.Hash{}) && r.Status != pending {
		r.TxHashes = append(r.TxHashes, o.payment)
	}
	return r
}

// statusOf returns the status of the order in a request; nil if it is unknown.
func (s *Server) statusOf(r *http.Request) (*statusReply, error) {
	id := r.URL.Query().Get("requestId")
	if id == "" {
		return nil, invalid("querystring must have required property 'requestId'")
	}
	if !hash.MatchString(id) {
		return nil, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	o := s.book.find(common.HexToHash(id))
	if o == nil {
		return nil, nil
	}
	reply := o.shown()
	return &reply, nil
}

// statusV3 answers GET /intents/status/v3.
func (s *Server) statusV3(_ context.Context, _ []byte, r *http.Request) (any, error) {
	reply, err := s.statusOf(r)
	if err != nil || reply != nil {
		return reply, err
	}
	return unknown, nil
}

// statusV2 answers GET /intents/status/v2.
func (s *Server) statusV2(_ context.Context, _ []byte, r *http.Request) (any, error) {
	return s.older(r, secondVersion)
}

// statusV1 answers GET /intents/status.
func (s *Server) statusV1(_ context.Context, _ []byte, r *http.Request) (any, error) {
	return s.older(r, firstVersion)
}

func (s *Server) older(r *http.Request, words map[string]string) (any, error) {
	now, err := s.statusOf(r)
	if err != nil {
		return nil, err
	}
	if now == nil {
		return unknown, nil
	}
	word := cmp.Or(words[now.Status], now.Status)
	return &olderStatus{word, now.InTxHashes, now.TxHashes, now.UpdatedAt, now.OriginChain, now.DestinationChain}, nil
}
