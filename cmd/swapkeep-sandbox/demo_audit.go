package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/ethereum/go-ethereum"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"

	"swapkeep/cmd/internal/amount"
	"swapkeep/host/protocol"
	"swapkeep/sandbox"
	"swapkeep/test/audit"
)

// An observed is what happened since a ledger was opened, read from the chains, the node and
// the provider's records. Nothing in it comes from the daemon.
type observed struct {
	got            *big.Int // output token that the account received
	fee            *big.Int // output token that the fee receiver received
	paid           *big.Int // input token that the account spent, before any refund and without gas
	back           *big.Int // input token that came back to the account: a refund
	gas            *big.Int // wei, spent on gas by all the account's transactions
	units          uint64   // gas units used
	signed         []*signed
	confirmations  uint64        // confirmations of the last mined transaction, its own block included
	nonce          uint64        // the account's, on the source chain
	stray          uint64        // the account's transactions on other chains
	left           []grant       // the ledger's grants, as they are now
	providerOrders []audit.Entry // the provider's new orders
	paidBy         *types.Receipt
	// Token transfers: out of the account; of the output to it; of the input to it.
	outflows, inflows, returns []*big.Int
}

// signed is a transaction of the account that the node was sent.
type signed struct {
	*types.Transaction
	sendCount int            // how often the node was sent it
	receipt   *types.Receipt // nil: not mined
}

func (a observed) mined() (all []*signed) {
	for _, tx := range a.signed {
		if tx.receipt != nil {
			all = append(all, tx)
		}
	}
	return all
}

// audited collects a complete audit.
func (l *ledger) audited(ctx context.Context, s *demoRun) (a observed, err error) {
	for _, look := range []func(context.Context, *demoRun, *observed) error{
		l.lookAtTransactions, l.lookAtAccount, l.lookAtDeals, l.lookAtTransfers, l.lookAtGrants,
	} {
		if err := look(ctx, s, &a); err != nil {
			return a, err
		}
	}
	return a, nil
}

func (l *ledger) lookAtTransactions(ctx context.Context, s *demoRun, a *observed) (err error) {
	if a.signed, err = l.transactions(); err != nil {
		return err
	}
	a.gas = new(big.Int)
	for _, tx := range a.signed {
		if tx.receipt, err = receiptOf(ctx, l.chain, tx.Hash()); err != nil {
			return err
		}
	}
	for _, tx := range a.mined() {
		a.units += tx.receipt.GasUsed
		a.gas.Add(a.gas, tx.cost())
		a.confirmations = l.chain.Head().Number.Uint64() - tx.receipt.BlockNumber.Uint64() + 1
	}
	for _, c := range s.box.Chains() {
		n, err := c.Client().NonceAt(ctx, l.account, nil)
		switch {
		case err != nil:
			return err
		case c == l.chain:
			a.nonce = n
		default:
			a.stray += n - l.nonces[c.ID]
		}
	}
	return nil
}

// transactions returns the account's transactions that the node was sent since the ledger
// was opened, in the order of their first arrival.
func (l *ledger) transactions() (all []*signed, err error) {
	raws := l.chain.Transactions()
	if len(raws) < l.handed {
		return nil, errors.New("the node lost a submitted transaction")
	}
	signer := types.LatestSignerForChainID(new(big.Int).SetUint64(l.plan.chain))
	for _, raw := range raws[l.handed:] {
		tx := &signed{Transaction: new(types.Transaction), sendCount: 1}
		if err := tx.UnmarshalBinary(raw.Raw); err != nil {
			return nil, fmt.Errorf("an invalid transaction was submitted to the node: %w", err)
		}
		i := slices.IndexFunc(all, func(s *signed) bool { return s.Hash() == tx.Hash() })
		if i >= 0 {
			all[i].sendCount++
		} else if from, err := types.Sender(signer, tx.Transaction); err == nil && from == l.account {
			all = append(all, tx)
		}
	}
	return all, nil
}

// receiptOf returns a transaction's receipt, nil if it is not mined.
func receiptOf(ctx context.Context, on *sandbox.Chain, tx common.Hash) (*types.Receipt, error) {
	receipt, err := on.Client().TransactionReceipt(ctx, tx)
	if errors.Is(err, ethereum.NotFound) {
		return nil, nil
	}
	return receipt, err
}

// lookAtAccount compares the balances with those before the swap.
func (l *ledger) lookAtAccount(ctx context.Context, _ *demoRun, a *observed) error {
	has, err := l.holdings(ctx)
	if err != nil {
		return err
	}
	a.got, a.fee = new(big.Int).Sub(has.gets, l.before.gets), new(big.Int).Sub(has.fee, l.before.fee)
	a.paid, a.back = new(big.Int).Sub(l.before.pays, has.pays), new(big.Int)
	if l.pays.token == protocol.Native {
		a.paid.Sub(a.paid, a.gas)
	}
	return nil
}

// lookAtDeals reads the provider's orders and the receipt of its payment.
func (l *ledger) lookAtDeals(ctx context.Context, s *demoRun, a *observed) (err error) {
	if a.providerOrders, err = l.newOrders(ctx, s); err != nil || len(a.providerOrders) != 1 {
		return err
	}
	on := l.destination
	if l.plan.end == refunded {
		on = l.chain
	}
	a.paidBy, err = receiptOf(ctx, on, a.providerOrders[0].Payment)
	return err
}

// lookAtTransfers reads the token transfers from and to the account. Native coin leaves
// no logs, so for it only the balance is compared.
func (l *ledger) lookAtTransfers(ctx context.Context, _ *demoRun, a *observed) (err error) {
	if token := l.spent(); token != (common.Address{}) {
		if a.outflows, err = l.transfers(ctx, l.chain, token, true); err != nil {
			return err
		}
		if a.returns, err = l.transfers(ctx, l.chain, token, false); err != nil {
			return err
		}
		a.back = sum(a.returns)
		if l.pays.token != protocol.Native {
			a.paid.Add(a.paid, a.back)
		}
	}
	a.inflows, err = l.transfers(ctx, l.destination, l.gets.address(), false)
	return err
}

func sum(amounts []*big.Int) *big.Int {
	total := new(big.Int)
	for _, n := range amounts {
		total.Add(total, n)
	}
	return total
}

// spent returns the token that leaves the account; zero for the native coin.
func (l *ledger) spent() common.Address {
	if w := l.review.Terms.Wrap; w != "" {
		return common.HexToAddress(string(w))
	}
	return l.pays.address()
}

func (l *ledger) lookAtGrants(ctx context.Context, _ *demoRun, a *observed) error {
	a.left = slices.Clone(l.grants)
	for i := range a.left {
		if err := l.readAllowance(ctx, &a.left[i]); err != nil {
			return err
		}
	}
	return nil
}

// cost returns what a mined transaction paid for gas, in wei.
func (tx *signed) cost() *big.Int {
	return new(big.Int).Mul(tx.receipt.EffectiveGasPrice, new(big.Int).SetUint64(tx.receipt.GasUsed))
}

// maxCost returns the most that a transaction can pay for gas, in wei.
func (tx *signed) maxCost() *big.Int {
	return new(big.Int).Mul(tx.GasFeeCap(), new(big.Int).SetUint64(tx.Gas()))
}

// ownCalls are the selectors of the wallet's own steps.
var ownCalls = []struct {
	selector []byte
	what     string
}{
	{crypto.Keccak256([]byte("approve(address,uint256)"))[:4], "approval"},
	{crypto.Keccak256([]byte("deposit()"))[:4], "wrap"},
}

func (tx *signed) what(last string) string {
	for _, c := range ownCalls {
		if bytes.HasPrefix(tx.Data(), c.selector) {
			return c.what
		}
	}
	return last
}

// says describes a transaction; last is the kind of the plan's last call.
func (tx *signed) says(last string) string {
	end := "never mined"
	if tx.receipt != nil {
		end = fmt.Sprintf("mined in block %d", tx.receipt.BlockNumber)
	}
	return fmt.Sprintf("%s, nonce %d: tip %s, at most %s; submitted %s; %s",
		tx.what(last), tx.Nonce(), strings.TrimSuffix(gwei(tx.GasTipCap()), " gwei"), gwei(tx.GasFeeCap()), times(tx.sendCount), end)
}

// gwei formats a gas price.
func gwei(wei *big.Int) string { return amount.Decimal(wei, 9, 3) + " gwei" }

// lastKind returns the effect kind of the review's last step.
func (l *ledger) lastKind() string {
	if len(l.review.Steps) == 0 {
		return "call"
	}
	return l.review.Steps[len(l.review.Steps)-1].Effect.Kind
}

// says summarizes an audit.
func (l *ledger) says(a observed) string {
	parts := []string{fmt.Sprintf("nonce %d -> %d", l.nonces[l.plan.chain], a.nonce), l.pays.Text(a.paid) + " left the account"}
	if l.plan.end == refunded {
		parts = append(parts, l.pays.Text(a.back)+" came back")
	}
	return strings.Join(append(parts, fmt.Sprintf("payments to the account: %d", len(a.inflows)+len(a.returns)), l.saysGrants(a)), "; ")
}

// saysGrants describes what spenders can still pull.
func (l *ledger) saysGrants(a observed) string {
	if len(a.left) == 0 {
		return "no allowance was granted"
	}
	left, permits := new(big.Int), 0
	for i, g := range a.left {
		left.Add(left, g.left)
		permits += int(g.nonce - l.grants[i].nonce)
	}
	text := "allowance left: " + l.named(protocol.Checksummed(a.left[0].token.Hex())).Text(left)
	if permits > 0 {
		text += ", permits used: " + fmt.Sprint(permits)
	}
	return text
}
