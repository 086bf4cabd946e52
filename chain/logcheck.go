package chain

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/ethereum/go-ethereum"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
)

// Bounds of the search for a log that is known to exist.
const (
	logCheckBlocks   = 8 // searched: the given one and those before it
	logCheckReceipts = 6
)

// CheckLogs checks for each host that eth_getLogs returns a log that a receipt of that host
// contains, at or shortly before block. If it does not, the host's log index lags, and an
// empty answer from it proves nothing. If there is no log to compare, CheckLogs returns nil.
func (h *MultiClient) CheckLogs(ctx context.Context, id, block uint64, hosts []string) error {
	p, err := h.pool(id)
	if err != nil {
		return err
	}
	unverified := slices.Clone(hosts)
	var errs []error
	for _, e := range p.order() {
		if !slices.Contains(unverified, e.host) {
			continue
		}
		if err := e.checkLogs(ctx, block); err != nil {
			errs = append(errs, err)
			continue
		}
		unverified = slices.DeleteFunc(unverified, func(host string) bool { return host == e.host })
	}
	if len(unverified) == 0 {
		return nil
	}
	return fmt.Errorf("chain %d: cannot rely on the logs of %v: %w", id, unverified, errors.Join(errs...))
}

// checkLogs takes the first log of the latest transaction that has one, by its receipts, and
// checks that eth_getLogs of e returns a log of that transaction too.
func (e *endpoint) checkLogs(ctx context.Context, block uint64) error {
	receipts := 0
	for n := block; n > 0 && n+logCheckBlocks > block; n-- {
		var b head
		_, err := e.do(ctx, func(ctx context.Context) (err error) {
			b, err = e.block(ctx, hexutil.EncodeUint64(n))
			return err
		})
		if err != nil {
			return err
		}
		for _, tx := range slices.Backward(b.Transactions) {
			if receipts++; receipts > logCheckReceipts {
				return nil
			}
			if found, err := e.checkLogsOf(ctx, tx, n); found || err != nil {
				return err
			}
		}
	}
	return nil
}

// checkLogsOf compares the first log of one transaction; found is false if it has none.
func (e *endpoint) checkLogsOf(ctx context.Context, tx common.Hash, block uint64) (found bool, err error) {
	r, err := e.receipt(ctx, tx)
	if errors.Is(err, ethereum.NotFound) {
		return false, fmt.Errorf("%s has no receipt of transaction %s in its block %d", e.host, tx, block)
	}
	if err != nil || len(r.Logs) == 0 {
		return false, err
	}
	l := r.Logs[0]
	f := LogFilter{Address: l.Address}
	for _, t := range l.Topics {
		f.Topics = append(f.Topics, []common.Hash{t})
	}
	shown, err := e.logs(ctx, f, block, block)
	if err != nil {
		return false, err
	}
	for _, s := range shown {
		if s.TxHash == tx {
			return true, nil
		}
	}
	return false, fmt.Errorf("the log index of %s lags: eth_getLogs returns no log of transaction %s in block %d", e.host, tx, block)
}
