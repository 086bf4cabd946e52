package amount

import (
	"math/big"
	"regexp"
	"strings"
	"testing"
)

var usdc = Coin{"USDC", 6}

func TestParse(t *testing.T) {
	eth := Coin{"ETH", 18}
	for _, c := range []struct {
		coin       Coin
		text, want string
	}{
		{eth, "1", "1000000000000000000"},
		{eth, "1.5", "1500000000000000000"},
		{eth, ".5", "500000000000000000"},
		{eth, "0.000000000000000001", "1"},
		{usdc, "0", "0"},
		{usdc, "007.10", "7100000"},
		{usdc, "1.50000000", "1500000"}, // trailing zeros are allowed
		{Coin{"PT", 0}, "12", "12"},
	} {
		n, err := c.coin.Parse(c.text)
		if err != nil || n.String() != c.want {
			t.Errorf("%s %s: %v, %v; want %s", c.text, c.coin.Symbol, n, err, c.want)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for text, why := range map[string]string{
		"1.1234567": "USDC has at most 6", "": "not an amount", "1,5": "not an amount", "1,000.5": "not an amount", "-1": "must be positive", "1e3": "not an amount",
		"1.": "not an amount", "0x10": "not an amount", "1 ": "not an amount", "١": "not an amount", "1.5 USDC": "not an amount",
		strings.Repeat("9", 79): "larger than any", strings.Repeat("9", 200): "not an amount",
	} {
		if n, err := usdc.Parse(text); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%q: %v, %v; want %q", text, n, err, why)
		}
	}
}

func TestDecimal(t *testing.T) {
	for _, c := range []struct {
		n                string
		decimals, places int
		want             string
	}{
		{"0", 18, 9, "0"},
		{"1000000000000000000", 18, 9, "1"},
		{"500000000000000000", 18, 9, "0.5"},
		{"2992473090", 6, 9, "2,992.47309"},
		{"2992479999", 6, 2, "2,992.47"}, // truncated: a minimum received must not look higher than it is
		{"1234567000000", 6, 9, "1,234,567"},
		{"106252009999999", 18, 9, "0.000106252"},
		{"999999999", 18, 9, "< 0.000000001"},
		{"-1500000", 6, 9, "-1.5"},
		{"7", 0, 9, "7"},
		{"1", 6, 0, "< 1"},
	} {
		n, _ := new(big.Int).SetString(c.n, 10)
		if got := Decimal(n, c.decimals, c.places); got != c.want {
			t.Errorf("%s, %d decimals: %q, want %q", c.n, c.decimals, got, c.want)
		}
	}
}

func TestTexts(t *testing.T) {
	for want, n := range map[string]*big.Int{"none": new(big.Int), "1.5 USDC": big.NewInt(1_500_000), "an unknown amount of USDC": nil} {
		if got := usdc.OrNone(n); got != want {
			t.Errorf("%v: %q, want %q", n, got, want)
		}
	}
	if got := (Coin{"ETH", 18}).Exact(big.NewInt(1)); got != "0.000000000000000001 ETH" {
		t.Errorf("exact: %q", got)
	}
}

// An amount formatted with Exact parses back to the same value.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"1", "1.5", ".5", "0.000001", "1e3", "1,5", ""} {
		f.Add(s, 6)
	}
	f.Fuzz(func(t *testing.T, text string, decimals int) {
		if decimals < 0 || decimals > 36 {
			return
		}
		c := Coin{"T", decimals}
		n, err := c.Parse(text)
		if err != nil {
			return
		}
		shown := strings.ReplaceAll(Decimal(n, decimals, decimals), ",", "")
		again, err := c.Parse(shown)
		if err != nil || again.Cmp(n) != 0 {
			t.Errorf("%q is %s, shown %q, read %v, %v", text, n, shown, again, err)
		}
	})
}

// IsNumber accepts exactly what the regular expression matches.
func FuzzIsNumber(f *testing.F) {
	form := regexp.MustCompile(`^[0-9]+(\.[0-9]+)?$|^\.[0-9]+$`)
	for _, s := range []string{"1", "1.5", ".5", "1.", ".", "", "1.5.5", "-1", "1e3", "1,5", "١", "5\n"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if got, want := IsNumber(text), form.MatchString(text); got != want {
			t.Errorf("%q is a number: %v, matches: %v", text, got, want)
		}
	})
}
