package swap

import (
	"maps"
	"time"
)

// A Closing is the end of an order that nothing proves, with what was known at that moment.
type Closing struct {
	At        time.Time         `json:"at"`
	By        string            `json:"by"`                         // [ClosedByPerson] or [ClosedByAge]
	Claim     *Claim            `json:"claim,omitempty"`            // what the provider had said
	Candidate *CandidatePayment `json:"candidatePayment,omitempty"` // the payment that had been seen
	Searched  map[uint64]uint64 `json:"searched,omitempty"`         // by chain, the last block that was searched
	Unwatched bool              `json:"unwatched,omitempty"`        // nothing is asked about it any more
}

// The values of Closing.By.
const (
	ClosedByPerson = "person"
	ClosedByAge    = "age"
)

// How long an order waits before it can be closed, from when its deposit was mined.
const (
	minCloseWait = 30 * time.Minute
	maxDuration  = 2 * time.Hour       // the longest expected duration that a provider is believed
	closeFactor  = 4                   // times the expected duration
	watchTime    = 30 * 24 * time.Hour // then it is closed by itself, and asked about no more
)

// CloseTime returns from when o may be closed by a person: a deposit or an opaque call that
// was mined, which no signature ends any more; and at once any order on a chain that was shut
// down. ok is false for every other order, for which the chain shows an end in any case.
func (o Order) CloseTime() (from time.Time, ok bool) {
	switch {
	case o.ChainEnded && !o.State.Final():
		return o.Created, true
	case !o.depositMined():
		return from, false
	}
	wait := max(minCloseWait, closeFactor*min(o.Offer.Duration, maxDuration))
	return o.handedOver().Add(wait), true
}

// depositMined reports whether o's input was handed over, and its end is awaited.
func (o Order) depositMined() bool {
	return o.State == Settling && HandsOver(o.Plan.LastEffect().Kind) && len(o.Results) == len(o.Plan.Steps)
}

// UnwatchTime returns when the engine stops looking for the end of an order that others settle
// or whose amounts are unclear; ok is false for a signed order, whose end its deadline brings,
// and before every step is done.
func (o Order) UnwatchTime() (at time.Time, ok bool) {
	if o.State != Settling && o.State != Closed || o.OrderSigned() || len(o.Results) == 0 || len(o.Results) != len(o.Plan.Steps) {
		return at, false
	}
	return o.handedOver().Add(watchTime), true
}

// handedOver returns when o's last step was mined, by its block's time, but not before o was made:
// a node may show any time.
func (o Order) handedOver() time.Time {
	at := o.Created
	if ev := o.Results[len(o.Results)-1].Evidence; ev != nil && ev.Time.After(at) {
		at = ev.Time
	}
	return at
}

// Close moves o to [Closed], with what is known now. searched is the last block that was
// searched, by chain. Of a deposit the end may still show, on the other chain; of anything else
// on a chain that was shut down it cannot, and nothing of it is carried out any more.
func (o *Order) Close(by string, now time.Time, searched map[uint64]uint64) error {
	unwatched := !o.depositMined()
	if err := o.SetState(Closed); err != nil {
		return err
	}
	o.Cancel, o.Bump, o.Proposal = false, nil, nil
	c := &Closing{At: now, By: by, Searched: maps.Clone(searched), Unwatched: unwatched}
	if o.Claim != nil {
		said := *o.Claim
		c.Claim = &said
	}
	if o.Candidate != nil {
		seen := *o.Candidate
		c.Candidate = &seen
	}
	o.Closing = c
	return nil
}
