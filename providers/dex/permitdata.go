package dex

import (
	"encoding/json"
	"maps"
	"slices"

	"swapkeep/providers/wire"
	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/signer/core/apitypes"
)

// permitData is the typed data that a quote asks the account to sign: a PermitSingle,
// usually without primary type, and without the domain's own type. Unknown members in a
// part are refused. Only the values are used; what is signed is built from them.
type permitData struct {
	Primary string                      `json:"primaryType"`
	Domain  wire.Strict[permitDomain]   `json:"domain"`
	Types   wire.Strict[apitypes.Types] `json:"types"`
	Values  wire.Strict[permitValues]   `json:"values"`
}

// permitDomain is the EIP-712 domain of Permit2 on the chain of the swap.
type permitDomain struct {
	Name              string         `json:"name"`
	ChainID           *wire.Quantity `json:"chainId"`
	VerifyingContract *address       `json:"verifyingContract"`
}

// echoes compares the domain and the types with the expected ones.
func (d permitDomain) echoes(chain uint64, types, want apitypes.Types) []wire.Echo {
	return []wire.Echo{
		{Field: "permitData.domain.name", Present: d.Name != "", Matches: d.Name == "Permit2"},
		{Field: "permitData.domain.chainId", Present: d.ChainID != nil, Matches: d.ChainID.IsID(chain)},
		{Field: "permitData.domain.verifyingContract", Present: d.VerifyingContract != nil, Matches: d.VerifyingContract.is(permit2)},
		{Field: "permitData.types", Present: types != nil, Matches: maps.EqualFunc(types, want, slices.Equal)},
	}
}

// primaryEcho accepts the expected primary type, or none.
func primaryEcho(primary, want string) wire.Echo {
	return wire.Echo{Field: "permitData.primaryType", Present: true, Matches: primary == "" || primary == want}
}

// readPermitData reads the permit that a quote asks for. It returns nil if there is none:
// the router is allowed the amount already, or the input is native. [permit.checkLifetime], which
// has a clock, checks the times.
func readPermitData(raw json.RawMessage, r swap.QuoteRequest, pr tokenPair) (*permit, error) {
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
	return &p, p.checkGrant(r.TokenIn, r.AmountIn, pr)
}

// quotedTypes are the types as the API lists them: without EIP712Domain.
var quotedTypes = apitypes.Types{permitSingle: permitTypes[permitSingle], "PermitDetails": permitTypes["PermitDetails"]}
