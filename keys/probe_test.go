package keys_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"swapkeep/keys"
	"swapkeep/keys/keystest"
)

// TestProbe checks that a probe writes, reads and deletes one item of its own.
func TestProbe(t *testing.T) {
	var did []string
	memory := &keystest.Memory{Before: func(op, service, item string) error {
		did = append(did, op+" "+service+" "+item)
		return nil
	}}
	store, err := keys.NewStore(memory, "home.probe", keys.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if err := store.Probe(t.Context()); err != nil {
		t.Fatal(err)
	}
	at := " swapkeep/home.probe probe"
	if want := []string{"set" + at, "get" + at, "delete" + at}; !slices.Equal(did, want) {
		t.Errorf("did %q, want %q", did, want)
	}
}

// TestProbeOfABrokenKeychain checks that each failure is reported in time and with its
// sentinel error.
func TestProbeOfABrokenKeychain(t *testing.T) {
	hang := make(chan struct{})
	defer close(hang)
	fails := func(op string, with error) func(string, string, string) error {
		return func(now, _, _ string) error {
			if now != op {
				return nil
			}
			return with
		}
	}
	asked := false
	for name, row := range map[string]struct {
		keychain *keystest.Memory
		want     error
	}{
		"no bus":     {&keystest.Memory{Before: fails("set", keys.ErrNoBus)}, keys.ErrNoBus},
		"forgetful":  {&keystest.Memory{Before: fails("get", keys.ErrMissingItem)}, keys.ErrMissingItem},
		"undeleting": {&keystest.Memory{Before: fails("delete", keys.ErrDenied)}, keys.ErrDenied},
		"hung":       {&keystest.Memory{Before: func(string, string, string) error { <-hang; return nil }}, keys.ErrHung},
		"locked": {&keystest.Memory{WillPrompt: func() bool { return true }, Before: func(string, string, string) error {
			asked = true
			return nil
		}}, keys.ErrKeychainLocked},
	} {
		store, err := keys.NewStore(row.keychain, "home.probe", keys.Limits{Call: 50 * time.Millisecond, Prompt: 50 * time.Millisecond})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		if err := store.Probe(ctx); !errors.Is(err, row.want) {
			t.Errorf("%s: %v", name, err)
		}
		cancel()
	}
	if asked {
		t.Error("a keychain that would ask a person was asked")
	}
}
