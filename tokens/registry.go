package tokens

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/ethereum/go-ethereum/common"
	bolt "go.etcd.io/bbolt"
)

// MaxImported is the most tokens that may be imported into one registry.
const MaxImported = 500

// Refusals of an import. Any other error is the chain's or the database's.
var (
	// ErrNotToken means that there is no ERC-20 token at the address. A [NotTokenError]
	// says why.
	ErrNotToken = errors.New("not an ERC-20 token")
	// ErrReserved means that the address is a contract of the network or of a
	// provider, or stands for the native coin.
	ErrReserved = errors.New("not a token, but one of the network's or a provider's own addresses")
	// ErrTooMany means that MaxImported is reached.
	ErrTooMany = errors.New("too many imported tokens")
)

// A NotTokenError is ErrNotToken with the reason.
type NotTokenError struct{ Why string }

func (e *NotTokenError) Error() string { return ErrNotToken.Error() + ": " + e.Why }

func (e *NotTokenError) Unwrap() error { return ErrNotToken }

// Options configure a Registry.
type Options struct {
	// Lists are the user's own. If a token is on several, the first counts.
	Lists []*List
	// Reserved reports addresses that are known not to be tokens; nil = none.
	Reserved func(chain uint64, address common.Address) bool
}

// A Registry holds the known tokens. It is safe for concurrent use.
type Registry struct {
	db    *bolt.DB
	chain Chain
	o     Options

	fill    func() // adds the tokens, at the first use: a program that starts need not wait for the lists
	mu      sync.RWMutex
	rows    []Token // of the lists in their order, then the imported, oldest first
	byID    map[id]int
	imports int
	damaged int
}

// Open reads the imported tokens from db, and prepares db if necessary.
func Open(db *bolt.DB, chain Chain, o Options) (*Registry, error) {
	kept, damaged, err := readImported(db)
	if err != nil {
		return nil, err
	}
	r := &Registry{db: db, chain: chain, o: o, byID: map[id]int{}, damaged: damaged}
	r.fill = sync.OnceFunc(func() { r.addAll(kept) })
	return r, nil
}

// addAll adds the tokens of the lists and the imported ones.
func (r *Registry) addAll(imported []Token) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, t := range Builtin().tokens {
		r.add(t)
	}
	for _, l := range r.o.Lists {
		for _, t := range l.tokens {
			if !r.reserved(t.Chain, t.Address) { // a list cannot make a token of a reserved address
				r.add(t)
			}
		}
	}
	for _, t := range imported {
		r.add(t)
	}
}

func (r *Registry) reserved(chain uint64, address common.Address) bool {
	return r.o.Reserved != nil && r.o.Reserved(chain, address)
}

// add adds a token. A known one keeps its row, except that an imported token's decimals,
// told by its contract, replace those of a list. The caller holds r.mu.
func (r *Registry) add(t Token) {
	if t.Imported {
		r.imports++
	}
	if i, known := r.byID[t.id()]; known {
		if known := &r.rows[i]; t.Imported {
			known.Imported = true
			if known.DecimalsFrom != FromBuiltin {
				known.Decimals, known.DecimalsFrom = t.Decimals, t.DecimalsFrom
			}
		}
		return
	}
	r.byID[t.id()] = len(r.rows)
	r.rows = append(r.rows, t)
}

// listed returns a token as the first list with it describes it, as before an import changed
// its decimals.
func (r *Registry) listed(of id) (Token, bool) {
	for _, l := range append([]*List{Builtin()}, r.o.Lists...) {
		for _, t := range l.tokens {
			if t.id() == of {
				return t, true
			}
		}
	}
	return Token{}, false
}

// names are the addresses of recognized tokens, which others can imitate, by chain and by
// skeleton of symbol and name. The first token with a name keeps it.
var names = sync.OnceValue(func() map[uint64]map[string]common.Address {
	all := map[uint64]map[string]common.Address{}
	for _, t := range Builtin().tokens {
		if all[t.Chain] == nil {
			all[t.Chain] = map[string]common.Address{}
		}
		for _, text := range []string{Skeleton(t.Symbol), Skeleton(t.Name)} {
			if _, taken := all[t.Chain][text]; !taken && text != "" {
				all[t.Chain][text] = t.Address
			}
		}
	}
	return all
})

// Damaged returns how many imported tokens could not be read when r was opened. They are
// left out, and may be imported again.
func (r *Registry) Damaged() int { return r.damaged }

// On returns a chain's tokens: its native coin, those of the lists in their order, then
// the imported, oldest first.
func (r *Registry) On(chain uint64) []Token {
	r.fill()
	r.mu.RLock()
	defer r.mu.RUnlock()
	var all []Token
	for _, t := range r.rows {
		if t.Chain == chain {
			all = append(all, t)
		}
	}
	slices.SortStableFunc(all, func(a, b Token) int { return cmp.Compare(order(a), order(b)) })
	return all
}

func order(t Token) int {
	if t.Address == Native {
		return 0
	}
	return 1
}

// Lookup returns the known token with that identity.
func (r *Registry) Lookup(chain uint64, address common.Address) (Token, bool) {
	r.fill()
	r.mu.RLock()
	defer r.mu.RUnlock()
	i, ok := r.byID[id{chain, address}]
	if !ok {
		return Token{}, false
	}
	return r.rows[i], true
}

// DecimalsConfirmed reports whether a token's decimals rest on more than a list, a
// provider or one host; false for an unknown token.
func (r *Registry) DecimalsConfirmed(chain uint64, address common.Address) bool {
	t, known := r.Lookup(chain, address)
	return known && t.DecimalsFrom.Confirmed()
}

// Imitated returns the recognized token of t's chain that t's symbol or name could be
// mistaken for. A recognized token imitates none: no two of a chain look alike.
func (r *Registry) Imitated(t Token) (common.Address, bool) {
	if t.Recognized {
		return common.Address{}, false
	}
	for _, text := range []string{Skeleton(t.Symbol), Skeleton(t.Name)} {
		if of, ok := names()[t.Chain][text]; ok && of != t.Address {
			return of, true
		}
	}
	return common.Address{}, false
}

// Preview returns what is at an address: the known token, else what its contract says,
// without storing it. Errors: ErrReserved, ErrNotToken, the chain's.
func (r *Registry) Preview(ctx context.Context, chain uint64, address common.Address) (t Token, known bool, err error) {
	if t, ok := r.Lookup(chain, address); ok {
		return t, true, nil
	}
	if address == Native || address == nativePlaceholder || r.reserved(chain, address) {
		return Token{}, false, fmt.Errorf("%w: %s", ErrReserved, address)
	}
	answers, err := r.chain.AskToken(ctx, chain, address)
	if err != nil {
		return Token{}, false, err
	}
	t, err = answers.token(id{chain, address})
	return t, false, err
}

// Import is Look that also stores the token; it is on disk when Import returns. Repeating
// it changes nothing. Errors: those of Look, ErrTooMany, the database's.
func (r *Registry) Import(ctx context.Context, chain uint64, address common.Address) (t Token, known bool, err error) {
	t, known, err = r.Preview(ctx, chain, address)
	if err != nil || known {
		return t, known, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if i, ok := r.byID[t.id()]; ok { // imported meanwhile
		return r.rows[i], true, nil
	}
	if r.imports >= MaxImported {
		return Token{}, false, fmt.Errorf("%w: %d", ErrTooMany, r.imports)
	}
	t.Imported = true
	if err := keepImported(r.db, t); err != nil {
		return Token{}, false, err
	}
	r.add(t)
	return t, false, nil
}

// Remove deletes an imported token, also on disk when it returns, and reports whether it
// was one. A token that is also on a list stays known, with the list's decimals, as after
// a restart.
func (r *Registry) Remove(chain uint64, address common.Address) (bool, error) {
	r.fill()
	r.mu.Lock()
	defer r.mu.Unlock()
	i, ok := r.byID[id{chain, address}]
	if !ok || !r.rows[i].Imported {
		return false, nil
	}
	if err := dropImported(r.db, r.rows[i].id()); err != nil {
		return false, err
	}
	r.imports--
	if listed, ok := r.listed(id{chain, address}); ok {
		r.rows[i] = listed
		return true, nil
	}
	r.rows = slices.Delete(r.rows, i, i+1)
	delete(r.byID, id{chain, address})
	for j := i; j < len(r.rows); j++ {
		r.byID[r.rows[j].id()] = j
	}
	return true, nil
}
