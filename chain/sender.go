package chain

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"sync"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"
	bolt "go.etcd.io/bbolt"

	"swapkeep/internal/clock"
)

// Nodes is what a Sender needs from the networks; *Hub is one.
type Nodes interface {
	Network(id uint64) (Network, error)
	Reader(ctx context.Context, id uint64) (Reader, error)
	CostAt(ctx context.Context, c Call, t Tier) (Cost, error)
	Nonces(ctx context.Context, id uint64, account common.Address) (Nonces, error)
	Evidence(ctx context.Context, id uint64, tx common.Hash) (Evidence, bool, error)
	Replaced(ctx context.Context, id uint64, account common.Address, nonce, since uint64, ours []common.Hash) ([]string, error)
}

// SenderOptions configure a Sender.
type SenderOptions struct {
	// Rebroadcast is how long after a broadcast a transaction that a node has is offered
	// again; 0 = 15 s.
	Rebroadcast time.Duration
}

// A Sender gets each call mined at most once. Its guarantee rests on one order of steps:
// claim a nonce, sign, journal the signed bytes, and only then broadcast. Whatever
// happens later, it repeats those bytes; anything else that it signs for the key has the
// same nonce. It is safe for concurrent use.
type Sender struct {
	nodes       Nodes
	signer      Signer
	ledger      ledger
	rebroadcast time.Duration

	accountsMu sync.Mutex
	accounts   map[account]chan struct{} // one slot each; its holder may claim nonces

	flightMu sync.Mutex
	flights  map[string]flight // by key, of transactions that are not final

	now     func() time.Time
	sleep   func(context.Context, time.Duration) error
	onPoint func(point) // tests only
}

type account struct {
	chain   uint64
	address common.Address
}

// A flight is what this process did with the bytes of a key.
type flight struct {
	broadcasts    int
	attempts      int // recorded at the last broadcast
	last          time.Time
	replacedSince time.Time            // since when every poll found the nonce used elsewhere; zero = the last one did not
	gapChecked    time.Time            // last check for gaps below its nonce
	freeNonces    map[uint64]time.Time // nonces found free then, and since when
}

// NewSender returns a Sender that journals to db. A read-only db that has a ledger can be
// watched; nothing is signed then.
func NewSender(db *bolt.DB, nodes Nodes, signer Signer, o SenderOptions) (*Sender, error) {
	l, err := openLedger(db)
	if err != nil {
		return nil, err
	}
	if o.Rebroadcast == 0 {
		o.Rebroadcast = 15 * time.Second
	}
	return &Sender{
		nodes: nodes, signer: signer, ledger: l, rebroadcast: o.Rebroadcast,
		accounts: make(map[account]chan struct{}), flights: make(map[string]flight), now: clock.Now, sleep: sleep,
	}, nil
}

// sleep waits for d; if ctx ends first, it returns ctx's error.
func sleep(ctx context.Context, d time.Duration) error {
	t := clock.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

// Lookup returns the record of key; nil if there is none.
func (s *Sender) Lookup(key string) (*Tx, error) { return s.ledger.get(key) }

// RecordsByNonce returns the records of count nonces of an account from first on, nil for one that
// none of ours holds.
func (s *Sender) RecordsByNonce(chainID uint64, from common.Address, first, count uint64) ([]*Tx, error) {
	return s.ledger.holders(chainID, from, first, first+count)
}

// Submit signs and broadcasts c, once per key. Repeating it returns the key's record,
// after offering the recorded bytes again while their policy allows; the same key with
// another call is ErrKeyReused.
//
// If a record is returned, its bytes may be on their way, and [Sender.Poll] tells, unless
// the error is ErrRejected: then they are not and never will be. If none is returned,
// nothing was signed that could ever be sent: ErrExpired, ErrCeiling, ErrWouldRevert,
// ErrFunds, ErrNonceBlocked, ErrLedger, the signer's error, or a temporary one.
func (s *Sender) Submit(ctx context.Context, key string, c Call, p Policy) (*Tx, error) {
	tx, err := s.recorded(key, c)
	switch {
	case err != nil:
		return nil, err
	case tx == nil:
		tx, err = s.submit(ctx, intent{key: key, call: c, policy: p, kind: AttemptCall})
	default:
		tx, err = s.broadcast(ctx, tx, false)
	}
	if err == nil && tx.State == TxRejected {
		err = fmt.Errorf("%w: %s", ErrRejected, tx.Reason)
	}
	return tx, err
}

// An intent describes a record to be made.
type intent struct {
	key       string
	call      Call
	policy    Policy
	kind      AttemptKind
	nonce     *uint64 // the only one allowed; nil = the next
	fillerFor string  // key of the transaction that a filler is made for
}

// recorded returns the record of key, nil if there is none; ErrKeyReused if it has
// another call.
func (s *Sender) recorded(key string, c Call) (*Tx, error) {
	if key == "" || len(key) > maxKey {
		return nil, fmt.Errorf("a transaction key has 1 to %d bytes", maxKey)
	}
	if c.Value == nil || c.Value.Sign() < 0 || c.Value.BitLen() > 256 {
		return nil, errors.New("a call needs a value of 0 or more wei")
	}
	tx, err := s.ledger.get(key)
	if tx == nil || err != nil || tx.State == TxUnknown {
		return tx, err
	}
	if !tx.Call.SameAs(c) {
		return nil, fmt.Errorf("%w: %q", ErrKeyReused, key)
	}
	return tx, nil
}

// submit makes the record of a key and broadcasts it: it prices the call, claims a nonce,
// signs, journals and sends. From the nonce on this happens one at a time per account:
// whether a nonce is free again, because every node refused its bytes, must be known
// before another transaction is signed behind it. Another goroutine may have made the
// record meanwhile.
func (s *Sender) submit(ctx context.Context, i intent) (*Tx, error) {
	c, p := i.call, i.policy
	if err := s.checkDeadline(p); err != nil {
		return nil, err
	}
	cost, err := s.nodes.CostAt(ctx, c, p.Tier)
	if err != nil {
		return nil, err
	}
	if err := checkCeiling(cost.Max, p); err != nil {
		return nil, err
	}
	unlock, err := s.lock(ctx, account{c.ChainID, c.From})
	if err != nil {
		return nil, err
	}
	defer unlock()
	tx, err := s.recorded(i.key, c)
	if err != nil {
		return nil, err
	}
	if tx != nil {
		return s.broadcast(ctx, tx, false)
	}
	if tx, err = s.sign(ctx, i, cost); err != nil {
		return nil, err
	}
	return s.broadcast(ctx, tx, true)
}

// sign claims a nonce, signs and journals. The caller holds the account's lock.
func (s *Sender) sign(ctx context.Context, i intent, cost Cost) (*Tx, error) {
	c := i.call
	nonce, n, err := s.nextNonce(ctx, c)
	if err != nil {
		return nil, err
	}
	if i.nonce != nil && (nonce != *i.nonce || n.Highest > nonce || n.SingleHost) {
		return nil, fmt.Errorf("nonce %d may not be free any more", *i.nonce)
	}
	if err := s.ledger.probe(); err != nil {
		return nil, err
	}
	s.point(beforeSign)
	a, err := s.attempt(ctx, i.kind, c.From, unsigned(c, nonce, cost.Gas, cost.Fees), c.ChainID, i.policy)
	if err != nil {
		return nil, err
	}
	tx := &Tx{Key: i.key, FillerFor: i.fillerFor, Call: c, Policy: i.policy, Nonce: nonce, SignedAtBlock: n.Block, Attempts: []Attempt{a}, State: TxSigned}
	s.point(beforeJournal)
	if err := s.ledger.create(tx); err != nil {
		return nil, err
	}
	s.point(afterJournal)
	return tx, nil
}

// checkDeadline returns ErrExpired after p's deadline. A policy without one allows nothing.
func (s *Sender) checkDeadline(p Policy) error {
	if s.now().After(p.Until) {
		return fmt.Errorf("%w: the last moment was %s", ErrExpired, p.Until.UTC().Format(time.RFC3339))
	}
	return nil
}

func checkCeiling(maxCost *big.Int, p Policy) error {
	if p.Ceiling != nil && maxCost.Cmp(p.Ceiling) > 0 {
		return fmt.Errorf("%w: up to %s wei, allowed are %s", ErrCeiling, maxCost, p.Ceiling)
	}
	return nil
}

// attempt has t signed and checks that the result is t, signed by the right account, and
// still in time.
func (s *Sender) attempt(ctx context.Context, kind AttemptKind, from common.Address, t *types.Transaction, chainID uint64, p Policy) (Attempt, error) {
	if err := s.checkDeadline(p); err != nil {
		return Attempt{}, err
	}
	id := new(big.Int).SetUint64(chainID)
	signed, err := s.signer.SignTx(ctx, from, t, id)
	if err != nil {
		return Attempt{}, fmt.Errorf("sign: %w", err)
	}
	rules := types.LatestSignerForChainID(id)
	if by, err := types.Sender(rules, signed); err != nil || by != from || rules.Hash(signed) != rules.Hash(t) {
		return Attempt{}, errors.New("sign: the signer returned another transaction")
	}
	if err := s.checkDeadline(p); err != nil { // signing may have taken long
		return Attempt{}, err
	}
	raw, err := signed.MarshalBinary()
	if err != nil {
		return Attempt{}, err
	}
	return Attempt{
		Kind: kind, Raw: raw, Hash: signed.Hash(), FeeCap: (*hexutil.Big)(signed.GasFeeCap()), TipCap: (*hexutil.Big)(signed.GasTipCap()),
		Signed: s.now().UTC(), Until: p.Until.UTC(),
	}, nil
}

// lock waits for the right to claim nonces of a.
func (s *Sender) lock(ctx context.Context, a account) (unlock func(), err error) {
	s.accountsMu.Lock()
	place := s.accounts[a]
	if place == nil {
		place = make(chan struct{}, 1)
		s.accounts[a] = place
	}
	s.accountsMu.Unlock()
	select {
	case place <- struct{}{}:
		return func() { <-place }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// broadcast offers the last attempt of tx to the nodes while its policy allows, and
// records what that proves. first means that this process just signed it: only then does
// a refusal prove that no node has the bytes. The error is ErrLedger or an internal one;
// what nodes say is in the record's Reason.
func (s *Sender) broadcast(ctx context.Context, tx *Tx, first bool) (*Tx, error) {
	now, due, again, err := s.claimBroadcast(tx.Key)
	if err != nil {
		return tx, err
	}
	if tx = now; !due {
		return tx, nil
	}
	a := tx.Last()
	t, err := a.transaction()
	if err != nil {
		return tx, ledgerError(err)
	}
	s.point(beforeBroadcast)
	// Slow endpoints must not carry the bytes beyond their deadline.
	inTime, done := context.WithTimeout(ctx, a.Until.Sub(s.now()))
	sendErr := s.send(inTime, tx.Call.ChainID, t, again)
	done()
	s.point(afterBroadcast)
	after := tx
	switch {
	case sendErr == nil:
		after, err = s.ledger.update(tx.Key, func(tx *Tx) bool {
			change := tx.State == TxSigned
			tx.State = TxSent
			return change
		})
	case first && errors.Is(sendErr, ErrRejected):
		after, err = s.reject(tx.Key, sendErr)
	}
	if err != nil {
		return tx, err // as recorded before the broadcast
	}
	if sendErr == nil {
		s.point(afterSent)
	} else if !after.State.Final() {
		after.Reason = sendErr.Error()
	}
	return after, nil
}

// send offers t to one of the network's endpoints, or to all if again is set. An error of
// Reader means that no endpoint was even asked.
func (s *Sender) send(ctx context.Context, chainID uint64, t *types.Transaction, again bool) error {
	r, err := s.nodes.Reader(ctx, chainID)
	if err != nil {
		return err
	}
	if again {
		return r.SpreadTransaction(ctx, t)
	}
	return r.SendTransaction(ctx, t)
}

// claimBroadcast reports whether the bytes of key are due to be broadcast, and notes that they
// are about to leave. again means that this process has offered the same bytes before.
func (s *Sender) claimBroadcast(key string) (tx *Tx, due, again bool, err error) {
	s.flightMu.Lock()
	defer s.flightMu.Unlock()
	if tx, err = s.ledger.get(key); err != nil {
		return nil, false, false, err
	}
	if tx == nil {
		return nil, false, false, fmt.Errorf("%w: record %q is gone", ErrLedger, key)
	}
	now := s.now()
	if tx.State.Final() {
		delete(s.flights, key)
		return tx, false, false, nil
	}
	f := s.flights[key]
	rested := tx.State != TxSent || len(tx.Attempts) > f.attempts || now.Sub(f.last) >= s.rebroadcast
	if now.After(tx.Last().Until) || !rested {
		return tx, false, false, nil
	}
	again = f.attempts == len(tx.Attempts)
	f.broadcasts, f.attempts, f.last = f.broadcasts+1, len(tx.Attempts), now
	s.flights[key] = f
	return tx, true, again, nil
}

// reject records that no node queued the bytes of key, unless they were offered a second
// time meanwhile, with an unknown outcome.
func (s *Sender) reject(key string, why error) (*Tx, error) {
	s.flightMu.Lock()
	defer s.flightMu.Unlock()
	onlyBroadcast := s.flights[key].broadcasts == 1
	var ne *nodeError
	if errors.As(why, &ne) {
		why = ne
	}
	s.point(beforeReject)
	tx, err := s.ledger.update(key, func(tx *Tx) bool {
		if !onlyBroadcast || tx.State != TxSigned || len(tx.Attempts) != 1 {
			return false
		}
		tx.State, tx.Reason = TxRejected, why.Error()
		return true
	})
	if err != nil {
		return nil, err
	}
	s.point(afterReject)
	if tx.State.Final() {
		delete(s.flights, key)
	}
	return tx, nil
}
