package dexsim

import (
	"context"
	"fmt"
	"math/big"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"swapkeep/sandbox/eip55"
)

// Lifetimes of the Permit2 permits in quotes.
const (
	permitExpiration = 30 * 24 * time.Hour
	permitDeadline   = 30 * time.Minute
)

var maxUint160 = new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 160), big.NewInt(1))

// permitData is what the user signs: EIP-712 typed data without a primary type and
// without EIP712Domain.
type permitData struct {
	Domain permitDomain           `json:"domain"`
	Types  map[string][]typeField `json:"types"`
	Values permitSingle           `json:"values"`
}

type permitDomain struct {
	Name              string        `json:"name"`
	ChainID           uint64        `json:"chainId"`
	VerifyingContract eip55.Address `json:"verifyingContract"`
}

type typeField struct {
	Name string `json:"name"`
	Type string `json:"type"`
}

type permitSingle struct {
	Details     permitDetails `json:"details"`
	Spender     eip55.Address `json:"spender"`
	SigDeadline string        `json:"sigDeadline"`
}

type permitDetails struct {
	Token      eip55.Address `json:"token"`
	Amount     string        `json:"amount"`
	Expiration string        `json:"expiration"`
	Nonce      string        `json:"nonce"`
}

var permitTypes = map[string][]typeField{
	"PermitSingle":  {{"details", "PermitDetails"}, {"spender", "address"}, {"sigDeadline", "uint256"}},
	"PermitDetails": {{"token", "address"}, {"amount", "uint160"}, {"expiration", "uint48"}, {"nonce", "uint48"}},
}

// permit returns the permit that the swap needs; nil for the native coin or if the
// router's allowance suffices.
func (m *market) permit(ctx context.Context, q quoteRequest) (*permitData, error) {
	if q.TokenIn == native {
		return nil, nil
	}
	out, err := m.read(ctx, m.Contracts.Permit2, m.abis.permit2, "allowance", q.Swapper, q.TokenIn, m.Contracts.UniversalRouter)
	if err != nil {
		return nil, fmt.Errorf("read the Permit2 allowance: %w", err)
	}
	now, err := m.Now(ctx)
	if err != nil {
		return nil, err
	}
	allowed, expiration, nonce := out[0].(*big.Int), out[1].(*big.Int), out[2].(*big.Int)
	if allowed.Cmp(q.amount) >= 0 && expiration.Cmp(big.NewInt(now.Unix())) > 0 {
		return nil, nil
	}
	amount := maxUint160
	if q.PermitAmount == "EXACT" {
		amount = q.amount
	}
	return &permitData{
		Domain: permitDomain{"Permit2", m.ID, eip55.Address(m.Contracts.Permit2)},
		Types:  permitTypes,
		Values: permitSingle{
			Details: permitDetails{
				Token:      eip55.Address(q.TokenIn),
				Amount:     amount.String(),
				Expiration: fmt.Sprint(now.Add(permitExpiration).Unix()),
				Nonce:      nonce.String(),
			},
			Spender:     eip55.Address(m.Contracts.UniversalRouter),
			SigDeadline: fmt.Sprint(now.Add(permitDeadline).Unix()),
		},
	}, nil
}

// abiPermit is a permitSingle as the router takes it.
type abiPermit struct {
	Details     abiDetails
	Spender     common.Address
	SigDeadline *big.Int
}

type abiDetails struct {
	Token      common.Address
	Amount     *big.Int
	Expiration *big.Int
	Nonce      *big.Int
}

func (p permitSingle) abi() (abiPermit, error) {
	numbers := make([]*big.Int, 0, 4)
	for _, s := range []string{p.Details.Amount, p.Details.Expiration, p.Details.Nonce, p.SigDeadline} {
		n, ok := new(big.Int).SetString(s, 10)
		if !ok || n.Sign() < 0 {
			return abiPermit{}, fmt.Errorf("no number: %q", s)
		}
		numbers = append(numbers, n)
	}
	return abiPermit{
		Details:     abiDetails{common.Address(p.Details.Token), numbers[0], numbers[1], numbers[2]},
		Spender:     common.Address(p.Spender),
		SigDeadline: numbers[3],
	}, nil
}
