package dex

import (
	"math/big"
	"strings"
	"testing"
	"time"

	"swapkeep/chain"
	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common"
)

// The parties in this package's tests.
var (
	testAccount  = common.HexToAddress("0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266") // public test key
	testFriend   = common.HexToAddress("0x70997970C51812dc3A010C7d01b50e0d17dc79C8")
	testFeeTo    = common.HexToAddress("0x90F79bf6EB2c4f870365E785982E1f101E93b906")
	testMaker    = common.HexToAddress("0x000000fee13a103A10D593b9AE06b3e05F2E7E1c")
	testAttacker = common.HexToAddress("0xBadBadBadBadBadBadBadBadBadBadBadBadBad0")

	base, _  = deploymentOn(8453)
	testUSDC = common.HexToAddress("0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913")
	testDAI  = common.HexToAddress("0x50c5725949A6F0c72E6C4a641F24049A917DB0Cb")

	testDeadline = time.Unix(1_800_000_000, 0).UTC()
	oneEther     = new(big.Int).Exp(big.NewInt(10), big.NewInt(18), nil)
)

// ethToUSDC are the terms of most tests: 1 ETH for at least 2000 USDC on Base, 20 bps for
// us, at most 20 for the maker.
func ethToUSDC() swap.Terms {
	return swap.Terms{
		Provider: swap.DEX, Account: testAccount, Recipient: testAccount, RefundTo: testAccount,
		SrcChain: base.chain, DstChain: base.chain, TokenOut: testUSDC,
		AmountIn: new(big.Int).Set(oneEther), MinOut: big.NewInt(2_000_000_000), Deadline: testDeadline,
		FeeBps: 20, FeeReceiver: testFeeTo, MakerFeeBps: 20, GasCeiling: oneEther,
	}
}

// An op is one command of a test program.
type op struct {
	code byte
	form int
	args []any
}

func ops(list ...op) []op { return list }

// Shorthands for the commands.
func wrapOp(to common.Address, n *big.Int) op { return op{0x0b, 0, []any{to, n}} }
func unwrapOp(to common.Address, n int64) op  { return op{0x0c, 0, []any{to, big.NewInt(n)}} }
func sweepOp(token, to common.Address, n int64) op {
	return op{0x04, 0, []any{token, to, big.NewInt(n)}}
}
func portionOp(token, to common.Address, bips int64) op {
	return op{0x06, 0, []any{token, to, big.NewInt(bips)}}
}
func v3Op(to common.Address, in *big.Int, min int64, fromUser bool, path ...common.Address) op {
	return op{0x00, 0, []any{to, in, big.NewInt(min), v3Bytes(path...), fromUser}}
}
func v2Op(to common.Address, in *big.Int, min int64, fromUser bool, path ...common.Address) op {
	return op{0x08, 0, []any{to, in, big.NewInt(min), path, fromUser}}
}

func v3Bytes(path ...common.Address) []byte {
	var b []byte
	for i, token := range path {
		if i > 0 {
			b = append(b, 0, 1, 0xf4)
		}
		b = append(b, token[:]...)
	}
	return b
}

// program returns the calldata of a list of commands.
func program(t interface{ Fatal(...any) }, deadline int64, list []op) []byte {
	codes := make([]byte, len(list))
	inputs := make([][]byte, len(list))
	for i, o := range list {
		packed, err := commands[o.code].forms[o.form].Pack(o.args...)
		if err != nil {
			t.Fatal(err)
		}
		codes[i], inputs[i] = o.code, packed
	}
	return executeCall(t, codes, inputs, deadline)
}

func executeCall(t interface{ Fatal(...any) }, codes []byte, inputs [][]byte, deadline int64) []byte {
	args, err := executeArgs.Pack(codes, inputs, big.NewInt(deadline))
	if err != nil {
		t.Fatal(err)
	}
	return append(executeFn[:], args...)
}

// decode decodes calldata for the router of the terms' chain.
func decode(t swap.Terms, data []byte) (swap.Effect, error) {
	value := new(big.Int)
	if t.TokenIn == nativeCoin {
		value.Set(t.AmountIn)
	}
	d, err := deploymentOn(t.SrcChain)
	if err != nil {
		return swap.Effect{}, err
	}
	c := chain.Call{ChainID: t.SrcChain, From: t.Account, To: d.router, Value: value, Data: data}
	return (&Provider{}).Decode(t, swap.Step{Kind: swap.CallStep, Call: &c})
}

// checked decodes calldata and checks its effect against the terms, as the service does. A
// permit in the calldata counts as signed before.
func checked(t swap.Terms, data []byte) (swap.Effect, error) {
	f, err := decode(t, data)
	if err != nil {
		return f, err
	}
	effects := []swap.Effect{f}
	if len(f.Approves) > 0 {
		effects = []swap.Effect{{Kind: swap.Permit, Chain: f.Chain, Target: permit2, Approves: f.Approves, Deadline: f.Deadline, Nonce: new(big.Int)}, f}
	}
	return f, swap.Check(t, effects, (&Provider{}).Pins())
}

// honest is the program of an honest reply for ethToUSDC.
func honest() []op {
	return ops(
		wrapOp(addressThis, oneEther),
		v3Op(addressThis, oneEther, 0, false, base.wrapped, testUSDC),
		portionOp(testUSDC, testFeeTo, 20),
		sweepOp(testUSDC, msgSender, 2_000_000_000),
	)
}

func TestHonestProgram(t *testing.T) {
	f, err := checked(ethToUSDC(), program(t, testDeadline.Unix(), honest()))
	if err != nil {
		t.Fatal(err)
	}
	if f.Receives[0].Min.Int64() != 2_000_000_000 || f.Receives[0].To != testAccount || !f.Deadline.Equal(testDeadline) {
		t.Errorf("effect %+v", f)
	}
}

// TestRecipientPassedOver checks that calldata which pays the account instead of another
// recipient is refused with that reason.
func TestRecipientPassedOver(t *testing.T) {
	toFriend, native := ethToUSDC(), nativeOut()
	toFriend.Recipient, native.Recipient = testFriend, testFriend
	noFee := toFriend
	noFee.FeeBps, noFee.FeeReceiver = 0, nativeCoin
	for name, c := range map[string]struct {
		terms swap.Terms
		list  []op
	}{
		"swept":     {toFriend, honest()},
		"straight":  {noFee, ops(wrapOp(addressThis, oneEther), v3Op(testAccount, oneEther, 2_000_000_000, false, base.wrapped, testUSDC))},
		"unwrapped": {native, ops(v3Op(addressThis, native.AmountIn, 0, true, native.TokenIn, base.wrapped), unwrapOp(msgSender, 1))},
	} {
		_, err := decode(c.terms, program(t, testDeadline.Unix(), c.list))
		if codeOf(err) != swap.NotAsAccepted || !strings.Contains(err.Error(), "passed over the recipient") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
