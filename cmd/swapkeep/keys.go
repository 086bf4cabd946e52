package main

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"swapkeep/cmd/internal/screen"
	"swapkeep/host/protocol"
)

func newKeys(t *terminal) *cobra.Command {
	status := shower(t, "keys.status", func(_ context.Context, l *daemonConn, v protocol.KeysStatus) error { return l.t.keysTable(v) })
	cmd := &cobra.Command{
		Use: "keys", Short: "Create, import, unlock and manage wallets", Args: noArguments, RunE: status,
		Long: "Create, import, unlock and manage wallets. Passwords, recovery phrases and keys are typed at the terminal without echo,\n" +
			"or read from a file descriptor; never from an argument or the environment.",
	}
	cmd.AddCommand(
		&cobra.Command{Use: "status", Short: "Show the wallets and whether they are unlocked", Args: noArguments, RunE: status},
		newKeysUnlock(t),
		&cobra.Command{
			Use: "lock", Short: "Lock the wallet and end every session; accepted orders continue", Args: noArguments,
			RunE: shower(t, "keys.lock", func(_ context.Context, l *daemonConn, v protocol.KeysStatus) error { return l.t.keysTable(v) }),
		},
		&cobra.Command{
			Use: "accounts", Short: "List the accounts", Args: noArguments,
			RunE: shower(t, "keys.accounts", func(_ context.Context, l *daemonConn, v protocol.AccountsResult) error {
				l.t.accountsTable(v.Accounts)
				return nil
			}),
		},
		newKeysCreate(t), newKeysImport(t), newKeysAdd(t), newKeysDiscover(t), newKeysRename(t), newKeysRemove(t), newKeysExport(t))
	return cmd
}

// keyStates describe the states of the keys.
var keyStates = map[string]string{
	protocol.KeysNone:     "none; create a wallet with swapkeep keys create, or import one with swapkeep keys import",
	protocol.KeysLocked:   "locked",
	protocol.KeysUnlocked: "unlocked",
}

// backends describe where keys are stored.
var backends = map[string]string{"os": "the system's keychain", "file": "files in the state directory"}

func (t *terminal) keysTable(v protocol.KeysStatus) error {
	facts := [][2]string{{"keys", keyStates[v.State]}, {"stored in", backends[v.Backend]}}
	if v.State == protocol.KeysUnlocked && !v.LocksAt.IsZero() {
		facts = append(facts, [2]string{"auto-lock", clockTime(v.LocksAt)})
	}
	t.result.Facts(facts)
	for _, w := range v.Wallets {
		t.result.Heading(fmt.Sprintf("%s (%s, id %s)", w.Name, walletKind(w.Kind), w.ID))
		t.accountsTable(w.Accounts)
	}
	return nil
}

func walletKind(kind string) string {
	if kind == "mnemonic" {
		return "recovery phrase"
	}
	return "private key"
}

var accountColumns = []screen.Column{{Head: ""}, {Head: "account"}, {Head: "address"}, {Head: "path"}}

func (t *terminal) accountsTable(accounts []protocol.Account) {
	rows := make([][]string, 0, len(accounts))
	for _, a := range accounts {
		rows = append(rows, []string{a.Name, string(a.Address), a.Path})
	}
	if len(rows) == 0 {
		t.result.Line("no accounts; create a wallet with swapkeep keys create, or import one with swapkeep keys import")
		return
	}
	t.result.Table(accountColumns[1:], rows)
}

// clockTime formats the time of day, with the date unless it is today.
func clockTime(at time.Time) string {
	if at.Local().Format(time.DateOnly) != time.Now().Format(time.DateOnly) {
		return at.Local().Format(time.DateTime)
	}
	return at.Local().Format(time.TimeOnly)
}

func newKeysUnlock(t *terminal) *cobra.Command {
	cmd := &cobra.Command{
		Use: "unlock", Short: "Unlock the wallet for orders that wait for a signature", Args: noArguments,
		Long: "Unlock the wallet. Orders that wait for a signature continue until the wallet is locked. Commands that sign still ask\n" +
			"for the password, because each connection has its own session.",
	}
	password := passwordFlag(cmd.Flags())
	cmd.RunE = t.withDaemon(func(ctx context.Context, l *daemonConn, _ []string) error {
		return t.withPassword(ctx, password, func(secret protocol.Secret) error {
			return show(ctx, l, "keys.unlock", protocol.UnlockParams{Password: secret}, t.keysTable)
		})
	})
	return cmd
}

// unlock unlocks this connection's session with the wallet's password and passes the
// password to do.
func (l *daemonConn) unlock(ctx context.Context, from *secretFlag, do func(protocol.Secret) error) error {
	before, err := ask[protocol.KeysStatus](ctx, l, "keys.status", protocol.None{})
	if err != nil {
		return err
	}
	if before.State == protocol.KeysNone {
		return noWallet()
	}
	var after protocol.KeysStatus
	secret, err := l.t.password(ctx, from, func(secret protocol.Secret) (err error) {
		after, err = ask[protocol.KeysStatus](ctx, l, "keys.unlock", protocol.UnlockParams{Password: secret})
		return err
	})
	if err != nil {
		return err
	}
	defer secret.Zero()
	if before.State == protocol.KeysLocked {
		l.t.remark("The wallet is unlocked; it locks automatically at " + clockTime(after.LocksAt) + ", or with swapkeep keys lock.")
	}
	return do(secret)
}

// withSession is unlock for a do that does not need the password.
func (l *daemonConn) withSession(ctx context.Context, from *secretFlag, do func() error) error {
	return l.unlock(ctx, from, func(protocol.Secret) error { return do() })
}

func newRequest() protocol.UUID { return protocol.UUID(uuid.NewString()) }

// seeWallets is the remedy for an unknown wallet.
const seeWallets = "list the wallets with swapkeep keys"

func noWallet() *protocol.Error { return protocol.New("no_wallet", "no wallet") }

// wallet finds a wallet by id or name; "" is the only one.
func (l *daemonConn) wallet(ctx context.Context, wanted string) (protocol.Wallet, error) {
	status, err := ask[protocol.KeysStatus](ctx, l, "keys.status", protocol.None{})
	if err != nil {
		return protocol.Wallet{}, err
	}
	var named []protocol.Wallet
	for _, w := range status.Wallets {
		if w.ID == wanted {
			return w, nil
		}
		if w.Name == wanted || wanted == "" {
			named = append(named, w)
		}
	}
	switch {
	case len(named) == 1:
		return named[0], nil
	case len(named) == 0 && len(status.Wallets) == 0:
		return protocol.Wallet{}, noWallet()
	case len(named) == 0:
		unknown := protocol.Newf("no_wallet", "unknown wallet %s", wanted)
		unknown.Remedy = seeWallets
		return protocol.Wallet{}, unknown
	}
	return protocol.Wallet{}, usageError{fmt.Errorf("%d wallets match; use a wallet id, see swapkeep keys", len(named))}
}
