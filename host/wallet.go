package host

import (
	"context"

	"swapkeep/host/protocol"
	"swapkeep/swap"
)

func (c *call) keysStatus(ctx context.Context, _ *protocol.None) (any, error) {
	status, err := c.s.Wallet.Status(ctx)
	if err != nil {
		return nil, err
	}
	status.Session = c.sessionOf() != nil
	return status, nil
}

func (c *call) keysCreate(ctx context.Context, p *protocol.CreateParams) (any, error) {
	if p.Words == 0 {
		p.Words = 12
	}
	if p.Words != 12 && p.Words != 24 {
		return nil, badParam("words", "must be 12 or 24")
	}
	return c.once(ctx, p.Request, p, func() (first, repeated any, err error) {
		w, words, warning, err := c.s.Wallet.Create(ctx, p.Name, p.Words, p.Password)
		if err != nil {
			return nil, nil, err
		}
		return protocol.CreateResult{Wallet: w, Words: words, Warning: warning}, protocol.CreateResult{Wallet: w}, nil
	})
}

func (c *call) keysImport(ctx context.Context, p *protocol.ImportParams) (any, error) {
	sources := given(p.Mnemonic, p.PrivateKey, p.Keystore)
	switch {
	case sources != 1:
		return nil, badParam("mnemonic", "must be given, or privateKey, or keystore: exactly one of them")
	case len(p.KeystorePassword) > 0 && len(p.Keystore) == 0:
		return nil, badParam("keystorePassword", "belongs to keystore")
	}
	return c.once(ctx, p.Request, p, func() (first, repeated any, err error) {
		w, err := c.s.Wallet.Import(ctx, p)
		if err != nil {
			return nil, nil, err
		}
		created := protocol.CreateResult{Wallet: w}
		return created, created, nil
	})
}

// given counts the nonempty values.
func given[T ~string | ~[]byte](values ...T) (n int) {
	for _, v := range values {
		if len(v) > 0 {
			n++
		}
	}
	return n
}

func (c *call) keysRename(ctx context.Context, p *protocol.RenameParams) (any, error) {
	if given(p.Wallet, string(p.Account)) != 1 {
		return nil, badParam("wallet", "must be given, or account: exactly one of them")
	}
	return c.once(ctx, p.Request, p, func() (first, repeated any, err error) {
		return sameWallet(c.s.Wallet.Rename(ctx, p))
	})
}

// keysRemove checks for open orders first: without its key an order could neither
// continue nor be cancelled. An order accepted at the moment of the removal is missed; it
// waits for the key until its deadline.
func (c *call) keysRemove(ctx context.Context, p *protocol.RemoveParams) (any, error) {
	return c.once(ctx, p.Request, p, func() (first, repeated any, err error) {
		if err := c.withoutOrders(ctx, p.Wallet, p.Damaged); err != nil {
			return nil, nil, err
		}
		return sameWallet(c.s.Wallet.Remove(ctx, p.Wallet, p.Password))
	})
}

func (c *call) keysClear(ctx context.Context, _ *protocol.None) (any, error) {
	return protocol.None{}, c.s.Wallet.Clear(ctx)
}

// withoutOrders refuses a wallet if one of its accounts has an open order. An order with
// a damaged record may be of any account and never ends; with damaged set it is ignored.
func (c *call) withoutOrders(ctx context.Context, wallet string, damaged bool) error {
	accounts, err := c.s.Wallet.Accounts(ctx)
	if err != nil {
		return err
	}
	for _, a := range accounts {
		if a.Wallet != wallet {
			continue
		}
		if err := c.withoutOrder(ctx, a, damaged); err != nil {
			return err
		}
	}
	return nil
}

func (c *call) withoutOrder(ctx context.Context, a protocol.Account, damaged bool) error {
	for o, err := range c.s.openOrders(ctx, evmAddress(a.Address)) {
		switch {
		case err != nil:
			return err
		case o.State != swap.Unreadable:
			return protocol.New("open_orders", "").With("account", string(a.Address)).With("order", o.ID)
		case !damaged:
			e := protocol.New("record_damaged", "").With("account", string(a.Address)).With("order", o.ID)
			e.Remedy += "; swapkeep keys remove --damaged removes the wallet all the same"
			return e
		}
	}
	return nil
}

// sameWallet returns the same result for an act and its repeats.
func sameWallet(w protocol.Wallet, err error) (first, repeated any, _ error) {
	if err != nil {
		return nil, nil, err
	}
	return protocol.WalletResult{Wallet: w}, protocol.WalletResult{Wallet: w}, nil
}

// exportNeeds is what each format of export requires in addition to the password.
var exportNeeds = map[string]struct{ wallet, account, file bool }{
	protocol.ExportWords:    {wallet: true},
	protocol.ExportKey:      {account: true},
	protocol.ExportKeystore: {account: true, file: true},
}

func (c *call) keysExport(ctx context.Context, p *protocol.ExportParams) (any, error) {
	need, known := exportNeeds[p.Format]
	if !known {
		return nil, badParam("format", "must be words, privateKey or keystore")
	}
	for _, f := range []struct {
		name        string
		given, need bool
	}{
		{"wallet", p.Wallet != "", need.wallet},
		{"account", p.Account != "", need.account},
		{"keystorePassword", len(p.KeystorePassword) > 0, need.file},
	} {
		switch {
		case f.need && !f.given:
			return nil, badParam(f.name, "is missing: this form needs it")
		case f.given && !f.need:
			return nil, badParam(f.name, "does not belong to this form")
		}
	}
	secret, err := c.s.Wallet.Export(ctx, p)
	if err != nil {
		return nil, err
	}
	return protocol.ExportResult{Format: p.Format, Secret: secret}, nil
}

func (c *call) keysUnlock(ctx context.Context, p *protocol.UnlockParams) (any, error) {
	if err := c.s.Wallet.Unlock(ctx, p.Password); err != nil {
		return nil, err
	}
	if ctx.Err() != nil || !c.openSession() {
		return nil, protocol.New("locked", "the wallet was locked while it was being unlocked")
	}
	return c.keysStatus(ctx, nil)
}

// keysLock relies on the wallet's change notification to end the sessions.
func (c *call) keysLock(ctx context.Context, _ *protocol.None) (any, error) {
	c.s.Wallet.Lock()
	return c.keysStatus(ctx, nil)
}

func (c *call) keysAccounts(ctx context.Context, _ *protocol.None) (any, error) {
	accounts, err := c.s.Wallet.Accounts(ctx)
	if err != nil {
		return nil, err
	}
	return protocol.AccountsResult{Accounts: append([]protocol.Account{}, accounts...)}, nil
}

func (c *call) keysAdd(ctx context.Context, p *protocol.AddParams) (any, error) {
	return c.once(ctx, p.Request, p, func() (first, repeated any, err error) {
		a, err := c.s.Wallet.Add(ctx, p.Wallet, p.Name)
		if err != nil {
			return nil, nil, err
		}
		return protocol.AddResult{Account: a}, protocol.AddResult{Account: a}, nil
	})
}

func (c *call) keysDiscover(ctx context.Context, p *protocol.DiscoverParams) (any, error) {
	return c.once(ctx, p.Request, p, func() (first, repeated any, err error) {
		d, err := c.s.Wallet.Discover(ctx, p.Wallet)
		if err != nil {
			return nil, nil, err
		}
		return d, d, nil
	})
}
