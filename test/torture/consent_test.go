//go:build faults && linux

package torture

import (
	"slices"

	"github.com/ethereum/go-ethereum/common"

	"swapkeep/host/protocol"
	"swapkeep/test/requests"
)

// A consent is what a user agreed to, and its result as far as the users know. world.mu
// guards the fields that change.
type consent struct {
	request protocol.UUID
	account common.Address
	method  string
	params  any
	revoked *protocol.Allowance // set for a revoke

	digests []protocol.Hash  // agreed to: the first, then those of proposals
	terms   []protocol.Terms // of each digest
	id      string           // of its order
	refused string           // why there is no order
}

// sendConsent sends a consent to the daemon and repeats it until the result is known.
func (u *user) sendConsent(c *consent) {
	u.w.mu.Lock()
	u.w.consents = append(u.w.consents, c)
	u.w.mu.Unlock()
	u.settle(c)
}

// settle repeats a consent until the daemon reports its result.
func (u *user) settle(c *consent) {
	var o protocol.Order
	err := u.retryUntilAnswered(c.method, c.params, &o)
	u.w.mu.Lock()
	defer u.w.mu.Unlock()
	switch {
	case err == nil && c.id != "" && c.id != o.ID:
		u.w.find("the same uuid made two orders: %s and %s", c.id, o.ID)
	case err == nil:
		c.id = o.ID
		u.w.lastOpen++
		u.w.count(map[string]string{"swap.execute": "swaps", "approvals.revoke": "revokes"}[c.method], 1)
	case requests.ErrorName(err) != "":
		c.refused = requests.ErrorName(err)
	}
}

// pending counts consents without a known result.
func (w *world) pending() (n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range w.consents {
		if c.id == "" && c.refused == "" {
			n++
		}
	}
	return n
}

// consentOf finds the consent of an order.
func (w *world) consentOf(id string) *consent {
	w.mu.Lock()
	defer w.mu.Unlock()
	i := slices.IndexFunc(w.consents, func(c *consent) bool { return c.id == id })
	if i < 0 {
		return nil
	}
	return w.consents[i]
}

// meddle does something to an open order.
func (u *user) meddle() {
	all := u.openOrders()
	if len(all) == 0 {
		return
	}
	o := all[u.rng.IntN(len(all))]
	switch p := u.rng.IntN(10); {
	case o.Proposal != nil:
		u.accept(o)
	case p < 4:
		u.w.count("cancels asked", 1)
		_ = u.ask("swap.cancel", protocol.CancelParams{Request: requests.NewUUID(), Order: o.ID, Digest: o.Digest, Password: []byte(requests.Password)}, nil)
	case p < 8:
		u.w.count("speedups asked", 1)
		_ = u.ask("swap.speedup", protocol.SpeedupParams{Request: requests.NewUUID(), Order: o.ID, Digest: o.Digest, Password: []byte(requests.Password)}, nil)
	default:
		_ = u.ask("swap.order", protocol.OrderParams{Order: o.ID}, nil)
	}
}

// accept consents to an order's proposal. The consent is recorded before the call, because
// the daemon may receive it even if no answer comes back.
func (u *user) accept(o protocol.Order) {
	r := o.Proposal.Review
	c := u.w.consentOf(o.ID)
	if c == nil || r.Blocked {
		return
	}
	u.w.mu.Lock()
	c.digests, c.terms = append(c.digests, r.Digest), append(c.terms, r.Terms)
	u.w.mu.Unlock()
	u.w.count("proposals accepted", 1)
	_ = u.ask("swap.accept", protocol.AcceptParams{Request: requests.NewUUID(), Order: o.ID, Digest: r.Digest, Acknowledge: requests.Acks(r.Findings), Password: []byte(requests.Password)}, nil)
}

// revoke revokes a leftover allowance, if there is one.
func (u *user) revoke() {
	var list protocol.ApprovalsResult
	if err := u.ask("approvals.list", protocol.ApprovalsParams{Account: protocol.Address(u.account.Hex())}, &list); err != nil {
		return
	}
	for _, a := range list.Allowances {
		if a.Digest == "" || a.Leftover == "" {
			continue
		}
		c := &consent{request: requests.NewUUID(), account: u.account, digests: []protocol.Hash{a.Digest}, revoked: &a}
		c.method, c.params = "approvals.revoke", protocol.RevokeParams{Request: c.request, Digest: a.Digest, Password: []byte(requests.Password)}
		u.sendConsent(c)
		return
	}
}
