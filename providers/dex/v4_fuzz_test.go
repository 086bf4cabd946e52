package dex

import (
	"errors"
	"testing"

	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common"
)

// v4Terms are the terms of the programs.
var v4Terms = []func() swap.Terms{tokenIn, withoutFee, ethToUSDC, toNative}

// FuzzV4Swap: any input of a V4_SWAP that is accepted, alone or followed by a sweep of the
// output, spends exactly the amount and enforces the minimum for the recipient only.
func FuzzV4Swap(f *testing.F) {
	for i, p := range v4Programs {
		for _, o := range p.list {
			if o.code == 0x10 {
				packed, err := commands[o.code].forms[o.form].Pack(o.args...)
				if err != nil {
					f.Fatal(err)
				}
				f.Add(packed, uint8(i))
			}
		}
	}
	f.Fuzz(func(t *testing.T, input []byte, which uint8) {
		terms := v4Terms[int(which)%len(v4Terms)]()
		sweep, err := commands[0x04].forms[0].Pack(terms.TokenOut, msgSender, terms.MinOut)
		if err != nil {
			t.Fatal(err)
		}
		codes, inputs := []byte{0x10}, [][]byte{input}
		if which&0x80 != 0 {
			codes, inputs = append(codes, 0x04), append(inputs, sweep)
		}
		e, err := checked(terms, executeCall(t, codes, inputs, testDeadline.Unix()))
		if err != nil {
			if r := (*swap.Refusal)(nil); !errors.As(err, &r) {
				t.Fatalf("a refusal without a code: %v", err)
			}
			return
		}
		if len(e.Spends) != 1 || e.Spends[0].Token != terms.TokenIn || e.Spends[0].Amount.Cmp(terms.AmountIn) != 0 {
			t.Fatalf("spends %+v", e.Spends)
		}
		if len(e.Receives) != 1 || e.Receives[0].To != terms.Recipient || e.Receives[0].Token != terms.TokenOut || e.Receives[0].Min.Cmp(terms.MinOut) < 0 {
			t.Fatalf("receives %+v", e.Receives)
		}
		for _, p := range e.Pays {
			if p.To == (common.Address{}) || p.To != terms.FeeReceiver && p.Bps > terms.MakerFeeBps {
				t.Fatalf("pays %+v", e.Pays)
			}
		}
	})
}
