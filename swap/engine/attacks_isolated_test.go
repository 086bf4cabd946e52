package engine

import (
	"math/big"
	"slices"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/vm"
	"github.com/ethereum/go-ethereum/crypto"

	"swapkeep/sandbox/contracts"
	"swapkeep/swap"
	"swapkeep/test/await"
)

// twoFaced is a puppet that calls nobody while it is simulated, and keeps the coin that it
// is sent. Whether its call succeeds is nothing to it.
func twoFaced() []byte {
	return maliciousPreamble().
		Op(vm.GASPRICE, vm.ISZERO).Push(100_000).Op(vm.MUL).Push(0).Op(vm.KECCAK256, vm.POP).
		Push(32).Op(vm.CALLDATASIZE, vm.SUB, vm.DUP1).Push(32).Push(0).Op(vm.CALLDATACOPY).
		Push(0).Push(0).Op(vm.DUP3).Push(0).Push(0).Push(0).Op(vm.CALLDATALOAD, vm.GASPRICE, vm.ISZERO, vm.ISZERO, vm.MUL, vm.GAS, vm.CALL, vm.POP, vm.STOP).Bytes()
}

// puller is a router that takes a token from its caller, as honest ones do: the token in
// its first word, for the address in the second. The amount is the third while it is
// simulated, and the fourth in a block.
func puller() []byte {
	return maliciousPreamble().
		Op(vm.GASPRICE, vm.ISZERO).Push(100_000).Op(vm.MUL).Push(0).Op(vm.KECCAK256, vm.POP).
		Push(0x23b872dd).Push(224).Op(vm.SHL).Push(0).Op(vm.MSTORE).
		Op(vm.CALLER).Push(4).Op(vm.MSTORE).
		Push(32).Op(vm.CALLDATALOAD).Push(36).Op(vm.MSTORE).
		Op(vm.GASPRICE, vm.ISZERO, vm.ISZERO).Push(32).Op(vm.MUL).Push(64).Op(vm.ADD, vm.CALLDATALOAD).Push(68).Op(vm.MSTORE).
		Push(0).Push(0).Push(100).Push(0).Push(0).Push(0).Op(vm.CALLDATALOAD, vm.GAS, vm.CALL).
		Op(vm.ISZERO).Push(failsAt).Op(vm.JUMPI, vm.STOP).Bytes()
}

// unlimited is as good as an unlimited allowance here.
const unlimited = 1 << 62

// TestIsolatedReachesNothing has calls of unknown content made to contracts that nobody
// knows: to what obeys the account, to its tokens, and to contracts that it once allowed to
// take all of them, with and without a look at whether they are simulated. If such a call is
// made at all, the input and gas are gone, and nothing else.
func TestIsolatedReachesNothing(t *testing.T) {
	taking := func(b *engineFixture, c *maliciousContract) []byte { return c.pullCalldata(usdt, b.from, 4000e6) }
	for name, x := range map[string]struct {
		token common.Address
		call  func(b *engineFixture, c *maliciousContract, safe common.Address, robs []byte) (common.Address, []byte)
		safe  string
		code  swap.Code // of the review; "" = it is carried out
		fails bool      // the call is mined and reverts
	}{
		"a Safe": {usdc, func(_ *engineFixture, _ *maliciousContract, safe common.Address, robs []byte) (common.Address, []byte) {
			return safe, robs
		}, "OwnedSafe", swap.WouldRevert, false},
		"a Safe that goes by the origin": {usdc, func(_ *engineFixture, _ *maliciousContract, safe common.Address, robs []byte) (common.Address, []byte) {
			return safe, robs
		}, "OriginSafe", swap.WouldRevert, false},
		"a Safe, through a contract": {native, func(_ *engineFixture, c *maliciousContract, safe common.Address, robs []byte) (common.Address, []byte) {
			return c.deployRuntime(puppet()), slices.Concat(pad(safe), robs)
		}, "OwnedSafe", swap.WouldRevert, false},
		"a Safe, unless simulated": {native, func(_ *engineFixture, c *maliciousContract, safe common.Address, robs []byte) (common.Address, []byte) {
			return c.deployRuntime(twoFaced()), slices.Concat(pad(safe), robs)
		}, "OwnedSafe", "", false},
		"one that goes by the origin, unless simulated": {native, func(_ *engineFixture, c *maliciousContract, safe common.Address, robs []byte) (common.Address, []byte) {
			return c.deployRuntime(twoFaced()), slices.Concat(pad(safe), robs)
		}, "OriginSafe", "", false},
		"a token of the account": {usdc, func(b *engineFixture, c *maliciousContract, _ common.Address, _ []byte) (common.Address, []byte) {
			return usdt, taking(b, c)[32:]
		}, "OwnedSafe", swap.WouldRevert, false},
		"a token of the account, unless simulated": {native, func(b *engineFixture, c *maliciousContract, _ common.Address, _ []byte) (common.Address, []byte) {
			return c.deployRuntime(twoFaced()), taking(b, c)
		}, "OwnedSafe", "", false},
		"the input, which the account has more of": {usdc, func(b *engineFixture, c *maliciousContract, _ common.Address, _ []byte) (common.Address, []byte) {
			return usdc, c.pullCalldata(usdc, b.from, thousand)[32:]
		}, "OwnedSafe", swap.WouldRevert, false},
		"an unlimited allowance": {native, func(b *engineFixture, c *maliciousContract, _ common.Address, _ []byte) (common.Address, []byte) {
			at := c.deployRuntime(puppet())
			b.approveFor(at, usdt, unlimited)
			return at, taking(b, c)
		}, "OwnedSafe", swap.NotAsAccepted, false},
		"a router with an unlimited allowance": {usdc, func(b *engineFixture, c *maliciousContract, _ common.Address, _ []byte) (common.Address, []byte) {
			at := c.deployRuntime(puller())
			b.approveFor(at, usdc, unlimited)
			return at, slices.Concat(pad(usdc), pad(c.address), word(4000e6), word(4000e6))
		}, "OwnedSafe", swap.WouldRevert, false},
		"of another token": {usdc, func(b *engineFixture, c *maliciousContract, _ common.Address, _ []byte) (common.Address, []byte) {
			at := c.deployRuntime(puller())
			b.approveFor(at, usdt, unlimited)
			return at, slices.Concat(pad(usdt), pad(c.address), word(4000e6), word(4000e6))
		}, "OwnedSafe", swap.WouldRevert, false},
		"such a router, more unless simulated": {usdc, func(b *engineFixture, c *maliciousContract, _ common.Address, _ []byte) (common.Address, []byte) {
			at := c.deployRuntime(puller())
			b.approveFor(at, usdc, unlimited)
			return at, slices.Concat(pad(usdc), pad(c.address), word(thousand), word(4000e6))
		}, "OwnedSafe", "", true},
		"such a router, exactly": {usdc, func(b *engineFixture, c *maliciousContract, _ common.Address, _ []byte) (common.Address, []byte) {
			at := c.deployRuntime(puller())
			b.approveFor(at, usdc, unlimited)
			return at, slices.Concat(pad(usdc), pad(c.address), word(thousand), word(thousand))
		}, "OwnedSafe", "", false},
	} {
		t.Run(name, func(t *testing.T) {
			b := newEngineFixture(t)
			h := b.useIsolating()
			safe, robs := b.deploySafe(x.safe)
			h.callTarget(x.call(b, b.newMaliciousContract(), safe, robs))
			coins, signed := b.balance(native, b.from), b.signer.signed.Load()
			amount := int64(1e16)
			if x.token == usdc {
				amount = thousand
			}
			r, err := b.reviewDeposit(x.token, amount)
			switch {
			case x.code != "":
				refusedWith(t, err, x.code)
				if n := b.signer.signed.Load(); n != signed {
					t.Errorf("%d signatures", n-signed)
				}
				b.wantBalance(usdc, 5000e6)
			case err != nil:
				t.Fatal(err)
			default:
				o := b.executeAcknowledged(r)
				spent := map[bool]int64{true: amount}
				if x.fails {
					b.waitState(o.ID, swap.Failed)
					spent = nil
				} else {
					b.waitSettling(o.ID)
				}
				b.wantSwept(b.waitSwept(o.ID), coins, spent[x.token == usdc], spent[x.token == native])
			}
			b.wantContractBalance(safe)
			b.wantBalance(usdt, 5000e6)
		})
	}
}

// TestIsolatedInputWithHooks has the input token itself make calls when it is moved, to the
// isolated account and from there: to a Safe, and for a token that the account allowed it to
// take. Each is refused at the review or, if the token is told only then, before the step is
// signed.
func TestIsolatedInputWithHooks(t *testing.T) {
	for name, x := range map[string]struct {
		nth   uint64 // transfer
		safe  bool   // the call is to a Safe
		late  bool   // after the review
		code  swap.Code
		signs int32
	}{
		"a Safe, when it is moved to the isolated account":  {1, true, false, swap.WouldRevert, 0},
		"a Safe, when it is deposited":                      {2, true, false, swap.WouldRevert, 0},
		"a token, when it is moved to the isolated account": {1, false, false, swap.NotAsAccepted, 0},
		"a token, when it is deposited":                     {2, false, false, swap.NotAsAccepted, 0},
		"after the review, when it is moved":                {1, false, true, "", 0},
		"after the review, when it is deposited":            {2, false, true, "", 3},
	} {
		t.Run(name, func(t *testing.T) {
			b := newEngineFixture(t)
			b.useIsolating()
			safe, robs := b.deploySafe("OwnedSafe")
			set, err := contracts.Open("")
			if err != nil {
				t.Fatal(err)
			}
			of, err := set.Get("HostileToken")
			if err != nil {
				t.Fatal(err)
			}
			code, err := of.Init()
			if err != nil {
				t.Fatal(err)
			}
			c := b.newMaliciousContract()
			at := crypto.CreateAddress(c.address, c.nonce)
			c.deployInit(code)
			c.send(&at, slices.Concat(common.FromHex("0xa9059cbb"), pad(b.from), word(1e18)))
			b.approveFor(at, usdt, unlimited)
			target, data := usdt, c.pullCalldata(usdt, b.from, 4000e6)[32:]
			if x.safe {
				target, data = safe, robs
			}
			arms, err := of.ABI.Pack("arm", new(big.Int).SetUint64(x.nth), target, data)
			if err != nil {
				t.Fatal(err)
			}
			if !x.late {
				c.send(&at, arms)
			}
			signed := b.signer.signed.Load()
			r, err := b.reviewDeposit(at, 1e17)
			if x.code != "" {
				refusedWith(t, err, x.code)
			} else {
				if err != nil {
					t.Fatal(err)
				}
				c.send(&at, arms)
				o := b.executeAcknowledged(r)
				if !await.Holds(30*time.Second, func() bool {
					o, _, err = b.service.Order(o.ID)
					return err == nil && o.State == swap.Cancelled
				}) {
					t.Fatalf("%s %s %s", o.State, o.Condition, o.Reason)
				}
			}
			if n := b.signer.signed.Load() - signed; n < x.signs || x.signs == 0 && n != 0 {
				t.Errorf("%d signatures, want %d", n, x.signs)
			}
			b.wantContractBalance(safe)
			b.wantBalance(usdt, 5000e6)
		})
	}
}
