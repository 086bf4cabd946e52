package keys

import (
	"bytes"
	"math/big"
	"strconv"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"
)

// testAccounts are the first accounts of the development chains' mnemonic, as those
// chains print them.
var testAccounts = []string{
	"0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266",
	"0x70997970C51812dc3A010C7d01b50e0d17dc79C8",
	"0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC",
	"0x90F79bf6EB2c4f870365E785982E1f101E93b906",
	"0x15d34AAf54267DB7D7c367839AAf71A00a2C6A65",
	"0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc",
	"0x976EA74026E726554dB657fA54763abd0C3a0aa9",
	"0x14dC79964da2C08b23698B3D3cc7Ca32193d9955",
	"0x23618e81E3f5cdF7f54C3d65f7FBc0aBf5B21E8f",
	"0xa0Ee7A142d267C1f36714E4a8F75612F20a79720",
}

// base58 decodes an extended key without verifying the checksum: version, depth, parent,
// number (13 bytes), chain code (32), 0, key (32), checksum (4).
func base58(t *testing.T, s string) []byte {
	t.Helper()
	const digits = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
	n := new(big.Int)
	for _, r := range s {
		n.Add(n.Mul(n, big.NewInt(58)), big.NewInt(int64(strings.IndexRune(digits, r))))
	}
	return n.FillBytes(make([]byte, 82))
}

func parsePath(t *testing.T, path string) []uint32 {
	t.Helper()
	var out []uint32
	for _, step := range strings.Split(path, "/")[1:] {
		n, err := strconv.ParseUint(strings.TrimSuffix(step, "'"), 10, 31)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(step, "'") {
			n += hardened
		}
		out = append(out, uint32(n))
	}
	return out
}

func TestBIP32Vectors(t *testing.T) {
	var file struct {
		Vectors []struct {
			Seed   string
			Chains []struct{ Path, Xprv string }
		}
	}
	testdata(t, "bip32.json", &file)
	if len(file.Vectors) != 4 {
		t.Fatalf("%d vectors", len(file.Vectors))
	}
	for _, v := range file.Vectors {
		root, err := masterNode(unhex(t, v.Seed))
		if err != nil {
			t.Fatal(err)
		}
		for _, chain := range v.Chains {
			n, err := root.derive(parsePath(t, chain.Path))
			if err != nil {
				t.Fatal(err)
			}
			want := base58(t, chain.Xprv)
			if !bytes.Equal(n.code, want[13:45]) || !bytes.Equal(n.key, want[46:78]) {
				t.Errorf("seed %s…, %s: %x %x", v.Seed[:8], chain.Path, []byte(n.code), []byte(n.key))
			}
		}
	}
}

func TestAccountsOfTheTestMnemonic(t *testing.T) {
	n, err := branchesOf(publishedMnemonics()[0])
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range testAccounts {
		_, got, err := n.account(uint32(i))
		if err != nil || got.Hex() != want {
			t.Errorf("account %d is %s, want %s (%v)", i, got, want, err)
		}
		if !publishedAddresses()[common.HexToAddress(want)] {
			t.Errorf("%s is not among the published addresses", want)
		}
	}
	if accountPath(3) != "m/44'/60'/0'/0/3" {
		t.Errorf("path %s", accountPath(3))
	}
}
