package providertest

import (
	"fmt"
	"os"
	"sync"
	"testing"

	"swapkeep/swap"
)

// A record counts what became of a suite's lies.
type record struct {
	mu sync.Mutex

	lies, refused    int            // lies about replies
	leaves           map[string]int // lies of the same form, by leaf
	free             map[string]bool
	reasons          map[string]bool // codes and fields of refusals
	used             map[int]map[string]bool
	calldata, typed  int // changes of what is to be signed
	movements, named int
}

func newRecord() *record {
	return &record{leaves: map[string]int{}, free: map[string]bool{}, reasons: map[string]bool{}, used: map[int]map[string]bool{}}
}

// lie counts a lie about a part of a reply, and its result.
func (r *record) lie(name string, leaf, sameForm bool, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lies++
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

// excused notes that a row allowed a lie of this kind.
func (r *record) excused(row int, kind, name string, leaf bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	markUsed(r.used, row, kind)
	if leaf {
		r.free[name] = true
	}
}

// markUsed records that a row was needed for a kind of lie.
func markUsed(used map[int]map[string]bool, row int, kind string) {
	if used[row] == nil {
		used[row] = map[string]bool{}
	}
	used[row][kind] = true
}

func (r *record) add(n *int, more int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	*n += more
}

// line is the record on one line, without the counts that are zero.
func (r *record) line(name string) string {
	summary := fmt.Sprintf("hostile: %s: %d lies about %d leaves: %d refused for %d named reasons, %d harmless (the value in other words, or one of %d leaves listed with why)",
		name, r.lies, len(r.leaves), r.refused, len(r.reasons), r.lies-r.refused, len(r.free))
	for _, c := range []struct {
		n    int
		what string
	}{
		{r.calldata, "changes of calldata"}, {r.movements, "movements shown of opaque calldata"}, {r.typed, "changes of typed data"}, {r.named, "named attacks"},
	} {
		if c.n > 0 {
			summary += fmt.Sprintf(", %d %s", c.n, c.what)
		}
	}
	return summary
}

func (r *record) report(t *testing.T, name string) { Report(t, r.line(name)) }

// Report logs a line of the hostile suite. If SWAPKEEP_REPORT names a file and the test has
// not failed, the line is appended to it, since a passing test shows its log only with -v.
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

// code is the refusal's code, or "" for any other error.
func code(err error) swap.Code {
	if r := refusal(err); r != nil {
		return r.Code
	}
	return ""
}
