package intentsim

import (
	"context"
	"errors"
	"fmt"
	"math/big"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"

	"swapkeep/sandbox/operator"
)

// across is the filler whose deposits and fills are Across's: what it pays is what the deposit's
// event promises, and the event of the fill repeats that.
const across = "Across"

// fillSeconds is how much longer than its quote a relay may be filled, by the clock of the other
// chain, which may be ahead.
const fillSeconds = 6 * 3600

// acrossServes reports whether Across can make a swap: it is on both chains, and pays the wrapped
// coin out as the coin.
func (q *quote) acrossServes() bool {
	var none common.Address
	return q.from.SpokePool() != none && q.to.SpokePool() != none && q.tokenOut.Address != q.to.Wrapped.Address
}

// contract returns where a route's deposit goes.
func (r *route) contract(c *chain) common.Address {
	if r.id == across {
		return c.SpokePool()
	}
	return c.IntentDeposit()
}

// A spokeDeposit is the argument of the contract's deposit.
type spokeDeposit struct {
	Depositor, Recipient, InputToken, OutputToken               common.Hash
	InputAmount, OutputAmount, DestinationChainId, DepositNonce *big.Int
	FillDeadline                                                uint32
}

// A spokeRelay is the argument of its fills.
type spokeRelay struct {
	Depositor, Recipient, InputToken, OutputToken       common.Hash
	InputAmount, OutputAmount, OriginChainId, DepositId *big.Int
	FillDeadline                                        uint32
}

func addressWord(a common.Address) common.Hash { return common.BytesToHash(a[:]) }

// wrappedOf returns a coin as Across has it: the wrapped coin for the native one.
func (c *chain) wrappedOf(coin common.Address) common.Hash {
	if coin == native {
		coin = c.Wrapped.Address
	}
	return addressWord(coin)
}

// relay returns the calldata of a route's deposit.
func (s *Server) relay(q *quote, r *route) ([]byte, error) {
	return s.pool.Pack("unsafeDeposit", spokeDeposit{
		addressWord(q.request.FromAddress), addressWord(q.recipient), q.from.wrappedOf(q.tokenIn.Address), q.to.wrappedOf(q.tokenOut.Address),
		q.amountIn, r.amountOut, new(big.Int).SetUint64(q.to.ID), depositID(q.id, r.id).Big(), uint32(q.validBefore + fillSeconds),
	})
}

// A mark is how the log of a route's deposit names the route.
type mark struct {
	contract common.Address
	event    common.Hash
	at       int         // place of id among the topics
	id       common.Hash // of the deposit
}

func (s *Server) mark(q *quote, r *route) mark {
	id := depositID(q.id, r.id)
	if r.id != across {
		return mark{q.from.IntentDeposit(), s.deposit.Events["Deposited"].ID, 1, id}
	}
	from := q.request.FromAddress
	return mark{q.from.SpokePool(), s.pool.Events["FundsDeposited"].ID, 2, crypto.Keccak256Hash(from[:], addressWord(from).Bytes(), id[:])}
}

// in returns the log of the deposit; nil if there is none.
func (m mark) in(logs []*types.Log) *types.Log {
	for _, l := range logs {
		if l.Address == m.contract && len(l.Topics) > m.at && l.Topics[0] == m.event && l.Topics[m.at] == m.id {
			return l
		}
	}
	return nil
}

// A promise is what the event of a deposit says.
type promise struct {
	InputToken, OutputToken   [32]byte
	InputAmount, OutputAmount *big.Int
	QuoteTimestamp            uint32
	FillDeadline              uint32
	ExclusivityDeadline       uint32
	Recipient                 [32]byte
	ExclusiveRelayer          [32]byte
	Message                   []byte
}

// relayed returns the call that fills an order's relay, by its deposit's event: with less than
// promised it is a slow fill, which only the solver can make.
func (s *Server) relayed(ctx context.Context, o *order, amount *big.Int) (call operator.Call, from *operator.Account, err error) {
	receipt, err := s.receipt(ctx, o.quote.from, *o.DepositTxHash)
	if err != nil {
		return call, nil, err
	}
	if receipt == nil {
		return call, nil, errors.New("the deposit is gone")
	}
	l := s.mark(o.quote, o.route).in(receipt.Logs)
	if l == nil {
		return call, nil, fmt.Errorf("the receipt of %s has no relay", receipt.TxHash)
	}
	var p promise
	if err := s.pool.UnpackIntoInterface(&p, "FundsDeposited", l.Data); err != nil {
		return call, nil, err
	}
	r := spokeRelay{l.Topics[3], p.Recipient, p.InputToken, p.OutputToken, p.InputAmount, p.OutputAmount, new(big.Int).SetUint64(o.quote.from.ID), l.Topics[2].Big(), p.FillDeadline}
	call = operator.Call{To: o.quote.to.SpokePool(), Gas: payGas}
	if amount.Cmp(p.OutputAmount) < 0 {
		call.Data, err = s.pool.Pack("fillSlowly", r, amount)
		return call, s.solver, err
	}
	call.Data, err = s.pool.Pack("fillRelay", r)
	return call, s.payer(o), err
}
