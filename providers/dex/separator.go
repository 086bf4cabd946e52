package dex

import (
	"math/big"

	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/math"
	"github.com/ethereum/go-ethereum/signer/core/apitypes"
)

// Separator returns the EIP-712 domain separator under which Permit2 checks signatures, and
// false for any other contract. No I/O.
func (p *Provider) Separator(chainID uint64, contract common.Address) (common.Hash, bool) {
	data := apitypes.TypedData{Types: permitTypes, Domain: apitypes.TypedDataDomain{
		Name: "Permit2", ChainId: (*math.HexOrDecimal256)(new(big.Int).SetUint64(chainID)), VerifyingContract: permit2.Hex(),
	}}
	hash, err := data.HashStruct("EIP712Domain", data.Domain.Map())
	return common.BytesToHash(hash), err == nil && contract == permit2
}

// Fills returns the event of any order's fill by the reactor of a chain. No I/O.
func (p *Provider) Fills(chainID uint64) []swap.LogPattern {
	d, err := deploymentOn(chainID)
	if err != nil {
		return nil
	}
	return []swap.LogPattern{{Address: d.reactor, Topics: []common.Hash{fillTopic, {}, {}, {}}}}
}
