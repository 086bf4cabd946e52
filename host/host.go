// Package host is the daemon's side of the wire: it answers JSON-RPC 2.0
// requests, one a frame, on each connection that a relay or a command opens.
//
// The dispatcher is our own. A general JSON-RPC server (creachadair/jrpc2 was
// the candidate) keeps an unbounded queue and a goroutine for each request that
// waits, writes replies while holding the lock that reading needs, and serves
// batches; here 10,000 requests at once must leave memory bounded, the busy
// ones must be answered at once, and a client that does not read may cost its
// own connection but nothing else.
package host

import (
	"context"
	"math/big"
	"net"

	"swapkeep/chain"
	"swapkeep/host/protocol"
	"swapkeep/priceapi/pricetable"
	"swapkeep/priceapi/price"
	"swapkeep/swap"
	"swapkeep/tokens"

	"github.com/ethereum/go-ethereum/common"
	"github.com/rs/zerolog"
)

// A Wallet is the vault as the host uses it. No method of it signs; the words
// that Create returns, and what Export does, are shown once and wiped by the
// host.
// Passwords and words handed in are the host's, which wipes them afterwards.
// Errors are found in Config.Errors.
type Wallet interface {
	// Status tells what there is; Session is the host's to fill in. With an error
	// the other fields still hold.
	Status(ctx context.Context) (protocol.KeysStatus, error)
	// Accounts lists the accounts, locked or not.
	Accounts(ctx context.Context) ([]protocol.Account, error)
	// Create makes a wallet with 12 or 24 words. The warning, if any, is shown
	// with them.
	Create(ctx context.Context, name string, words int, password []byte) (w protocol.Wallet, mnemonic []byte, warning string, err error)
	// Import makes a wallet from words, a private key or a key file: exactly one
	// of them is given.
	Import(ctx context.Context, p *protocol.ImportParams) (protocol.Wallet, error)
	// Rename names a wallet or labels an account: exactly one of them is given.
	Rename(ctx context.Context, p *protocol.RenameParams) (protocol.Wallet, error)
	// Remove removes a wallet for good and returns what it was. It asks for the
	// password, locked or not.
	Remove(ctx context.Context, wallet string, password []byte) (protocol.Wallet, error)
	// Clear removes all that a keychain without wallets still holds.
	Clear(ctx context.Context) error
	// Export gives a wallet's words or an account's key. It asks for the password,
	// locked or not.
	Export(ctx context.Context, p *protocol.ExportParams) ([]byte, error)
	// Add derives the next account of a wallet; "" is the only one.
	Add(ctx context.Context, wallet, name string) (protocol.Account, error)
	// Discover looks for used accounts of a wallet and adds them; "" is the only
	// one. It tells subscribers too.
	Discover(ctx context.Context, wallet string) (protocol.Discovery, error)
	// Unlock opens all wallets; when they are open it checks the password.
	Unlock(ctx context.Context, password []byte) error
	// CheckPassword asks for the password again. It may be used while locked.
	CheckPassword(ctx context.Context, password []byte) error
	// Lock wipes the keys. After it returns nothing is signed.
	Lock()
	// Unlocked reports whether it would sign now.
	Unlocked() bool
	// Touch counts as use and puts off the automatic lock.
	Touch()
	// Subscribe calls f after every change until stop is called. f may call the
	// wallet but does not block.
	Subscribe(f func(WalletChange)) (stop func())
}

// A WalletChange is what keys.changed tells.
type WalletChange struct {
	Cause     string // one of keys.changed
	Idle      bool   // it came by itself
	Discovery *protocol.Discovery
	Err       error // why the discovery ended before it was through
}

// Networks are the configured chains; *chain.Hub is one.
type Networks interface {
	Networks() []chain.Network
	// Health tells how every endpoint did when it was last used. It asks nobody.
	Health() []chain.EndpointHealth
	// GasPrice is what gas costs at the latest block.
	GasPrice(ctx context.Context, id uint64) (chain.GasPrice, error)
	// WatchGas calls f with it at every new head until ctx ends. f does not block.
	WatchGas(ctx context.Context, id uint64, f func(chain.GasPrice)) error
	Balances(ctx context.Context, id uint64, account common.Address, tokens []common.Address) ([]*big.Int, error)
}

// Tokens are the known tokens; *tokens.Registry is one.
type Tokens interface {
	// On is a chain's tokens in a stable order, the native coin first.
	On(chain uint64) []tokens.Token
	// Search is those that fit a query, best first.
	Search(chain uint64, query string) []tokens.Token
	Lookup(chain uint64, address common.Address) (tokens.Token, bool)
	// Imitated is the verified token that another could be taken for.
	Imitated(t tokens.Token) (common.Address, bool)
	// Look reads a token from its contract, unless it is known; Import keeps it.
	Look(ctx context.Context, chain uint64, address common.Address) (t tokens.Token, known bool, err error)
	Import(ctx context.Context, chain uint64, address common.Address) (t tokens.Token, known bool, err error)
	// Remove forgets an imported token and reports whether it was one.
	Remove(chain uint64, address common.Address) (bool, error)
}

// Settings are the daemon's persistent choices. What changes them is on disk
// when it returns.
type Settings interface {
	// ActiveNetwork is the network in use, or fallback before the first choice.
	ActiveNetwork(fallback uint64) (uint64, error)
	SetActiveNetwork(chainID uint64) error
	// Slippage is used where a quote names none.
	Slippage() protocol.Percent
	// List tells every setting, URLs and files whole only if reveal is set.
	List(reveal bool) []protocol.Setting
	// Asks is what giving a setting those values, or with nil forgetting those given
	// before, asks of a browser: session, password or terminal.
	Asks(key string, values []string) (right string, err error)
	// Change gives a setting other values, or with nil forgets those given before.
	// The host has asked for the setting's right and refused those that cannot be
	// changed. Its errors are of the protocol's table.
	Change(ctx context.Context, key string, values []string) (protocol.Setting, error)
}

// ProviderKeys keep what providers ask for beside a request. Nothing returns one
// to a client.
type ProviderKeys interface {
	// SetProviderKey is kept when it returns; an empty key is forgotten. The key is
	// the host's, which wipes it afterwards.
	SetProviderKey(ctx context.Context, provider string, key []byte) error
}

// A Sentinel is a row of the table from errors of other packages, as errors.Is
// tells them, to names of the protocol's table. Its own text is what the client
// is told: wrapping text may name files, URLs or more and stays in the log. An
// error with a method Remedy() string replaces the table's remedy.
type Sentinel struct {
	Err     error
	Name    string
	Details func(err error) map[string]string // nil: none
}

// Prices are the price service as the host uses it. Nothing of it asks anybody.
type Prices interface {
	// Next is the newest board, and a channel that is closed when there is a newer.
	Next() (*pricetable.Board, <-chan struct{})
	// Chart is the candles of a token's period until now, oldest first.
	Chart(ctx context.Context, id price.ID, p price.Period) ([]price.Candle, error)
	// Status is how the service does; what a board tells is the host's to fill in.
	Status() protocol.PricesStatus
	// Dollars is what an amount of base units is worth; an error means unknown.
	Dollars(id price.ID, amount *big.Int) (price.Value, error)
}

// Diagnose examines the daemon's own parts, and with online the networks, each
// within a few seconds.
type Diagnose func(ctx context.Context, online bool) []protocol.Check

// Config is what a server is made of. All but the functions, Errors and Log
// must be set.
type Config struct {
	Wallet   Wallet
	Swaps    swap.Host
	Networks Networks
	Tokens   Tokens
	Settings Settings
	Prices   Prices

	ProviderKeys ProviderKeys

	Version   string // product version
	Home      string // short id of the state directory
	Directory string // the state directory, shown to terminals only
	Sandbox   bool

	// Process is the id of the process at the other end of a connection, 0 where the
	// system does not tell; nil: nobody asks.
	Process func(net.Conn) int
	// AskedBy marks the context of a request with who asks: a number that all connections
	// of one process share as long as it has any; nil: it makes no difference.
	AskedBy func(ctx context.Context, asker uint64) context.Context

	AllowOrigin  func(origin string) bool  // nil: what the relay let through
	AllowUnknown bool                      // browsers that name no origin may read
	Errors       []Sentinel                // beside those of chain and swap
	Problems     func() []protocol.Problem // nil: none to report
	Diagnose     Diagnose                  // nil: not served
	Stop         func()                    // host.stop, after its answer is out; nil: not served
	Log          zerolog.Logger            // methods, origins, durations, error names; never parameters
}
