package bridge

import (
	"bytes"
	"math/big"
	"strings"

	"swapkeep/providers/wire"
	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
)

// A purpose is what a step is for.
type purpose int

const (
	approves  purpose = iota + 1 // lets a contract pull the input; dropped, since the wallet makes its own
	deposits                     // pays for what arrives on another chain
	exchanges                    // swaps on one chain
)

// purposes are the ids of steps that are understood. All others are refused, among them
// signatures, which would let others act, and plain transfers.
var purposes = map[string]purpose{
	"approve":  approves,
	"approval": approves,
	"deposit":  deposits,
	"swap":     exchanges,
}

const (
	transactionKind = "transaction"
	incomplete      = "incomplete"

	maxCalldata  = 32 << 10
	maxApprovals = 2 // a reset to zero, and the allowance
)

// payingStep checks all steps against the request, and returns the one that spends the input.
func (q quoteReply) payingStep(r swap.QuoteRequest) (transaction, error) {
	var allowed []transaction
	var main *transaction
	for _, s := range q.Steps {
		why, txs, err := s.read(r)
		switch {
		case err != nil:
			return transaction{}, err
		case len(txs) == 0: // nothing to do for it
		case main != nil:
			return transaction{}, refuse(swap.NotAsAccepted, "steps", "wants something more done after the input is paid")
		case why == approves:
			allowed = append(allowed, txs...)
		case len(txs) > 1:
			return transaction{}, refuse(swap.NotAsAccepted, "steps", "wants the input paid more than once")
		default:
			main = &txs[0]
		}
	}
	if main == nil {
		return transaction{}, refuse(swap.ProviderInvalidResponse, "steps", "left out the step that pays the input")
	}
	return *main, checkApprovals(allowed, main.To.Address, r)
}

// read checks one step against the request, and returns its purpose and transactions.
func (s step) read(r swap.QuoteRequest) (purpose, []transaction, error) {
	why, known := purposes[s.ID]
	switch {
	case s.Kind != transactionKind:
		return 0, nil, refuse(swap.Undecodable, "kind", "asks for a step of the kind %q; only transactions are made here, and nothing is signed for others to use", wire.Printable(s.Kind))
	case !known:
		return 0, nil, refuse(swap.Undecodable, "id", "asks for a step %q, which is not known here", wire.Printable(s.ID))
	case why == deposits && r.SrcChain == r.DstChain, why == exchanges && r.SrcChain != r.DstChain:
		return 0, nil, refuse(swap.NotAsAccepted, "id", "asks for a %s, which is no step of a swap from chain %d to %d", s.ID, r.SrcChain, r.DstChain)
	case s.DepositAddress != nil && *s.DepositAddress != "":
		return 0, nil, refuse(swap.Undecodable, "depositAddress", "wants the input sent to an address of its own")
	}
	var txs []transaction
	for _, i := range s.Items {
		if i.Status != incomplete {
			return 0, nil, refuse(swap.Undecodable, "status", "has a step in the state %q", wire.Printable(i.Status))
		}
		tx, err := readTransaction(i.Data, r)
		if err != nil {
			return 0, nil, err
		}
		txs = append(txs, tx)
	}
	return why, txs, nil
}

// readTransaction reads an item's data and checks its common fields against the request.
func readTransaction(raw []byte, r swap.QuoteRequest) (transaction, error) {
	var tx transaction
	if err := service.Read("transaction", raw, &tx); err != nil {
		return tx, refuse(swap.Undecodable, "data", "has a transaction that cannot be read: %v", err)
	}
	err := service.CheckEchoes([]wire.Echo{
		{Field: "chainId", Present: tx.ChainID != nil, Matches: tx.ChainID.IsID(r.SrcChain)},
		{Field: "from", Present: tx.From != nil, Matches: tx.From.Is(r.From())},
		{Field: "to", Present: tx.To != nil, Matches: tx.To != nil && tx.To.Address != (common.Address{})},
		{Field: "value", Present: tx.Value != nil, Matches: true},
		{Field: "data", Present: tx.Data != nil, Matches: true},
	})
	if err != nil {
		return tx, err
	}
	if len(*tx.Data) > 2*maxCalldata+2 {
		return tx, refuse(swap.ProviderInvalidResponse, "data", "sent more than %d bytes of calldata", maxCalldata)
	}
	if tx.calldata, err = hexutil.Decode(strings.ToLower(*tx.Data)); err != nil {
		return tx, refuse(swap.ProviderInvalidResponse, "data", "sent calldata that is not hexadecimal")
	}
	return tx, nil
}

// approveSelector is approve(address,uint256).
var approveSelector = []byte{0x09, 0x5e, 0xa7, 0xb3}

// checkApprovals requires approvals of exactly the input, for the very contract that the
// last step calls; a reset to zero may come first. They are not carried out, but an API
// that asks for anything else cannot be trusted with the rest.
func checkApprovals(txs []transaction, spender common.Address, r swap.QuoteRequest) error {
	if len(txs) > maxApprovals || len(txs) > 0 && r.TokenIn == nativeCoin {
		return refuse(swap.NotAsAccepted, "approve", "asks for an approval that the swap does not need")
	}
	for i, tx := range txs {
		want := append(bytes.Clone(approveSelector), common.LeftPadBytes(spender[:], wordLen)...)
		last := i == len(txs)-1
		switch n := tx.approved(want); {
		case tx.To.Address != r.TokenIn || tx.Value.Sign() != 0:
			return refuse(swap.NotAsAccepted, "approve", "asks for an approval on %s, which is not the input token alone", tx.To.Address)
		case n == nil:
			return refuse(swap.NotAsAccepted, "approve", "asks for an approval of another contract than the one that is called")
		case n.Sign() == 0 && !last:
		case n.Cmp(r.AmountIn) != 0 || !last:
			return refuse(swap.NotAsAccepted, "approve", "asks for an approval of %s, not of exactly the input", n)
		}
	}
	return nil
}

// approved returns the amount behind the beginning of an approval, nil for other calldata.
func (tx transaction) approved(beginning []byte) *big.Int {
	if len(tx.calldata) != len(beginning)+wordLen || !bytes.HasPrefix(tx.calldata, beginning) {
		return nil
	}
	return new(big.Int).SetBytes(tx.calldata[len(beginning):])
}

// gas returns the API's gas estimate, in units; 0 if it is missing or above [maxGas].
func (tx transaction) gas() uint64 {
	var n wire.Number
	if wire.IsNull(tx.Gas) || n.UnmarshalJSON(tx.Gas) != nil || !n.IsUint64() || n.Uint64() > maxGas {
		return 0
	}
	return n.Uint64()
}

const maxGas = 1 << 24
