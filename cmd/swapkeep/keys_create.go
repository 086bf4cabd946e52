package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"swapkeep/host/protocol"
)

// vaultPassword asks for the vault's password: twice if the first wallet sets it.
func (l *daemonConn) vaultPassword(ctx context.Context, from *secretFlag) (protocol.Secret, error) {
	status, err := ask[protocol.KeysStatus](ctx, l, "keys.status", protocol.None{})
	if err != nil {
		return nil, err
	}
	if status.State == protocol.KeysNone {
		l.t.remark("Choose a password for your wallets: at least 10 characters that are hard to guess. It cannot be reset.")
		return l.t.newSecret(ctx, from, "New password")
	}
	return l.t.secret(ctx, from, "Password")
}

func newKeysCreate(t *terminal) *cobra.Command {
	var name string
	var words int
	cmd := &cobra.Command{
		Use: "create", Short: "Create a wallet and show its recovery phrase once", Args: noArguments,
		Long: "Create a wallet and show its recovery phrase once. Anyone with the phrase controls the funds; without it, a lost\n" +
			"keychain is a lost wallet. The phrase is cleared from the terminal afterwards.",
	}
	cmd.Flags().StringVar(&name, "name", "", "`name` of the wallet")
	cmd.Flags().IntVar(&words, "words", 12, "number of words: 12 or 24")
	password := passwordFlag(cmd.Flags())
	cmd.RunE = t.withDaemon(func(ctx context.Context, l *daemonConn, _ []string) error {
		if !t.json && !t.shown() {
			return usageError{errors.New("no terminal to show the recovery phrase at; a program that stores it safely uses --json")}
		}
		secret, err := l.vaultPassword(ctx, password)
		if err != nil {
			return err
		}
		defer secret.Zero()
		params := protocol.CreateParams{Request: newRequest(), Password: secret, Name: name, Words: words}
		return show(ctx, l, "keys.create", params, func(r protocol.CreateResult) error {
			defer r.Zero()
			told := append(wordsAdvice, r.Warning)
			if err := t.showSecret(ctx, "Recovery phrase of the new wallet", told, wordLines(r.Words)); err != nil {
				return err
			}
			t.madeWallet(r.Wallet)
			return nil
		})
	})
	return cmd
}

func (t *terminal) madeWallet(w protocol.Wallet) {
	t.result.Line(fmt.Sprintf("Created the wallet %s.", w.Name))
	t.accountsTable(w.Accounts)
}
