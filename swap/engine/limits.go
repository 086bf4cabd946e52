package engine

import (
	"context"
	"encoding/json"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"time"

	"swapkeep/swap"
	"swapkeep/swap/journal"

	"github.com/ethereum/go-ethereum/common"
	bolt "go.etcd.io/bbolt"
)

// Slippage limits in bps. Above passwordSlippageBps a browser's act needs the password;
// above TerminalSlippageBps it is refused, and only a terminal may do it.
const (
	passwordSlippageBps = 500
	TerminalSlippageBps = 1500
)

// Limits are the amounts, in millionths of a dollar, that may be moved without the
// password or, at a terminal, without typing the amount again.
type Limits struct {
	Hour     *big.Int // by all acts of browsers within an hour, gas included
	Unpriced *big.Int // by swaps with an unpriced token on either side, within 24 hours
	Outside  bool     // a person is asked outside the browser for its acts, so that it has no limits
}

// A Reason says why an act needs the password.
type Reason string

const (
	ForUnpriced Reason = "unpriced"     // a token of the swap has no price of our own, and the 24-hour limit is reached
	ForHour     Reason = "hourly_limit" // the hourly limit would be exceeded, or the value is unknown
	ForSlippage Reason = "slippage"     // above passwordSlippageBps
	ForPrice    Reason = "bad_price"    // in the worst case less than leastKept percent of the input's value arrives
)

// A Valuer converts an amount of base units to millionths of a dollar, by the wallet's
// own prices. It makes no request. An error means that the value is unknown.
type Valuer interface {
	Dollars(ctx context.Context, chainID uint64, token common.Address, amount *big.Int) (micro *big.Int, err error)
}

// A move is the most that an act may take out of the wallet, in millionths of a dollar. A
// nil amount is an unknown value and exceeds every limit.
type move struct {
	At       time.Time `json:"at"`
	Input    *big.Int  `json:"input"`
	Gas      *big.Int  `json:"gas"` // up to the gas ceiling
	Unpriced bool      `json:"unpriced"`
	Browser  bool      `json:"browser"`

	slippage int            // bps
	loses    bool           // the minimum received is worth too little, see leastKept
	chain    uint64         // of the input
	token    common.Address // the input
}

const (
	limitHour = time.Hour
	limitDay  = 24 * time.Hour
	maxMoves  = 1000 // counted acts within 24 hours; further ones need the password

	// leastKept is the percentage of the input's value that must arrive at minimum
	// without the password. An attacker with the session may also have moved the pools,
	// and can give every acknowledgement itself; a price 10 % off needs one from any
	// caller.
	leastKept = 90
)

// moving returns what carrying out t may take: the whole input, which somebody else
// receives, and gas up to the ceiling. The output is only the provider's claim and not
// subtracted.
func (s *Service) moving(ctx context.Context, t swap.Terms, slippageBps int) move {
	m := s.gas(ctx, t.SrcChain, t.GasCeiling)
	if t.Provider == swap.Wallet {
		return m
	}
	m.Input, m.slippage, m.chain, m.token = s.worth(ctx, t.SrcChain, t.TokenIn, t.AmountIn), slippageBps, t.SrcChain, t.TokenIn
	floor := s.worth(ctx, t.DstChain, t.TokenOut, t.MinOut)
	m.Unpriced = m.Input == nil || floor == nil && !s.isWrap(t)
	m.loses = m.Input != nil && floor != nil && new(big.Int).Mul(floor, big.NewInt(100)).Cmp(new(big.Int).Mul(m.Input, big.NewInt(leastKept))) < 0
	return m
}

// gas returns a move of up to ceiling wei of gas; nil means none.
func (s *Service) gas(ctx context.Context, chainID uint64, ceiling *big.Int) move {
	m := move{Input: new(big.Int), Gas: new(big.Int)}
	if ceiling != nil {
		m.Gas = s.worth(ctx, chainID, common.Address{}, ceiling)
	}
	return m
}

// worth returns an amount's value in millionths of a dollar, or nil if it is unknown.
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

func (s *Service) isWrap(t swap.Terms) bool {
	net, err := s.o.Nodes.Network(t.SrcChain)
	return err == nil && swap.IsWrap(swap.QuoteRequest{SrcChain: t.SrcChain, DstChain: t.DstChain, TokenIn: t.TokenIn, TokenOut: t.TokenOut}, net.WrappedNative)
}

// takes returns the reasons why m needs more than a session, given what was moved before.
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
	if m.Browser && m.slippage > passwordSlippageBps {
		why = append(why, ForSlippage)
	}
	if m.Browser && m.loses {
		why = append(why, ForPrice)
	}
	return why
}

// exceeds reports whether m and the past moves that counts selects add up to more than
// limit, or to an unknown value. parts returns the amounts of a move to add.
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

// checkLimits refuses an act that needs more confirmation than c gave: SlippageTerminal,
// ConsentPassword, AmountAgain, or BadRequest if a wrong amount was typed.
func (s *Service) checkLimits(c Caller, m move, amount *big.Int) error {
	switch {
	case !c.Terminal && m.slippage > TerminalSlippageBps:
		return swap.RefuseField(swap.SlippageTerminal, "slippage", "slippage above %d %% is only allowed at a terminal", TerminalSlippageBps/100)
	case c.Terminal && c.Amount != nil && (amount == nil || c.Amount.Cmp(amount) != 0):
		return swap.RefuseField(swap.BadRequest, "amount", "must equal the swapped amount")
	}
	limits := s.limits()
	c.outside = limits.Outside && !c.Terminal // a person will be asked
	return s.o.Journal.DB().View(func(tx *bolt.Tx) error {
		_, err := s.spendable(tx, limits, c, m)
		return err
	})
}

// recordSpend returns a function that counts m, for the commit that journals the act. The
// sums are read in that commit too: of two concurrent acts the second sees the first.
func (s *Service) recordSpend(c Caller, m move) func(*bolt.Tx) error {
	limits := s.limits() // before the transaction: settings are changed in one too
	return func(tx *bolt.Tx) error {
		past, err := s.spendable(tx, limits, c, m)
		if err != nil {
			return err
		}
		return tx.Bucket(journal.DailySpendBucket).Put(movesKey, swap.MustJSON(past))
	}
}

// spendable returns the counted acts of the last 24 hours including m, or a refusal if m
// needs more confirmation than c gave.
func (s *Service) spendable(tx *bolt.Tx, limits Limits, c Caller, m move) ([]move, error) {
	m.At, m.Browser = s.o.Now().UTC(), !c.Terminal
	past := movesOf(tx, m.At)
	if c.confirmed() || c.outside {
		return past, nil
	}
	if why := limits.takes(past, m); len(why) > 0 {
		return nil, c.takesMore(m, why)
	}
	if m.counts() && (m.Browser || m.Unpriced) {
		past = append(past, m)
	}
	return past, nil
}

// limits returns the present limits. Without any, every act needs the password.
func (s *Service) limits() Limits {
	if s.o.Limits == nil {
		return Limits{}
	}
	return s.o.Limits()
}

// confirmed reports whether c confirmed this very act by more than a session.
func (c Caller) confirmed() bool { return c.Terminal && c.Amount != nil || !c.Terminal && c.Password }

func (c Caller) takesMore(m move, why []Reason) error {
	if c.Terminal {
		return &swap.Refusal{Code: swap.AmountAgain, Reason: "a token of the swap has no known price: enter its amount again",
			Data: map[string]string{"chainId": strconv.FormatUint(m.chain, 10), "token": m.token.Hex()}}
	}
	return &swap.Refusal{Code: swap.ConsentPassword, Reason: "this needs the wallet's password", Data: map[string]string{"reasons": joined(why)}}
}

func joined(why []Reason) string {
	var all []string
	for _, r := range why {
		all = append(all, string(r))
	}
	return strings.Join(all, ",")
}

// Takes returns the reasons why carrying out r now would need the password or, at a
// terminal, the amount again. If there are none, the session is enough.
func (s *Service) Takes(ctx context.Context, r swap.Review, terminal bool) (why []Reason, err error) {
	m := s.moving(ctx, r.Terms, r.Offer.Request.SlippageBps)
	m.At, m.Browser = s.o.Now().UTC(), !terminal
	limits := s.limits()
	err = s.o.Journal.DB().View(func(tx *bolt.Tx) error {
		if !limits.Outside || terminal {
			why = limits.takes(movesOf(tx, m.At), m)
		}
		return nil
	})
	return why, err
}

var (
	movesKey = []byte("last_24h") // -> []move, oldest first
)

// movesOf returns the counted acts of the 24 hours before now. One with a later time
// counts as made now, so that setting the clock back frees nothing. If the record cannot
// be read, one act of unknown value stands for it.
func movesOf(tx *bolt.Tx, now time.Time) (day []move) {
	var all []move
	if v := tx.Bucket(journal.DailySpendBucket).Get(movesKey); v != nil && json.Unmarshal(v, &all) != nil {
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
