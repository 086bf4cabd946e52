package keys

import "time"

// Wrong passwords are counted from the last right one. The count is this
// process's: a restart forgets it, which is why guessing is also made dear by
// the key derivation.
var backoffSteps = []time.Duration{
	0, 0, time.Second, 2 * time.Second, 5 * time.Second, 10 * time.Second, 30 * time.Second, time.Minute,
}

type backoff struct {
	wrong int
	since time.Time
}

// until is when the next password is tried, or zero for at once.
func (b *backoff) until(now time.Time) time.Time {
	if b.wrong == 0 {
		return time.Time{}
	}
	wait := backoffSteps[min(b.wrong, len(backoffSteps))-1]
	if elapsed(b.since, now) >= wait {
		return time.Time{}
	}
	return b.since.Add(wait)
}

func (b *backoff) failed(now time.Time) {
	b.wrong++
	b.since = now
}

func (b *backoff) passed() { b.wrong = 0 }
