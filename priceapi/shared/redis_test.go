//go:build hosted

package shared

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"swapkeep/priceapi/pricetable"
	"swapkeep/priceapi/web"
	"swapkeep/test/await"
	"swapkeep/test/servers"
)

func onServer(t *testing.T, url string) *Redis {
	t.Helper()
	r, err := Open(Options{URL: url, Secret: testSecret})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Close)
	return r
}

// TestCache checks that an answer is available to every process, by TCP and by socket, and
// that a changed, moved or forged one is not.
func TestCache(t *testing.T) {
	server := servers.StartRedis(t)
	a, b := onServer(t, server.URL()).Cache(), onServer(t, server.SocketURL()).Cache()
	if _, ok := b.Get(t.Context(), "one"); ok {
		t.Error("there is an answer already")
	}
	a.Set(t.Context(), "one", []byte(`{"data":[1]}`))
	a.Set(t.Context(), "two", []byte(`{"data":[2]}`))
	if body, ok := b.Get(t.Context(), "one"); !ok || string(body) != `{"data":[1]}` {
		t.Fatalf("the other process gets %q, %t; want the stored body", body, ok)
	}
	c := server.Client()
	one, two := a.(cache).name("one"), a.(cache).name("two")
	if ttl := c.TTL(t.Context(), one).Val(); ttl <= 0 || ttl > answerTTL {
		t.Errorf("kept for %s", ttl)
	}
	good := c.Get(t.Context(), one).Val()
	for what, damage := range map[string]func() error{
		"changed":      func() error { return c.SetRange(t.Context(), one, int64(len(good)-2), "9").Err() },
		"another's":    func() error { return c.Set(t.Context(), one, c.Get(t.Context(), two).Val(), 0).Err() },
		"no seal":      func() error { return c.Set(t.Context(), one, `{"data":[9]}`, 0).Err() },
		"short":        func() error { return c.Set(t.Context(), one, "x", 0).Err() },
		"huge":         func() error { return c.Set(t.Context(), one, good+strings.Repeat("x", 16<<20), 0).Err() },
		"another kind": func() error { return errors.Join(c.Del(t.Context(), one).Err(), c.LPush(t.Context(), one, good).Err()) },
	} {
		if err := damage(); err != nil {
			t.Fatal(err)
		}
		if body, ok := b.Get(t.Context(), "one"); ok {
			t.Errorf("%s: %.40q", what, body)
		}
		c.Del(t.Context(), one)
	}
	a.Set(t.Context(), "large", bytes.Repeat([]byte("x"), maxAnswer+1))
	if _, ok := b.Get(t.Context(), "large"); ok {
		t.Error("more than is kept is kept")
	}
	other, err := Open(Options{URL: server.URL(), Secret: []byte(strings.Repeat("t", 32))})
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if _, ok := other.Cache().Get(t.Context(), "two"); ok {
		t.Error("another service's answer is taken")
	}
}

// TestPriceTables checks that the newest table is announced and delivered, is not replaced by an
// older one, and that forged ones are rejected.
func TestPriceTables(t *testing.T) {
	server := servers.StartRedis(t)
	a, b := onServer(t, server.URL()), onServer(t, server.URL())
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	announced := b.Announced(ctx)
	if got, err := b.Table(t.Context(), 0); got != nil || err != nil {
		t.Errorf("Table of an empty Redis = %v, %v; want none", got, err)
	}
	want := testTable(t)
	data, err := Encode(want)
	if err != nil {
		t.Fatal(err)
	}
	for subscribed := false; !subscribed; { // until the subscription is active
		if err := a.PutTable(t.Context(), want.Seq, data); err != nil {
			t.Fatal(err)
		}
		select {
		case <-announced:
			subscribed = true
		case <-time.After(100 * time.Millisecond):
		}
	}
	got, err := b.Table(t.Context(), want.Seq-1)
	if err != nil || got == nil || got.Seq != want.Seq || len(got.Rows) != len(want.Rows) {
		t.Fatalf("Table = %v, %v; want number %d with %d rows", got, err, want.Seq, len(want.Rows))
	}
	if got, err := b.Table(t.Context(), want.Seq); got != nil || err != nil {
		t.Errorf("the known one: %v %v", got, err)
	}
	if err := a.PutTable(t.Context(), want.Seq-1, data); !errors.Is(err, ErrNewerTable) {
		t.Errorf("putting an older table: %v, want ErrNewerTable", err)
	}
	c := server.Client()
	good := c.HGet(t.Context(), b.tableKey(), "data").Val()
	for what, damage := range map[string]struct {
		seq, data string
		known     uint64
		taken     bool // the sealed table itself has the right number
	}{
		"a later number":                  {numbered(want.Seq + 9), good, want.Seq, false},
		"a later number for a new reader": {numbered(want.Seq + 9), good, 0, true},
		"no number":                       {"zzz", good, 0, true},
		"made up":                         {numbered(want.Seq + 9), "prices", want.Seq, false},
		"without a seal":                  {numbered(want.Seq + 9), string(data), 0, false},
		"nothing":                         {numbered(want.Seq + 9), "", 0, false},
	} {
		if err := c.HSet(t.Context(), b.tableKey(), "seq", damage.seq, "data", damage.data).Err(); err != nil {
			t.Fatal(err)
		}
		got, err := b.Table(t.Context(), damage.known)
		if (got != nil) != damage.taken || !damage.taken && !errors.Is(err, ErrTable) || got != nil && got.Seq != want.Seq {
			t.Errorf("%s: %t %v", what, got != nil, err)
		}
	}
	c.Set(t.Context(), b.tableKey(), "x", 0)
	if _, err := b.Table(t.Context(), 0); err == nil {
		t.Error("another kind of value is no error")
	}
}

// TestFollowers checks that a table reaches a follower through Redis, or through the
// database if Redis has no valid one.
func TestFollowers(t *testing.T) {
	server := servers.StartRedis(t)
	r, d := onServer(t, server.URL()), &fakeDatabase{}
	f := &Follower{Feed: pricetable.NewFeed(), Redis: r, Database: d, Now: func() time.Time { return testTime }}
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { f.Run(ctx) })
	defer running.Wait()
	defer cancel()
	data, err := Encode(testTable(t))
	if err != nil {
		t.Fatal(err)
	}
	_, next := f.Feed.Next()
	if err := r.PutTable(t.Context(), testTable(t).Seq, data); err != nil {
		t.Fatal(err)
	}
	<-next
	if got := f.Feed.Now(); got.Seq != testTable(t).Seq {
		t.Fatal(got.Seq)
	}
	cancel()
	running.Wait()
	server.Client().HSet(t.Context(), r.tableKey(), "seq", numbered(1<<62), "data", "made up")
	d.b = pricetable.New(testTable(t).Seq+1, testTime, nil)
	f.Poll(t.Context())
	if got := f.Feed.Now(); got.Seq != d.b.Seq {
		t.Errorf("table %d, want %d", got.Seq, d.b.Seq)
	}
}

// TestLimiterIsShared checks that two processes count a client together and other clients
// separately.
func TestLimiterIsShared(t *testing.T) {
	server := servers.StartRedis(t)
	var limiters []web.Limiter
	for range 2 {
		l, err := onServer(t, server.URL()).Limiter(Rate{1000, 100}, Rate{0.001, 10})
		if err != nil {
			t.Fatal(err)
		}
		limiters = append(limiters, l)
	}
	var ok atomic.Int64
	var asking sync.WaitGroup
	for i := range 60 {
		asking.Go(func() {
			a, err := limiters[i%2].Allow(context.Background(), "address:192.0.2.1")
			if err != nil || !a.OK && (a.RetryAfter < 900*time.Second || a.RetryAfter > 1000*time.Second) {
				t.Errorf("Allow = %+v, %v; want a pause of 900 to 1000 s if refused", a, err)
			}
			if a.OK {
				ok.Add(1)
			}
		})
	}
	asking.Wait()
	if ok.Load() != 10 {
		t.Errorf("%d are let through, of a burst of 10", ok.Load())
	}
	if a, err := limiters[0].Allow(t.Context(), "address:192.0.2.2"); err != nil || !a.OK || a.Limit != 10 || a.Remaining != 9 {
		t.Errorf("another client: %+v %v", a, err)
	}
	if a, err := limiters[1].Allow(t.Context(), "key:one"); err != nil || !a.OK || a.Limit != 100 || a.Remaining != 99 {
		t.Errorf("with a key: %+v %v", a, err)
	}
	c := server.Client()
	keys := c.Keys(t.Context(), "*").Val()
	for _, k := range keys {
		if strings.Contains(k, "192.0.2") || c.PTTL(t.Context(), k).Val() == -1 { // -2 means expired already
			t.Errorf("key %s, kept for %s", k, c.PTTL(t.Context(), k).Val())
		}
		for _, damaged := range []string{"nan", "inf", "-inf", "-1", "1e300", "", "x"} {
			c.Set(t.Context(), k, damaged, 0)
			if a, err := limiters[0].Allow(t.Context(), "address:192.0.2.1"); err != nil || a.Limit != 10 || a.RetryAfter > 1000*time.Second || a.Remaining > 9 {
				t.Errorf("over %q: %+v %v", damaged, a, err)
			}
		}
	}
}

// TestRedisGone checks that no call waits for Redis while it is down or hangs, and that it
// is used again afterwards.
func TestRedisGone(t *testing.T) {
	server := servers.StartRedis(t)
	r := onServer(t, server.URL())
	l, err := r.Limiter(Rate{1, 100}, Rate{1, 100})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Check(t.Context()); err != nil {
		t.Fatal(err)
	}
	for name, turn := range map[string][2]func(){
		"down":  {server.Stop, server.Start},
		"stuck": {func() { server.Signal(syscall.SIGSTOP) }, func() { server.Signal(syscall.SIGCONT) }},
	} {
		turn[0]()
		began := time.Now()
		for range 50 {
			if a, err := l.Allow(t.Context(), "address:"+name); err != nil || !a.OK {
				t.Errorf("%s: %+v %v", name, a, err)
			}
			r.Cache().Set(t.Context(), "k", []byte("{}"))
			if _, ok := r.Cache().Get(t.Context(), "k"); ok {
				t.Error("an answer of nobody")
			}
		}
		if took := time.Since(began); took > 2*time.Second {
			t.Errorf("%s: 150 calls took %s", name, took)
		}
		if err := r.Check(t.Context()); err == nil || strings.Contains(err.Error(), server.Password) {
			t.Errorf("%s: %v", name, err)
		}
		turn[1]()
		if !await.Holds(10*time.Second, func() bool { err = r.Check(t.Context()); return err == nil }) {
			t.Errorf("%s, and back: %v", name, err)
		}
		r.Cache().Set(t.Context(), "k", []byte("{}"))
		if _, ok := r.Cache().Get(t.Context(), "k"); !ok {
			t.Errorf("%s, and back: nothing is kept", name)
		}
	}
	wrong := onServer(t, strings.Replace(server.URL(), server.Password, "wrong", 1))
	if err := wrong.Check(t.Context()); err == nil || !strings.Contains(err.Error(), "WRONGPASS") {
		t.Errorf("a wrong password: %v", err)
	}
}
