package audit

import (
	"maps"
	"slices"
)

// final are the states that no order leaves, by the spec.
var final = []string{"filled", "refunded", "failed", "expired", "cancelled"}

// checkStored compares the daemon's last answers with its database, which is read without its
// code after it has ended.
func (r *Audit) checkStored(onDisk map[string]storedOrder) {
	for _, id := range slices.Sorted(maps.Keys(onDisk)) {
		d := onDisk[id]
		o, reported := r.orders[id]
		if !reported {
			r.Find("the journal has order %s (%s), which the daemon does not list", id, d.State)
			continue
		}
		r.compareOrder(o.Order, d)
		r.compareHistory(o, d)
	}
	for id, o := range r.orders {
		if _, kept := onDisk[id]; !kept {
			r.Find("order %s (%s) is listed, and the journal does not have it", id, o.Order.State)
		}
	}
}

// compareOrder compares one order. One that was open may have progressed since, but not ended,
// as the test waited for ends.
func (r *Audit) compareOrder(o Order, d storedOrder) {
	over := slices.Contains(final, d.State)
	switch {
	case d.ID != o.ID || d.Request != o.Request || d.Digest != o.Digest:
		r.Find("%s: the journal has %s, %s, %s, reported was %s, %s", r.orderLabel(o), d.ID, d.Request, d.Digest, o.Request, o.Digest)
	case d.OrderByRequest != o.ID:
		r.Find("%s: its request %s made %q by the journal's index", r.orderLabel(o), d.Request, d.OrderByRequest)
	case over != o.Final, over && d.State != o.State:
		r.Find("%s: the journal says that it is %s", r.orderLabel(o), d.State)
	case d.Open == over && d.State != "closed":
		r.Find("%s: the journal's index of what is open has it: %t", r.orderLabel(o), d.Open)
	case over && (d.Verdict == nil || o.Verdict == nil || d.Verdict.State != d.State || d.Verdict.ProvenBy != o.Verdict.ProvenBy):
		r.Find("%s: the journal's verdict is %+v, reported was %+v", r.orderLabel(o), d.Verdict, o.Verdict)
	case over && (d.Verdict.Evidence == nil) != (o.Verdict.Evidence == nil),
		over && d.Verdict.Evidence != nil && d.Verdict.Evidence.Tx != o.Verdict.Evidence.Tx:
		r.Find("%s: the journal's evidence is %+v, reported was %+v", r.orderLabel(o), d.Verdict.Evidence, o.Verdict.Evidence)
	}
}

// compareHistory checks that the lines the daemon reported are the newest in the database or,
// for an open order, were at that time, and that states only go forward.
func (r *Audit) compareHistory(o OrderResult, d storedOrder) {
	r.checkForward(o.Order, d.History)
	n := o.Omitted + len(o.History)
	if n > len(d.History) || o.Order.Final && n != len(d.History) {
		r.Find("%s: the journal has %d lines of it, reported were %d and %d left out", r.orderLabel(o.Order), len(d.History), len(o.History), o.Omitted)
		return
	}
	for i, e := range o.History {
		if kept := d.History[o.Omitted+i]; kept != e.State {
			r.Find("%s: line %d of its history says %s in the journal, reported was %s", r.orderLabel(o.Order), o.Omitted+i, kept, e.State)
		}
	}
}

// checkForward checks that a history begins with consent and only goes forward.
func (r *Audit) checkForward(o Order, states []string) {
	place := []string{"accepted", "approving", "executing", "submitting", "settling", "closed"}
	last := 0
	for i, state := range states {
		at := slices.Index(place, state)
		switch {
		case i == 0 && state != "accepted":
			r.Find("%s: its history begins with %s", r.orderLabel(o), state)
		case at < 0 && i < len(states)-1 && states[i+1] != state:
			r.Find("%s: it goes on after %s", r.orderLabel(o), state)
		case at >= 0 && at < last && !(state == "approving" && place[last] == "executing"):
			r.Find("%s: it goes back to %s from %s", r.orderLabel(o), state, place[last])
		}
		last = max(at, 0)
	}
	if len(states) == 0 || o.Final && states[len(states)-1] != o.State {
		r.Find("%s: its history ends with %v", r.orderLabel(o), states[max(0, len(states)-1):])
	}
}
