package swap

import (
	"encoding/binary"
	"math/big"
	"slices"

	"swapkeep/chain"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/signer/core/apitypes"
)

// StepKind says how a step is carried out.
type StepKind string

// The three kinds of step. A network switch is a check, not a step.
const (
	CallStep     StepKind = "call"     // transaction whose bytes are known at review
	TypedStep    StepKind = "typed"    // EIP-712 signature
	DeferredStep StepKind = "deferred" // transaction whose bytes exist only after an earlier step
)

// A Step is one thing that only the wallet can do. Call is set for CallStep, Typed for
// TypedStep, neither for DeferredStep: its bytes come from a [DeferredBuilder] and must have the
// effect accepted here.
type Step struct {
	Kind      StepKind            `json:"kind"`
	Call      *chain.Call         `json:"call,omitempty"`
	TypedData *apitypes.TypedData `json:"typedData,omitempty"`
	Effect    Effect              `json:"effect"`
}

// A SettledBy says what proves that a plan was filled.
type SettledBy string

const (
	ByOwnCall  SettledBy = "own_call" // success of the last call, whose bytes enforce the minimum received
	ByProvider SettledBy = "provider" // an order or deposit that the provider settles
)

// A Plan is the ordered steps that a user agrees to.
type Plan struct {
	Steps      []Step    `json:"steps"`
	Settlement SettledBy `json:"settlement"`
	// Spender pulls the input through an ERC-20 allowance; zero = none.
	Spender common.Address `json:"spender,omitzero"`
}

// LastEffect returns the effect of the step that spends the input; zero if there are no steps.
func (p Plan) LastEffect() Effect {
	if len(p.Steps) == 0 {
		return Effect{}
	}
	return p.Steps[len(p.Steps)-1].Effect
}

// Effects returns what the plan's steps would do, in order.
func (p Plan) Effects() []Effect {
	out := make([]Effect, len(p.Steps))
	for i, s := range p.Steps {
		out[i] = s.Effect
	}
	return out
}

// Digest identifies what the user accepts: terms and ordered effects in a canonical
// encoding (every field in a fixed order, of fixed width or prefixed by its length).
// Nonces, expiries, raw calldata and the fresh quote's own minimum are not part of it, so
// a plan may be rebuilt from a fresh quote under the same consent: what counts is the
// accepted minimum received.
//
// Of an approval it has token, spender and the plan's own part of the amount. What other
// signed orders need of the same allowance (Shares), and whether the token needs a reset
// to zero first, are facts about the chain at signing. They may change between review and
// execution, and consent to this plan is neither for nor against another order's part.
// [Check] still requires the amount to be own part plus shares, and the engine takes the
// shares from the journal. An approval that was not shown at all needs a new consent; one
// that was shown and is no longer needed is skipped.
func Digest(t Terms, effects []Effect) common.Hash {
	var e Encoder
	e.Text("swapkeep plan v1")
	e.Text(string(t.Provider))
	e.Address(t.Account)
	e.Number(t.SrcChain)
	e.Address(t.TokenIn)
	e.amount(t.AmountIn)
	e.Number(t.DstChain)
	e.Address(t.TokenOut)
	e.Address(t.Recipient)
	e.amount(t.MinOut)
	e.Number(uint64(t.Deadline.Unix()))
	e.Address(t.RefundTo)
	e.Number(uint64(t.FeeBps))
	e.Address(t.FeeReceiver)
	e.Number(uint64(t.MakerFeeBps))
	e.amount(t.GasCeiling)
	e.Address(t.Wrap)
	back := t.MinRefund()
	e.Address(back.Token)
	e.amount(back.Amount)
	effects = slices.DeleteFunc(slices.Clone(effects), func(f Effect) bool { return resets(t, f) })
	e.Number(uint64(len(effects)))
	for _, f := range effects {
		e.effect(t, f)
	}
	if t.IsIsolated() {
		e.Address(t.Isolated)
	}
	return crypto.Keccak256Hash(e)
}

// resets reports whether an effect only sets a swap's allowance to zero.
func resets(t Terms, f Effect) bool {
	return t.Provider != Wallet && f.Kind == Approve && len(f.Approves) == 1 && f.Approves[0].Amount != nil && f.Approves[0].Amount.Sign() == 0
}

// own returns the plan's own part of an approval's amount.
func (a Approval) own() *big.Int {
	if a.Shares == nil || a.Amount == nil {
		return a.Amount
	}
	return new(big.Int).Sub(a.Amount, a.Shares)
}

// An Encoder appends fields so that different inputs never give the same bytes.
type Encoder []byte

// Number, Address and Text append one field.
func (e *Encoder) Number(n uint64) { *e = binary.BigEndian.AppendUint64(*e, n) }

func (e *Encoder) Address(a common.Address) { *e = append(*e, a[:]...) }

func (e *Encoder) Text(s string) { e.Number(uint64(len(s))); *e = append(*e, s...) }

// amount appends n with its length; nil differs from zero.
func (e *Encoder) amount(n *big.Int) {
	if n == nil {
		e.Number(^uint64(0))
		return
	}
	e.Text(n.String())
}

func (e *Encoder) effect(t Terms, f Effect) {
	e.Text(string(f.Kind))
	e.Number(f.Chain)
	e.Address(f.Target)
	e.Number(uint64(len(f.Spends)))
	for _, s := range f.Spends {
		e.Address(s.Token)
		e.amount(s.Amount)
	}
	e.Number(uint64(len(f.Approves)))
	for _, a := range f.Approves {
		e.Address(a.Token)
		e.Address(a.Spender)
		e.amount(a.own())
	}
	e.Number(uint64(len(f.Receives)))
	for _, r := range f.Receives {
		e.Address(r.Token)
		e.Address(r.To)
		if r.Token == t.TokenOut && r.To == t.Recipient {
			e.amount(t.MinOut)
		} else {
			e.amount(r.Min)
		}
	}
	e.Number(uint64(len(f.Pays)))
	for _, p := range f.Pays {
		e.Address(p.Token)
		e.Address(p.To)
		e.Number(uint64(p.Bps))
	}
	e.Text(f.TrustedTo)
	e.Address(f.Settler)
}
