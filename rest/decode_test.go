package rest

import (
	"encoding/json"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"unicode"
)

type shared struct {
	E int `json:"e"`
}

type decoded struct {
	shared
	A     *int            `json:"a"`
	Kind  string          `json:"kind"`
	Inner struct{ B int } `json:"inner"`
	List  []struct {
		C int `json:"c"`
	} `json:"list"`
	ByKey map[string]struct {
		D int `json:"d"`
	} `json:"byKey"`
	Raw json.RawMessage `json:"raw"`
}

func TestDecode(t *testing.T) {
	for text, want := range map[string]string{ // the unknown members; "!" = refused
		`{}`: "", `null`: "", `{"a":1,"kind":"x","inner":{"B":1},"list":[{"c":1}],"byKey":{"k":{"d":1}},"e":1}`: "",
		`{"z":{"a":1,"y":[{"A":2}]},"a":1}`:          "z",
		`{"inner":{"z":1},"list":[{"z":1},{"z":2}]}`: "inner.z list[].z",
		`{"byKey":{"k":{"z":1},"l":{}}}`:             "byKey{}.z",
		`{"raw":{"z":1,"A":2},"y":1e999}`:            "y",

		`{"a":1,"a":1}`: "!", `{"a":1,"A":1}`: "!", `{"A":1}`: "!", `{"\u0041":1}`: "!", `{"a":1,"\u0061":2}`: "!",
		`{"\u212Aind":"x"}`: "!", `{"kind":"x","\u212Aind":"y"}`: "!", // the Kelvin sign, which folds to k
		`{"inner":{"b":1}}`: "!", `{"list":[{"c":1},{"C":1}]}`: "!", `{"byKey":{"k":{"D":1}}}`: "!", `{"byKey":{"k":{},"K":{}}}`: "!",
		`{"z":{"y":1,"y":2}}`: "!", `{"z":[{"y":1,"Y":2}]}`: "!", `{"raw":{"x":1,"X":1}}`: "!",
		`{"a":"x"}`: "!", `{"E":1}`: "!", `{"a":1}{}`: "!", `{"a":1}x`: "!", `{"a":`: "!", ``: "!",
	} {
		var v decoded
		added, err := Decode([]byte(text), &v)
		got := strings.Join(added, " ")
		if err != nil {
			got = "!"
		}
		if got != want {
			t.Errorf("%s: added %q, %v; want %q", text, got, err, want)
		}
		if err := DecodeStrict([]byte(text), &decoded{}); (err == nil) != (want == "") {
			t.Errorf("%s: read whole: %v", text, err)
		}
	}
}

// TestDecodeNames checks that unknown members are reported only by names that have the
// form of one, so that no account, key or text of the document's choice is shown or sent.
func TestDecodeNames(t *testing.T) {
	const account = "f39Fd6e51aad88F6F4ce6aB8827279cffFb92266"
	for name, want := range map[string]string{
		"maxFee_per-Gas2": "maxFee_per-Gas2", strings.Repeat("x", 64): strings.Repeat("x", 64),
		strings.Repeat("x", 65): unnamed, "": unnamed, "a.b": unnamed, "a b": unnamed, "ä": unnamed, `\u202ed`: unnamed, "<b>": unnamed,
		"0x" + account: unnamed, "of" + account: unnamed,
	} {
		var v decoded
		added, err := Decode([]byte(`{"inner":{"`+name+`":1},"byKey":{"0x`+account+`":{"z":1}}}`), &v)
		if err != nil || !slices.Equal(added, []string{"inner." + want, "byKey{}.z"}) {
			t.Errorf("%q is told as %q, %v", name, added, err)
		}
		if err := DecodeStrict([]byte(`{"`+name+`":1}`), &v); err == nil || err.Error() != fmt.Sprintf("unknown member %q", want) {
			t.Errorf("%q: %v", name, err)
		}
	}
}

// TestDecodeDeep checks that paths are kept only for what is decoded: a long name over
// thousands of levels would use up all memory.
func TestDecodeDeep(t *testing.T) {
	text := fmt.Appendf(nil, `{"%s":%s%s}`, strings.Repeat("n", 100_000), strings.Repeat("[", 9_000), strings.Repeat("]", 9_000))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := Decode(text, &decoded{})
	runtime.ReadMemStats(&after)
	if grown := after.TotalAlloc - before.TotalAlloc; err != nil || grown > 64<<20 {
		t.Errorf("%v, with %d MiB for %d bytes", err, grown>>20, len(text))
	}
}

// FuzzDecode checks that only exact names are decoded, and that names which are alike are
// an error.
func FuzzDecode(f *testing.F) {
	for _, s := range []string{`{"a":1,"A":2}`, `{"inner":{"B":1},"Inner":{}}`, `{"list":[{"c":1,"d":[[]]}]}`, `[]`, `{"\ud800":1,"\ud801":2}`, `{"a":1} `} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		var v decoded
		added, err := Decode(raw, &v)
		if err != nil {
			return
		}
		var members map[string]json.RawMessage
		if json.Unmarshal(raw, &members) != nil {
			return // null
		}
		for name := range members {
			known := slices.Contains([]string{"a", "kind", "inner", "list", "byKey", "raw", "e"}, name)
			if known == slices.Contains(added, reportableName(name)) {
				t.Fatalf("%s: %q is known: %t, added: %v", raw, name, known, added)
			}
		}
		if (v.A != nil) != (members["a"] != nil && string(members["a"]) != "null") {
			t.Fatalf("%s: a is %v", raw, v.A)
		}
	})
}

// TestFolded checks that names are folded alike, whether or not they are all ASCII.
func TestFolded(t *testing.T) {
	for r := range unicode.MaxASCII + 1 {
		for _, name := range []string{string(r), "a" + string(r) + "Z"} {
			if long := strings.TrimSuffix(folded(name+"é"), folded("é")); folded(name) != long {
				t.Errorf("%q is folded to %q, and to %q beside another letter", name, folded(name), long)
			}
		}
	}
}
