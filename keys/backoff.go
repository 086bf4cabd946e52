package keys

import "time"

// Wrong passwords are counted from the last right one, in the record of guesses too,
// so that a restart forgets none of them. Who can remove the record can read the
// wallets' items and guess without us; that the key derivation makes dear.
var backoffSteps = []time.Duration{
	0, 0, time.Second, 2 * time.Second, 5 * time.Second, 10 * time.Second, 30 * time.Second, time.Minute,
}

type backoff struct {
	wrong  int
	since  time.Time
	unkept bool // the record cannot be written: a restart would be free, so each wait is the longest
}

// until is when the next password is tried, or zero for at once.
func (b *backoff) until(now time.Time) time.Time {
	if b.wrong == 0 {
		return time.Time{}
	}
	step := min(b.wrong, len(backoffSteps)) - 1
	if b.unkept {
		step = len(backoffSteps) - 1
	}
	if elapsed(b.since, now) >= backoffSteps[step] {
		return time.Time{}
	}
	return b.since.Add(backoffSteps[step])
}

func (b *backoff) failed(now time.Time) {
	b.wrong = min(b.wrong+1, mostWrong)
	b.since = now
}

func (b *backoff) passed() { b.wrong = 0 }
