// Package keys is the vault: wallets encrypted in the operating system's
// keychain, unlocked into memory for a while, signing for their accounts.
// Signatures leave it, and the codes of [Vault.Seal]; keys do not, with two
// exceptions: the words of a new wallet, returned once by [Vault.Create], and what
// [Vault.Export] gives to who knows the password.
//
// A wallet is one keychain item, a record: its secret under AES-256-GCM, the
// key from the vault password by Argon2id, bound to the item's name. An index
// item lists names and addresses, so that accounts show while locked. All
// wallets of a vault share one password.
//
// BIP-39 and BIP-32 are written here in a hundred lines, tested against the
// BIPs' vectors, rather than taken from libraries: so every intermediate key
// can be wiped, no error quotes a word of a mnemonic, and a process that holds
// money links nothing of another coin's node.
package keys

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"swapkeep/fault"
)

// DefaultAutoLock is how long an unlocked vault stays so without use.
const DefaultAutoLock = 15 * time.Minute

// Options of a vault. The zero value is a real vault with defaults.
type Options struct {
	// Sandbox vaults take only wallets made in them and the published test
	// mnemonic; all others refuse published keys.
	Sandbox  bool
	AutoLock time.Duration // 0: DefaultAutoLock
	KDF      KDF           // of new vaults; zero: DefaultKDF, less only in tests
	Clock    Clock         // nil: the system's
	Pace     time.Duration // between tries of passwords; 0: DefaultPace, less and none (-1) only in tests
	// Explorer is asked about accounts of words that are imported; nil: nobody.
	Explorer Explorer
}

// A Vault signs for the accounts of its wallets while unlocked. Its methods
// may be called from several goroutines. Signing never waits for the keychain;
// what changes or reads it does, one call at a time, each within the limits of
// its [Store].
type Vault struct {
	store   *Store
	options Options
	turn    turn // held by the one who changes the keychain or unlocks
	files   turn // held by the one whose key file is opened
	cleared bool // by Clear, with the turn: no wallet is taken in any more

	searching chan struct{}   // held by the one search for accounts
	life      context.Context // of searches that nobody waits for; ended by Close
	endLife   context.CancelFunc
	searches  sync.WaitGroup

	mu        sync.Mutex
	contents  *index  // as last read; nil: not yet
	open      *opened // nil: locked
	locks     uint64  // times locked, so that an unlock in progress notices
	guesses   guesses
	idle      idleTimer
	abandoned map[string]bool // wallets whose caller was told of a failure
	problems  []Problem
	watchers  map[int]func(Change)
	watcher   int
}

// A Problem is a wallet that is listed but did not open.
type Problem struct {
	Wallet string `json:"wallet"` // name
	Err    error  `json:"-"`
}

// opened is what an unlocked vault holds.
type opened struct {
	roots map[string]root // by wallet id
	keys  map[common.Address]secret
	shut  map[common.Address]bool // of wallets that are listed and did not open
}

func (o *opened) zero() {
	for _, r := range o.roots {
		r.zero()
	}
	for _, k := range o.keys {
		k.zero()
	}
}

// New returns a locked vault. It reads nothing yet.
func New(store *Store, o Options) (*Vault, error) {
	if o.AutoLock <= 0 {
		o.AutoLock = DefaultAutoLock
	}
	if o.KDF == (KDF{}) {
		o.KDF = DefaultKDF
	}
	if err := o.KDF.check(); err != nil {
		return nil, err
	}
	if o.Pace == 0 {
		o.Pace = DefaultPace
	}
	if o.Clock == nil {
		o.Clock = systemClock{}
	}
	v := &Vault{
		store: store, options: o,
		searching: make(chan struct{}, 1), abandoned: map[string]bool{}, watchers: map[int]func(Change){},
		guesses: guesses{by: map[uint64]mistakes{}, paced: o.Clock.Now()},
	}
	v.life, v.endLife = context.WithCancel(context.Background())
	store.OnLate(v.late)
	return v, nil
}

// Format keeps the memory of an unlocked vault out of every log.
func (v *Vault) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, "[vault]") }

// A ChangeKind says what a [Change] is about.
type ChangeKind string

// The changes that watchers see.
const (
	Unlocked ChangeKind = "unlocked"
	Locked   ChangeKind = "locked"
	Listed   ChangeKind = "listed" // wallets, accounts or names
	// LateWrite: a keychain write that was reported as failed took effect
	// afterwards. If it belongs to a wallet in the making, the next change or
	// unlock removes it.
	LateWrite ChangeKind = "late write"
	// Discovered: a search for used accounts has come further, or ended.
	Discovered ChangeKind = "discovered"
)

// A Change is news of a vault.
type Change struct {
	Kind ChangeKind `json:"kind"`
	Idle bool       `json:"idle,omitempty"` // locked by itself
	Item string     `json:"item,omitempty"` // of a late write

	Discovery *Discovery `json:"-"`
}

// Subscribe calls f after every change, in the goroutine that made it, until
// cancel. f may call the vault but must not wait long.
func (v *Vault) Subscribe(f func(Change)) (cancel func()) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.watcher++
	id := v.watcher
	v.watchers[id] = f
	return func() {
		v.mu.Lock()
		defer v.mu.Unlock()
		delete(v.watchers, id)
	}
}

// tell must be called without v.mu.
func (v *Vault) tell(c Change) {
	v.mu.Lock()
	all := maps.Clone(v.watchers)
	v.mu.Unlock()
	for _, id := range slices.Sorted(maps.Keys(all)) {
		all[id](c)
	}
}

func (v *Vault) late(l Late) {
	if l.Write && l.Err == nil {
		v.tell(Change{Kind: LateWrite, Item: l.Item})
	}
}

// Status is the state of a vault.
type Status struct {
	Locked   bool      `json:"locked"`
	Sandbox  bool      `json:"sandbox,omitempty"`
	Wallets  int       `json:"wallets"`
	Accounts int       `json:"accounts"`
	LocksAt  time.Time `json:"locksAt,omitzero"` // if not used before
	Problems []Problem `json:"problems,omitempty"`
}

// Status reads the list of wallets once, then tells from memory. With an error
// of the keychain the other fields still hold.
func (v *Vault) Status(ctx context.Context) (Status, error) {
	v.lockIfIdle()
	wallets, err := v.Wallets(ctx)
	v.mu.Lock()
	defer v.mu.Unlock()
	s := Status{
		Locked: v.open == nil, Sandbox: v.options.Sandbox, Wallets: len(wallets),
		Problems: slices.Clone(v.problems),
	}
	for _, w := range wallets {
		s.Accounts += len(w.Accounts)
	}
	if v.open != nil {
		s.LocksAt = v.idle.last.Add(v.options.AutoLock)
	}
	return s, err
}

// Unlocked reports whether the vault would sign now. It asks no keychain.
func (v *Vault) Unlocked() bool {
	v.lockIfIdle()
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.open != nil
}

// Wallets lists the wallets with their accounts, locked or not.
func (v *Vault) Wallets(ctx context.Context) ([]Wallet, error) {
	x, err := v.known(ctx)
	if err != nil {
		return nil, err
	}
	wallets := make([]Wallet, 0, len(x.Wallets))
	for i := range x.Wallets {
		wallets = append(wallets, x.Wallets[i].public())
	}
	return wallets, nil
}

// Accounts lists the accounts of all wallets, locked or not.
func (v *Vault) Accounts(ctx context.Context) ([]Account, error) {
	wallets, err := v.Wallets(ctx)
	accounts := []Account{}
	for _, w := range wallets {
		accounts = append(accounts, w.Accounts...)
	}
	return accounts, err
}

// known returns the index as last read. It is never changed in place.
func (v *Vault) known(ctx context.Context) (*index, error) {
	v.mu.Lock()
	x := v.contents
	v.mu.Unlock()
	if x != nil {
		return x, nil
	}
	if err := v.take(ctx); err != nil {
		return nil, err
	}
	defer v.leave()
	x, err := v.read(ctx)
	if err != nil {
		return nil, err
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.visible(x), nil
}

// take waits for the turn to use the keychain, for nobody longer than one call of
// theirs may last.
func (v *Vault) take(ctx context.Context) error { return v.turn.take(ctx, v.store.limits.Prompt) }

func (v *Vault) leave() { v.turn.leave() }

// read gets the index from the keychain; the caller holds the turn. A vault
// without one is new.
func (v *Vault) read(ctx context.Context) (*index, error) {
	x := &index{Version: indexVersion, Sandbox: v.options.Sandbox, Wallets: []indexWallet{}}
	text, err := v.store.Get(ctx, indexItem)
	switch {
	case errors.Is(err, ErrMissingItem):
	case err != nil:
		return nil, err
	default:
		if x, err = parseIndex(text); err != nil {
			return nil, err
		}
	}
	if x.Sandbox != v.options.Sandbox {
		return nil, ErrSandboxMismatch
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.contents = v.visible(x)
	return x, nil
}

// write replaces the index; the caller holds the turn.
func (v *Vault) write(ctx context.Context, x *index) error {
	text, err := x.encode()
	if err != nil {
		return err
	}
	fault.Point("keys.before_index")
	if err := v.store.Set(ctx, indexItem, text); err != nil {
		return err
	}
	fault.Point("keys.after_index")
	v.mu.Lock()
	defer v.mu.Unlock()
	v.contents = v.visible(x)
	return nil
}

// visible is a copy of x without the wallets whose making was reported as
// failed; the caller holds v.mu.
func (v *Vault) visible(x *index) *index {
	shown := *x
	shown.Wallets = nil
	for _, w := range x.Wallets {
		if !v.abandoned[w.ID] {
			w.Accounts = slices.Clone(w.Accounts)
			shown.Wallets = append(shown.Wallets, w)
		}
	}
	return &shown
}
