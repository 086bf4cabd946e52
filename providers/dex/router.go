package dex

import (
	"encoding/binary"
	"fmt"
	"math/big"
	"time"

	"swapkeep/chain"
	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common"
)

// Values that have a special meaning to the Universal Router.
var (
	msgSender   = common.HexToAddress("0x0000000000000000000000000000000000000001") // the caller
	addressThis = common.HexToAddress("0x0000000000000000000000000000000000000002")
	// contractBalance as an amount means all that the router holds.
	contractBalance = new(big.Int).Lsh(big.NewInt(1), 255)
)

const (
	maxCommands = 24
	maxHops     = 4 // pools in one path; the API's own router stops at 3
	addressLen  = 20
	feeLen      = 3 // the fee of a V3 pool, between two tokens of a path
)

// allowRevert is the command bit that lets a command fail without reverting the call.
const allowRevert = 0x80

// A command is a router command that is understood: the forms that its input may have, and
// what it does to the machine.
type command struct {
	name  string
	forms []abi.Arguments
	run   func(*machine, []any) error
}

// minHops is the array of price bounds that routers from 2.1.1 on read after a
// swap's other arguments. It can only make the swap fail.
const minHops = "uint256[]"

var (
	recipientAmount = []abi.Arguments{words("address", "uint256")}
	tokenPayment    = []abi.Arguments{words("address", "address", "uint256")}
)

// Commands that swap.
const (
	v3Swap = 0x00
	v2Swap = 0x08
)

// commands are those that a classic route consists of (Universal Router 2.1,
// contracts/libraries/Commands.sol). Every other one is refused.
var commands = map[byte]command{
	v3Swap: {"V3_SWAP_EXACT_IN", []abi.Arguments{
		words("address", "uint256", "uint256", "bytes", "bool"),
		words("address", "uint256", "uint256", "bytes", "bool", minHops),
	}, runV3},
	v2Swap: {"V2_SWAP_EXACT_IN", []abi.Arguments{
		words("address", "uint256", "uint256", "address[]", "bool"),
		words("address", "uint256", "uint256", "address[]", "bool", minHops),
	}, runV2},
	0x04: {"SWEEP", tokenPayment, runSweep},
	0x06: {"PAY_PORTION", tokenPayment, runPortion},
	0x07: {"PAY_PORTION_FULL_PRECISION", tokenPayment, runPortionFullPrecision},
	0x0a: {"PERMIT2_PERMIT", []abi.Arguments{permitArgs}, runPermit},
	0x0b: {"WRAP_ETH", recipientAmount, runWrap},
	0x0c: {"UNWRAP_WETH", recipientAmount, runUnwrap},
	0x10: {"V4_SWAP", []abi.Arguments{words("bytes", "bytes[]")}, runV4},
}

// refusedCommands names commands for the refusal only.
var refusedCommands = map[byte]string{
	0x01: "V3_SWAP_EXACT_OUT", 0x02: "PERMIT2_TRANSFER_FROM", 0x03: "PERMIT2_PERMIT_BATCH", 0x05: "TRANSFER",
	0x09: "V2_SWAP_EXACT_OUT", 0x0d: "PERMIT2_TRANSFER_FROM_BATCH", 0x0e: "BALANCE_CHECK_ERC20",
	0x13: "V4_INITIALIZE_POOL", 0x21: "EXECUTE_SUB_PLAN", 0x40: "ACROSS_V4_DEPOSIT_V3",
}

var executeArgs = words("bytes", "bytes[]", "uint256")

// readExecute returns what certainly happens when the router executes.
func readExecute(t swap.Terms, pr tokenPair, c chain.Call, args []byte) (swap.Effect, error) {
	m, deadline, err := execute(t, pr, c, args)
	if err != nil {
		return swap.Effect{}, err
	}
	return m.effect(time.Unix(deadline, 0)), nil
}

// execute runs the router's commands on an empty router. deadline is in Unix seconds.
func execute(t swap.Terms, pr tokenPair, c chain.Call, args []byte) (m *machine, deadline int64, err error) {
	vals, err := unpackStrict(executeArgs, args)
	if err != nil {
		return nil, 0, err
	}
	ops, inputs, until := vals[0].([]byte), vals[1].([][]byte), vals[2].(*big.Int)
	switch {
	case len(ops) == 0 || len(ops) > maxCommands || len(ops) != len(inputs):
		return nil, 0, refuse(swap.Undecodable, "data", "%d commands with %d inputs", len(ops), len(inputs))
	case !until.IsInt64() || until.Int64() > t.Deadline.Unix():
		return nil, 0, refuse(swap.NotAsAccepted, "deadline", "the swap is still valid after the accepted deadline %s", t.Deadline.UTC().Format(time.RFC3339))
	}
	value := new(big.Int)
	if t.TokenIn == nativeCoin {
		value = t.AmountIn
	}
	if c.Value.Cmp(value) != 0 {
		return nil, 0, refuse(swap.NotAsAccepted, "value", "the transaction sends another amount of the coin than is swapped").WithAmounts(swap.OfCoin, c.Value, value)
	}
	m = newMachine(t, pr, value)
	for i, op := range ops {
		if err := m.step(op, inputs[i]); err != nil {
			return nil, 0, fmt.Errorf("command %d: %w", i, err)
		}
	}
	return m, until.Int64(), m.finish()
}

// permitIn returns the permit in a router call that was decoded before, nil for none.
func permitIn(t swap.Terms, pr tokenPair, c chain.Call) (*signedPermit, error) {
	args, _, err := splitTag(c.Data[len(executeFn):])
	if err != nil {
		return nil, err
	}
	m, _, err := execute(t, pr, c, args)
	if err != nil {
		return nil, err
	}
	return m.permit, nil
}

func (m *machine) step(op byte, input []byte) error {
	c, ok := commands[op]
	switch {
	case op&allowRevert != 0:
		return refuse(swap.Undecodable, "commands", "a command may fail unnoticed")
	case !ok && refusedCommands[op] != "":
		return refuse(swap.Undecodable, "commands", "%s has no place in a classic route", refusedCommands[op])
	case !ok:
		return refuse(swap.Undecodable, "commands", "command %#02x is unknown", op)
	}
	if op != v3Swap && op != v2Swap {
		if err := m.checkNoPrepayment(); err != nil {
			return err
		}
	}
	var vals []any
	var err error
	for _, form := range c.forms { // at most one fits: the encoding is canonical
		if vals, err = unpackStrict(form, input); err == nil {
			break
		}
	}
	if err == nil {
		err = c.run(m, vals)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", c.name, err)
	}
	return nil
}

// A leg is one swap command of either pool version.
type leg struct {
	to       common.Address
	in, min  *big.Int
	path     []common.Address
	fromUser bool
	// byBalance: min is compared with what the balance of to grew by while the pools were
	// called, whoever paid it; otherwise with what the last pool reports that it paid.
	byBalance bool
}

func runV3(m *machine, a []any) error {
	path, err := v3Path(a[3].([]byte))
	if err != nil {
		return err
	}
	return m.swap(leg{a[0].(common.Address), a[1].(*big.Int), a[2].(*big.Int), path, a[4].(bool), false})
}

func runV2(m *machine, a []any) error {
	return m.swap(leg{a[0].(common.Address), a[1].(*big.Int), a[2].(*big.Int), a[3].([]common.Address), a[4].(bool), true})
}

// v3Path returns the tokens of token (20 bytes) fee (3) token (20) …, to the last byte.
func v3Path(b []byte) ([]common.Address, error) {
	const hop = addressLen + feeLen
	if len(b) < hop+addressLen || (len(b)-addressLen)%hop != 0 {
		return nil, refuse(swap.Undecodable, "path", "a path of %d bytes is not whole pools", len(b))
	}
	path := []common.Address{common.BytesToAddress(b[:addressLen])}
	for rest := b[addressLen:]; len(rest) > 0; rest = rest[hop:] {
		if fee := binary.BigEndian.Uint32(append([]byte{0}, rest[:feeLen]...)); fee == 0 || fee >= 1_000_000 {
			return nil, refuse(swap.Undecodable, "path", "no pool has a fee of %d", fee)
		}
		path = append(path, common.BytesToAddress(rest[feeLen:hop]))
	}
	return path, nil
}

// sweptBits is how much of a sweep's minimum the router reads (Dispatcher.sol of Universal
// Router 2.1: uint160 amountMin). A longer one would be cut to a smaller one, or to none.
const sweptBits = 160

func runSweep(m *machine, a []any) error {
	if a[2].(*big.Int).BitLen() > sweptBits {
		return refuse(swap.Undecodable, "minAmountOut", "a minimum of which the router reads a part")
	}
	return m.sweep(a[0].(common.Address), a[1].(common.Address), a[2].(*big.Int))
}

func runPortion(m *machine, a []any) error {
	return m.payPortion(a[0].(common.Address), a[1].(common.Address), a[2].(*big.Int))
}

// runPortionFullPrecision reads a share, 1e18 = 100 %. Only whole basis points are accepted.
func runPortionFullPrecision(m *machine, a []any) error {
	bips, rest := new(big.Int).QuoRem(a[2].(*big.Int), big.NewInt(1e14), new(big.Int))
	if rest.Sign() != 0 {
		return refuse(swap.Undecodable, "fee", "a fee that is not of whole basis points")
	}
	return m.payPortion(a[0].(common.Address), a[1].(common.Address), bips)
}

func runWrap(m *machine, a []any) error {
	return m.wrap(a[0].(common.Address), a[1].(*big.Int))
}

func runUnwrap(m *machine, a []any) error {
	return m.unwrap(a[0].(common.Address), a[1].(*big.Int))
}
