package gaslesssim

import (
	"context"
	"encoding/json"
	"fmt"
	"math/big"
	"slices"
	"sync"

	"github.com/ethereum/go-ethereum"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"

	"swapkeep/sandbox/operator"
)

// An order is a quote signed by its taker.
type order struct {
	*quote
	signature []byte
	permit    *permission
	Behaviour        // at the time of the order
	since     uint64 // block at the time of the order

	mu      sync.Mutex
	tx      common.Hash // the latest settlement; zero = none
	missing int         // blocks since it became unknown to the chain
	dropped bool        // it will not be sent
	polls   int         // number of polls, for the lie "backwards"
}

// A permission is a Permit2 signature besides the order's own.
type permission struct {
	signature       []byte
	deadline, nonce *big.Int
}

// orderBody is the body of POST order.
type orderBody struct {
	QuoteID    string        `json:"quote_id"`
	Signature  hexutil.Bytes `json:"signature"`
	SignScheme string        `json:"sign_scheme"`
	Permit2    *permit2Body  `json:"permit2"`
	Permit     *permitBody   `json:"permit"`
}

type permit2Body struct {
	Signature hexutil.Bytes    `json:"signature"`
	Deadline  uint64           `json:"approvals_deadline"`
	Tokens    []common.Address `json:"token_addresses"`
	Nonces    []uint64         `json:"token_nonces"`
}

type permitBody struct {
	Signature hexutil.Bytes `json:"signature"`
	Deadline  uint64        `json:"approvals_deadline"`
}

// orderFields are the allowed members of a body and whether each is required.
var orderFields = map[string]bool{"quote_id": true, "signature": true, "sign_scheme": false, "permit2": false, "permit": false}

// parseOrder decodes the body of POST order. The error is problems.
func parseOrder(body []byte) (orderBody, error) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(body, &members); err != nil || members == nil {
		return orderBody{}, problems{{[]string{"body"}, "Input should be a valid object", "json_invalid"}}
	}
	var shape problems
	o := orderBody{SignScheme: "EIP712"}
	targets := map[string]any{
		"quote_id": &o.QuoteID, "signature": &o.Signature, "sign_scheme": &o.SignScheme, "permit2": &o.Permit2, "permit": &o.Permit,
	}
	for name, required := range orderFields {
		if _, present := members[name]; required && !present {
			shape = append(shape, problem{[]string{"body", name}, "Field required", "missing"})
		}
	}
	for name, raw := range members {
		target := targets[name]
		switch {
		case target == nil:
			shape = append(shape, problem{[]string{"body", name}, "Extra inputs are not permitted", "extra_forbidden"})
		case string(raw) == "null" && orderFields[name], json.Unmarshal(raw, target) != nil:
			shape = append(shape, problem{[]string{"body", name}, "Input should be a valid value", "value_error"})
		}
	}
	if len(shape) > 0 {
		slices.SortFunc(shape, func(a, b problem) int { return slices.Compare(a.Loc, b.Loc) })
		return orderBody{}, shape
	}
	return o, nil
}

type orderReply struct {
	Status string       `json:"status"`
	Expiry int64        `json:"expiry"`
	TxHash *common.Hash `json:"txHash"`
}

// order answers POST order.
func (s *Server) order(ctx context.Context, r *request) (any, error) {
	body, err := parseOrder(r.body)
	if err != nil {
		return nil, err
	}
	q, err := s.reserveQuote(r, body.QuoteID)
	if err != nil {
		return nil, err
	}
	settings := s.Settings()
	o := &order{quote: q, signature: body.Signature, Behaviour: *r.protocol.behaviour(&settings)}
	if err := s.validateOrder(ctx, o, body); err != nil {
		s.release(q)
		return nil, err
	}
	s.storeOrder(o)
	if err := s.advance(o); err != nil {
		return nil, err
	}
	if o.Answer != 0 {
		return nil, failure{o.Answer, "as the sandbox was told"}
	}
	reply := orderReply{Status: "Pending", Expiry: q.expiry}
	if q.firm() {
		reply.TxHash = o.sent()
	}
	return reply, nil
}

// validateOrder returns an error if the order cannot be settled now.
func (s *Server) validateOrder(ctx context.Context, o *order, body orderBody) error {
	if body.SignScheme != "EIP712" {
		return failure{212, "sign_scheme is not simulated"}
	}
	now, err := o.market.Now(ctx)
	if err != nil {
		return err
	}
	if now.Unix() >= o.expiry {
		return failure{203, "the quote has expired"}
	}
	if o.since, err = o.market.Client.BlockNumber(ctx); err != nil {
		return err
	}
	if o.permit, err = o.permission(body); err != nil {
		return err
	}
	if err := s.signedByTaker(ctx, o); err != nil {
		return err
	}
	m := o.market
	if err := m.checkFunds(ctx, o.taker, o.sell, o.deployment.spender, o.sellAmount, errTakerBalance, errTakerApproval); err != nil {
		return err
	}
	if o.firm() {
		if err := m.checkFunds(ctx, o.payer, o.payerToken(), o.deployment.settlement, o.paid(), errMakerBalance, errMakerApproval); err != nil {
			return err
		}
	}
	if err := s.simulate(ctx, o); err != nil {
		return err
	}
	if o.Refuse != 0 {
		return failure{o.Refuse, "as the sandbox was told"}
	}
	return nil
}

var errPermit = failure{211, "the permit does not fit the quote"}

// permission returns the second signature if the quote asked for one, else nil. It
// returns errPermit for one that is missing, unexpected or does not fit.
func (o *order) permission(body orderBody) (*permission, error) {
	wanted := len(o.signatures) > 0
	if body.Permit != nil || (body.Permit2 != nil) != wanted {
		return nil, errPermit
	}
	if !wanted {
		return nil, nil
	}
	p := body.Permit2
	const maxUint48 = 1<<48 - 1
	if !slices.Equal(p.Tokens, []common.Address{o.sell}) || len(p.Nonces) != 1 || p.Nonces[0] > maxUint48 || p.Deadline > maxUint48 {
		return nil, errPermit
	}
	return &permission{p.Signature, new(big.Int).SetUint64(p.Deadline), new(big.Int).SetUint64(p.Nonces[0])}, nil
}

// signedByTaker checks the signature against the settlement contract's hash.
func (s *Server) signedByTaker(ctx context.Context, o *order) error {
	digest, err := o.protocol.digest(ctx, s, o.quote)
	if err != nil {
		return err
	}
	bad := failure{o.protocol.onSignature, "the signature is not the taker's"}
	if len(o.signature) != 65 || o.signature[64] < 27 || o.signature[64] > 28 {
		return bad
	}
	compact := append(slices.Clone(o.signature[:64]), o.signature[64]-27)
	signer, err := crypto.SigToPub(digest[:], compact)
	if err != nil || crypto.PubkeyToAddress(*signer) != o.taker {
		return bad
	}
	return nil
}

// simulate checks that the contracts would settle the order now.
func (s *Server) simulate(ctx context.Context, o *order) error {
	call, err := o.protocol.call(s, o, o.paid())
	if err != nil {
		return err
	}
	msg := ethereum.CallMsg{From: o.payer, To: &call.To, Value: call.Value, Data: call.Data}
	_, err = o.market.Client.CallContract(ctx, msg, nil)
	switch {
	case err == nil:
		return nil
	case !reverted(err):
		return err
	case o.permit != nil:
		return failure{211, "the permit's signature is wrong"}
	}
	return failure{201, "the settlement would revert"}
}

// paid returns what the payer pays, fees included.
func (o *order) paid() *big.Int { return part(o.gross, allBps+o.SurplusBps) }

// sent returns the hash of the settlement; nil if none was sent.
func (o *order) sent() *common.Hash {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.tx == (common.Hash{}) {
		return nil
	}
	return &o.tx
}

// settlement returns the transaction for the order's outcome.
func (s *Server) settlement(o *order) (operator.Call, error) {
	if o.Outcome != "revert" {
		return o.protocol.call(s, o, o.paid())
	}
	call, err := o.protocol.call(s, o, o.protocol.shortBy(o.quote))
	call.Gas = revertGas // fixed, as the estimate would fail
	return call, err
}

// revertGas suffices for a settlement to reach the check of the amount and revert.
const revertGas = 1_000_000

// advance advances an order by one step, according to its outcome and the latest block.
func (s *Server) advance(o *order) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.dropped {
		return nil
	}
	head, err := o.market.Client.HeaderByNumber(s.background, nil)
	if err != nil {
		return err
	}
	if o.tx != (common.Hash{}) {
		if lost, err := s.lost(o); err != nil || !lost {
			return err
		}
	}
	if o.Outcome == "never" || !o.due(head) {
		return nil
	}
	if o.Outcome == "reject" {
		o.dropped = true
		return nil
	}
	return s.send(o)
}

// due reports whether the order should be settled now.
func (o *order) due(head *types.Header) bool {
	if head.Time+1 >= uint64(o.expiry) {
		return false // the next block would be too late
	}
	if o.Outcome == "late" {
		return head.Time+o.LateSeconds >= uint64(o.expiry)
	}
	return head.Number.Uint64() >= o.since+o.AfterBlocks
}

func (s *Server) send(o *order) error {
	call, err := s.settlement(o)
	if err != nil {
		return err
	}
	hash, err := s.payerOf(o).Send(s.background, o.market.Chain, call)
	if reverted(err) && call.Gas == 0 {
		// The taker has spent the tokens or withdrawn the allowance meanwhile.
		o.dropped = true
		return nil
	}
	if err != nil {
		return fmt.Errorf("settle %s: %w", o.id, err)
	}
	o.tx, o.missing = hash, 0
	return nil
}

func (s *Server) payerOf(o *order) *operator.Account { return o.protocol.payer(s) }
