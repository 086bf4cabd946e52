package intentsim

import (
	"context"
	"math/rand/v2"
	"strconv"

	"swapkeep/sandbox/eip55"
)

// permitReply answers a build by Permit2: the typed data to sign and the transfer it is
// for.
type permitReply struct {
	Kind    string          `json:"kind"`
	Permit  typedData       `json:"permit"`
	Details transferDetails `json:"transferDetails"`
}

type typedData struct {
	Domain      permitDomain            `json:"domain"`
	Types       map[string][]typedField `json:"types"`
	PrimaryType string                  `json:"primaryType"`
	Message     permitMessage           `json:"message"`
}

type permitDomain struct {
	Name              string        `json:"name"`
	ChainID           uint64        `json:"chainId"`
	VerifyingContract eip55.Address `json:"verifyingContract"`
}

type typedField struct {
	Name string `json:"name"`
	Type string `json:"type"`
}

type permitMessage struct {
	Permitted tokenAmount   `json:"permitted"`
	Spender   eip55.Address `json:"spender"`
	Nonce     string        `json:"nonce"`
	Deadline  string        `json:"deadline"`
}

type tokenAmount struct {
	Token  eip55.Address `json:"token"`
	Amount string        `json:"amount"`
}

type transferDetails struct {
	To              eip55.Address `json:"to"`
	RequestedAmount string        `json:"requestedAmount"`
}

var permitTypes = map[string][]typedField{
	"PermitTransferFrom": {{"permitted", "TokenPermissions"}, {"spender", "address"}, {"nonce", "uint256"}, {"deadline", "uint256"}},
	"TokenPermissions":   {{"token", "address"}, {"amount", "uint256"}},
}

// buildPermit returns the typed data that a wallet would sign. The endpoint that takes
// the signature is not simulated.
func (s *Server) buildPermit(_ context.Context, q *quote, _ *route) (any, error) {
	contract := eip55.Address(q.from.IntentDeposit())
	return permitReply{
		Kind: permit2,
		Permit: typedData{
			Domain: permitDomain{"Permit2", q.from.ID, eip55.Address(q.from.Contracts.Permit2)},
			Types:  permitTypes, PrimaryType: "PermitTransferFrom",
			Message: permitMessage{
				Permitted: tokenAmount{eip55.Address(q.tokenIn.Address), q.amountIn.String()},
				Spender:   contract,
				Nonce:     strconv.FormatUint(rand.Uint64(), 10), Deadline: strconv.FormatInt(q.validBefore, 10),
			},
		},
		Details: transferDetails{contract, q.amountIn.String()},
	}, nil
}
