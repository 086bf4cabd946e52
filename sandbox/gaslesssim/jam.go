package gaslesssim

import (
	"context"
	"math/big"

	"github.com/ethereum/go-ethereum/common"

	"swapkeep/sandbox/eip55"
	"swapkeep/sandbox/network"
	"swapkeep/sandbox/operator"
)

// jam is the protocol in which a solver pays at least what was signed.
var jam = &protocol{
	name: "jam", path: "jam", version: "v2",
	deployment: func(n network.Gasless) deployment { return deployment{n.JamSettlement, n.JamBalanceManager} },
	payer:      func(s *Server) *operator.Account { return s.Solver },
	behaviour:  func(s *Settings) *Behaviour { return &s.JAM },
	onToken:    108, onLiquidity: 108, onPermit: 101, onSignature: 208,
	toSign: jamToSign, reply: jamReplyTo, digest: jamDigest, call: jamCall,
	shortBy: func(q *quote) *big.Int { return new(big.Int).Sub(q.minAmount, big.NewInt(1)) },
}

// ProtocolFees receives JAM's own fee, if a quote has one.
var ProtocolFees = common.HexToAddress("0x5a4D000000000000000000000000000000000021")

// jamMessage is the order that the taker signs.
type jamMessage struct {
	Taker               eip55.Address   `json:"taker"`
	Receiver            eip55.Address   `json:"receiver"`
	Expiry              int64           `json:"expiry"`
	ExclusivityDeadline int64           `json:"exclusivityDeadline"`
	Nonce               string          `json:"nonce"`
	Executor            eip55.Address   `json:"executor"`
	PartnerInfo         string          `json:"partnerInfo"`
	SellTokens          []eip55.Address `json:"sellTokens"`
	BuyTokens           []eip55.Address `json:"buyTokens"`
	SellAmounts         []string        `json:"sellAmounts"`
	BuyAmounts          []string        `json:"buyAmounts"`
	HooksHash           common.Hash     `json:"hooksHash"`
}

func jamToSign(q *quote) any {
	return jamMessage{
		Taker: eip55.Address(q.taker), Receiver: eip55.Address(q.receiver), Expiry: q.expiry, ExclusivityDeadline: q.expiry,
		Nonce: q.nonce.String(), Executor: eip55.Address(q.payer), PartnerInfo: q.partnerInfo().String(),
		SellTokens: []eip55.Address{eip55.Address(q.sell)}, BuyTokens: []eip55.Address{eip55.Address(q.buy)},
		SellAmounts: []string{q.sellAmount.String()}, BuyAmounts: []string{q.minAmount.String()},
	}
}

type jamReply struct {
	quoteReply
	HooksHash common.Hash `json:"hooksHash"`
	Solver    string      `json:"solver"`
}

func jamReplyTo(_ *Server, _ *quote, r quoteReply) (any, error) {
	r.Status = "Success"
	return jamReply{quoteReply: r, Solver: "sandbox"}, nil
}

// partnerInfo packs the fee recipient and the fees in basis points.
func (q *quote) partnerInfo() *big.Int {
	var partner common.Address
	if q.feeBps > 0 {
		partner = q.feeRecipient
	}
	return packPartner(partner, q.feeBps, q.protocolFeeBps)
}

func packPartner(partner common.Address, feeBps, protocolFeeBps int64) *big.Int {
	info := new(big.Int).Lsh(partner.Big(), 16)
	info.Or(info, big.NewInt(feeBps)).Lsh(info, 16)
	return info.Or(info, big.NewInt(protocolFeeBps))
}

// jamOrder is the order in the settlement contract's layout.
type jamOrder struct {
	Taker, Receiver                    common.Address
	Expiry, ExclusivityDeadline, Nonce *big.Int
	Executor                           common.Address
	PartnerInfo                        *big.Int
	SellTokens, BuyTokens              []common.Address
	SellAmounts, BuyAmounts            []*big.Int
	UsingPermit2                       bool
}

func (q *quote) jamOrder() jamOrder {
	expiry := big.NewInt(q.expiry)
	return jamOrder{
		Taker: q.taker, Receiver: q.receiver, Expiry: expiry, ExclusivityDeadline: expiry, Nonce: q.nonce,
		Executor: q.payer, PartnerInfo: q.partnerInfo(),
		SellTokens: []common.Address{q.sell}, BuyTokens: []common.Address{q.buy},
		SellAmounts: []*big.Int{q.sellAmount}, BuyAmounts: []*big.Int{q.minAmount},
		UsingPermit2: q.approval == "Permit2",
	}
}

func jamDigest(ctx context.Context, s *Server, q *quote) (common.Hash, error) {
	out, err := q.market.read(ctx, q.deployment.settlement, s.abis.jam, "hashJamOrder", q.jamOrder(), common.Hash{})
	if err != nil {
		return common.Hash{}, err
	}
	return out[0].([32]byte), nil
}

func jamCall(s *Server, o *order, paid *big.Int) (operator.Call, error) {
	data, err := s.abis.jam.Pack("settleInternal", o.jamOrder(), o.signature, []*big.Int{paid}, []byte{})
	call := operator.Call{To: o.deployment.settlement, Data: data}
	if o.buy == native {
		call.Value = paid
	}
	return call, err
}
