package keys_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"swapkeep/keys"
)

var wrongPassword = []byte("not the password at all")

// by is a context of another program that asks.
func by(t *testing.T, asker uint64) context.Context {
	t.Helper()
	return keys.AskedBy(t.Context(), asker)
}

// Whoever guesses makes nobody else wait, but for a turn and the pace.
func TestGuessesOfOthersLockNobodyOut(t *testing.T) {
	b := newBench(t, keys.Options{})
	b.create(t, "Main")
	for range 4 {
		for hostile := range uint64(8) {
			if err := b.Unlock(by(t, 100+hostile), wrongPassword); !errors.Is(err, keys.ErrWrongPassword) && !errors.Is(err, keys.ErrBackoff) {
				t.Fatal(err)
			}
		}
		if err := b.Unlock(by(t, 1), password); err != nil {
			t.Fatalf("the right password: %v", err)
		}
		b.clock.Advance(time.Minute)
	}
	wantErr(t, "who guesses", b.Unlock(by(t, 100), wrongPassword), keys.ErrWrongPassword)
	wantErr(t, "with the right one too", b.Unlock(by(t, 100), password), keys.ErrBackoff)
}

// The next try begins no sooner than the pace after one that was wrong, whoever makes
// them, and the first no sooner than that after the start: no number of programs and no
// restart gives more guesses.
func TestPaceOfGuesses(t *testing.T) {
	const pace = 300 * time.Millisecond
	b := newBench(t, keys.Options{Pace: pace})
	b.create(t, "Main")
	tried := func(b *bench, asker uint64, password []byte) <-chan error {
		done := make(chan error, 1)
		go func() { done <- b.Unlock(by(t, asker), password) }()
		return done
	}
	held := func(what string, done <-chan error) {
		t.Helper()
		b.clock.Advance(pace - time.Millisecond)
		select {
		case err := <-done:
			t.Errorf("%s: tried too early: %v", what, err)
		case <-time.After(20 * time.Millisecond):
		}
	}
	ends := func(what string, done <-chan error, want error) {
		t.Helper()
		b.clock.Advance(time.Millisecond)
		select {
		case err := <-done:
			if !errors.Is(err, want) {
				t.Errorf("%s: %v, want %v", what, err, want)
			}
		case <-time.After(time.Minute):
			t.Fatalf("%s: not tried", what)
		}
	}
	first := tried(b, 1, wrongPassword)
	held("the first after the start", first)
	ends("the first after the start", first, keys.ErrWrongPassword)
	second := tried(b, 2, wrongPassword)
	held("another program's", second)
	ends("another program's", second, keys.ErrWrongPassword)
	b = b.again(t, keys.Options{Pace: pace})
	third := tried(b, 3, password)
	held("the right one, after a restart", third)
	ends("the right one, after a restart", third, nil)
	wantErr(t, "after a right one nobody waits", <-tried(b, 4, wrongPassword), keys.ErrWrongPassword)
}

// A try that nobody waits for any more is not made, and holds up no other.
func TestForsakenTry(t *testing.T) {
	b := newBench(t, keys.Options{Pace: time.Hour})
	b.create(t, "Main")
	ctx, cancel := context.WithCancel(by(t, 1))
	done := make(chan error, 1)
	go func() { done <- b.Unlock(ctx, wrongPassword) }()
	time.Sleep(20 * time.Millisecond)
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("the try that was left: %v", err)
	}
	b.clock.Advance(time.Hour)
	if err := b.Unlock(by(t, 2), password); err != nil {
		t.Error(err)
	}
}

// Mistakes are forgotten in time, so that what programs that ended have left is bounded,
// and by the right password at once. A clock that was set back lengthens no wait.
func TestMistakesAreForgotten(t *testing.T) {
	b := newBench(t, keys.Options{})
	b.create(t, "Main")
	for range 8 {
		b.clock.Advance(time.Minute)
		wantErr(t, "guess", b.Unlock(by(t, 1), wrongPassword), keys.ErrWrongPassword)
	}
	wantErr(t, "the right one too early", b.Unlock(by(t, 1), password), keys.ErrBackoff)
	b.clock.Advance(10 * time.Minute)
	wantErr(t, "another's", b.Unlock(by(t, 2), wrongPassword), keys.ErrWrongPassword)
	wantErr(t, "the first after long", b.Unlock(by(t, 1), wrongPassword), keys.ErrWrongPassword)
	if err := b.Unlock(by(t, 1), password); err != nil {
		t.Errorf("after long the count began anew: %v", err)
	}
	for range 3 {
		wantErr(t, "guess", b.Unlock(by(t, 1), wrongPassword), keys.ErrWrongPassword)
		if err := b.Unlock(by(t, 1), password); err != nil {
			t.Errorf("a slip after a right one: %v", err)
		}
	}
}

// Of many that ask without end each has its turn: nobody is overtaken by who comes later.
func TestNobodyOvertakes(t *testing.T) {
	b := newBench(t, keys.Options{})
	b.create(t, "Main")
	ctx, stop := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	for hostile := range uint64(8) {
		for range 2 { // at once
			wg.Go(func() {
				for n := uint64(0); ctx.Err() == nil; n++ {
					_ = b.Unlock(keys.AskedBy(ctx, 100+hostile+1000*n), wrongPassword) // a new program each time
				}
			})
		}
	}
	for range 3 {
		if err := b.Unlock(by(t, 1), password); err != nil {
			t.Errorf("the right password: %v", err)
		}
	}
	stop()
	wg.Wait()
}
