package intentsim

import (
	"context"
	"errors"
	"log/slog"
	"math/big"
	"slices"
	"time"

	"github.com/ethereum/go-ethereum"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"

	"swapkeep/sandbox/operator"
)

// An ending says what the API reports and whom the solver pays.
type ending struct {
	name  string
	early Status // reported once the quoted time is over; "" = no change
	pays  payee
	says  Status // reported once the solver has paid, or would have
	shows evidence
}

// A payee is the kind of recipient of the solver's payment.
type payee int

const (
	nobody payee = iota
	recipient
	depositor
)

// evidence is the transaction that an order shows for its end.
type evidence int

const (
	none    evidence = iota
	own              // the solver's payment
	made             // a hash without a transaction
	another          // the last payment of another order
)

// endings is the table of endings. The last four are lies.
var endings = map[string]ending{
	"fill":         {"fill", "", recipient, Filled, own},
	"fill_unnamed": {"fill_unnamed", "", recipient, Filled, none},
	"refund":       {"refund", RefundPending, depositor, Refunded, own},
	"fail":         {"fail", "", nobody, Failed, none},
	"fail_refund":  {"fail_refund", Failed, depositor, Failed, none},
	"never":        {"never", "", nobody, Published, none},
	"fail_fill":    {"fail_fill", Failed, recipient, Failed, none},
	"claim":        {"claim", "", nobody, Filled, made},
	"claim_refund": {"claim_refund", "", nobody, Refunded, made},
	"borrow":       {"borrow", "", nobody, Filled, another},
}

func (o Outcome) ending() ending {
	if o.Ending == "" {
		return endings["fill"]
	}
	return endings[o.Ending]
}

// pollInterval is the interval at which the solver polls its orders; pause is how long it waits
// after an error.
const (
	pollInterval = 25 * time.Millisecond
	retryDelay   = time.Second
)

// Minimum age of an order for a status, at full pace.
const (
	depositedAfter = 2 * time.Second
	publishedAfter = 4 * time.Second
)

// solve advances orders until the context ends.
func (s *Server) solve(ctx context.Context) {
	defer close(s.done)
	tick := time.NewTicker(pollInterval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		s.index(ctx)
		for _, o := range s.openOrders() {
			if time.Now().Before(o.retry) {
				continue
			}
			if err := s.advance(ctx, o); err != nil && ctx.Err() == nil {
				slog.Warn("the intent solver tries again", "order", o.ID, "err", err)
				o.retry = time.Now().Add(retryDelay)
			}
		}
	}
}

// openOrders returns the orders that are not over.
func (s *Server) openOrders() []*order {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(s.orders), func(o *order) bool { return o.over })
}

// change sets an order's status and applies also, under the lock.
func (s *Server) change(o *order, to Status, also func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := isoTime(s.clockNow())
	if o.Status != to && (to == Failed || to == RefundPending) {
		o.Timestamps.FailedAt = &now
	}
	o.Status, o.StepsCompleted, o.UpdatedAt = to, steps[to], now
	if also != nil {
		also()
	}
}

// advance advances an order by one step if it is time.
func (s *Server) advance(ctx context.Context, o *order) error {
	age := s.clock().Sub(o.created)
	switch {
	case o.payment != (common.Hash{}):
		return s.conclude(ctx, o)
	case o.Status == Created && age >= min(depositedAfter, o.duration):
		return s.confirm(ctx, o)
	case o.Status == Deposited && age >= min(publishedAfter, o.duration):
		now, by := isoTime(s.clock()), address(s.solver.Address)
		s.change(o, Published, func() { o.Timestamps.PublishedAt, o.FillerAddress = &now, &by })
	case o.Status == Created || o.Status == Deposited || age < o.duration:
		return nil
	case o.Status == Published && o.ending.early != "":
		s.change(o, o.ending.early, nil)
	case age >= o.duration+time.Duration(o.outcome.LateSeconds)*time.Second:
		return s.end(ctx, o)
	}
	return nil
}

// confirm looks for the deposit on the chain.
func (s *Server) confirm(ctx context.Context, o *order) error {
	receipt, err := s.receipt(ctx, o.quote.from, *o.DepositTxHash)
	if err != nil || receipt == nil {
		return err
	}
	if !s.deposits(receipt, o) {
		s.change(o, Failed, func() { o.over = true })
		return nil
	}
	head, err := o.quote.from.Client.HeaderByHash(ctx, receipt.BlockHash)
	if err != nil {
		return err
	}
	made := &chainTx{isoTime(time.Unix(int64(head.Time), 0)), receipt.TxHash, o.FromChainID, o.SrcAmount}
	s.change(o, Deposited, func() { o.Transactions.Deposit = made })
	return nil
}

// receipt returns nil while the transaction is not mined.
func (s *Server) receipt(ctx context.Context, c *chain, tx common.Hash) (*types.Receipt, error) {
	receipt, err := c.Receipt(ctx, tx)
	if errors.Is(err, ethereum.NotFound) {
		return nil, nil
	}
	return receipt, err
}

// deposits reports whether a receipt shows the order's deposit in full.
func (s *Server) deposits(receipt *types.Receipt, o *order) bool {
	l := s.mark(o.quote, o.route).in(receipt.Logs)
	if receipt.Status != types.ReceiptStatusSuccessful || l == nil {
		return false
	}
	if o.route.id == across {
		var p promise
		err := s.pool.UnpackIntoInterface(&p, "FundsDeposited", l.Data)
		return err == nil && p.InputToken == o.quote.from.wrappedOf(o.quote.tokenIn.Address) && p.InputAmount.Cmp(o.quote.amountIn) == 0
	}
	values, err := s.deposit.Events["Deposited"].Inputs.NonIndexed().Unpack(l.Data)
	return err == nil && values[0] == o.quote.tokenIn.Address && values[1].(*big.Int).Cmp(o.quote.amountIn) == 0
}

// end carries out the order's ending if the deposit still exists.
func (s *Server) end(ctx context.Context, o *order) error {
	receipt, err := s.receipt(ctx, o.quote.from, *o.DepositTxHash)
	if err != nil {
		return err
	}
	if receipt == nil { // reorganised away
		s.change(o, Created, func() { o.Transactions = transactions{} })
		return nil
	}
	if o.ending.pays == nobody {
		s.change(o, o.ending.says, func() { s.addEvidence(o, common.Hash{}, s.clockNow()); o.over = true })
		return nil
	}
	return s.pay(ctx, o)
}

// payee returns the chain, recipient, coin and amount of the order's payment.
func (o *order) payee() (c *chain, to, coin common.Address, amount *big.Int) {
	if o.ending.pays == depositor {
		return o.quote.from, o.refundTo, o.quote.tokenIn.Address, o.outcome.owed(o.quote.amountIn)
	}
	return o.quote.to, o.recipient, o.quote.tokenOut.Address, o.outcome.owed(o.route.amountOut)
}

// payGas suffices for every payment, including code of the recipient.
const payGas = 250_000

// pay sends the payment, from the solver, the stranger or the deposit contract.
func (s *Server) pay(ctx context.Context, o *order) error {
	c, to, coin, amount := o.payee()
	call, from := operator.Call{To: to, Value: amount, Gas: payGas}, s.payer(o)
	var err error
	switch {
	case o.route.id == across && o.ending.pays == recipient && !o.outcome.Reserve:
		call, from, err = s.relayed(ctx, o, amount)
	case o.outcome.Reserve:
		call.To, call.Value = c.IntentDeposit(), nil
		call.Data, err = s.deposit.Pack("release", coin, to, amount)
	case coin != native:
		call.To, call.Value = coin, nil
		call.Data, err = s.tokens.Pack("transfer", to, amount)
	}
	if err != nil {
		return err
	}
	hash, err := from.Send(ctx, c.Chain, call)
	if err != nil {
		return err
	}
	s.change(o, o.Status, func() { o.payment = hash })
	return nil
}

// payer returns who pays an order.
func (s *Server) payer(o *order) *operator.Account {
	if o.outcome.Stranger {
		return s.stranger
	}
	return s.solver
}

// conclude ends an order whose payment is mined. A payment that the chain has dropped is
// sent again.
func (s *Server) conclude(ctx context.Context, o *order) error {
	c, _, _, _ := o.payee()
	receipt, err := s.receipt(ctx, c, o.payment)
	if err != nil {
		return err
	}
	if receipt == nil {
		if _, _, err := c.Client.TransactionByHash(ctx, o.payment); errors.Is(err, ethereum.NotFound) {
			s.change(o, o.Status, func() { o.payment = common.Hash{} })
		}
		return nil
	}
	head, err := c.Client.HeaderByHash(ctx, receipt.BlockHash)
	if err != nil {
		return err
	}
	says := o.ending.says
	if receipt.Status != types.ReceiptStatusSuccessful {
		says = Failed // the recipient refused it
	}
	s.change(o, says, func() { s.addEvidence(o, receipt.TxHash, time.Unix(int64(head.Time), 0)); o.over = true })
	return nil
}

// addEvidence adds the evidence to the order as the API shows it. The caller holds the lock.
func (s *Server) addEvidence(o *order, payment common.Hash, at time.Time) {
	if o.ending.shows == none || o.Status == Failed {
		return
	}
	tx := &chainTx{isoTime(at), payment, o.ToChainID, o.DestAmount}
	switch o.ending.shows {
	case made:
		tx.TxHash = crypto.Keccak256Hash([]byte(o.ID))
	case another:
		tx.TxHash = s.lastFill(o)
	}
	if o.Status == Refunded {
		tx.ChainID, tx.Amount = o.FromChainID, o.SrcAmount
		o.Transactions.Refund = tx
		return
	}
	o.Transactions.Fill = tx
}

// lastFill returns the latest transaction that filled another order.
func (s *Server) lastFill(o *order) common.Hash {
	for _, other := range slices.Backward(s.orders) {
		if other != o && other.ending.pays == recipient && other.payment != (common.Hash{}) {
			return other.payment
		}
	}
	return crypto.Keccak256Hash([]byte(o.ID))
}
