package engine

import (
	"errors"
	"math/big"
	"slices"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/core/vm"
	"github.com/ethereum/go-ethereum/core/vm/program"
	"github.com/ethereum/go-ethereum/crypto"

	"swapkeep/chain"
	"swapkeep/swap"
	"swapkeep/test/await"
)

// Jump destinations of every attacking contract: its code begins with a jump over a
// revert.
const (
	failsAt  = 3
	beginsAt = 7
)

func maliciousPreamble() *program.Program {
	return program.New().Push(beginsAt).Op(vm.JUMP, vm.JUMPDEST, vm.PUSH0, vm.PUSH0, vm.REVERT, vm.JUMPDEST)
}

// puppet calls the address in the first word of its calldata with the rest of it.
func puppet() []byte {
	return maliciousPreamble().
		Push(32).Op(vm.CALLDATASIZE, vm.SUB, vm.DUP1).Push(32).Push(0).Op(vm.CALLDATACOPY).
		Push(0).Push(0).Op(vm.DUP3).Push(0).Push(0).Push(0).Op(vm.CALLDATALOAD, vm.GAS, vm.CALL).
		Op(vm.ISZERO).Push(failsAt).Op(vm.JUMPI, vm.STOP).Bytes()
}

// chameleon does a transferFrom of the token in its first word. The amount is the word
// after the call's data while it is simulated, and the next word in a block. In a
// simulation it wastes some gas, so that the estimate suffices in a block.
func chameleon() []byte {
	return maliciousPreamble().
		Op(vm.GASPRICE, vm.ISZERO).Push(100_000).Op(vm.MUL).Push(0).Op(vm.KECCAK256, vm.POP).
		Push(100).Push(32).Push(0).Op(vm.CALLDATACOPY).
		Op(vm.GASPRICE, vm.ISZERO, vm.ISZERO).Push(32).Op(vm.MUL).Push(132).Op(vm.ADD, vm.CALLDATALOAD).Push(68).Op(vm.MSTORE).
		Push(0).Push(0).Push(100).Push(0).Push(0).Push(0).Op(vm.CALLDATALOAD, vm.GAS, vm.CALL).
		Op(vm.ISZERO).Push(failsAt).Op(vm.JUMPI, vm.STOP).Bytes()
}

// A maliciousContract is an attacker with an account and contracts on the bench's chain.
type maliciousContract struct {
	b       *engineFixture
	address common.Address
	sign    func(*types.DynamicFeeTx) *types.Transaction
	nonce   uint64
}

func (b *engineFixture) newMaliciousContract() *maliciousContract {
	b.t.Helper()
	key, err := crypto.GenerateKey()
	if err != nil {
		b.t.Fatal(err)
	}
	c := &maliciousContract{b: b, address: crypto.PubkeyToAddress(key.PublicKey)}
	c.sign = func(tx *types.DynamicFeeTx) *types.Transaction {
		return types.MustSignNewTx(key, types.LatestSignerForChainID(tx.ChainID), tx)
	}
	if err := b.chain.Fund(b.t.Context(), c.address, native, big.NewInt(1e18)); err != nil {
		b.t.Fatal(err)
	}
	return c
}

// send has a transaction mined, whether it succeeds or not.
func (c *maliciousContract) send(to *common.Address, data []byte) {
	c.b.t.Helper()
	tx := c.sign(&types.DynamicFeeTx{ChainID: big.NewInt(1), Nonce: c.nonce, To: to, Gas: 1_500_000, GasFeeCap: big.NewInt(5e11), GasTipCap: big.NewInt(2e9), Data: data})
	c.nonce++
	client := c.b.chain.Client()
	var refused error // the pool may be a block behind
	if !await.Holds(10*time.Second, func() bool {
		refused = client.SendTransaction(c.b.t.Context(), tx)
		r, err := client.TransactionReceipt(c.b.t.Context(), tx.Hash())
		if err != nil || r == nil {
			return false
		}
		head, err := client.BlockNumber(c.b.t.Context())
		return err == nil && head >= r.BlockNumber.Uint64() // a receipt may be readable before its block is the latest
	}) {
		c.b.t.Fatalf("not mined: %v", refused)
	}
}

// deployRuntime creates a contract with the given runtime code.
func (c *maliciousContract) deployRuntime(code []byte) common.Address {
	return c.deployInit(program.New().ReturnViaCodeCopy(code).Bytes())
}

// deployInit creates a contract with the given init code.
func (c *maliciousContract) deployInit(code []byte) common.Address {
	at := crypto.CreateAddress(c.address, c.nonce)
	c.send(nil, code)
	return at
}

// deployPinned creates a contract of the crook's that is built in, as nothing shows whose it
// is.
func (h *depositProvider) deployPinned(c *maliciousContract, code []byte) common.Address {
	at := c.deployRuntime(code)
	h.pin(at)
	return at
}

// pullCalldata returns calldata for a puppet that transfers n of token to the crook.
func (c *maliciousContract) pullCalldata(token, from common.Address, n uint64) []byte {
	return slices.Concat(pad(token), common.FromHex("0x23b872dd"), pad(from), pad(c.address), word(n))
}

// callTarget makes the hander's plans call a with data. For a token input, a is the spender as
// well.
func (h *depositProvider) callTarget(a common.Address, data []byte) {
	h.set(func(h *depositProvider) {
		h.alterBuilt = func(built *swap.Built) {
			c := built.Steps[0].Call
			if c.To, c.Data = a, data; c.Value.Sign() == 0 {
				built.Spender = a
			}
		}
	})
}

func (b *engineFixture) wantBalance(token common.Address, want int64) {
	b.t.Helper()
	if got, err := b.hub.Balance(b.t.Context(), 1, b.from, token); err != nil || got.Int64() != want {
		b.t.Errorf("the account has %v of %s, want %d (%v)", got, token, want, err)
	}
}

// TestOpaqueCallAndAnotherAllowance checks that an opaque call is refused if its contract
// already has an allowance of another token: a contract that detects simulations would
// take that token where no simulation shows it.
func TestOpaqueCallAndAnotherAllowance(t *testing.T) {
	for name, allow := range map[string]func(b *engineFixture, at common.Address){
		"on the wallet's list": func(b *engineFixture, at common.Address) {
			b.service.engine.Planner.Tokens = func(uint64) []common.Address { return []common.Address{usdt} }
			b.approveFor(at, usdt, 4000e6)
		},
		"by Permit2": func(b *engineFixture, at common.Address) {
			b.approvePermit2(usdc, 4000e6)
			b.service.engine.Planner.Tokens = func(uint64) []common.Address { return []common.Address{usdc} }
			b.mineCall(chain.Call{ChainID: 1, From: b.from, To: permit2, Value: new(big.Int),
				Data: slices.Concat(common.FromHex("0x87517c45"), pad(usdc), pad(at), word(4000e6), word(uint64(b.now().Add(time.Hour).Unix())))})
		},
		"of an order that was ended": func(b *engineFixture, at common.Address) {
			r, err := b.reviewDeposit(usdt, thousand)
			if err != nil {
				b.t.Fatal(err)
			}
			b.chain.Pause()
			o := b.executeAcknowledged(r)
			b.waitUntil(o.ID, "approving", func(o swap.Order) bool { return o.CurrentTx != common.Hash{} })
			b.signer.locked.Store(true)
			b.chain.Resume()
			b.waitUntil(o.ID, "approved", func(o swap.Order) bool { return o.Step == 1 })
			if _, err := b.service.Cancel(b.t.Context(), cancelOf(o)); err != nil {
				b.t.Fatal(err)
			}
			b.waitState(o.ID, swap.Cancelled)
			b.signer.locked.Store(false)
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newEngineFixture(t)
			h := b.useDepositProvider(swap.Opaque)
			c := b.newMaliciousContract()
			at := h.deployPinned(c, chameleon())
			take := func(tried, done uint64) []byte {
				return slices.Concat(pad(usdt), common.FromHex("0x23b872dd"), pad(b.from), pad(c.address), word(0), word(tried), word(done))
			}
			h.callTarget(at, take(thousand, thousand))
			allow(b, at)
			h.callTarget(at, take(0, thousand))
			_, err := b.reviewDeposit(native, 1e15)
			refusedWith(t, err, swap.NotAsAccepted)
			b.wantBalance(usdt, 5000e6)
		})
	}
}

// TestAllowanceAfterTheReview checks that allowances are examined again before signing,
// and that an allowance which another open order is about to use at the same contract
// does not block.
func TestAllowanceAfterTheReview(t *testing.T) {
	b := newEngineFixture(t)
	h := b.useDepositProvider(swap.Opaque)
	b.service.engine.Planner.Tokens = func(uint64) []common.Address { return []common.Address{usdt} }
	r, err := b.reviewDeposit(native, 1e15)
	if err != nil {
		t.Fatal(err)
	}
	h.set(func(h *depositProvider) { h.alterBuilt = nil })
	b.approveFor(depot, usdt, thousand)
	if o := b.waitState(b.executeAcknowledged(r).ID, swap.Cancelled); o.Verdict.ProvenBy != swap.ProvenByWithdrawn {
		t.Errorf("%+v", o.Verdict)
	}
	_, err = b.reviewDeposit(native, 1e15)
	refusedWith(t, err, swap.NotAsAccepted)
	token, err := b.reviewDeposit(usdt, thousand)
	if err != nil {
		t.Fatal(err)
	}
	b.signer.locked.Store(true)
	o := b.executeAcknowledged(token)
	b.waitUntil(o.ID, "waiting", func(o swap.Order) bool { return o.Condition == swap.WaitingForUnlock })
	b.clockOffset.Add(int64(2 * time.Second)) // plans made in the same second would be identical
	if r, err = b.reviewDeposit(native, 1e15); err != nil {
		t.Fatal(err)
	}
	b.signer.locked.Store(false)
	b.waitSettling(b.executeAcknowledged(r).ID)
	b.waitSettling(o.ID)
	b.wantBalance(usdt, 4000e6)
}

// TestPlainTransferIsNoCall checks that an opaque step needs calldata with a selector.
func TestPlainTransferIsNoCall(t *testing.T) {
	b := newEngineFixture(t)
	h := b.useDepositProvider(swap.Opaque)
	at := h.deployForwarder()
	for _, data := range [][]byte{nil, {1, 2, 3}} {
		h.callTarget(at, data)
		_, err := b.reviewDeposit(native, 1e15)
		refusedWith(t, err, swap.Undecodable)
	}
	if b.signer.signed.Load() != 0 {
		t.Error("signed")
	}
}

// TestSimulationIsKnown checks that a contract that takes the amount in a simulation and
// twice the amount in a block gets nothing, since only the amount is allowed.
func TestSimulationIsKnown(t *testing.T) {
	b := newEngineFixture(t)
	h := b.useDepositProvider(swap.Opaque)
	c := b.newMaliciousContract()
	at := h.deployPinned(c, chameleon())
	h.callTarget(at, slices.Concat(pad(usdc), common.FromHex("0x23b872dd"), pad(b.from), pad(c.address), word(0), word(thousand), word(2*thousand)))
	r, err := b.reviewDeposit(usdc, thousand)
	if err != nil {
		t.Fatal(err)
	}
	o := b.waitState(b.executeAcknowledged(r).ID, swap.Failed)
	b.wantBalance(usdc, 5000e6)
	b.wantNonce(2)
	if o.Verdict.ProvenBy != swap.ProvenByRevert || len(Leftovers(o)) != 1 {
		t.Errorf("%+v, left %+v", o.Verdict, Leftovers(o))
	}
}

// TestAllowanceTakenWithoutTheCall covers an approved contract that takes the amount by
// itself. It is not approved again, and the verdict says that the allowance was used.
func TestAllowanceTakenWithoutTheCall(t *testing.T) {
	b := newEngineFixture(t)
	h := b.useDepositProvider(swap.Opaque)
	c := b.newMaliciousContract()
	at := h.deployPinned(c, puppet())
	h.callTarget(at, c.pullCalldata(usdc, b.from, thousand))
	r, err := b.reviewDeposit(usdc, thousand)
	if err != nil {
		t.Fatal(err)
	}
	b.chain.Pause()
	o := b.executeAcknowledged(r)
	b.waitUntil(o.ID, "approving", func(o swap.Order) bool { return o.CurrentTx != common.Hash{} })
	b.signer.locked.Store(true)
	b.chain.Resume()
	b.waitUntil(o.ID, "approved", func(o swap.Order) bool { return o.Step == 1 })
	c.send(&at, c.pullCalldata(usdc, b.from, thousand))
	b.wantBalance(usdc, 4000e6)
	b.signer.locked.Store(false)
	b.service.Wake()
	time.Sleep(500 * time.Millisecond)
	b.wantNonce(1)
	b.clockOffset.Add(int64(30 * time.Minute))
	o = b.waitUntil(o.ID, "ended", func(o swap.Order) bool { return o.State.Final() })
	b.wantNonce(1)
	if o.State != swap.Expired || o.Verdict.ProvenBy != swap.ProvenByNeverSigned || o.Cause == nil || o.Cause.Reason != swap.AllowanceSpent || o.Cause.Data["spent"] != "1000000000" || o.Cause.Data["allowed"] != "1000000000" || o.Verdict.Sources != swap.NoSpendSigned {
		t.Errorf("%s: %s; %+v", o.State, o.Reason, o.Verdict)
	}
}

// TestTwoWindowsOneAllowance covers two plans for one contract, both made before either
// is executed, whose calls take all that is allowed: each takes its own amount, once.
func TestTwoWindowsOneAllowance(t *testing.T) {
	b := newEngineFixture(t)
	h := b.useDepositProvider(swap.Opaque)
	h.set(func(h *depositProvider) {
		h.alterBuilt = func(built *swap.Built) {
			built.Steps[0].Call.Data = slices.Concat(depositAll, pad(b.from), pad(usdc), make([]byte, 32))
		}
	})
	first, err := b.reviewDeposit(usdc, thousand)
	if err != nil {
		t.Fatal(err)
	}
	b.clockOffset.Add(int64(2 * time.Second))
	second, err := b.reviewDeposit(usdc, thousand)
	if err != nil {
		t.Fatal(err)
	}
	one, two := b.executeAcknowledged(first), b.executeAcknowledged(second)
	b.waitSettling(one.ID)
	b.waitSettling(two.ID)
	b.wantNonce(4)
	b.wantBalance(usdc, 3000e6)
	b.wantDepotAllowance(usdc, 0)
}

// TestRefreshedCallIsTriedAgain checks that a fresh quote's call is simulated again: one
// to the accepted contract that takes something else is not signed.
func TestRefreshedCallIsTriedAgain(t *testing.T) {
	for name, data := range map[string]func(b *engineFixture) []byte{
		"less": func(b *engineFixture) []byte {
			return slices.Concat(depositERC20, pad(b.from), pad(usdc), word(thousand-1), word(7))
		},
		"nothing": func(b *engineFixture) []byte {
			return slices.Concat(depositERC20, pad(b.from), pad(usdc), word(0), word(7))
		},
		"gives it away": func(b *engineFixture) []byte { return slices.Concat(erc20Approve, pad(thief), word(thousand)) },
	} {
		t.Run(name, func(t *testing.T) {
			b := newEngineFixture(t)
			h := b.useDepositProvider(swap.Opaque)
			r, err := b.reviewDeposit(usdc, thousand)
			if err != nil {
				t.Fatal(err)
			}
			b.signer.locked.Store(true)
			o := b.executeAcknowledged(r)
			b.waitUntil(o.ID, "waiting", func(o swap.Order) bool { return o.Condition == swap.WaitingForUnlock })
			h.set(func(h *depositProvider) {
				h.alterBuilt = func(built *swap.Built) { built.Steps[0].Call.Data = data(b) }
			})
			b.clockOffset.Add(int64(2 * time.Minute))
			b.signer.locked.Store(false)
			b.service.Wake()
			o = b.waitUntil(o.ID, "not carried out", func(o swap.Order) bool { return o.State.Final() || o.Condition == swap.NeedsConsent })
			b.wantNonce(1)
			b.wantBalance(usdc, 5000e6)
			if o.State == swap.Filled || len(o.Results) > 1 {
				t.Errorf("%s %q, %+v", o.State, o.Condition, o.Results)
			}
		})
	}
}

// TestQuoteWithAFailingAdapter checks that an adapter's panic or an invalid offer fails only the
// provider that caused it.
func TestQuoteWithAFailingAdapter(t *testing.T) {
	b := newEngineFixture(t)
	h := b.useDepositProvider(swap.Deposit)
	b.service.o.Providers[swap.DEX] = b.provider
	good := swap.Offer{AmountOut: big.NewInt(1e15), MinOut: big.NewInt(1e15), Expires: b.now().Add(time.Minute)}
	for name, quote := range map[string]func() swap.Offer{
		"panics":          func() swap.Offer { panic("index out of range") },
		"before it began": func() swap.Offer { o := good; o.Duration = -time.Second; return o },
		"too many": func() swap.Offer {
			o := good
			o.AmountOut = new(big.Int).Lsh(big.NewInt(1), 256)
			o.MinOut = o.AmountOut
			return o
		},
	} {
		b.provider.quote = func(swap.QuoteRequest) ([]swap.Offer, error) { return []swap.Offer{quote()}, nil }
		r := swap.QuoteRequest{Account: b.from, SrcChain: 1, TokenIn: native, AmountIn: big.NewInt(1e15), DstChain: 1, TokenOut: usdc}
		q, err := b.service.Quote(t.Context(), r, []swap.Kind{swap.DEX, swap.Intent}, nil)
		if err != nil || len(q.Offers) != 1 || q.Offers[0].Provider != h.Kind() || !errors.Is(q.Failures[swap.DEX], &swap.Refusal{Code: swap.ProviderInvalidResponse}) {
			t.Errorf("%s: %+v, %v", name, q, err)
		}
	}
}
