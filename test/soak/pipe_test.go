//go:build faults && linux

package soak

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"sync"
	"testing"
	"time"

	"swapkeep/host/frame"
	"swapkeep/host/protocol"
	"swapkeep/test/programs"
)

// A pipe is a relay as a browser sees it: bytes in and out. A client would hide duplicate
// answers and answers to requests that were never sent.
type pipe struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *os.File

	writing sync.Mutex
	frames  *frame.Writer
}

func (h *home) pipe(t *testing.T) *pipe {
	t.Helper()
	cmd := h.Command(nil, programs.Origin)
	theirIn, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	out, theirOut, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdin, cmd.Stdout = theirIn, theirOut
	err = cmd.Start()
	if err := errors.Join(err, theirIn.Close(), theirOut.Close()); err != nil {
		t.Fatal(err)
	}
	p := &pipe{cmd: cmd, in: in, out: out, frames: frame.NewWriter(in)}
	t.Cleanup(p.close)
	return p
}

func (p *pipe) close() {
	_ = p.in.Close()
	_ = p.out.Close()
	_ = p.cmd.Wait()
}

func (p *pipe) send(id int, method string, params any) error {
	body, err := json.Marshal(protocol.Request{JSONRPC: protocol.Version, ID: json.RawMessage(fmt.Sprint(id)), Method: method, Params: params})
	if err != nil {
		return err
	}
	p.writing.Lock()
	defer p.writing.Unlock()
	return p.frames.Write(body)
}

// An sentRequest is a request as its sender remembers it.
type sentRequest struct {
	at      time.Time
	answers int
	took    time.Duration
	refused string // name of the error; "": a result
}

// A question is a kind of request in a load. Its params depend on n, so right can tell
// whether a result answers request n.
type question struct {
	method string
	params func(n int) any
	right  func(n int, result json.RawMessage) bool
}

// A load is the requests of one pipe: total is how many, inFlight how many are in flight.
type load struct {
	total, inFlight int
	questions       []question

	all   []sentRequest
	wrong int // answers to nothing, or to another request
}

// run sends the requests, one more for each answer, and returns when all are answered.
func (l *load) run(p *pipe) error {
	l.all = make([]sentRequest, l.total+1) // ids begin at 1
	var mu sync.Mutex
	next := 1
	ask := func() error {
		mu.Lock()
		id := next
		next++
		if id <= l.total {
			l.all[id].at = time.Now()
		}
		mu.Unlock()
		if id > l.total {
			return nil
		}
		q := l.questions[id%len(l.questions)]
		return p.send(id, q.method, q.params(id))
	}
	begun := make(chan error, 1)
	go func() {
		for range min(l.inFlight, l.total) {
			if err := ask(); err != nil {
				begun <- err
				return
			}
		}
		begun <- nil
	}()
	answers := frame.NewReader(p.out)
	for left := l.total; left > 0; {
		body, err := answers.Read()
		if err != nil {
			return fmt.Errorf("%d answers are missing: %w", left, err)
		}
		mu.Lock()
		answered := l.take(body)
		mu.Unlock()
		if answered {
			left--
			if err := ask(); err != nil {
				return err
			}
		}
	}
	return <-begun
}

// take reads a message and reports whether it is a first answer to a request.
func (l *load) take(body []byte) bool {
	var m struct {
		ID     *int            `json:"id"`
		Method string          `json:"method"`
		Result json.RawMessage `json:"result"`
		Error  *protocol.Error `json:"error"`
	}
	switch err := json.Unmarshal(body, &m); {
	case err == nil && m.Method != "": // a notification
		return false
	case err != nil || m.ID == nil || *m.ID < 1 || *m.ID > l.total || l.all[*m.ID].at.IsZero():
		l.wrong++
		return false
	}
	a, q := &l.all[*m.ID], l.questions[*m.ID%len(l.questions)]
	if a.answers++; a.answers > 1 {
		l.wrong++
		return false
	}
	a.took = time.Since(a.at)
	switch {
	case m.Error != nil:
		a.refused = m.Error.Name
	case !q.right(*m.ID, m.Result):
		l.wrong++
	}
	return true
}

// count returns how many requests were refused with this error; "" counts results.
func (l *load) count(refused string) (n int) {
	for _, a := range l.all[1:] {
		if a.answers == 1 && a.refused == refused {
			n++
		}
	}
	return n
}

// A durations is a list of durations.
type durations []time.Duration

func (s durations) percentile(share float64) time.Duration {
	if len(s) == 0 {
		return 0
	}
	s = slices.Sorted(slices.Values(s))
	return s[int(share*float64(len(s)-1))]
}

func (s durations) String() string {
	return fmt.Sprintf("p50 %s, p95 %s, p99 %s", ms(s.percentile(0.5)), ms(s.percentile(0.95)), ms(s.percentile(0.99)))
}

func ms(d time.Duration) string { return fmt.Sprintf("%.1f ms", float64(d)/float64(time.Millisecond)) }

// runLoads runs loads at once, each on a pipe of its own.
func runLoads(t *testing.T, h *home, loads []*load) (took durations, lasted time.Duration) {
	t.Helper()
	pipes, errs := make([]*pipe, len(loads)), make([]error, len(loads))
	for i := range loads {
		pipes[i] = h.pipe(t)
	}
	began := time.Now()
	var all sync.WaitGroup
	for i, l := range loads {
		all.Go(func() { errs[i] = l.run(pipes[i]) })
	}
	all.Wait()
	lasted = time.Since(began)
	for i, l := range loads {
		pipes[i].close()
		if errs[i] != nil {
			t.Errorf("relay %d: %v", i, errs[i])
		}
		if l.wrong > 0 {
			t.Errorf("relay %d: %d answers are not what was asked", i, l.wrong)
		}
		for _, a := range l.all[1:] {
			took = append(took, a.took)
		}
	}
	return took, lasted
}
