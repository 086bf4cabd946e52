package dex

import (
	"math/big"

	"swapkeep/chain"
	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"
)

var (
	// fillTopic is the reactors' event of a fill: hash, filler and swapper are
	// indexed, the nonce is its data.
	fillTopic = crypto.Keccak256Hash([]byte("Fill(bytes32,address,address,uint256)"))
	// invalidateFn voids unordered nonces of the caller: word, and bits of it.
	invalidateFn   = selector{0x3f, 0xf9, 0xdc, 0xb1} // Permit2 invalidateUnorderedNonces(uint256,uint256)
	invalidateArgs = words("uint256", "uint256")
)

// nonceBitsOfWord is how many bits of an unordered nonce say which bit of a word it
// is; the others say which word.
const nonceBitsOfWord = 8

// Proof is the fill of the very order that was signed, by the reactor it names, which
// enforces it. The nonce's bit shows that it was filled or voided.
func (p *Provider) Proof(o swap.Order) (swap.Proof, error) {
	s, err := p.signed(o)
	if err != nil {
		return swap.Proof{}, err
	}
	return swap.Proof{
		Fill: []swap.LogPattern{{
			Address: s.reactor,
			Topics:  []common.Hash{fillTopic, s.id, {}, common.BytesToHash(s.swapper[:])},
			Amount:  new(big.Int).Set(s.nonce),
		}},
		Ends:  s.ends(),
		Nonce: &swap.NonceBit{Contract: permit2, Owner: s.swapper, Nonce: new(big.Int).Set(s.nonce)},
	}, nil
}

// CancelCall voids the order's nonce at Permit2, whether it was signed or not.
func (p *Provider) CancelCall(o swap.Order) (chain.Call, error) {
	s, err := p.signed(o)
	if err != nil {
		return chain.Call{}, err
	}
	bit := new(big.Int).And(s.nonce, big.NewInt(1<<nonceBitsOfWord-1))
	args, err := invalidateArgs.Pack(new(big.Int).Rsh(s.nonce, nonceBitsOfWord), new(big.Int).Lsh(big.NewInt(1), uint(bit.Uint64())))
	if err != nil {
		return chain.Call{}, err
	}
	return chain.Call{
		ChainID: o.Terms.SrcChain, From: o.Terms.Account, To: permit2, Value: new(big.Int), Data: append(invalidateFn[:], args...),
	}, nil
}
