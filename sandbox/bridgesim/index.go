package bridgesim

import (
	"context"
	"encoding/json"
	"math/big"
	"net/http"
	"strconv"
	"strings"

	"github.com/ethereum/go-ethereum/common"

	"swapkeep/internal/clock"
	"swapkeep/sandbox/form"
)

// isChainID accepts a decimal string, or a number as a recorded example has it.
func isChainID(raw json.RawMessage) string {
	if form.TypeOf(raw) == form.String {
		return text(digits)(raw)
	}
	return isCount(raw)
}

var indexFields = []field{
	{"chainId", true, isChainID},
	{"txHash", true, text(hash)},
	{"requestId", false, text(hash)},
	{"referrer", false, isString},
}

var singleFields = []field{
	{"requestId", true, text(hash)},
	{"chainId", true, isChainID},
	{"tx", true, isString},
}

type reported struct {
	ChainID   json.RawMessage `json:"chainId"`
	TxHash    common.Hash     `json:"txHash"`
	RequestID common.Hash     `json:"requestId"`
	Tx        string          `json:"tx"`
}

// done is the response to a report.
var done = map[string]string{"message": "Success"}

// reportedOn returns the running chain that a report names.
func (s *Server) reportedOn(r reported) (*market, error) {
	id, err := strconv.ParseUint(strings.Trim(string(r.ChainID), `"`), 10, 64)
	m := s.markets[id]
	if err != nil || m == nil || !m.IsRunning() {
		return nil, bad("Unsupported chain")
	}
	return m, nil
}

// index answers POST /transactions/index: a report that a deposit was sent. The report is
// stored unchecked; the deposit itself is read from the chain.
func (s *Server) index(_ context.Context, body []byte, _ *http.Request) (any, error) {
	var r reported
	if err := decode(body, indexFields, &r); err != nil {
		return nil, err
	}
	if _, err := s.reportedOn(r); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.book.index(r.TxHash)
	return done, nil
}

// single answers POST /transactions/single: a report of a transaction on one chain
// without an event of the bridge, such as a transfer. The transaction is JSON in a
// string.
func (s *Server) single(ctx context.Context, body []byte, _ *http.Request) (any, error) {
	var r reported
	if err := decode(body, singleFields, &r); err != nil {
		return nil, err
	}
	m, err := s.reportedOn(r)
	if err != nil {
		return nil, err
	}
	var tx struct {
		Hash *common.Hash `json:"txHash"`
	}
	if err := json.Unmarshal([]byte(r.Tx), &tx); err != nil || tx.Hash == nil {
		return nil, bad("Invalid transaction")
	}
	s.mu.Lock()
	o := s.book.find(r.RequestID)
	s.mu.Unlock()
	switch {
	case o == nil:
		return nil, errUnknownRequest
	case o.origin != m:
		return nil, bad("Invalid transaction")
	case o.operation == operationSend:
		s.recordTransfer(ctx, o, *tx.Hash)
	case o.operation != operationWrap && o.operation != operationUnwrap:
		return nil, bad("Only transfers, wraps and unwraps are reported here")
	}
	return done, nil
}

// recordTransfer records a plain transfer if it is the one the order asks for.
func (s *Server) recordTransfer(ctx context.Context, o *order, hash common.Hash) {
	want, err := o.transfer()
	if err != nil {
		return
	}
	tx, _, err := o.origin.Client.TransactionByHash(ctx, hash)
	if err != nil || tx.To() == nil || *tx.To() != want.to || tx.Value().Cmp(want.value) != 0 || string(tx.Data()) != string(want.data) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if o.deposit == nil {
		o.deposit = &deposit{tx: hash, from: o.user, currency: o.in.Address, amount: new(big.Int).Set(o.amountIn), at: clock.Now()}
	}
}
