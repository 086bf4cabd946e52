package host

import (
	"context"

	"swapkeep/host/protocol"
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
	return c.once(ctx, p.Request, p, func() (first, repeated any, err error) {
		w, err := c.s.Wallet.Import(ctx, p.Name, p.Mnemonic, p.Password)
		if err != nil {
			return nil, nil, err
		}
		made := protocol.CreateResult{Wallet: w}
		return made, made, nil
	})
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

// keysLock relies on the wallet telling of the lock, which ends the sessions.
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
