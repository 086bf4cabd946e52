package dex

import (
	"encoding/json"
	"maps"
	"slices"

	"swapkeep/providers/wire"
	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/signer/core/apitypes"
)

// permitData is the typed data that a quote asks the account to sign: a
// PermitSingle, as a rule without primary type, and without the domain's own type. Each
// part is read whole and only its values are taken; what is signed is built from those.
type permitData struct {
	Primary string                     `json:"primaryType"`
	Domain  wire.Whole[permitDomain]   `json:"domain"`
	Types   wire.Whole[apitypes.Types] `json:"types"`
	Values  wire.Whole[permitValues]   `json:"values"`
}

// permitDomain is Permit2's on the chain of the swap.
type permitDomain struct {
	Name              string         `json:"name"`
	ChainID           *wire.Quantity `json:"chainId"`
	VerifyingContract *address       `json:"verifyingContract"`
}

// echoes holds the domain and the types against those that a message has.
func (d permitDomain) echoes(chain uint64, types, want apitypes.Types) []wire.Echo {
	return []wire.Echo{
		{Field: "permitData.domain.name", There: d.Name != "", Same: d.Name == "Permit2"},
		{Field: "permitData.domain.chainId", There: d.ChainID != nil, Same: d.ChainID.IsID(chain)},
		{Field: "permitData.domain.verifyingContract", There: d.VerifyingContract != nil, Same: d.VerifyingContract.is(permit2)},
		{Field: "permitData.types", There: types != nil, Same: maps.EqualFunc(types, want, slices.Equal)},
	}
}

// primaryEcho holds a primary type, where there is one, against the one that is signed.
func primaryEcho(primary, want string) wire.Echo {
	return wire.Echo{Field: "permitData.primaryType", There: true, Same: primary == "" || primary == want}
}

// readPermitData reads the permit that a quote asks for, nil where it asks for
// none: then the router is allowed the amount already, or the input is native.
// Its times are for [permit.timely] to judge, which has a clock.
func readPermitData(raw json.RawMessage, r swap.QuoteRequest, pr pair) (*permit, error) {
	switch {
	case wire.IsNull(raw):
		return nil, nil
	case !pr.pulled:
		return nil, refuse(swap.NotAsAccepted, "permitData", "the dex provider wants a permit for an input that needs none")
	}
	var d permitData
	if err := service.Read("permitData", raw, &d); err != nil {
		return nil, garbage("permitData", err)
	}
	if err := service.CheckEchoes(append(d.Domain.Is.echoes(r.SrcChain, d.Types.Is, quotedTypes), primaryEcho(d.Primary, permitSingle))); err != nil {
		return nil, err
	}
	p, err := d.Values.Is.permit()
	if err != nil {
		return nil, err
	}
	return &p, p.allows(r.TokenIn, r.AmountIn, pr)
}

// quotedTypes are the types as the API lists them.
var quotedTypes = apitypes.Types{permitSingle: permitTypes[permitSingle], "PermitDetails": permitTypes["PermitDetails"]}
