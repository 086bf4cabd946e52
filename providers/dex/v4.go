package dex

import (
	"fmt"
	"math/big"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/signer/core/apitypes"
)

// v4Types are the structs of exact input in routers from 2.1.1 on, which have a bound on
// the price of each pool (v4-sdk 2.4.0, V4_SWAP_ACTIONS_V2_1_1). Router 2.0 has no bounds,
// and its structs are refused. The native coin is address zero.
var v4Types = apitypes.Types{
	"PoolKey": {
		{Name: "currency0", Type: "address"}, {Name: "currency1", Type: "address"},
		{Name: "fee", Type: "uint24"}, {Name: "tickSpacing", Type: "int24"}, {Name: "hooks", Type: "address"},
	},
	"PathKey": {
		{Name: "intermediateCurrency", Type: "address"},
		{Name: "fee", Type: "uint24"}, {Name: "tickSpacing", Type: "int24"}, {Name: "hooks", Type: "address"},
		{Name: "hookData", Type: "bytes"},
	},
	"ExactInputSingle": {
		{Name: "poolKey", Type: "PoolKey"}, {Name: "zeroForOne", Type: "bool"},
		{Name: "amountIn", Type: "uint128"}, {Name: "amountOutMinimum", Type: "uint128"},
		{Name: "minHopPriceX36", Type: "uint256"}, {Name: "hookData", Type: "bytes"},
	},
	"ExactInput": {
		{Name: "currencyIn", Type: "address"}, {Name: "path", Type: "PathKey[]"},
		{Name: "minHopPriceX36", Type: "uint256[]"}, // none, or one for each pool
		{Name: "amountIn", Type: "uint128"}, {Name: "amountOutMinimum", Type: "uint128"},
	},
}

// pools returns the pool versions to request: the support table's, without V4 where an end
// is the wrapped coin: routes over V4's pools of the native coin then have commands that
// are not understood.
func (pr tokenPair) pools(r swap.QuoteRequest) []string {
	list := slices.Clone(swap.SupportOf(swap.DEX, r.SrcChain).Pools)
	if r.TokenIn == pr.wrapped || r.TokenOut == pr.wrapped {
		list = slices.DeleteFunc(list, func(version string) bool { return version == "V4" })
	}
	return list
}

// An action is an action of V4_SWAP that is understood: its only form, and what it does
// while the pool manager is unlocked.
type action struct {
	name string
	form abi.Arguments
	run  func(*unlockedMachine, []any) error
}

// actions are those that exact input needs (v4-periphery, libraries/Actions.sol). Every
// other one is refused.
var actions = map[byte]action{
	0x06: {"SWAP_EXACT_IN_SINGLE", encodedForm(v4Types, "ExactInputSingle"), runV4Single},
	0x07: {"SWAP_EXACT_IN", encodedForm(v4Types, "ExactInput"), runV4Path},
	0x0b: {"SETTLE", words("address", "uint256", "bool"), runSettle},
	0x0c: {"SETTLE_ALL", words("address", "uint256"), runSettleAll},
	0x0e: {"TAKE", tokenPayment[0], runTake},
	0x0f: {"TAKE_ALL", words("address", "uint256"), runTakeAll},
	0x10: {"TAKE_PORTION", tokenPayment[0], runTakePortion},
}

// runV4 runs the actions of one V4_SWAP. At its end every debt must be settled and every
// credit taken, or the pool manager reverts.
func runV4(m *machine, a []any) error {
	codes, params := a[0].([]byte), a[1].([][]byte)
	if len(codes) == 0 || len(codes) > maxCommands || len(codes) != len(params) {
		return refuse(swap.Undecodable, "actions", "%d actions with %d inputs", len(codes), len(params))
	}
	u := &unlockedMachine{machine: m, deltas: map[common.Address]*delta{}}
	for i, code := range codes {
		if err := u.act(code, params[i]); err != nil {
			return fmt.Errorf("action %d: %w", i, err)
		}
	}
	for currency := range u.deltas {
		return refuse(swap.Undecodable, "actions", "%s is neither settled nor taken", currency)
	}
	return nil
}

func (u *unlockedMachine) act(code byte, params []byte) error {
	x, ok := actions[code]
	if !ok {
		return refuse(swap.Undecodable, "actions", "action %#02x is not one that a swap of an exact input needs", code)
	}
	vals, err := unpackStrict(x.form, params)
	if err == nil {
		err = x.run(u, vals)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", x.name, err)
	}
	return nil
}

// structFrom returns the struct that is an action's only argument. The abi package does not
// check that numbers of unusual sizes fit, so it is done here.
func structFrom(name string, a []any) (values, error) {
	v := decoded(v4Types, name, reflect.ValueOf(a[0]))
	if !v.fit(name) {
		return nil, refuse(swap.Undecodable, "data", "a number that does not fit its type")
	}
	return v, nil
}

func (v values) fit(name string) bool {
	for _, m := range v4Types[name] {
		switch x := v[m.Name].(type) {
		case values:
			if !x.fit(m.Type) {
				return false
			}
		case []any:
			for _, e := range x {
				if e, ok := e.(values); ok && !e.fit(strings.TrimSuffix(m.Type, "[]")) {
					return false
				}
			}
		case *big.Int:
			bits, _ := strconv.Atoi(strings.TrimLeft(m.Type, "uint")) // of uint24, int24, …
			if strings.HasPrefix(m.Type, "int") {
				bits--
			}
			if x.BitLen() > bits {
				return false
			}
		}
	}
	return true
}

func runV4Single(u *unlockedMachine, a []any) error {
	v, err := structFrom("ExactInputSingle", a)
	if err != nil {
		return err
	}
	key := v["poolKey"].(values)
	in, out := key["currency0"].(common.Address), key["currency1"].(common.Address)
	if in.Cmp(out) >= 0 {
		return refuse(swap.Undecodable, "path", "no pool has its currencies in this order")
	}
	if !v["zeroForOne"].(bool) {
		in, out = out, in
	}
	if err := noHookData(v); err != nil {
		return err
	}
	return u.swap([]common.Address{in, out}, v)
}

func runV4Path(u *unlockedMachine, a []any) error {
	v, err := structFrom("ExactInput", a)
	if err != nil {
		return err
	}
	route := []common.Address{v["currencyIn"].(common.Address)}
	for _, hop := range v["path"].([]any) {
		if err := noHookData(hop.(values)); err != nil {
			return err
		}
		route = append(route, hop.(values)["intermediateCurrency"].(common.Address))
	}
	if n := len(v["minHopPriceX36"].([]any)); n != 0 && n != len(route)-1 {
		return refuse(swap.Undecodable, "path", "%d bounds on the prices of %d pools", n, len(route)-1)
	}
	return u.swap(route, v)
}

// noHookData refuses data for a pool's hook, which only the hook understands. The vendor's
// own routes have none (v4-sdk 2.4.0, encodeRouteToPath).
func noHookData(pool values) error {
	if n := len(pool["hookData"].([]byte)); n > 0 {
		return refuse(swap.Undecodable, "hookData", "%d bytes for the hook of a pool", n)
	}
	return nil
}

func runSettle(u *unlockedMachine, a []any) error {
	return u.settle(a[0].(common.Address), a[1].(*big.Int), a[2].(bool))
}

func runSettleAll(u *unlockedMachine, a []any) error {
	return u.settleAll(a[0].(common.Address), a[1].(*big.Int))
}

func runTake(u *unlockedMachine, a []any) error {
	return u.take(a[0].(common.Address), a[1].(common.Address), a[2].(*big.Int))
}

func runTakeAll(u *unlockedMachine, a []any) error {
	return u.takeAll(a[0].(common.Address), a[1].(*big.Int))
}

func runTakePortion(u *unlockedMachine, a []any) error {
	return u.takePortion(a[0].(common.Address), a[1].(common.Address), a[2].(*big.Int))
}
