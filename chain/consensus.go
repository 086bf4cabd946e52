package chain

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"slices"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/rlp"
)

// Why a block's answers do not give its hash or its roots.
var (
	// errContradiction means that they cannot be of one block: somebody altered them.
	errContradiction = errors.New("contradicts the block's own hash")
	// errForm means that they have a type, a member or an encoding that this version does not
	// know, so that nothing can be told.
	errForm = errors.New("in a form that is not known here")
)

// A fullBlock is a block as far as its hash commits to it.
type fullBlock struct {
	header   *types.Header
	txs      []blockTx
	receipts []blockReceipt // one per transaction; nil until they are read
}

// A blockTx is a transaction of a block.
type blockTx struct {
	kind   byte
	raw    []byte // consensus encoding
	hash   common.Hash
	signed *types.Transaction // nil for a type that nobody signs
	from   common.Address     // of such a type; zero if its encoding names none
	to     common.Address     // zero: none, or its encoding names none
	value  *big.Int           // wei; zero if its encoding names none
	input  []byte             // none, or its encoding names none
}

// A blockReceipt is what the receipts' root commits to, of one receipt. The transaction's hash,
// its index and the type are not in it: they follow from its place.
type blockReceipt struct {
	Status  *hexutil.Uint64 `json:"status"`
	Gas     *hexutil.Uint64 `json:"cumulativeGasUsed"`
	Logs    []*types.Log    `json:"logs"`
	Nonce   *hexutil.Uint64 `json:"depositNonce"`
	Version *hexutil.Uint64 `json:"depositReceiptVersion"`
}

// headerMembers are the members of a block's answer that this version can place: those of the
// header up to requestsHash, and those that no hash commits to. Later ones are optional, and
// not every network has them in the same order.
var headerMembers = []string{
	"parentHash", "sha3Uncles", "miner", "stateRoot", "transactionsRoot", "receiptsRoot", "logsBloom", "difficulty", "number", "gasLimit", "gasUsed", "timestamp",
	"extraData", "mixHash", "nonce", "baseFeePerGas", "withdrawalsRoot", "blobGasUsed", "excessBlobGas", "parentBeaconBlockRoot", "requestsHash",
	"hash", "size", "totalDifficulty", "transactions", "uncles", "withdrawals", "author",
	"l1BlockNumber", "sendRoot", "sendCount", // Arbitrum: also in mixHash and extraData
	"milliTimestamp", // BNB: also in mixHash
}

// readHeader decodes the header of the block with that hash.
func readHeader(raw []byte, hash common.Hash) (*types.Header, error) {
	h := new(types.Header)
	if err := json.Unmarshal(raw, h); err != nil || !h.Number.IsUint64() {
		return nil, fmt.Errorf("header: %w", errForm)
	}
	if h.Hash() == hash {
		return h, nil
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(raw, &members); err != nil {
		return nil, fmt.Errorf("header: %w", errForm)
	}
	for name := range members {
		if !slices.Contains(headerMembers, name) {
			return nil, fmt.Errorf("header with another member: %w", errForm)
		}
	}
	return nil, fmt.Errorf("header: %w", errContradiction)
}

// readBlock decodes the block with that hash, with all of its transactions, whose root must
// be the header's.
func readBlock(raw []byte, hash common.Hash) (*fullBlock, error) {
	h, err := readHeader(raw, hash)
	if err != nil {
		return nil, err
	}
	var body struct {
		Transactions []json.RawMessage `json:"transactions"`
	}
	if err := json.Unmarshal(raw, &body); err != nil {
		return nil, fmt.Errorf("transactions: %w", errForm)
	}
	b, all := &fullBlock{header: h}, encodings{}
	for i, given := range body.Transactions {
		t, err := readTx(given)
		if err != nil {
			return nil, fmt.Errorf("transaction %d: %w", i, err)
		}
		b.txs, all = append(b.txs, t), append(all, t.raw)
	}
	if all.root() != h.TxHash {
		return nil, fmt.Errorf("transactions: %w", errContradiction)
	}
	return b, nil
}

// readTx decodes a transaction of a block. One that does not give the hash that comes with it
// is in a form that is not known: only the root can tell that transactions were altered.
func readTx(raw json.RawMessage) (t blockTx, err error) {
	var named struct {
		Type hexutil.Uint64 `json:"type"`
		Hash common.Hash    `json:"hash"`
	}
	if json.Unmarshal(raw, &named) != nil || named.Type > 0xff {
		return t, errForm
	}
	t = blockTx{kind: byte(named.Type), value: new(big.Int)}
	if members, ok := unsignedTypes[t.kind]; ok {
		err = t.readUnsigned(raw, members)
	} else {
		t.signed = new(types.Transaction)
		if err = json.Unmarshal(raw, t.signed); err == nil {
			t.raw, err = t.signed.MarshalBinary()
		}
	}
	if err != nil {
		return t, errForm
	}
	if t.hash = crypto.Keccak256Hash(t.raw); t.hash != named.Hash {
		return t, errForm
	}
	if t.signed != nil {
		t.value, t.input = t.signed.Value(), t.signed.Data()
		if to := t.signed.To(); to != nil {
			t.to = *to
		}
	}
	return t, nil
}

// sender returns who sent t; zero if its encoding names nobody.
func (t blockTx) sender(chainID uint64) (common.Address, error) {
	if t.signed == nil {
		return t.from, nil
	}
	return types.Sender(types.LatestSignerForChainID(new(big.Int).SetUint64(chainID)), t.signed)
}

// A memberForm is how a member of a transaction is encoded.
type memberForm int

const (
	octets memberForm = iota // a hash, an address or data; none = empty
	number
	truth
)

// A txMember is a member of a transaction, by its name in JSON.
type txMember struct {
	name string
	form memberForm
}

// depositType is the OP stack's transaction that comes from L1.
const depositType = 0x7e

// unsignedTypes are the transaction types that rollups add to Ethereum's, with their members in
// the order of their encoding: 0x7e of the OP stack (op-geth), the others of Arbitrum (the
// go-ethereum of Nitro).
var unsignedTypes = map[byte][]txMember{
	depositType: {{"sourceHash", octets}, {"from", octets}, {"to", octets}, {"mint", number}, {"value", number}, {"gas", number}, {"isSystemTx", truth}, {"input", octets}},
	0x64:        {{"chainId", number}, {"requestId", octets}, {"from", octets}, {"to", octets}, {"value", number}},
	0x65:        {{"chainId", number}, {"from", octets}, {"nonce", number}, {"maxFeePerGas", number}, {"gas", number}, {"to", octets}, {"value", number}, {"input", octets}},
	0x66:        {{"chainId", number}, {"requestId", octets}, {"from", octets}, {"maxFeePerGas", number}, {"gas", number}, {"to", octets}, {"value", number}, {"input", octets}},
	0x68: {{"chainId", number}, {"nonce", number}, {"from", octets}, {"maxFeePerGas", number}, {"gas", number}, {"to", octets}, {"value", number}, {"input", octets},
		{"ticketId", octets}, {"refundTo", octets}, {"maxRefund", number}, {"submissionFeeRefund", number}},
	0x69: {{"chainId", number}, {"requestId", octets}, {"from", octets}, {"l1BaseFee", number}, {"depositValue", number}, {"maxFeePerGas", number}, {"gas", number},
		{"retryTo", octets}, {"retryValue", number}, {"beneficiary", octets}, {"maxSubmissionFee", number}, {"refundTo", octets}, {"retryData", octets}},
	0x6a: {{"chainId", number}, {"input", octets}},
}

// readUnsigned encodes a transaction of a type with these members. What its encoding does not
// name stays zero, and so equals nothing that a node says of it.
func (t *blockTx) readUnsigned(raw json.RawMessage, members []txMember) error {
	var given map[string]json.RawMessage
	if err := json.Unmarshal(raw, &given); err != nil {
		return err
	}
	items := make([]any, len(members))
	for i, m := range members {
		var b hexutil.Bytes
		var n hexutil.Big
		var yes bool
		into := map[memberForm]any{octets: &b, number: &n, truth: &yes}[m.form]
		if v := given[m.name]; len(v) > 0 && string(v) != "null" {
			if err := json.Unmarshal(v, into); err != nil {
				return err
			}
		}
		items[i] = map[memberForm]any{octets: []byte(b), number: n.ToInt(), truth: yes}[m.form]
		switch m.name {
		case "from":
			t.from = common.BytesToAddress(b)
		case "to":
			t.to = common.BytesToAddress(b)
		case "value":
			t.value = n.ToInt()
		case "input":
			t.input = b
		}
	}
	body, err := rlp.EncodeToBytes(items)
	t.raw = append([]byte{t.kind}, body...)
	return err
}

// setReceipts gives b its receipts, whose root must be the header's.
func (b *fullBlock) setReceipts(list []blockReceipt) error {
	if len(list) != len(b.txs) {
		return fmt.Errorf("%d receipts for %d transactions: %w", len(list), len(b.txs), errContradiction)
	}
	all := make(encodings, len(list))
	for i, r := range list {
		var err error
		if all[i], err = r.encode(b.txs[i].kind); err != nil {
			return fmt.Errorf("receipt %d: %w", i, err)
		}
	}
	if all.root() != b.header.ReceiptHash {
		return fmt.Errorf("receipts: %w", errContradiction)
	}
	b.receipts = list
	return nil
}

// encode returns the consensus encoding of the receipt of a transaction of that type. An OP
// deposit's nonce and version are in it only together, since the Canyon upgrade.
func (r blockReceipt) encode(kind byte) ([]byte, error) {
	if r.Status == nil || *r.Status > hexutil.Uint64(types.ReceiptStatusSuccessful) || r.Gas == nil || slices.Contains(r.Logs, nil) {
		return nil, errForm
	}
	body := []any{uint64(*r.Status), uint64(*r.Gas), types.CreateBloom(&types.Receipt{Logs: r.Logs}), r.Logs}
	if kind == depositType && r.Version != nil {
		if r.Nonce == nil {
			return nil, errForm
		}
		body = append(body, uint64(*r.Nonce), uint64(*r.Version))
	}
	out, err := rlp.EncodeToBytes(body)
	if err != nil || kind == types.LegacyTxType {
		return out, err
	}
	return append([]byte{kind}, out...), nil
}

// contradiction returns in what ev differs from the block; "" = in nothing. Logs are compared
// only if logs is set.
func (b *fullBlock) contradiction(ev Evidence, logs bool) string {
	i := slices.IndexFunc(b.txs, func(t blockTx) bool { return t.hash == ev.Tx })
	if i < 0 {
		return "that it is in the block"
	}
	t, r, gas := b.txs[i], b.receipts[i], uint64(*b.receipts[i].Gas)
	if i > 0 {
		gas -= uint64(*b.receipts[i-1].Gas)
	}
	from, err := t.sender(ev.Chain)
	switch {
	case b.header.Number.Uint64() != ev.Block:
		return "the block's number"
	case !ev.Time.IsZero() && !blockTime(hexutil.Uint64(b.header.Time)).Equal(ev.Time):
		return "the block's time"
	case (uint64(*r.Status) == types.ReceiptStatusSuccessful) != ev.Success:
		return "whether it succeeded"
	case gas != ev.GasUsed:
		return "its gas"
	case t.to != ev.To:
		return "its recipient"
	case ev.Value != nil && (err != nil || from != ev.From):
		return "its sender"
	case ev.Value != nil && t.value.Cmp(ev.Value) != 0:
		return "its value"
	case ev.Value != nil && (len(t.input) != ev.InputSize || inputEnd(t.input) != ev.InputEnd):
		return "its input"
	case logs && !sameLogs(r.Logs, ev.Logs):
		return "its logs"
	}
	return ""
}
