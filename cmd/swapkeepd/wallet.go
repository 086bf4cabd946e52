package main

import (
	"context"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"swapkeep/config"
	"swapkeep/host/protocol"
	"swapkeep/keys"
)

// wallet is the vault in the words of the wire.
type wallet struct {
	*keys.Vault
	cfg config.Config
}

func (w wallet) Status(ctx context.Context) (protocol.KeysStatus, error) {
	s, err := w.Vault.Status(ctx)
	out := protocol.KeysStatus{State: protocol.KeysUnlocked, Backend: w.cfg.Keys.Backend, Wallets: []protocol.Wallet{},
		AutoLockSeconds: int(time.Duration(w.cfg.Keys.AutoLock).Seconds()), LocksAt: s.LocksAt}
	switch {
	case err == nil && s.Wallets == 0:
		out.State = protocol.KeysNone
	case s.Locked:
		out.State = protocol.KeysLocked
	}
	if err != nil {
		return out, err
	}
	wallets, err := w.Wallets(ctx)
	for _, k := range wallets {
		out.Wallets = append(out.Wallets, walletOf(k))
	}
	return out, err
}

func (w wallet) Accounts(ctx context.Context) ([]protocol.Account, error) {
	accounts, err := w.Vault.Accounts(ctx)
	return accountsOf(accounts), err
}

// seedWarning goes with the words of a new wallet in the sandbox.
const seedWarning = "SANDBOX wallet: its words are for this sandbox only; never send real money to it"

func (w wallet) Create(ctx context.Context, name string, count int, password []byte) (protocol.Wallet, []byte, string, error) {
	k, words, err := w.Vault.Create(ctx, name, count, password)
	if err != nil {
		return protocol.Wallet{}, nil, "", err
	}
	defer words.Zero()
	warning := ""
	if w.cfg.Sandbox {
		warning = seedWarning
	}
	return walletOf(k), append([]byte(nil), words.Reveal()...), warning, nil
}

func (w wallet) Import(ctx context.Context, p *protocol.ImportParams) (k protocol.Wallet, err error) {
	var made keys.Wallet
	switch {
	case len(p.Mnemonic) > 0:
		made, err = w.ImportMnemonic(ctx, p.Name, p.Mnemonic, p.Password)
	case len(p.PrivateKey) > 0:
		made, err = w.ImportKey(ctx, p.Name, p.PrivateKey, p.Password)
	default:
		made, err = w.ImportKeystore(ctx, p.Name, p.Keystore, p.KeystorePassword, p.Password)
	}
	return walletOf(made), err
}

func (w wallet) Rename(ctx context.Context, p *protocol.RenameParams) (protocol.Wallet, error) {
	if p.Account != "" {
		k, err := w.RenameAccount(ctx, common.HexToAddress(string(p.Account)), p.Name)
		return walletOf(k), err
	}
	k, err := w.RenameWallet(ctx, p.Wallet, p.Name)
	return walletOf(k), err
}

func (w wallet) Remove(ctx context.Context, id string, password []byte) (protocol.Wallet, error) {
	k, err := w.Vault.Remove(ctx, id, password)
	return walletOf(k), err
}

func (w wallet) Export(ctx context.Context, p *protocol.ExportParams) ([]byte, error) {
	e, err := w.Vault.Export(ctx, keys.Export{
		Form: keys.Form(p.Form), Wallet: p.Wallet, Account: common.HexToAddress(string(p.Account)),
		Password: p.Password, KeystorePassword: p.KeystorePassword,
	})
	if err != nil {
		return nil, err
	}
	return e.Reveal(), nil // the host wipes it
}

func (w wallet) Add(ctx context.Context, id, name string) (protocol.Account, error) {
	if id == "" {
		wallets, err := w.Wallets(ctx)
		if err != nil {
			return protocol.Account{}, err
		}
		if len(wallets) != 1 {
			return protocol.Account{}, keys.ErrUnknownWallet
		}
		id = wallets[0].ID
	}
	a, err := w.Vault.Add(ctx, id, name)
	return accountOf(a), err
}

func (w wallet) Subscribe(f func(cause string, idle bool)) (stop func()) {
	causes := map[keys.ChangeKind]string{keys.Unlocked: protocol.CauseUnlocked, keys.Locked: protocol.CauseLocked, keys.Listed: protocol.CauseListed}
	return w.Vault.Subscribe(func(c keys.Change) {
		if cause, ok := causes[c.Kind]; ok {
			f(cause, c.Idle)
		}
	})
}

func walletOf(k keys.Wallet) protocol.Wallet {
	return protocol.Wallet{ID: k.ID, Name: k.Name, Kind: k.Kind, Accounts: accountsOf(k.Accounts)}
}

func accountsOf(in []keys.Account) []protocol.Account {
	out := make([]protocol.Account, 0, len(in))
	for _, a := range in {
		out = append(out, accountOf(a))
	}
	return out
}

func accountOf(a keys.Account) protocol.Account {
	return protocol.Account{Address: protocol.Address(a.Address.Hex()), Name: a.Label, Wallet: a.Wallet, Path: a.Path}
}
