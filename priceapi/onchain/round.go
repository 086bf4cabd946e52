package onchain

import (
	"errors"
	"fmt"
	"math/big"
	"time"

	"swapkeep/chain"
	"swapkeep/priceapi/price"
	"swapkeep/tokens"

	"github.com/ethereum/go-ethereum/common"
)

// Why an oracle's price is rejected.
var (
	errNegative  = errors.New("the answer is not above zero")
	errNoRound   = errors.New("the round has no number")
	errNever     = errors.New("the answer was never updated")
	errStale     = errors.New("the answer is too old")
	errFuture    = errors.New("the answer is of the future")
	errDecimals  = errors.New("the feed does not say how many decimals it has")
	errNoAnswer  = errors.New("no answer")
	errSequencer = errors.New("the sequencer's uptime is not known")
)

// A round is what Chainlink's latestRoundData() returns: round number, answer, start and
// update times. The fifth word, answeredInRound, is deprecated and not used.
type round struct {
	number           *big.Int
	answer           *big.Int // signed
	started, updated time.Time
	decimals         uint8
	of               blockStamp
	err              error // why the round is not usable
}

// roundOf decodes an answer, which is nil if the call reverted.
func roundOf(out []byte) (round, error) {
	if out == nil {
		return round{}, errNoAnswer
	}
	ws, err := words(out, 5)
	if err != nil {
		return round{}, err
	}
	r := round{number: ws[0]}
	if r.answer, err = signed(ws[1], 256); err != nil {
		return round{}, err
	}
	if r.started, err = parseTime(ws[2]); err != nil {
		return round{}, err
	}
	if r.updated, err = parseTime(ws[3]); err != nil {
		return round{}, err
	}
	return r, errors.Join(within(ws[0], 80), within(ws[4], 80))
}

// fresh rejects a round that does not give a current price.
func (r round) fresh(lasts time.Duration, anyRound bool, now time.Time) error {
	if r.err != nil {
		return r.err
	}
	if r.of.at.After(now) {
		now = r.of.at
	}
	switch age := now.Sub(r.updated); {
	case r.answer.Sign() <= 0:
		return errNegative
	case r.number.Sign() == 0 && !anyRound:
		return errNoRound
	case r.updated.IsZero():
		return errNever
	case r.updated.After(r.of.at):
		return fmt.Errorf("%w: by %s", errFuture, r.updated.Sub(r.of.at))
	case age > lasts:
		return fmt.Errorf("%w: %s", errStale, age.Round(time.Second))
	}
	return nil
}

// price returns the round's answer in US dollars.
func (r round) price(f feed, now time.Time) (price.Sample, error) {
	if err := r.fresh(f.maxAge, f.noRoundID, now); err != nil {
		return price.Sample{}, err
	}
	v, err := price.FromRatio(r.answer, pow10(r.decimals))
	if err == nil && v.IsZero() {
		err = errNegative
	}
	return price.Sample{Value: v, At: r.updated, Source: f.source}, err
}

const latestRound = "latestRoundData()"

// askFeeds asks the feeds for their rounds, and for their decimals if not cached.
func (s *Source) askFeeds(q *batch, id uint64, w *readPlan, h *chainData) {
	m := s.caches[id]
	for at := range w.feeds {
		decimals, known := m.decimals.get(at, s.now())
		qs := []chain.Question{ask(at, latestRound)}
		if !known {
			qs = append(qs, ask(at, "decimals()"))
		}
		q.add(func(answers [][]byte, of blockStamp) {
			r, err := roundOf(answers[0])
			if err == nil && !known {
				if decimals, err = feedDecimals(answers[1]); err == nil {
					m.decimals.put(at, decimals, s.now())
				}
			}
			r.decimals, r.of, r.err = decimals, of, err
			h.feeds[at] = r
		}, qs...)
	}
}

func feedDecimals(out []byte) (uint8, error) {
	w, err := wordWithin(out, 8)
	if err != nil || w.Uint64() > tokens.MaxDecimals {
		return 0, errDecimals
	}
	return uint8(w.Uint64()), nil
}

// sequencerGrace is how long prices are not accepted after the sequencer comes back: oracle
// reporters and traders need time to catch up.
const sequencerGrace = time.Hour

// askSequencer asks whether the chain's sequencer is up. Without an uptime feed it is
// assumed to be.
func (s *Source) askSequencer(q *batch, id uint64, h *chainData) {
	at := chainConfigs[id].sequencer
	if at == (common.Address{}) {
		h.sequencer = nil
		return
	}
	q.add(func(answers [][]byte, of blockStamp) {
		h.sequencer = sequencerOf(answers[0], of, s.now())
		if h.sequencer != nil {
			s.rejected(Rejection{price.ID{Chain: id}, price.Unknown, h.sequencer})
		}
	}, ask(at, latestRound))
}

// sequencerOf decodes the uptime feed's round: the answer is 0 for up and 1 for down, and
// the round's start time is when that changed.
func sequencerOf(out []byte, of blockStamp, now time.Time) error {
	r, err := roundOf(out)
	switch {
	case err != nil:
		return fmt.Errorf("%w: %w", errSequencer, err)
	case r.answer.Sign() != 0:
		return fmt.Errorf("%w: it is down", errSequencer)
	case r.number.Sign() == 0 || r.started.IsZero():
		return fmt.Errorf("%w: %w", errSequencer, errNoRound)
	case min(now.Sub(r.started), of.at.Sub(r.started)) < sequencerGrace:
		return fmt.Errorf("%w: it is not up for %s", errSequencer, sequencerGrace)
	}
	return nil
}
