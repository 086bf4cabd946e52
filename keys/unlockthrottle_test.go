package keys_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"swapkeep/keys"
)

var wrongPassword = []byte("not the password at all")

// by returns a context tagged as another client's.
func by(t *testing.T, asker uint64) context.Context {
	t.Helper()
	return keys.WithClient(t.Context(), asker)
}

// TestWrongPasswordsOfOthersLockNobodyOut checks that a client's wrong passwords delay other
// clients only by the queue and the pace.
func TestWrongPasswordsOfOthersLockNobodyOut(t *testing.T) {
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

// TestUnlockThrottlePace checks that an attempt starts no sooner than the pace after a wrong
// one of any client, and the first no sooner than the pace after the start. Neither more
// programs nor restarts allow more guesses.
func TestUnlockThrottlePace(t *testing.T) {
	const pace = 300 * time.Millisecond
	b := newBench(t, keys.Options{AttemptInterval: pace})
	b.create(t, "Main")
	tried := func(b *bench, asker uint64, password []byte) <-chan error {
		done := make(chan error, 1)
		go func() { done <- b.Unlock(by(t, asker), password) }()
		return done
	}
	delayed := func(what string, done <-chan error) {
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
	delayed("the first after the start", first)
	ends("the first after the start", first, keys.ErrWrongPassword)
	second := tried(b, 2, wrongPassword)
	delayed("another program's", second)
	ends("another program's", second, keys.ErrWrongPassword)
	b = b.again(t, keys.Options{AttemptInterval: pace})
	third := tried(b, 3, password)
	delayed("the right one, after a restart", third)
	ends("the right one, after a restart", third, nil)
	wantErr(t, "after a right one nobody waits", <-tried(b, 4, wrongPassword), keys.ErrWrongPassword)
}

// TestCancelledAttemptIsDropped checks that a cancelled attempt is not made and delays no other client.
func TestCancelledAttemptIsDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, keys.Options{AttemptInterval: time.Hour})
		b.create(t, "Main")
		ctx, cancel := context.WithCancel(by(t, 1))
		done := make(chan error, 1)
		go func() { done <- b.Unlock(ctx, wrongPassword) }()
		synctest.Wait() // it waits for the pace
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("the try that was left: %v", err)
		}
		b.clock.Advance(time.Hour)
		if err := b.Unlock(by(t, 2), password); err != nil {
			t.Error(err)
		}
	})
}

// TestMistakesAreForgotten checks that wrong passwords are forgotten after a time, which
// bounds what ended programs leave behind, and at once by the right password.
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

// TestLaterClientsDoNotOvertake checks that a client is served while others send attempts without
// end: later arrivals do not overtake it.
func TestLaterClientsDoNotOvertake(t *testing.T) {
	b := newBench(t, keys.Options{})
	b.create(t, "Main")
	ctx, stop := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	for hostile := range uint64(8) {
		for range 2 { // two at a time
			wg.Go(func() {
				for n := uint64(0); ctx.Err() == nil; n++ {
					_ = b.Unlock(keys.WithClient(ctx, 100+hostile+1000*n), wrongPassword) // a new client each time
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
