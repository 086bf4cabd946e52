package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/ethereum/go-ethereum/common"

	"swapkeep/host/protocol"
	"swapkeep/sandbox"
	"swapkeep/test/audit"
)

// A moneyAudit is the audit of all that the demo moved. It is made once the daemon has ended,
// of its journal, the chains and the providers' records.
type moneyAudit struct {
	*audit.Audit
	consents []audit.Consent
	told     []audit.OrderResult // the orders that have ended
	complete bool                // no order is under way
	found    []string
}

// recordMoney begins the audit of the funded account.
func (s *demoRun) recordMoney(ctx context.Context) error {
	s.money.Audit = audit.New(context.WithoutCancel(ctx), s.box, sandbox.Depth, common.HexToAddress(string(s.account)))
	s.money.Find = func(format string, args ...any) { s.money.found = append(s.money.found, fmt.Sprintf(format, args...)) }
	return nil
}

// record notes an order that has ended, and the review's digest that it was accepted by.
func (m *moneyAudit) record(told protocol.OrderResult, digest protocol.Hash) error {
	r, err := audit.As[audit.OrderResult](told)
	if err != nil {
		return err
	}
	m.told = append(m.told, r)
	m.consents = append(m.consents, audit.Consent{Request: r.Order.Request, Order: r.Order.ID, Digests: []common.Hash{common.HexToHash(string(digest))}})
	return nil
}

// judge makes the audit and says what came of it. It is an error if anything does not agree.
func (m *moneyAudit) judge(home string) (string, error) {
	if m.Audit == nil {
		return "not started", nil
	}
	defer m.Close()
	if !m.complete {
		return "not done: the demo did not finish", nil
	}
	if m.Judge(home, m.told, m.consents); len(m.found) > 0 {
		return "", errors.New(strings.Join(m.found, "; "))
	}
	return fmt.Sprintf("%s in the journal; every transaction, transfer and payment on %d chains belongs to one of them, and the providers' records agree", count(len(m.told), "order"), len(m.Chains)), nil
}

func (s *demoRun) judgeMoney(context.Context) (string, error) {
	return s.money.judge(filepath.Join(s.dir, "home"))
}
