package tokens

import (
	"encoding/binary"
	"testing"
	"unicode"
	"unicode/utf8"
)

// fit fails the test for text that is not fit for a screen.
func fit(t *testing.T, text string, n int) {
	t.Helper()
	if !utf8.ValidString(text) || utf8.RuneCountInString(text) > n || clean(text, n) != text {
		t.Fatalf("%q of at most %d characters", text, n)
	}
	for _, r := range text {
		if !unicode.IsPrint(r) {
			t.Fatalf("%q holds %U", text, r)
		}
	}
}

// FuzzParseList checks that a parsed list is within the limits and has no native coin and
// no duplicate.
func FuzzParseList(f *testing.F) {
	f.Add([]byte(listOf(good)))
	f.Add([]byte(listOf(good + `,{"chainId":1,"address":"0x0000000000000000000000000000000000000000","symbol":"ETH","name":"\u202e\u200bx","decimals":0}`)))
	f.Add([]byte(`{"tokens":[{}]}`))
	f.Add([]byte(`[]`))
	f.Fuzz(func(t *testing.T, b []byte) {
		l, err := ParseList(b)
		if err != nil {
			return
		}
		seen := map[id]bool{}
		for _, v := range l.tokens {
			fit(t, v.Symbol, maxSymbol)
			fit(t, v.Name, maxName)
			if seen[v.id()] || v.Address == Native || v.Verified || v.Chain == 0 || v.Decimals > MaxDecimals || v.Symbol == "" || v.Name == "" {
				t.Fatalf("ParseList accepts an invalid token: %+v", v)
			}
			seen[v.id()] = true
		}
	})
}

// FuzzAnswers checks that, whatever a contract returns, an accepted token is fit to be
// shown and stored.
func FuzzAnswers(f *testing.F) {
	f.Add(dynamic("USDC"), dynamic("USD Coin"), word(6))
	f.Add([]byte("MKR\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"), []byte{}, word(18))
	f.Add(append(word(31), word(255)...), append(word(0), word(64)...), word(37))
	f.Add(append(word(0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff), word(1)...), dynamic("\xff\u202e"), []byte{1})
	f.Fuzz(func(t *testing.T, symbol, name, decimals []byte) {
		a := token("", "")
		a.Symbol, a.Name, a.Decimals = symbol, name, decimals
		got, err := a.token(id{1, other})
		if err != nil {
			return
		}
		fit(t, got.Symbol, maxSymbol)
		fit(t, got.Name, maxName)
		if got.Decimals > MaxDecimals || got.Symbol == "" || got.Name == "" {
			t.Fatalf("an invalid token is accepted: %+v", got)
		}
		_ = Skeleton(got.Symbol)
	})
}

// FuzzRecord checks that a decoded record could have been written.
func FuzzRecord(f *testing.F) {
	f.Add(id{1, other}.key(), []byte(`{"symbol":"FOO","name":"Foo","decimals":6,"imported":"2026-11-20T09:00:00Z"}`))
	f.Add([]byte{}, []byte(`{}`))
	f.Add(binary.BigEndian.AppendUint64(nil, 1), []byte(`null`))
	f.Fuzz(func(t *testing.T, key, value []byte) {
		got, _, err := decodeRecord(key, value)
		if err != nil {
			return
		}
		fit(t, got.Symbol, maxSymbol)
		fit(t, got.Name, maxName)
		if string(got.id().key()) != string(key) || !got.Imported || got.Verified || got.Address == Native {
			t.Fatalf("an invalid record is accepted: %+v", got)
		}
	})
}
