package intentsim

import (
	"context"
	"fmt"
	"math/big"
	"net/http"
	"slices"

	"github.com/ethereum/go-ethereum"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/crypto"

	"swapkeep/sandbox/eip55"
)

// buildFields is the schema of POST /v1/deposit/build.
var buildFields = []field{
	{"from", true, isAddress},
	{"quoteId", true, isID},
	{"routeId", true, isID},
	{"recipient", false, isAddress},
	{"refundTo", false, isAddress},
	{"depositMethod", false, isMethod},
}

type buildRequest struct {
	From          common.Address `json:"from"`
	QuoteID       string         `json:"quoteId"`
	RouteID       string         `json:"routeId"`
	Recipient     common.Address `json:"recipient"`
	RefundTo      common.Address `json:"refundTo"`
	DepositMethod string         `json:"depositMethod"`
}

// A contractCallReply is a plan of wallet actions.
type contractCallReply struct {
	Kind      string   `json:"kind"`
	Approvals []action `json:"approvals"`
}

// An action is one action of a plan. Deposit is nil for chain switches.
type action struct {
	Type           string         `json:"type"`
	Request        *walletRequest `json:"request,omitempty"`
	Transaction    string         `json:"transaction,omitempty"` // for non-EVM chains
	WaitForReceipt bool           `json:"waitForReceipt,omitempty"`
	Deposit        *bool          `json:"deposit,omitempty"`
}

// A walletRequest is a request to the wallet's provider (EIP-1193).
type walletRequest struct {
	Method string `json:"method"`
	Params []any  `json:"params"`
}

type switchParams struct {
	ChainID string `json:"chainId"`
}

// transaction is the parameter of eth_sendTransaction. ChainID is hex, or a number if the
// plan says so.
type transaction struct {
	From    eip55.Address `json:"from"`
	To      eip55.Address `json:"to"`
	Data    hexutil.Bytes `json:"data"`
	Value   string        `json:"value"`
	Gas     string        `json:"gas,omitempty"`
	ChainID any           `json:"chainId,omitempty"`
}

const eip1193 = "eip1193_request"

func switchTo(chainID uint64) action {
	return action{Type: eip1193, Request: &walletRequest{"wallet_switchEthereumChain", []any{switchParams{hexutil.EncodeUint64(chainID)}}}}
}

func send(tx *transaction, deposit bool) action {
	return action{Type: eip1193, Request: &walletRequest{"eth_sendTransaction", []any{tx}}, WaitForReceipt: !deposit, Deposit: &deposit}
}

// postBuild answers POST /v1/deposit/build.
func (s *Server) postBuild(body []byte, r *http.Request) (any, error) {
	b, err := parse[buildRequest](body, buildFields)
	if err != nil {
		return nil, err
	}
	q, route, err := s.usableQuote(r.Context(), b.QuoteID, b.RouteID)
	if err != nil {
		return nil, err
	}
	if b.From != q.request.FromAddress {
		return nil, fail("UnexpectedFromAddressException", "Unexpected from address: "+b.From.Hex(), nil)
	}
	if b.DepositMethod == "" {
		b.DepositMethod = route.offered[0]
	}
	if !slices.Contains(route.offered, b.DepositMethod) {
		return nil, fail("NotSupportedDepositMethodException", fmt.Sprintf("Deposit method %s is not supported", b.DepositMethod), nil)
	}
	s.setRecipients(q, route, b)
	return builders[b.DepositMethod](s, r.Context(), q, route)
}

// setRecipients sets the recipient and the refund address of a quote. The last build wins.
func (s *Server) setRecipients(q *quote, route *route, b buildRequest) {
	s.mu.Lock()
	defer s.mu.Unlock()
	route.built = true
	if b.Recipient != (common.Address{}) {
		q.recipient = b.Recipient
	}
	if b.RefundTo != (common.Address{}) {
		q.refundTo = b.RefundTo
	}
}

// builders maps deposit methods to the functions that answer a build.
var builders = map[string]func(*Server, context.Context, *quote, *route) (any, error){
	contractCall: (*Server).buildCall,
	permit2:      (*Server).buildPermit,
	transfer:     (*Server).buildTransfer,
	transferHash: (*Server).buildTransfer,
}

// buildCall returns the plan of a deposit: switch the chain, approve, deposit.
func (s *Server) buildCall(ctx context.Context, q *quote, r *route) (any, error) {
	settings := s.Settings()
	deposit, err := s.depositCall(q, r, settings)
	if err != nil {
		return nil, err
	}
	p := &plan{quote: q, deposit: deposit, contract: r.contract(q.from)}
	if settings.Switch && q.tokenIn.Address != native {
		p.actions = append(p.actions, switchTo(q.from.ID))
	}
	approvals, err := s.approvals(ctx, q, r.contract(q.from))
	if err != nil {
		return nil, err
	}
	for _, tx := range approvals {
		p.actions = append(p.actions, send(tx, false))
	}
	if q.tokenIn.Address == native && r.id == "Hyperstream" {
		p.deposit.Gas, p.deposit.ChainID = s.gas(ctx, q.from, p.deposit), hexutil.EncodeUint64(q.from.ID)
	}
	p.actions = append(p.actions, send(p.deposit, true))
	if spoil := plans[settings.Plan]; spoil != nil {
		spoil(p)
	}
	return contractCallReply{contractCall, p.actions}, nil
}

// chargesProtocolFee is the filler whose deposits may cost native coins on top of the
// amount.
const chargesProtocolFee = "DeBridge"

// flatGas is that filler's gas limit for deposits of tokens.
const flatGas = "640000"

func (s *Server) depositCall(q *quote, r *route, settings Settings) (*transaction, error) {
	tx := &transaction{From: eip55.Address(q.request.FromAddress), To: eip55.Address(r.contract(q.from))}
	if r.id == across {
		var err error
		if tx.Data, err = s.relay(q, r); err != nil {
			return nil, err
		}
	} else {
		tx.Data = q.from.layout.calldata(deposit{q.tokenIn.Address, q.amountIn, depositID(q.id, r.id), uint64(q.validBefore)})
	}
	value := new(big.Int)
	if q.tokenIn.Address == native {
		value.Set(q.amountIn)
	}
	if r.id == chargesProtocolFee {
		value.Add(value, amount(settings.ProtocolFee))
		if q.tokenIn.Address != native {
			tx.Gas = flatGas
		}
	}
	tx.Value = hexutil.EncodeBig(value)
	return tx, nil
}

// approvals returns the approval of exactly the input for the deposit contract, if its
// allowance is too low. If the token requires it, a reset to zero comes first.
func (s *Server) approvals(ctx context.Context, q *quote, spender common.Address) ([]*transaction, error) {
	if q.tokenIn.Address == native {
		return nil, nil
	}
	allowed, err := s.view(ctx, q.from, q.tokenIn.Address, "allowance", q.request.FromAddress, spender)
	if err != nil {
		return nil, err
	}
	amounts := []*big.Int{q.amountIn}
	switch {
	case allowed.Cmp(q.amountIn) >= 0:
		amounts = nil
	case q.tokenIn.Tether && allowed.Sign() > 0:
		amounts = []*big.Int{new(big.Int), q.amountIn}
	}
	var txs []*transaction
	for _, n := range amounts {
		tx := &transaction{From: eip55.Address(q.request.FromAddress), To: eip55.Address(q.tokenIn.Address), Value: "0x0"}
		if tx.Data, err = s.tokens.Pack("approve", spender, n); err != nil {
			return nil, err
		}
		txs = append(txs, tx)
	}
	return txs, nil
}

// usualGas is stated if the deposit cannot be estimated yet.
const usualGas = 150_182

func (s *Server) gas(ctx context.Context, c *chain, tx *transaction) string {
	to, value := common.Address(tx.To), amount(tx.Value)
	units, err := c.Client.EstimateGas(ctx, ethereum.CallMsg{From: common.Address(tx.From), To: &to, Value: value, Data: tx.Data})
	if err != nil {
		return fmt.Sprint(usualGas)
	}
	return fmt.Sprint(units + units/5)
}

// depositAddress returns the address for a transfer for a route. Nobody has its key.
func depositAddress(quoteID, routeID string) common.Address {
	return common.BytesToAddress(crypto.Keccak256([]byte("deposit address " + quoteID + "/" + routeID)))
}

// transferReply answers a build by transfer. The transfer is never looked for and no
// order is stored.
type transferReply struct {
	Kind           string        `json:"kind"`
	DepositAddress eip55.Address `json:"depositAddress"`
	Amount         string        `json:"amount"`
	Token          eip55.Address `json:"token"`
	ChainID        uint64        `json:"chainId"`
	ExpiresAt      int64         `json:"expiresAt"`
	OrderID        string        `json:"orderId"`
}

func (s *Server) buildTransfer(_ context.Context, q *quote, r *route) (any, error) {
	return transferReply{
		transfer, eip55.Address(depositAddress(q.id, r.id)), q.amountIn.String(), eip55.Address(q.tokenIn.Address), q.from.ID, q.validBefore, newOrderID(),
	}, nil
}
