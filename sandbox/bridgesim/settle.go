package bridgesim

import (
	"cmp"
	"context"
	"math/big"
	"slices"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"

	"swapkeep/internal/clock"
	"swapkeep/sandbox/network"
	"swapkeep/sandbox/operator"
)

// States of an order, named as in status v3.
const (
	waiting   = "waiting"
	pending   = "pending"
	delayed   = "delayed"
	submitted = "submitted"
	failed    = "failure"
	succeeded = "success"
	refunded  = "refund"
)

// stages are the functions that advance an order from each state and return its next
// state. States without one are final.
var stages = map[string]func(*Server, context.Context, *order, state) (state, error){
	waiting:   (*Server).await,
	pending:   (*Server).process,
	delayed:   (*Server).process,
	submitted: (*Server).confirm,
	failed:    (*Server).afterFailure,
}

// pollInterval is the interval at which chains and orders are polled.
const pollInterval = 20 * time.Millisecond

// settle advances orders until the context ends.
func (s *Server) settle(ctx context.Context) {
	defer s.ended.Done()
	t := time.NewTicker(pollInterval)
	defer t.Stop()
	for {
		select {
		case <-t.C:
			s.poll(ctx)
		case <-ctx.Done():
			return
		}
	}
}

// poll polls every chain and advances every order once.
func (s *Server) poll(ctx context.Context) {
	s.mu.Lock()
	orders := slices.Clone(s.book.orders)
	s.mu.Unlock()
	if len(orders) == 0 {
		return
	}
	for _, m := range s.running() {
		_ = s.scanLogs(ctx, m) // retried in the next pass
	}
	for _, o := range orders {
		s.advance(ctx, o)
	}
}

// advance advances one order if possible.
func (s *Server) advance(ctx context.Context, o *order) {
	s.mu.Lock()
	before := o.state
	s.mu.Unlock()
	stage := stages[before.status]
	if stage == nil || (before.status == waiting && before.deposit == nil) {
		return
	}
	after, err := stage(s, ctx, o, before)
	after.lastError = ""
	if err != nil {
		after = before
		after.lastError = err.Error()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if o.state = after; after.status != before.status {
		s.hub.publish(o)
	}
}

// withStatus returns the state with another status.
func (st state) withStatus(status string) state {
	st.status, st.since, st.details = status, clock.Now(), ""
	return st
}

// paceElapsed reports whether the state has lasted for PaceMS.
func (s *Server) paceElapsed(st state) bool {
	return clock.Now().Sub(st.since) >= time.Duration(s.Settings().PaceMS)*time.Millisecond
}

// outcome returns an order's outcome: that of its request in the settings, else the one
// taken for its deposit, else the default.
func (s *Server) outcome(o *order, st state) Outcome {
	s.mu.Lock()
	defer s.mu.Unlock()
	if out, set := s.settings.Requests[o.request]; set {
		return out
	}
	if st.outcome != nil {
		return *st.outcome
	}
	if o.refundForced {
		return Outcome{Kind: Refund}
	}
	return s.settings.Outcome
}

// nextOutcome removes and returns the first outcome of Settings.Next; nil if there is none.
func (s *Server) nextOutcome() *Outcome {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.settings.Next) == 0 {
		return nil
	}
	next := s.settings.Next[0]
	s.settings.Next = s.settings.Next[1:]
	return &next
}

func (s *Server) indexed(tx common.Hash) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Contains(s.book.indexed, tx)
}

// await handles an order whose deposit, or whose swap on one chain, has been seen.
func (s *Server) await(ctx context.Context, o *order, st state) (state, error) {
	if s.Settings().NeedsIndex && !s.indexed(st.deposit.tx) {
		return st, nil
	}
	if o.crosses() {
		if st.outcome == nil {
			st.outcome = s.nextOutcome()
		}
		return st.withStatus(pending), nil
	}
	receipt, lost, err := o.origin.mined(ctx, st.deposit.tx)
	if err != nil {
		return st, err
	}
	if lost {
		st.deposit = nil
		return st, nil
	}
	if receipt == nil || receipt.Status != types.ReceiptStatusSuccessful {
		return st, nil
	}
	st.payment = st.deposit.tx
	return st.withStatus(succeeded), nil
}

// process pays, or decides not to.
func (s *Server) process(ctx context.Context, o *order, st state) (state, error) {
	if st.isRefund {
		return s.refunding(ctx, o, st)
	}
	if !s.paceElapsed(st) {
		return st, nil
	}
	receipt, _, err := o.origin.mined(ctx, st.deposit.tx)
	if err != nil {
		return st, err
	}
	if receipt == nil { // reorganised away
		st.deposit = nil
		return st.withStatus(waiting), nil
	}
	if reason := o.unfillable(st); reason != "" {
		st.mustRefund, st.failReason = true, reason
		return st.withStatus(failed), nil
	}
	out := s.outcome(o, st)
	late := clock.Now().Sub(st.deposit.at) < time.Duration(out.DelayMS)*time.Millisecond
	switch {
	case out.Kind == Never:
		return st, nil
	case late && st.status == delayed:
		return st, nil
	case late:
		return st.withStatus(delayed), nil
	case out.Kind == Fill:
		return s.fill(ctx, o, st, out)
	}
	st.failReason = cmp.Or(out.FailReason, "SLIPPAGE")
	st.refundFailReason = out.RefundFailReason
	return st.withStatus(failed), nil
}

// unfillable returns the reason why an order cannot be filled; "" if it can.
func (o *order) unfillable(st state) string {
	switch {
	case st.deposit.currency != o.deposited.Address:
		return "ORIGIN_CURRENCY_MISMATCH"
	case st.deposit.amount.Cmp(o.minDeposit) < 0:
		return "DEPOSITED_AMOUNT_TOO_LOW_TO_FILL"
	case st.deposit.from != o.user:
		return "UNKNOWN"
	case o.ttl > 0 && st.deposit.at.After(o.created.Add(o.ttl)):
		return "TTL_EXPIRED"
	}
	return ""
}

// fill pays the recipient.
func (s *Server) fill(ctx context.Context, o *order, st state, out Outcome) (state, error) {
	p := payment{on: o.destination, currency: o.out, amount: o.amountOut, to: o.recipient, id: o.id}
	if st.deposit.amount.Cmp(o.depositAmount) < 0 { // a router's output can be less
		p.amount = new(big.Int).Mul(o.amountOut, st.deposit.amount)
		p.amount.Quo(p.amount, o.depositAmount)
	}
	if out.ShortBips > 0 {
		p.amount = part(o.minAmountOut, allBips-out.ShortBips, allBips)
	}
	// As the live solver does: for currencies it does not hold, it has a router swap.
	out.Router = out.Router || !o.destination.direct(o.out.Address)
	hash, err := s.pay(ctx, p, out)
	if err != nil {
		return st, err
	}
	st.payment = hash
	return st.withStatus(submitted), nil
}

// confirm waits until the payment is mined.
func (s *Server) confirm(ctx context.Context, o *order, st state) (state, error) {
	receipt, lost, err := o.destination.mined(ctx, st.payment)
	if err != nil {
		return st, err
	}
	if lost {
		st.payment = common.Hash{}
		return st.withStatus(pending), nil
	}
	if receipt == nil || !s.paceElapsed(st) {
		return st, nil
	}
	if receipt.Status != types.ReceiptStatusSuccessful {
		st.payment, st.mustRefund, st.failReason = common.Hash{}, true, "TRANSACTION_REVERTED"
		return st.withStatus(failed), nil
	}
	return st.withStatus(succeeded), nil
}

// afterFailure refunds, fills after all or does nothing, as the outcome now says.
func (s *Server) afterFailure(_ context.Context, o *order, st state) (state, error) {
	if !s.paceElapsed(st) {
		return st, nil
	}
	out := s.outcome(o, st)
	switch {
	case !st.mustRefund && (out.Kind == Fail || out.Kind == Never):
		return st, nil
	case !st.mustRefund && out.Kind == Fill:
		st.failReason, st.refundFailReason = "", ""
		return st.withStatus(pending), nil
	case o.refundTo == (common.Address{}):
		st.refundFailReason = "MANUAL_REFUND_REQUIRED"
		return st, nil
	}
	st.isRefund, st.refundFailReason = true, ""
	return st.withStatus(pending), nil
}

// refunding sends the refund and waits until it is mined. One that reverted is sent again
// after a failure.
func (s *Server) refunding(ctx context.Context, o *order, st state) (state, error) {
	if st.payment == (common.Hash{}) {
		if !s.paceElapsed(st) {
			return st, nil
		}
		hash, err := s.payBack(ctx, o, st)
		st.payment = hash
		return st, err
	}
	receipt, lost, err := o.origin.mined(ctx, st.payment)
	switch {
	case err != nil:
		return st, err
	case lost:
		st.payment = common.Hash{}
		return st, nil
	case receipt == nil:
		return st, nil
	case receipt.Status != types.ReceiptStatusSuccessful:
		st.payment, st.isRefund = common.Hash{}, false
		return st.withStatus(failed), nil
	}
	st = st.withStatus(refunded)
	st.details = "Refunded on origin"
	return st, nil
}

func (s *Server) payBack(ctx context.Context, o *order, st state) (common.Hash, error) {
	out := s.outcome(o, st)
	paid, known := o.origin.token(st.deposit.currency)
	if !known {
		paid = o.deposited
	}
	p := payment{on: o.origin, currency: paid, amount: st.deposit.amount, to: o.refundTo, id: o.id}
	p.amount = part(p.amount, allBips-out.ShortBips, allBips)
	return s.pay(ctx, p, out)
}

// A payment is a payment by the solver.
type payment struct {
	on       *market
	currency network.Token
	amount   *big.Int
	to       common.Address
	id       common.Hash // of the order; the transaction's input ends with it
}

// pay sends a payment with the changes of the outcome.
func (s *Server) pay(ctx context.Context, p payment, out Outcome) (common.Hash, error) {
	if out.To != nil {
		p.to = *out.To
	}
	if out.Currency != nil {
		if other, known := p.on.token(*out.Currency); known {
			p.currency, p.amount = other, convert(p.amount, p.currency, other)
		}
	}
	from := s.Solver
	if out.Stranger {
		from = s.Stranger
	}
	call, err := p.call(out.Router, s.Settings().Router)
	if err != nil {
		return common.Hash{}, err
	}
	if !out.Unlinked {
		call.Data = append(call.Data, p.id[:]...)
	}
	return from.Send(ctx, p.on.Chain, call)
}

// call returns the transfer or, through a router, a swap from the native coin.
func (p payment) call(byRouter bool, version string) (operator.Call, error) {
	if byRouter {
		pair, err := p.on.pair(version)
		if err != nil {
			return operator.Call{}, err
		}
		in := convert(p.amount, p.currency, p.on.coin())
		return operator.Call{To: pair.Router, Value: in, Data: LayoutOf(p.on.layout, p.on.ID, pair.Router).calldata(routerOrder{
			amountIn: in, tokenOut: p.currency.Address, amountOut: p.amount, minimum: p.amount, recipient: p.to, id: p.id,
		})}, nil
	}
	if p.currency.Address == native {
		return operator.Call{To: p.to, Value: p.amount}, nil
	}
	data, err := p.on.abis.erc20.Pack("transfer", p.to, p.amount)
	return operator.Call{To: p.currency.Address, Data: data}, err
}

// haircut sets by how much a router pays less.
func (s *Server) haircut(ctx context.Context, m *market, router common.Address, bips int64) error {
	data, err := m.abis.router.Pack("setHaircut", big.NewInt(bips))
	if err != nil {
		return err
	}
	hash, err := s.Solver.Send(ctx, m.Chain, operator.Call{To: router, Data: data})
	if err != nil {
		return err
	}
	_, err = m.WaitMined(ctx, hash)
	return err
}
