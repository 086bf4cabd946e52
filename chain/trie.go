package chain

import (
	"bytes"
	"slices"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/rlp"
)

// encodings are the consensus encodings of a block's transactions or receipts, in their order.
// go-ethereum's own trie computes the same root, but brings its database along.
type encodings [][]byte

// A trieLeaf is an element of a list under its index, as half-bytes.
type trieLeaf struct{ path, value []byte }

// root returns the root of the Merkle Patricia trie of the elements, each under the RLP encoding
// of its index.
func (l encodings) root() common.Hash {
	if len(l) == 0 {
		return types.EmptyRootHash
	}
	leaves := make([]trieLeaf, len(l))
	for i, value := range l {
		leaves[i].value = value
		for _, b := range rlp.AppendUint64(nil, uint64(i)) {
			leaves[i].path = append(leaves[i].path, b>>4, b&0xf)
		}
	}
	slices.SortFunc(leaves, func(a, b trieLeaf) int { return bytes.Compare(a.path, b.path) })
	return crypto.Keccak256Hash(trieNode(leaves))
}

// trieNode returns the encoding of the node above sorted leaves. No path begins with another, so
// a branch has no value of its own.
func trieNode(leaves []trieLeaf) []byte {
	first, last := leaves[0].path, leaves[len(leaves)-1].path
	if len(leaves) == 1 {
		return mustRLP([]any{compact(first, 0x20), leaves[0].value})
	}
	shared := 0
	for first[shared] == last[shared] {
		shared++
	}
	if shared > 0 {
		below := slices.Clone(leaves)
		for i := range below {
			below[i].path = below[i].path[shared:]
		}
		return mustRLP([]any{compact(first[:shared], 0), trieRef(trieNode(below))})
	}
	branch := make([]any, 17)
	for i := range branch {
		branch[i] = []byte{}
	}
	for i := 0; i < len(leaves); {
		var below []trieLeaf
		for place := leaves[i].path[0]; i < len(leaves) && leaves[i].path[0] == place; i++ {
			below = append(below, trieLeaf{leaves[i].path[1:], leaves[i].value})
		}
		branch[leaves[i-1].path[0]] = trieRef(trieNode(below))
	}
	return mustRLP(branch)
}

// trieRef returns what stands for a node in the one above: a short one itself, else its hash.
func trieRef(node []byte) any {
	if len(node) < 32 {
		return rlp.RawValue(node)
	}
	return crypto.Keccak256(node)
}

// compact packs half-bytes into bytes, behind a flag for a leaf and one for an odd number.
func compact(path []byte, leaf byte) []byte {
	out := []byte{leaf}
	if len(path)%2 == 1 {
		out[0] |= 0x10 | path[0]
		path = path[1:]
	}
	for i := 0; i < len(path); i += 2 {
		out = append(out, path[i]<<4|path[i+1])
	}
	return out
}

func mustRLP(items []any) []byte {
	b, err := rlp.EncodeToBytes(items)
	if err != nil {
		panic(err) // bytes always encode
	}
	return b
}
