package bridgesim

import (
	"bytes"
	"context"
	"fmt"
	"math/big"
	"slices"

	"github.com/ethereum/go-ethereum"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"

	"swapkeep/sandbox/eip55"
	"swapkeep/sandbox/network"
)

// A step is something that the user has to do.
type step struct {
	ID          string      `json:"id"`
	Action      string      `json:"action"`
	Description string      `json:"description"`
	Kind        string      `json:"kind"`
	RequestID   common.Hash `json:"requestId"`
	Deposit     *string     `json:"depositAddress,omitempty"`
	Items       []item      `json:"items"`
}

type item struct {
	Status string       `json:"status"`
	Data   any          `json:"data"`
	Check  *statusCheck `json:"check,omitempty"`
}

type statusCheck struct {
	Endpoint string `json:"endpoint"`
	Method   string `json:"method"`
}

// transaction is the data of an item. Gas is omitted if it cannot be estimated yet.
type transaction struct {
	From                 eip55.Address  `json:"from"`
	To                   common.Address `json:"to"`
	Data                 hexutil.Bytes  `json:"data"`
	Value                string         `json:"value"`
	ChainID              uint64         `json:"chainId"`
	Gas                  string         `json:"gas,omitempty"`
	MaxFeePerGas         string         `json:"maxFeePerGas"`
	MaxPriorityFeePerGas string         `json:"maxPriorityFeePerGas"`
}

// A call is a transaction without gas.
type call struct {
	to    common.Address
	value *big.Int
	data  []byte
}

// Actions of the steps.
const (
	signAction    = "Sign authorization"
	confirmAction = "Confirm transaction in your wallet"
)

// steps lists what the user has to do for the order, with approvals first if needed.
func (s *Server) steps(ctx context.Context, o *order, settings Settings) ([]step, error) {
	id, text, c, err := o.main(settings)
	if err != nil {
		return nil, err
	}
	var all []step
	if o.in.Address != native && o.operation != operationSend {
		if all, err = o.approvals(ctx, c.to); err != nil {
			return nil, err
		}
	}
	last, err := o.step(ctx, id, text, c)
	if err != nil {
		return nil, err
	}
	last.Items[0].Check = &statusCheck{"/intents/status/v3?requestId=" + o.request.Hex(), "GET"}
	if id == "deposit" {
		last.Deposit = new(string)
	}
	return append(all, last), nil
}

// main returns the call that pays.
func (o *order) main(settings Settings) (id, text string, c call, err error) {
	switch {
	case o.operation == operationSend:
		c, err = o.transfer()
		return "send", fmt.Sprintf("Sending %s", o.in.Symbol), c, err
	case !o.routed():
		c, err = o.directDeposit(settings)
		return "deposit", fmt.Sprintf("Depositing funds to the relayer to execute the swap for %s", o.out.Symbol), c, err
	case o.crosses():
		c, err = o.routerCall(settings)
		return "deposit", fmt.Sprintf("Depositing funds to the relayer to execute the swap for %s", o.out.Symbol), c, err
	}
	c, err = o.routerCall(settings)
	return "swap", fmt.Sprintf("Swapping %s for %s", o.in.Symbol, o.out.Symbol), c, err
}

// transfer pays the recipient on the same chain.
func (o *order) transfer() (call, error) {
	if o.in.Address == native {
		return call{o.recipient, o.amountIn, nil}, nil
	}
	data, err := o.origin.abis.erc20.Pack("transfer", o.recipient, o.amountIn)
	return call{o.in.Address, new(big.Int), data}, err
}

// directDeposit deposits a currency that the solver accepts.
func (o *order) directDeposit(settings Settings) (call, error) {
	to, abis := settings.depository(o.origin), o.origin.abis
	if o.in.Address == native {
		data, err := abis.depository.Pack("depositNative", o.user, o.id)
		return call{to, o.amountIn, data}, err
	}
	data, err := abis.depositERC20.Inputs.Pack(o.user, o.in.Address, o.amountIn, o.id)
	return call{to, new(big.Int), slices.Concat(abis.depositERC20.ID, data)}, err
}

// routerCall makes a router swap the input, for the recipient or into the depository.
func (o *order) routerCall(settings Settings) (call, error) {
	pair, err := o.origin.pair(settings.Router)
	if err != nil {
		return call{}, err
	}
	want := routerOrder{tokenIn: o.in.Address, amountIn: o.amountIn}
	if o.crosses() {
		want.tokenOut, want.amountOut, want.minimum = o.deposited.Address, o.depositAmount, o.minDeposit
		want.depositor, want.id = o.user, o.id
	} else {
		want.tokenOut, want.amountOut, want.minimum = o.out.Address, o.amountOut, o.minAmountOut
		want.recipient, want.id = o.recipient, o.request
	}
	if short := settings.CallShortBips; short > 0 {
		want.amountOut = part(want.minimum, allBips-short, allBips)
		want.minimum = want.amountOut
	}
	c := call{to: pair.Router, value: o.amountIn}
	if o.in.Address != native {
		c.to, c.value = pair.Proxy, new(big.Int)
	}
	c.data = LayoutOf(o.origin.layout, o.origin.ID, c.to).calldata(want)
	if o.crosses() {
		c.data = append(c.data, o.id[:]...) // after the words that the router reads, as recorded
	}
	return c, nil
}

// approvals returns the approval of the amount if the spender's allowance is too low,
// with a reset first if the token requires it.
func (o *order) approvals(ctx context.Context, spender common.Address) ([]step, error) {
	allowed, err := o.origin.read(ctx, o.in.Address, "allowance", o.user, spender)
	if err != nil {
		return nil, err
	}
	if allowed.Cmp(o.amountIn) >= 0 {
		return nil, nil
	}
	amounts := []*big.Int{o.amountIn}
	if allowed.Sign() > 0 && o.in.Tether {
		amounts = []*big.Int{{}, o.amountIn}
	}
	var all []step
	for _, n := range amounts {
		st, err := o.approval(ctx, o.in, spender, n)
		if err != nil {
			return nil, err
		}
		all = append(all, st)
	}
	return all, nil
}

func (o *order) approval(ctx context.Context, token network.Token, spender common.Address, amount *big.Int) (step, error) {
	data, err := o.origin.abis.erc20.Pack("approve", spender, amount)
	if err != nil {
		return step{}, err
	}
	return o.step(ctx, "approve", "Sign an approval for "+token.Symbol, call{token.Address, new(big.Int), data})
}

// step returns a step with a transaction by the user.
func (o *order) step(ctx context.Context, id, text string, c call) (step, error) {
	tx, err := o.origin.transaction(ctx, o.user, c)
	if err != nil {
		return step{}, err
	}
	return step{
		ID: id, Action: confirmAction, Description: text, Kind: "transaction", RequestID: o.request,
		Items: []item{{Status: "incomplete", Data: tx}},
	}, nil
}

func (m *market) transaction(ctx context.Context, from common.Address, c call) (*transaction, error) {
	feeCap, tip, err := m.fees(ctx)
	if err != nil {
		return nil, err
	}
	tx := &transaction{
		From: eip55.Address(from), To: c.to, Data: bytes.Clone(c.data), Value: c.value.String(), ChainID: m.ID,
		MaxFeePerGas: feeCap.String(), MaxPriorityFeePerGas: tip.String(),
	}
	gas, err := m.Client.EstimateGas(ctx, ethereum.CallMsg{From: from, To: &c.to, Value: c.value, Data: c.data})
	if err == nil {
		tx.Gas = fmt.Sprint(gas + gas/5)
	}
	return tx, nil
}

// fees returns what a transaction should offer now, in wei per gas.
func (m *market) fees(ctx context.Context) (feeCap, tip *big.Int, err error) {
	head, err := m.Client.HeaderByNumber(ctx, nil)
	if err != nil {
		return nil, nil, err
	}
	if tip, err = m.Client.SuggestGasTipCap(ctx); err != nil {
		return nil, nil, err
	}
	return new(big.Int).Add(tip, new(big.Int).Mul(head.BaseFee, big.NewInt(2))), tip, nil
}

// stranger is the beneficiary of the extra steps.
var stranger = common.HexToAddress("0x5a4d00000000000000000000000000000000bad0")

var maxUint256 = new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 256), big.NewInt(1))

// extraSteps are steps that a dishonest API could add.
var extraSteps = map[string]func(ctx context.Context, o *order, settings Settings) (step, error){
	"approve": func(ctx context.Context, o *order, _ Settings) (step, error) {
		token := o.in
		if token.Address == native {
			token = o.origin.Tokens[0]
		}
		return o.approval(ctx, token, stranger, maxUint256)
	},
	"deposit": func(ctx context.Context, o *order, settings Settings) (step, error) {
		id, text, c, err := o.main(settings)
		if err != nil {
			return step{}, err
		}
		return o.step(ctx, id, text, c)
	},
	"send": func(ctx context.Context, o *order, _ Settings) (step, error) {
		away := *o
		away.recipient = stranger
		c, err := away.transfer()
		if err != nil {
			return step{}, err
		}
		return o.step(ctx, "send", "Sending "+o.in.Symbol, c)
	},
	"signature": func(_ context.Context, o *order, _ Settings) (step, error) { return o.signature(), nil },
}

// signature returns a step that asks for a signed transfer of the input.
func (o *order) signature() step {
	type member struct {
		Name string `json:"name"`
		Type string `json:"type"`
	}
	return step{
		ID: "authorize1", Action: signAction, Description: fmt.Sprintf("Sign to approve swap of %s for %s", o.in.Symbol, o.out.Symbol),
		Kind: "signature", RequestID: o.request, Items: []item{{Status: "incomplete", Data: map[string]any{
			"sign": map[string]any{
				"signatureKind": "eip712",
				"domain":        map[string]any{"name": o.in.Name, "version": "2", "chainId": o.origin.ID, "verifyingContract": o.in.Address},
				"types": map[string]any{"TransferWithAuthorization": []member{
					{"from", "address"}, {"to", "address"}, {"value", "uint256"}, {"validAfter", "uint256"}, {"validBefore", "uint256"}, {"nonce", "bytes32"},
				}},
				"primaryType": "TransferWithAuthorization",
				"value": map[string]any{
					"from": o.user, "to": stranger, "value": o.amountIn.String(),
					"validAfter": 0, "validBefore": o.created.Unix() + 600, "nonce": o.id,
				},
			},
			"post": map[string]any{"endpoint": "/execute/permits", "method": "POST", "body": map[string]any{
				"kind": "eip3009", "requestId": o.request, "api": "swap",
			}},
		}, Check: &statusCheck{"/intents/status/v3?requestId=" + o.request.Hex(), "GET"}}},
	}
}
