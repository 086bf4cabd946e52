//go:build faults && linux

package torture

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"swapkeep/host/protocol"
	"swapkeep/test/audit"
	"swapkeep/test/processes"
)

// runAudit ends the world's programs and checks everything they left.
func (w *world) runAudit(orders []protocol.OrderResult, listed map[audit.Grant]audit.Allowance) {
	w.checkNothingLeft()
	w.checkCrashes()
	told, err := audit.As[[]audit.OrderResult](orders)
	if err != nil {
		w.find("what was told: %v", err)
		return
	}
	var consents []audit.Consent
	for _, c := range w.consents {
		agreed := audit.Consent{Request: string(c.request), Order: c.id, Refused: c.refused != ""}
		for _, d := range c.digests {
			agreed.Digests = append(agreed.Digests, common.HexToHash(string(d)))
		}
		consents = append(consents, agreed)
	}
	w.audit.Listed = listed
	w.audit.Judge(w.Instance.Home, told, consents)
	w.checkSecrets()
}

// whyOpen says why an open order may stay open, "" if there is no reason.
func (w *world) whyOpen(o protocol.Order) string {
	told, err := audit.As[audit.Order](o)
	if err != nil {
		w.find("order %s: %v", o.ID, err)
	}
	return w.audit.WhyOpen(told)
}

// listed returns the allowances that the wallet shows its user.
func (w *world) listed(u *user) (map[audit.Grant]audit.Allowance, error) {
	all := map[audit.Grant]audit.Allowance{}
	for _, chain := range w.route {
		via := map[string]common.Address{protocol.AllowanceERC20: {}, protocol.AllowancePermit2: w.Chain(chain).Network.Contracts.Permit2}
		for _, a := range w.accounts {
			params := protocol.ApprovalsParams{Account: protocol.Address(a.Hex()), ChainID: chain}
			for more := true; more; more = params.Cursor != "" {
				var page protocol.ApprovalsResult
				if err := u.retryUntilAnswered("approvals.list", params, &page); err != nil {
					return nil, err
				}
				for _, l := range page.Allowances {
					g := audit.Grant{Chain: chain, Account: a, Token: addr(l.Token), Spender: addr(l.Spender), Via: via[l.Kind]}
					all[g] = audit.Allowance{Kind: l.Kind, Amount: audit.Amount(l.Amount), Reserved: audit.Amount(l.Reserved), Leftover: l.Leftover}
				}
				params.Cursor = page.Cursor
			}
		}
	}
	return all, nil
}

func addr(a protocol.Address) common.Address { return common.HexToAddress(string(a)) }

// checkNothingLeft ends relays and daemon as a logout does, and checks that nothing remains.
func (w *world) checkNothingLeft() {
	w.mu.Lock()
	relays := w.relays
	w.relays = nil
	w.mu.Unlock()
	for _, p := range relays {
		_, _ = p.Stop()
	}
	if out, err := w.stop(); err != nil {
		w.find("stop: %v: %s", err, out)
	}
	left, err := processes.StillRunning(w.Bin, 5*time.Second)
	if len(left) > 0 || err != nil {
		w.find("processes %v are left, %v", left, err)
	}
	for _, pid := range left {
		_ = processes.Kill(pid)
	}
	_ = filepath.WalkDir(w.Instance.Home, func(path string, e os.DirEntry, err error) error {
		if err == nil && e.Type()&(os.ModeSocket|os.ModeNamedPipe) != 0 {
			w.find("the socket %s is left", filepath.Base(path))
		}
		if err == nil && (strings.HasSuffix(path, "~") || strings.Contains(filepath.Base(path), ".tmp")) {
			w.find("the file %s is left", path)
		}
		return nil
	})
}

// checkCrashes checks that no program crashed by a fault of its own, by log and standard
// error, and counts the daemons that died at a point.
func (w *world) checkCrashes() {
	for _, path := range []string{w.Instance.LogPath(), w.Instance.LogPath() + ".1", w.said.Name()} {
		b, err := os.ReadFile(path)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			w.find("log: %v", err)
		}
		for line := range strings.Lines(string(b)) {
			if faulted.MatchString(line) {
				w.find("%s says: %s", filepath.Base(path), line)
			}
		}
	}
	died, err := os.ReadFile(w.deaths())
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		w.find("deaths: %v", err)
	}
	w.count("daemon died at a point", len(strings.Fields(string(died))))
}

// faulted matches the output of a program that ends by a fault of its own.
var faulted = regexp.MustCompile(`^(panic:|fatal error:|\[signal )|"level":"(fatal|panic)"|"panic":|panic in state|panic while`)
