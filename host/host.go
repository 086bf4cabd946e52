// Package host is the daemon's side of the wire. It answers JSON-RPC 2.0 requests, one
// per frame, on each connection that a relay or a command opens.
//
// The dispatcher is our own. A general JSON-RPC server (creachadair/jrpc2 was the
// candidate) has an unbounded queue and a goroutine for each waiting request, writes
// replies while holding the lock that reading needs, and serves batches. Here 10,000
// requests at once must leave memory bounded, requests above the limits must be refused
// at once, and a client that does not read may lose its own connection but affect nothing
// else.
package host

import (
	"context"
	"math/big"
	"net"

	"swapkeep/chain"
	"swapkeep/confirm"
	"swapkeep/host/protocol"
	"swapkeep/priceapi/price"
	"swapkeep/priceapi/pricetable"
	"swapkeep/swap"
	"swapkeep/swap/engine"
	"swapkeep/tokens"

	"github.com/ethereum/go-ethereum/common"
	"github.com/rs/zerolog"
)

// A Wallet is the vault as the host uses it. None of its methods signs. The words that
// Create returns and the secret that Export returns are shown once and wiped by the host,
// as are the passwords and words passed in. Config.Errors maps its errors.
type Wallet interface {
	// Status returns the wallets and their state; the host sets Session. After an error
	// the other fields are still valid.
	Status(ctx context.Context) (protocol.KeysStatus, error)
	// Accounts lists the accounts, locked or not.
	Accounts(ctx context.Context) ([]protocol.Account, error)
	// Create creates a wallet with 12 or 24 words. The warning, if any, is shown with
	// them.
	Create(ctx context.Context, name string, words int, password []byte) (w protocol.Wallet, mnemonic []byte, warning string, err error)
	// Import imports a wallet from words, a private key or a key file. Exactly one of
	// them is given.
	Import(ctx context.Context, p *protocol.ImportParams) (protocol.Wallet, error)
	// Rename renames a wallet or labels an account. Exactly one of them is given.
	Rename(ctx context.Context, p *protocol.RenameParams) (protocol.Wallet, error)
	// Remove permanently removes a wallet and returns its last state. It requires the
	// password, locked or not.
	Remove(ctx context.Context, wallet string, password []byte) (protocol.Wallet, error)
	// Clear deletes everything left in a keychain without wallets.
	Clear(ctx context.Context) error
	// Export returns a wallet's words or an account's key. It requires the password,
	// locked or not.
	Export(ctx context.Context, p *protocol.ExportParams) ([]byte, error)
	// Add derives the next account of a wallet; "" means the only wallet.
	Add(ctx context.Context, wallet, name string) (protocol.Account, error)
	// Discover searches for used accounts of a wallet and adds them; "" means the only
	// wallet. Subscribers get its progress.
	Discover(ctx context.Context, wallet string) (protocol.Discovery, error)
	// Unlock opens all wallets; on an unlocked vault it checks the password.
	Unlock(ctx context.Context, password []byte) error
	// CheckPassword checks the password again. It works while locked too.
	CheckPassword(ctx context.Context, password []byte) error
	// Lock wipes the keys. After it returns nothing is signed.
	Lock()
	// Unlocked reports whether the vault would sign now.
	Unlocked() bool
	// Touch resets the auto-lock timer.
	Touch()
	// Subscribe calls f after every change until stop is called. f may call the wallet
	// but must not block.
	Subscribe(f func(WalletChange)) (stop func())
}

// A WalletChange is the content of a keys.changed notification.
type WalletChange struct {
	Cause     string // one of the protocol's Cause constants
	Idle      bool   // locked by the auto-lock timer
	Discovery *protocol.Discovery
	Err       error // why the discovery ended early
}

// Networks are the configured chains, such as *chain.MultiClient.
type Networks interface {
	Networks() []chain.Network
	// Health returns the result of the last use of every endpoint. It makes no request.
	Health() []chain.EndpointHealth
	// GasPrice returns the gas price at the latest block.
	GasPrice(ctx context.Context, id uint64) (chain.GasPrice, error)
	// WatchGas calls f with the gas price at every new head until ctx ends. f must not
	// block.
	WatchGas(ctx context.Context, id uint64, f func(chain.GasPrice)) error
	Balances(ctx context.Context, id uint64, account common.Address, tokens []common.Address) ([]*big.Int, error)
}

// Tokens are the known tokens, such as *tokens.Registry.
type Tokens interface {
	// On returns a chain's tokens in a stable order, the native coin first.
	On(chain uint64) []tokens.Token
	// Search returns the tokens that match a query, best first.
	Search(chain uint64, query string) []tokens.Token
	Lookup(chain uint64, address common.Address) (tokens.Token, bool)
	// Imitated returns the recognized token that another could be mistaken for.
	Imitated(t tokens.Token) (common.Address, bool)
	// Preview returns a known token, or reads it from its contract; Import also stores it.
	Preview(ctx context.Context, chain uint64, address common.Address) (t tokens.Token, known bool, err error)
	Import(ctx context.Context, chain uint64, address common.Address) (t tokens.Token, known bool, err error)
	// Remove removes an imported token and reports whether there was one.
	Remove(chain uint64, address common.Address) (bool, error)
	// Incoming looks for unknown tokens that an account was sent.
	Incoming(ctx context.Context, chain uint64, account common.Address) ([]tokens.Token, error)
}

// Settings are the daemon's stored settings. A change is on disk when its method returns.
type Settings interface {
	// ActiveNetwork returns the chosen network, or fallback if none was chosen.
	ActiveNetwork(fallback uint64) (uint64, error)
	SetActiveNetwork(chainID uint64) error
	// Slippage is the default for quotes that give none.
	Slippage() protocol.Percent
	// List returns all settings, with full URLs and file names only if reveal is set.
	List(reveal bool) []protocol.Setting
	// RequiredRight returns what a browser must provide to set these values, or with nil to reset
	// the setting: session, password or terminal.
	RequiredRight(key string, values []string) (right string, err error)
	// Change sets a setting, or resets it with nil. The host has already checked what the
	// change requires and that the setting can be changed. Errors are of the protocol's
	// table.
	Change(ctx context.Context, key string, values []string) (protocol.Setting, error)
}

// ProviderKeys stores credentials for providers. No method returns them to a client.
type ProviderKeys interface {
	// SetProviderKey stores a key before it returns; an empty key deletes it. The host
	// wipes key afterwards.
	SetProviderKey(ctx context.Context, provider string, key []byte) error
}

// A Sentinel maps an error of another package, matched with errors.Is, to a name of the
// protocol's error table. The client gets the sentinel's own text; wrapping text may
// contain file names or URLs and stays in the log. A method Remedy() string of the error
// replaces the table's remedy.
type Sentinel struct {
	Err     error
	Name    string
	Text    func(err error) string            // for clients; nil: the text of Err
	Details func(err error) map[string]string // nil: none
}

// Prices is the price service as the host uses it. Its methods make no requests.
type Prices interface {
	// Next returns the newest board, and a channel that is closed when there is a newer
	// one.
	Next() (*pricetable.Table, <-chan struct{})
	// Chart returns the candles of a token for a period that ends now, oldest first.
	Chart(ctx context.Context, id price.ID, p price.Period) ([]price.Candle, error)
	// Status returns the state of the service; the host fills in what a board tells.
	Status() protocol.PricesStatus
	// Dollars returns the worth of an amount in base units; an error means unknown.
	Dollars(id price.ID, amount *big.Int) (price.Value, error)
}

// Diagnose checks the daemon's own parts and, with online, the networks, each within a
// few seconds.
type Diagnose func(ctx context.Context, online bool) []protocol.Check

// Confirmations are what waits for a person's decision, such as *confirm.Desk.
type Confirmations interface {
	Waiting() []confirm.Waiting
	// Tell has f called after every change.
	Tell(f func())
	// Decide decides once; a repeat fails.
	Decide(id string, approve bool, by swap.ConfirmedBy) error
}

// Config is the configuration of a server. All fields but the functions, Errors and Log
// must be set.
type Config struct {
	Wallet   Wallet
	Swaps    engine.Host
	Networks Networks
	Tokens   Tokens
	Settings Settings
	Prices   Prices

	ProviderKeys ProviderKeys

	Confirmations Confirmations          // nil: nothing ever waits
	Display       func(protocol.Display) // is told of every attached caller's display; nil: nobody is

	Version   string // product version
	Home      string // short id of the state directory
	Directory string // the state directory, shown to terminals only
	Sandbox   bool

	// Process returns the id of the process at the other end of a connection, or 0 if the
	// system does not report it. nil: not used.
	Process func(net.Conn) int
	// WithClient tags a request's context with its client: a number that all connections of
	// one process share as long as it has any. nil: not used.
	WithClient func(ctx context.Context, asker uint64) context.Context

	AllowOrigin  func(origin string) bool  // nil: every origin that the relay allows
	AllowUnknown bool                      // browsers that name no origin may read
	Errors       []Sentinel                // in addition to those of chain and swap
	Problems     func() []protocol.Problem // nil: none to report
	Diagnose     Diagnose                  // nil: not served
	Stop         func()                    // host.stop, called after its answer was sent; nil: not served
	Log          zerolog.Logger            // methods, origins, durations and error names; never parameters
}
