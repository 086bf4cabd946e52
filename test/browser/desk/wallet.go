//go:build browser

package desk

import (
	"github.com/ethereum/go-ethereum/common"

	"swapkeep/host/protocol"
	"swapkeep/sandbox"
	"swapkeep/test/requests"
)

// Password of the test wallets.
const Password = requests.Password

// A Wallet is a wallet that the daemon has.
type Wallet struct {
	ID      string
	Address common.Address // of its first account
	Words   string
}

// Wallet creates a new empty wallet by the command line.
func (d *Desk) Wallet() Wallet {
	d.t.Helper()
	made := ask[protocol.CreateResult](d, Password+"\n", "keys", "create", "--password-fd", "0")
	return walletOf(made, string(made.Words))
}

// TestWallet imports the published test mnemonic. Its accounts are rich on all chains, but
// tests before this one used them too.
func (d *Desk) TestWallet() Wallet {
	d.t.Helper()
	input := sandbox.Mnemonic + "\n" + Password + "\n"
	made := ask[protocol.CreateResult](d, input, "keys", "import", "words", "--secret-fd", "0", "--password-fd", "0")
	return walletOf(made, sandbox.Mnemonic)
}

func walletOf(made protocol.CreateResult, words string) Wallet {
	return Wallet{made.Wallet.ID, common.HexToAddress(string(made.Wallet.Accounts[0].Address)), words}
}

// Wallets returns the daemon's wallets.
func (d *Desk) Wallets() []protocol.Wallet {
	d.t.Helper()
	return ask[protocol.KeysStatus](d, "", "keys", "status").Wallets
}

// coins are a rich wallet's balances on a chain.
var coins = []struct{ symbol, amount string }{{"", "10"}, {"USDC", "20000"}}

// RichWallet is Wallet with coins to swap on some chains.
func (d *Desk) RichWallet(chains ...uint64) Wallet {
	d.t.Helper()
	w := d.Wallet()
	for _, chain := range chains {
		for _, c := range coins {
			d.Fund(chain, w.Address, c.symbol, c.amount)
		}
	}
	return w
}
