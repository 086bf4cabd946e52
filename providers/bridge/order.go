package bridge

import (
	"encoding/json"
	"math/big"
	"strings"

	"swapkeep/providers/wire"
	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/crypto"
)

// An order is what the bridge's protocol binds the solver to, as protocol.v2.orderData has
// it; chains are written by the protocol's own names. The deposit names the order by its
// hash, so no part of it may be left unread. Its format is that of
// relayprotocol/relay-protocol-sdk, src/order/index.ts, which reproduces the ids of
// recorded orders.
type order struct {
	Version     string         `json:"version"`
	SolverChain string         `json:"solverChainId"`
	Solver      *wire.Address  `json:"solver"`
	Salt        *wire.Quantity `json:"salt"`
	Inputs      []orderInput   `json:"inputs"`
	Output      orderOutput    `json:"output"`
	Fees        []orderFee     `json:"fees"`
}

type orderInput struct {
	Payment struct {
		Chain    string        `json:"chainId"`
		Currency *wire.Address `json:"currency"`
		Amount   *wire.Amount  `json:"amount"`
		Weight   *wire.Amount  `json:"weight"`
	} `json:"payment"`
	Refunds []orderRefund `json:"refunds"`
}

type orderRefund struct {
	Chain     string        `json:"chainId"`
	Recipient *wire.Address `json:"recipient"`
	Currency  *wire.Address `json:"currency"`
	Minimum   *wire.Amount  `json:"minimumAmount"`
	Deadline  uint32        `json:"deadline"`
	Extra     hexutil.Bytes `json:"extraData"`
}

type orderOutput struct {
	Chain    string          `json:"chainId"`
	Payments []orderPayment  `json:"payments"`
	Calls    []hexutil.Bytes `json:"calls"`
	Deadline uint32          `json:"deadline"`
	Extra    hexutil.Bytes   `json:"extraData"`
}

type orderPayment struct {
	Recipient *wire.Address `json:"recipient"`
	Currency  *wire.Address `json:"currency"`
	Minimum   *wire.Amount  `json:"minimumAmount"`
	Expected  *wire.Amount  `json:"expectedAmount"`
}

// An orderFee is paid by the solver within the protocol, and takes nothing from what the
// recipient is paid.
type orderFee struct {
	RecipientChain string        `json:"recipientChainId"`
	Recipient      *wire.Address `json:"recipient"`
	CurrencyChain  string        `json:"currencyChainId"`
	Currency       *wire.Address `json:"currency"`
	Amount         *wire.Amount  `json:"amount"`
}

// maxOrderParts bounds each list of an order.
const maxOrderParts = 16

// readOrder reads an order that is between EVM chains and has one input, one payment and no
// calls: a swap has no other.
func readOrder(raw json.RawMessage) (order, error) {
	var o order
	if err := wire.ReadStrict(raw, &o); err != nil {
		return o, refuse(swap.Undecodable, "orderData", "has an order of which not everything is known: %v", err)
	}
	simple := o.Version == "v1" && len(o.Inputs) == 1 && len(o.Output.Payments) == 1 && len(o.Output.Calls) == 0
	if !simple || len(o.Inputs[0].Refunds) > maxOrderParts || len(o.Fees) > maxOrderParts || !o.complete() {
		return o, refuse(swap.Undecodable, "orderData", "has an order that is not one payment for one deposit")
	}
	return o, nil
}

// complete reports whether everything that is hashed is there.
func (o order) complete() bool {
	in, out := o.Inputs[0].Payment, o.Output.Payments[0]
	all := o.Solver != nil && o.Salt != nil && in.Currency != nil && in.Amount != nil && in.Weight != nil &&
		out.Recipient != nil && out.Currency != nil && out.Minimum != nil && out.Expected != nil
	for _, r := range o.Inputs[0].Refunds {
		all = all && r.Recipient != nil && r.Currency != nil && r.Minimum != nil
	}
	for _, f := range o.Fees {
		all = all && f.Recipient != nil && f.Currency != nil && f.Amount != nil
	}
	return all
}

// The EIP-712 types of an order, each followed by the types that it refers to.
const (
	typeOfPayment    = "InputPayment(string chainId,bytes currency,uint256 amount,uint256 weight)"
	typeOfRefund     = "InputRefund(string chainId,bytes recipient,bytes currency,uint256 minimumAmount,uint32 deadline,bytes extraData)"
	typeOfInput      = "Input(InputPayment payment,InputRefund[] refunds)" + typeOfPayment + typeOfRefund
	typeOfOutPayment = "OutputPayment(bytes recipient,bytes currency,uint256 minimumAmount,uint256 expectedAmount)"
	typeOfOutput     = "Output(string chainId,OutputPayment[] payments,uint32 deadline,bytes[] calls,bytes extraData)"
	typeOfFee        = "Fee(string recipientChainId,bytes recipient,string currencyChainId,bytes currency,uint256 amount)"
	typeOfOrder      = "Order(string version,string solverChainId,address solver,uint256 salt,Input[] inputs,Output output,Fee[] fees)" +
		typeOfFee + "Input(InputPayment payment,InputRefund[] refunds)" + typeOfPayment + typeOfRefund + typeOfOutput + typeOfOutPayment
)

// id is the order's EIP-712 struct hash, without a domain.
func (o order) id() common.Hash {
	in, out := o.Inputs[0], o.Output
	pay, paid := in.Payment, out.Payments[0]
	var refunds, fees [][]byte
	for _, r := range in.Refunds {
		refunds = append(refunds, hashOf(typeOfRefund, text(r.Chain), bytesOf(r.Recipient.Bytes()), bytesOf(r.Currency.Bytes()), word(r.Minimum.Int), seconds(r.Deadline), bytesOf(r.Extra)))
	}
	for _, f := range o.Fees {
		fees = append(fees, hashOf(typeOfFee, text(f.RecipientChain), bytesOf(f.Recipient.Bytes()), text(f.CurrencyChain), bytesOf(f.Currency.Bytes()), word(f.Amount.Int)))
	}
	payment := hashOf(typeOfPayment, text(pay.Chain), bytesOf(pay.Currency.Bytes()), word(pay.Amount.Int), word(pay.Weight.Int))
	input := hashOf(typeOfInput, payment, bytesOf(refunds...))
	outPayment := hashOf(typeOfOutPayment, bytesOf(paid.Recipient.Bytes()), bytesOf(paid.Currency.Bytes()), word(paid.Minimum.Int), word(paid.Expected.Int))
	output := hashOf(typeOfOutput+typeOfOutPayment, text(out.Chain), bytesOf(outPayment), seconds(out.Deadline), bytesOf(), bytesOf(out.Extra))
	return common.Hash(hashOf(typeOfOrder, text(o.Version), text(o.SolverChain), common.LeftPadBytes(o.Solver.Bytes(), wordLen), word(o.Salt.Int), bytesOf(input), output, bytesOf(fees...)))
}

// hashOf hashes a struct of a type from its words. bytesOf hashes bytes of any length, or
// the hashes of an array's elements; the others return a word each.
func hashOf(typ string, words ...[]byte) []byte {
	return crypto.Keccak256(append([][]byte{crypto.Keccak256([]byte(typ))}, words...)...)
}
func bytesOf(parts ...[]byte) []byte { return crypto.Keccak256(parts...) }
func text(s string) []byte           { return crypto.Keccak256([]byte(s)) }
func word(n *big.Int) []byte         { return common.BigToHash(n).Bytes() }
func seconds(n uint32) []byte        { return word(new(big.Int).SetUint64(uint64(n))) }

// check requires the order to be its solver's, to take what is deposited, to pay the
// recipient at least the quote's minimum, and to refund only on the chain of the deposit to
// the refund address, or where it pays to the recipient.
func (o order) check(p payment, r swap.QuoteRequest, minOut *big.Int, solver common.Address) error {
	in, out := o.Inputs[0].Payment, o.Output.Payments[0]
	to := p.Details
	stated := to != nil && to.Amount != nil && to.Currency != nil
	err := service.CheckEchoes([]wire.Echo{
		{Field: "solver", Present: true, Matches: o.Solver.Is(solver)},
		{Field: "paymentDetails", Present: stated, Matches: stated && in.Amount.Is(to.Amount.Int) && in.Currency.Is(to.Currency.Address) && in.Chain == to.Chain},
		{Field: "recipient", Present: true, Matches: out.Recipient.Is(r.Recipient)},
		{Field: "currencyOut", Present: true, Matches: out.Currency.Is(r.TokenOut)},
	})
	if err != nil {
		return err
	}
	if out.Minimum.Cmp(minOut) < 0 {
		return refuse(swap.NotAsAccepted, "minimumAmount", "has the solver bound to less than the quote promises").WithAmounts(swap.OfOutput, out.Minimum.Int, minOut)
	}
	for _, back := range o.Inputs[0].Refunds {
		home, there := back.Chain == in.Chain && back.Recipient.Is(r.RefundTo), back.Chain == o.Output.Chain && back.Recipient.Is(r.Recipient)
		if !home && !there {
			return refuse(swap.NotAsAccepted, "refundTo", "would give the deposit back to %s", back.Recipient)
		}
	}
	return nil
}

// signedBy reports whether who has signed an order's id (EIP-191).
func signedBy(who common.Address, id common.Hash, signature string) bool {
	sig, err := hexutil.Decode(strings.ToLower(signature))
	if err != nil || len(sig) != crypto.SignatureLength || sig[crypto.RecoveryIDOffset] < 27 {
		return false
	}
	sig[crypto.RecoveryIDOffset] -= 27
	key, err := crypto.SigToPub(crypto.Keccak256([]byte("\x19Ethereum Signed Message:\n32"), id[:]), sig)
	return err == nil && crypto.PubkeyToAddress(*key) == who
}
