package dexsim

import (
	"context"
	"crypto/ecdsa"
	"math/big"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"
)

// When the price starts to decay after an order is posted, and how long a V2 order's
// price decays.
const (
	decayAfter       = 24 // seconds
	decayFor         = 60 // seconds
	decayAfterBlocks = 3
)

// cosign adds the cosigner's part to an order, in the way of Outcome.Cosign.
func (s *Server) cosign(ctx context.Context, o *order, how string) error {
	data, err := s.cosignerData(ctx, o)
	if err != nil {
		return err
	}
	if o.data, o.cosignature, err = cosigners[how](s, o, data); err != nil {
		return err
	}
	o.encoded, err = o.terms.encoded(o.data, o.cosignature)
	return err
}

// cosignerData makes the filler exclusive until the price decays.
func (s *Server) cosignerData(ctx context.Context, o *order) (cosignerData, error) {
	data := unsigned()
	data.filler, data.exclusivity = s.Filler.Address, big.NewInt(o.kind.exclusivity)
	data.outputs = make([]*big.Int, len(o.terms.outputs()))
	for i := range data.outputs {
		data.outputs[i] = new(big.Int)
	}
	if o.kind == v3Kind {
		head, err := o.market.Client.BlockNumber(ctx)
		data.start.SetUint64(head + decayAfterBlocks)
		return data, err
	}
	now, err := o.market.Now(ctx)
	if err != nil {
		return data, err
	}
	deadline := o.terms.common().Deadline.Int64()
	data.start.SetInt64(min(now.Unix()+decayAfter, deadline))
	data.end.SetInt64(min(data.start.Int64()+decayFor, deadline)) // the reactor refuses an end after the deadline
	return data, nil
}

// cosignedBy signs the cosigner's part with a key.
func (o *order) cosignedBy(key *ecdsa.PrivateKey, data cosignerData) (cosignerData, []byte, error) {
	digest, err := cosignerDigest(o.id, o.terms, o.market.ID, data)
	if err != nil {
		return data, nil, err
	}
	signature, err := crypto.Sign(digest, key)
	if err != nil {
		return data, nil, err
	}
	signature[64] += 27
	return data, signature, nil
}

// cosignerDigest returns the digest that a cosigner signs, without any prefix.
func cosignerDigest(id common.Hash, terms dutchOrder, chain uint64, data cosignerData) ([]byte, error) {
	encoded, err := terms.cosigned(data)
	if err != nil {
		return nil, err
	}
	parts := [][]byte{id[:]}
	if terms.kind().chainInCosignature {
		parts = append(parts, common.BigToHash(new(big.Int).SetUint64(chain)).Bytes())
	}
	return crypto.Keccak256(append(parts, encoded)...), nil
}
