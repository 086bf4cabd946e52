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

// A LogFilter selects logs, as eth_getLogs does.
type LogFilter struct {
	Address common.Address  // of the emitting contract; zero = any
	Topics  [][]common.Hash // by position, any of these; none = any
}

// A LogScan is the result of one bounded search for logs.
type LogScan struct {
	From uint64
	// Through is the last block up to which two hosts, where two are configured, have
	// searched every block from From on; zero if there is none.
	Through Block
	Hosts   []string // those hosts
	// Logs are those that any endpoint showed, without duplicates, oldest first. One
	// alone is a hint: [MultiClient.Evidence] tells what its transaction did.
	Logs []*types.Log
}

// Bounds of one search at one endpoint. The next search does the rest.
const (
	maxLogRequests = 16
	maxLogsSeen    = 256 // after so many it stops at the end of the range
	maxLogScanTime = 30 * time.Second
	widestLogs     = 8192 // blocks per request
)

// Logs searches for logs from block from up to the last settled one. It is bounded:
// repeat it from the block after Through to go on. If Hosts is set and Logs is empty,
// there are none in the blocks From to Through. An error may come with logs already seen;
// it says nothing about the rest.
func (h *MultiClient) Logs(ctx context.Context, id uint64, f LogFilter, from uint64) (LogScan, error) {
	from = max(from, 1) // the genesis block has none
	s := LogScan{From: from}
	p, err := h.pool(id)
	if err != nil {
		return s, err
	}
	m := blockAgreement{p: p}
	well := make(map[string]bool) // hosts whose search did not fail
	for _, e := range p.order() {
		through, logs, err := e.scanLogs(ctx, f, from, p.network)
		s.add(logs)
		if err != nil {
			m.errs = append(m.errs, err)
		} else {
			well[e.host] = true
		}
		if through < from {
			continue
		}
		if b, hosts, ok := m.add(ctx, e, through); ok {
			s.Through, s.Hosts = b, hosts
			return s, nil
		}
	}
	if len(well) >= p.quorum() && !m.conflict { // they have no further settled block in common
		return s, nil
	}
	return s, m.failure()
}

// add appends logs that were not seen before, and sorts by block.
func (s *LogScan) add(logs []*types.Log) {
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

// scanLogs searches at one endpoint. through is the last block that was covered, below from
// if none was; an error that cut the search short comes with it.
func (e *endpoint) scanLogs(ctx context.Context, f LogFilter, from uint64, network Network) (through uint64, seen []*types.Log, err error) {
	ctx, cancel := context.WithTimeout(ctx, maxLogScanTime)
	defer cancel()
	next := from
	to, err := e.settled(ctx, network)
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
		case isRangeTooWide(err):
			e.width.narrower(end - next + 1)
		}
		if !isAnswer(err) || end == next {
			return next - 1, seen, err
		}
	}
	return next - 1, seen, nil
}

// logs sends one request.
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

// readLogs decodes an answer to eth_getLogs. It refuses logs that were not asked for.
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

// matches reports whether f selects l.
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

// isAnswer reports whether err is a node's answer to the request, not about its own
// state.
func isAnswer(err error) bool {
	var ne *nodeError
	var status *statusError
	switch {
	case isRateLimit(err):
		return false
	case errors.As(err, &status):
		return slices.Contains([]int{http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity}, status.status)
	}
	return errors.As(err, &ne)
}

// isRangeTooWide reports whether a request for fewer blocks may succeed. Nodes do not agree on
// how to say so: some do, some time out, some send more than maxResponse.
func isRangeTooWide(err error) bool {
	var size *http.MaxBytesError
	return isAnswer(err) || errors.Is(err, context.DeadlineExceeded) || errors.As(err, &size)
}

// A logWidth is how many blocks an endpoint is known to search in one request for logs.
type logWidth struct {
	mu   sync.Mutex
	n    uint64 // 0 = not narrowed
	well int    // successful requests in a row
}

// widenAfter is how many successful requests in a row it takes to try a wider one.
const widenAfter = 8

func (w *logWidth) get() uint64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return cmp.Or(w.n, widestLogs)
}

func (w *logWidth) wider() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.well++; w.n != 0 && w.well >= widenAfter {
		w.n, w.well = min(2*w.n, widestLogs), 0
	}
}

func (w *logWidth) narrower(tried uint64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.n, w.well = max(1, tried/2), 0
}
