package host

import (
	"context"

	"swapkeep/host/protocol"
	"swapkeep/swap/engine"
	"swapkeep/tokens"

	"github.com/ethereum/go-ethereum/common"
)

// approvalsList prepares the revoke of each listed allowance if the network is active and
// the caller may act, because only then can the revoke be consented to.
func (c *call) approvalsList(ctx context.Context, p *protocol.ApprovalsParams) (any, error) {
	id, err := c.s.chainOr(p.ChainID)
	if err != nil {
		return nil, err
	}
	if err := c.ownAccount(ctx, p.Account); err != nil {
		return nil, err
	}
	active, err := c.s.activeNetwork()
	if err != nil {
		return nil, err
	}
	prepare := id == active && !c.caller().ReadOnly
	found, next, err := c.s.Swaps.Allowances(ctx, engine.AllowancesRequest{
		Account: evmAddress(p.Account), Chain: id, Tokens: OwnTokens(c.s.Tokens.On(id)),
		Cursor: p.Cursor, Prepare: prepare,
	})
	if err != nil {
		return nil, err
	}
	if err := c.stillActive(id); prepare && err != nil {
		return nil, err
	}
	out := protocol.ApprovalsResult{ChainID: id, Account: p.Account, Cursor: next, Allowances: list(found, allowanceOf)}
	for i := range out.Allowances {
		a := &out.Allowances[i]
		if t, known := c.s.Tokens.Lookup(id, found[i].Token); known {
			decimals := int(t.Decimals)
			a.Symbol, a.Decimals = t.Symbol, &decimals
		}
	}
	return out, nil
}

// OwnTokens returns the verified and imported tokens, which the user may have swapped.
// Tokens that are only on large lists are not checked one by one; a call that cannot be
// decoded is checked against more of them.
func OwnTokens(known []tokens.Token) (own []common.Address) {
	for _, t := range known {
		if t.Verified || t.Imported {
			own = append(own, t.Address)
		}
	}
	return own
}

// stillActive returns network_not_active, and drops all plans, if the active network has
// changed since a plan was prepared for chain id.
func (c *call) stillActive(id uint64) error {
	active, err := c.s.activeNetwork()
	if err == nil && active != id {
		c.s.Swaps.DropPlans()
		err = protocol.Newf("network_not_active", "chain %d is no longer the active network", id)
	}
	return err
}

func (c *call) approvalsRevoke(ctx context.Context, p *protocol.RevokeParams) (any, error) {
	caller, err := c.actCaller(ctx, p.Password, "")
	if err != nil {
		return nil, err
	}
	r := engine.ExecuteRequest{Caller: caller, Request: string(p.Request), Digest: common.HexToHash(string(p.Digest))}
	return c.byPerson(ctx, p.Request, p, func(ctx context.Context) (any, error) { return orderOr(c.s.Swaps.Revoke(ctx, r)) })
}

func allowanceOf(a engine.Allowance) protocol.Allowance {
	out := protocol.Allowance{
		ChainID: a.Chain, Token: addressOf(a.Token), Spender: addressOf(a.Spender), Name: a.Name, Provider: string(a.Provider), Kind: string(a.Kind),
		Amount: amountOf(a.Amount), Unlimited: a.Unlimited(), Expires: optionalTime(a.Expires), Reserved: amountOf(a.Share), Leftover: a.Leftover,
	}
	if r := a.Review; r != nil {
		gas := gasOf(r.Gas)
		out.Digest, out.Gas, out.Findings = hashOf(r.Digest), &gas, list(r.Findings, findingOf)
	}
	return out
}
