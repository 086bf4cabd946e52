package engine

import (
	"errors"
	"math/big"
	"slices"
	"testing"

	"swapkeep/chain"
	"swapkeep/sandbox/contracts"
	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common"
)

// kept is the amount that a contract of the account's holds: 50,000 USDC.
const kept = 50_000e6

// deploySafe deploys a contract that obeys the account and holds USDC. robs is calldata that
// makes it transfer all of it to a thief.
func (b *engineFixture) deploySafe(name string) (at common.Address, robs []byte) {
	b.t.Helper()
	set, err := contracts.Open("")
	if err != nil {
		b.t.Fatal(err)
	}
	of, err := set.Get(name)
	if err != nil {
		b.t.Fatal(err)
	}
	code, err := of.Init(b.from)
	if err != nil {
		b.t.Fatal(err)
	}
	at = b.newMaliciousContract().deployInit(code)
	if err := b.chain.Fund(b.t.Context(), at, usdc, big.NewInt(kept)); err != nil {
		b.t.Fatal(err)
	}
	transfer := slices.Concat(common.FromHex("0xa9059cbb"), pad(thief), word(kept))
	args := []any{usdc, transfer}
	if len(of.ABI.Methods["execute"].Inputs) == 3 {
		args = []any{usdc, new(big.Int), transfer}
	}
	if robs, err = of.ABI.Pack("execute", args...); err != nil {
		b.t.Fatal(err)
	}
	return at, robs
}

// deployForwarder deploys a built-in contract of the hander's that calls whatever it is told.
func (h *depositProvider) deployForwarder() common.Address {
	return h.deployPinned(h.b.newMaliciousContract(), puppet())
}

// wantContractBalance checks that the contract still holds all its USDC.
func (b *engineFixture) wantContractBalance(at common.Address) {
	b.t.Helper()
	if got, err := b.hub.Balance(b.t.Context(), 1, at, usdc); err != nil || got.Int64() != kept {
		b.t.Errorf("%s keeps %v, want %d (%v)", at, got, int64(kept), err)
	}
}

// TestOpaqueCallOfASafe checks that a provider's call cannot target a contract that obeys
// the account (a Safe, an ownable or a vesting contract), however the call is declared.
// Through a built-in contract that calls whatever it is told, the Safe sees that contract
// as its caller and refuses.
func TestOpaqueCallOfASafe(t *testing.T) {
	for name, c := range map[string]struct {
		kind    swap.EffectKind
		token   common.Address
		through bool // via a built-in contract
		code    swap.Code
	}{
		"a call of unknown content":            {swap.Opaque, native, false, swap.NotPinned},
		"a call of unknown content of a token": {swap.Opaque, usdc, false, swap.NotPinned},
		"what is said to be a deposit":         {swap.Deposit, native, false, swap.NotPinned},
		"through a router":                     {swap.Opaque, native, true, swap.WouldRevert},
		"through a router, of a token":         {swap.Opaque, usdc, true, swap.WouldRevert},
	} {
		t.Run(name, func(t *testing.T) {
			b := newEngineFixture(t)
			h := b.useDepositProvider(c.kind)
			at, robs := b.deploySafe("OwnedSafe")
			to, data := at, robs
			if c.through {
				to, data = h.deployForwarder(), slices.Concat(pad(at), robs)
			}
			h.callTarget(to, data)
			amount := int64(1e16)
			if c.token == usdc {
				amount = thousand
			}
			r, err := b.reviewDeposit(c.token, amount)
			if err == nil {
				o := b.executeAcknowledged(r)
				b.waitUntil(o.ID, "over", func(o swap.Order) bool { return o.State.Final() || o.State == swap.Settling })
			}
			if !errors.Is(err, &swap.Refusal{Code: c.code}) {
				t.Errorf("%v, want %s", err, c.code)
			}
			b.wantContractBalance(at)
			if b.signer.signed.Load() != 0 {
				t.Error("signed")
			}
		})
	}
}

// TestOriginSafeIsRobbed shows a limit documented in docs/security.md: a contract that
// authorizes by tx.origin obeys whatever a built-in router, which calls what it is told,
// is told to call.
func TestOriginSafeIsRobbed(t *testing.T) {
	b := newEngineFixture(t)
	h := b.useDepositProvider(swap.Opaque)
	at, robs := b.deploySafe("OriginSafe")
	h.callTarget(h.deployForwarder(), slices.Concat(pad(at), robs))
	r, err := b.reviewDeposit(native, 1e16)
	if err != nil {
		t.Fatal(err)
	}
	b.waitSettling(b.executeAcknowledged(r).ID)
	if got, err := b.hub.Balance(t.Context(), 1, at, usdc); err != nil || got.Sign() != 0 {
		t.Errorf("it keeps %v (%v)", got, err)
	}
}

// TestSafeObeysItsOwner checks the premise of this file's tests.
func TestSafeObeysItsOwner(t *testing.T) {
	b := newEngineFixture(t)
	at, robs := b.deploySafe("OwnedSafe")
	b.mineCall(chain.Call{ChainID: 1, From: b.from, To: at, Value: new(big.Int), Data: robs})
	if got, err := b.hub.Balance(t.Context(), 1, at, usdc); err != nil || got.Sign() != 0 {
		t.Errorf("it keeps %v (%v)", got, err)
	}
}
