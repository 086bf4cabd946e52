package host

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"reflect"
	"sync"
	"time"

	"swapkeep/host/protocol"
)

// An actCache remembers the results of key methods by request uuid, so that a client
// that lost the answer may ask again. It lasts as long as the daemon; the swap service
// keeps its own uuids on disk.
type actCache struct {
	bound int
	key   [32]byte // requests are stored only as a keyed hash, because they contain passwords

	mu    sync.Mutex
	acts  map[protocol.UUID]*act
	order []protocol.UUID // finished acts, oldest first
}

// An act is the act of one request uuid, in progress or done.
type act struct {
	content [32]byte
	done    chan struct{}
	result  any // for repeats; valid after done
	err     error
}

func newActMemory(bound int) *actCache {
	m := &actCache{bound: bound, acts: map[protocol.UUID]*act{}}
	_, _ = rand.Read(m.key[:]) // never fails
	return m
}

// once performs the act of this uuid and content, or returns the result of an earlier
// call. It may be called concurrently. A failed act is forgotten, so that it may be tried
// again. Errors: request_conflict for a known uuid with other content, those of do and
// ctx.
func (c *call) once(ctx context.Context, id protocol.UUID, params any, do func() (first, repeated any, err error)) (any, error) {
	m := c.s.acts
	content := m.content(c.method.Name, params)
	a, began := m.begin(id, content)
	if !began {
		return a.wait(ctx, content, nil)
	}
	var first any
	m.run(id, a, succeeded, func() (repeated any, err error) {
		first, repeated, err = do()
		return repeated, err
	})
	return first, a.err
}

// begin returns the act of a uuid, and whether it is a new one, which the caller must run.
func (m *actCache) begin(id protocol.UUID, content [32]byte) (a *act, began bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if known, ok := m.acts[id]; ok {
		return known, false
	}
	a = &act{content: content, done: make(chan struct{})}
	m.acts[id] = a
	return a, true
}

// run performs a new act. Its result is remembered if remember says so of its error.
func (m *actCache) run(id protocol.UUID, a *act, remember func(error) bool, do func() (any, error)) {
	finished := false
	defer func() { // also if do panics
		if !finished {
			a.err = protocol.New("internal", "")
		}
		m.settle(id, a, finished && remember(a.err))
	}()
	a.result, a.err = do()
	finished = true
}

func succeeded(err error) bool { return err == nil }

// wait waits for an act in progress and returns its result. After late it is
// confirmation_pending; a nil late is never.
func (a *act) wait(ctx context.Context, content [32]byte, late <-chan time.Time) (any, error) {
	if !hmac.Equal(a.content[:], content[:]) {
		return nil, protocol.New("request_conflict", "")
	}
	select {
	case <-a.done:
		return a.result, a.err
	case <-late:
		return nil, protocol.New("confirmation_pending", "")
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (m *actCache) settle(id protocol.UUID, a *act, remembered bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	close(a.done)
	if !remembered {
		delete(m.acts, id)
		return
	}
	m.order = append(m.order, id)
	if len(m.order) > m.bound {
		delete(m.acts, m.order[0])
		m.order = m.order[1:]
	}
}

// content returns a keyed hash over a method and its parameters, each with its length.
func (m *actCache) content(method string, params any) (sum [32]byte) {
	h := hmac.New(sha256.New, m.key[:])
	write := func(b []byte) {
		h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(b))))
		h.Write(b)
	}
	write([]byte(method))
	v := reflect.ValueOf(params).Elem()
	for i := range v.NumField() {
		if s, ok := v.Field(i).Interface().(protocol.Secret); ok {
			write(s) // JSON would leave copies in buffers that are not wiped
			continue
		}
		b, err := json.Marshal(v.Field(i).Interface())
		if err != nil { // our own types always marshal
			panic(err)
		}
		write(b)
	}
	h.Write(make([]byte, 2*sha256.BlockSize)) // overwrites the hash's buffer, which may hold the end of a password
	h.Sum(sum[:0])
	return sum
}
