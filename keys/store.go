package keys

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"sync"
	"time"
)

// MaxItem is the maximum size of an item in bytes that the keychains of all three systems
// accept (Windows allows 2560, macOS nearly 3000 with its encoding).
const MaxItem = 2500

// A Keychain stores small secrets, each under a service and an item. Its methods may be
// called concurrently and may block for long; a [Store] adds timeouts. Get and Delete
// return [ErrMissingItem] for a missing item; Set replaces; DeleteAll of a service
// without items does nothing.
type Keychain interface {
	Set(service, item, secret string) error
	Get(service, item string) (string, error)
	Delete(service, item string) error
	DeleteAll(service string) error
}

// A Prompter is a Keychain that knows whether its next call will prompt a person, so that
// the call gets a longer timeout.
type Prompter interface{ Prompts() bool }

// Limits bound the calls of a [Store]. Zero fields mean the defaults.
type Limits struct {
	Call   time.Duration // timeout of one call; 5 s
	Prompt time.Duration // timeout of one call while the system prompts a person; 60 s
	Stuck  int           // concurrent calls, including timed-out ones; 4
}

// A LateCall is a call that returned after its timeout.
type LateCall struct {
	Item  string
	Write bool
	Err   error // nil: it took effect although its caller got an error
}

// A Store is the items of one service in a keychain. Every call ends within its timeout,
// with [ErrHung], or with [ErrKeychainLocked] if the system was prompting a person. The
// keychain call itself cannot be cancelled and goes on. Until a timed-out write returns,
// calls for its item are refused; the result of a timed-out call is reported through
// [Store.OnLate]. It may be used concurrently.
type Store struct {
	keychain Keychain
	service  string
	limits   Limits
	slots    chan struct{}

	mu       sync.Mutex
	timedOut int            // timed out and still running
	writing  map[string]int // the writes among them, by item
	late     []func(LateCall)
}

var (
	namespaceForm = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{0,63}$`)
	itemForm      = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{0,63}(/[a-z0-9][a-z0-9._-]{0,63})?$`)
)

// NewStore returns the items of service swapkeep/namespace. The namespace is specific to
// the home directory, so that several homes share no item.
func NewStore(keychain Keychain, namespace string, limits Limits) (*Store, error) {
	if !namespaceForm.MatchString(namespace) {
		return nil, fmt.Errorf("%w: namespace %q", ErrNamespace, namespace)
	}
	if limits.Call <= 0 {
		limits.Call = 5 * time.Second
	}
	if limits.Prompt <= 0 {
		limits.Prompt = time.Minute
	}
	if limits.Stuck <= 0 {
		limits.Stuck = 4
	}
	return &Store{
		keychain: keychain,
		service:  "swapkeep/" + namespace,
		limits:   limits,
		slots:    make(chan struct{}, limits.Stuck),
		writing:  map[string]int{},
	}, nil
}

// OnLate registers f, which is called when a timed-out call returns.
func (s *Store) OnLate(f func(LateCall)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.late = append(s.late, f)
}

// Set writes an item and reads it back. It may be repeated. After an error the item holds
// the old value or the new one; after [ErrHung] it may change later.
func (s *Store) Set(ctx context.Context, item, value string) error {
	if len(value) > MaxItem {
		return fmt.Errorf("set %s: %w: %d of %d bytes", item, ErrTooLarge, len(value), MaxItem)
	}
	return s.call(ctx, &call{name: "set", item: item, write: true, do: func() error {
		if err := s.keychain.Set(s.service, item, value); err != nil {
			return err
		}
		if kept, err := s.keychain.Get(s.service, item); err != nil || kept != value {
			return errors.Join(ErrNotKept, err)
		}
		return nil
	}})
}

// Get returns an item, or [ErrMissingItem].
func (s *Store) Get(ctx context.Context, item string) (string, error) {
	var value string // read only after the call is done; a late call writes to a variable that nobody reads
	err := s.call(ctx, &call{name: "get", item: item, do: func() (err error) {
		value, err = s.keychain.Get(s.service, item)
		return err
	}})
	if err != nil {
		return "", err
	}
	if len(value) > MaxItem {
		return "", fmt.Errorf("get %s: %w: %d bytes", item, ErrTooLarge, len(value))
	}
	return value, nil
}

// Delete removes an item, or returns [ErrMissingItem].
func (s *Store) Delete(ctx context.Context, item string) error {
	return s.call(ctx, &call{name: "delete", item: item, write: true, do: func() error {
		return s.keychain.Delete(s.service, item)
	}})
}

func (s *Store) clear(ctx context.Context) error {
	return s.call(ctx, &call{name: "delete all from", item: indexItem, write: true, do: func() error {
		return s.keychain.DeleteAll(s.service)
	}})
}

type call struct {
	name, item string
	write      bool
	do         func() error
	prompts    chan struct{} // closed when a person is being prompted
	done       chan struct{} // closed when the call has returned

	// guarded by Store.mu
	err       error
	returned  bool
	abandoned bool // timed out or cancelled by its caller
}

func (s *Store) call(ctx context.Context, c *call) error {
	if !itemForm.MatchString(c.item) {
		return fmt.Errorf("%s: %w: item %q", c.name, ErrNamespace, c.item)
	}
	if err := s.await(ctx, c); err != nil {
		return fmt.Errorf("%s %s: %w", c.name, c.item, err)
	}
	return nil
}

// await runs c in its own goroutine and waits for it within the limits.
func (s *Store) await(ctx context.Context, c *call) error {
	if err := s.admit(c.item); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err // the select below could still start the call
	}
	timer := time.NewTimer(s.limits.Call)
	defer timer.Stop()
	select {
	case s.slots <- struct{}{}:
	case <-timer.C:
		return fmt.Errorf("%w: other calls are still running", ErrHung)
	case <-ctx.Done():
		return ctx.Err()
	}
	c.prompts, c.done = make(chan struct{}), make(chan struct{})
	go s.run(c)
	prompts, why := c.prompts, error(ErrHung)
	for {
		select {
		case <-c.done:
			return c.err
		case <-prompts:
			prompts, why = nil, fmt.Errorf("%w: its prompt was not answered", ErrKeychainLocked)
			timer.Reset(s.limits.Prompt)
		case <-timer.C:
			return s.giveUp(c, why)
		case <-ctx.Done():
			return s.giveUp(c, ctx.Err())
		}
	}
}

// admit returns ErrHung for an item whose timed-out write is still running, and for every
// item once timed-out calls hold all slots.
func (s *Store) admit(item string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.writing[item] > 0:
		return fmt.Errorf("%w: an earlier write has not come back", ErrHung)
	case s.timedOut >= s.limits.Stuck:
		return fmt.Errorf("%w: %d earlier calls have not come back", ErrHung, s.timedOut)
	}
	return nil
}

func (s *Store) run(c *call) {
	err := s.guarded(c)
	s.mu.Lock()
	c.err, c.returned = err, true
	var report []func(LateCall)
	if c.abandoned {
		s.timedOut--
		if c.write {
			s.writing[c.item]--
		}
		report = s.late
	}
	s.mu.Unlock()
	<-s.slots
	close(c.done)
	for _, f := range report {
		f(LateCall{Item: c.item, Write: c.write, Err: err})
	}
}

// guarded runs the call and turns a panic into an error: the Secret Service client
// dereferences a nil signal when the bus goes away during a prompt.
func (s *Store) guarded(c *call) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%w: the connection broke", ErrKeychain)
		}
	}()
	if p, ok := s.keychain.(Prompter); ok && p.Prompts() {
		close(c.prompts)
	}
	return c.do()
}

// giveUp abandons c, unless it has just returned.
func (s *Store) giveUp(c *call, why error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c.returned {
		return c.err
	}
	c.abandoned = true
	s.timedOut++
	if c.write {
		s.writing[c.item]++
	}
	return why
}
