package swap

import (
	"context"
	"encoding/json"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ethereum/go-ethereum/common"
	bolt "go.etcd.io/bbolt"
)

// Whoever got into a page of the browser has its open session, and not the password. So
// what acts of browsers may move without the password is bounded, by sums that are kept
// in the journal: one for the whole vault, whatever wallet, account or connection an act
// is of, so that nobody can split it up. An act with the password is its user's own word,
// and is not counted.

// Slippage from which on a browser's act takes the password, and from which on it is
// refused, in bps.
const (
	PasswordSlippageBps = 500
	TerminalSlippageBps = 1500
)

// Limits are what may be moved without the password; at a terminal, without typing the
// amount again. In millionths of a dollar.
type Limits struct {
	Hour     *big.Int // by all acts of browsers within an hour, gas included
	Unpriced *big.Int // by swaps that an unpriced token is a side of, within 24 hours
}

// A Reason says why an act takes the password.
type Reason string

// The reasons.
const (
	ForUnpriced Reason = "unpriced"     // a side of the swap has no price of our own, and the day's sum is reached
	ForHour     Reason = "hourly_limit" // the hour's sum would be exceeded, or the worth is not known
	ForSlippage Reason = "slippage"     // above PasswordSlippageBps
	ForPrice    Reason = "bad_price"    // at worst less than leastKept of the worth arrives
)

// A Valuer says what an amount of base units is worth by our own prices, in millionths of
// a dollar. It asks nobody. An error means unknown.
type Valuer interface {
	Dollars(ctx context.Context, chainID uint64, token common.Address, amount *big.Int) (micro *big.Int, err error)
}

// A move is what an act may take out of the wallet, in millionths of a dollar. What has
// no worth is of unknown worth, and above every limit.
type move struct {
	At       time.Time `json:"at"`
	Input    *big.Int  `json:"input"`
	Gas      *big.Int  `json:"gas"` // up to the ceiling
	Unpriced bool      `json:"unpriced"`
	Browser  bool      `json:"browser"`

	slippage int            // bps
	loses    bool           // by the floor, more than a session may
	chain    uint64         // of the input
	token    common.Address // the input
}

const (
	limitHour = time.Hour
	limitDay  = 24 * time.Hour
	maxMoves  = 1000 // counted acts of a day; more take the password

	// leastKept of the input's worth, in percent, has to arrive at worst: whoever has the
	// session may also have moved the pools, and takes each second act itself. A swap of
	// 10 % off takes such an act from everybody.
	leastKept = 90
)

// moving is what carrying out terms may take: the whole input, which somebody else gets,
// and all the gas that is accepted. What comes back is the provider's word.
func (s *Service) moving(ctx context.Context, t Terms, slippageBps int) move {
	m := s.gas(ctx, t.SrcChain, t.GasCeiling)
	if t.Provider == Wallet {
		return m
	}
	m.Input, m.slippage, m.chain, m.token = s.worth(ctx, t.SrcChain, t.TokenIn, t.AmountIn), slippageBps, t.SrcChain, t.TokenIn
	floor := s.worth(ctx, t.DstChain, t.TokenOut, t.FloorOut)
	m.Unpriced = m.Input == nil || floor == nil && !s.wraps(t)
	m.loses = m.Input != nil && floor != nil && new(big.Int).Mul(floor, big.NewInt(100)).Cmp(new(big.Int).Mul(m.Input, big.NewInt(leastKept))) < 0
	return m
}

// gas is what up to so much gas may take, in wei; nil = none.
func (s *Service) gas(ctx context.Context, chainID uint64, ceiling *big.Int) move {
	m := move{Input: new(big.Int), Gas: new(big.Int)}
	if ceiling != nil {
		m.Gas = s.worth(ctx, chainID, common.Address{}, ceiling)
	}
	return m
}

// worth is nil where it is not known.
func (s *Service) worth(ctx context.Context, chainID uint64, token common.Address, amount *big.Int) *big.Int {
	if amount == nil || s.o.Valuer == nil {
		return nil
	}
	v, err := s.o.Valuer.Dollars(ctx, chainID, token, amount)
	if err != nil {
		return nil
	}
	return v
}

func (s *Service) wraps(t Terms) bool {
	net, err := s.o.Nodes.Network(t.SrcChain)
	return err == nil && wraps(QuoteRequest{SrcChain: t.SrcChain, DstChain: t.DstChain, TokenIn: t.TokenIn, TokenOut: t.TokenOut}, net.WrappedNative)
}

// takes are the reasons for which m takes more than a session after what was moved before.
func (l Limits) takes(past []move, m move) (why []Reason) {
	input := func(m move) []*big.Int { return []*big.Int{m.Input} }
	all := func(m move) []*big.Int { return []*big.Int{m.Input, m.Gas} }
	unpriced := func(n move) bool { return n.Unpriced }
	lately := func(n move) bool { return n.Browser && m.At.Sub(n.At) < limitHour }
	full := len(past) >= maxMoves
	if m.Unpriced && (full || exceeds(l.Unpriced, past, m, unpriced, input)) {
		why = append(why, ForUnpriced)
	}
	if m.Browser && m.counts() && (full || exceeds(l.Hour, past, m, lately, all)) {
		why = append(why, ForHour)
	}
	if m.Browser && m.slippage > PasswordSlippageBps {
		why = append(why, ForSlippage)
	}
	if m.Browser && m.loses {
		why = append(why, ForPrice)
	}
	return why
}

// exceeds reports whether what m and those of past that count moved is above a limit, or
// not known.
func exceeds(limit *big.Int, past []move, m move, counts func(move) bool, parts func(move) []*big.Int) bool {
	sum := new(big.Int)
	for _, n := range append(slices.DeleteFunc(slices.Clone(past), func(n move) bool { return !counts(n) }), m) {
		for _, part := range parts(n) {
			if part == nil || part.Sign() < 0 {
				return true
			}
			sum.Add(sum, part)
		}
	}
	return limit == nil || sum.Cmp(limit) > 0
}

// counts reports whether m takes anything.
func (m move) counts() bool {
	return m.Input == nil || m.Gas == nil || m.Input.Sign() != 0 || m.Gas.Sign() != 0
}

// bounded refuses an act that takes more than its caller has given for it.
func (s *Service) bounded(c Caller, m move, amount *big.Int) error {
	switch {
	case !c.Terminal && m.slippage > TerminalSlippageBps:
		return refuseField(SlippageTerminal, "slippage", "slippage above %d %% is taken at a terminal only", TerminalSlippageBps/100)
	case c.Terminal && c.Amount != nil && (amount == nil || c.Amount.Cmp(amount) != 0):
		return refuseField(BadRequest, "amount", "is not the amount that is swapped")
	}
	return s.o.Journal.db.View(func(tx *bolt.Tx) error {
		_, err := s.spendable(tx, c, m)
		return err
	})
}

// reserving counts m in the commit that journals an act. The sums are read in it too: of
// two acts at once the second sees the first.
func (s *Service) reserving(c Caller, m move) func(*bolt.Tx) error {
	return func(tx *bolt.Tx) error {
		past, err := s.spendable(tx, c, m)
		if err != nil {
			return err
		}
		return tx.Bucket(moveBucket).Put(movesKey, mustJSON(past))
	}
}

// spendable are the counted acts of the last day with m, unless that takes more than c
// has given.
func (s *Service) spendable(tx *bolt.Tx, c Caller, m move) ([]move, error) {
	m.At, m.Browser = s.o.Now().UTC(), !c.Terminal
	past := movesOf(tx, m.At)
	if c.confirmed() {
		return past, nil
	}
	if why := s.limits().takes(past, m); len(why) > 0 {
		return nil, c.takesMore(m, why)
	}
	if m.counts() && (m.Browser || m.Unpriced) {
		past = append(past, m)
	}
	return past, nil
}

// limits are those that hold now; without any nothing goes without the password.
func (s *Service) limits() Limits {
	if s.o.Limits == nil {
		return Limits{}
	}
	return s.o.Limits()
}

// confirmed reports whether c gave its word for this very act by more than a session.
func (c Caller) confirmed() bool { return c.Terminal && c.Amount != nil || !c.Terminal && c.Password }

func (c Caller) takesMore(m move, why []Reason) error {
	if c.Terminal {
		return &Refusal{Code: AmountAgain, Reason: "a token of the swap has no price of our own: type the amount again",
			Data: map[string]string{"chainId": strconv.FormatUint(m.chain, 10), "token": m.token.Hex()}}
	}
	return &Refusal{Code: ConsentPassword, Reason: "this takes the wallet's password", Data: map[string]string{"reasons": joined(why)}}
}

func joined(why []Reason) string {
	var all []string
	for _, r := range why {
		all = append(all, string(r))
	}
	return strings.Join(all, ",")
}

// Takes are the reasons for which carrying out a review would take the password now, or
// at a terminal the amount again; none: the session is enough.
func (s *Service) Takes(ctx context.Context, r Review, terminal bool) (why []Reason, err error) {
	m := s.moving(ctx, r.Terms, r.Offer.Request.SlippageBps)
	m.At, m.Browser = s.o.Now().UTC(), !terminal
	err = s.o.Journal.db.View(func(tx *bolt.Tx) error {
		why = s.limits().takes(movesOf(tx, m.At), m)
		return nil
	})
	return why, err
}

var (
	moveBucket = []byte("moved") // what browsers moved, and unpriced swaps, without the password
	movesKey   = []byte("day")   // -> []move, oldest first
)

// movesOf are the counted acts of the day before now. One of a later time counts as of
// now: a clock that is set back frees nothing. If they cannot be read, one of unknown
// worth stands for them.
func movesOf(tx *bolt.Tx, now time.Time) (day []move) {
	var all []move
	if v := tx.Bucket(moveBucket).Get(movesKey); v != nil && json.Unmarshal(v, &all) != nil {
		return []move{{At: now, Unpriced: true, Browser: true}}
	}
	for _, m := range all {
		if m.At.After(now) {
			m.At = now
		}
		if now.Sub(m.At) < limitDay {
			day = append(day, m)
		}
	}
	return day
}
