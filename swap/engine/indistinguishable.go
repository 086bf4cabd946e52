package engine

import (
	"errors"
	"fmt"

	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"
)

// signatureLen is the length of an ECDSA signature (r, s, v).
const signatureLen = 65

// fillTraces returns the names of what a fill of o would leave: the log that is searched for,
// and the nonce that it uses up. It is called before o is signed, with a placeholder for
// the signature: an order whose end nothing could prove is not signed.
func (e *Engine) fillTraces(o swap.Order) ([]common.Hash, error) {
	s, err := e.settler(&o)
	if err != nil {
		return nil, err
	}
	o = o.Clone()
	o.Results = append(o.Results[:o.Step:o.Step], swap.Result{Signature: make([]byte, signatureLen)})
	p, err := s.Proof(o)
	if err == nil {
		err = p.Check(o.Terms)
	}
	if err == nil && len(p.Fill) == 0 {
		err = errors.New("no event of a fill")
	}
	if err != nil {
		return nil, &swap.Refusal{Code: swap.Undecodable, Reason: "nothing on the chain would prove the end of the order: " + err.Error(), Err: err}
	}
	name := func(what any) common.Hash {
		return crypto.Keccak256Hash(fmt.Appendf(nil, "%d ", o.Terms.SrcChain), swap.MustJSON(what))
	}
	names := []common.Hash{name(p.TracePatterns()[0])}
	if p.Nonce != nil {
		names = append(names, name(p.Nonce))
	}
	return names, nil
}
