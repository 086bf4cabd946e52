package source

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	"swapkeep/priceapi/price"
)

func TestDecimals(t *testing.T) {
	for text, want := range map[string]decimal{
		`1`: "1", `-1`: "-1", `1.5e3`: "1.5e3", `"0.99"`: "0.99", `""`: "", `null`: "", `"lie"`: "lie", `"\u0031"`: "1",
	} {
		var d decimal
		if err := json.Unmarshal([]byte(text), &d); err != nil || d != want {
			t.Errorf("%s is %q, %v", text, d, err)
		}
	}
	for _, text := range []string{`true`, `false`, `{}`, `[]`, `[1]`, `{"a":1}`} {
		var d decimal
		if err := json.Unmarshal([]byte(text), &d); err == nil {
			t.Errorf("%s is %q", text, d)
		}
	}
}

func TestAgo(t *testing.T) {
	hundredAndFive := must(price.Parse("105"))
	for pct, want := range map[decimal]string{
		"5": "100", "-50": "210", "0": "105", "": "0", "-0": "105", "1e6": "0.010498950104989501", "-99.999": "10500000", "2.5E1": "84",
		"-100": "0", "-101": "0", "1000001": "0", "-99.9999999999999999999": "0", "5.0000000000000000000000001": "100",
	} {
		got, ok := pct.dayAgo(hundredAndFive)
		if v := strings.TrimSuffix(strings.TrimRight(got.String(), "0"), "."); v != want || !ok {
			t.Errorf("%s%%: %s, %t; want %s", pct, v, ok, want)
		}
	}
	for _, pct := range []decimal{"-1e30", "lie", "--5", "+5", "NaN", "-", "5%", " 5", "-Inf"} {
		if got, ok := pct.dayAgo(hundredAndFive); ok {
			t.Errorf("%q%%: %s", pct, got)
		}
	}
	if got, ok := decimal("-99.99").dayAgo(price.Max); !ok || !got.IsZero() {
		t.Errorf("more than a price can be: %s, %t", got, ok)
	}
}

func TestTimes(t *testing.T) {
	for text, want := range map[decimal]time.Time{
		"1795355999": testNow.Add(-time.Second), "1795356000": testNow, "1795356120": testNow, "1": time.Unix(1, 0),
	} {
		if at, ok := text.time(testNow); !ok || !at.Equal(want) {
			t.Errorf("%s is %s, %t", text, at, ok)
		}
	}
	for _, text := range []decimal{"1795356121", "0", "-1", "", "1795355999.5", "1.7e9", "1795355999000", "9223372036854775807", "18446744073709551615", "1099511627775", "lie"} {
		if at, ok := text.time(testNow); ok {
			t.Errorf("%s is %s", text, at)
		}
	}
}

func TestConfidence(t *testing.T) {
	for text, want := range map[decimal]float64{"0": 0, "0.99": 0.99, "1": 1, "1e-1": 0.1} {
		if c, ok := text.confidence(); !ok || c == nil || math.Abs(*c-want) > 1e-12 {
			t.Errorf("%s is %v, %t", text, c, ok)
		}
	}
	if c, ok := decimal("").confidence(); c != nil || !ok {
		t.Errorf("none is %v, %t", c, ok)
	}
	for _, text := range []decimal{"1.0001", "-0.5", "NaN", "99", "lie"} {
		if c, ok := text.confidence(); ok {
			t.Errorf("%s is %v", text, c)
		}
	}
}
