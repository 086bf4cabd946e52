package swap

import (
	"math/big"

	"github.com/ethereum/go-ethereum/common"
)

// Wallet is the kind of an order that the wallet carries out without a provider: the
// revoke of an allowance. It is not in the spec's selector and quotes nothing.
const Wallet Kind = "wallet"

// Permit2Contract is Permit2's address on every chain that has it (Uniswap permit2
// deployments).
var Permit2Contract = common.HexToAddress("0x000000000022D473030F116dDEE9F6B43aC78BA3")

// AllowanceKind says which contract stores an allowance.
type AllowanceKind string

const (
	ByToken   AllowanceKind = "erc20"   // the token itself (EIP-20 approve)
	ByPermit2 AllowanceKind = "permit2" // Permit2, which spends through its own allowance on the token
)

// A Grant identifies one allowance: token, spender, and which contract stores it.
type Grant struct {
	Token   common.Address `json:"token"`
	Spender common.Address `json:"spender"`
	Kind    AllowanceKind  `json:"kind"`
}

// Keeper returns the contract that stores g.
func (g Grant) Keeper() common.Address {
	if g.Kind == ByPermit2 {
		return Permit2Contract
	}
	return g.Token
}

// checkRevoke is [Check] for orders of kind [Wallet]: they may only set one allowance of
// the account to zero, for any spender.
func checkRevoke(t Terms, effects []Effect, pins Pins) error {
	if err := t.checkRevoke(); err != nil {
		return err
	}
	if len(effects) != 1 || effects[0].Kind != Approve {
		return Refuse(NotAsAccepted, "a revoke must be one step that sets an allowance")
	}
	f := effects[0]
	if f.Chain != t.SrcChain {
		return RefuseField(NotAsAccepted, "chainId", "the revoke is on chain %d; expected chain %d", f.Chain, t.SrcChain)
	}
	if err := checkMovesNothing(f, "approves"); err != nil {
		return err
	}
	a, err := oneApproval(t, f)
	switch {
	case err != nil:
		return err
	case a.Amount.Sign() != 0 || a.Shares != nil || !a.Until.IsZero():
		return RefuseField(NotAsAccepted, "allowance", "a revoke must set the allowance to zero").WithAmounts(OfInput, a.Amount, nil)
	case a.Spender == common.Address{}:
		return RefuseField(NotAsAccepted, "spender", "the revoke names no spender")
	case f.Target != t.TokenIn && !(f.Target == Permit2Contract && pins.Allows(f.Chain, Verifier, f.Target)):
		return RefuseField(NotPinned, "to", "the revoke calls %s, which is neither the token nor Permit2", f.Target)
	case !f.Deadline.IsZero() || f.TrustedTo != "":
		return RefuseField(NotAsAccepted, "deadline", "a revoke has no deadline and no trusted party")
	}
	return nil
}

// checkRevoke refuses terms that are not a revoke's.
func (t Terms) checkRevoke() error {
	zero := common.Address{}
	switch {
	case t.Provider != Wallet || t.Account == zero || t.TokenIn == zero:
		return RefuseField(BadRequest, "token", "a revoke needs an account and a token")
	case t.SrcChain != t.DstChain || t.TokenOut != t.TokenIn || t.Recipient != t.Account || t.RefundTo != t.Account:
		return RefuseField(BadRequest, "recipient", "a revoke is about one token of one account")
	case !isZero(t.AmountIn) || !isZero(t.MinOut):
		return RefuseField(BadRequest, "amountIn", "a revoke moves nothing")
	case t.FeeBps != 0 || t.MakerFeeBps != 0 || t.FeeReceiver != zero:
		return RefuseField(BadRequest, "feeBps", "a revoke has no fee")
	case t.Deadline.IsZero():
		return RefuseField(BadRequest, "deadline", "no deadline")
	case t.GasCeiling == nil || t.GasCeiling.Sign() <= 0:
		return RefuseField(BadRequest, "gasCeiling", "no network fee limit")
	}
	return nil
}

func isZero(n *big.Int) bool { return n != nil && n.Sign() == 0 }

// GrantOf returns the grant that an effect of kind Approve sets.
func GrantOf(f Effect) Grant {
	g := Grant{Token: f.Approves[0].Token, Spender: f.Approves[0].Spender, Kind: ByToken}
	if f.Target != g.Token {
		g.Kind = ByPermit2
	}
	return g
}
