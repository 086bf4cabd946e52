package shared

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"swapkeep/priceapi/pricetable"
	"swapkeep/priceapi/web"
)

var testSecret = []byte(strings.Repeat("s", 32))

// TestURLs checks that a URL without a password, or without TLS to another machine, is
// rejected, and that no error contains a password.
func TestURLs(t *testing.T) {
	const hidden = "hidden-password"
	for url, want := range map[string]error{
		"redis://:" + hidden + "@127.0.0.1:6379/0":                       nil,
		"redis://user:" + hidden + "@localhost:6379":                     nil,
		"redis://:" + hidden + "@[::1]:6379/1":                           nil,
		"rediss://:" + hidden + "@cache.example:6380/0":                  nil,
		"unix:///run/redis.sock":                                         nil,
		"unix://:" + hidden + "@/run/redis.sock?db=2":                    nil,
		"redis://127.0.0.1:6379/0":                                       ErrPassword,
		"redis://user@127.0.0.1:6379/0":                                  ErrPassword,
		"rediss://cache.example:6380":                                    ErrPassword,
		"redis://:" + hidden + "@cache.example:6379/0":                   ErrPlain,
		"redis://:" + hidden + "@127.0.0.1.example:6379/0":               ErrPlain,
		"rediss://:" + hidden + "@cache.example:6380/0?skip_verify=true": ErrPlain,
		"redis://:" + hidden + "@127.0.0.1:6379/zero":                    ErrURL,
		"redis://:" + hidden + "%zz@127.0.0.1:6379/0":                    ErrURL,
		"redis://:" + hidden + "@127.0.0.1:6379/0?nothing=1":             ErrURL,
		"http://:" + hidden + "@127.0.0.1":                               ErrURL,
		"":                                                               ErrURL,
	} {
		r, err := Open(Options{URL: url, Secret: testSecret})
		if !errors.Is(err, want) || err != nil && strings.Contains(err.Error(), hidden) {
			t.Errorf("%s: %v, want %v", url, err, want)
		}
		if r != nil {
			r.Close()
		}
	}
	if _, err := Open(Options{URL: "unix:///run/redis.sock", Secret: []byte("short")}); err == nil {
		t.Error("a short secret is taken")
	}
}

func TestSeals(t *testing.T) {
	key := newSeals(testSecret)
	value := sealed(key.answer, "name", []byte("body"))
	if body, ok := unsealed(key.answer, "name", value); !ok || string(body) != "body" {
		t.Errorf("unsealed = %q, %t; want \"body\"", body, ok)
	}
	for what, c := range map[string]struct {
		key   []byte
		name  string
		value []byte
	}{
		"another name": {key.answer, "nam", value}, "another purpose": {key.table, "name", value}, "another secret": {newSeals([]byte("x")).answer, "name", value},
		"cut": {key.answer, "name", value[:len(value)-1]}, "longer": {key.answer, "name", append(value[:len(value):len(value)], 0)}, "no seal": {key.answer, "name", []byte("body")},
		"nothing": {key.answer, "name", nil},
	} {
		if _, ok := unsealed(c.key, c.name, c.value); ok {
			t.Errorf("%s is taken", what)
		}
	}
	for i := range value {
		value[i] ^= 1
		if _, ok := unsealed(key.answer, "name", value); ok {
			t.Fatalf("byte %d may be changed", i)
		}
		value[i] ^= 1
	}
}

// absent returns a Redis that cannot be reached.
func absent(t *testing.T, now func() time.Time) *Redis {
	t.Helper()
	r, err := Open(Options{URL: "unix://" + filepath.Join(t.TempDir(), "none"), Secret: testSecret, Now: now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Close)
	return r
}

// TestLocalLimiter checks that without Redis a process counts by itself, per client and
// with separate rates for keys, and that setting the clock back costs a client at most its
// burst.
func TestLocalLimiter(t *testing.T) {
	now := testTime
	l, err := absent(t, func() time.Time { return now }).Limiter(Rate{10, 5}, Rate{1, 2})
	if err != nil {
		t.Fatal(err)
	}
	asks := func(client string, n int) (ok int, last web.Allowance) {
		for range n {
			a, err := l.Allow(t.Context(), client)
			if err != nil {
				t.Fatal(err)
			}
			if a.OK {
				ok++
			}
			last = a
		}
		return ok, last
	}
	check := func(client string, n, want int, wait time.Duration) {
		t.Helper()
		if ok, last := asks(client, n); ok != want || last.RetryAfter != wait {
			t.Errorf("%s: %d of %d, then wait %s; want %d, %s", client, ok, n, last.RetryAfter, want, wait)
		}
	}
	check("address:a", 5, 2, time.Second)
	check("address:b", 1, 1, 0)
	check("key:a", 9, 5, 100*time.Millisecond)
	now = now.Add(500 * time.Millisecond)
	check("address:a", 1, 0, 500*time.Millisecond)
	check("key:a", 9, 5, 100*time.Millisecond)
	now = now.Add(-time.Hour)
	check("address:a", 1, 0, time.Second)
	now = now.Add(2 * time.Second)
	check("address:a", 3, 2, time.Second)
	for i := range maxClients + 10 {
		if ok, _ := asks(fmt.Sprint("address:", i), 1); ok != 1 {
			t.Fatalf("client %d is refused", i)
		}
	}
	if n := len(l.(*limiter).fullAt); n > maxClients-maxClients/16+20 {
		t.Errorf("%d clients are kept: each new one has to look for room among all", n)
	}
	for _, r := range []Rate{{0, 1}, {1, 0}, {-1, 1}, {1e9, 1}, {1, 1e9}} {
		if r.Check() == nil {
			t.Errorf("%+v is taken", r)
		}
	}
}

// A fakeDatabase has one table, or fails.
type fakeDatabase struct {
	b        *pricetable.Table
	err      error
	requests int
}

func (d *fakeDatabase) Table(_ context.Context, known uint64) (uint64, []byte, error) {
	d.requests++
	if d.err != nil || d.b == nil || d.b.Seq == known {
		return 0, nil, d.err
	}
	data, err := Encode(d.b)
	return d.b.Seq, data, err
}

// TestFollowWithoutRedis checks that tables then come from the database, that older ones
// are ignored, and that without both the last table stays and becomes stale.
func TestFollowWithoutRedis(t *testing.T) {
	now := testTime
	clock := func() time.Time { return now }
	d := &fakeDatabase{}
	var logged []error
	f := &Follower{Feed: pricetable.NewFeed(), Redis: absent(t, clock), Database: d, Now: clock, Log: func(err error) { logged = append(logged, err) }}
	f.Poll(t.Context())
	if len(logged) != 1 || logged[0] == nil || f.Feed.Now().Seq != 0 {
		t.Fatalf("said %v", logged)
	}
	d.b = testTable(t)
	f.Poll(t.Context())
	if got := f.Feed.Now(); got.Seq != d.b.Seq || currents(got) != 2 || len(logged) != 2 || logged[1] != nil {
		t.Fatalf("table %d, rows %+v", got.Seq, got.Rows)
	}
	f.Accept(pricetable.New(d.b.Seq-1, testTime, nil))
	f.Accept(pricetable.New(d.b.Seq, testTime, nil))
	if got := f.Feed.Now(); len(got.Rows) == 0 {
		t.Error("an older table is accepted")
	}
	d.err = errors.New("down")
	var seqs []uint64
	for _, c := range []struct {
		past time.Duration
		want int // number of current prices
	}{
		{time.Minute, 2}, {2*time.Minute - time.Second, 2}, {2 * time.Minute, 1}, {3 * time.Minute, 1}, {15 * time.Minute, 1}, {16 * time.Minute, 0}, {time.Hour, 0},
		{0, 2}, {-time.Minute, 2}, {-3 * time.Minute, 0}, // the clock was set back
	} {
		now = testTime.Add(c.past)
		f.Poll(t.Context())
		got := f.Feed.Now()
		seqs = append(seqs, got.Seq)
		if currents(got) != c.want || !got.Fetched.Equal(testTime) || len(got.Rows) != len(d.b.Rows) {
			t.Errorf("%s later: %d are current, want %d", c.past, currents(got), c.want)
		}
		for _, r := range got.Rows {
			if r.Stale && (r.DayAgo.Known() || !r.Now.Known()) {
				t.Errorf("%s later: %+v", c.past, r)
			}
		}
	}
	if seqs[0] != d.b.Seq || seqs[2] == seqs[0] || seqs[2] != seqs[3] || seqs[5] == seqs[2] || seqs[5] != seqs[6] {
		t.Errorf("numbers %x", seqs)
	}
	now = testTime.Add(time.Hour)
	d.err, d.b = nil, Numbered(pricetable.New(0, now, testTable(t).Rows), 77, 4)
	f.Poll(t.Context())
	if got := f.Feed.Now(); got.Seq != d.b.Seq {
		t.Errorf("table %x after %x", got.Seq, d.b.Seq)
	}
}

// A witness is a Database that runs a check when asked.
type witness func()

func (w witness) Table(context.Context, uint64) (uint64, []byte, error) {
	w()
	return 0, nil, errors.New("down")
}

// TestFlagsComeFirst checks that a process that was suspended flags stale prices before it
// waits for a newer table.
func TestFlagsComeFirst(t *testing.T) {
	now, requests := testTime, 0
	clock := func() time.Time { return now }
	f := &Follower{Feed: pricetable.NewFeed(), Redis: absent(t, clock), Now: clock}
	f.Database = witness(func() {
		requests++
		if n := currents(f.Feed.Now()); n != 0 {
			t.Errorf("%d prices are called current", n)
		}
	})
	f.Accept(testTable(t))
	now = testTime.Add(time.Hour)
	f.Poll(t.Context())
	if requests != 1 {
		t.Errorf("the database is asked %d times", requests)
	}
}

// currents counts the current prices.
func currents(b *pricetable.Table) (n int) {
	for _, r := range b.Rows {
		if r.Now.Known() && !r.Stale {
			n++
		}
	}
	return n
}

// TestNumbered checks that tables of a later term have higher numbers.
func TestNumbered(t *testing.T) {
	b := pricetable.New(9, testTime, nil)
	last := uint64(0)
	for _, c := range []struct {
		term int64
		n    uint64
	}{{1, 1}, {1, 2}, {1, 1<<24 - 1}, {2, 1}, {1 << 30, 5}, {1<<31 - 1, 5}, {1 << 31, 1}, {1<<32 - 1, 5}} { // terms begin at seconds since 1970; these end in 2106
		got := Numbered(b, c.term, c.n)
		if got.Seq <= last || got.Seq&(1<<pastBits-1) != 0 || b.Seq != 9 {
			t.Errorf("term %d, %d: %d after %d", c.term, c.n, got.Seq, last)
		}
		last = got.Seq
	}
}
