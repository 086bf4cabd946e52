package price

import (
	"math/big"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	for text, want := range map[string]string{
		"0": "0.000000000000000000", "1": "1.000000000000000000", "0.99987": "0.999870000000000000", "3050.12": "3050.120000000000000000",
		"1e-7": "0.000000100000000000", "1.5E+3": "1500.000000000000000000", "0.0000000000000000019": "0.000000000000000001",
		"0.0000000000000000009": "0.000000000000000000", "123456789012345678.123456789012345678": "123456789012345678.123456789012345678",
		"1e20": "100000000000000000000.000000000000000000", "0e99": "0.000000000000000000", "1e-9999": "0.000000000000000000", "00012.5": "12.500000000000000000",
	} {
		if v, err := Parse(text); err != nil || v.String() != want {
			t.Errorf("%s is %s, %v; want %s", text, v, err, want)
		}
	}
	for _, text := range []string{"", "-1", "+1", "NaN", "inf", "1e", "1e+", ".5", "5.", "1.2.3", "1e1e1", "1,5", "0x10", "1e21", "1e9999", "100000000000000000000.000000000000000001",
		strings.Repeat("1", 101), " 1", "1 ", "١"} {
		if v, err := Parse(text); err == nil {
			t.Errorf("%q is taken as %s", text, v)
		}
	}
}

func TestFixed(t *testing.T) {
	v, err := FromRatio(big.NewInt(2), big.NewInt(3))
	if err != nil {
		t.Fatal(err)
	}
	for digits, want := range map[int]string{0: "0", 2: "0.66", 18: "0.666666666666666666"} {
		if got := v.Fixed(digits); got != want {
			t.Errorf("%d digits: %s, want %s", digits, got, want)
		}
	}
}

// FuzzParse checks that a parsed value is within bounds, round-trips through its text, and
// loses at most what lies beyond the 17th digit when packed.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"1", "0.5", "1e-7", "99999999999999999999", "-1", "1e20", "123456789.123456789123456789"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		v, err := Parse(s)
		if err != nil {
			return
		}
		if v.Cmp(Max) > 0 {
			t.Fatalf("%q is %s", s, v)
		}
		again, err := Parse(v.String())
		if err != nil || again != v {
			t.Fatalf("%s is read as %s, %v", v, again, err)
		}
		back, ok := v.Pack().Unpack()
		if !ok || back.Cmp(v) > 0 || !v.IsZero() && v.RelativeDiff(back) > 1e-16 {
			t.Fatalf("%s is packed as %s, %t", v, back, ok)
		}
	})
}

// FuzzUnpack checks that no eight bytes unpack to a value above Max.
func FuzzUnpack(f *testing.F) {
	f.Add(uint64(None))
	f.Add(uint64(1<<6 | 18))
	f.Fuzz(func(t *testing.T, n uint64) {
		v, ok := Packed(n).Unpack()
		if ok && v.Cmp(Max) > 0 {
			t.Fatalf("%x is %s", n, v)
		}
	})
}

func TestNoneIsNoValue(t *testing.T) {
	if v, ok := None.Unpack(); ok {
		t.Fatalf("none is %s", v)
	}
	if v, ok := Max.Pack().Unpack(); !ok || v != Max {
		t.Fatalf("max is %s, %t", v, ok)
	}
	if v, ok := (Value{}).Pack().Unpack(); !ok || !v.IsZero() {
		t.Fatalf("zero is %s, %t", v, ok)
	}
}
