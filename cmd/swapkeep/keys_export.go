package main

import (
	"context"
	"errors"
	"os"

	"github.com/spf13/cobra"

	"swapkeep/host/protocol"
)

// exportForms maps the command's names of export forms to the protocol's.
var exportForms = map[string]string{"words": protocol.ExportWords, "key": protocol.ExportKey, "keystore": protocol.ExportKeystore}

func newKeysExport(t *terminal) *cobra.Command {
	var of, file string
	cmd := &cobra.Command{
		Use: "export words|key|keystore", Short: "Export a recovery phrase, private key or key file", ValidArgs: []string{"words", "key", "keystore"},
		Long: "Export a wallet's recovery phrase (words), an account's private key (key), or a key file with its own password (keystore).\n" +
			"Recovery phrases and private keys are shown only at a terminal; key files are written to a file or pipe.",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 || exportForms[args[0]] == "" {
				return usageError{errors.New("choose what to export: words, key or keystore")}
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&of, "of", "", "`wallet` (for words) or account (for key and keystore), by name, id or address (default the only one)")
	cmd.Flags().StringVar(&file, "file", "", "write the key file to this new `file`")
	_ = cmd.RegisterFlagCompletionFunc("of", t.complete(completeAccounts))
	password, locked := passwordFlag(cmd.Flags()), secretFlagOf(cmd.Flags(), "keystore-password-fd", "the new key file's password")
	cmd.RunE = t.withDaemon(func(ctx context.Context, l *daemonConn, args []string) error {
		form := exportForms[args[0]]
		switch {
		case form != protocol.ExportKeystore && (file != "" || t.json || !t.shown()):
			return usageError{errors.New("recovery phrases and private keys are shown only at a terminal; for a file use swapkeep keys export keystore")}
		case form == protocol.ExportKeystore && file == "" && !t.json:
			return usageError{errors.New("give the new file with --file")}
		}
		params, err := l.exportOf(ctx, form, of)
		if err == nil && form == protocol.ExportKeystore {
			params.KeystorePassword, err = t.newSecret(ctx, locked, "New password of the key file")
		}
		defer params.KeystorePassword.Zero()
		if err != nil {
			return err
		}
		return t.withPassword(ctx, password, func(secret protocol.Secret) error {
			params.Password = secret
			return show(ctx, l, "keys.export", params, func(r protocol.ExportResult) error {
				defer r.Zero()
				return t.exported(ctx, r, file)
			})
		})
	})
	return cmd
}

func (l *daemonConn) exportOf(ctx context.Context, form, of string) (protocol.ExportParams, error) {
	params := protocol.ExportParams{Format: form}
	if form == protocol.ExportWords {
		w, err := l.wallet(ctx, of)
		params.Wallet = w.ID
		return params, err
	}
	a, err := l.account(ctx, of)
	params.Account = a.Address
	return params, err
}

// exported writes a key file, or shows a secret on the terminal only.
func (t *terminal) exported(ctx context.Context, r protocol.ExportResult, file string) error {
	if file != "" {
		f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if err != nil {
			return usageError{err}
		}
		_, err = f.Write(r.Secret)
		if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
			t.result.Line("written to " + file)
		}
		return err
	}
	if r.Format == protocol.ExportWords {
		return t.showSecret(ctx, "Recovery phrase of the wallet", wordsAdvice, wordLines(r.Secret))
	}
	return t.showSecret(ctx, "Private key of the account", keyAdvice, [][]byte{r.Secret})
}
