package wire

import (
	"context"
	"encoding/json"
	"errors"
	"math/big"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode"

	"swapkeep/rest"
	"swapkeep/swap"
)

func TestNumbers(t *testing.T) {
	max := strings.Repeat("9", 77)
	for text, want := range map[string]string{
		`"0"`: "0", `"100"`: "100", `"007"`: "7", `"` + max + `"`: max,
		`100`: "", `"-1"`: "", `"+1"`: "", `"1_0"`: "", `" 1"`: "", `"0x1"`: "", `"1e3"`: "", `""`: "", `null`: "", `"` + max + `99"`: "", `{}`: "",
	} {
		var a Amount
		if err := json.Unmarshal([]byte(text), &a); (err == nil) != (want != "") || err == nil && a.String() != want {
			t.Errorf("amount %s: %v, %v", text, a.Int, err)
		}
	}
	for text, want := range map[string]string{
		`0`: "0", `209933709082624`: "209933709082624", `"42"`: "42",
		`-1`: "", `1.0`: "", `1e3`: "", `"0x1"`: "", `true`: "", `[1]`: "", `1` + strings.Repeat("0", 80): "",
	} {
		var n Number
		if err := json.Unmarshal([]byte(text), &n); (err == nil) != (want != "") || err == nil && n.String() != want {
			t.Errorf("number %s: %v, %v", text, n.Int, err)
		}
	}
	for text, want := range map[string]string{
		`0`: "0", `42161`: "42161", `"42"`: "42", `"0x10"`: "16", `"0xfF"`: "255", `"0x` + strings.Repeat("f", 64) + `"`: new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 256), big.NewInt(1)).String(),
		`0x10`: "", `"0X10"`: "", `"0x"`: "", `"10f"`: "", `"0x0x1"`: "", `"-0x1"`: "", `1e3`: "", `null`: "", `"0x1` + strings.Repeat("0", 64) + `"`: "",
	} {
		var q Quantity
		if err := json.Unmarshal([]byte(text), &q); (err == nil) != (want != "") || err == nil && q.String() != want {
			t.Errorf("quantity %s: %v, %v", text, q.Int, err)
		}
	}
	for text, ok := range map[string]bool{`0.5`: true, `50`: true, `-1.25`: true, `1e9`: false, `"1"`: false, `null`: false, `0.` + strings.Repeat("1", 40): false} {
		var r Ratio
		if err := json.Unmarshal([]byte(text), &r); (err == nil) != ok {
			t.Errorf("ratio %s: %v", text, err)
		}
	}
	for text, ok := range map[string]bool{
		`"0x4200000000000000000000000000000000000006"`: true, `"0xEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEE"`: true,
		`"4200000000000000000000000000000000000006"`: false, `"0x42"`: false, `null`: false, `1`: false, `"0X4200000000000000000000000000000000000006"`: false,
	} {
		var a Address
		if err := json.Unmarshal([]byte(text), &a); (err == nil) != ok {
			t.Errorf("address %s: %v", text, err)
		}
	}
}

func TestMissingIsNotEqual(t *testing.T) {
	var a *Amount
	var n *Number
	var q *Quantity
	var at *Address
	if q.IsID(0) || (&Quantity{}).IsID(0) || !(&Quantity{big.NewInt(10)}).IsID(10) {
		t.Error("a quantity that is missing is 0, or 10 is not 10")
	}
	if a.Is(new(big.Int)) || n.Is(new(big.Int)) || n.IsID(0) || at.Is([20]byte{}) || (&Amount{}).Is(new(big.Int)) || (&Amount{new(big.Int)}).Is(nil) {
		t.Error("what is missing is equal to something")
	}
	if n := (&Number{big.NewInt(10)}); !n.IsID(10) || n.IsID(11) || !n.Is(big.NewInt(10)) {
		t.Error("10 is not 10")
	}
}

func TestReadWhole(t *testing.T) {
	for text, ok := range map[string]bool{`{"a":1}`: true, `{"a":1} `: true, `{}`: true, `{"a":1,"b":2}`: false, `{"a":1}{}`: false, `{"a":1}x`: false, ``: false, `{"A":1}`: false, `{"a":1,"a":1}`: false} {
		var v struct {
			A int `json:"a"`
		}
		if err := ReadStrict([]byte(text), &v); (err == nil) != ok {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// TestRefusals checks that a service's own rows go before those of statuses, and those
// before the rest.
func TestRefusals(t *testing.T) {
	s := Service{
		Name:     "test",
		Whole:    []Failure{{403, "Fee", swap.ProviderRefused, "the proxy of the test provider takes another fee"}},
		Failures: []Failure{{404, "None", swap.NoRoute, "found none"}, {0, "7", swap.AmountTooSmall, "wants more"}, {410, AnyCode, swap.QuoteExpired, "lost it"}},
		NoAnswer: map[rest.Kind]string{rest.Throttled: "too many calls of the test provider"},
	}
	for name, c := range map[string]struct {
		e    rest.Error
		want swap.Code
	}{
		"a row":                 {rest.Error{Kind: rest.BadStatus, Status: 404, Code: "None", JSON: true}, swap.NoRoute},
		"any code":              {rest.Error{Kind: rest.BadStatus, Status: 410, Code: "Gone", JSON: true}, swap.QuoteExpired},
		"no code":               {rest.Error{Kind: rest.BadStatus, Status: 410, JSON: true}, swap.ProviderRefused},
		"a code without text":   {rest.Error{Kind: rest.BadStatus, Code: "7", JSON: true}, swap.AmountTooSmall},
		"another code":          {rest.Error{Kind: rest.BadStatus, Code: "8", JSON: true}, swap.ProviderRefused},
		"a status":              {rest.Error{Kind: rest.BadStatus, Status: 429}, swap.ProviderBusy},
		"a page":                {rest.Error{Kind: rest.BadStatus, Status: 404}, swap.ProviderInvalidResponse},
		"a 4xx":                 {rest.Error{Kind: rest.BadStatus, Status: 418, JSON: true}, swap.ProviderRefused},
		"a 5xx":                 {rest.Error{Kind: rest.BadStatus, Status: 599}, swap.ProviderDown},
		"a redirect":            {rest.Error{Kind: rest.Redirected, Status: 302}, swap.ProviderInvalidResponse},
		"a kind nobody knows":   {rest.Error{Kind: "other"}, swap.ProviderDown},
		"a key that is missing": {rest.Error{Kind: rest.NoCredentials}, swap.ProviderKey},
	} {
		e := c.e
		e.RetryAfter = 1500 * time.Millisecond
		var r *swap.Refusal
		if err := s.Refusal(&e); !errors.As(err, &r) || r.Code != c.want || r.Data["retryAfterSeconds"] != "2" || !strings.HasPrefix(r.Reason, "the test provider ") {
			t.Errorf("%s: want %s, got %v", name, c.want, err)
		}
	}
	for want, e := range map[string]rest.Error{
		s.Whole[0].Says:                                {Kind: rest.BadStatus, Status: 403, Code: "Fee", JSON: true},
		s.NoAnswer[rest.Throttled]:                     {Kind: rest.Throttled},
		"the test provider found none":                 {Kind: rest.BadStatus, Status: 404, Code: "None", JSON: true},
		"the test provider is busy; try again shortly": {Kind: rest.BadStatus, Status: 429},
	} {
		var r *swap.Refusal
		if err := s.Refusal(&e); !errors.As(err, &r) || r.Reason != want {
			t.Errorf("want %q, got %v", want, err)
		}
	}
	cancelled := &rest.Error{Kind: rest.Unreachable, Err: context.Canceled}
	if err := s.Refusal(cancelled); !errors.Is(err, context.Canceled) || errors.As(err, new(*swap.Refusal)) {
		t.Errorf("the caller's own cancellation became %v", err)
	}
	if err := s.Refusal(nil); err != nil {
		t.Error(err)
	}
	if err := s.CheckEchoes([]Echo{{"a", true, true}, {"b", false, true}, {"c", true, false}}); !errors.Is(err, &swap.Refusal{Code: swap.ProviderInvalidResponse}) {
		t.Errorf("a field that is missing: %v", err)
	}
	if err := s.CheckEchoes([]Echo{{"c", true, false}, {"b", false, true}}); !errors.Is(err, &swap.Refusal{Code: swap.NotAsAccepted}) {
		t.Errorf("a field that differs: %v", err)
	}
}

func TestPrintable(t *testing.T) {
	if got := Printable("a\u202eb\n\x00é" + strings.Repeat("c", 300)); got != "ab"+strings.Repeat("c", 198) {
		t.Errorf("%q", got)
	}
}

// FuzzValues: no JSON gives a value out of bounds.
func FuzzValues(f *testing.F) {
	for _, s := range []string{`"100"`, `100`, `"0x"`, `-1`, `1e3`, `"1_0"`, `" 1"`, `0.5`, `"0x4200000000000000000000000000000000000006"`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		if !json.Valid(raw) {
			return
		}
		var a Amount
		if json.Unmarshal(raw, &a) == nil && a.Int != nil && (a.Sign() < 0 || a.BitLen() > 256) {
			t.Fatalf("%s is %s", raw, a)
		}
		var n Number
		if json.Unmarshal(raw, &n) == nil && n.Int != nil && (n.Sign() < 0 || n.BitLen() > 256) {
			t.Fatalf("%s is %s", raw, n)
		}
		var q Quantity
		if json.Unmarshal(raw, &q) == nil && q.Int != nil && (q.Sign() < 0 || q.BitLen() > 256) {
			t.Fatalf("%s is %s", raw, q)
		}
		var at Address
		if json.Unmarshal(raw, &at) == nil && len(strings.TrimSpace(string(raw))) != 44 && strings.TrimSpace(string(raw)) != "null" && !strings.Contains(string(raw), `\`) {
			t.Fatalf("%s is an address", raw)
		}
	})
}

// FuzzRefusal: every failed call, whatever the service said, becomes a refusal with a code
// that names the service, in a reason that fits on the screen.
func FuzzRefusal(f *testing.F) {
	f.Add(uint8(0), 400, "None", "no such token", int64(0), true)
	f.Add(uint8(0), 403, "Fee", "", int64(1), true)
	f.Add(uint8(0), 0, "7", "\u202e\x00\xff", int64(-1), false)
	f.Add(uint8(0), 599, "*", strings.Repeat("ä", 301), int64(1<<62), true)
	f.Add(uint8(1), 0, "", "", int64(0), false)
	f.Add(uint8(200), 302, "", "redirects are not followed", int64(1500), false)
	s := Service{
		Name: "test", Whole: []Failure{{403, "Fee", swap.ProviderRefused, "the proxy of the test provider takes another fee"}},
		Failures: []Failure{{404, "None", swap.NoRoute, "found none"}, {410, AnyCode, swap.QuoteExpired, "lost it"}},
	}
	kinds := []rest.Kind{rest.BadStatus, rest.Unreachable, rest.TimedOut, rest.Redirected, rest.TooLarge, rest.NotJSON, rest.CircuitOpen, rest.Throttled, rest.NoCredentials, "other"}
	f.Fuzz(func(t *testing.T, kind uint8, status int, code, detail string, wait int64, isJSON bool) {
		e := &rest.Error{Kind: kinds[int(kind)%len(kinds)], Status: status, Code: code, Detail: detail, RetryAfter: time.Duration(wait), JSON: isJSON}
		var r *swap.Refusal
		if err := s.Refusal(e); !errors.As(err, &r) || !errors.Is(err, e) {
			t.Fatalf("%v is no refusal", err)
		}
		if r.Code == "" || !strings.Contains(r.Reason, "the test provider ") || r.QuotedText != "" && r.QuotedText != detail {
			t.Fatalf("%+v", r)
		}
		if wait := r.Data["retryAfterSeconds"]; wait != "" {
			if n, err := strconv.Atoi(wait); err != nil || n < 1 {
				t.Fatalf("to be repeated after %s", wait)
			}
		}
		if strings.ContainsFunc(r.Reason, func(c rune) bool { return !unicode.IsPrint(c) }) {
			t.Fatalf("says %q", r.Reason)
		}
	})
}

// TestAddedMembers checks that added members are counted by service, place and name, up to
// the bound of names, and change nothing in what is read.
func TestAddedMembers(t *testing.T) {
	s := Service{Name: "counted"}
	var v struct {
		A int `json:"a"`
	}
	for range 2 {
		if err := s.Read("reply", []byte(`{"a":1,"b":{"c":2},"\u202ed":3}`), &v); err != nil || v.A != 1 {
			t.Fatal(v, err)
		}
	}
	for i := range 2 * maxUnknownNames {
		_ = s.Read("flood", []byte(`{"x`+strconv.Itoa(i)+`":1}`), &v)
	}
	if err := s.Read("reply", []byte(`{"a":1,"e":1,"E":2}`), &v); err == nil {
		t.Error("two names that differ in case are read")
	}
	members, times := UnknownMembers()
	flood := 0
	for _, m := range members {
		if m.Service != s.Name {
			continue
		}
		switch {
		case m.Place == "flood":
			flood++
		case m.Member != "b" && m.Member != "(another name)" || times[m] != 2:
			t.Errorf("%v: %d times", m, times[m])
		}
	}
	if flood != maxUnknownNames || times[UnknownMember{"counted", "reply", "b"}] != 2 || times[UnknownMember{"counted", "reply", "(another name)"}] != 2 {
		t.Errorf("%d names of a flood are counted; %v", flood, members)
	}
}
