package providertest

import (
	"fmt"
	"os"
	"sync"
	"testing"

	"swapkeep/swap"
)

// A record is what became of all that a suite's services lied about.
type record struct {
	mu sync.Mutex

	told, refused    int            // lies about replies
	leaves           map[string]int // lies of the same form, by leaf
	free             map[string]bool
	reasons          map[string]bool // codes and fields of refusals
	used             map[int]map[string]bool
	calldata, typed  int // other bytes and other messages than those to be signed
	movements, named int
}

func newRecord() *record {
	return &record{leaves: map[string]int{}, free: map[string]bool{}, reasons: map[string]bool{}, used: map[int]map[string]bool{}}
}

// lie counts a lie about a part of a reply, and what came of it.
func (r *record) lie(name string, leaf, sameForm bool, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.told++
	if err != nil {
		r.refused++
	}
	if x := refusal(err); x != nil {
		r.reasons[string(x.Code)+" "+x.Field] = true
	}
	if leaf {
		r.leaves[name] += 0
	}
	if leaf && sameForm {
		r.leaves[name]++
	}
}

// excused notes that a row allowed a lie of a kind.
func (r *record) excused(row int, kind, name string, leaf bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	note(r.used, row, kind)
	if leaf {
		r.free[name] = true
	}
}

// note writes down that a row was needed for a kind of lie.
func note(used map[int]map[string]bool, row int, kind string) {
	if used[row] == nil {
		used[row] = map[string]bool{}
	}
	used[row][kind] = true
}

// add counts in one of the numbers.
func (r *record) add(n *int, more int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	*n += more
}

// line is the record on one line; it leaves out what a suite has none of.
func (r *record) line(name string) string {
	said := fmt.Sprintf("hostile: %s: %d lies about %d leaves: %d refused for %d named reasons, %d harmless (the value in other words, or one of %d leaves listed with why)",
		name, r.told, len(r.leaves), r.refused, len(r.reasons), r.told-r.refused, len(r.free))
	for _, c := range []struct {
		n    int
		what string
	}{
		{r.calldata, "changes of calldata"}, {r.movements, "movements shown of opaque calldata"}, {r.typed, "changes of typed data"}, {r.named, "named attacks"},
	} {
		if c.n > 0 {
			said += fmt.Sprintf(", %d %s", c.n, c.what)
		}
	}
	return said
}

// report reports the record.
func (r *record) report(t *testing.T, name string) { Report(t, r.line(name)) }

// Report logs a line of the hostile suite and, with SWAPKEEP_REPORT, adds it to that file:
// a test that passes shows its log only when it is asked to.
func Report(t *testing.T, line string) {
	t.Helper()
	t.Log(line)
	file := os.Getenv("SWAPKEEP_REPORT")
	if file == "" || t.Failed() {
		return
	}
	f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	_, errWrite := fmt.Fprintln(f, line)
	if err := f.Close(); err != nil || errWrite != nil {
		t.Error(err, errWrite)
	}
}

// code is the refusal's code, or "" when the error is of another kind.
func code(err error) swap.Code {
	if r := refusal(err); r != nil {
		return r.Code
	}
	return ""
}
