package dex

import "github.com/ethereum/go-ethereum/common"

// sandboxCosigner replaces [cosigner] in the sandbox. Its key is public, derived from the
// published test mnemonic (m/44'/60'/0'/0/9001): only [Config.Sandbox], which reaches
// nothing but this machine, selects it.
var sandboxCosigner = common.HexToAddress("0x9F1A6E7C7273d2F75BCAE13D03b3dDdD2B7811Fc")
