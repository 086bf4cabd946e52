package keys

import (
	_ "embed"
	"strings"
	"sync"

	"github.com/ethereum/go-ethereum/common"
)

// Mnemonics that are printed in documentation, tools and test suites, the
// development chains' first. Lines that begin with # are comments.
//
//go:embed published.txt
var publishedText string

const publishedAccounts = 20 // by mnemonic; development chains fund that many

// publishedMnemonics lists the mnemonics as entropy. A line that does not
// parse is a broken build.
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

// publishedAddresses holds the first accounts of every published mnemonic.
var publishedAddresses = sync.OnceValue(func() map[common.Address]bool {
	set := map[common.Address]bool{}
	for _, entropy := range publishedMnemonics() {
		n, err := branch(entropy)
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
})

// isTestMnemonic reports whether entropy is that of the development chains'
// mnemonic, the only one a sandbox takes from outside.
func isTestMnemonic(entropy secret) bool {
	return string(entropy) == string(publishedMnemonics()[0])
}
