package dex

import (
	"math/big"

	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/math"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/signer/core/apitypes"
)

// A dutchOrder is a UniswapX auction order: the first filler to pay its outputs, which
// shrink from start to end, gets its input. Members of one kind only are nil in the other.
type dutchOrder struct {
	kind             *auctionKind
	reactor, swapper common.Address
	nonce, deadline  *big.Int // Permit2's unordered nonce; Unix seconds
	validator        common.Address
	validation       []byte
	cosigner         common.Address
	baseFee          *big.Int // V3: of the block that adjustments are relative to
	input            dutchLine
	outputs          []dutchLine
}

// A dutchLine is the input, or one output with its recipient.
type dutchLine struct {
	token, recipient common.Address
	start, end       *big.Int // base units; end is also the bound that the reactor enforces
	curve            *curve   // V3
	adjust           *big.Int // V3: base units per gwei of base fee
}

// A curve says how an amount moves from start to end: at the relative block of a point it
// is start minus the point's amount. Blocks are packed, 16 bits each, the first lowest.
type curve struct {
	blocks  *big.Int
	amounts []*big.Int
}

const (
	witnessPermit = "PermitWitnessTransferFrom"
	// blockBits is the size of one relative block in a curve.
	blockBits = 16
)

// A orderTerms is what the request or the terms fix about an order: everything that the provider
// may not choose.
type orderTerms struct {
	chain              uint64
	account, recipient common.Address
	in, out            common.Address
	amount             *big.Int
	feeBps, makerBps   int
	feeReceiver        common.Address
	kind               *auctionKind
	reactor, cosigner  common.Address
	reserved           func(common.Address) bool // contracts that would keep what they are paid
}

func (p *Provider) orderTermsOf(r swap.QuoteRequest, pr tokenPair) orderTerms {
	_, _, maker := swap.DefaultFees().For(swap.DEX)
	return p.completeOrderTerms(pr, orderTerms{
		chain: r.SrcChain, account: r.Account, recipient: r.Recipient, in: r.TokenIn, out: r.TokenOut, amount: r.AmountIn,
		feeBps: r.FeeBps, makerBps: maker, feeReceiver: r.FeeReceiver,
	})
}

func (p *Provider) orderTermsUnder(t swap.Terms, pr tokenPair) orderTerms {
	return p.completeOrderTerms(pr, orderTerms{
		chain: t.SrcChain, account: t.Account, recipient: t.Recipient, in: t.Input(), out: t.TokenOut, amount: t.AmountIn,
		feeBps: t.FeeBps, makerBps: t.MakerFeeBps, feeReceiver: t.FeeReceiver,
	})
}

func (p *Provider) completeOrderTerms(pr tokenPair, d orderTerms) orderTerms {
	d.kind, d.reactor, d.cosigner = pr.auction, pr.reactor, p.cosigner
	d.reserved = func(a common.Address) bool { return a == nativeCoin || a == pr.reactor || reserved(a, pr.deployment) }
	return d
}

// build makes the order from the deal. Of the given order, which has passed [orderRules],
// it takes only what the provider may choose.
func (d orderTerms) build(given dutchOrder) dutchOrder {
	o := dutchOrder{
		kind: d.kind, reactor: d.reactor, swapper: d.account, nonce: given.nonce, deadline: given.deadline,
		validation: []byte{}, cosigner: d.cosigner, baseFee: given.baseFee,
		input: dutchLine{token: d.in, start: d.amount, end: d.amount, curve: given.input.curve.flat(), adjust: new(big.Int)},
	}
	for _, l := range given.outputs {
		o.outputs = append(o.outputs, dutchLine{token: d.out, recipient: l.recipient, start: l.start, end: l.end, curve: l.curve, adjust: new(big.Int)})
	}
	return o
}

// flat returns a curve over the same blocks that never moves; nil for nil.
func (c *curve) flat() *curve {
	if c == nil {
		return nil
	}
	flat := &curve{blocks: c.blocks}
	for range c.amounts {
		flat.amounts = append(flat.amounts, new(big.Int))
	}
	return flat
}

// witness returns the order's values, from which its hash is made.
func (o dutchOrder) witness() values {
	v := o.kind.witness(o)
	v["info"] = values{
		"reactor": o.reactor, "swapper": o.swapper, "nonce": o.nonce, "deadline": o.deadline,
		"additionalValidationContract": o.validator, "additionalValidationData": o.validation,
	}
	v["cosigner"] = o.cosigner
	return v
}

// permit returns the values that are signed: they let the reactor pull the input through
// Permit2, for this order and no other.
func (o dutchOrder) permit() values {
	return values{
		"permitted": values{"token": o.input.token, "amount": o.input.end},
		"spender":   o.reactor, "nonce": o.nonce, "deadline": o.deadline, "witness": o.witness(),
	}
}

// typed returns the typed data as Permit2 on the chain hashes it.
func (o dutchOrder) typed(chainID uint64) apitypes.TypedData {
	return apitypes.TypedData{
		Types: o.kind.types, PrimaryType: witnessPermit,
		Domain:  apitypes.TypedDataDomain{Name: "Permit2", ChainId: (*math.HexOrDecimal256)(new(big.Int).SetUint64(chainID)), VerifyingContract: permit2.Hex()},
		Message: o.permit().message(),
	}
}

// hash is the order's hash on the chain and its id at the API: the struct hash of the
// witness, without a domain.
func (o dutchOrder) hash() common.Hash { return o.witness().hash(o.kind.hashed, o.kind.order) }

// digest is what the account signs: the hash of [dutchOrder.typed].
func (o dutchOrder) digest(chainID uint64) common.Hash {
	domain := values{"name": []byte("Permit2"), "chainId": new(big.Int).SetUint64(chainID), "verifyingContract": permit2}
	separator, order := domain.hash(o.kind.hashed, "EIP712Domain"), o.permit().hash(o.kind.hashed, witnessPermit)
	return crypto.Keccak256Hash([]byte{0x19, 0x01}, separator[:], order[:])
}

// orderOf reads an order from its witness.
func orderOf(k *auctionKind, witness values) dutchOrder {
	info := witness["info"].(values)
	o := k.read(witness)
	o.kind = k
	o.reactor, o.swapper = info["reactor"].(common.Address), info["swapper"].(common.Address)
	o.nonce, o.deadline = info["nonce"].(*big.Int), info["deadline"].(*big.Int)
	o.validator, o.validation = info["additionalValidationContract"].(common.Address), info["additionalValidationData"].([]byte)
	o.cosigner = witness["cosigner"].(common.Address)
	return o
}
