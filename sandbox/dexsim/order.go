package dexsim

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"time"

	"github.com/ethereum/go-ethereum"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/google/uuid"
)

// Limits of the order service.
const (
	// maxEncoded is in hex digits. The service takes 4000, but a V3 order with a third
	// output, for a fee of the DEX's own, is longer.
	maxEncoded    = 8000
	maxOrderLife  = 24 * time.Hour
	maxOpenOrders = 5 // per swapper
)

var signature65 = regexp.MustCompile(`^0x[0-9a-fA-F]{130}$`)

// orderFields is the schema of POST /order.
var orderFields = []field{
	{"signature", true, text(signature65)},
	{"quote", true, isObject},
	{"routing", false, oneOf("DUTCH_V2", "DUTCH_V3", "PRIORITY", "LIMIT_ORDER")},
}

type orderRequest struct {
	Signature hexutil.Bytes   `json:"signature"`
	Quote     json.RawMessage `json:"quote"`
	Routing   string          `json:"routing"`

	quote *dutchQuote
	terms dutchOrder
}

func checkOrder(body []byte, _ *http.Request) error {
	if err := check(body, orderFields); err != nil {
		return err
	}
	_, err := parseOrder(body)
	return err
}

// parseOrder decodes a request and its order. The quote must still have the shape in
// which it was issued, else it returns errQuoteMismatch.
func parseOrder(body []byte) (*orderRequest, error) {
	var r orderRequest
	if err := json.Unmarshal(body, &r); err != nil {
		return nil, invalid(err.Error())
	}
	for _, k := range dutchKinds {
		if r.Routing != "" && r.Routing != k.routing {
			continue
		}
		if quote, terms, err := k.decode(r.Quote); err == nil {
			r.quote, r.terms = quote, terms
			return &r, nil
		}
	}
	return nil, errQuoteMismatch
}

type orderReply struct {
	RequestID   string      `json:"requestId"`
	OrderID     common.Hash `json:"orderId"`
	OrderStatus string      `json:"orderStatus"`
}

// order answers POST /order: it accepts a signed order and has it cosigned. If the order
// is known already, it answers with its current status.
func (s *Server) order(ctx context.Context, body []byte, _ *http.Request) (any, error) {
	r, err := parseOrder(body)
	if err != nil {
		return nil, err
	}
	m, err := s.market(r.quote.ChainID)
	if err != nil {
		return nil, err
	}
	outcome := s.Settings().Outcome
	o := &order{market: m, kind: r.terms.kind(), terms: r.terms, quoteID: r.quote.QuoteID, signature: r.Signature, outcome: outcome}
	if o.id, err = r.sameOrder(m.ID); err != nil {
		return nil, err
	}
	if known := s.orders.find(o.id); known != nil {
		return s.orderReply(ctx, known)
	}
	if outcome.Refuse != "" {
		return nil, refused(outcome.Refuse, "the order is refused")
	}
	if err := s.validateOrder(ctx, o); err != nil {
		return nil, err
	}
	if err := s.storeOrder(ctx, o, outcome.Cosign); err != nil {
		return nil, err
	}
	return &orderReply{uuid.NewString(), o.id, "open"}, nil
}

func (s *Server) orderReply(ctx context.Context, o *order) (any, error) {
	now, err := s.statusOnChain(ctx, o)
	return &orderReply{uuid.NewString(), o.id, now.status}, err
}

// sameOrder checks that the quote's order, encoding and hash belong together, and returns
// the hash.
func (r *orderRequest) sameOrder(chain uint64) (common.Hash, error) {
	encoded, err := r.terms.encoded(unsigned(), nil)
	if err != nil || len(encoded)*2 > maxEncoded {
		return common.Hash{}, refused("ORDER_PARSE_FAIL", "encodedOrder is too long or none")
	}
	id, err := orderHash(r.terms)
	if err != nil || id != r.quote.OrderID || !slices.Equal(encoded, r.quote.EncodedOrder) || r.terms.shown().chain() != chain {
		return common.Hash{}, refused("ORDER_PARSE_FAIL", "encodedOrder, orderInfo and orderId are not of one order")
	}
	return id, nil
}

// validateOrder checks an order against the rules of the order service.
func (s *Server) validateOrder(ctx context.Context, o *order) error {
	now, err := o.market.Now(ctx)
	if err != nil {
		return err
	}
	if why := s.invalidReason(o, now); why != "" {
		return refused("INVALID_ORDER", why)
	}
	if !o.signedBySwapper() {
		return refused("VALIDATION_ERROR", "Onchain validation failed: InvalidSigner")
	}
	open, err := s.openOrders(ctx, o.terms.common().Swapper)
	if err != nil {
		return err
	}
	if open >= maxOpenOrders {
		return refused("TOO_MANY_OPEN_ORDERS", fmt.Sprintf("%s has %d open orders", o.terms.common().Swapper, open))
	}
	return s.simulateOrder(ctx, o)
}

// invalidReason returns what is wrong with an order; "" if nothing.
func (s *Server) invalidReason(o *order, now time.Time) string {
	info := o.terms.common()
	left := time.Duration(info.Deadline.Int64()-now.Unix()) * time.Second
	bad := []struct {
		when bool
		why  string
	}{
		{info.Reactor != o.market.reactor(o.kind) || info.Reactor == (common.Address{}), "unknown reactor"},
		{left <= 0, "deadline has passed"},
		{left > maxOrderLife, "deadline is more than a day away"},
		{common.Address(o.terms.shown().cosigner()) != s.Cosigner.Address, "unknown cosigner"},
		{info.AdditionalValidationContract != (common.Address{}), "additional validation is not supported"},
		{len(o.terms.outputs()) == 0, "no outputs"},
	}
	for _, b := range bad {
		if b.when {
			return b.why
		}
	}
	return o.terms.invalidReason()
}

func (o *order) signedBySwapper() bool {
	digest, err := typed(o.terms, o.market.ID, o.market.Contracts.Permit2).digest()
	if err != nil || (o.signature[64] != 27 && o.signature[64] != 28) {
		return false
	}
	signature := slices.Clone(o.signature)
	signature[64] -= 27
	key, err := crypto.SigToPub(digest, signature)
	return err == nil && crypto.PubkeyToAddress(*key) == o.terms.common().Swapper
}

// revertNames are the order service's names for reverts, by selector.
var revertNames = map[string]string{
	"0x756688fe": "NonceUsed", "0xcd21db4f": "Expired", "0xb08ce5b3": "Expired", "0x815e1d64": "InvalidSigner",
	"0x773a6187": "InvalidOrderFields", "0x08c379a0": "InsufficientFunds", // Error(string): a failed transfer
}

// simulateOrder has the chain resolve the order, as a filler would. It uses a good
// cosignature, whatever the order's outcome says.
func (s *Server) simulateOrder(ctx context.Context, o *order) error {
	probe := *o
	if err := s.cosign(ctx, &probe, ""); err != nil {
		return err
	}
	data, err := s.abis.orderQuoter.Pack("quote", probe.encoded, probe.signature)
	if err != nil {
		return err
	}
	at := o.market.UniswapX().OrderQuoter
	_, err = o.market.Client.CallContract(ctx, ethereum.CallMsg{To: &at, Data: data}, nil)
	if err == nil || !reverted(err) {
		return err
	}
	return refused("VALIDATION_ERROR", "Onchain validation failed: "+revertName(err))
}

func revertName(err error) string {
	var data interface{ ErrorData() any }
	if errors.As(err, &data) {
		if text, _ := data.ErrorData().(string); len(text) >= 10 && revertNames[text[:10]] != "" {
			return revertNames[text[:10]]
		}
	}
	return "UnknownError"
}

// storeOrder cosigns and stores the order and wakes the filler.
func (s *Server) storeOrder(ctx context.Context, o *order, how string) error {
	head, err := o.market.Client.HeaderByNumber(ctx, nil)
	if err != nil {
		return err
	}
	now, err := o.market.Now(ctx)
	if err != nil {
		return err
	}
	o.block, o.created = head.Number.Uint64(), now.Unix()
	if err := s.cosign(ctx, o, how); err != nil {
		return err
	}
	if err := s.orders.add(o); err != nil {
		return err
	}
	o.market.wake()
	return nil
}
