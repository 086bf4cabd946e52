package gasless

import (
	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/signer/core/apitypes"
)

// Separator is the EIP-712 domain under which a settlement contract checks signatures;
// false of any other contract. No I/O.
func (p *Provider) Separator(chainID uint64, contract common.Address) (common.Hash, bool) {
	v, err := venueOf(chainID, func(v venue) bool { return v.settlement == contract })
	if err != nil {
		return common.Hash{}, false
	}
	data := v.around(apitypes.TypedDataMessage{})
	hash, err := data.HashStruct(domainType, data.Domain.Map())
	return common.BytesToHash(hash), err == nil
}

// Fills are the events of any order's fill by a chain's settlement contracts. No I/O.
func (p *Provider) Fills(chainID uint64) (all []swap.LogPattern) {
	d, err := deploymentOn(chainID)
	if err != nil {
		return nil
	}
	all = append(all, swap.LogPattern{Address: d.jamSettlement, Topics: []common.Hash{jamFilled, {}, {}}})
	if d.rfqSettlement != (common.Address{}) {
		all = append(all, swap.LogPattern{Address: d.rfqSettlement, Topics: []common.Hash{rfqFilled, {}}})
	}
	return all
}
