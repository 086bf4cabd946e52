package main

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"swapkeep/cmd/internal/screen"
	"swapkeep/host/protocol"
)

// A follower records how much of an order's history has been printed.
type follower struct {
	began time.Time
	lines int // history entries printed
	txs   map[protocol.Hash]bool
}

func newFollower() *follower {
	return &follower{began: time.Now(), txs: map[protocol.Hash]bool{}}
}

// follow prints an order's history until enough returns true. Notifications only trigger
// a poll; the order itself is read each time.
func (s *demoRun) follow(ctx context.Context, f *follower, id string, enough func(protocol.Order) bool) (protocol.Order, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, settleTime, fmt.Errorf("the order did not get there in %v", settleTime))
	defer cancel()
	defer s.out.ClearProgress()
	for {
		r, err := ask[protocol.OrderResult](ctx, s.port, "swap.order", protocol.OrderParams{Order: id})
		if err != nil {
			return r.Order, reason(ctx, err)
		}
		s.tell(f, r)
		if enough(r.Order) {
			return r.Order, nil
		}
		if err := s.change(ctx, f, r.Order); err != nil {
			return r.Order, reason(ctx, err)
		}
	}
}

// change waits for a newer revision of an order.
func (s *demoRun) change(ctx context.Context, f *follower, known protocol.Order) error {
	for {
		params, err := s.port.await(ctx, "swap.order", func() {
			s.out.Progress(seconds(time.Since(f.began)), fmt.Sprintf("%s: %s", known.State, known.Means))
		})
		if err != nil {
			return err
		}
		var news protocol.Order
		if err := json.Unmarshal(params, &news); err != nil {
			return fmt.Errorf("swap.order: %w", err)
		}
		if news.ID == known.ID && news.Revision > known.Revision {
			return nil
		}
	}
}

// words replaces the notes of a history by longer explanations.
var words = map[string]string{
	"accepted":             "consent is on disk; nothing has been signed",
	"approving":            "the approval first: check, simulate, sign, write down, send",
	"approved":             "what may be pulled is on the chain, exactly that",
	"executing":            "for each step: check, simulate, sign, write down, send",
	"holds the allowance":  "until it is pulled, no other order touches this allowance",
	"keys are locked":      "a signature is needed, and the keys are locked",
	"signed":               "signed and written down",
	"steps done":           "every step is done",
	"telling the provider": "that the provider is told of it is written down first",
	"submitted":            "the provider has taken it; the chain is asked for the proof",
	"the provider has it":  "asked first, the provider says that it has it; it is not told twice",
	"proven filled":        "proven: at least the floor has arrived",
	"proven refunded":      "proven: the input came back",
}

func (s *demoRun) tell(f *follower, r protocol.OrderResult) {
	for _, e := range r.History[min(f.lines, len(r.History)):] {
		note := e.Note
		if told, ok := words[note]; ok {
			note = told
		}
		if e.Condition != "" {
			note += " (" + e.Condition + ")"
		}
		s.out.Event(seconds(e.Time.Sub(f.began)), e.State, screen.Printable(note))
	}
	f.lines = len(r.History)
	for _, tx := range transactions(r.Order) {
		if !f.txs[tx] {
			s.out.Fact("", "tx "+string(tx))
			f.txs[tx] = true
		}
	}
}

// transactions returns those of the finished steps and all that were signed for the
// current step, oldest first.
func transactions(o protocol.Order) (all []protocol.Hash) {
	for _, step := range o.Steps {
		if step.Tx != "" {
			all = append(all, step.Tx)
		}
	}
	for _, a := range o.Attempts {
		all = append(all, a.Tx)
	}
	if o.Sending != "" {
		all = append(all, o.Sending)
	}
	return all
}
