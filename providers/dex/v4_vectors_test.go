package dex

import (
	"encoding/json"
	"errors"
	"math/big"
	"os"
	"testing"

	"swapkeep/chain"
	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
)

// v4Vectors are calldata made by the vendor's own packages; testdata/v4.mjs says how.
type v4Vectors struct {
	Account, FeeReceiver common.Address
	Vectors              []struct {
		Name              string
		Calldata          hexutil.Bytes
		Value             string
		TokenIn, TokenOut common.Address
		Amount, Floor     string
		FeeBps            int
		Refused           swap.Code
	}
}

func TestVectorV4(t *testing.T) {
	raw, err := os.ReadFile("testdata/v4.json")
	if err != nil {
		t.Fatal(err)
	}
	var v v4Vectors
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatal(err)
	}
	if len(v.Vectors) < 15 {
		t.Fatalf("%d vectors", len(v.Vectors))
	}
	for _, x := range v.Vectors {
		terms := vectorTerms(vectors{Account: v.Account, FeeReceiver: v.FeeReceiver}, x.TokenIn, x.TokenOut, x.Amount, 1)
		terms.MinOut, _ = new(big.Int).SetString(x.Floor, 10)
		if terms.FeeBps = x.FeeBps; x.FeeBps == 0 {
			terms.FeeReceiver = common.Address{}
		}
		c := chain.Call{ChainID: 8453, From: v.Account, To: base.router, Value: quantityOf(t, x.Value), Data: x.Calldata}
		f, err := (&Provider{}).Decode(terms, swap.Step{Kind: swap.CallStep, Call: &c})
		if err == nil {
			err = swap.Check(terms, []swap.Effect{f}, (&Provider{}).Pins())
		}
		switch {
		case x.Refused != "" && !errors.Is(err, &swap.Refusal{Code: x.Refused}):
			t.Errorf("%s: %v, want it refused as %s", x.Name, err, x.Refused)
		case x.Refused != "":
		case err != nil:
			t.Errorf("%s: %v", x.Name, err)
		case f.Receives[0].Min.Cmp(terms.MinOut) != 0:
			t.Errorf("%s: at least %s, want %s", x.Name, f.Receives[0].Min, terms.MinOut)
		}
	}
}
