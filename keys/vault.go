// Package keys is the vault. It stores wallets encrypted in the operating system's
// keychain, unlocks them into memory for a limited time, and signs for their accounts. It
// gives out signatures and the codes of [Vault.Seal]. It does not give out keys, with two
// exceptions: the words of a new wallet, returned once by [Vault.Create], and what
// [Vault.Export] returns given the password.
//
// A wallet is one keychain item, a record: its secret encrypted with AES-256-GCM under a
// key derived from the vault password with Argon2id, bound to the item's name. An index
// item lists names and addresses, so that accounts can be listed while locked. All
// wallets of a vault share one password.
//
// BIP-39 and BIP-32 are implemented here in a hundred lines and tested against the BIPs'
// vectors. Compared with a library, every intermediate key can be wiped, no error quotes
// a word of a mnemonic, and a process that holds money links no node of another coin.
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

	"swapkeep/internal/failpoint"
)

// DefaultAutoLock is how long a vault stays unlocked without use.
const DefaultAutoLock = 15 * time.Minute

// Options configure a vault. The zero value is a real (not sandbox) vault with defaults.
type Options struct {
	// Sandbox vaults accept only wallets created in them and the published test mnemonic;
	// all others refuse published keys.
	Sandbox         bool
	AutoLock        time.Duration // 0: DefaultAutoLock
	KDF             KDF           // for new vaults; zero: DefaultKDF, weaker only in tests
	Clock           Clock         // nil: the system's
	AttemptInterval time.Duration // between password attempts; 0: DefaultAttemptInterval; less, or none (-1), only in tests
	// Explorer looks up accounts of imported wallets; nil: no lookup.
	Explorer Explorer
}

// A Vault signs for the accounts of its wallets while unlocked. Its methods may be called
// concurrently. Signing never waits for the keychain. Operations that read or change the
// keychain run one at a time, each keychain call within the limits of its [Store].
type Vault struct {
	store      *Store
	options    Options
	keychainMu fairMutex // held while reading or changing the keychain
	keyFileMu  fairMutex // held while opening a key file
	cleared    bool      // set by Clear, guarded by turn: new wallets are refused

	searching chan struct{}   // held by the one running search for accounts or isolated ones
	life      context.Context // of background searches; ended by Close
	endLife   context.CancelFunc
	searches  sync.WaitGroup

	mu             sync.Mutex
	contents       *index         // as last read; nil: not yet read
	unlocked       *unlockedState // nil: locked
	locks          uint64         // number of locks, so that an unlock in progress notices one
	unlockThrottle unlockThrottle
	idle           idleTimer
	abandoned      map[string]bool // wallets whose creation was reported as failed
	// isolatedSearches are the wallets whose isolated accounts are being searched for in the
	// background.
	isolatedSearches map[string]bool
	problems         []Problem
	named            Isolated // the isolated account that was derived last; see NextIsolated
	watchers         map[int]func(Change)
	watcher          int
}

// A Problem is a wallet that is listed but did not open.
type Problem struct {
	Wallet string `json:"wallet"` // name
	Err    error  `json:"-"`
}

// unlockedState is the secret state of an unlocked vault.
type unlockedState struct {
	roots          map[string]root // by wallet id
	keys           map[common.Address]secret
	isolated       map[common.Address]Isolated // the taken ones, whose keys are in keys too
	derived        map[common.Address]uint32   // how many of them, by owner
	failedAccounts map[common.Address]bool     // accounts of wallets that did not open
	failedIsolated map[string]bool             // ids of wallets with isolated accounts that did not open
}

func (o *unlockedState) zero() {
	for _, r := range o.roots {
		r.zero()
	}
	for _, k := range o.keys {
		k.zero()
	}
}

// New returns a locked vault. It does not access the keychain yet.
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
	if o.AttemptInterval == 0 {
		o.AttemptInterval = DefaultAttemptInterval
	}
	if o.Clock == nil {
		o.Clock = systemClock{}
	}
	v := &Vault{
		store: store, options: o,
		searching: make(chan struct{}, 1), abandoned: map[string]bool{}, isolatedSearches: map[string]bool{}, watchers: map[int]func(Change){},
		unlockThrottle: unlockThrottle{byClient: map[uint64]failedAttempts{}, lastAttempt: o.Clock.Now()},
	}
	v.life, v.endLife = context.WithCancel(context.Background())
	store.OnLate(v.late)
	return v, nil
}

// Format prints a placeholder, so that an unlocked vault's memory gets into no log.
func (v *Vault) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, "[vault]") }

// A ChangeKind is the type of a [Change].
type ChangeKind string

// The kinds of changes.
const (
	Unlocked ChangeKind = "unlocked"
	Locked   ChangeKind = "locked"
	Listed   ChangeKind = "listed" // wallets, accounts or names
	// LateWrite: a keychain write that was reported as failed took effect afterwards. If
	// it belongs to an unfinished wallet, the next change or unlock removes it.
	LateWrite ChangeKind = "late write"
	// Discovered: a search for used accounts made progress or ended.
	Discovered ChangeKind = "discovered"
	// IsolatedSearched: a search for used isolated accounts ended.
	IsolatedSearched ChangeKind = "isolated accounts searched"
)

// A Change is an event of a vault, passed to subscribers.
type Change struct {
	Kind ChangeKind `json:"kind"`
	Idle bool       `json:"idle,omitempty"` // locked by the auto-lock timer
	Item string     `json:"item,omitempty"` // of a late write

	Discovery *Discovery `json:"-"`
}

// Subscribe calls f after every change, in the goroutine that made the change, until
// cancel is called. f may call the vault but must not block for long.
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

// notify calls the subscribers. The caller must not hold v.mu.
func (v *Vault) notify(c Change) {
	v.mu.Lock()
	all := maps.Clone(v.watchers)
	v.mu.Unlock()
	for _, id := range slices.Sorted(maps.Keys(all)) {
		all[id](c)
	}
}

func (v *Vault) late(l LateCall) {
	if l.Write && l.Err == nil {
		v.notify(Change{Kind: LateWrite, Item: l.Item})
	}
}

// Status is the state of a vault.
type Status struct {
	Locked   bool      `json:"locked"`
	Sandbox  bool      `json:"sandbox,omitempty"`
	Wallets  int       `json:"wallets"`
	Accounts int       `json:"accounts"`
	LocksAt  time.Time `json:"locksAt,omitzero"` // without further use
	Problems []Problem `json:"problems,omitempty"`
}

// Status reads the index once and afterwards answers from memory. After a keychain error
// the fields other than Wallets and Accounts are still valid.
func (v *Vault) Status(ctx context.Context) (Status, error) {
	v.lockIfIdle()
	wallets, err := v.Wallets(ctx)
	v.mu.Lock()
	defer v.mu.Unlock()
	s := Status{
		Locked: v.unlocked == nil, Sandbox: v.options.Sandbox, Wallets: len(wallets),
		Problems: slices.Clone(v.problems),
	}
	for _, w := range wallets {
		s.Accounts += len(w.Accounts)
	}
	if v.unlocked != nil {
		s.LocksAt = v.idle.last.Add(v.options.AutoLock)
	}
	return s, err
}

// Unlocked reports whether the vault would sign now. It does not access the keychain.
func (v *Vault) Unlocked() bool {
	v.lockIfIdle()
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.unlocked != nil
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

// known returns the index as last read. It must not be modified.
func (v *Vault) known(ctx context.Context) (*index, error) {
	v.mu.Lock()
	x := v.contents
	v.mu.Unlock()
	if x != nil {
		return x, nil
	}
	if err := v.lockKeychain(ctx); err != nil {
		return nil, err
	}
	defer v.unlockKeychain()
	x, err := v.read(ctx)
	if err != nil {
		return nil, err
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.visible(x), nil
}

// lockKeychain waits for the turn to use the keychain. It gives up if one holder keeps it for
// longer than one keychain call may take.
func (v *Vault) lockKeychain(ctx context.Context) error {
	return v.keychainMu.lock(ctx, v.store.limits.Prompt)
}

func (v *Vault) unlockKeychain() { v.keychainMu.unlock() }

// read reads the index from the keychain; a vault without one is new. The caller holds
// the turn.
func (v *Vault) read(ctx context.Context) (*index, error) {
	x := &index{Sandbox: v.options.Sandbox, Wallets: []indexWallet{}}
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

// write replaces the index. The caller holds the turn.
func (v *Vault) write(ctx context.Context, x *index) error {
	text, err := x.encode()
	if err != nil {
		return err
	}
	failpoint.Point("keys.before_index")
	if err := v.store.Set(ctx, indexItem, text); err != nil {
		return err
	}
	failpoint.Point("keys.after_index")
	v.mu.Lock()
	defer v.mu.Unlock()
	v.contents = v.visible(x)
	return nil
}

// visible returns a copy of x without the wallets whose creation was reported as failed.
// The caller holds v.mu.
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
