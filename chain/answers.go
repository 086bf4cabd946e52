package chain

import "strings"

// A verdict is what a node's answer to a broadcast proves.
type verdict int

const (
	ambiguous verdict = iota // it may or may not be queued; receipts decide
	accepted                 // the node has it
	refused                  // the node did not queue it
)

// answers maps nodes' errors on a raw transaction, in lower case, to a verdict. The first
// text that the error contains wins, so exceptions come before the rules. A text that is
// not listed is ambiguous: only wording known to mean "not queued" is a refusal.
var answers = []struct {
	verdict verdict
	text    string
	nodes   string // the software that sends it
}{
	{accepted, "already known", "geth, op-geth, erigon, reth, nitro"},
	{accepted, "alreadyknown", "nethermind"},
	{accepted, "known transaction", "besu, geth before 1.9"},
	{accepted, "already imported", "parity, reth"},
	{accepted, "existing tx with same hash", "erigon"},

	// Errors about the nonce: another transaction, perhaps an earlier attempt of ours,
	// may have it.
	{ambiguous, "replacement transaction underpriced", "geth, op-geth, erigon, besu, reth"},
	{ambiguous, "could not replace existing tx", "erigon"},
	{ambiguous, "replacementnotallowed", "nethermind"},
	{ambiguous, "ownnoncealreadyused", "nethermind"},
	{ambiguous, "pendingtxsofconflictingtype", "nethermind"},
	{ambiguous, "insufficient gas price to replace existing transaction", "reth"},
	{ambiguous, "conflicts with existing transaction", "reth"},
	{ambiguous, "existing transaction had higher priority", "monad"},
	{ambiguous, "future transaction tries to replace pending", "geth"},
	{ambiguous, "nonce too low", "geth, op-geth, erigon, besu, reth, nitro, monad"},
	{ambiguous, "oldnonce", "nethermind"},
	{ambiguous, "invalid transaction nonce", "nitro"},
	{ambiguous, "nonce too high", "geth, besu, nitro"},
	{ambiguous, "noncegap", "nethermind"},
	{ambiguous, "noncetoofarinfuture", "nethermind"},
	{ambiguous, "nonce too distant", "besu"},
	{ambiguous, "transaction with a lower nonce exists", "besu"},
	{ambiguous, "in-flight transaction limit", "geth"},
	{ambiguous, "gapped-nonce tx from delegated accounts", "geth"},
	{ambiguous, "notcurrentnoncefordelegation", "nethermind"},
	{ambiguous, "delegatorhaspendingtx", "nethermind"},
	{ambiguous, "address already reserved", "geth, reth"},
	// The pool is full, or was when asked.
	{ambiguous, "txpool is full", "geth, op-geth, reth"},
	{ambiguous, "out of capacity", "geth"},
	{ambiguous, "account limit exceeded", "geth"},
	{ambiguous, "sub-pool is full", "erigon"},
	{ambiguous, "feetoolowtocompete", "nethermind"},
	{ambiguous, "discarded outright due to pool size", "reth"},
	{ambiguous, "spammer", "erigon, reth"},
	{ambiguous, "pool full", "nitro"},
	{ambiguous, "queue full", "nitro"},
	{ambiguous, "pool capacity", "monad"},
	// The node could not tell.
	{ambiguous, "syncing", "nethermind"},
	{ambiguous, "world state not available", "besu"},

	{refused, "insufficient funds", "geth, op-geth, erigon, reth, nitro"},
	{refused, "insufficientfunds", "nethermind"},
	{refused, "insufficient balance", "geth, erigon, monad"},
	{refused, "not enough funds for gas", "nitro"},
	{refused, "upfront cost exceeds account balance", "besu"},
	{refused, "would cause overdraft", "geth"},
	{refused, "int256overflow", "nethermind"},
	{refused, "intrinsic gas too low", "geth, op-geth, erigon, reth, nitro"},
	{refused, "intrinsic gas exceeds gas limit", "besu"},
	{refused, "insufficient gas for floor data gas cost", "geth"},
	{refused, "gas limit too low", "monad"},
	{refused, "exceeds block gas limit", "geth, op-geth, erigon, besu, reth, monad"},
	{refused, "gaslimitexceeded", "nethermind"},
	{refused, "transaction gas limit too high", "geth, reth"},
	{refused, "gas limit is too high", "erigon"},
	{refused, "gas uint64 overflow", "geth, erigon"},
	{refused, "nonce has max value", "geth, erigon, reth"},
	{refused, "invalid sender", "geth, op-geth, erigon"},
	{refused, "invalid chain id", "geth, reth"},
	{refused, "wrong chainid", "besu"},
	{refused, "only replay-protected", "geth, op-geth, erigon"},
	{refused, "invalid signature", "besu"},
	{refused, "failedtoresolvesender", "nethermind"},
	{refused, "sender not an eoa", "geth, reth"},
	{refused, "senderiscontract", "nethermind"},
	{refused, "negative value", "geth, erigon"},
	{refused, "oversized data", "geth, op-geth, erigon, reth"},
	{refused, "maxtxsizeexceeded", "nethermind"},
	{refused, "rlp too long", "erigon"},
	{refused, "max initcode size exceeded", "geth, reth"},
	{refused, "initcode too large", "erigon"},
	{refused, "transaction type not supported", "geth, reth, nitro"},
	{refused, "notsupportedtxtype", "nethermind"},
	{refused, "exceeds the configured cap", "geth, erigon, reth"},
	{refused, "transaction fee cap exceeded", "besu"},
	{refused, "max priority fee per gas higher than", "geth, reth"},
	{refused, "max fee per gas higher than", "geth"},
	{refused, "max priority fee per gas exceeds max fee per gas", "besu"},
	{refused, "max fee per gas less than block base fee", "geth, reth, nitro"},
	{refused, "transaction gas price below minimum", "geth, erigon"},
	{refused, "below chain minimum", "reth"},
	{refused, "gas price below configured minimum gas price", "besu"},
	{refused, "gas price too low", "nitro"},
	{refused, "feetoolow", "nethermind"},
	{refused, "fee too low", "erigon"},
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

// revertTexts are nodes' errors, in lower case, that mean the call itself failed.
var revertTexts = []string{
	"execution reverted", "vm execution error", "always failing transaction", "gas required exceeds allowance",
	"out of gas", "invalid opcode", "invalid jump destination", "stack underflow", "write protection",
}

// missingMethodTexts are the errors of nodes that lack a method; most also use the code
// -32601.
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
