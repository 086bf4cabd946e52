package keys_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"swapkeep/keys"
	"swapkeep/keys/keystest"
	"swapkeep/test/await"
)

// A gate blocks chosen keychain operations until it is opened.
type gate struct {
	mu      sync.Mutex
	blocked map[string]chan struct{}
}

func (g *gate) close(ops ...string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.blocked = map[string]chan struct{}{}
	for _, op := range ops {
		g.blocked[op] = make(chan struct{})
	}
}

func (g *gate) open() {
	g.mu.Lock()
	defer g.mu.Unlock()
	for op, c := range g.blocked {
		close(c)
		delete(g.blocked, op)
	}
}

// pass blocks while "op item" is blocked.
func (g *gate) pass(op, _, item string) error {
	g.mu.Lock()
	c := g.blocked[op+" "+item]
	g.mu.Unlock()
	if c != nil {
		<-c
	}
	return nil
}

// short is a timeout that a keychain in memory never reaches, even on a busy machine.
const short = 150 * time.Millisecond

func gatedStore(t *testing.T) (*keystest.Memory, *gate, *keys.Store) {
	t.Helper()
	g := &gate{}
	chain := &keystest.Memory{Before: g.pass}
	t.Cleanup(g.open)
	return chain, g, must[*keys.Store](t)(keys.NewStore(chain, namespace, keys.Limits{Call: short, Prompt: 5 * short, Stuck: 3}))
}

func TestHungKeychainNeverHangsTheCaller(t *testing.T) {
	t.Parallel()
	_, g, s := gatedStore(t)
	g.close("get a", "delete a")
	begin := time.Now()
	_, err := s.Get(t.Context(), "a")
	wantErr(t, "hung get", err, keys.ErrHung)
	_, err = s.Get(t.Context(), "a")
	wantErr(t, "second hung get", err, keys.ErrHung)
	if took := time.Since(begin); took < 2*short || took > 20*short {
		t.Errorf("two calls took %s", took)
	}
	wantErr(t, "hung delete", s.Delete(t.Context(), "a"), keys.ErrHung)
	// All three slots are stuck: no further goroutine is started and the answer is quick.
	begin = time.Now()
	for range 100 {
		_, err = s.Get(t.Context(), "b")
		wantErr(t, "all slots stuck", err, keys.ErrHung)
	}
	if took := time.Since(begin); took > short {
		t.Errorf("a hundred refusals took %s", took)
	}
	g.open()
	await.Until(t, 10*time.Second, "usable again", func() bool {
		_, err := s.Get(t.Context(), "a")
		return errors.Is(err, keys.ErrMissingItem)
	})
}

func TestPromptGivesAPersonTime(t *testing.T) {
	t.Parallel()
	chain, g, s := gatedStore(t)
	asks := true
	chain.WillPrompt = func() bool { return asks }
	g.close("get a")
	time.AfterFunc(2*short, g.open)
	_, err := s.Get(t.Context(), "a")
	wantErr(t, "answered prompt", err, keys.ErrMissingItem)
	g.close("get a")
	begin := time.Now()
	_, err = s.Get(t.Context(), "a")
	wantErr(t, "unanswered prompt", err, keys.ErrKeychainLocked)
	if took := time.Since(begin); took < 5*short {
		t.Errorf("gave up after %s", took)
	}
}

func TestCancelledCallReturnsAtOnce(t *testing.T) {
	t.Parallel()
	_, g, s := gatedStore(t)
	g.close("set a")
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(time.Millisecond, cancel)
	if err := s.Set(ctx, "a", "value"); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestLateWriteIsNoticed(t *testing.T) {
	t.Parallel()
	chain, g, s := gatedStore(t)
	lates := make(chan keys.LateCall, 8)
	s.OnLate(func(l keys.LateCall) { lates <- l })
	g.close("set a")
	wantErr(t, "hung set", s.Set(t.Context(), "a", "late"), keys.ErrHung)
	_, err := s.Get(t.Context(), "a")
	wantErr(t, "read of an item with a write outstanding", err, keys.ErrHung)
	wantErr(t, "write", s.Set(t.Context(), "a", "new"), keys.ErrHung)
	wantErr(t, "delete", s.Delete(t.Context(), "a"), keys.ErrHung)
	if err := s.Set(t.Context(), "b", "other items go on"); err != nil {
		t.Error(err)
	}
	g.open()
	if l := <-lates; l.Item != "a" || !l.Write || l.Err != nil {
		t.Errorf("late %+v", l)
	}
	if got := must[string](t)(s.Get(t.Context(), "a")); got != "late" || chain.Items(service)["a"] != "late" {
		t.Errorf("item %q", got)
	}
}

func TestStoreNoticesWhatWasNotKept(t *testing.T) {
	chain := &forgetful{}
	s := must[*keys.Store](t)(keys.NewStore(chain, namespace, keys.Limits{}))
	wantErr(t, "set", s.Set(t.Context(), "a", "value"), keys.ErrNotKept)
}

// forgetful reports success and stores nothing, as the macOS command line tool may.
type forgetful struct{ keystest.Memory }

func (*forgetful) Set(_, _, _ string) error { return nil }

func TestPanicOfTheLibraryIsAnError(t *testing.T) {
	chain := &keystest.Memory{Before: func(string, string, string) error { var p *int; *p = 1; return nil }}
	s := must[*keys.Store](t)(keys.NewStore(chain, namespace, keys.Limits{}))
	_, err := s.Get(t.Context(), "a")
	wantErr(t, "get", err, keys.ErrKeychain)
}

func TestItemsAreBounded(t *testing.T) {
	chain := &keystest.Memory{}
	s := must[*keys.Store](t)(keys.NewStore(chain, namespace, keys.Limits{}))
	if err := s.Set(t.Context(), "a", strings.Repeat("x", keys.MaxItem)); err != nil {
		t.Error(err)
	}
	wantErr(t, "too large", s.Set(t.Context(), "a", strings.Repeat("x", keys.MaxItem+1)), keys.ErrTooLarge)
	for _, bad := range []string{"", "A", "../a", "a/b/c", "a b", "/a"} {
		wantErr(t, "item "+bad, s.Set(t.Context(), bad, "x"), keys.ErrNamespace)
	}
	if err := chain.Set(service, "big", strings.Repeat("x", keys.MaxItem+1)); err != nil {
		t.Fatal(err)
	}
	_, err := s.Get(t.Context(), "big")
	wantErr(t, "someone else's large item", err, keys.ErrTooLarge)
}

func TestTwentyStoreCallsAtOnce(t *testing.T) {
	chain := &keystest.Memory{Before: func(string, string, string) error { time.Sleep(time.Millisecond); return nil }}
	s := must[*keys.Store](t)(keys.NewStore(chain, namespace, keys.Limits{}))
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Go(func() {
			item := fmt.Sprintf("item/%d", i)
			if err := s.Set(t.Context(), item, item); err != nil {
				t.Error(err)
			}
			if got, err := s.Get(t.Context(), item); got != item || err != nil {
				t.Error(got, err)
			}
			if err := s.Delete(t.Context(), item); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if left := chain.Items(service); len(left) != 0 {
		t.Errorf("left %v", left)
	}
}
