package dex

import (
	"encoding/json"
	"slices"
	"testing"

	"swapkeep/chain"
	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
)

// Both forms of a tag.
var (
	idTag    = hexutil.MustDecode("0x756e6978000001a0eb7675698000b408a83c728c0100")
	askerTag = hexutil.MustDecode("0x756e69780000d7ff01b6")
)

// TestTag checks that every kind of call may end in one tag of a known form, and then does
// the same as without it.
func TestTag(t *testing.T) {
	wrapTerms, unwrapTerms := ethToUSDC(), ethToUSDC()
	wrapTerms.TokenOut = base.wrapped
	unwrapTerms.TokenIn, unwrapTerms.TokenOut = base.wrapped, nativeCoin
	for _, x := range []struct {
		name  string
		terms swap.Terms
		call  chain.Call
	}{
		{"execute", ethToUSDC(), chain.Call{To: base.router, Value: oneEther, Data: program(t, testDeadline.Unix(), honest())}},
		{"deposit", wrapTerms, chain.Call{To: base.wrapped, Value: oneEther, Data: depositFn[:]}},
		{"withdraw", unwrapTerms, chain.Call{To: base.wrapped, Value: nativeCoin.Big(), Data: append(withdrawFn[:], common.BigToHash(oneEther).Bytes()...)}},
	} {
		x.call.ChainID, x.call.From = base.chain, testAccount
		decoded := func(data []byte) (swap.Effect, error) {
			c := x.call
			c.Data = data
			return (&Provider{}).Decode(x.terms, swap.Step{Kind: swap.CallStep, Call: &c})
		}
		plain := x.call.Data
		want, err := decoded(plain)
		if err != nil {
			t.Fatalf("%s: %v", x.name, err)
		}
		for _, tag := range [][]byte{idTag, askerTag} {
			got, err := decoded(slices.Concat(plain, tag))
			if err != nil {
				t.Fatalf("%s with a tag of %d bytes: %v", x.name, len(tag), err)
			}
			sameEffect(t, x.name, got, want)
			for i := range tagMark {
				bad := slices.Concat(plain, tag)
				bad[len(plain)+i] ^= 1
				if _, err := decoded(bad); codeOf(err) != swap.Undecodable {
					t.Errorf("%s: byte %d of the tag's mark changed: %v", x.name, i, err)
				}
			}
		}
		for name, bad := range map[string][]byte{
			"the mark alone":                    slices.Concat(plain, tagMark),
			"a tag one byte too short":          slices.Concat(plain, idTag[:21]),
			"a tag one byte too long":           slices.Concat(plain, idTag, []byte{0}),
			"an additional word before the tag": slices.Concat(plain, make([]byte, 32), idTag),
			"an additional word after the tag":  slices.Concat(plain, idTag, make([]byte, 32)),
			"two tags":                          slices.Concat(plain, idTag, askerTag),
			"the same tag twice":                slices.Concat(plain, idTag, idTag),
			"the tag in front":                  slices.Concat(plain[:4], idTag, plain[4:]),
			"the tag before the rest":           slices.Concat(idTag, plain),
			"an address without the mark":       slices.Concat(plain, testAttacker[:], []byte{0, 0}),
		} {
			if name == "the tag in front" && len(plain) == len(selector{}) {
				continue // there the tag is at the end
			}
			if _, err := decoded(bad); codeOf(err) != swap.Undecodable && codeOf(err) != swap.NotAsAccepted {
				t.Errorf("%s: %s: %v", x.name, name, err)
			}
		}
	}
}

// TestTagInside checks that nothing within the arguments may have a tail, even a tag.
func TestTagInside(t *testing.T) {
	for i := range honest() {
		var codes []byte
		var inputs [][]byte
		for j, o := range honest() {
			in, err := commands[o.code].forms[o.form].Pack(o.args...)
			if err != nil {
				t.Fatal(err)
			}
			if i == j {
				in = append(in, idTag...)
			}
			codes, inputs = append(codes, o.code), append(inputs, in)
		}
		if _, err := decode(ethToUSDC(), executeCall(t, codes, inputs, testDeadline.Unix())); codeOf(err) != swap.Undecodable {
			t.Errorf("a tag behind input %d: %v", i, err)
		}
	}
}

// TestTagOfAnotherQuote checks that a tag with another quote's id is noticed.
func TestTagOfAnotherQuote(t *testing.T) {
	named := func(id string) envelope {
		return envelope{Quote: json.RawMessage(`{"quoteId":"` + id + `"}`)}
	}
	call := func(tag []byte) []byte { return slices.Concat(depositFn[:], tag) }
	for _, x := range []struct {
		e    envelope
		data []byte
		want bool
	}{
		{named("01a0eb76-7569-8000-b408-a83c728c0100"), call(idTag), false},
		{named("01A0EB76-7569-8000-B408-A83C728C0100"), call(idTag), false},
		{named("01a0eb76-7569-8000-b408-a83c728c0101"), call(idTag), true},
		{named(""), call(idTag), true},
		{named("01a0eb76-7569-8000-b408-a83c728c0101"), call(askerTag), false},
		{named("01a0eb76-7569-8000-b408-a83c728c0101"), call(nil), false},
	} {
		if got := x.e.hasForeignTag(x.data); got != x.want {
			t.Errorf("%s with %x: %v", x.e.Quote, x.data, got)
		}
	}
}
