package bridgesim

import (
	"fmt"
	"strings"
	"time"

	"github.com/ethereum/go-ethereum/accounts"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/signer/core/apitypes"

	"swapkeep/sandbox/eip55"
)

// protocol is the settlement part of a quote. The order and its signature are included
// only on request.
type protocol struct {
	V2 struct {
		OrderID   common.Hash    `json:"orderId"`
		HubType   string         `json:"hubType"`
		Order     *orderData     `json:"orderData,omitempty"`
		Signature hexutil.Bytes  `json:"orderSignature,omitempty"`
		Payment   paymentDetails `json:"paymentDetails"`
	} `json:"v2"`
}

type paymentDetails struct {
	ChainID    string         `json:"chainId"`
	Depository common.Address `json:"depository"`
	Currency   common.Address `json:"currency"`
	Amount     string         `json:"amount"`
}

// orderData is the order that binds the solver. Chains have the protocol's names.
type orderData struct {
	Version     string       `json:"version"`
	SolverChain string       `json:"solverChainId"`
	Solver      string       `json:"solver"`
	Salt        common.Hash  `json:"salt"`
	Inputs      []orderInput `json:"inputs"`
	Output      orderOutput  `json:"output"`
	Fees        []any        `json:"fees"`
}

type orderInput struct {
	Payment inputPayment  `json:"payment"`
	Refunds []inputRefund `json:"refunds"`
}

type inputPayment struct {
	Chain    string `json:"chainId"`
	Currency string `json:"currency"`
	Amount   string `json:"amount"`
	Weight   string `json:"weight"`
}

type inputRefund struct {
	Chain     string        `json:"chainId"`
	Recipient eip55.Address `json:"recipient"`
	Currency  string        `json:"currency"`
	Minimum   string        `json:"minimumAmount"`
	Deadline  int64         `json:"deadline"`
	Extra     hexutil.Bytes `json:"extraData"`
}

type orderOutput struct {
	Chain    string          `json:"chainId"`
	Payments []outputPayment `json:"payments"`
	Calls    []string        `json:"calls"`
	Deadline int64           `json:"deadline"`
	Extra    hexutil.Bytes   `json:"extraData"`
}

type outputPayment struct {
	Recipient eip55.Address `json:"recipient"`
	Currency  string        `json:"currency"`
	Minimum   string        `json:"minimumAmount"`
	Expected  string        `json:"expectedAmount"`
}

// orderLife is how long the solver may take to fill or refund.
const orderLife = 7 * 24 * time.Hour

// bind makes the order that binds the solver, and sets the order's id to its hash.
func (o *order) bind(solver common.Address, version string) error {
	pair, err := o.destination.pair(version)
	if err != nil {
		return err
	}
	here, there := o.origin.Bridge().Name, o.destination.Bridge().Name
	extra, until := common.LeftPadBytes(pair.Router[:], 32), o.created.Add(orderLife).Unix()
	back := func(chain string, to, currency common.Address) inputRefund {
		return inputRefund{chain, eip55.Address(to), lower(currency), "0", until, extra}
	}
	in := orderInput{inputPayment{here, lower(o.deposited.Address), o.depositAmount.String(), "1"}, []inputRefund{}}
	if o.refundTo != (common.Address{}) {
		in.Refunds = append(in.Refunds, back(here, o.refundTo, o.deposited.Address), back(there, o.recipient, o.out.Address))
	}
	o.data = &orderData{
		Version: "v1", SolverChain: "base", Solver: lower(solver), Salt: o.id, Inputs: []orderInput{in}, Fees: []any{},
		Output: orderOutput{there, []outputPayment{{eip55.Address(o.recipient), lower(o.out.Address), o.minAmountOut.String(), o.amountOut.String()}}, []string{}, until, extra},
	}
	o.id, err = o.data.hash()
	return err
}

// orderTypes are the order's EIP-712 types (relayprotocol/relay-protocol-sdk,
// src/order/index.ts).
var orderTypes = apitypes.Types{
	"Order":         typed("string version", "string solverChainId", "address solver", "uint256 salt", "Input[] inputs", "Output output", "Fee[] fees"),
	"Input":         typed("InputPayment payment", "InputRefund[] refunds"),
	"InputPayment":  typed("string chainId", "bytes currency", "uint256 amount", "uint256 weight"),
	"InputRefund":   typed("string chainId", "bytes recipient", "bytes currency", "uint256 minimumAmount", "uint32 deadline", "bytes extraData"),
	"Output":        typed("string chainId", "OutputPayment[] payments", "uint32 deadline", "bytes[] calls", "bytes extraData"),
	"OutputPayment": typed("bytes recipient", "bytes currency", "uint256 minimumAmount", "uint256 expectedAmount"),
	"Fee":           typed("string recipientChainId", "bytes recipient", "string currencyChainId", "bytes currency", "uint256 amount"),
}

func typed(members ...string) (list []apitypes.Type) {
	for _, m := range members {
		kind, name, _ := strings.Cut(m, " ")
		list = append(list, apitypes.Type{Name: name, Type: kind})
	}
	return list
}

// hash returns the order's EIP-712 struct hash, without a domain.
func (d *orderData) hash() (common.Hash, error) {
	refunds := []any{}
	for _, r := range d.Inputs[0].Refunds {
		refunds = append(refunds, map[string]any{
			"chainId": r.Chain, "recipient": common.Address(r.Recipient).Hex(), "currency": r.Currency, "minimumAmount": r.Minimum,
			"deadline": fmt.Sprint(r.Deadline), "extraData": r.Extra.String(),
		})
	}
	pay, out := d.Inputs[0].Payment, d.Output
	to := out.Payments[0]
	// HashStruct requires a domain, but does not hash it.
	all := apitypes.TypedData{Types: orderTypes, PrimaryType: "Order", Domain: apitypes.TypedDataDomain{Name: "none"}}
	hash, err := all.HashStruct("Order", apitypes.TypedDataMessage{
		"version": d.Version, "solverChainId": d.SolverChain, "solver": d.Solver, "salt": d.Salt.Hex(), "fees": []any{},
		"inputs": []any{map[string]any{
			"payment": map[string]any{"chainId": pay.Chain, "currency": pay.Currency, "amount": pay.Amount, "weight": pay.Weight},
			"refunds": refunds,
		}},
		"output": map[string]any{
			"chainId": out.Chain, "deadline": fmt.Sprint(out.Deadline), "calls": []any{}, "extraData": out.Extra.String(),
			"payments": []any{map[string]any{
				"recipient": common.Address(to.Recipient).Hex(), "currency": to.Currency, "minimumAmount": to.Minimum, "expectedAmount": to.Expected,
			}},
		},
	})
	return common.BytesToHash(hash), err
}

// protocol returns the settlement part of the order's quote.
func (s *Server) protocol(o *order, settings Settings) (*protocol, error) {
	p := &protocol{}
	p.V2.OrderID, p.V2.HubType = o.id, "onchain"
	p.V2.Payment = paymentDetails{o.origin.Bridge().Name, settings.depository(o.origin), o.deposited.Address, o.depositAmount.String()}
	if !o.wantsProtocolData {
		return p, nil
	}
	sig, err := crypto.Sign(accounts.TextHash(o.id[:]), s.Solver.Key)
	if err != nil {
		return nil, err
	}
	sig[crypto.RecoveryIDOffset] += 27
	p.V2.Order, p.V2.Signature = o.data, sig
	return p, nil
}
