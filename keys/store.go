package keys

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"sync"
	"time"
)

// MaxItem is the most bytes an item may have: what the keychains of all three
// systems take (Windows ends at 2560, macOS near 3000 with its encoding).
const MaxItem = 2500

// A Keychain keeps small secrets, each under a service and an item. Its
// methods may be called from several goroutines and may block for long; a
// [Store] bounds them. Get and Delete of what is not there return
// [ErrMissingItem]; Set replaces; DeleteAll of a service without items does nothing.
type Keychain interface {
	Set(service, item, secret string) error
	Get(service, item string) (string, error)
	Delete(service, item string) error
	DeleteAll(service string) error
}

// A Prompter is a Keychain that knows when its next call will ask a person
// something, so that the call may take as long as a person does.
type Prompter interface{ Prompts() bool }

// Limits bound the calls of a [Store]. Zero fields take the defaults.
type Limits struct {
	Call   time.Duration // one call; 5 s
	Prompt time.Duration // one call while the system asks a person; 60 s
	Stuck  int           // calls running at once, those given up included; 4
}

// A Late call was given up and came back afterwards.
type Late struct {
	Item  string
	Write bool
	Err   error // nil: it took effect, although its caller was told otherwise
}

// A Store is one service's items in a keychain. Every call ends within its
// limit: with [ErrHung], or with [ErrKeychainLocked] if the system was asking
// a person. The call itself cannot be stopped and goes on; until it comes back
// its item is refused, and how it ended is reported through [Store.OnLate].
type Store struct {
	keychain Keychain
	service  string
	limits   Limits
	slots    chan struct{}

	mu      sync.Mutex
	stuck   int            // given up, not back
	writing map[string]int // of those, the writes, by item
	late    []func(Late)
}

var (
	namespaceForm = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{0,63}$`)
	itemForm      = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{0,63}(/[a-z0-9][a-z0-9._-]{0,63})?$`)
)

// NewStore returns the items of service swapkeep/namespace. The namespace
// follows the home, so that several homes share no item.
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

// OnLate registers f, to be called when a call that was given up comes back.
func (s *Store) OnLate(f func(Late)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.late = append(s.late, f)
}

// Set writes an item and reads it back. It may be repeated. After an error the
// item holds the old value or the new one; after [ErrHung] it may change later.
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

// Get reads an item; [ErrMissingItem] if there is none.
func (s *Store) Get(ctx context.Context, item string) (string, error) {
	var value string // the caller's only after done, so a late call writes to nobody's
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

// Delete removes an item; [ErrMissingItem] if there is none.
func (s *Store) Delete(ctx context.Context, item string) error {
	return s.call(ctx, &call{name: "delete", item: item, write: true, do: func() error {
		return s.keychain.Delete(s.service, item)
	}})
}

// clear removes all items of the service.
func (s *Store) clear(ctx context.Context) error {
	return s.call(ctx, &call{name: "delete all from", item: indexItem, write: true, do: func() error {
		return s.keychain.DeleteAll(s.service)
	}})
}

// A call is one running keychain call.
type call struct {
	name, item string
	write      bool
	do         func() error
	prompts    chan struct{} // closed when a person is being asked
	done       chan struct{} // closed when it came back

	// guarded by Store.mu
	err   error
	back  bool
	given bool // given up
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

// await runs c in its own goroutine and waits within the limits.
func (s *Store) await(ctx context.Context, c *call) error {
	if err := s.admit(c.item); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err // a select might still begin the call
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

// admit refuses an item whose last write is still out, and everything once all
// slots are held by calls that were given up.
func (s *Store) admit(item string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.writing[item] > 0:
		return fmt.Errorf("%w: an earlier write has not come back", ErrHung)
	case s.stuck >= s.limits.Stuck:
		return fmt.Errorf("%w: %d earlier calls have not come back", ErrHung, s.stuck)
	}
	return nil
}

func (s *Store) run(c *call) {
	err := s.guarded(c)
	s.mu.Lock()
	c.err, c.back = err, true
	var report []func(Late)
	if c.given {
		s.stuck--
		if c.write {
			s.writing[c.item]--
		}
		report = s.late
	}
	s.mu.Unlock()
	<-s.slots
	close(c.done)
	for _, f := range report {
		f(Late{Item: c.item, Write: c.write, Err: err})
	}
}

// guarded turns a panic into an error: the Secret Service client dereferences
// a nil signal when the bus goes away during a prompt.
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

// giveUp leaves c to itself, unless it came back this moment.
func (s *Store) giveUp(c *call, why error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c.back {
		return c.err
	}
	c.given = true
	s.stuck++
	if c.write {
		s.writing[c.item]++
	}
	return why
}
