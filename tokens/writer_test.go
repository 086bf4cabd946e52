package tokens

import (
	"path/filepath"
	"testing"

	"github.com/ethereum/go-ethereum/common"
)

// TestFileNamesTokens shows what docs/security.md says about a program that can write
// orders.db: an imported token has the name in the file, and its contract is not asked.
// That makes it no more verified than before, and it is marked where it imitates another
// token.
func TestFileNamesTokens(t *testing.T) {
	db := openDB(t, filepath.Join(t.TempDir(), "orders.db"))
	chain := &fakeChain{answers: token("THEFT", "Theft")}
	r, err := Open(db, chain, Options{})
	if err != nil {
		t.Fatal(err)
	}
	at := common.HexToAddress("0x00000000000000000000000000000000000bad00")
	real, _, err := r.Import(t.Context(), 1, at)
	if err != nil || real.Symbol != "THEFT" {
		t.Fatal(real, err)
	}
	requests := chain.calls
	real.Symbol, real.Name = "USDC", "USD Coin"
	if err := keepImported(db, real); err != nil {
		t.Fatal(err)
	}
	if r, err = Open(db, chain, Options{}); err != nil {
		t.Fatal(err)
	}
	named, ok := r.Lookup(1, at)
	if !ok || named.Symbol != "USDC" || named.Verified || chain.calls != requests {
		t.Errorf("%+v, asked %d times more", named, chain.calls-requests)
	}
	if of, marked := r.Imitated(named); !marked || of == at {
		t.Errorf("imitates %s", of)
	}
}
