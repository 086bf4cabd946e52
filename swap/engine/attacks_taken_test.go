package engine

import (
	"testing"
	"time"

	"swapkeep/swap"
	"swapkeep/test/await"
)

// TestIsolatedAllowanceIsTaken checks that an order says so if the contract that its isolated
// account approved takes the input without the call that was to follow: nothing that spends
// was signed, and yet it does not come back.
func TestIsolatedAllowanceIsTaken(t *testing.T) {
	b := newEngineFixture(t)
	h := b.useIsolating()
	c := b.newMaliciousContract()
	at := c.deployRuntime(puppet())
	takes := c.pullCalldata(usdc, b.isolated.(*isolatedVault).at(0), thousand)
	h.callTarget(at, takes)
	r, err := b.reviewDeposit(usdc, thousand)
	if err != nil {
		t.Fatal(err)
	}
	stop := b.service.Subscribe(func(o swap.Order) {
		if o.Step == 3 {
			b.signer.locked.Store(true)
		}
	})
	o := b.executeAcknowledged(r)
	b.waitUntil(o.ID, "locked", func(o swap.Order) bool { return o.Condition == swap.WaitingForUnlock && o.Step == 3 })
	stop()
	c.send(&at, takes)
	b.clockOffset.Add(int64(25 * time.Minute))
	b.signer.locked.Store(false)
	b.service.Wake()
	await.Until(t, 20*time.Second, "the order is over", func() bool {
		o, _, err = b.service.Order(o.ID)
		return err == nil && o.State == swap.Expired
	})
	if o.Cause == nil || o.Cause.Reason != swap.AllowanceSpent || o.Cause.Data["spent"] != "1000000000" {
		t.Errorf("%s, %+v", o.Reason, o.Cause)
	}
	b.waitSwept(o.ID)
	b.wantBalance(usdc, 4000e6)
}
