package bridge

import "github.com/ethereum/go-ethereum/common"

// sandboxSolver is the account that the sandbox's simulator pays from. Its key is public;
// only [Config.Sandbox] selects it.
var sandboxSolver = common.HexToAddress("0xAB1FCa03727F17156aD77aCBED9773319AD9D731")
