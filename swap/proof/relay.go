package proof

import (
	"bytes"
	"math/big"
	"slices"

	"swapkeep/chain"
	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
)

// Topics of Across (across-protocol/contracts, V3SpokePoolInterface), and of the wrapped coins.
var (
	fundsDeposited = crypto.Keccak256Hash([]byte("FundsDeposited(bytes32,bytes32,uint256,uint256,uint256,uint256,uint32,uint32,uint32,bytes32,bytes32,bytes32,bytes)"))
	filledRelay    = crypto.Keccak256Hash([]byte("FilledRelay(bytes32,bytes32,uint256,uint256,uint256,uint256,uint256,uint32,uint32,bytes32,bytes32,bytes32,bytes32,bytes32,(bytes32,bytes32,uint256,uint8))"))
	withdrawal     = crypto.Keccak256Hash([]byte("Withdrawal(address,uint256)")) // WETH9
)

// A relay is a payment that a deposit asks fillers for. Numbers and addresses are whole words, so
// that two are the same relay only if they are equal. Its message is empty: with one, the
// recipient's contract decides what becomes of the payment.
type relay struct {
	inputToken, outputToken, inputAmount, outputAmount common.Hash
	origin, depositID                                  common.Hash
	fillDeadline, exclusivityDeadline                  common.Hash
	exclusiveRelayer, depositor, recipient             common.Hash
}

// A relayFill is what a FilledRelay says.
type relayFill struct {
	relay
	relayer   common.Address // to whom the network owes the input
	recipient common.Hash    // who was paid; it may differ from the relay's by the depositor's signature
	amount    *big.Int       // what was paid, which may be less than the relay's amount
	slow      bool           // paid out of the contract's own funds
}

// words splits the data of a log; nil if it has another size.
func words(data []byte, n int) []common.Hash {
	if len(data) != n*common.HashLength {
		return nil
	}
	all := make([]common.Hash, n)
	for i := range all {
		all[i] = common.Hash(data[i*common.HashLength:])
	}
	return all
}

// fit reports whether words are numbers of at most so many bits, as a contract writes them.
func fit(bits int, all ...common.Hash) bool {
	return !slices.ContainsFunc(all, func(w common.Hash) bool { return w.Big().BitLen() > bits })
}

func wordOf(n uint64) common.Hash { return common.BigToHash(new(big.Int).SetUint64(n)) }

// Sizes of the events' data, in words.
const (
	depositWords = 11 // ten members, the last of which is the place of the message, and its length
	fillWords    = 15
)

// readDeposit decodes a FundsDeposited, with an empty message, of a chain. to is the destination.
func readDeposit(l *types.Log, origin uint64) (r relay, to common.Hash, ok bool) {
	w := words(l.Data, depositWords)
	if len(l.Topics) != 4 || l.Topics[0] != fundsDeposited || w == nil || !fit(32, w[4:7]...) || w[9] != wordOf(10*common.HashLength) || w[10] != (common.Hash{}) {
		return relay{}, common.Hash{}, false
	}
	return relay{
		inputToken: w[0], outputToken: w[1], inputAmount: w[2], outputAmount: w[3], origin: wordOf(origin), depositID: l.Topics[2],
		fillDeadline: w[5], exclusivityDeadline: w[6], recipient: w[7], exclusiveRelayer: w[8], depositor: l.Topics[3],
	}, l.Topics[1], true
}

// readFill decodes a FilledRelay with an empty message.
func readFill(l *types.Log) (f relayFill, ok bool) {
	w := words(l.Data, fillWords)
	if len(l.Topics) != 4 || l.Topics[0] != filledRelay || w == nil || !fit(32, w[5:7]...) || !fit(2, w[14]) || w[10] != (common.Hash{}) || w[12] != (common.Hash{}) {
		return relayFill{}, false
	}
	const slowFill = 2
	return relayFill{
		relay: relay{
			inputToken: w[0], outputToken: w[1], inputAmount: w[2], outputAmount: w[3], origin: l.Topics[1], depositID: l.Topics[2],
			fillDeadline: w[5], exclusivityDeadline: w[6], exclusiveRelayer: w[7], depositor: w[8], recipient: w[9],
		},
		relayer: common.BytesToAddress(l.Topics[3][:]), recipient: w[11], amount: w[13].Big(), slow: w[14] == wordOf(slowFill),
	}, true
}

// outputToken returns what the awaited payment is in the network's terms.
func outputToken(x swap.Arrival) common.Address {
	if x.Token == chain.Native {
		return x.Link.Relay.Coin
	}
	return x.Token
}

// relayOf returns the relay that the receipt of our own deposit names: the only one that it
// makes at the built-in contract, for the awaited payment. nil = none.
func relayOf(x swap.Arrival, deposit *chain.Evidence) *relay {
	if x.Link == nil || x.Link.Relay == nil || deposit == nil || !deposit.Success {
		return nil
	}
	made := func(l *types.Log) bool {
		return l != nil && l.Address == x.Link.Relay.Source && len(l.Topics) > 0 && l.Topics[0] == fundsDeposited
	}
	i := slices.IndexFunc(deposit.Logs, made)
	if i < 0 || slices.ContainsFunc(deposit.Logs[i+1:], made) {
		return nil
	}
	r, to, ok := readDeposit(deposit.Logs[i], deposit.Chain)
	if !ok || to != wordOf(x.Chain) || r.recipient != TopicOf(x.To) || r.outputToken != TopicOf(outputToken(x)) || r.outputAmount.Big().Cmp(x.Least) < 0 {
		return nil
	}
	return &r
}

// relayed returns the payment of the fill of x's relay in a transaction, and what of it
// stayed with the recipient. Nobody pays if the recipient itself fills, and a contract is paid
// the wrapped coin instead of the coin: so the payment must be logged too, between the fill's
// event and the next fill's.
func (x AwaitedPayment) relayed(ev chain.Evidence) (paid []Payment, sum *big.Int, ok bool) {
	if x.relay == nil {
		return nil, nil, false
	}
	for i, l := range ev.Logs {
		f, is := x.fillIn(l)
		if !is || f.relay != *x.relay || f.recipient != TopicOf(x.To) || f.amount.Sign() <= 0 {
			continue
		}
		p := Payment{From: f.relayer, Amount: f.amount, Ref: swap.LogRef{Chain: ev.Chain, Tx: ev.Tx, Index: i, Block: ev.Block, Account: x.To}}
		if f.slow {
			p.From = x.Link.Relay.Destination
		}
		at := x.paidAfter(ev.Logs, i, f.amount)
		if at < 0 {
			return nil, nil, false
		}
		sum = f.amount
		if x.Token != chain.Native {
			p.Ref = swap.LogRef{Chain: ev.Chain, Tx: ev.Tx, Index: at}
			if kept := swap.NetOf(chain.Transfers(ev.Logs), x.To)[x.Token]; kept == nil || kept.Cmp(sum) < 0 {
				sum = kept // the rest left again in the same transaction
			}
		}
		return []Payment{p}, sum, sum != nil && sum.Sign() > 0
	}
	return nil, nil, false
}

// fillIn decodes a fill that the built-in contract of the destination logs.
func (x AwaitedPayment) fillIn(l *types.Log) (relayFill, bool) {
	if l == nil || l.Address != x.Link.Relay.Destination {
		return relayFill{}, false
	}
	return readFill(l)
}

// paidAfter returns the index of the log that shows the payment of the fill at the given index;
// -1 if there is none.
func (x AwaitedPayment) paidAfter(logs []*types.Log, fill int, amount *big.Int) int {
	for i, l := range logs[fill+1:] {
		switch {
		case l == nil:
		case l.Address == x.Link.Relay.Destination && len(l.Topics) > 0 && l.Topics[0] == filledRelay:
			return -1
		case x.shows(l, amount):
			return fill + 1 + i
		}
	}
	return -1
}

// shows reports whether a log is the transfer of the token to the awaited account or, for the
// coin, says that the built-in contract unwrapped it, which some wrapped coins log as burning.
func (x AwaitedPayment) shows(l *types.Log, amount *big.Int) bool {
	pool := TopicOf(x.Link.Relay.Destination)
	switch {
	case l.Address != outputToken(x.Arrival) || common.BytesToHash(l.Data) != common.BigToHash(amount) || len(l.Data) != common.HashLength:
		return false
	case x.Token != chain.Native:
		return len(l.Topics) == 3 && l.Topics[0] == chain.TransferTopic && l.Topics[2] == TopicOf(x.To)
	}
	return slices.Equal(l.Topics, []common.Hash{withdrawal, pool}) || slices.Equal(l.Topics, []common.Hash{chain.TransferTopic, pool, {}})
}

// FillsOtherRelay reports whether a transaction fills a relay to the awaited account that is not
// x's: the event names the deposit that its payment is for.
func (x AwaitedPayment) FillsOtherRelay(ev chain.Evidence) bool {
	return slices.ContainsFunc(ev.Logs, func(l *types.Log) bool {
		if !fillsRelayTo(l, x.To) {
			return false
		}
		if x.relay == nil {
			return true
		}
		f, is := x.fillIn(l)
		return !is || f.relay != *x.relay
	})
}

// FillsRelayTo reports whether a transaction fills a relay to an account.
func FillsRelayTo(logs []*types.Log, to common.Address) bool {
	return slices.ContainsFunc(logs, func(l *types.Log) bool { return fillsRelayTo(l, to) })
}

// fillsRelayTo reports whether a log is the fill of a relay that names an account anywhere. Any
// contract's counts: whoever logs one falsely only makes his own transaction prove less.
func fillsRelayTo(l *types.Log, to common.Address) bool {
	return l != nil && len(l.Topics) > 0 && l.Topics[0] == filledRelay && bytes.Contains(l.Data, TopicOf(to).Bytes())
}
