package dex

import (
	"encoding/json"
	"maps"
	"slices"

	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/signer/core/apitypes"
)

// permitData is the typed data that a quote asks the account to sign: a
// PermitSingle without primary type and without the domain's own type. It is
// read whole and only its values are taken; what is signed is built from those.
type permitData struct {
	Domain struct {
		Name              string    `json:"name"`
		ChainID           *quantity `json:"chainId"`
		VerifyingContract *address  `json:"verifyingContract"`
	} `json:"domain"`
	Types  apitypes.Types `json:"types"`
	Values permitValues   `json:"values"`
}

// readPermitData reads the permit that a quote asks for, nil where it asks for
// none: then the router is allowed the amount already, or the input is native.
// Its times are for [permit.timely] to judge, which has a clock.
func readPermitData(raw json.RawMessage, r swap.QuoteRequest, pr pair) (*permit, error) {
	switch {
	case isNull(raw):
		return nil, nil
	case !pr.pulled:
		return nil, refuse(swap.NotAsAccepted, "permitData", "the dex provider wants a permit for an input that needs none")
	}
	var d permitData
	if err := readWhole(raw, &d); err != nil {
		return nil, garbage("permitData", err)
	}
	err := checkEchoes([]echo{
		{"permitData.domain.name", d.Domain.Name != "", d.Domain.Name == "Permit2"},
		{"permitData.domain.chainId", d.Domain.ChainID != nil, d.Domain.ChainID.is(r.SrcChain)},
		{"permitData.domain.verifyingContract", d.Domain.VerifyingContract != nil, d.Domain.VerifyingContract.is(permit2)},
		{"permitData.types", d.Types != nil, maps.EqualFunc(d.Types, quotedTypes, slices.Equal)},
	})
	if err != nil {
		return nil, err
	}
	p, err := d.Values.permit()
	if err != nil {
		return nil, err
	}
	return &p, p.allows(r.TokenIn, r.AmountIn, pr)
}

// quotedTypes are the types as the API lists them.
var quotedTypes = apitypes.Types{permitSingle: permitTypes[permitSingle], "PermitDetails": permitTypes["PermitDetails"]}
