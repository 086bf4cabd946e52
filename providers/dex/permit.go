package dex

import (
	"encoding/json"
	"math/big"
	"time"

	"swapkeep/providers/wire"
	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/math"
	"github.com/ethereum/go-ethereum/signer/core/apitypes"
)

const (
	// maxAllowance and maxSignature bound how long a permit stays valid after it is
	// requested or, when signed, after the consent. The API asks for 30 days and 30 min.
	maxAllowance = 31 * 24 * time.Hour
	maxSignature = time.Hour
	// minPermitLife is how much of both must be left for the swap to be mined in time.
	minPermitLife = 5 * time.Minute

	nonceBits    = 48
	signatureLen = 65
)

const permitSingle = "PermitSingle"

// permitTypes are Permit2's types, with members in hashing order.
var permitTypes = apitypes.Types{
	"EIP712Domain":  {{Name: "name", Type: "string"}, {Name: "chainId", Type: "uint256"}, {Name: "verifyingContract", Type: "address"}},
	permitSingle:    {{Name: "details", Type: "PermitDetails"}, {Name: "spender", Type: "address"}, {Name: "sigDeadline", Type: "uint256"}},
	"PermitDetails": {{Name: "token", Type: "address"}, {Name: "amount", Type: "uint160"}, {Name: "expiration", Type: "uint48"}, {Name: "nonce", Type: "uint48"}},
}

// A permit is Permit2's PermitSingle: spender may pull amount of token until expiration, by
// a signature that is valid until sigDeadline. Times are Unix seconds.
type permit struct {
	token                     common.Address
	amount, expiration, nonce *big.Int
	spender                   common.Address
	sigDeadline               *big.Int
}

// A signedPermit is a permit with the account's signature, 65 bytes.
type signedPermit struct {
	permit
	signature []byte
}

// typed returns the typed data as Permit2 on the chain hashes it.
func (p permit) typed(chainID uint64) apitypes.TypedData {
	return apitypes.TypedData{
		Types: permitTypes, PrimaryType: permitSingle,
		Domain: apitypes.TypedDataDomain{Name: "Permit2", ChainId: (*math.HexOrDecimal256)(new(big.Int).SetUint64(chainID)), VerifyingContract: permit2.Hex()},
		Message: apitypes.TypedDataMessage{
			"details": map[string]any{"token": p.token.Hex(), "amount": p.amount.String(), "expiration": p.expiration.String(), "nonce": p.nonce.String()},
			"spender": p.spender.Hex(), "sigDeadline": p.sigDeadline.String(),
		},
	}
}

// is reports whether two permits are the same in every value.
func (p permit) is(q permit) bool {
	return p.token == q.token && p.spender == q.spender && p.amount.Cmp(q.amount) == 0 &&
		p.expiration.Cmp(q.expiration) == 0 && p.nonce.Cmp(q.nonce) == 0 && p.sigDeadline.Cmp(q.sigDeadline) == 0
}

// checkGrant refuses a permit for anything but exactly n of token, to the pinned router.
func (p permit) checkGrant(token common.Address, n *big.Int, pr tokenPair) error {
	switch {
	case p.token != token || !pr.pulled:
		return refuse(swap.NotAsAccepted, "token", "the permit is for the token %s, not for the input token", p.token)
	case p.spender != pr.router:
		return refuse(swap.NotPinned, "spender", "the permit's spender is %s, not the built-in router", p.spender)
	case p.amount.Cmp(n) != 0 || !pr.holds(p.amount):
		return refuse(swap.NotAsAccepted, "allowance", "the permit is not for exactly the amount").WithAmounts(swap.OfInput, p.amount, n)
	case p.nonce.BitLen() > nonceBits:
		return refuse(swap.Undecodable, "nonce", "the permit's nonce has more than %d bits", nonceBits)
	}
	return nil
}

// checkExpiry refuses a permit that stays valid for too long after from.
func (p permit) checkExpiry(from time.Time) error {
	switch {
	case !p.expiration.IsInt64() || p.expiration.Int64() > from.Add(maxAllowance).Unix():
		return refuse(swap.NotAsAccepted, "expiration", "the permit is valid for more than 31 days")
	case !p.sigDeadline.IsInt64() || p.sigDeadline.Int64() > from.Add(maxSignature).Unix():
		return refuse(swap.NotAsAccepted, "sigDeadline", "the permit's signature is valid for more than an hour")
	}
	return nil
}

// checkLifetime refuses a permit that ends too soon for the swap to be mined, or too late.
func (p *permit) checkLifetime(now time.Time) error {
	if p == nil {
		return nil
	}
	if err := p.checkExpiry(now); err != nil {
		return err
	}
	if p.usableUntil().Before(now.Add(minPermitLife)) {
		return refuse(swap.QuoteExpired, "sigDeadline", "the permit in the quote ends in less than %d minutes; get a new quote, and check this machine's clock", int(minPermitLife.Minutes()))
	}
	return nil
}

// usableUntil returns the last second at which a swap can use the permit. [permit.checkExpiry] has
// checked that both times fit.
func (p permit) usableUntil() time.Time {
	return earliest(time.Unix(p.expiration.Int64(), 0), time.Unix(p.sigDeadline.Int64(), 0))
}

// approval returns what the permit grants.
func (p permit) approval() swap.Approval {
	return swap.Approval{Token: p.token, Spender: p.spender, Amount: p.amount, Until: time.Unix(p.expiration.Int64(), 0).UTC()}
}

// permitValues is a PermitSingle's message as JSON: addresses and decimal strings.
type permitValues struct {
	Details struct {
		Token      *address     `json:"token"`
		Amount     *wire.Amount `json:"amount"`
		Expiration *wire.Amount `json:"expiration"`
		Nonce      *wire.Amount `json:"nonce"`
	} `json:"details"`
	Spender     *address     `json:"spender"`
	SigDeadline *wire.Amount `json:"sigDeadline"`
}

func (v permitValues) permit() (permit, error) {
	d := v.Details
	if d.Token == nil || d.Amount == nil || d.Expiration == nil || d.Nonce == nil || v.Spender == nil || v.SigDeadline == nil {
		return permit{}, refuse(swap.Undecodable, "permit", "the message has not the values of a PermitSingle")
	}
	return permit{d.Token.Address, d.Amount.Int, d.Expiration.Int, d.Nonce.Int, v.Spender.Address, v.SigDeadline.Int}, nil
}

// readPermit reads a PermitSingle to be signed. The typed data are rebuilt from the values
// that were read: if both hash alike, nothing was overlooked.
func readPermit(t swap.Terms, pr tokenPair, given apitypes.TypedData) (swap.Effect, error) {
	p, err := permitFrom(given)
	if err != nil {
		return swap.Effect{}, err
	}
	want, _, err := apitypes.TypedDataAndHash(p.typed(t.SrcChain))
	if err != nil {
		return swap.Effect{}, refuse(swap.Undecodable, "typed", "the permit cannot be hashed: %v", err)
	}
	if got, _, err := apitypes.TypedDataAndHash(given); err != nil || string(got) != string(want) {
		return swap.Effect{}, refuse(swap.Undecodable, "typed", "the message is not a PermitSingle for Permit2 on chain %d", t.SrcChain)
	}
	if err := p.checkTerms(t, pr); err != nil {
		return swap.Effect{}, err
	}
	return swap.Effect{
		Kind: swap.Permit, Chain: t.SrcChain, Target: permit2,
		Approves: []swap.Approval{p.approval()}, Deadline: time.Unix(p.sigDeadline.Int64(), 0).UTC(), Nonce: p.nonce,
	}, nil
}

// checkTerms checks a permit against the terms. The end of the consent bounds its times.
func (p permit) checkTerms(t swap.Terms, pr tokenPair) error {
	if err := p.checkGrant(t.TokenIn, t.AmountIn, pr); err != nil {
		return err
	}
	return p.checkExpiry(t.Deadline)
}

// permitFrom reads the values of a PermitSingle message.
func permitFrom(d apitypes.TypedData) (permit, error) {
	var v permitValues
	raw, err := json.Marshal(d.Message)
	if err == nil {
		err = wire.ReadStrict(raw, &v)
	}
	if err != nil {
		return permit{}, refuse(swap.Undecodable, "typed", "the message has not the values of a PermitSingle")
	}
	return v.permit()
}

// permitArgs is (PermitSingle, bytes signature). The struct is static, so its members are
// encoded in line.
var permitArgs = words("address", "uint160", "uint48", "uint48", "address", "uint256", "bytes")

// runPermit runs PERMIT2_PERMIT with the account's own signature. It may appear once,
// before any swap, and finish requires the input to be pulled.
func runPermit(m *machine, a []any) error {
	p := permit{a[0].(common.Address), a[1].(*big.Int), a[2].(*big.Int), a[3].(*big.Int), a[4].(common.Address), a[5].(*big.Int)}
	signature := a[6].([]byte)
	switch {
	case m.permit != nil || m.swaps > 0 || m.handedOver:
		return refuse(swap.Undecodable, "commands", "a permit after the first command")
	case len(signature) != signatureLen:
		return refuse(swap.Undecodable, "signature", "a signature of %d bytes", len(signature))
	}
	if err := p.checkTerms(m.t, m.pair); err != nil {
		return err
	}
	m.permit = &signedPermit{p, signature}
	return nil
}
