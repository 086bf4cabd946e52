package keys

import (
	_ "embed"
	"strings"
	"sync"

	"github.com/ethereum/go-ethereum/common"
)

// publishedText lists mnemonics printed in documentation, tools and test suites, the
// development chains' first. Lines that begin with # are comments.
//
//go:embed published.txt
var publishedText string

const publishedAccounts = 20 // per mnemonic; development chains fund this many

// publishedMnemonics returns the entropy of each published mnemonic. It panics on a line
// that does not parse, which is a build error.
var publishedMnemonics = sync.OnceValue(func() []secret {
	var all []secret
	for line := range strings.Lines(publishedText) {
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		entropy, err := parseMnemonic([]byte(line))
		if err != nil {
			panic("keys: published.txt: " + err.Error())
		}
		all = append(all, entropy)
	}
	return all
})

var publishedEntropy = sync.OnceValue(func() map[string]bool {
	set := map[string]bool{}
	for _, entropy := range publishedMnemonics() {
		set[string(entropy)] = true
	}
	return set
})

// publishedAddresses are the first accounts of every published mnemonic.
var publishedAddresses = sync.OnceValue(func() map[common.Address]bool {
	return accountsOf(publishedMnemonics())
})

// testAddresses are the first accounts of the development chains' mnemonic.
var testAddresses = sync.OnceValue(func() map[common.Address]bool {
	return accountsOf(publishedMnemonics()[:1])
})

func accountsOf(mnemonics []secret) map[common.Address]bool {
	set := map[common.Address]bool{}
	for _, entropy := range mnemonics {
		n, err := branchesOf(entropy)
		if err != nil {
			panic("keys: published.txt: " + err.Error())
		}
		for i := range uint32(publishedAccounts) {
			if _, address, err := n.account(i); err == nil {
				set[address] = true
			}
		}
	}
	return set
}

// publishedKeys are addresses of single keys printed in documentation and test suites.
var publishedKeys = sync.OnceValue(func() map[common.Address]bool {
	set := map[common.Address]bool{}
	for _, a := range []string{
		"0x008AeEda4D805471dF9b2A5B0f38A0C3bCBA786b", // the Web3 Secret Storage definition
		"0xCD2a3d9F938E13CD947Ec05AbC7FE734Df8DD826", // EIP-712: keccak256("cow")
		"0x2c7536E3605D9C16a7a3D7b1898e529396a65c23", // web3.js
		"0x71562b71999873DB5b286dF957af199Ec94617F7", // go-ethereum's tests
	} {
		set[common.HexToAddress(a)] = true
	}
	return set
})

// patterned reports whether a key looks like an example: a number of at most two bytes,
// or one byte repeated (EIP-155 uses 0x46).
func patterned(key secret) bool {
	small, same := true, true
	for i, b := range key {
		small = small && (b == 0 || i >= len(key)-2)
		same = same && b == key[0]
	}
	return small || same
}

// isTestMnemonic reports whether entropy is that of the development chains' mnemonic, the
// only one that may be imported into a sandbox.
func isTestMnemonic(entropy secret) bool {
	return string(entropy) == string(publishedMnemonics()[0])
}
