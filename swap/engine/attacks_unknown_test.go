package engine

import (
	"slices"
	"testing"

	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common"
)

// TestOpaqueCallAndAnUnknownToken shows a limit documented in docs/security.md: an opaque
// call to a built-in contract can take what the account once allowed that contract of a
// token that the wallet does not know. For known tokens,
// TestOpaqueCallAndAnotherAllowance shows that it cannot.
func TestOpaqueCallAndAnUnknownToken(t *testing.T) {
	b := newEngineFixture(t)
	h := b.useDepositProvider(swap.Opaque)
	c := b.newMaliciousContract()
	at := h.deployPinned(c, chameleon())
	b.service.engine.Planner.Tokens = func(uint64) []common.Address { return nil }
	b.approveFor(at, usdt, 4000e6) // by another wallet, long ago
	h.callTarget(at, slices.Concat(pad(usdt), common.FromHex("0x23b872dd"), pad(b.from), pad(c.address), word(0), word(0), word(thousand)))
	r, err := b.reviewDeposit(native, 1e15)
	if err != nil {
		t.Fatal(err)
	}
	b.waitSettling(b.executeAcknowledged(r).ID)
	b.wantBalance(usdt, 4000e6)
}
