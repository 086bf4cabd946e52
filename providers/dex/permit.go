package dex

import (
	"encoding/json"
	"math/big"
	"time"

	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/math"
	"github.com/ethereum/go-ethereum/signer/core/apitypes"
)

const (
	// maxAllowance and maxSignature bound how long a permit outlives the consent:
	// the API asks for 30 days and 30 minutes.
	maxAllowance = 31 * 24 * time.Hour
	maxSignature = time.Hour

	signatureLen = 65
)

// permitTypes are Permit2's, in the order in which they are hashed.
var permitTypes = apitypes.Types{
	"EIP712Domain":  {{Name: "name", Type: "string"}, {Name: "chainId", Type: "uint256"}, {Name: "verifyingContract", Type: "address"}},
	"PermitSingle":  {{Name: "details", Type: "PermitDetails"}, {Name: "spender", Type: "address"}, {Name: "sigDeadline", Type: "uint256"}},
	"PermitDetails": {{Name: "token", Type: "address"}, {Name: "amount", Type: "uint160"}, {Name: "expiration", Type: "uint48"}, {Name: "nonce", Type: "uint48"}},
}

// A permit is Permit2's PermitSingle: spender may pull amount of token until
// expiration, by a signature that is good until sigDeadline.
type permit struct {
	token                     common.Address
	amount, expiration, nonce *big.Int
	spender                   common.Address
	sigDeadline               *big.Int
}

// typed is the permit as Permit2 on the chain hashes it.
func (p permit) typed(chainID uint64) apitypes.TypedData {
	return apitypes.TypedData{
		Types: permitTypes, PrimaryType: "PermitSingle",
		Domain: apitypes.TypedDataDomain{Name: "Permit2", ChainId: (*math.HexOrDecimal256)(new(big.Int).SetUint64(chainID)), VerifyingContract: permit2.Hex()},
		Message: apitypes.TypedDataMessage{
			"details": map[string]any{"token": p.token.Hex(), "amount": p.amount.String(), "expiration": p.expiration.String(), "nonce": p.nonce.String()},
			"spender": p.spender.Hex(), "sigDeadline": p.sigDeadline.String(),
		},
	}
}

// allows says what the permit grants, if that is what the terms need: exactly
// the input, to the router, not for long.
func (p permit) allows(t swap.Terms, pr pair) (swap.Approval, error) {
	longest := t.Deadline.Add(maxAllowance).Unix()
	switch {
	case p.token != t.TokenIn || p.token == nativeCoin:
		return swap.Approval{}, refuse(swap.NotAsAccepted, "token", "the permit is for %s, not for the input token", p.token)
	case p.spender != pr.router:
		return swap.Approval{}, refuse(swap.NotPinned, "spender", "the permit is for %s, not for the built-in router", p.spender)
	case p.amount.Cmp(t.AmountIn) != 0:
		return swap.Approval{}, refuse(swap.NotAsAccepted, "amount", "the permit is for %s, not for exactly %s", p.amount, t.AmountIn)
	case !p.expiration.IsInt64() || p.expiration.Int64() > longest:
		return swap.Approval{}, refuse(swap.NotAsAccepted, "expiration", "the permit stays valid for over 31 days")
	case !p.sigDeadline.IsInt64() || p.sigDeadline.Int64() > t.Deadline.Add(maxSignature).Unix():
		return swap.Approval{}, refuse(swap.NotAsAccepted, "sigDeadline", "the permit's signature outlives the accepted deadline by over an hour")
	}
	return swap.Approval{Token: p.token, Spender: p.spender, Amount: p.amount, Until: time.Unix(p.expiration.Int64(), 0).UTC()}, nil
}

// readPermit reads a PermitSingle to be signed. The typed data is built anew
// from the values that were read: if both hash alike, nothing was overlooked.
func readPermit(t swap.Terms, pr pair, given apitypes.TypedData) (swap.Effect, error) {
	p, err := permitFrom(given)
	if err != nil {
		return swap.Effect{}, err
	}
	want, _, err := apitypes.TypedDataAndHash(p.typed(t.SrcChain))
	if err != nil {
		return swap.Effect{}, refuse(swap.NotUnderstood, "typed", "the permit cannot be hashed: %v", err)
	}
	if got, _, err := apitypes.TypedDataAndHash(given); err != nil || string(got) != string(want) {
		return swap.Effect{}, refuse(swap.NotUnderstood, "typed", "the message is not a PermitSingle for Permit2 on chain %d", t.SrcChain)
	}
	a, err := p.allows(t, pr)
	if err != nil {
		return swap.Effect{}, err
	}
	return swap.Effect{
		Kind: swap.Permit, Chain: t.SrcChain, Target: permit2,
		Approves: []swap.Approval{a}, Deadline: time.Unix(p.sigDeadline.Int64(), 0).UTC(),
	}, nil
}

// permitFrom reads the values of a message: addresses and decimal strings.
func permitFrom(d apitypes.TypedData) (permit, error) {
	var m struct {
		Details struct {
			Token      *address `json:"token"`
			Amount     *amount  `json:"amount"`
			Expiration *amount  `json:"expiration"`
			Nonce      *amount  `json:"nonce"`
		} `json:"details"`
		Spender     *address `json:"spender"`
		SigDeadline *amount  `json:"sigDeadline"`
	}
	raw, err := json.Marshal(d.Message)
	if err == nil {
		err = json.Unmarshal(raw, &m)
	}
	if v := m.Details; err != nil || v.Token == nil || v.Amount == nil || v.Expiration == nil || v.Nonce == nil || m.Spender == nil || m.SigDeadline == nil {
		return permit{}, refuse(swap.NotUnderstood, "typed", "the message has not the values of a PermitSingle")
	}
	return permit{m.Details.Token.Address, m.Details.Amount.Int, m.Details.Expiration.Int, m.Details.Nonce.Int, m.Spender.Address, m.SigDeadline.Int}, nil
}

// permitArgs is (PermitSingle, bytes signature); the struct is static, so its
// members stand in line.
var permitArgs = words("address", "uint160", "uint48", "uint48", "address", "uint256", "bytes")

// runPermit: the account's own signature, handed to Permit2. It comes first and
// once, and finish wants the allowance to be used.
func runPermit(m *machine, a []any) error {
	p := permit{a[0].(common.Address), a[1].(*big.Int), a[2].(*big.Int), a[3].(*big.Int), a[4].(common.Address), a[5].(*big.Int)}
	switch {
	case m.permit != nil || m.swaps > 0 || m.handed:
		return refuse(swap.NotUnderstood, "commands", "a permit after the first command")
	case len(a[6].([]byte)) != signatureLen:
		return refuse(swap.NotUnderstood, "signature", "a signature of %d bytes", len(a[6].([]byte)))
	}
	got, err := p.allows(m.t, m.pair)
	if err != nil {
		return err
	}
	m.permit = &got
	return nil
}
