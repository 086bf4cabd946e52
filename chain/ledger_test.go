package chain

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"math/big"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	bolt "go.etcd.io/bbolt"
)

// aRecord returns a ledger record as the sender writes it.
func aRecord(t testing.TB, key string, nonce uint64) *Tx {
	t.Helper()
	secret := newTestKey(t, "ledger")
	call := pay(base, secret.addr, "0xaa", 1)
	signed, err := secret.SignTx(t.Context(), secret.addr, unsigned(call, nonce, 21000, Fees{GasFeeCap: big.NewInt(9), GasTipCap: big.NewInt(1)}), big.NewInt(base))
	if err != nil {
		t.Fatal(err)
	}
	raw, err := signed.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	until := time.Date(2030, 1, 2, 3, 4, 5, 6, time.UTC)
	return &Tx{Key: key, Call: call, Policy: Policy{Until: until, Ceiling: big.NewInt(1e15)}, Nonce: nonce, SignedAtBlock: 3, State: TxSigned, Attempts: []Attempt{{
		Kind: AttemptCall, Raw: raw, Hash: signed.Hash(), FeeCap: (*hexutil.Big)(big.NewInt(9)), TipCap: (*hexutil.Big)(big.NewInt(1)), Signed: until, Until: until,
	}}}
}

func TestLedgerRoundTrip(t *testing.T) {
	l, err := openLedger(tempDB(t))
	if err != nil {
		t.Fatal(err)
	}
	want := aRecord(t, "order/0", 4)
	if err := l.create(want); err != nil {
		t.Fatal(err)
	}
	got, err := l.get("order/0")
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v, want %+v", got, err, want)
	}
	if err := l.create(aRecord(t, "order/1", 4)); !errors.Is(err, ErrLedger) {
		t.Errorf("two keys on one nonce: %v", err)
	}
	if err := l.create(aRecord(t, "order/0", 5)); !errors.Is(err, ErrLedger) {
		t.Errorf("one key twice: %v", err)
	}
	now := want.Policy.Until
	if n, err := l.free(base, want.Call.From, 4, now); n != 5 || err != nil {
		t.Errorf("free = %d, %v", n, err)
	}
	if n, err := l.free(10, want.Call.From, 4, now); n != 4 || err != nil {
		t.Errorf("free on another chain = %d, %v", n, err)
	}
	rejected, err := l.update("order/0", func(tx *Tx) bool { tx.State = TxRejected; return true })
	if err != nil || rejected.State != TxRejected {
		t.Fatal(rejected, err)
	}
	if n, err := l.free(base, want.Call.From, 4, now); n != 4 || err != nil {
		t.Errorf("free after the rejection = %d, %v", n, err)
	}
	if tx, err := l.update("order/0", func(tx *Tx) bool { t.Error("a final record was offered for change"); return true }); err != nil || tx.State != TxRejected {
		t.Errorf("update of a final record = %+v, %v", tx, err)
	}
}

// TestMinedTransaction checks that the mined transaction comes from the record's own
// bytes, or not at all.
func TestMinedTransaction(t *testing.T) {
	tx := aRecord(t, "order/0", 4)
	if _, err := tx.MinedTransaction(); !errors.Is(err, ErrLedger) {
		t.Errorf("MinedTransaction before it is mined: error %v", err)
	}
	tx.Mined = tx.Last().Hash
	if mined, err := tx.MinedTransaction(); err != nil || mined.Hash() != tx.Mined || mined.Nonce() != 4 {
		t.Errorf("MinedTransaction = %+v, %v, want the transaction with nonce 4", mined, err)
	}
	tx.Attempts[0].Raw[9] ^= 1
	if mined, err := tx.MinedTransaction(); !errors.Is(err, ErrLedger) {
		t.Errorf("MinedTransaction with other bytes = %+v, %v, want an error", mined, err)
	}
}

// TestLedgerRefusesForgery checks that a record whose bytes do not match its fields is
// not decoded, so that nothing acts on it.
func TestLedgerRefusesForgery(t *testing.T) {
	good, err := encodeTx(aRecord(t, "k", 4))
	if err != nil {
		t.Fatal(err)
	}
	other := aRecord(t, "k", 5).Attempts[0]
	for name, change := range map[string]func(m map[string]any){
		"another hash":  func(m map[string]any) { attempt(m)["hash"] = other.Hash },
		"another tx":    func(m map[string]any) { attempt(m)["raw"], attempt(m)["hash"] = other.Raw, other.Hash },
		"another chain": func(m map[string]any) { m["call"].(map[string]any)["chainId"] = 10 },
		"another fee":   func(m map[string]any) { attempt(m)["feeCap"] = "0x8" },
		"no fee":        func(m map[string]any) { delete(attempt(m), "tipCap") },
		"no attempts":   func(m map[string]any) { m["attempts"] = []any{} },
		"no value":      func(m map[string]any) { delete(m["call"].(map[string]any), "value") },
		"no state":      func(m map[string]any) { delete(m, "state") },
		"no key":        func(m map[string]any) { delete(m, "key") },
		"no version":    func(m map[string]any) { delete(m, "v") },
		"extra field":   func(m map[string]any) { m["extra"] = 1 },
	} {
		var m map[string]any
		if err := json.Unmarshal(good, &m); err != nil {
			t.Fatal(err)
		}
		change(m)
		bad, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		if tx, err := decodeTx(bad); err == nil {
			t.Errorf("%s: %+v", name, tx)
		}
	}
}

func attempt(m map[string]any) map[string]any {
	return m["attempts"].([]any)[0].(map[string]any)
}

// put writes a raw record and its nonce claim.
func put(t *testing.T, db *bolt.DB, tx *Tx, raw []byte) {
	t.Helper()
	if err := db.Update(func(b *bolt.Tx) error {
		if err := b.Bucket(nonceBucket).Put(nonceKey(tx.Call.ChainID, tx.Call.From, tx.Nonce), []byte(tx.Key)); err != nil {
			return err
		}
		return b.Bucket(txBucket).Put([]byte(tx.Key), raw)
	}); err != nil {
		t.Fatal(err)
	}
}

// TestUnknownRecords checks that a state or format of a newer version is final: it is
// shown, its nonce stays held, and nothing is sent.
func TestUnknownRecords(t *testing.T) {
	key := newTestKey(t, "ledger")
	c := newTestChain(t, base, funded(key.addr))
	hub := newTestClient(t, base, 1, c.serve(t))
	for name, change := range map[string]func(m map[string]any){
		"state":  func(m map[string]any) { m["state"] = "bridging" },
		"format": func(m map[string]any) { m["v"], m["attempts"], m["new"] = 2, "elsewhere", true },
	} {
		db := tempDB(t)
		s := newTestSender(t, db, hub, key)
		tx := aRecord(t, "old", 0)
		raw, err := encodeTx(tx)
		if err != nil {
			t.Fatal(err)
		}
		var m map[string]any
		_ = json.Unmarshal(raw, &m)
		change(m)
		raw, _ = json.Marshal(m)
		put(t, db, tx, raw)

		got, err := s.Lookup("old")
		if err != nil || !got.State.Final() {
			t.Fatalf("%s: %+v, %v", name, got, err)
		}
		if got, ev, err := s.Poll(t.Context(), "old"); err != nil || ev != nil || !got.State.Final() {
			t.Errorf("%s: poll = %+v, %v", name, got, err)
		}
		if got, err := s.Submit(t.Context(), "old", tx.Call, soon()); err != nil || !got.State.Final() {
			t.Errorf("%s: submit = %+v, %v", name, got, err)
		}
		if got, err := s.Cancel(t.Context(), "old", soon()); err != nil || !got.State.Final() {
			t.Errorf("%s: cancel = %+v, %v", name, got, err)
		}
		if c.count("eth_sendRawTransaction") != 0 {
			t.Fatalf("%s: something was sent", name)
		}
		if next, err := s.Submit(t.Context(), "new", pay(base, key.addr, "0xbb", 1), soon()); err != nil || next.Nonce != 1 {
			t.Errorf("%s: next = %+v, %v", name, next, err)
		}
		after := readRaw(t, db, "old")
		if !bytes.Equal(after, raw) {
			t.Errorf("%s: the record was changed", name)
		}
		c.Rollback()
		c.mu.Lock()
		clear(c.calls)
		c.mu.Unlock()
	}
}

func readRaw(t *testing.T, db *bolt.DB, key string) (raw []byte) {
	t.Helper()
	if err := db.View(func(b *bolt.Tx) error {
		raw = bytes.Clone(b.Bucket(txBucket).Get([]byte(key)))
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return raw
}

// TestCorruptRecord checks that a corrupt record fails everything that touches it, and
// that its nonce is not free.
func TestCorruptRecord(t *testing.T) {
	_, key, hub := newBase(t, "ledger")
	db := tempDB(t)
	s := newTestSender(t, db, hub, key)
	put(t, db, aRecord(t, "torn", 0), []byte(`{"v":1,"key":"torn","sta`))
	if _, err := s.Lookup("torn"); !errors.Is(err, ErrLedger) {
		t.Errorf("lookup: %v", err)
	}
	if _, _, err := s.Poll(t.Context(), "torn"); !errors.Is(err, ErrLedger) {
		t.Errorf("poll: %v", err)
	}
	if tx, err := s.Submit(t.Context(), "next", pay(base, key.addr, "0xbb", 1), soon()); tx != nil || !errors.Is(err, ErrLedger) {
		t.Errorf("submit: %+v, %v", tx, err)
	}
	if key.count() != 0 {
		t.Error("signed, although Submit failed")
	}
}

// TestLedgerFailures checks that nothing is signed or sent when the database cannot be
// written.
func TestLedgerFailures(t *testing.T) {
	c, key, hub := newBase(t, "failures")
	path := filepath.Join(t.TempDir(), "orders.db")
	db := openDB(t, path)
	s := newTestSender(t, db, hub, key)
	submit := func(name string) (*Tx, error) {
		return s.Submit(t.Context(), name, pay(base, key.addr, "0xaa", 1), soon())
	}
	refuses := func(how string) {
		t.Helper()
		signs, sends := key.count(), c.count("eth_sendRawTransaction")
		tx, err := submit(how)
		if tx != nil || !errors.Is(err, ErrLedger) {
			t.Errorf("%s: %+v, %v, want ErrLedger", how, tx, err)
		}
		if key.count() != signs || c.count("eth_sendRawTransaction") != sends {
			t.Errorf("%s: signed or sent", how)
		}
	}
	if _, err := submit("first"); err != nil {
		t.Fatal(err)
	}

	// The ledger fails between signing and journaling: the bytes are dropped.
	sends := c.count("eth_sendRawTransaction")
	s.onPoint = func(p point) {
		if p == beforeJournal {
			_ = db.Close()
		}
	}
	if tx, err := submit("dropped"); tx != nil || !errors.Is(err, ErrLedger) {
		t.Errorf("failed journal: %+v, %v", tx, err)
	}
	if c.count("eth_sendRawTransaction") != sends {
		t.Error("broadcast what was not journaled")
	}
	s.onPoint = nil
	refuses("closed")
	if _, _, err := s.Poll(t.Context(), "first"); !errors.Is(err, ErrLedger) {
		t.Errorf("poll: %v", err)
	}
	if _, err := s.Cancel(t.Context(), "first", soon()); !errors.Is(err, ErrLedger) {
		t.Errorf("cancel: %v", err)
	}
	if _, err := s.Lookup("first"); !errors.Is(err, ErrLedger) {
		t.Errorf("lookup: %v", err)
	}

	if err := os.Chmod(path, 0o400); err != nil {
		t.Fatal(err)
	}
	db, err := bolt.Open(path, 0o400, &bolt.Options{ReadOnly: true, Timeout: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	s = newTestSender(t, db, hub, key)
	refuses("read-only")
	if _, err := submit("again"); err == nil || !strings.Contains(err.Error(), "read-only") {
		t.Errorf("read-only: %v", err)
	}
	if tx, err := s.Lookup("first"); err != nil || tx == nil {
		t.Errorf("a read-only ledger can be read: %v", err)
	}
	if _, err := NewSender(closedDB(t), hub, key, SenderOptions{}); !errors.Is(err, ErrLedger) {
		t.Errorf("new sender on a closed database: %v", err)
	}
}

func closedDB(t *testing.T) *bolt.DB {
	t.Helper()
	db := tempDB(t)
	_ = db.Close()
	return db
}

// TestFailedSentCommit checks a broadcast whose record could not be written: Submit
// returns the error, and after a restart the same bytes are found.
func TestFailedSentCommit(t *testing.T) {
	c, key, hub := newBase(t, "sent")
	path := filepath.Join(t.TempDir(), "orders.db")
	db := openDB(t, path)
	s := newTestSender(t, db, hub, key)
	s.onPoint = func(p point) {
		if p == afterBroadcast {
			_ = db.Close()
		}
	}
	call := pay(base, key.addr, "0xaa", 1)
	if tx, err := s.Submit(t.Context(), "a", call, soon()); !errors.Is(err, ErrLedger) || tx == nil {
		t.Fatalf("submit: %v, %v; want the record that is out", tx, err)
	}
	s = newTestSender(t, openDB(t, path), hub, key)
	if tx, err := s.Submit(t.Context(), "a", call, soon()); err != nil || tx.State != TxSent {
		t.Fatalf("after restart: %+v, %v", tx, err)
	}
	c.Commit()
	c.Commit()
	if tx, _ := poll(t, s, "a"); tx.State != TxMined || key.count() != 1 || balanceOf(t, c, call.To) != 1 {
		t.Errorf("%s, %d signatures", tx.State, key.count())
	}
}

// FuzzRecord checks that a decoded record survives encoding and decoding, and that none
// can make the sender send bytes of another nonce or chain.
func FuzzRecord(f *testing.F) {
	for _, seed := range recordSeeds {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		tx, err := decodeTx(raw)
		if err != nil {
			if tx != nil {
				t.Error("a record came with an error")
			}
			return
		}
		if tx.State == TxUnknown && tx.Version > ledgerVersion {
			return // shown only
		}
		for _, a := range tx.Attempts {
			signed, err := a.transaction()
			if err != nil || signed.Nonce() != tx.Nonce || signed.ChainId().Uint64() != tx.Call.ChainID {
				t.Fatalf("attempt %s of nonce %d: %v", a.Hash, tx.Nonce, err)
			}
		}
		if sent, err := tx.MinedTransaction(); err == nil && sent.Hash() != tx.Mined {
			t.Fatalf("%s was mined, not %s", sent.Hash(), tx.Mined)
		}
		again, err := encodeTx(tx)
		if err != nil {
			t.Fatal(err)
		}
		copied, err := decodeTx(again)
		if err != nil {
			t.Fatal(err)
		}
		last, err := encodeTx(copied)
		if err != nil || !bytes.Equal(again, last) {
			t.Errorf("%s\nbecame\n%s\n%v", again, last, err)
		}
	})
}

// FuzzNonceIndex checks that, whatever the index of nonces contains, a nonce that a
// record of ours holds is never given out, none below what was held is returned as the
// next one, and a damaged entry is ErrLedger.
func FuzzNonceIndex(f *testing.F) {
	record := aRecord(f, "order/0", 4)
	from := record.Call.From
	entry := nonceKey(base, from, 4)
	for n := range len(entry) + 1 {
		f.Add(entry[:n], []byte("order/0"))
	}
	f.Add(append(bytes.Clone(entry), 0), []byte("order/0"))
	f.Add(nonceKey(base, from, 5), []byte("order/0"))
	f.Add(nonceKey(base, from, 3), []byte("gone"))
	f.Add(nonceKey(base, from, math.MaxUint64), []byte("order/0"))
	f.Add(nonceKey(base, from, math.MaxUint64-1), []byte{})
	f.Add(nonceKey(10, from, 4), []byte("order/0"))
	l, err := openLedger(tempDB(f))
	if err != nil {
		f.Fatal(err)
	}
	l.db.NoSync = true
	if err := l.create(record); err != nil {
		f.Fatal(err)
	}
	now := record.Policy.Until
	f.Fuzz(func(t *testing.T, key, holder []byte) {
		if len(key) == 0 || len(key) > 1000 || len(holder) > 1000 || bytes.Equal(key, entry) {
			return
		}
		index := func(change func(*bolt.Bucket) error) {
			if err := l.db.Update(func(b *bolt.Tx) error { return change(b.Bucket(nonceBucket)) }); err != nil {
				t.Fatal(err)
			}
		}
		index(func(b *bolt.Bucket) error { return b.Put(key, holder) })
		defer index(func(b *bolt.Bucket) error { return b.Delete(key) })
		for first := range uint64(6) {
			n, err := l.free(base, from, first, now)
			if err == nil && (n < first || n == 4 || first == 4 && n != 5) || err != nil && !errors.Is(err, ErrLedger) {
				t.Fatalf("with %x of %q, %d is free from %d: %v", key, holder, n, first, err)
			}
		}
		open, next, err := l.nonceExtent(base, from)
		ours := bytes.HasPrefix(key, entry[:28])
		switch {
		case err != nil && !errors.Is(err, ErrLedger):
			t.Fatalf("extent: %v", err)
		case err == nil && (open != 4 || next != 5):
			t.Fatalf("with %x of %q, held from %d up to %d", key, holder, open, next)
		case err == nil && ours && bytes.Compare(key, nonceKey(base, from, math.MaxUint64)) < 0:
			t.Fatalf("an entry %x of %q was passed over", key, holder)
		}
		if _, err := l.holder(base, from, 5); (err != nil) != bytes.Equal(key, nonceKey(base, from, 5)) {
			t.Fatalf("with %x of %q, holder: %v", key, holder, err)
		}
	})
}

// TestNonceIndexDamaged checks that an entry that was cut off, or names a record of
// another nonce, is an error and stops what would sign. It once crashed the process.
func TestNonceIndexDamaged(t *testing.T) {
	record := aRecord(t, "order/0", 4)
	whole := nonceKey(base, record.Call.From, 6)
	for name, entry := range map[string]struct{ key, holder []byte }{
		"cut off":                           {whole[:30], []byte("order/0")},
		"prolonged":                         {append(bytes.Clone(whole), 1), []byte("order/0")},
		"another's":                         {whole, []byte("order/0")},
		"of a record that no longer exists": {whole, []byte("order/9")},
		"without name":                      {whole, nil},
	} {
		l, err := openLedger(tempDB(t))
		if err != nil {
			t.Fatal(err)
		}
		if err := l.create(record); err != nil {
			t.Fatal(err)
		}
		if err := l.db.Update(func(b *bolt.Tx) error { return b.Bucket(nonceBucket).Put(entry.key, entry.holder) }); err != nil {
			t.Fatal(err)
		}
		if open, next, err := l.nonceExtent(base, record.Call.From); !errors.Is(err, ErrLedger) {
			t.Errorf("%s: %d, %d, %v", name, open, next, err)
		}
		if len(entry.key) == len(whole) {
			if n, err := l.free(base, record.Call.From, 6, record.Policy.Until); !errors.Is(err, ErrLedger) {
				t.Errorf("%s: nonce %d is free: %v", name, n, err)
			}
		}
	}
}

func TestRecordSeeds(t *testing.T) {
	if tx, err := decodeTx([]byte(recordSeeds[0])); err != nil || tx.Nonce != 4 {
		t.Errorf("the first seed is no record: %+v, %v", tx, err)
	}
	want, err := encodeTx(aRecord(t, "order/0", 4))
	if err != nil || string(want) != recordSeeds[0] {
		t.Errorf("a record is now written as\n%s\n%v: that needs a new format version", want, err)
	}
	if common.BytesToHash(nonceKey(1, common.Address{2}, 3)[:32]) == (common.Hash{}) || len(nonceKey(1, common.Address{2}, 3)) != 36 {
		t.Error("nonce keys have another form")
	}
}

var recordSeeds = []string{
	`{"v":1,"key":"order/0","call":{"chainId":8453,"from":"0xbcba113fd1d63ac6f906dd1ce0e115f6840cabe7","to":"0x00000000000000000000000000000000000000aa","value":1},"policy":{"ceiling":1000000000000000,"until":"2030-01-02T03:04:05.000000006Z"},"nonce":4,"signedAtBlock":3,"attempts":[{"kind":"call","raw":"0x02f8648221050401098252089400000000000000000000000000000000000000aa0180c080a04c0fc6e191c0fb810408f1ca64f28c371e7dc10d214380464e654293b4a8e42da024292e8840e97d68917acd0e275562093e7d4e2ed01567ff1246c430e0667da5","hash":"0x3f2b35b9da3fa9555596eeed202bc6b36c387295e1ba1979e7773962098c4e5a","feeCap":"0x9","tipCap":"0x1","signed":"2030-01-02T03:04:05.000000006Z","until":"2030-01-02T03:04:05.000000006Z"}],"state":"signed"}`,
	`{"v":1}`,
	`{"v":2,"key":"k","state":"teleported"}`,
	`{"v":1,"key":"k","attempts":[{"raw":"0x"}]}`,
	`{"v":1,"key":"torn","sta`,
	`[]`,
	`null`,
}
