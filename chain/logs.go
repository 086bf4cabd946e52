package chain

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"
)

// A LogFilter chooses logs, as eth_getLogs does.
type LogFilter struct {
	Address common.Address  // that emits them; zero = any
	Topics  [][]common.Hash // by place, one of these; none = any
}

// A Sweep is how far one look for logs came, and what it saw.
type Sweep struct {
	From uint64
	// Through is the block up to which two hosts, where two are configured, have
	// searched every block from From on; zero while there is none.
	Through Block
	Hosts   []string // those
	// Logs are what any endpoint showed, in no more than one copy, oldest first. By
	// itself each is a hint: what its transaction did is for [Hub.Evidence] to say.
	Logs []*types.Log
}

// Bounds of one look at one endpoint. What is left is for the next.
const (
	maxLogRequests = 16
	maxLogsSeen    = 256 // after which it stops at the end of the range
	maxSweepTime   = 30 * time.Second
	widestLogs     = 8192 // blocks of one request
)

// Logs searches the blocks from from on, up to the last settled one, for logs. It
// is bounded, and goes on where it stopped when it is repeated from the block after
// Through. That nothing is among Logs means, with Hosts, that nothing is in the
// blocks From to Through. An error may come with the logs that were seen; it says
// nothing about the rest.
func (h *Hub) Logs(ctx context.Context, id uint64, f LogFilter, from uint64) (Sweep, error) {
	from = max(from, 1) // genesis has none
	s := Sweep{From: from}
	p, err := h.pool(id)
	if err != nil {
		return s, err
	}
	m := meeting{p: p}
	well := make(map[string]bool) // hosts that answered
	for _, e := range p.order() {
		through, logs, err := e.sweep(ctx, f, from, p.network.Depth)
		s.add(logs)
		if err != nil {
			m.errs = append(m.errs, err)
		} else {
			well[e.host] = true
		}
		if through < from {
			continue
		}
		if b, hosts, ok := m.join(ctx, e, through); ok {
			s.Through, s.Hosts = b, hosts
			return s, nil
		}
	}
	if len(well) >= p.quorum() && !m.odds { // they have no more settled blocks in common
		return s, nil
	}
	return s, m.failure()
}

// add keeps logs that were not seen before, in the order of blocks.
func (s *Sweep) add(logs []*types.Log) {
	for _, l := range logs {
		same := func(other *types.Log) bool {
			return other.TxHash == l.TxHash && sameLogs([]*types.Log{other}, []*types.Log{l})
		}
		if !slices.ContainsFunc(s.Logs, same) {
			s.Logs = append(s.Logs, l)
		}
	}
	slices.SortStableFunc(s.Logs, func(a, b *types.Log) int { return cmp.Compare(a.BlockNumber, b.BlockNumber) })
}

// sweep is one endpoint's search. through is the last block that it covered; below
// from, none. It comes with an error where the search was cut short by one.
func (e *endpoint) sweep(ctx context.Context, f LogFilter, from, depth uint64) (through uint64, seen []*types.Log, err error) {
	ctx, cancel := context.WithTimeout(ctx, maxSweepTime)
	defer cancel()
	next := from
	to, err := e.settled(ctx, depth)
	if err != nil {
		return from - 1, nil, err
	}
	for n := 0; next <= to && n < maxLogRequests && len(seen) < maxLogsSeen; n++ {
		end := min(to, next+e.width.get()-1)
		logs, err := e.logs(ctx, f, next, end)
		switch {
		case err == nil:
			seen, next = append(seen, logs...), end+1
			e.width.wider()
			continue
		case isTooMuch(err):
			e.width.narrower(end - next + 1)
		}
		if !isAnswer(err) || end == next {
			return next - 1, seen, err
		}
	}
	return next - 1, seen, nil
}

// logs is one request.
func (e *endpoint) logs(ctx context.Context, f LogFilter, from, to uint64) ([]*types.Log, error) {
	arg := map[string]any{"fromBlock": hexutil.EncodeUint64(from), "toBlock": hexutil.EncodeUint64(to)}
	if f.Address != (common.Address{}) {
		arg["address"] = f.Address
	}
	if len(f.Topics) > 0 {
		topics := make([]any, len(f.Topics))
		for i, some := range f.Topics {
			if len(some) > 0 {
				topics[i] = some
			}
		}
		arg["topics"] = topics
	}
	var answer json.RawMessage
	_, err := e.do(ctx, func(ctx context.Context) error {
		return e.rpc.CallContext(ctx, &answer, "eth_getLogs", arg)
	})
	if err != nil {
		return nil, err
	}
	return readLogs(answer, e.host, f, from, to)
}

// readLogs reads an answer to eth_getLogs. Logs that were not asked for are refused.
func readLogs(answer []byte, host string, f LogFilter, from, to uint64) (logs []*types.Log, err error) {
	if err := json.Unmarshal(answer, &logs); err != nil || logs == nil {
		return nil, fmt.Errorf("%s: no list of logs", host)
	}
	for _, l := range logs {
		if l == nil || l.Removed || l.TxHash == (common.Hash{}) || l.BlockNumber < from || l.BlockNumber > to || !f.matches(l) {
			return nil, fmt.Errorf("%s: shows a log that was not asked for", host)
		}
	}
	return logs, nil
}

// matches reports whether f chooses l.
func (f LogFilter) matches(l *types.Log) bool {
	if f.Address != (common.Address{}) && l.Address != f.Address || len(l.Topics) < len(f.Topics) {
		return false
	}
	for i, some := range f.Topics {
		if len(some) > 0 && !slices.Contains(some, l.Topics[i]) {
			return false
		}
	}
	return true
}

// isAnswer reports whether err is a node's word on the request, not on its own
// state.
func isAnswer(err error) bool {
	var ne *nodeError
	var status *statusError
	switch {
	case limited(err):
		return false
	case errors.As(err, &status):
		return slices.Contains([]int{http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity}, status.status)
	}
	return errors.As(err, &ne)
}

// isTooMuch reports whether fewer blocks at once may do. Nodes have no common word
// for it: some say so, some run out of time, some send more than is taken.
func isTooMuch(err error) bool {
	var size *http.MaxBytesError
	return isAnswer(err) || errors.Is(err, context.DeadlineExceeded) || errors.As(err, &size)
}

// A logWidth is how many blocks an endpoint lets one request for logs cover, as
// far as is known.
type logWidth struct {
	mu   sync.Mutex
	n    uint64 // 0 = not narrowed
	well int    // requests in a row
}

// patience is after how many requests that went well a wider one is tried.
const patience = 8

func (w *logWidth) get() uint64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return cmp.Or(w.n, widestLogs)
}

func (w *logWidth) wider() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.well++; w.n != 0 && w.well >= patience {
		w.n, w.well = min(2*w.n, widestLogs), 0
	}
}

func (w *logWidth) narrower(tried uint64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.n, w.well = max(1, tried/2), 0
}
