package keys

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/ethereum/go-ethereum/common"
)

const (
	indexItem    = "index"
	indexVersion = 2 // 1: without isolated accounts
	maxName      = 32
)

// An index lists the vault's wallets and accounts. It is readable while the vault is
// locked and contains no secret.
type index struct {
	Version int           `json:"v"`
	Sandbox bool          `json:"sandbox,omitempty"`
	Wallets []indexWallet `json:"wallets"`
	// Pending are ids of wallets that were begun and never finished, or removed. Their
	// items are deleted before the next change.
	Pending []string `json:"pending,omitempty"`
}

// An indexWallet is one wallet in the index. JSON names are short because every item must
// stay below MaxItem.
type indexWallet struct {
	ID       string         `json:"id"`
	Name     string         `json:"name"`
	Kind     string         `json:"kind"`
	Accounts []indexAccount `json:"accounts"`
	// Unsearched means that accounts were imported or found whose isolated accounts have
	// not been searched for yet.
	Unsearched bool `json:"u,omitempty"`
}

type indexAccount struct {
	Number  uint32  `json:"n"`
	Address address `json:"a"`
	Label   string  `json:"l,omitempty"` // empty: "Account n+1"
	// Isolated is the number of its isolated accounts that are taken, from 0 on.
	Isolated uint32 `json:"i,omitempty"`
}

// An address is stored as 40 lower-case hex digits.
type address common.Address

func (a address) MarshalText() ([]byte, error) {
	return hex.AppendEncode(nil, a[:]), nil
}

func (a *address) UnmarshalText(text []byte) error {
	if len(text) != 2*len(a) || strings.ToLower(string(text)) != string(text) {
		return fmt.Errorf("address of %d characters", len(text))
	}
	_, err := hex.Decode(a[:], text)
	return err
}

// parseIndex accepts exactly what encode writes.
func parseIndex(text string) (*index, error) {
	var x index
	if err := decodeVersion(text, indexVersion, &x); err != nil {
		return nil, fmt.Errorf("list of wallets: %w", err)
	}
	if x.Version != x.version() || !x.consistent() {
		return nil, fmt.Errorf("list of wallets: %w", ErrDamaged)
	}
	return &x, nil
}

// consistent reports whether ids, names and addresses are well formed and unique.
func (x *index) consistent() bool {
	seen := map[string]bool{}
	once := func(form bool, key string) bool {
		fresh := form && !seen[key]
		seen[key] = true
		return fresh
	}
	for _, id := range x.Pending {
		if !once(validID(id), "id "+id) {
			return false
		}
	}
	for _, w := range x.Wallets {
		if !once(validID(w.ID), "id "+w.ID) || !once(validName(w.Name), "name "+w.Name) || len(w.Accounts) == 0 {
			return false
		}
		for _, a := range w.Accounts {
			if !once(a.Number < hardened, fmt.Sprint("account ", w.ID, a.Number)) ||
				!once(true, "address "+string(a.Address[:])) || a.Label != "" && !validName(a.Label) ||
				a.Isolated > maxIsolated {
				return false
			}
		}
	}
	return true
}

func (x *index) encode() (string, error) {
	stored := *x
	stored.Version = x.version()
	text, err := json.Marshal(stored)
	return string(text), err
}

// version returns the lowest version that can hold x, so that an older Swapkeep reads an
// index that says nothing of isolated accounts.
func (x *index) version() int {
	for _, w := range x.Wallets {
		if w.Unsearched || slices.ContainsFunc(w.Accounts, func(a indexAccount) bool { return a.Isolated > 0 }) {
			return indexVersion
		}
	}
	return indexVersion - 1
}

// fits reports whether x can be stored, also once all isolated accounts are taken.
func (x *index) fits() bool {
	text, err := x.encode()
	size := len(text)
	for _, w := range x.Wallets {
		size += len(w.Accounts)*len(`,"i":1000`) + len(`,"u":true`)
	}
	return err == nil && size <= MaxItem
}

// validID reports whether id is a wallet id. Ids are numbers from 1, so a lost index can
// be rebuilt by trying them.
func validID(id string) bool {
	n, err := strconv.ParseUint(id, 10, 16)
	return err == nil && n > 0 && strconv.FormatUint(n, 10) == id
}

func walletItem(id string) string { return "wallet/" + id }

func (x *index) nextID() uint64 {
	ids := slices.Clone(x.Pending)
	for _, w := range x.Wallets {
		ids = append(ids, w.ID)
	}
	var top uint64
	for _, id := range ids {
		n, _ := strconv.ParseUint(id, 10, 16)
		top = max(top, n)
	}
	return top + 1
}

func (x *index) wallet(id string) *indexWallet {
	for i := range x.Wallets {
		if x.Wallets[i].ID == id {
			return &x.Wallets[i]
		}
	}
	return nil
}

// account finds an account and its wallet; nil if there is none.
func (x *index) account(at common.Address) (*indexWallet, *indexAccount) {
	for i := range x.Wallets {
		w := &x.Wallets[i]
		for k := range w.Accounts {
			if common.Address(w.Accounts[k].Address) == at {
				return w, &w.Accounts[k]
			}
		}
	}
	return nil, nil
}

func (x *index) holds(at common.Address) bool {
	_, a := x.account(at)
	return a != nil
}

func (x *index) drop(id string) {
	x.Pending = slices.DeleteFunc(x.Pending, func(p string) bool { return p == id })
	x.Wallets = slices.DeleteFunc(x.Wallets, func(w indexWallet) bool { return w.ID == id })
}

// freeName validates a new wallet's name, or picks one if it is empty.
func (x *index) freeName(name string) (string, error) {
	taken := func(name string) bool {
		return slices.ContainsFunc(x.Wallets, func(w indexWallet) bool { return w.Name == name })
	}
	if name == "" {
		for n := 1; ; n++ {
			if name = fmt.Sprintf("Wallet %d", n); !taken(name) {
				return name, nil
			}
		}
	}
	if !validName(name) || taken(name) {
		return "", ErrName
	}
	return name, nil
}

func validName(s string) bool {
	n := utf8.RuneCountInString(s)
	return utf8.ValidString(s) && n > 0 && n <= maxName && strings.TrimSpace(s) == s &&
		!strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) })
}

// A Wallet is one mnemonic and its accounts, or one private key and its account.
type Wallet struct {
	ID       string    `json:"id"`
	Name     string    `json:"name"`
	Kind     string    `json:"kind"` // mnemonic or key
	Accounts []Account `json:"accounts"`
}

// An Account is an address that the vault signs for.
type Account struct {
	Address common.Address `json:"address"`
	Label   string         `json:"label"`
	Wallet  string         `json:"wallet"` // id
	Path    string         `json:"path"`   // BIP-32; empty for a single key
}

func (w *indexWallet) public() Wallet {
	out := Wallet{ID: w.ID, Name: w.Name, Kind: w.Kind}
	for _, a := range w.Accounts {
		out.Accounts = append(out.Accounts, a.public(w))
	}
	return out
}

func (a indexAccount) public(w *indexWallet) Account {
	label := a.Label
	if label == "" {
		label = fmt.Sprintf("Account %d", a.Number+1)
	}
	path := ""
	if w.Kind == kindNames[kindMnemonic] {
		path = accountPath(a.Number)
	}
	return Account{Address: common.Address(a.Address), Label: label, Wallet: w.ID, Path: path}
}
