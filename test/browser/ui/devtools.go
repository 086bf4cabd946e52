//go:build linux

package ui

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"
)

// devtools speaks the DevTools protocol over a pair of pipes: JSON messages, each
// terminated by a NUL. Its methods may be called concurrently.
type devtools struct {
	in  *os.File
	out *os.File

	mu      sync.Mutex
	last    int
	waiting map[int]chan reply
	onEvent func(session, method string, params json.RawMessage) // never called concurrently
	err     error                                                // set once the pipe has ended
}

type reply struct {
	result json.RawMessage
	err    error
}

func newDevtools(in, out *os.File, hear func(session, method string, params json.RawMessage)) *devtools {
	d := &devtools{in: in, out: out, waiting: map[int]chan reply{}, onEvent: hear}
	go d.read()
	return d
}

// message is a reply, which has an id, or an event.
type message struct {
	ID        int
	SessionID string
	Method    string
	Params    json.RawMessage
	Result    json.RawMessage
	Error     *struct{ Message string }
}

func (d *devtools) read() {
	in := bufio.NewReaderSize(d.out, 1<<16)
	for {
		b, err := in.ReadBytes(0)
		if err != nil {
			d.end(err)
			return
		}
		var m message
		if err := json.Unmarshal(b[:len(b)-1], &m); err != nil {
			d.end(err)
			return
		}
		if m.ID == 0 {
			d.onEvent(m.SessionID, m.Method, m.Params)
			continue
		}
		r := reply{result: m.Result}
		if m.Error != nil {
			r.err = errors.New(m.Error.Message)
		}
		d.mu.Lock()
		wait := d.waiting[m.ID]
		delete(d.waiting, m.ID)
		d.mu.Unlock()
		if wait != nil {
			wait <- r
		}
	}
}

// end fails all pending and future calls.
func (d *devtools) end(err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.err = fmt.Errorf("the browser is gone: %w", err)
	for _, wait := range d.waiting {
		wait <- reply{err: d.err}
	}
	clear(d.waiting)
}

// call makes one call and decodes its result, if result is not nil.
func (d *devtools) call(session, method string, params, result any) error {
	wait, err := d.send(session, method, params)
	if err != nil {
		return err
	}
	select {
	case r := <-wait:
		if r.err == nil && result != nil {
			r.err = json.Unmarshal(r.result, result)
		}
		if r.err != nil {
			return fmt.Errorf("%s: %w", method, r.err)
		}
		return nil
	case <-time.After(callTimeout):
		return fmt.Errorf("%s: no answer in %s", method, callTimeout)
	}
}

func (d *devtools) send(session, method string, params any) (<-chan reply, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.err != nil {
		return nil, d.err
	}
	d.last++
	call := map[string]any{"id": d.last, "method": method}
	if params != nil {
		call["params"] = params
	}
	if session != "" {
		call["sessionId"] = session
	}
	b, err := json.Marshal(call)
	if err != nil {
		return nil, err
	}
	wait := make(chan reply, 1)
	d.waiting[d.last] = wait
	_, err = d.in.Write(append(b, 0))
	return wait, err
}

func (d *devtools) close() { _, _ = d.in.Close(), d.out.Close() }
