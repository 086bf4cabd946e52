package sandbox

import (
	"crypto/ecdsa"
	"crypto/hmac"
	"crypto/pbkdf2"
	"crypto/sha512"
	"encoding/binary"
	"fmt"
	"maps"
	"math/big"
	"slices"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"
)

// Mnemonic is the test mnemonic that every development chain publishes. Its
// keys are PUBLIC: whoever sends real funds to them loses them at once.
const Mnemonic = "test test test test test test test test test test test junk"

// fundedAccounts is how many of the mnemonic's accounts hold funds.
const fundedAccounts = 10

// An Account is one of a mnemonic's, at m/44'/60'/0'/0/Index.
type Account struct {
	Index   uint32
	Address common.Address
	Key     *ecdsa.PrivateKey // public knowledge where it is one of Mnemonic's
}

// Accounts derives the first n accounts of the published test mnemonic.
func Accounts(n uint32) ([]Account, error) { return AccountsOf(Mnemonic, n) }

// AccountsOf derives the first n accounts of a mnemonic, such as one that a
// daemon made here and showed. It does not look whether the words are sound.
func AccountsOf(mnemonic string, n uint32) ([]Account, error) {
	indices := make([]uint32, n)
	for i := range indices {
		indices[i] = uint32(i)
	}
	return accountsAt(mnemonic, indices)
}

func accountsAt(mnemonic string, indices []uint32) ([]Account, error) {
	seed, err := pbkdf2.Key(sha512.New, mnemonic, []byte("mnemonic"), 2048, 64)
	if err != nil {
		return nil, err
	}
	parent := extended(hmac512([]byte("Bitcoin seed"), seed))
	for _, index := range []uint32{hardened + 44, hardened + 60, hardened, 0} {
		if parent, err = parent.child(index); err != nil {
			return nil, err
		}
	}
	accounts := make([]Account, len(indices))
	for i, index := range indices {
		node, err := parent.child(index)
		if err != nil {
			return nil, err
		}
		key, err := crypto.ToECDSA(node.key)
		if err != nil {
			return nil, err
		}
		accounts[i] = Account{Index: index, Address: crypto.PubkeyToAddress(key.PublicKey), Key: key}
	}
	return accounts, nil
}

// services are the accounts of those behind the providers, by what they do.
// They are the published mnemonic's too, far from those of users.
var services = map[string]uint32{
	"auctionFiller":   9000,
	"auctionCosigner": 9001,
	"bridgeSolver":    9002,
	"intentSolver":    9003,
	"jamSolver":       9004,
	"rfqMaker":        9005,
	"bridgeStranger":  9006, // pays where the bridge's solver should
	"intentStranger":  9007, // pays as a filler that the wallet does not know
	"priceMover":      9008, // moves pools and oracles
}

// Services derives the accounts of those behind the providers, by name. Like all
// keys here, theirs are public.
func Services() (map[string]Account, error) {
	names := slices.Sorted(maps.Keys(services))
	indices := make([]uint32, len(names))
	for i, name := range names {
		indices[i] = services[name]
	}
	accounts, err := accountsAt(Mnemonic, indices)
	if err != nil {
		return nil, err
	}
	named := map[string]Account{}
	for i, name := range names {
		named[name] = accounts[i]
	}
	return named, nil
}

// hardened is the first index of BIP-32's hardened keys.
const hardened = 1 << 31

// node is an extended private key of BIP-32.
type node struct {
	key, chainCode []byte
}

func extended(sum []byte) node { return node{key: sum[:32], chainCode: sum[32:]} }

func hmac512(key, data []byte) []byte {
	h := hmac.New(sha512.New, key)
	h.Write(data)
	return h.Sum(nil)
}

func (n node) child(index uint32) (node, error) {
	key, err := crypto.ToECDSA(n.key)
	if err != nil {
		return node{}, fmt.Errorf("derive %d: %w", index, err)
	}
	data := crypto.CompressPubkey(&key.PublicKey)
	if index >= hardened {
		data = append([]byte{0}, n.key...)
	}
	next := extended(hmac512(n.chainCode, binary.BigEndian.AppendUint32(data, index)))
	sum := new(big.Int).Add(new(big.Int).SetBytes(next.key), new(big.Int).SetBytes(n.key))
	next.key = sum.Mod(sum, crypto.S256().Params().N).FillBytes(make([]byte, 32))
	return next, nil
}

// treasury deployed the contracts, owns the liquidity and pays for Fund.
func treasury() (Account, error) {
	key, err := crypto.ToECDSA(crypto.Keccak256([]byte("swapkeep sandbox treasury, a public key")))
	if err != nil {
		return Account{}, err
	}
	return Account{Address: crypto.PubkeyToAddress(key.PublicKey), Key: key}, nil
}
