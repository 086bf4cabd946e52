package dex

import (
	"math/big"

	"swapkeep/chain"
	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"
)

var (
	// fillTopic is the reactors' Fill event: hash, filler and swapper are indexed, the
	// nonce is its data.
	fillTopic = crypto.Keccak256Hash([]byte("Fill(bytes32,address,address,uint256)"))
	// invalidateFn invalidates unordered nonces of the caller, by word and bit mask.
	invalidateFn   = selector{0x3f, 0xf9, 0xdc, 0xb1} // Permit2 invalidateUnorderedNonces(uint256,uint256)
	invalidateArgs = words("uint256", "uint256")
)

// nonceBitsOfWord is how many low bits of an unordered nonce select the bit within a word;
// the others select the word.
const nonceBitsOfWord = 8

// Proof returns the fill of exactly the order that was signed, by the reactor that it
// names, which enforces it. The nonce's bit shows that the order was filled or invalidated.
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

// CancelCall returns the call that invalidates the order's nonce at Permit2, whether the
// order was signed or not.
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
