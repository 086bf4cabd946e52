package onchain

import (
	"context"
	"errors"
	"fmt"
	"time"

	"swapkeep/chain"

	"github.com/ethereum/go-ethereum/common"
)

// A blockStamp is the block that answers come from.
type blockStamp struct {
	number uint64
	at     time.Time
}

// A group is a set of questions asked in one call. then receives all answers in order; it
// is not called if the call failed.
type group struct {
	qs   []chain.Question
	then func(answers [][]byte, of blockStamp)
}

// An batch collects what to ask one chain next.
type batch struct{ groups []group }

func (q *batch) add(then func(answers [][]byte, of blockStamp), qs ...chain.Question) {
	q.groups = append(q.groups, group{qs, then})
}

// multicall3 has this address on every chain in places.
var multicall3 = common.HexToAddress("0xcA11bde05977b3631167028862bE2a173976CA11")

// stampQuestions are asked before and after the others of a call. If the call is split and
// its halves are answered by different nodes, both halves show their block.
var stampQuestions = []chain.Question{
	ask(multicall3, "getBlockNumber()"),
	ask(multicall3, "getCurrentBlockTimestamp()"),
}

// ask builds a question; args are addresses and whole numbers.
func ask(to common.Address, signature string, args ...any) chain.Question {
	return chain.Question{To: to, Data: calldata(selector(signature), args...)}
}

// Limits on a block's age.
const (
	maxBlockAge = 5 * time.Minute
	maxAhead    = 2 * time.Minute // how far a chain's clock may be ahead of ours
)

var (
	errOld   = errors.New("the node's newest block is too old")
	errAhead = errors.New("the node's newest block is of the future")
	errCount = errors.New("the node answered another number of questions")
)

// send asks all groups, batching as many per call as fit. It stops at the first call that
// fails.
func (s *Source) send(ctx context.Context, id uint64, q *batch) error {
	limit := s.atOnce - 2*len(stampQuestions)
	for rest := q.groups; len(rest) > 0; {
		n, questions := 0, 0
		for n < len(rest) && (n == 0 || questions+len(rest[n].qs) <= limit) {
			questions += len(rest[n].qs)
			n++
		}
		if err := s.call(ctx, id, rest[:n]); err != nil {
			return err
		}
		rest = rest[n:]
	}
	return nil
}

func (s *Source) call(ctx context.Context, id uint64, groups []group) error {
	qs := append([]chain.Question(nil), stampQuestions...)
	for _, g := range groups {
		qs = append(qs, g.qs...)
	}
	qs = append(qs, stampQuestions...)
	answers, err := s.chain.Ask(ctx, id, qs)
	switch {
	case err != nil:
		return err
	case len(answers) != len(qs):
		return fmt.Errorf("%w: %d answers to %d", errCount, len(answers), len(qs))
	}
	now, k := s.now(), len(stampQuestions)
	of, err := stampOf(answers[:k], now)
	if err != nil {
		return err
	}
	if _, err := stampOf(answers[len(answers)-k:], now); err != nil {
		return err
	}
	for at := k; len(groups) > 0; groups = groups[1:] {
		n := len(groups[0].qs)
		groups[0].then(answers[at:at+n], of)
		at += n
	}
	return nil
}

// stampOf reads the answers to stampQuestions and rejects a block that is not current.
func stampOf(answers [][]byte, now time.Time) (blockStamp, error) {
	number, err := wordWithin(answers[0], 63)
	if err != nil {
		return blockStamp{}, fmt.Errorf("the block's number: %w", err)
	}
	w, err := wordWithin(answers[1], 63)
	if err != nil {
		return blockStamp{}, fmt.Errorf("the block's time: %w", err)
	}
	at, err := parseTime(w)
	if err != nil {
		return blockStamp{}, fmt.Errorf("the block's time: %w", err)
	}
	switch age := now.Sub(at); {
	case age > maxBlockAge:
		return blockStamp{}, fmt.Errorf("%w: block %s is %s old", errOld, number, age.Round(time.Second))
	case age < -maxAhead:
		return blockStamp{}, fmt.Errorf("%w: block %s, by %s", errAhead, number, -age.Round(time.Second))
	}
	return blockStamp{number.Uint64(), at}, nil
}
