package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"swapkeep/cmd/internal/screen"
	"swapkeep/host/protocol"
)

func newKeysAdd(t *terminal) *cobra.Command {
	var wallet, name string
	cmd := &cobra.Command{
		Use: "add", Short: "Add the next account of a wallet", Args: noArguments,
	}
	cmd.Flags().StringVar(&wallet, "wallet", "", "`wallet` by name or id (default the only one)")
	cmd.Flags().StringVar(&name, "name", "", "`name` of the account")
	password := passwordFlag(cmd.Flags())
	cmd.RunE = t.withDaemon(func(ctx context.Context, l *daemonConn, _ []string) error {
		w, err := l.wallet(ctx, wallet)
		if err != nil {
			return err
		}
		return l.withSession(ctx, password, func() error {
			return show(ctx, l, "keys.add", protocol.AddParams{Request: newRequest(), Wallet: w.ID, Name: name}, func(r protocol.AddResult) error {
				t.accountsTable([]protocol.Account{r.Account})
				return nil
			})
		})
	})
	return cmd
}

func newKeysRename(t *terminal) *cobra.Command {
	var wallet, account string
	cmd := &cobra.Command{
		Use: "rename --wallet WALLET|--account ACCOUNT NAME", Short: "Rename a wallet or an account", Args: exactly("one name", 1),
	}
	cmd.Flags().StringVar(&wallet, "wallet", "", "`wallet` by name or id")
	cmd.Flags().StringVar(&account, "account", "", "or `account` by name or address")
	_ = cmd.RegisterFlagCompletionFunc("account", t.complete(completeAccounts))
	password := passwordFlag(cmd.Flags())
	cmd.RunE = t.withDaemon(func(ctx context.Context, l *daemonConn, args []string) error {
		params := protocol.RenameParams{Request: newRequest(), Name: args[0]}
		if (wallet == "") == (account == "") {
			return usageError{errors.New("give either --wallet or --account")}
		}
		if wallet != "" {
			w, err := l.wallet(ctx, wallet)
			if err != nil {
				return err
			}
			params.Wallet = w.ID
		} else {
			a, err := l.account(ctx, account)
			if err != nil {
				return err
			}
			params.Account = a.Address
		}
		return l.withSession(ctx, password, func() error {
			return show(ctx, l, "keys.rename", params, func(r protocol.WalletResult) error {
				t.result.Title(r.Wallet.Name)
				t.accountsTable(r.Wallet.Accounts)
				return nil
			})
		})
	})
	return cmd
}

func newKeysRemove(t *terminal) *cobra.Command {
	var name string
	var damaged bool
	cmd := &cobra.Command{
		Use: "remove WALLET", Short: "Permanently remove a wallet and its keys", Args: exactly("one wallet", 1),
		Long: "Remove a wallet and its keys permanently. It can only be restored from its recovery phrase. At a terminal you type the\n" +
			"wallet's name to confirm; a script gives the wallet's id with --confirm. While an order's record is damaged, removal\n" +
			"needs --damaged, because the order may belong to this wallet.",
	}
	cmd.Flags().StringVar(&name, "confirm", "", "confirm with the wallet's `id` instead of a question")
	cmd.Flags().BoolVar(&damaged, "damaged", false, "remove it even if an order's record is damaged")
	password := passwordFlag(cmd.Flags())
	cmd.RunE = t.withDaemon(func(ctx context.Context, l *daemonConn, args []string) error {
		return l.confirmAndRemove(ctx, args[0], name, password, func(params protocol.RemoveParams) error {
			params.Damaged = damaged
			return show(ctx, l, "keys.remove", params, func(r protocol.WalletResult) error {
				t.result.Line(fmt.Sprintf("Removed the wallet %s.", r.Wallet.Name))
				return nil
			})
		})
	})
	return cmd
}

// confirmAndRemove asks for confirmation and the password before a wallet is removed.
func (l *daemonConn) confirmAndRemove(ctx context.Context, wanted, confirmed string, password *secretFlag, do func(protocol.RemoveParams) error) error {
	w, err := l.walletToRemove(ctx, wanted)
	if err != nil {
		return err
	}
	if err := l.confirmRemoval(ctx, w, confirmed); err != nil {
		return err
	}
	return l.t.withPassword(ctx, password, func(secret protocol.Secret) error {
		return do(protocol.RemoveParams{Request: newRequest(), Wallet: w.ID, Password: secret})
	})
}

// walletToRemove finds the wallet to remove. If it does not exist, the remedy is not to create one.
func (l *daemonConn) walletToRemove(ctx context.Context, wanted string) (protocol.Wallet, error) {
	w, err := l.wallet(ctx, wanted)
	var none *protocol.Error
	if errors.As(err, &none) && none.Name == "no_wallet" {
		none.Remedy = seeWallets
	}
	return w, err
}

func (l *daemonConn) confirmRemoval(ctx context.Context, w protocol.Wallet, confirmed string) error {
	t := l.t
	switch {
	case confirmed == w.ID:
		return nil
	case confirmed != "":
		return usageError{fmt.Errorf("--confirm does not match; the wallet's id is %s", w.ID)}
	case !t.interactive():
		return usageError{errors.New("no terminal to confirm the removal at; give --confirm with the wallet's id")}
	}
	t.talk.Paragraph(screen.Warn, fmt.Sprintf("This permanently removes the wallet %s and its keys:", w.Name))
	rows := make([][]string, 0, len(w.Accounts))
	for _, a := range w.Accounts {
		rows = append(rows, []string{a.Name, string(a.Address), a.Path})
	}
	t.talk.Table(accountColumns[1:], rows)
	return t.typed(ctx, "Type the wallet's name to remove it", w.Name)
}
