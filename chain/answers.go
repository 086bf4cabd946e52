package chain

import "strings"

// A verdict is what a node's answer to a broadcast allows us to believe.
type verdict int

const (
	ambiguous verdict = iota // it may or may not be queued; receipts decide
	accepted                 // the node has it
	refused                  // the node did not queue it
)

// answers maps what nodes say to a raw transaction, in lower case, to a
// verdict. The first text found in the answer counts, so the exceptions stand
// before the rules. A text that is not here is ambiguous: only words known to
// mean "not queued" are a refusal.
var answers = []struct {
	verdict verdict
	text    string
	said    string // by which nodes
}{
	{accepted, "already known", "geth, op-geth, erigon, reth, nitro"},
	{accepted, "alreadyknown", "nethermind"},
	{accepted, "known transaction", "besu, geth before 1.9"},
	{accepted, "already imported", "parity, reth"},
	{accepted, "existing tx with same hash", "erigon"},

	// Another transaction, perhaps an earlier attempt of ours, has the nonce.
	{ambiguous, "replacement transaction underpriced", "geth, op-geth, besu, reth"},
	{ambiguous, "could not replace existing tx", "erigon"},
	{ambiguous, "replacementnotallowed", "nethermind"},
	{ambiguous, "ownnoncealreadyused", "nethermind"},
	{ambiguous, "insufficient gas price to replace existing transaction", "reth"},
	{ambiguous, "nonce too low", "geth, op-geth, erigon, besu, reth, nitro"},
	{ambiguous, "oldnonce", "nethermind"},
	{ambiguous, "invalid transaction nonce", "nitro"},
	{ambiguous, "nonce too high", "nitro"},
	{ambiguous, "noncegap", "nethermind"},
	{ambiguous, "in-flight transaction limit", "geth"},
	// Pools that are full, or were when asked.
	{ambiguous, "txpool is full", "geth, op-geth, reth"},
	{ambiguous, "out of capacity", "geth"},
	{ambiguous, "pool full", "nitro"},
	{ambiguous, "queue full", "nitro"},

	{refused, "insufficient funds", "geth, op-geth, erigon, reth, nitro"},
	{refused, "insufficientfunds", "nethermind"},
	{refused, "insufficient balance", "geth, erigon, monad"},
	{refused, "not enough funds for gas", "nitro"},
	{refused, "upfront cost exceeds account balance", "besu"},
	{refused, "would cause overdraft", "geth"},
	{refused, "intrinsic gas too low", "geth, op-geth, erigon, reth, nitro"},
	{refused, "intrinsic gas exceeds gas limit", "besu"},
	{refused, "insufficient gas for floor data gas cost", "geth"},
	{refused, "gas limit too low", "monad"},
	{refused, "exceeds block gas limit", "geth, op-geth, erigon, besu, reth, monad"},
	{refused, "gaslimitexceeded", "nethermind"},
	{refused, "transaction gas limit too high", "geth, reth"},
	{refused, "gas uint64 overflow", "geth, erigon"},
	{refused, "invalid sender", "geth, op-geth, erigon"},
	{refused, "invalid chain id", "geth, reth"},
	{refused, "invalid signature", "besu"},
	{refused, "failedtoresolvesender", "nethermind"},
	{refused, "sender not an eoa", "geth, reth"},
	{refused, "senderiscontract", "nethermind"},
	{refused, "negative value", "geth, erigon"},
	{refused, "oversized data", "geth, op-geth, erigon, reth"},
	{refused, "max initcode size exceeded", "geth, reth"},
	{refused, "transaction type not supported", "geth, reth"},
	{refused, "exceeds the configured cap", "geth, erigon"},
	{refused, "transaction fee cap exceeded", "besu"},
	{refused, "max priority fee per gas higher than max fee per gas", "geth, reth"},
	{refused, "max fee per gas less than block base fee", "geth, reth, nitro"},
	{refused, "transaction gas price below minimum", "geth, erigon"},
	{refused, "gas price below configured minimum gas price", "besu"},
	{refused, "gas price too low", "nitro"},
	{refused, "feetoolow", "nethermind"},
	{refused, "transaction underpriced", "geth, op-geth, erigon, reth"},
}

// judge classifies a node's error text.
func judge(text string) verdict {
	text = strings.ToLower(text)
	for _, a := range answers {
		if strings.Contains(text, a.text) {
			return a.verdict
		}
	}
	return ambiguous
}

// revertTexts are what nodes say, in lower case, when the call itself failed.
var revertTexts = []string{
	"execution reverted", "vm execution error", "always failing transaction", "gas required exceeds allowance",
	"out of gas", "invalid opcode", "invalid jump destination", "stack underflow", "write protection",
}

// missingMethodTexts are how nodes without a method say so; most also use the
// code -32601.
var missingMethodTexts = []string{
	"method not found", "does not exist/is not available", "method not supported", "unsupported method",
	"not whitelisted", "eth_simulatev1 is not available", "unknown method",
}

func containsAny(text string, list []string) bool {
	text = strings.ToLower(text)
	for _, t := range list {
		if strings.Contains(text, t) {
			return true
		}
	}
	return false
}
