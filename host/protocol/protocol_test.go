package protocol

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"reflect"
	"regexp"
	"strings"
	"testing"
)

func TestErrorTableIsSound(t *testing.T) {
	codes, names := map[int]bool{}, map[string]bool{}
	form := regexp.MustCompile(`^[a-z0-9]+(_[a-z0-9]+)*$`)
	for _, r := range Errors {
		switch {
		case codes[r.Code] || names[r.Name]:
			t.Errorf("%d %s is there twice", r.Code, r.Name)
		case r.Code > -32600 && r.Code < 1000 || r.Code < -32768:
			t.Errorf("%s: code %d is neither JSON-RPC's nor ours", r.Name, r.Code)
		case !form.MatchString(r.Name):
			t.Errorf("%s is no name", r.Name)
		case r.Means == "" || r.Remedy == "":
			t.Errorf("%s lacks its meaning or its remedy", r.Name)
		case r.Remedy != strings.TrimSuffix(r.Remedy, ".") || strings.ContainsAny(r.Means+r.Remedy, "|\n"):
			t.Errorf("%s: text ends in a full stop or breaks a table", r.Name)
		}
		codes[r.Code], names[r.Name] = true, true
	}
}

func TestErrorOnTheWire(t *testing.T) {
	e := Newf("busy", "%d are waiting", 3).With("waiting", "3")
	b, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"code":1002,"message":"3 are waiting","data":{"name":"busy","retryable":true,"remedy":"wait for pending requests, then try again","details":{"waiting":"3"}}}`
	if string(b) != want {
		t.Errorf("got %s\nwant %s", b, want)
	}
	var back Error
	if err := json.Unmarshal(b, &back); err != nil || !reflect.DeepEqual(&back, e) {
		t.Errorf("came back as %+v, %v", back, err)
	}
	if !errors.Is(fmt.Errorf("call: %w", &back), New("busy", "")) || errors.Is(e, New("internal", "")) {
		t.Error("errors.Is does not go by the name")
	}
	var newer Error
	if err := json.Unmarshal([]byte(`{"code":4711,"message":"m","data":{"name":"of_a_newer_daemon","colour":"blue"}}`), &newer); err != nil || newer.Name != "of_a_newer_daemon" {
		t.Errorf("a newer daemon's error: %+v, %v", newer, err)
	}
	if e := New("no such row", "secret"); e.Name != "internal" || e.Code != -32603 {
		t.Errorf("an unlisted name: %+v", e)
	}
}

func TestMethodsAreSound(t *testing.T) {
	seen := map[string]bool{}
	for _, m := range Methods {
		if seen[m.Name] || m.Does == "" || m.Access != Reads && m.Access != Writes && m.Access != Terminal {
			t.Errorf("method %+v is listed twice, undescribed, or of unknown access", m)
		}
		seen[m.Name] = true
		for _, v := range []any{m.Params, m.Result} {
			typ := reflect.TypeOf(v)
			for i := range typ.NumField() {
				if name, _, _ := strings.Cut(typ.Field(i).Tag.Get("json"), ","); name == "" {
					t.Errorf("%s.%s has no name on the wire", typ, typ.Field(i).Name)
				}
			}
		}
	}
	if _, ok := MethodOf("eth_sign"); ok {
		t.Error("there is an eth_sign")
	}
}

func TestAddresses(t *testing.T) {
	// Test cases of EIP-55.
	for _, s := range []string{
		"0x52908400098527886E0F7030069857D2E4169EE7", "0x8617E340B3D01FA5F11F306F4090FD50E238070D",
		"0xde709f2102306220921060314715629080e2fb77", "0x27b1fdb04752bbc536007a920d24acb045561c26",
		"0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed", "0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359",
		"0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB", "0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb",
	} {
		for _, given := range []string{s, strings.ToLower(s)} {
			if a, err := ParseAddress(given); err != nil || string(a) != s {
				t.Errorf("%s became %s, %v", given, a, err)
			}
		}
		if wrong := "0x" + strings.ToUpper(s[2:]); wrong != s {
			if _, err := ParseAddress(wrong); err == nil {
				t.Errorf("%s has no right checksum and was taken", wrong)
			}
		}
	}
	for _, s := range []string{"", "0x", "52908400098527886E0F7030069857D2E4169EE7", "0X52908400098527886E0F7030069857D2E4169EE7", "0x52908400098527886E0F7030069857D2E4169EE", "0x52908400098527886E0F7030069857D2E4169EE7 ", "vitalik.eth"} {
		if a, err := ParseAddress(s); err == nil {
			t.Errorf("%q became %s", s, a)
		}
	}
}

func TestAmounts(t *testing.T) {
	most := new(big.Int).Sub(maxAmount, big.NewInt(1)).String()
	for _, s := range []string{"0", "1", "1000000", most} {
		if a, err := ParseAmount(s); err != nil || a.Int().String() != s || AmountOf(a.Int()) != a {
			t.Errorf("%s: %v", s, err)
		}
	}
	for _, s := range []string{"", "-1", "+1", "01", "1.0", "1e18", "0x1", " 1", "1 ", maxAmount.String(), strings.Repeat("9", 100)} {
		if a, err := ParseAmount(s); err == nil {
			t.Errorf("%q became %s", s, a)
		}
	}
	if AmountOf(nil) != "" || Amount("x").Int() != nil {
		t.Error("a nil or malformed amount is read as one")
	}
}

func TestPercents(t *testing.T) {
	for s, want := range map[string]Percent{"0.5": 50, "50": 5000, "0.01": 1, "5.25": 525, "0": 0, "-1.5": -150, "9999.99": 999999} {
		p, err := ParsePercent(s)
		if err != nil || p != want || p.String() != s {
			t.Errorf("%s became %d (%s), %v", s, p, p, err)
		}
	}
	for _, s := range []string{"", "0.125", "1e1", ".5", "5.", "00.5", "NaN", `"0.5"`, "10000", "null"} {
		if p, err := ParsePercent(s); err == nil {
			t.Errorf("%q became %d", s, p)
		}
	}
}

func TestSecretsDoNotPrint(t *testing.T) {
	s := Secret("hunter2")
	for _, form := range []string{"%v", "%s", "%q", "%#v", "%+v"} {
		if out := fmt.Sprintf(form, s) + fmt.Sprintf(form, UnlockParams{Password: s}) + fmt.Sprintf(form, &CreateResult{Words: s}); strings.Contains(out, "hunter2") || strings.Contains(out, "104") {
			t.Errorf("%s printed %s", form, out)
		}
	}
	s.Zero()
	if string(s) != strings.Repeat("\x00", 7) {
		t.Error("the secret was not wiped")
	}
	long := `"` + strings.Repeat("a", MaxSecret+1) + `"`
	for _, in := range []string{long, `1`, `null`, `{}`, `"\ud800"`, `"\ud800\u0041"`, `"\udc00\ud800"`} {
		if err := json.Unmarshal([]byte(in), &s); err == nil {
			t.Errorf("%.20s was taken for a secret", in)
		}
	}
}

// FuzzSecret compares the decoder of secrets, which makes no Go string, with
// encoding/json, and checks that an encoded secret decodes to the same.
func FuzzSecret(f *testing.F) {
	for _, s := range []string{`"plain"`, `"tab\t and \"quote\" \\ \/"`, `"\u00e9 \uD83D\ude00 é 😀"`, `""`, `"\u0000<&>"`, ` "spaces" `} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		var got Secret
		if err := json.Unmarshal(in, &got); err != nil {
			return
		}
		var want string
		if err := json.Unmarshal(in, &want); err != nil {
			t.Fatalf("%q: %v", in, err)
		}
		if strings.ToValidUTF8(string(got), "\uFFFD") != strings.ToValidUTF8(want, "\uFFFD") && !strings.Contains(want, "\uFFFD") {
			t.Fatalf("%q became %q, want %q", in, []byte(got), want)
		}
		out, err := json.Marshal(got)
		if err != nil {
			return // not UTF-8
		}
		var back string
		if err := json.Unmarshal(out, &back); err != nil || back != string(got) {
			t.Errorf("%q was written as %s, read as %q, %v", []byte(got), out, back, err)
		}
	})
}

// FuzzScalars checks that accepted values are in canonical form.
func FuzzScalars(f *testing.F) {
	for _, s := range []string{"0", "1000", "0.5", "0x52908400098527886E0F7030069857D2E4169EE7", "0x" + strings.Repeat("ab", 32), "0b8c6f3e-7c1f-4d55-9d3c-6f1f0a6f7d01"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if a, err := ParseAmount(s); err == nil && (a.Int() == nil || a.Int().String() != s || a.Int().Sign() < 0) {
			t.Errorf("amount %q", s)
		}
		if a, err := ParseAddress(s); err == nil && (len(a) != 42 || !strings.EqualFold(string(a), s) || Checksummed(s) != a) {
			t.Errorf("address %q", s)
		}
		if p, err := ParsePercent(s); err == nil {
			if again, err := ParsePercent(p.String()); err != nil || again != p {
				t.Errorf("percent %q", s)
			}
		}
		if h, err := parseHash(s); err == nil && len(h) != 66 {
			t.Errorf("hash %q", s)
		}
		if u, err := parseUUID(s); err == nil && len(u) != 36 {
			t.Errorf("uuid %q", s)
		}
	})
}
