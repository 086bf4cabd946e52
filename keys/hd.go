package keys

import (
	"crypto/sha512"
	"encoding/binary"
	"fmt"

	"github.com/decred/dcrd/dcrec/secp256k1/v4"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"
)

const hardened = 1 << 31

// branchPath is the path of the node whose children are the accounts: BIP-44 for
// Ethereum, m/44'/60'/0'/0.
var branchPath = []uint32{hardened + 44, hardened + 60, hardened, 0}

// accountPath returns the derivation path of account n, for display.
func accountPath(n uint32) string { return fmt.Sprintf("m/44'/60'/0'/0/%d", n) }

// A node is a private BIP-32 node: 32 bytes of key and 32 of chain code.
type node struct{ key, code secret }

func (n *node) zero() {
	n.key.zero()
	n.code.zero()
}

// masterNode returns the root node of a seed (BIP-32, master key generation).
func masterNode(seed secret) (*node, error) {
	sum := mac(sha512.New, []byte("Bitcoin seed"), seed)
	var k secp256k1.ModNScalar
	defer k.Zero()
	if overflow := k.SetByteSlice(sum[:32]); overflow || k.IsZero() {
		sum.zero()
		return nil, fmt.Errorf("%w: unusable seed", ErrBadMnemonic)
	}
	return &node{key: sum[:32], code: sum[32:]}, nil
}

// child derives one child (BIP-32, CKDpriv). One index in 2^127 has no child.
func (n *node) child(index uint32) (*node, error) {
	data := make(secret, 0, 37)
	if index >= hardened {
		data = append(append(data, 0), n.key...)
	} else {
		data = append(data, publicKey(n.key)...)
	}
	data = binary.BigEndian.AppendUint32(data, index)
	defer data.zero()
	sum := mac(sha512.New, n.code, data)
	var k, parent secp256k1.ModNScalar
	defer k.Zero()
	defer parent.Zero()
	overflow := k.SetByteSlice(sum[:32])
	parent.SetByteSlice(n.key)
	if k.Add(&parent); overflow || k.IsZero() {
		sum.zero()
		return nil, fmt.Errorf("%w: no key at index %d", ErrAccountExhausted, index)
	}
	k.PutBytesUnchecked(sum[:32])
	return &node{key: sum[:32], code: sum[32:]}, nil
}

// derive walks path from n and wipes the nodes in between.
func (n *node) derive(path []uint32) (*node, error) {
	at := &node{key: append(secret(nil), n.key...), code: append(secret(nil), n.code...)}
	for _, index := range path {
		next, err := at.child(index)
		at.zero()
		if err != nil {
			return nil, err
		}
		at = next
	}
	return at, nil
}

// accountParent returns the parent node of the accounts, from a mnemonic's entropy.
func accountParent(entropy secret) (*node, error) {
	text := mnemonic(entropy)
	defer text.zero()
	s := seed(text, "")
	defer s.zero()
	root, err := masterNode(s)
	if err != nil {
		return nil, err
	}
	defer root.zero()
	return root.derive(branchPath)
}

// account returns the key and address of account i below a branch node.
func (n *node) account(i uint32) (secret, common.Address, error) {
	leaf, err := n.child(i)
	if err != nil {
		return nil, common.Address{}, err
	}
	leaf.code.zero()
	return leaf.key, addressOf(leaf.key), nil
}

// publicKey returns the compressed public key, 33 bytes.
func publicKey(key secret) []byte {
	return pointOf(key).SerializeCompressed()
}

func addressOf(key secret) common.Address {
	return common.BytesToAddress(crypto.Keccak256(pointOf(key).SerializeUncompressed()[1:])[12:])
}

func pointOf(key secret) *secp256k1.PublicKey {
	var k secp256k1.ModNScalar
	defer k.Zero()
	k.SetByteSlice(key)
	point := basePoint(&k)
	return secp256k1.NewPublicKey(&point.X, &point.Y)
}
