package dexsim

import (
	"context"
	"encoding/json"
	"math/big"
	"net/http"

	"github.com/ethereum/go-ethereum"
	"github.com/ethereum/go-ethereum/common"
	"github.com/google/uuid"
)

// approvalFields is the schema of POST /check_approval.
var approvalFields = []field{
	{"walletAddress", true, text(address)},
	{"token", true, text(address)},
	{"amount", true, text(digits)},
	{"chainId", true, isInteger},
	{"urgency", false, either(isObject, oneOf("normal", "fast", "urgent"))},
	{"includeGasInfo", false, isBoolean},
	{"tokenOut", false, text(address)},
	{"tokenOutChainId", false, isInteger},
}

func checkApproval(body []byte, _ *http.Request) error { return check(body, approvalFields) }

type approvalReply struct {
	RequestID    string       `json:"requestId"`
	Approval     *transaction `json:"approval"`
	Cancel       *transaction `json:"cancel"`
	GasFee       string       `json:"gasFee,omitempty"`
	CancelGasFee string       `json:"cancelGasFee,omitempty"`
}

// approveGas is a gas limit that suffices for an approval.
const approveGas = 60_000

var maxUint256 = new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 256), big.NewInt(1))

// approval answers POST /check_approval: the transactions that give Permit2 the
// allowance, if it does not have it yet.
func (s *Server) approval(ctx context.Context, body []byte, _ *http.Request) (any, error) {
	var r struct {
		Wallet common.Address `json:"walletAddress"`
		Token  common.Address `json:"token"`
		Amount string         `json:"amount"`
		Chain  uint64         `json:"chainId"`
	}
	if err := json.Unmarshal(body, &r); err != nil {
		return nil, err
	}
	m, err := s.market(r.Chain)
	if err != nil {
		return nil, err
	}
	if _, known := m.TokenAt(r.Token); !known {
		return nil, errToken
	}
	reply := &approvalReply{RequestID: uuid.NewString()}
	if r.Token == native {
		return reply, nil
	}
	out, err := m.read(ctx, r.Token, m.abis.erc20, "allowance", r.Wallet, m.Contracts.Permit2)
	if err != nil {
		return nil, err
	}
	allowed := out[0].(*big.Int)
	if allowed.Cmp(amount(r.Amount)) >= 0 {
		return reply, nil
	}
	approve, err := m.approve(r.Wallet, r.Token, maxUint256)
	if err != nil {
		return nil, err
	}
	if allowed.Sign() > 0 && m.needsReset(ctx, approve) {
		reset, err := m.approve(r.Wallet, r.Token, new(big.Int))
		if err != nil {
			return nil, err
		}
		if reply.Cancel, reply.CancelGasFee, err = m.priced(ctx, reset); err != nil {
			return nil, err
		}
	}
	reply.Approval, reply.GasFee, err = m.priced(ctx, approve)
	return reply, err
}

func (m *market) approve(owner, token common.Address, allowance *big.Int) (call, error) {
	data, err := m.abis.erc20.Pack("approve", m.Contracts.Permit2, allowance)
	return call{from: owner, to: token, value: new(big.Int), data: data}, err
}

// needsReset reports whether the token requires a reset of the allowance to zero first.
func (m *market) needsReset(ctx context.Context, c call) bool {
	_, err := m.Client.CallContract(ctx, ethereum.CallMsg{From: c.from, To: &c.to, Data: c.data}, nil)
	return reverted(err)
}

func (m *market) priced(ctx context.Context, c call) (*transaction, string, error) {
	tx, fee, err := m.transaction(ctx, c, approveGas)
	if err != nil {
		return nil, "", err
	}
	return tx, fee.String(), nil
}
