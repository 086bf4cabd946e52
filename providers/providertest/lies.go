package providertest

import (
	"encoding/json"
	"maps"
	"net/http"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// A tally is what became of one leaf's mutations, over all flows.
type tally struct {
	value, refused int // mutations to another value of the same form, and those refused
}

// count adds one mutation of a leaf.
func count(leaves map[string]*tally, name string, refused bool) {
	if leaves[name] == nil {
		leaves[name] = &tally{}
	}
	leaves[name].value++
	if refused {
		leaves[name].refused++
	}
}

// A record is what became of all lies.
type record struct {
	mu             sync.Mutex
	leaves         map[string]*tally
	used           map[string]bool // reasons that were needed, by path
	total, refused int
}

// lies changes every node of every recorded reply in every way and wants each
// lie refused, or without influence on anything that matters. A leaf of which no
// value is refused needs a stated reason; a reason that nothing needs is an error.
func lies(t *testing.T, s Suite) {
	r := &record{leaves: map[string]*tally{}, used: map[string]bool{}}
	t.Run("flows", func(t *testing.T) {
		for _, f := range s.Flows {
			if f.Alike != "" {
				sameLeaves(t, s, f)
				continue
			}
			t.Run(f.Name, func(t *testing.T) {
				t.Parallel()
				newHarness(t, s, f).lieAboutAll(t, r)
			})
		}
	})
	for name, l := range r.leaves {
		reason, excused := s.reason(name)
		switch {
		case l.refused == 0 && !excused:
			t.Errorf("%s: none of %d other values is refused, and no reason says why any is harmless", name, l.value)
		case l.refused == 0:
			r.used[reason.Path] = true
		}
	}
	for _, h := range s.Harmless {
		switch {
		case h.Why == "":
			t.Errorf("%s is excused without a reason", h.Path)
		case !r.used[h.Path]:
			t.Errorf("the reason for %s is not needed", h.Path)
		}
	}
	t.Logf("%d lies about %d leaves: %d refused, %d harmless", r.total, len(r.leaves), r.refused, r.total-r.refused)
}

// sameLeaves wants every leaf of a flow's replies to be one of the flow's that it names.
func sameLeaves(t *testing.T, s Suite, f Flow) {
	i := slices.IndexFunc(s.Flows, func(g Flow) bool { return g.Name == f.Alike && g.Alike == "" })
	if i < 0 {
		t.Fatalf("%s is like %s, which is not lied about", f.Name, f.Alike)
	}
	known := leavesOf(t, s, s.Flows[i])
	for name := range leavesOf(t, s, f) {
		if !known[name] {
			t.Errorf("%s: %s has no such leaf", name, f.Alike)
		}
	}
}

// leavesOf are the names of all leaves of a flow's replies.
func leavesOf(t *testing.T, s Suite, f Flow) map[string]bool {
	files := slices.Clone(f.Exchanges)
	if f.Settled != nil {
		for _, c := range f.Settled.Claims {
			files = append(files, c.Exchange)
		}
	}
	out := map[string]bool{}
	for _, file := range files {
		x := ReadExchange(t, filepath.Join(s.Dir, file))
		for _, n := range walk(decode(x.Response.Body)) {
			if n.leaf {
				out[path.Base(x.path())+":"+n.pattern] = true
			}
		}
	}
	return out
}

// lieAboutAll lies about every reply of the flow, and about every other reply
// that its provider may give of the order's state.
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

// lieAbout tells every lie about the reply of one path, one sub-test for each leaf
// or branch.
func (h *harness) lieAbout(t *testing.T, r *record, p string, x Exchange, good outcome) {
	defer h.server.lie(p, nil)
	doc := decode(x.Response.Body)
	places := map[string][]node{}
	for _, n := range walk(doc) {
		name := path.Base(p) + ":" + n.pattern
		reason, _ := h.suite.reason(name)
		if len(places[name]) == 0 || !strings.HasSuffix(reason.Path, "**") { // what a whole excused subtree repeats is tried once
			places[name] = append(places[name], n)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(places)) {
		t.Run(name, func(t *testing.T) {
			reason, _ := h.suite.reason(name)
			for _, n := range places[name] {
				for _, m := range mutations(n.value) {
					h.server.lie(p, telling(x, n.with(doc, m)))
					o := h.runFrom(t.Context(), p)
					changed := changedBy(good, o)
					for _, c := range changed {
						if !slices.Contains(reason.MayChange, c) {
							t.Errorf("%s: accepted, and changes %s", m.name, c)
						}
					}
					if s := h.flow.Settled; s != nil && p == s.Submit && o.at == "submit" && !unsure(o.err) {
						t.Errorf("%s: the provider took the order, and the refusal says that it did not: %v", m.name, o.err)
					}
					r.add(name, n.leaf && m.sameForm, o.err != nil)
					if len(changed) > 0 {
						r.use(reason.Path)
					}
				}
			}
		})
	}
}

// add counts a lie; one of the same form about a leaf counts for the leaf.
func (r *record) add(name string, value, refused bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.total++
	if refused {
		r.refused++
	}
	if value {
		count(r.leaves, name, refused)
	}
}

func (r *record) use(reason string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.used[reason] = true
}

// changedBy is what an accepted lie altered. A lie that was refused alters
// nothing, but a refusal without a known code is no refusal.
func changedBy(good, o outcome) []string {
	if o.err == nil {
		return differences(good, o)
	}
	if code(o.err) == "" {
		return []string{"the error: " + o.err.Error()}
	}
	return nil
}

func telling(x Exchange, body []byte) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { send(w, x, body) }
}

// reason finds the row for a leaf.
func (s Suite) reason(name string) (Harmless, bool) {
	for _, r := range s.Harmless {
		if below, ok := strings.CutSuffix(r.Path, "**"); ok && strings.HasPrefix(name, below) || r.Path == name {
			return r, true
		}
	}
	return Harmless{}, false
}

// A node is one value inside a reply.
type node struct {
	keys    []any  // object keys and array indexes from the top
	pattern string // such as quote.route[*][*].fee
	value   any
	leaf    bool
}

// walk lists every node below the top.
func walk(doc any) []node {
	var out []node
	var visit func(v any, keys []any, pattern string)
	visit = func(v any, keys []any, pattern string) {
		n := node{slices.Clone(keys), pattern, v, true}
		switch v := v.(type) {
		case map[string]any:
			n.leaf = false
			names := make([]string, 0, len(v))
			for k := range v {
				names = append(names, k)
			}
			slices.Sort(names)
			for _, k := range names {
				visit(v[k], append(keys, k), strings.TrimPrefix(pattern+"."+k, "."))
			}
		case []any:
			n.leaf = len(v) == 0
			for i, e := range v {
				visit(e, append(keys, i), pattern+"[*]")
			}
		}
		if len(keys) > 0 {
			out = append(out, n)
		}
	}
	visit(doc, nil, "")
	return out
}

// with is the document with the node changed.
func (n node) with(doc any, m mutation) []byte {
	b, err := json.Marshal(replace(doc, n.keys, m))
	if err != nil {
		panic(err) // it came from JSON
	}
	return b
}

// replace copies the containers on the way to the changed node.
func replace(v any, keys []any, m mutation) any {
	if len(keys) == 0 {
		return m.value
	}
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, e := range v {
			out[k] = e
		}
		k := keys[0].(string)
		if len(keys) == 1 && m.remove {
			delete(out, k)
		} else {
			out[k] = replace(v[k], keys[1:], m)
		}
		return out
	case []any:
		i := keys[0].(int)
		if len(keys) == 1 && m.remove {
			return slices.Concat(v[:i], v[i+1:])
		}
		out := slices.Clone(v)
		out[i] = replace(v[i], keys[1:], m)
		return out
	}
	return v
}
