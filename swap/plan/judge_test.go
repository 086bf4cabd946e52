package plan

import (
	"math/big"
	"slices"
	"swapkeep/swap"
	"testing"
)

func TestJudgeGas(t *testing.T) {
	n := func(x int64) *big.Int { return big.NewInt(x) }
	for _, c := range []struct {
		name                                          string
		expected, max, value, balance, ceiling, worth *big.Int
		want                                          []string
		missing                                       int64
	}{
		{"plenty", n(10), n(20), n(100), n(1000), n(50), n(100), nil, 0},
		{"exactly enough", n(10), n(20), n(100), n(120), n(50), n(100), nil, 0},
		{"one wei short", n(10), n(20), n(100), n(119), n(50), n(100), []string{"gas_insufficient:block"}, 1},
		{"half the value", n(50), n(50), n(0), n(1000), n(50), n(100), nil, 0},
		{"above half", n(51), n(51), n(0), n(1000), n(60), n(100), []string{"gas_excessive:acknowledge"}, 0},
		{"above the ceiling", n(10), n(51), n(0), n(1000), n(50), n(100), []string{"gas_ceiling:block"}, 0},
		{"unknown worth", n(10), n(20), n(0), n(1000), n(50), nil, []string{"value_unknown:acknowledge"}, 0},
		{"no gas at all", n(0), n(0), n(0), n(0), n(50), nil, nil, 0},
	} {
		g := swap.Gas{Expected: c.expected, Max: c.max, Balance: c.balance}
		if got := codes(judgeGas(&g, c.value, c.ceiling, c.worth, "ETH")); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
		if c.missing != 0 && (g.Missing == nil || g.Missing.Int64() != c.missing) {
			t.Errorf("%s: missing %v, want %d", c.name, g.Missing, c.missing)
		}
	}
}

func TestJudgePrice(t *testing.T) {
	own := big.NewInt(1000)
	for offered, want := range map[int64]string{
		1000: "", 971: "", 970: "price_impact:note", 950: "price_impact:warn", 900: "price_impact:acknowledge", 500: "price_impact:block", 1: "price_impact:block",
		1029: "", 1030: "price_impact:note", 1100: "price_impact:acknowledge", 1500: "price_impact:block", 9999: "price_impact:block",
	} {
		got := ""
		if c := codes(judgePrice(big.NewInt(offered), own)); len(c) > 0 {
			got = c[0]
		}
		if got != want {
			t.Errorf("offered %d for 1000: %q, want %q", offered, got, want)
		}
	}
	for _, unknown := range []*big.Int{nil, new(big.Int)} {
		if got := codes(judgePrice(big.NewInt(1), unknown)); !slices.Equal(got, []string{"price_unknown:acknowledge"}) {
			t.Errorf("unknown price: %v", got)
		}
	}
}

func TestJudgeSlippage(t *testing.T) {
	for bps, want := range map[int][]string{9: {"slippage_low:warn"}, 10: nil, 50: nil, 500: nil, 501: {"slippage_high:warn"}} {
		if got := codes(judgeSlippage(bps)); !slices.Equal(got, want) {
			t.Errorf("%d bps: %v, want %v", bps, got, want)
		}
	}
}

func TestSlippageForKeepsFloor(t *testing.T) {
	for _, c := range [][2]int64{{1000, 900}, {1000, 999}, {1000, 1000}, {1000, 2000}, {370127932165806669, 368277292504977636}} {
		amount, floor := big.NewInt(c[0]), big.NewInt(c[1])
		bps := slippageFor(amount, floor)
		if amount.Cmp(floor) > 0 && swap.MinAfterSlippage(amount, bps).Cmp(floor) < 0 {
			t.Errorf("%v: %d bps leave %s", c, bps, swap.MinAfterSlippage(amount, bps))
		}
		if amount.Cmp(floor) <= 0 && bps != 0 {
			t.Errorf("%v: %d bps", c, bps)
		}
	}
}

func TestUnits(t *testing.T) {
	for want, c := range map[string]struct {
		n string
		d uint8
	}{"1.5 ETH": {"1500000000000000000", 18}, "0 ETH": {"0", 18}, "0.000000000000000001 ETH": {"1", 18}, "100 ETH": {"100", 0}, "2000 ETH": {"2000000000", 6}} {
		n, _ := new(big.Int).SetString(c.n, 10)
		if got := Units(n, c.d, "ETH"); got != want {
			t.Errorf("%s: %q, want %q", c.n, got, want)
		}
	}
}
