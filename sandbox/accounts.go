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

// Mnemonic is the published test mnemonic of most development chains. Its keys are
// PUBLIC: real funds sent to them are stolen at once.
const Mnemonic = "test test test test test test test test test test test junk"

// fundedAccounts is the number of the mnemonic's accounts that hold funds.
const fundedAccounts = 10

// An Account is the account of a mnemonic at m/44'/60'/0'/0/Index.
type Account struct {
	Index   uint32
	Address common.Address
	Key     *ecdsa.PrivateKey // public knowledge if it derives from Mnemonic
}

// Accounts derives the first n accounts of the published test mnemonic.
func Accounts(n uint32) ([]Account, error) { return AccountsOf(Mnemonic, n) }

// AccountsOf derives the first n accounts of a mnemonic, such as one that a daemon under
// test created and showed. It does not validate the words or the checksum.
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

// services holds the indices of the service accounts (fillers, solvers, makers), by name.
// They too derive from the published mnemonic, far from the users' accounts.
var services = map[string]uint32{
	"auctionFiller":   9000,
	"auctionCosigner": 9001,
	"bridgeSolver":    9002,
	"intentSolver":    9003,
	"jamSolver":       9004,
	"rfqMaker":        9005,
	"bridgeStranger":  9006, // pays in place of the bridge's solver
	"intentStranger":  9007, // pays as a filler that the wallet does not know
	"priceMover":      9008, // moves the prices of pools and oracles
}

// Services derives the service accounts by name. Their keys are public, like all keys
// here.
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

// hardened is the first hardened key index of BIP-32.
const hardened = 1 << 31

// A node is a BIP-32 extended private key.
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

// treasury returns the account that deploys the contracts, owns the liquidity and pays
// for Fund.
func treasury() (Account, error) {
	key, err := crypto.ToECDSA(crypto.Keccak256([]byte("swapkeep sandbox treasury, a public key")))
	if err != nil {
		return Account{}, err
	}
	return Account{Address: crypto.PubkeyToAddress(key.PublicKey), Key: key}, nil
}
