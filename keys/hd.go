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

// coinPath is the path of the node above a wallet's branches: BIP-44 for Ethereum,
// m/44'/60'/0'.
var coinPath = []uint32{hardened + 44, hardened + 60, hardened}

// The chains of BIP-44 below coinPath. The external one has the addresses that a wallet
// shows, the internal one those that are not meant to be seen outside of it.
const (
	external = 0
	internal = 1
)

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

// branches are the nodes of a mnemonic from which its accounts are derived. The nodes
// above them are not kept.
type branches struct {
	external *node // m/44'/60'/0'/0: its children are the accounts
	internal *node // m/44'/60'/0'/1: its child n is the parent of account n's isolated ones
}

func (b *branches) zero() {
	b.external.zero()
	b.internal.zero()
}

// branchesOf derives the branches from a mnemonic's entropy.
func branchesOf(entropy secret) (*branches, error) {
	text := mnemonic(entropy)
	defer text.zero()
	s := seed(text, "")
	defer s.zero()
	root, err := masterNode(s)
	if err != nil {
		return nil, err
	}
	defer root.zero()
	coin, err := root.derive(coinPath)
	if err != nil {
		return nil, err
	}
	defer coin.zero()
	shown, err := coin.child(external)
	if err != nil {
		return nil, err
	}
	hidden, err := coin.child(internal)
	if err != nil {
		shown.zero()
		return nil, err
	}
	return &branches{shown, hidden}, nil
}

func (b *branches) account(n uint32) (secret, common.Address, error) { return b.external.leaf(n) }

// isolated derives m/44'/60'/0'/1/n/k. No account and no address of another wallet is on a
// path of this length.
func (b *branches) isolated(n, k uint32) (secret, common.Address, error) {
	parent, err := b.internal.child(n)
	if err != nil {
		return nil, common.Address{}, err
	}
	defer parent.zero()
	return parent.leaf(k)
}

// leaf returns the key and address of child i.
func (n *node) leaf(i uint32) (secret, common.Address, error) {
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
