package chain

import (
	"bytes"
	"encoding/json"
	"errors"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/trie"
	"github.com/holiman/uint256"
)

// recordedBlock returns a block of testdata/live/chains, and its hash.
func recordedBlock(t testing.TB, name string) (raw []byte, hash common.Hash) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "testdata", "live", "chains", name))
	if err != nil {
		t.Fatal(err)
	}
	var answer struct{ Result json.RawMessage }
	var block struct{ Hash common.Hash }
	if err = json.Unmarshal(text, &answer); err == nil {
		err = json.Unmarshal(answer.Result, &block)
	}
	if err != nil {
		t.Fatal(err)
	}
	return answer.Result, block.Hash
}

// TestRecordedBlocks checks that recorded blocks of rollups give their hashes and roots.
func TestRecordedBlocks(t *testing.T) {
	raw, hash := recordedBlock(t, "op-stack-block.json")
	b, err := readBlock(raw, hash)
	if err != nil {
		t.Fatal(err)
	}
	// Its only receipt, of the deposit, follows from the header and from the transaction, where the
	// node shows the deposit's nonce and version.
	one, gas, nonce := hexutil.Uint64(1), hexutil.Uint64(b.header.GasUsed), hexutil.Uint64(0x111)
	if err := b.setReceipts([]blockReceipt{{Status: &one, Gas: &gas, Nonce: &nonce, Version: &one}}); err != nil {
		t.Errorf("the deposit's receipt: %v", err)
	}
	for name, r := range map[string]blockReceipt{
		"without its version": {Status: &one, Gas: &gas, Nonce: &nonce}, "of another nonce": {Status: &one, Gas: &gas, Nonce: &gas, Version: &one},
		"that failed": {Status: new(hexutil.Uint64), Gas: &gas, Nonce: &nonce, Version: &one},
	} {
		if err := b.setReceipts([]blockReceipt{r}); !errors.Is(err, errContradiction) {
			t.Errorf("a receipt %s: %v", name, err)
		}
	}
	if d := b.txs[0]; d.from != common.HexToAddress("0xDeaDDEaDDeAdDeAdDEAdDEaddeAddEAdDEAd0001") || d.to != common.HexToAddress("0x4200000000000000000000000000000000000015") || d.value.Sign() != 0 {
		t.Errorf("the deposit is %+v", d)
	}

	raw, hash = recordedBlock(t, "arbitrum-block.json")
	if b, err = readBlock(raw, hash); err != nil {
		t.Fatal(err)
	}
	if from, err := b.txs[3].sender(42161); err != nil || from != common.HexToAddress("0xF89d7b9c864f589bbF53a82105107622B35EaA40") {
		t.Errorf("sent by %s, %v", from, err)
	}
	if d := b.txs[0]; d.kind != 0x6a || d.from != (common.Address{}) || d.to != (common.Address{}) {
		t.Errorf("the internal transaction is %+v", d)
	}
}

// allTypes returns a block with a transaction of each of Ethereum's types, and its receipts.
func allTypes(t testing.TB) (block, receipts []byte, hash common.Hash) {
	t.Helper()
	key := newTestKey(t, "types")
	id, to := big.NewInt(1), common.Address{5}
	var txs types.Transactions
	var done types.Receipts
	for i, d := range []types.TxData{
		&types.LegacyTx{To: &to, Gas: 21_000, GasPrice: id},
		&types.AccessListTx{ChainID: id, To: &to, Gas: 21_000, GasPrice: id, AccessList: types.AccessList{{Address: to, StorageKeys: []common.Hash{{2}}}}},
		&types.DynamicFeeTx{ChainID: id, Gas: 21_000, GasFeeCap: id, GasTipCap: id, Value: big.NewInt(3)},
		&types.BlobTx{ChainID: uint256.NewInt(1), To: to, Gas: 21_000, GasFeeCap: uint256.NewInt(1), GasTipCap: uint256.NewInt(1), BlobFeeCap: uint256.NewInt(1), BlobHashes: []common.Hash{{1}}},
		&types.SetCodeTx{ChainID: uint256.NewInt(1), To: to, Gas: 21_000, GasFeeCap: uint256.NewInt(1), GasTipCap: uint256.NewInt(1), AuthList: []types.SetCodeAuthorization{{Address: to}}},
	} {
		tx, err := types.SignNewTx(key.key, types.LatestSignerForChainID(id), d)
		if err != nil {
			t.Fatal(err)
		}
		r := &types.Receipt{Type: tx.Type(), Status: uint64(i % 2), CumulativeGasUsed: uint64(21_000 * (i + 1)), TxHash: tx.Hash(), Logs: []*types.Log{}}
		if i%2 == 1 {
			r.Logs = append(r.Logs, &types.Log{Address: to, Topics: []common.Hash{{byte(i)}}, Data: []byte{byte(i)}})
		}
		r.Bloom = types.CreateBloom(r)
		txs, done = append(txs, tx), append(done, r)
	}
	h := types.NewBlock(&types.Header{Number: big.NewInt(7), Difficulty: new(big.Int), Time: 99, BaseFee: big.NewInt(1)}, &types.Body{Transactions: txs}, done, trie.NewStackTrie(nil)).Header()
	head, err := json.Marshal(h)
	if err != nil {
		t.Fatal(err)
	}
	body, err := json.Marshal(txs)
	if err != nil {
		t.Fatal(err)
	}
	if receipts, err = json.Marshal(done); err != nil {
		t.Fatal(err)
	}
	return []byte(strings.TrimSuffix(string(head), "}") + `,"transactions":` + string(body) + `}`), receipts, h.Hash()
}

// TestEveryType checks a block with a transaction of every type of Ethereum.
func TestEveryType(t *testing.T) {
	raw, receipts, hash := allTypes(t)
	b, err := readBlock(raw, hash)
	if err != nil {
		t.Fatal(err)
	}
	var list []blockReceipt
	if err := json.Unmarshal(receipts, &list); err != nil {
		t.Fatal(err)
	}
	if err := b.setReceipts(list); err != nil {
		t.Fatal(err)
	}
	if len(b.txs) != 5 || b.txs[3].kind != types.BlobTxType {
		t.Errorf("transactions %+v", b.txs)
	}
}

// A rawList is a list as go-ethereum derives roots of.
type rawList [][]byte

func (l rawList) Len() int                           { return len(l) }
func (l rawList) EncodeIndex(i int, w *bytes.Buffer) { w.Write(l[i]) }

// TestTrieRoot compares roots with those of go-ethereum's trie, of lists of short and long
// elements.
func TestTrieRoot(t *testing.T) {
	var list rawList
	for n := range 700 {
		if got, want := encodings(list).root(), types.DeriveSha(list, trie.NewStackTrie(nil)); got != want {
			t.Fatalf("%d elements: %s, want %s", n, got, want)
		}
		list = append(list, bytes.Repeat([]byte{byte(n), byte(n >> 8)}, 1+n%40))
		if n > 140 && n%50 != 0 { // every length near the changes of the index's encoding is compared
			for range 9 {
				list = append(list, []byte{byte(n)})
			}
		}
	}
}

// FuzzBlock checks that a block and receipts are taken only if they are what the hash commits to,
// whatever a node sends.
func FuzzBlock(f *testing.F) {
	type seed struct {
		raw, receipts []byte
		hash          common.Hash
	}
	var seeds [3]seed
	seeds[0].raw, seeds[0].receipts, seeds[0].hash = allTypes(f)
	seeds[1].raw, seeds[1].hash = recordedBlock(f, "op-stack-block.json")
	seeds[1].receipts = []byte(`[{"status":"0x1","cumulativeGasUsed":"0xb76d","logs":[],"depositNonce":"0x111","depositReceiptVersion":"0x1"}]`)
	seeds[2].raw, seeds[2].hash = recordedBlock(f, "arbitrum-block.json")
	seeds[2].receipts = []byte(`[]`)
	want := make([]*fullBlock, len(seeds))
	for i, s := range seeds {
		var err error
		if want[i], err = readBlock(s.raw, s.hash); err != nil {
			f.Fatal(err)
		}
		f.Add(i, s.raw, s.receipts)
		f.Add(i, []byte(strings.Replace(string(s.raw), `"0x1"`, `"0x2"`, 1)), []byte(strings.Replace(string(s.receipts), `"0x1"`, `"0x0"`, 1)))
		f.Add(i, []byte(`null`), []byte(`[null]`))
	}
	f.Fuzz(func(t *testing.T, i int, raw, receipts []byte) {
		if i < 0 || i >= len(seeds) {
			return
		}
		b, err := readBlock(raw, seeds[i].hash)
		if err != nil {
			checkShown(t, err)
			b = want[i]
		}
		if len(b.txs) != len(want[i].txs) || b.header.Hash() != seeds[i].hash {
			t.Fatalf("another block: %+v", b)
		}
		for j := range b.txs {
			if b.txs[j].hash != want[i].txs[j].hash {
				t.Fatalf("another transaction %d: %+v", j, b.txs[j])
			}
		}
		var list, told []blockReceipt
		if json.Unmarshal(receipts, &list) != nil || json.Unmarshal(seeds[i].receipts, &told) != nil {
			return
		}
		fresh := *b
		if err := fresh.setReceipts(list); err != nil {
			checkShown(t, err)
			return
		}
		for j, r := range fresh.receipts {
			if *r.Status != *told[j].Status || *r.Gas != *told[j].Gas || !sameLogs(r.Logs, told[j].Logs) {
				t.Fatalf("another receipt %d: %+v", j, r)
			}
		}
	})
}
