package gaslesssim

import (
	"context"
	"math/big"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/crypto"

	"swapkeep/sandbox/eip55"
	"swapkeep/sandbox/network"
	"swapkeep/sandbox/operator"
)

// rfq is the protocol in which one maker pays exactly what was signed.
var rfq = &protocol{
	name: "rfq", path: "pmm", version: "v3",
	deployment: func(n network.Gasless) deployment { return deployment{n.RfqSettlement, n.RfqSettlement} },
	payer:      func(s *Server) *operator.Account { return s.Maker },
	behaviour:  func(s *Settings) *Behaviour { return &s.RFQ },
	onToken:    105, onLiquidity: 102, onPermit: 107, onSignature: 201,
	minUSD: 1_000_000, firm: true,
	toSign: rfqToSign, reply: rfqReplyTo, digest: rfqDigest, call: rfqCall,
	shortBy: func(q *quote) *big.Int { return new(big.Int).Sub(q.net, big.NewInt(1)) },
}

// Bits of packed_commands.
const (
	makerNative  = 2
	takerPermit2 = 4
)

// partnerID is in every order and means no partner.
const partnerID = 0

// rfqMessage is the order that the taker signs.
type rfqMessage struct {
	PartnerID      uint64        `json:"partner_id"`
	Expiry         int64         `json:"expiry"`
	Taker          eip55.Address `json:"taker_address"`
	Maker          eip55.Address `json:"maker_address"`
	MakerNonce     string        `json:"maker_nonce"`
	TakerToken     eip55.Address `json:"taker_token"`
	MakerToken     eip55.Address `json:"maker_token"`
	TakerAmount    string        `json:"taker_amount"`
	MakerAmount    string        `json:"maker_amount"`
	Receiver       eip55.Address `json:"receiver"`
	PackedCommands string        `json:"packed_commands"`
}

func rfqToSign(q *quote) any {
	return rfqMessage{
		PartnerID: partnerID, Expiry: q.expiry, Taker: eip55.Address(q.taker), Maker: eip55.Address(q.payer), MakerNonce: q.nonce.String(),
		TakerToken: eip55.Address(q.sell), MakerToken: eip55.Address(q.buyToken.Address),
		TakerAmount: q.sellAmount.String(), MakerAmount: q.net.String(), Receiver: eip55.Address(q.receiver),
		PackedCommands: q.packedCommands().String(),
	}
}

func (q *quote) packedCommands() *big.Int {
	commands := int64(0)
	if q.buy == native {
		commands |= makerNative
	}
	if q.approval == "Permit2" {
		commands |= takerPermit2
	}
	return big.NewInt(commands)
}

type rfqReply struct {
	quoteReply
	Makers            []string     `json:"makers"`
	OnchainOrderType  string       `json:"onchainOrderType"`
	PartialFillOffset *int         `json:"partialFillOffset"`
	Tx                *transaction `json:"tx,omitempty"`
}

// transaction is sent by the taker of a trade that is not gasless.
type transaction struct {
	ChainID uint64        `json:"chainId"`
	From    eip55.Address `json:"from"`
	To      eip55.Address `json:"to"`
	Value   string        `json:"value"`
	Data    hexutil.Bytes `json:"data"`
	Gas     uint64        `json:"gas"`

	GasPrice uint64 `json:"gasPrice"`
}

// Stated gas of a trade that the taker sends.
const (
	swapGas  = 300_000
	gasPrice = 1_000_000_000
)

// router settles heavily traded tokens on the real chains. Here it has no code.
var router = common.HexToAddress("0xBeb0009ACa35087ce7cCF11637E24dd1Aad3bf2A")

// singleOffset and routerOffset are the index of the calldata word with the filled amount,
// for the settlement contract and for the router.
var singleOffset, routerOffset = 12, 0

func rfqReplyTo(s *Server, q *quote, r quoteReply) (any, error) {
	r.Status = "QUOTE_SUCCESS"
	reply := rfqReply{quoteReply: r, Makers: []string{"sandbox"}, OnchainOrderType: "SingleOrder"}
	to, offset := eip55.Address(q.deployment.settlement), &singleOffset
	if s.Settings().RFQ.Router {
		to, offset = eip55.Address(router), &routerOffset
		order := rfqToSign(q).(rfqMessage)
		order.Taker, order.Receiver = to, to
		reply.SettlementAddress, reply.ApprovalTarget, reply.ToSign = to, to, order
	}
	if !q.selfExecuted {
		return reply, nil
	}
	reply.PartialFillOffset = offset
	signed, err := s.makerSignature(q, q.net)
	if err != nil {
		return nil, err
	}
	data, err := s.abis.rfq.Pack("swapSingle", q.single(q.net), signed, new(big.Int))
	reply.Status = "SIG_SUCCESS"
	reply.Tx = &transaction{q.market.ID, eip55.Address(q.taker), to, "0x0", data, swapGas, gasPrice}
	return reply, err
}

// single is the order in the settlement contract's layout.
type single struct {
	Expiry                   *big.Int
	TakerAddress             common.Address
	MakerAddress             common.Address
	MakerNonce               *big.Int
	TakerToken, MakerToken   common.Address
	TakerAmount, MakerAmount *big.Int
	Receiver                 common.Address
	PackedCommands           *big.Int
	Flags                    *big.Int
}

type makerSignature struct {
	SignatureBytes []byte
	Flags          *big.Int
}

type oldQuote struct {
	UseOldAmount bool
	MakerAmount  *big.Int
	MakerNonce   *big.Int
}

type permit2Signature struct {
	SignatureBytes []byte
	Deadline       *big.Int
	Nonce          *big.Int
}

// single returns the order for a maker amount.
func (q *quote) single(makerAmount *big.Int) single {
	flags := new(big.Int).Lsh(q.eventID, 64)
	flags.Or(flags, big.NewInt(partnerID)).Lsh(flags, 64)
	return single{
		Expiry: big.NewInt(q.expiry), TakerAddress: q.taker, MakerAddress: q.payer, MakerNonce: q.nonce,
		TakerToken: q.sell, MakerToken: q.buyToken.Address, TakerAmount: q.sellAmount, MakerAmount: makerAmount,
		Receiver: q.receiver, PackedCommands: q.packedCommands(), Flags: flags,
	}
}

func rfqDigest(ctx context.Context, s *Server, q *quote) (common.Hash, error) {
	return s.rfqHash(ctx, q, q.net)
}

func (s *Server) rfqHash(ctx context.Context, q *quote, makerAmount *big.Int) (common.Hash, error) {
	out, err := q.market.read(ctx, q.deployment.settlement, s.abis.rfq, "hashSingleOrder",
		q.single(makerAmount), uint64(partnerID), new(big.Int), new(big.Int))
	if err != nil {
		return common.Hash{}, err
	}
	return out[0].([32]byte), nil
}

func (s *Server) makerSignature(q *quote, makerAmount *big.Int) (makerSignature, error) {
	hash, err := s.rfqHash(s.background, q, makerAmount)
	if err != nil {
		return makerSignature{}, err
	}
	signed, err := crypto.Sign(hash[:], s.Maker.Key)
	if err != nil {
		return makerSignature{}, err
	}
	signed[64] += 27
	return makerSignature{signed, new(big.Int)}, nil
}

// taken returns how much of the taker's amount is settled; 0 = all.
func (o *order) taken() *big.Int {
	if o.Outcome != "part" {
		return new(big.Int)
	}
	return new(big.Int).Rsh(o.sellAmount, 1)
}

func rfqCall(s *Server, o *order, paid *big.Int) (operator.Call, error) {
	signed, err := s.makerSignature(o.quote, paid)
	if err != nil {
		return operator.Call{}, err
	}
	method := "settleSingle"
	args := []any{o.single(paid), signed, o.taken(), oldQuote{false, o.net, o.nonce}, o.signature}
	if o.permit != nil {
		method = "settleSingleAndSignPermit2"
		args = append(args, permit2Signature{o.permit.signature, o.permit.deadline, o.permit.nonce})
	}
	data, err := s.abis.rfq.Pack(method, args...)
	return operator.Call{To: o.deployment.settlement, Data: data}, err
}
