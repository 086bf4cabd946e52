package tokens

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/ethereum/go-ethereum/common"
	bolt "go.etcd.io/bbolt"

	"swapkeep/internal/clock"
	"swapkeep/internal/failpoint"
)

// Bounds of the search for tokens that came in.
const (
	MaxIncoming  = 50          // tokens kept of an account on a network; the newest count
	lookEvery    = time.Minute // an account on a network is looked at no more often
	maxLookBack  = 100_000     // blocks; what came in before is not found
	maxLookedFor = 1000        // accounts and networks whose last look is remembered in memory
)

// incomingBucket holds one record per chain and account.
var incomingBucket = []byte("incoming_tokens")

// Transfers reads the networks. Its questions are about contracts that anybody may have
// made: it asks them nothing but symbol and decimals.
type Transfers interface {
	// SettledBlock returns the number of the newest block that will stay.
	SettledBlock(ctx context.Context, chain uint64) (uint64, error)
	// Incoming returns the contracts that logged a transfer of a token to the account, newest
	// last, from a block on, and the last block that was searched; below from if none was.
	Incoming(ctx context.Context, chain uint64, account common.Address, from uint64) (contracts []common.Address, through uint64, err error)
	// Describe asks each contract for its symbol and decimals alone.
	Describe(ctx context.Context, chain uint64, contracts []common.Address) ([]Answers, error)
}

// An Incoming finds tokens that an account was sent and that are not known. Anybody can send
// anybody a token with any name: they are unverified, and shown only to who asks. It is safe
// for concurrent use.
type Incoming struct {
	db       *bolt.DB
	known    *Registry
	networks Transfers

	turn   chan struct{}    // one look at a time
	looked map[id]time.Time // by chain and account; of whose turn it is
}

// NewIncoming reads nothing yet.
func NewIncoming(db *bolt.DB, known *Registry, networks Transfers) *Incoming {
	return &Incoming{db: db, known: known, networks: networks, turn: make(chan struct{}, 1), looked: map[id]time.Time{}}
}

// incomingRecord is what is kept of an account on a network.
type incomingRecord struct {
	Through uint64          `json:"through"` // the last block looked at
	Tokens  []incomingToken `json:"tokens"`  // oldest first
}

type incomingToken struct {
	Address  common.Address `json:"address"`
	Symbol   string         `json:"symbol"`
	Decimals uint8          `json:"decimals"`
}

// Look searches the blocks since the last look, and returns the tokens that came in since the
// first and are not known, newest first. The first look only notes the block. With an error,
// which is the network's or the database's, the tokens of earlier looks are returned.
func (w *Incoming) Look(ctx context.Context, chain uint64, account common.Address) ([]Token, error) {
	select {
	case w.turn <- struct{}{}:
		defer func() { <-w.turn }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	at := id{chain, account}
	kept, err := w.read(at)
	if err != nil {
		return nil, err
	}
	if now := clock.Now(); now.Sub(w.looked[at]).Abs() >= lookEvery {
		if len(w.looked) >= maxLookedFor {
			clear(w.looked)
		}
		w.looked[at] = now
		var next incomingRecord
		if next, err = w.search(ctx, at, kept); err == nil {
			kept, err = next, w.keep(at, next)
		}
	}
	var out []Token
	for _, t := range slices.Backward(kept.Tokens) {
		if _, known := w.known.Lookup(chain, t.Address); !known {
			out = append(out, Token{Chain: chain, Address: t.Address, Symbol: t.Symbol, Name: t.Symbol, Decimals: t.Decimals, DecimalsFrom: FromOneHost})
		}
	}
	return out, err
}

// search returns the record with what the blocks since its last one brought.
func (w *Incoming) search(ctx context.Context, at id, kept incomingRecord) (incomingRecord, error) {
	settled, err := w.networks.SettledBlock(ctx, at.chain)
	if err != nil || settled <= kept.Through {
		return kept, err
	}
	if kept.Through == 0 {
		return incomingRecord{Through: settled}, nil
	}
	from := max(kept.Through, settled-min(settled, maxLookBack)) + 1
	contracts, through, err := w.networks.Incoming(ctx, at.chain, at.address, from)
	if err != nil || through < from {
		return kept, err
	}
	var strange []common.Address
	for _, a := range slices.Backward(contracts) {
		old := slices.ContainsFunc(kept.Tokens, func(t incomingToken) bool { return t.Address == a })
		if _, known := w.known.Lookup(at.chain, a); !old && !known && !w.known.reserved(at.chain, a) && !slices.Contains(strange, a) && len(strange) < MaxIncoming {
			strange = append(strange, a)
		}
	}
	slices.Reverse(strange)
	next := incomingRecord{through, slices.Clone(kept.Tokens)}
	if len(strange) > 0 {
		answers, err := w.networks.Describe(ctx, at.chain, strange)
		if err != nil {
			return kept, err
		}
		for i, a := range answers[:min(len(answers), len(strange))] {
			if t, ok := a.incoming(strange[i]); ok {
				next.Tokens = append(next.Tokens, t)
			}
		}
	}
	next.Tokens = next.Tokens[max(0, len(next.Tokens)-MaxIncoming):]
	return next, nil
}

// incoming decodes symbol and decimals; ok is false for a contract without them.
func (a Answers) incoming(at common.Address) (t incomingToken, ok bool) {
	decimals := number(a.Decimals)
	t = incomingToken{Address: at, Symbol: clean(text(a.Symbol), maxSymbol)}
	if decimals == nil || !decimals.IsUint64() || decimals.Uint64() > MaxDecimals || t.Symbol == "" {
		return t, false
	}
	t.Decimals = uint8(decimals.Uint64())
	return t, true
}

func (w *Incoming) read(at id) (r incomingRecord, err error) {
	err = w.db.View(func(tx *bolt.Tx) error {
		if b := tx.Bucket(incomingBucket); b != nil {
			if raw := b.Get(at.key()); raw != nil {
				r = decodeIncoming(raw)
			}
		}
		return nil
	})
	return r, err
}

func (w *Incoming) keep(at id, r incomingRecord) error {
	raw, err := json.Marshal(r)
	if err != nil {
		return err
	}
	failpoint.Point("tokens.before_commit")
	err = w.db.Update(func(tx *bolt.Tx) error {
		b, err := tx.CreateBucketIfNotExists(incomingBucket)
		if err != nil {
			return err
		}
		return b.Put(at.key(), raw)
	})
	failpoint.Point("tokens.after_commit")
	if err != nil {
		return fmt.Errorf("incoming tokens: %w", err)
	}
	return nil
}

// decodeIncoming decodes a record. A damaged one counts as none, so that looking begins again
// at the newest block.
func decodeIncoming(raw []byte) (r incomingRecord) {
	if err := json.Unmarshal(raw, &r); err != nil || len(r.Tokens) > MaxIncoming {
		return incomingRecord{}
	}
	for i, t := range r.Tokens {
		again := slices.ContainsFunc(r.Tokens[:i], func(o incomingToken) bool { return o.Address == t.Address })
		if again || t.Address == Native || t.Symbol == "" || clean(t.Symbol, maxSymbol) != t.Symbol || t.Decimals > MaxDecimals {
			return incomingRecord{}
		}
	}
	return r
}
