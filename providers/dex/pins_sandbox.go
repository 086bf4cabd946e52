package dex

import "github.com/ethereum/go-ethereum/common"

// sandboxCosigner stands in for [cosigner] where the provider is the sandbox's. Its
// key is public, one of the published test mnemonic's (m/44'/60'/0'/0/9001): only
// [Config.Sandbox], which reaches this machine alone, chooses it.
var sandboxCosigner = common.HexToAddress("0x9F1A6E7C7273d2F75BCAE13D03b3dDdD2B7811Fc")
