package journal

import (
	"testing"
	"time"

	"swapkeep/swap"
)

// TestEndedAt checks that the time of an order's end is that of the change that ended it, and
// stays while the order changes afterwards without another end.
func TestEndedAt(t *testing.T) {
	at := func(minute int) time.Time { return time.Date(2026, 11, 20, 9, minute, 0, 0, time.UTC) }
	o := swap.Order{}
	for _, c := range []struct {
		name      string
		state     swap.State
		condition swap.Condition
		forget    bool // an older version wrote what was before
		want      time.Time
	}{
		{"open", swap.Settling, "", false, time.Time{}},
		{"likely paid", swap.Settling, swap.LikelyPaid, false, at(1)},
		{"a claim of a likely one", swap.Settling, swap.LikelyPaid, false, at(1)},
		{"another's payment", swap.Settling, "", false, time.Time{}},
		{"closed", swap.Closed, "", false, at(4)},
		{"proven after all", swap.Filled, "", false, at(5)},
		{"gas came back", swap.Filled, "", false, at(5)},
		{"more came back, to an older record", swap.Filled, "", true, at(6)},
		{"and more", swap.Filled, "", false, at(6)},
	} {
		was := o
		if c.forget {
			was.EndedAt = time.Time{}
		}
		minute := 0
		if !was.Updated.IsZero() {
			minute = was.Updated.Minute() + 1
		}
		o = swap.Order{Progress: swap.Progress{State: c.state, Condition: c.condition}, Updated: at(minute)}
		if o.EndedAt = endedAt(was, o); !o.EndedAt.Equal(c.want) {
			t.Errorf("%s: %s, want %s", c.name, o.EndedAt, c.want)
		}
	}
}
