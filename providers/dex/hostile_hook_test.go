package dex_test

import (
	"bytes"
	"fmt"
	"math/big"
	"slices"
	"testing"

	"swapkeep/chain"
	"swapkeep/providers/dex"
	"swapkeep/providers/providertest"
	"swapkeep/sandbox/sandboxtest"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/params"
)

// TestHostileHook: for every form of program over V4 pools, a hook of each pool, or a token
// in the route, makes hostile calls at a moment of its choice. Each minimum is paid
// separately, or the swap fails.
func TestHostileHook(t *testing.T) {
	t.Parallel()
	x := newScam(t)
	hooked := *x
	hooked.armed = x.hook
	forms := dex.V4Forms(x.hook)
	for _, form := range forms {
		t.Run("a hook, "+form.Name, func(t *testing.T) {
			y := hooked.in(t)
			y.attacked(form)
			cut := hook{x.hook, sandboxtest.Calldata(t, "cut(uint256)", big.NewInt(9000))}
			if r := y.tries(form, x.rich, 1, cut); !r.tooLittle {
				t.Errorf("the hook keeps nine tenths: %+v", r)
			}
		})
	}
	for _, form := range dex.V4Forms(native) {
		t.Run("a token, "+form.Name, func(t *testing.T) { x.in(t).attacked(form) })
	}
	if t.Failed() {
		return
	}
	providertest.Report(t, fmt.Sprintf("hostile: dex: a hostile hook in %d forms of program, a hostile token in %d of them: all held", len(forms), len(dex.V4Forms(native))))
}

// hookBits are the permissions that a hook's address encodes: it is called before and after
// a swap, and may keep a part of the output.
const hookBits = 1<<7 | 1<<6 | 1<<2

// makesHook deploys a hostile hook at an address with those bits.
func (x *scam) makesHook() common.Address {
	x.t.Helper()
	code := sandboxtest.Contract(x.t, "HostileHook").Code
	for n := range int64(1 << 20) {
		salt := common.BigToHash(big.NewInt(n))
		at := crypto.CreateAddress2(params.DeterministicFactoryAddress, salt, crypto.Keccak256(code))
		if new(big.Int).SetBytes(at[18:]).Int64()&(1<<14-1) == hookBits {
			x.send(chain.Call{To: params.DeterministicFactoryAddress, Data: slices.Concat(salt[:], code), Gas: 3_000_000})
			return at
		}
	}
	x.t.Fatal("no address has the bits")
	return common.Address{}
}

// v4Pools makes two V4 pools of two tokens, one with and one without the hook.
func (x *scam) v4Pools(a common.Address, ofA *big.Int, b common.Address, ofB *big.Int) {
	x.t.Helper()
	if bytes.Compare(a[:], b[:]) > 0 {
		a, ofA, b, ofB = b, ofB, a, ofA
	}
	price := new(big.Int).Lsh(ofB, 192)
	price.Sqrt(price.Div(price, ofA))
	liquidity := new(big.Int).Mul(ofA, ofB)
	for _, hooks := range []common.Address{native, x.hook} {
		x.mayTake(a, x.chain.Network.V4().Liquidity, new(big.Int).Add(ofA, ofA))
		x.mayTake(b, x.chain.Network.V4().Liquidity, new(big.Int).Add(ofB, ofB))
		data, err := sandboxtest.Contract(x.t, "V4Liquidity").ABI.Pack("make", v4Key{a, b, big.NewInt(500), big.NewInt(10), hooks}, price, new(big.Int).Sqrt(liquidity))
		if err != nil {
			x.t.Fatal(err)
		}
		x.send(chain.Call{To: x.chain.Network.V4().Liquidity, Data: data, Gas: 3_000_000})
	}
}

type v4Key struct {
	Currency0, Currency1 common.Address
	Fee, TickSpacing     *big.Int
	Hooks                common.Address
}
