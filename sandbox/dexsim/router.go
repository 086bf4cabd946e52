package dexsim

import (
	"fmt"
	"math/big"

	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"
)

// A command is a Universal Router command.
type command byte

const (
	v3SwapExactIn command = 0x00
	sweep         command = 0x04
	payPortion    command = 0x06
	v2SwapExactIn command = 0x08
	permit2Permit command = 0x0a
	wrapETH       command = 0x0b
	unwrapWETH    command = 0x0c
	v4Swap        command = 0x10
)

// routerItself is the recipient value that means the router.
var routerItself = common.BigToAddress(big.NewInt(2))

// contractBalance is the amount value that means the whole balance.
var contractBalance = new(big.Int).Lsh(big.NewInt(1), 255)

// inputTypes are the inputs of each command as of router 2.1.2. Its swaps end with a list
// of minimum prices per hop, which is left empty.
var inputTypes = map[command]abi.Arguments{
	v3SwapExactIn: arguments("address", "uint256", "uint256", "bytes", "bool", "uint256[]"),
	v2SwapExactIn: arguments("address", "uint256", "uint256", "address[]", "bool", "uint256[]"),
	sweep:         arguments("address", "address", "uint256"),
	payPortion:    arguments("address", "address", "uint256"),
	wrapETH:       arguments("address", "uint256"),
	unwrapWETH:    arguments("address", "uint256"),
	v4Swap:        arguments("bytes", "bytes[]"),
	permit2Permit: append(permitArgument(), arguments("bytes")...),
}

var (
	executeSelector  = crypto.Keccak256([]byte("execute(bytes,bytes[],uint256)"))[:4]
	executeArguments = arguments("bytes", "bytes[]", "uint256")
)

func arguments(names ...string) abi.Arguments {
	args := make(abi.Arguments, len(names))
	for i, name := range names {
		t, err := abi.NewType(name, "", nil)
		if err != nil {
			panic(fmt.Sprintf("abi type %s: %v", name, err)) // names are literals in this package
		}
		args[i].Type = t
	}
	return args
}

func permitArgument() abi.Arguments {
	t, err := abi.NewType("tuple", "", []abi.ArgumentMarshaling{
		{Name: "details", Type: "tuple", Components: []abi.ArgumentMarshaling{
			{Name: "token", Type: "address"}, {Name: "amount", Type: "uint160"},
			{Name: "expiration", Type: "uint48"}, {Name: "nonce", Type: "uint48"},
		}},
		{Name: "spender", Type: "address"},
		{Name: "sigDeadline", Type: "uint256"},
	})
	if err != nil {
		panic(fmt.Sprintf("abi type of a permit: %v", err)) // a literal above
	}
	return abi.Arguments{{Type: t}}
}

// A program is the list of commands of one router transaction. It keeps its first error.
type program struct {
	commands []byte
	inputs   [][]byte
	err      error
}

func (p *program) add(c command, values ...any) {
	input, err := inputTypes[c].Pack(values...)
	if err != nil && p.err == nil {
		p.err = fmt.Errorf("router command %02x: %w", byte(c), err)
	}
	p.commands = append(p.commands, byte(c))
	p.inputs = append(p.inputs, input)
}

// calldata encodes a call of execute with the program and the deadline, in Unix seconds.
func (p *program) calldata(deadline int64) ([]byte, error) {
	if p.err != nil {
		return nil, p.err
	}
	packed, err := executeArguments.Pack(p.commands, p.inputs, big.NewInt(deadline))
	if err != nil {
		return nil, err
	}
	return append(append([]byte{}, executeSelector...), packed...), nil
}
