package gasless

import (
	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/signer/core/apitypes"
)

// Separator is the EIP-712 domain separator of a settlement contract; false for any other
// contract. No I/O.
func (p *Provider) Separator(chainID uint64, contract common.Address) (common.Hash, bool) {
	v, err := venueOf(chainID, func(v venue) bool { return v.settlement == contract })
	if err != nil {
		return common.Hash{}, false
	}
	data := v.typedDataOf(apitypes.TypedDataMessage{})
	hash, err := data.HashStruct(domainType, data.Domain.Map())
	return common.BytesToHash(hash), err == nil
}

// Fills are the fill events of a chain's settlement contracts, for any order. No I/O.
func (p *Provider) Fills(chainID uint64) (all []swap.LogPattern) {
	d, err := deploymentOn(chainID)
	if err != nil {
		return nil
	}
	all = append(all, swap.LogPattern{Address: d.jamSettlement, Topics: []common.Hash{jamFilledTopic, {}, {}}})
	if d.rfqSettlement != (common.Address{}) {
		all = append(all, swap.LogPattern{Address: d.rfqSettlement, Topics: []common.Hash{rfqFilledTopic, {}}})
	}
	return all
}
