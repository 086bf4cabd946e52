package keys

import (
	"context"
	"crypto/hkdf"
	"crypto/sha256"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"

	"swapkeep/internal/zeroize"
	"swapkeep/keys/keystest/memscan"
)

// A search collects the secrets that must not be left in memory.
type search struct {
	t       *testing.T
	needles []memscan.Needle
}

// add adds both halves of a secret, because a library may leave only a part of it.
func (s *search) add(name string, secret []byte) {
	s.needles = append(s.needles, halves(name, secret)...)
}

func halves(name string, secret []byte) []memscan.Needle {
	half := max(16, len(secret)/2)
	return []memscan.Needle{memscan.Of(name, secret[:half]), memscan.Of(name+", end", secret[len(secret)-half:])}
}

// addTree adds every value between a mnemonic and its first account, and its first
// isolated account.
func (s *search) addTree(name string, words secret) {
	_, err := withZeroize(func() (struct{}, error) {
		entropy, err := parseMnemonic(words)
		if err != nil {
			return struct{}{}, err
		}
		defer entropy.zero()
		s.add(name+": words", words)
		s.add(name+": entropy", entropy)
		head := words[:min(len(words), 100)] // HMAC hashes a longer key
		s.needles = append(s.needles, memscan.Xored(name+": words, padded", head[:32], 0x36), memscan.Xored(name+": words, padded", head[:32], 0x5c))
		sum := seed(words, "")
		defer sum.zero()
		s.add(name+": seed", sum)
		root, err := masterNode(sum)
		if err != nil {
			return struct{}{}, err
		}
		defer root.zero()
		s.addNode(name+": root", root)
		for _, below := range [][]uint32{{external, 0}, {internal, 0, 0}} {
			path := append(slices.Clone(coinPath), below...)
			for depth := range path {
				at, err := root.derive(path[:depth+1])
				if err != nil {
					return struct{}{}, err
				}
				s.addNode(fmt.Sprintf("%s: depth %d below chain %d", name, depth+1, below[0]), at)
				at.zero()
			}
		}
		return struct{}{}, nil
	})
	if err != nil {
		s.t.Fatal(err)
	}
}

func (s *search) addNode(name string, n *node) {
	s.add(name+": key", n.key)
	s.add(name+": chain code", n.code)
	s.needles = append(s.needles, memscan.Xored(name+": chain code, padded", n.code, 0x36), memscan.Xored(name+": chain code, padded", n.code, 0x5c))
}

func (s *search) find() []string {
	s.t.Helper()
	found, err := memscan.Find(s.needles...)
	if err != nil {
		s.t.Fatal(err)
	}
	return found
}

func freshWords(t *testing.T, count int) secret {
	t.Helper()
	words, err := withZeroize(func() (secret, error) {
		entropy, err := newEntropy(count)
		if err != nil {
			return nil, err
		}
		defer entropy.zero()
		return mnemonic(entropy), nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return words
}

func filesVault(t *testing.T) *Vault {
	t.Helper()
	files, err := OpenFiles(filepath.Join(t.TempDir(), "keys"))
	if err != nil {
		t.Fatal(err)
	}
	store, err := NewStore(files, "traces", Limits{})
	if err != nil {
		t.Fatal(err)
	}
	v, err := New(store, Options{KDF: fastKDF, Explorer: &once{}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(v.Close)
	return v
}

// once is an Explorer that reports the first two accounts of its first query as used, and
// no others.
type once struct{ asked atomic.Bool }

func (o *once) LookUp(_ context.Context, accounts []common.Address) ([]bool, []uint64) {
	used := make([]bool, len(accounts))
	used[0], used[1] = !o.asked.Load(), !o.asked.Swap(true)
	return used, nil
}

// TestNothingIsLeftInMemory performs every vault operation that handles secrets, locks
// the vault and searches the whole memory of the process for them. The caller's own
// copies are wiped, as the documentation requires.
func TestNothingIsLeftInMemory(t *testing.T) {
	if !zeroize.Erases {
		t.Skip("this build erases nothing: run it by make, or with GOEXPERIMENT=runtimesecret")
	}
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // none collects but the vault
	v, s := filesVault(t), &search{t: t}
	password, wrong, fileWord := memscan.Letters(24), memscan.Letters(24), memscan.Letters(24)
	s.add("password", password)
	s.add("wrong password", wrong)
	s.add("password of a key file", fileWord)

	twelve, long, made := freshWords(t, 12), freshWords(t, 24), secret(nil)
	s.addTree("import", twelve)
	s.addTree("long import", long)
	alone := secret(memscan.Letters(32)) // all letters, which is always a valid key
	s.add("single key", alone)
	digits, err := withZeroize(func() (secret, error) { return encodePrivateKey(alone), nil })
	if err != nil {
		t.Fatal(err)
	}
	s.add("single key, spelt", digits)
	isolated, err := withZeroize(func() (secret, error) {
		key, _, err := single{alone}.isolated(0, 0)
		return key, err
	})
	if err != nil {
		t.Fatal(err)
	}
	s.add("isolated account of the single key", isolated)
	isolated.zero()

	must := func(what string, err error) {
		t.Helper()
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
	}
	w, err := v.ImportMnemonic(t.Context(), "words", twelve, password)
	must("import", err)
	must("unlock", v.Unlock(t.Context(), password))
	_, err = v.ImportMnemonic(t.Context(), "long", long, password)
	must("import", err)
	k, err := v.ImportKey(t.Context(), "key", digits, password)
	must("import of a key", err)
	c, words, err := v.Create(t.Context(), "new", 12, password)
	must("create", err)
	made = append(made, words.Reveal()...)
	s.addTree("created", made)
	words.Zero()
	_, err = v.Add(t.Context(), c.ID, "")
	must("add", err)
	_, err = v.Discover(t.Context(), w.ID)
	must("discover", err)
	for _, owner := range []Wallet{w, k, c} {
		must("isolated account", v.TakeIsolated(t.Context(), owner.Accounts[0].Address, 0))
	}

	at := w.Accounts[0].Address
	open := search{t: t, needles: halves("account", v.unlocked.keys[at])}
	s.add("account", v.unlocked.keys[at])
	var txs [3]*types.Transaction
	for n := range txs {
		tx := types.NewTx(&types.DynamicFeeTx{ChainID: big.NewInt(1), Nonce: uint64(n)})
		txs[n] = tx
		_, _ = withZeroize(func() (struct{}, error) {
			k := nonce(v.unlocked.keys[at], types.LatestSignerForChainID(big.NewInt(1)).Hash(tx).Bytes(), 0)
			b := k.Bytes()
			s.add("nonce of a signature", b[:])
			clear(b[:])
			k.Zero()
			return struct{}{}, nil
		})
	}
	_, err = withZeroize(func() (struct{}, error) {
		extracted, err := hkdf.Extract(sha256.New, v.unlocked.keys[at], nil)
		if err != nil {
			return struct{}{}, err
		}
		derived, err := hkdf.Expand(sha256.New, extracted, sealInfo, sha256.Size)
		s.add("extracted key of seals", extracted)
		s.add("key of seals", derived)
		return struct{}{}, err
	})
	must("keys of seals", err)
	file := exportAll(t, v, w, k, password, fileWord)
	if v.Unlock(t.Context(), wrong) == nil || v.CheckPassword(t.Context(), wrong) == nil {
		t.Error("a wrong password opens")
	}
	must("password", v.CheckPassword(t.Context(), password))
	_, err = v.Remove(t.Context(), k.ID, password)
	must("remove", err)
	_, err = v.ImportKeystore(t.Context(), "file", file, fileWord, password)
	must("import of a file", err)
	s.addPassKey(v, w, password)
	must("unlock again", v.Unlock(t.Context(), password))

	for _, b := range [][]byte{password, wrong, fileWord, twelve, long, made, alone, digits} {
		clear(b)
	}
	if found := open.find(); len(found) == 0 {
		t.Error("an open vault's key is not found: the search is blind")
	}
	for _, tx := range txs { // last, so that only Lock erases what they leave
		_, err := v.SignTx(t.Context(), at, tx, big.NewInt(1))
		must("sign", err)
	}
	_, err = v.Seal(at, []byte("an order"))
	must("seal", err)
	v.Lock()
	for _, f := range s.find() {
		t.Errorf("left in memory: %s", f)
	}
	t.Logf("%d needles", len(s.needles))
}

// TestNothingIsLeftByALockedVault checks that what uses a password erases what it leaves
// itself, since no lock follows.
func TestNothingIsLeftByALockedVault(t *testing.T) {
	if !zeroize.Erases {
		t.Skip("this build erases nothing: run it by make, or with GOEXPERIMENT=runtimesecret")
	}
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // none collects but the vault
	v, s := filesVault(t), &search{t: t}
	password, words := memscan.Letters(24), freshWords(t, 12)
	s.add("password", password)
	s.addTree("import", words)
	w, err := v.ImportMnemonic(t.Context(), "words", words, password)
	if err != nil {
		t.Fatal(err)
	}
	out, err := v.Export(t.Context(), Export{Form: FormKey, Account: w.Accounts[0].Address, Password: password})
	if err != nil {
		t.Fatal(err)
	}
	out.Zero()
	clear(words)
	clear(password)
	for _, f := range s.find() {
		t.Errorf("left in memory: %s", f)
	}
}

// exportAll exports in every form, wipes all but the key file and returns that.
func exportAll(t *testing.T, v *Vault, words, key Wallet, password, fileWord []byte) (file []byte) {
	t.Helper()
	for _, e := range []Export{
		{Form: FormWords, Wallet: words.ID},
		{Form: FormKey, Account: words.Accounts[0].Address},
		{Form: FormKeystore, Account: key.Accounts[0].Address, KeystorePassword: fileWord},
	} {
		e.Password = password
		out, err := v.Export(t.Context(), e)
		if err != nil {
			t.Fatalf("%s: %v", e.Form, err)
		}
		file = slices.Clone(out.Reveal())
		if e.Form != FormKeystore {
			clear(file)
		}
		out.Zero()
	}
	return file
}

func (s *search) addPassKey(v *Vault, w Wallet, password []byte) {
	s.t.Helper()
	text, err := v.store.Get(s.t.Context(), walletItem(w.ID))
	if err != nil {
		s.t.Fatal(err)
	}
	r, err := parseRecord(text)
	if err != nil {
		s.t.Fatal(err)
	}
	_, _ = withZeroize(func() (struct{}, error) {
		k := deriveKey(password, r.KDF)
		s.add("key of the wallets", k.key)
		k.key.zero()
		return struct{}{}, nil
	})
}

// TestMemoryIsNotLocked checks what docs/security.md says about swap: the pages of an
// unlocked vault may be swapped out. Whoever locks them must change that document.
func TestMemoryIsNotLocked(t *testing.T) {
	v := filesVault(t)
	password := memscan.Letters(24)
	_, words, err := v.Create(t.Context(), "", 12, password)
	if err == nil {
		words.Zero()
		err = v.Unlock(t.Context(), password)
	}
	if err != nil {
		t.Fatal(err)
	}
	status, err := os.ReadFile("/proc/self/status")
	if err != nil || !regexp.MustCompile(`VmLck:\s+0 kB`).Match(status) {
		t.Errorf("locked in memory: %v\n%s", err, status)
	}
}
