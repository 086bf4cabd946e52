package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"swapkeep/host/protocol"
)

// An importForm is a kind of secret from which a wallet can be made.
type importForm struct {
	name, what string
	put        func(*protocol.ImportParams, protocol.Secret)
}

var importForms = []importForm{
	{"words", "Recovery phrase", func(p *protocol.ImportParams, s protocol.Secret) {
		p.Mnemonic = bytes.Join(bytes.Fields(s), []byte(" "))
	}},
	{"key", "Private key", func(p *protocol.ImportParams, s protocol.Secret) { p.PrivateKey = bytes.TrimSpace(s) }},
	{"keystore", "Key file", func(p *protocol.ImportParams, s protocol.Secret) { p.Keystore = s }},
}

type importFlags struct {
	name, file                 string
	secret, password, unlocked *secretFlag
}

func newKeysImport(t *terminal) *cobra.Command {
	var f importFlags
	cmd := &cobra.Command{
		Use: "import words|key|keystore", Short: "Import a wallet from a recovery phrase, private key or key file", ValidArgs: []string{"words", "key", "keystore"},
		Long: "Import a wallet from a recovery phrase (words), a private key (key) or a version 3 key file as written by geth\n" +
			"(keystore). The secret is typed at the terminal without echo, or read from a file or file descriptor.",
		Example: "  swapkeep keys import words\n  swapkeep keys import keystore --file UTC--2026-01-01T00-00-00Z--0123\n  swapkeep keys import key --secret-fd 3 3< key.txt",
	}
	cmd.Args = func(_ *cobra.Command, args []string) error {
		if len(args) != 1 || formOf(args[0]) == nil {
			return usageError{errors.New("choose what to import: words, key or keystore")}
		}
		return nil
	}
	cmd.Flags().StringVar(&f.name, "name", "", "`name` of the wallet")
	cmd.Flags().StringVar(&f.file, "file", "", "read the secret from this `file`")
	f.secret = secretFlagOf(cmd.Flags(), "secret-fd", "the secret")
	f.unlocked = secretFlagOf(cmd.Flags(), "keystore-password-fd", "the key file's password")
	f.password = passwordFlag(cmd.Flags())
	cmd.RunE = t.withDaemon(func(ctx context.Context, l *daemonConn, args []string) error {
		return l.importWallet(ctx, *formOf(args[0]), f)
	})
	return cmd
}

func formOf(name string) *importForm {
	for _, f := range importForms {
		if f.name == name {
			return &f
		}
	}
	return nil
}

func (l *daemonConn) importWallet(ctx context.Context, form importForm, f importFlags) error {
	params := protocol.ImportParams{Request: newRequest(), Name: f.name}
	secret, err := l.t.imported(ctx, form, f)
	if err != nil {
		return err
	}
	defer secret.Zero()
	form.put(&params, secret)
	defer params.Mnemonic.Zero()
	if params.Keystore != nil {
		if params.KeystorePassword, err = l.t.secret(ctx, f.unlocked, "Password of the key file"); err != nil {
			return err
		}
		defer params.KeystorePassword.Zero()
	}
	if params.Password, err = l.vaultPassword(ctx, f.password); err != nil {
		return err
	}
	defer params.Password.Zero()
	return show(ctx, l, "keys.import", params, func(r protocol.CreateResult) error {
		l.t.madeWallet(r.Wallet)
		return nil
	})
}

// imported reads the secret from a file, a file descriptor or the terminal. A key file
// has several lines and cannot be typed.
func (t *terminal) imported(ctx context.Context, form importForm, f importFlags) (protocol.Secret, error) {
	switch {
	case f.file != "" && f.secret.fd != noDescriptor:
		return nil, usageError{errors.New("give --file or --secret-fd, not both")}
	case f.file != "":
		return readSecretFile(f.file)
	case f.secret.fd == noDescriptor && form.name == "keystore":
		return nil, usageError{errors.New("give the key file with --file")}
	}
	return t.secret(ctx, f.secret, form.what)
}

func readSecretFile(path string) (protocol.Secret, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, usageError{err}
	}
	defer func() { _ = f.Close() }()
	text := make(protocol.Secret, protocol.MaxSecret+1)
	n, err := io.ReadFull(f, text)
	switch {
	case n == 0:
		return nil, usageError{fmt.Errorf("%s is empty", path)}
	case err == nil:
		text.Zero()
		return nil, usageError{fmt.Errorf("%s is longer than %d bytes", path, protocol.MaxSecret)}
	case !errors.Is(err, io.ErrUnexpectedEOF):
		text.Zero()
		return nil, err
	}
	return text[:n], nil
}
