package swap

import (
	"encoding/binary"
	"math/big"

	"swapkeep/chain"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/signer/core/apitypes"
)

// StepKind says how a step is carried out.
type StepKind string

// The three kinds of step. A network switch is a check, not a step.
const (
	CallStep  StepKind = "call"  // a transaction whose bytes are known at review
	TypedStep StepKind = "typed" // an EIP-712 signature
	LateStep  StepKind = "late"  // a transaction whose bytes exist only after an earlier step
)

// A Step is one thing only the wallet can do. Call is set for CallStep, Typed
// for TypedStep, neither for LateStep: its bytes come from [LateBuilder] and
// must have the effect accepted here.
type Step struct {
	Kind   StepKind            `json:"kind"`
	Call   *chain.Call         `json:"call,omitempty"`
	Typed  *apitypes.TypedData `json:"typed,omitempty"`
	Effect Effect              `json:"effect"`
}

// Settlement says what proves that a plan filled.
type Settlement string

// The ways a plan settles.
const (
	ByOwnCall  Settlement = "own_call" // success of the last call, whose bytes enforce the floor
	ByProvider Settlement = "provider" // an order or deposit that the provider settles
)

// A Plan is the ordered steps a user agrees to.
type Plan struct {
	Steps      []Step     `json:"steps"`
	Settlement Settlement `json:"settlement"`
}

// Effects lists what the plan's steps would do, in order.
func (p Plan) Effects() []Effect {
	out := make([]Effect, len(p.Steps))
	for i, s := range p.Steps {
		out[i] = s.Effect
	}
	return out
}

// Digest identifies what the user accepts: terms and ordered effects in a
// canonical encoding (every field in a fixed order, fixed width or prefixed by
// its length). Nonces, expiries, raw calldata and the fresh quote's own minimum
// are not part of it, so a plan may be rebuilt from a fresh quote under the same
// consent: what counts is the accepted floor.
func Digest(t Terms, effects []Effect) common.Hash {
	var e encoder
	e.text("swapkeep plan v1")
	e.text(string(t.Provider))
	e.address(t.Account)
	e.number(t.SrcChain)
	e.address(t.TokenIn)
	e.amount(t.AmountIn)
	e.number(t.DstChain)
	e.address(t.TokenOut)
	e.address(t.Recipient)
	e.amount(t.FloorOut)
	e.number(uint64(t.Deadline.Unix()))
	e.address(t.RefundTo)
	e.number(uint64(t.FeeBps))
	e.address(t.FeeReceiver)
	e.number(uint64(t.MakerFeeBps))
	e.amount(t.GasCeiling)
	e.number(uint64(len(effects)))
	for _, f := range effects {
		e.effect(t, f)
	}
	return crypto.Keccak256Hash(e)
}

// An encoder appends fields so that two different inputs never give the same
// bytes.
type encoder []byte

func (e *encoder) number(n uint64)          { *e = binary.BigEndian.AppendUint64(*e, n) }
func (e *encoder) address(a common.Address) { *e = append(*e, a[:]...) }
func (e *encoder) text(s string)            { e.number(uint64(len(s))); *e = append(*e, s...) }

// amount writes n with its length; a missing amount differs from zero.
func (e *encoder) amount(n *big.Int) {
	if n == nil {
		e.number(^uint64(0))
		return
	}
	e.text(n.String())
}

func (e *encoder) effect(t Terms, f Effect) {
	e.text(string(f.Kind))
	e.number(f.Chain)
	e.address(f.Target)
	e.number(uint64(len(f.Spends)))
	for _, s := range f.Spends {
		e.address(s.Token)
		e.amount(s.Amount)
	}
	e.number(uint64(len(f.Approves)))
	for _, a := range f.Approves {
		e.address(a.Token)
		e.address(a.Spender)
		e.amount(a.Amount)
	}
	e.number(uint64(len(f.Receives)))
	for _, r := range f.Receives {
		e.address(r.Token)
		e.address(r.To)
		if r.Token == t.TokenOut && r.To == t.Recipient {
			e.amount(t.FloorOut)
		} else {
			e.amount(r.Min)
		}
	}
	e.number(uint64(len(f.Pays)))
	for _, p := range f.Pays {
		e.address(p.Token)
		e.address(p.To)
		e.number(uint64(p.Bps))
	}
	e.text(f.TrustedTo)
}
