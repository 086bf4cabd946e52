package main

import (
	"context"

	"github.com/ethereum/go-ethereum/common"

	"swapkeep/config"
	"swapkeep/host"
	"swapkeep/host/protocol"
	"swapkeep/keys"
)

// wallet adapts the vault to the protocol's types.
type wallet struct {
	*keys.Vault
	cfg config.Config
}

func (w wallet) Status(ctx context.Context) (protocol.KeysStatus, error) {
	s, err := w.Vault.Status(ctx)
	out := protocol.KeysStatus{State: protocol.KeysUnlocked, Backend: w.cfg.Keys.Backend, Wallets: []protocol.Wallet{},
		AutoLockSeconds: int(w.AutoLock().Seconds()), LocksAt: s.LocksAt}
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

// seedWarning is sent with the mnemonic of a new sandbox wallet.
const seedWarning = "SANDBOX wallet: its words are for this sandbox only; never send real money to it"

func (w wallet) Create(ctx context.Context, name string, count int, password []byte) (protocol.Wallet, []byte, string, error) {
	k, words, err := w.Vault.Create(ctx, name, count, password)
	if err != nil {
		return protocol.Wallet{}, nil, "", err
	}
	warning := ""
	if w.cfg.Sandbox {
		warning = seedWarning
	}
	return walletOf(k), words.Reveal(), warning, nil // the caller wipes them
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
		Form: keys.Form(p.Format), Wallet: p.Wallet, Account: common.HexToAddress(string(p.Account)),
		Password: p.Password, KeystorePassword: p.KeystorePassword,
	})
	if err != nil {
		return nil, err
	}
	return e.Reveal(), nil // the host wipes it
}

func (w wallet) Add(ctx context.Context, id, name string) (protocol.Account, error) {
	id, err := w.only(ctx, id)
	if err != nil {
		return protocol.Account{}, err
	}
	a, err := w.Vault.Add(ctx, id, name)
	return accountOf(a), err
}

func (w wallet) Discover(ctx context.Context, id string) (protocol.Discovery, error) {
	id, err := w.only(ctx, id)
	if err != nil {
		return protocol.Discovery{}, err
	}
	d, err := w.Vault.Discover(ctx, id)
	return discoveryOf(d), err
}

// only returns id or, for "", the id of the only wallet.
func (w wallet) only(ctx context.Context, id string) (string, error) {
	if id != "" {
		return id, nil
	}
	wallets, err := w.Wallets(ctx)
	if err != nil {
		return "", err
	}
	if len(wallets) != 1 {
		return "", keys.ErrUnknownWallet
	}
	return wallets[0].ID, nil
}

var causes = map[keys.ChangeKind]string{
	keys.Unlocked: protocol.CauseUnlocked, keys.Locked: protocol.CauseLocked,
	keys.Listed: protocol.CauseListed, keys.Discovered: protocol.CauseDiscovered,
}

func (w wallet) Subscribe(f func(host.WalletChange)) (stop func()) {
	return w.Vault.Subscribe(func(c keys.Change) {
		cause, ok := causes[c.Kind]
		if !ok {
			return
		}
		change := host.WalletChange{Cause: cause, Idle: c.Idle}
		if c.Discovery != nil {
			d := discoveryOf(*c.Discovery)
			change.Discovery, change.Err = &d, c.Discovery.Err
		}
		f(change)
	})
}

func discoveryOf(d keys.Discovery) protocol.Discovery {
	return protocol.Discovery{
		Wallet: d.Wallet, Checked: d.Searched, Found: accountsOf(d.Found), Unreachable: append([]uint64{}, d.Silent...), Done: d.Done,
	}
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
