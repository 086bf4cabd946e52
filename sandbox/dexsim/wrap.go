package dexsim

import (
	"context"

	"swapkeep/sandbox/eip55"
)

// wrapQuote is the quote object of WRAP and UNWRAP.
type wrapQuote struct {
	ChainID   uint64        `json:"chainId"`
	Swapper   eip55.Address `json:"swapper"`
	TradeType string        `json:"tradeType"`
	Input     input         `json:"input"`
	Output    output        `json:"output"`
	gasFields
}

// wrapGas is a gas limit that suffices for a deposit or a withdrawal.
const wrapGas = 45_000

// quoteWrap quotes native coin against its wrapped form, one to one and without a fee.
func (s *Server) quoteWrap(ctx context.Context, m *market, q quoteRequest) (*envelope, error) {
	price, err := m.gasPrice(ctx)
	if err != nil {
		return nil, err
	}
	return &envelope{Quote: &wrapQuote{
		ChainID:   m.ID,
		Swapper:   eip55.Address(q.Swapper),
		TradeType: q.Type,
		Input:     input{Amount: q.amount.String(), Token: eip55.Address(q.TokenIn)},
		Output:    output{Amount: q.amount.String(), Token: eip55.Address(q.TokenOut), Recipient: eip55.Address(q.recipient())},
		gasFields: m.gasFields(price, wrapGas, m.Wrapped),
	}}, nil
}
