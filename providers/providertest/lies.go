package providertest

import (
	"fmt"
	"maps"
	"net/http"
	"path"
	"slices"
	"testing"
)

// lies changes every node of every recorded reply in every way. Each lie must be refused,
// or have no effect on anything that matters. A lie that is accepted and does not mean the
// same needs a stated reason, and an unneeded reason is an error.
func lies(t *testing.T, s Suite, r *record) {
	t.Run("flows", func(t *testing.T) {
		for _, f := range s.Flows {
			t.Run(f.Name, func(t *testing.T) {
				t.Parallel()
				newHarness(t, s, f).lieAboutAll(t, r)
			})
		}
		for _, x := range s.Readings {
			t.Run(x.Name, func(t *testing.T) {
				t.Parallel()
				lieToReader(t, s, x, r)
			})
		}
	})
	for name, tried := range r.leaves {
		if tried == 0 {
			t.Errorf("%s: no lie of its form was told", name)
		}
	}
	if !t.Failed() { // otherwise some lies were not told
		s.checkAllNeeded(t, r.used)
	}
}

// lieAboutAll lies about every reply of the flow, and about every other recorded status
// reply.
func (h *harness) lieAboutAll(t *testing.T, r *record) {
	for p, x := range h.server.exchanges {
		h.lieAbout(t, r, p, x, h.good)
	}
	if h.flow.Settled == nil {
		return
	}
	for _, c := range h.flow.Settled.Claims[1:] {
		h.replies(t, c, func(x Exchange) {
			good := h.run(t.Context(), h.p)
			if good.err != nil {
				t.Fatalf("%s: %v", c.Exchange, good.err)
			}
			h.lieAbout(t, r, x.path(), x, good)
		})
	}
}

// lieAbout tells every lie about the reply of one path.
func (h *harness) lieAbout(t *testing.T, r *record, p string, x Exchange, good outcome) {
	defer h.server.override(p, nil)
	a := replyReader{suite: h.suite, flow: h.flow.Name, name: path.Base(p), good: good}
	a.read = func(body []byte) outcome {
		h.server.override(p, telling(x, body))
		return h.runFrom(t.Context(), p)
	}
	if s := h.flow.Settled; s != nil && (p == s.Submit || p == s.Status) {
		a.extraCheck = func(o outcome) error {
			if o.at == "submit" && !isUncertain(o.err) {
				return fmt.Errorf("the provider took the order, and the refusal says that it did not: %w", o.err)
			}
			return nil
		}
	}
	a.lieTo(t, r, decode(x.Response.Body))
}

// An replyReader is the reader under test, with its outcome for the honest reply.
type replyReader struct {
	suite      Suite
	flow, name string
	good       outcome
	read       func(body []byte) outcome
	extraCheck func(outcome) error // further checks of an outcome; nil = none
}

// lieTo tells every lie about a reply, with one sub-test for each leaf or branch.
func (a replyReader) lieTo(t *testing.T, r *record, doc any) {
	places := map[string][]node{}
	type repeated struct {
		name string
		row  int
	}
	tried := map[repeated]bool{}
	for _, n := range append(walk(doc), node{value: doc}) {
		name := a.name + ":" + n.pattern
		again := repeated{name, a.suite.wholeRow(a.flow, a.name+":"+n.place)}
		if again.row < 0 || !tried[again] { // a place that a whole row excuses is tried once
			places[name] = append(places[name], n)
		}
		tried[again] = true
	}
	for _, name := range slices.Sorted(maps.Keys(places)) {
		t.Run(name, func(t *testing.T) {
			for _, n := range places[name] {
				for _, m := range n.lies() {
					o := a.read(n.with(doc, m))
					r.lie(name, n.leaf, m.sameForm, o.err)
					a.judge(t, r, n, m, o)
					if a.extraCheck == nil {
						continue
					}
					if err := a.extraCheck(o); err != nil {
						t.Errorf("%s: %v", m, err)
					}
				}
			}
		})
	}
}

// lies are all lies about a node; for the whole reply only those about its names.
func (n node) lies() []mutation {
	if top, ok := n.value.(map[string]any); ok && len(n.keys) == 0 {
		return ofNames(top)
	}
	if len(n.keys) == 0 {
		return nil
	}
	return mutations(n.value)
}

// judge requires a lie to be refused with a code, or to be allowed.
func (a replyReader) judge(t *testing.T, r *record, n node, m mutation, o outcome) {
	if whole := a.suite.isStrict(a.name + ":" + n.place); m.kind == oneMore && whole != (o.err != nil) {
		t.Errorf("%s, at %s: read whole is %t, and the outcome %v", m, n.place, whole, o.err)
	}
	if o.err != nil {
		if code(o.err) == "" {
			t.Errorf("%s: refused without a code: %v", m, o.err)
		}
		return
	}
	changes := differences(a.good, o)
	if len(changes) == 0 && m.sameMeaning {
		return
	}
	switch row := a.suite.excusingRow(a.flow, a.name+":"+n.place, m.kind, changes); {
	case row >= 0:
		r.excused(row, m.kind, a.name+":"+n.pattern, n.leaf)
	case len(changes) > 0:
		t.Errorf("%s: accepted, and changes %v", m, changes)
	default:
		t.Errorf("%s, at %s: accepted, and no reason says why that is harmless", m, n.place)
	}
}

func telling(x Exchange, body []byte) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { send(w, x, body) }
}
