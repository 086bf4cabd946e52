package chain

import (
	"github.com/ethereum/go-ethereum/core/vm"
)

// Contracts of a few instructions, for the tests.

// revertCode reverts with its calldata.
var revertCode = []byte{
	byte(vm.CALLDATASIZE), byte(vm.PUSH0), byte(vm.PUSH0), byte(vm.CALLDATACOPY),
	byte(vm.CALLDATASIZE), byte(vm.PUSH0), byte(vm.REVERT),
}

// logCode emits its calldata as a log: the first n words are the topics, the rest is the
// data.
func logCode(n int) []byte {
	size := []byte{byte(vm.PUSH1), byte(32 * n), byte(vm.CALLDATASIZE), byte(vm.SUB)}
	code := append(size[:len(size):len(size)], byte(vm.PUSH1), byte(32*n), byte(vm.PUSH0), byte(vm.CALLDATACOPY))
	for i := n - 1; i >= 0; i-- {
		code = append(code, byte(vm.PUSH1), byte(32*i), byte(vm.CALLDATALOAD))
	}
	code = append(code, size...)
	return append(code, byte(vm.PUSH0), byte(int(vm.LOG0)+n), byte(vm.STOP))
}

// constantCode returns the same word for every call.
func constantCode(value [32]byte) []byte {
	code := append([]byte{byte(vm.PUSH32)}, value[:]...)
	return append(code, byte(vm.PUSH0), byte(vm.MSTORE), byte(vm.PUSH1), 32, byte(vm.PUSH0), byte(vm.RETURN))
}
