package tokens

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	bolt "go.etcd.io/bbolt"
)

var (
	usdc  = common.HexToAddress("0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48")
	other = common.HexToAddress("0x70997970C51812dc3A010C7d01b50e0d17dc79C8")
)

// fakeChain gives the same answers for every address.
type fakeChain struct {
	answers Answers
	err     error
	calls   int
}

func (c *fakeChain) AskToken(context.Context, uint64, common.Address) (Answers, error) {
	c.calls++
	return c.answers, c.err
}

// word returns a word that ends in b.
func word(b ...byte) []byte { return common.LeftPadBytes(b, 32) }

// dynamic encodes a returned string.
func dynamic(s string) []byte {
	out := append(word(32), word(byte(len(s)>>8), byte(len(s)))...)
	return append(out, common.RightPadBytes([]byte(s), (len(s)+31)/32*32)...)
}

func token(symbol, name string) Answers {
	return Answers{
		Code: []byte{0x60, 0x80}, Symbol: dynamic(symbol), Name: dynamic(name), Decimals: word(6),
		Supply: word(1), Balance: word(0), NFT: word(0),
	}
}

func openDB(t testing.TB, path string) *bolt.DB {
	t.Helper()
	db, err := bolt.Open(path, 0o600, &bolt.Options{NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func registry(t testing.TB, chain Chain, o Options) *Registry {
	t.Helper()
	r, err := Open(openDB(t, filepath.Join(t.TempDir(), "orders.db")), chain, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func symbols(all []Token) (out []string) {
	for _, t := range all {
		out = append(out, t.Symbol)
	}
	return out
}

func TestBuiltin(t *testing.T) {
	r := registry(t, nil, Options{})
	for _, chain := range []uint64{1, 10, 56, 8453, 42161, 143, 43114, 5330, 39} {
		n, ok := r.Lookup(chain, Native)
		if !ok || n.Decimals != 18 || !n.Verified {
			t.Errorf("chain %d has no native coin: %+v", chain, n)
		}
		if all := r.On(chain); all[0] != n {
			t.Errorf("chain %d begins with %+v", chain, all[0])
		}
	}
	if c, ok := r.Lookup(1, usdc); !ok || c.Symbol != "USDC" || c.Decimals != 6 || !c.Verified || c.Imported {
		t.Errorf("USDC on 1: %+v, %t", c, ok)
	}
	if _, ok := r.Lookup(10, usdc); ok {
		t.Error("an address means nothing on another chain")
	}
	if got := r.On(999); len(got) != 0 {
		t.Errorf("unknown chain lists %d tokens", len(got))
	}
	for _, v := range Builtin().tokens {
		if clean(v.Symbol, maxSymbol) != v.Symbol || clean(v.Name, maxName) != v.Name {
			t.Errorf("%q %q is not fit for a screen", v.Symbol, v.Name)
		}
	}
}

func TestSearch(t *testing.T) {
	chain := &fakeChain{answers: token("USD", "Not a dollar")}
	r := registry(t, chain, Options{})
	if _, _, err := r.Import(t.Context(), 1, other); err != nil {
		t.Fatal(err)
	}
	for _, q := range []string{"usdc", "USDC", " uSdC ", "USD Coin", usdc.Hex(), strings.ToLower(usdc.Hex()), strings.ToUpper(usdc.Hex())} {
		if got := r.Search(1, q); len(got) == 0 || got[0].Address != usdc {
			t.Errorf("search %q: %v", q, symbols(got))
		}
	}
	got := r.Search(1, "usd") // exact, then verified ones that begin with it, then verified ones that contain it
	if got[0].Address != other || !slices.Contains(symbols(got), "USDT") {
		t.Errorf("exact symbol first: %v", symbols(got))
	}
	begun := true
	for _, v := range got[1:] {
		begins := strings.HasPrefix(strings.ToLower(v.Symbol), "usd") || strings.HasPrefix(strings.ToLower(v.Name), "usd")
		if begins && !begun {
			t.Errorf("%s begins with usd and stands late in %v", v.Symbol, symbols(got))
		}
		begun = begins
	}
	if got := r.Search(1, "no"); !slices.ContainsFunc(got, func(v Token) bool { return v.Address == other }) || got[len(got)-1].Verified {
		t.Errorf("unverified last: %v", symbols(got))
	}
	if got := r.Search(1, "there is no such token"); len(got) != 0 {
		t.Errorf("found %v", symbols(got))
	}
	if all := r.Search(1, " "); len(all) != len(r.On(1)) {
		t.Errorf("an empty query finds %d of %d", len(all), len(r.On(1)))
	}
}

func TestImportStays(t *testing.T) {
	path := filepath.Join(t.TempDir(), "orders.db")
	chain := &fakeChain{answers: token("FOO", "Foo Token")}
	db := openDB(t, path)
	r, err := Open(db, chain, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if seen, known, err := r.Preview(t.Context(), 1, other); err != nil || known || seen.Symbol != "FOO" || seen.Imported {
		t.Fatalf("Preview = %+v, %t, %v; want FOO, not imported", seen, known, err)
	}
	if _, ok := r.Lookup(1, other); ok {
		t.Fatal("a look is no import")
	}
	for i := range 2 {
		got, known, err := r.Import(t.Context(), 1, other)
		want := Token{Chain: 1, Address: other, Symbol: "FOO", Name: "Foo Token", Decimals: 6, DecimalsFrom: FromOneHost, Imported: true}
		if err != nil || got != want || known != (i == 1) {
			t.Fatalf("import %d: %+v, %t, %v", i, got, known, err)
		}
	}
	if got, known, err := r.Import(t.Context(), 1, usdc); err != nil || !known || got.Imported || chain.calls != 2 {
		t.Errorf("what is known is asked again: %+v, %t, %v, asked %d", got, known, err, chain.calls)
	}
	_ = db.Close()
	db = openDB(t, path)
	if r, err = Open(db, chain, Options{}); err != nil {
		t.Fatal(err)
	}
	if got, ok := r.Lookup(1, other); !ok || got.Symbol != "FOO" || got.Verified {
		t.Fatalf("after a restart: %+v, %t", got, ok)
	}
	for i, c := range []struct {
		address common.Address
		want    bool
	}{{usdc, false}, {other, true}, {other, false}} {
		if removed, err := r.Remove(1, c.address); err != nil || removed != c.want {
			t.Errorf("removal %d: %t, %v", i, removed, err)
		}
	}
	_ = db.Close()
	if r, err = Open(openDB(t, path), chain, Options{}); err != nil {
		t.Fatal(err)
	}
	if _, ok := r.Lookup(1, other); ok {
		t.Error("removed, and back after a restart")
	}
}

// TestListed checks that a list with an imported token changes how the token is shown,
// but not that it was imported.
func TestListed(t *testing.T) {
	l, err := ParseList([]byte(listOf(`{"chainId":1,"address":"` + other.Hex() + `","symbol":"BAR","name":"Bar","decimals":8},
		{"chainId":1,"address":"` + usdc.Hex() + `","symbol":"USDX","name":"Not USDC","decimals":18}`)))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "orders.db")
	chain := &fakeChain{answers: token("FOO", "Foo Token")}
	chain.answers.Hosts = 2
	db := openDB(t, path)
	r, err := Open(db, chain, Options{})
	if err == nil {
		_, _, err = r.Import(t.Context(), 1, other)
	}
	if err != nil {
		t.Fatal(err)
	}
	_ = db.Close()
	if r, err = Open(openDB(t, path), chain, Options{Lists: []*List{l}}); err != nil {
		t.Fatal(err)
	}
	if got, _ := r.Lookup(1, other); got.Symbol != "BAR" || got.List != "My list" || !got.Imported || got.Verified {
		t.Errorf("Lookup = %+v, want BAR of My list, imported", got)
	}
	if got, _ := r.Lookup(1, usdc); got.Symbol != "USDC" || got.Decimals != 6 {
		t.Errorf("a list overrides the built-in one: %+v", got)
	}
	if got, _ := r.Lookup(1, other); got.Decimals != 6 {
		t.Errorf("a list overrides what the contract said: %+v", got)
	}
	if !r.DecimalsConfirmed(1, other) {
		t.Error("imported by two hosts, and not confirmed")
	}
	if removed, err := r.Remove(1, other); err != nil || !removed {
		t.Fatal(removed, err)
	}
	if got, ok := r.Lookup(1, other); !ok || got != l.tokens[0] {
		t.Errorf("removed, and still listed: %+v, %t; want what a restart would read, %+v", got, ok, l.tokens[0])
	}
	if r.DecimalsConfirmed(1, other) {
		t.Error("the removed token's decimals confirm those of the list")
	}
}

// TestListOfReserved checks that a list cannot make a token of a reserved address.
func TestListOfReserved(t *testing.T) {
	l, err := ParseList([]byte(listOf(`{"chainId":1,"address":"` + other.Hex() + `","symbol":"BAR","name":"Bar","decimals":8}`)))
	if err != nil {
		t.Fatal(err)
	}
	r := registry(t, nil, Options{Lists: []*List{l}, Reserved: func(_ uint64, a common.Address) bool { return a == other }})
	if got, known := r.Lookup(1, other); known {
		t.Errorf("Lookup of a reserved address = %+v, want none", got)
	}
}

func TestWhatIsNotImported(t *testing.T) {
	change := func(f func(*Answers)) Answers { a := token("FOO", "Foo"); f(&a); return a }
	for _, c := range []struct {
		name    string
		answers Answers
		why     string
	}{
		{"nothing there", Answers{}, "no contract"},
		{"an account with borrowed code", change(func(a *Answers) { a.Code = append([]byte{0xef, 1, 0}, other[:]...) }), "an account"},
		{"an NFT", change(func(a *Answers) { a.NFT = word(1) }), "NFT"},
		{"no decimals", change(func(a *Answers) { a.Decimals = nil }), "decimals"},
		{"short decimals", change(func(a *Answers) { a.Decimals = []byte{6} }), "decimals"},
		{"many decimals", change(func(a *Answers) { a.Decimals = word(37) }), "over 36"},
		{"endless decimals", change(func(a *Answers) { a.Decimals = append([]byte{1}, make([]byte, 31)...) }), "over 36"},
		{"no supply", change(func(a *Answers) { a.Supply = nil }), "no balances"},
		{"no balances", change(func(a *Answers) { a.Balance = []byte{} }), "no balances"},
		{"no symbol", change(func(a *Answers) { a.Symbol = nil }), "symbol"},
		{"a symbol not to be seen", change(func(a *Answers) { a.Symbol = dynamic("\u200b\u202e\u3164") }), "symbol"},
		{"a symbol past the end", change(func(a *Answers) { a.Symbol = append(word(32), word(33)...) }), "symbol"},
		{"a symbol far away", change(func(a *Answers) { a.Symbol = append(word(0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff), word(1)...) }), "symbol"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, _, err := registry(t, &fakeChain{answers: c.answers}, Options{}).Import(t.Context(), 1, other)
			if !errors.Is(err, ErrNotToken) || !strings.Contains(err.Error(), c.why) {
				t.Errorf("error %v, want %q", err, c.why)
			}
		})
	}
	chain := &fakeChain{answers: token("FOO", "Foo")}
	r := registry(t, chain, Options{Reserved: func(_ uint64, a common.Address) bool { return a == other }})
	for _, a := range []common.Address{other, nativePlaceholder} {
		if _, _, err := r.Import(t.Context(), 1, a); !errors.Is(err, ErrReserved) || chain.calls != 0 {
			t.Errorf("%s: %v, asked %d", a, err, chain.calls)
		}
	}
	down := errors.New("down")
	if _, _, err := registry(t, &fakeChain{err: down}, Options{}).Import(t.Context(), 1, other); !errors.Is(err, down) {
		t.Errorf("a chain that does not answer: %v", err)
	}
}

func TestImportsAreBounded(t *testing.T) {
	r := registry(t, &fakeChain{answers: token("FOO", "Foo")}, Options{})
	at := func(i int) common.Address { return common.BytesToAddress([]byte{1, byte(i >> 8), byte(i)}) }
	for i := range MaxImported {
		if _, _, err := r.Import(t.Context(), 1, at(i)); err != nil {
			t.Fatal(i, err)
		}
	}
	if _, _, err := r.Import(t.Context(), 1, at(MaxImported)); !errors.Is(err, ErrTooMany) {
		t.Errorf("one more: %v", err)
	}
	if _, err := r.Remove(1, at(3)); err != nil {
		t.Fatal(err)
	}
	if _, _, err := r.Import(t.Context(), 1, at(MaxImported)); err != nil {
		t.Errorf("after a removal: %v", err)
	}
	if got, _ := r.Lookup(1, at(7)); got.Address != at(7) {
		t.Errorf("a removal moved the others: %+v", got)
	}
}

// TestWriteFails checks that a token that cannot be stored is not imported.
func TestWriteFails(t *testing.T) {
	path := filepath.Join(t.TempDir(), "orders.db")
	db := openDB(t, path)
	r, err := Open(db, &fakeChain{answers: token("FOO", "Foo")}, Options{})
	if err == nil {
		err = db.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := r.Import(t.Context(), 1, other); err == nil {
		t.Error("imported without a database")
	}
	if _, ok := r.Lookup(1, other); ok {
		t.Error("known without being kept")
	}
}

func TestDamagedRecords(t *testing.T) {
	path := filepath.Join(t.TempDir(), "orders.db")
	db := openDB(t, path)
	if _, err := Open(db, &fakeChain{}, Options{}); err != nil {
		t.Fatal(err)
	}
	if err := db.Update(func(tx *bolt.Tx) error {
		b := tx.Bucket(bucket)
		return errors.Join(b.Put([]byte("short"), []byte("{}")), b.Put(id{1, other}.key(), []byte(`{"symbol":"FOO"`)),
			b.Put(id{1, usdc}.key(), []byte(`{"symbol":"US\u202eDC","name":"x","decimals":6}`)))
	}); err != nil {
		t.Fatal(err)
	}
	r, err := Open(db, &fakeChain{}, Options{})
	if err != nil || r.Damaged() != 3 {
		t.Errorf("%d damaged, %v", r.Damaged(), err)
	}
}

func TestImitations(t *testing.T) {
	r := registry(t, nil, Options{})
	pose := func(symbol, name string) (common.Address, bool) {
		return r.Imitated(Token{Chain: 1, Address: other, Symbol: symbol, Name: name})
	}
	for _, symbol := range []string{"USDC", "usdc", "U S D C", "UЅDС", "ＵＳＤＣ", "𝐔𝐒𝐃𝐂", "Ⓤⓢⓓⓒ", "USDC.", "USDĊ", "U5DC", "ꓴꓢꓓꓚ", "ᴜꜱᴅᴄ", "ᑌSᗪᑕ", "USDⲤ", "U\u0332SDC"} {
		if of, ok := pose(symbol, "Something"); !ok || of != usdc {
			t.Errorf("%q (%q) passes for %s, %t", symbol, Skeleton(symbol), of, ok)
		}
	}
	for _, name := range []string{"USD Coin", "usd  c0in", "USD-Coin"} {
		if of, ok := pose("XYZ", name); !ok || of != usdc {
			t.Errorf("name %q (%q) passes for %s, %t", name, Skeleton(name), of, ok)
		}
	}
	if of, ok := pose("ЕТН", "Coin"); !ok || of != Native {
		t.Errorf("the native coin: %s, %t", of, ok)
	}
	for _, symbol := range []string{"FOO", "USDC.e", "PEPE2", "价值", "…"} {
		if of, ok := pose(symbol, "Something"); ok {
			t.Errorf("%q is taken for %s", symbol, of)
		}
	}
	if c, _ := r.Lookup(1, usdc); c.Symbol != "" {
		if of, ok := r.Imitated(c); ok {
			t.Errorf("USDC imitates %s", of)
		}
	}
}

func TestClean(t *testing.T) {
	for in, want := range map[string]string{
		"USDC": "USDC", "  a \t\n b  ": "a b", "US\u200bDC": "USDC", "\u202eCDSU": "CDSU", "a\u0000b\x1b[31m": "ab[31m",
		"\u3164": "", "\u2800\ufe0f": "", "e\u0301\u0301\u0301\u0301": "e\u0301\u0301", "\u0301a": "a", "价值 币": "价值 币",
		"a\xffb": "ab", "\U000e0041x": "x", "a\u00adb": "ab", "\ue000y": "y", "\u2028z": "z",
		"12345678901234567890": "12345678901234567890", "123456789012345678901": "1234567890123456789…",
	} {
		if got := clean(in, maxSymbol); got != want {
			t.Errorf("%q became %q, want %q", in, got, want)
		}
	}
}

func TestOldTokens(t *testing.T) {
	a := token("", "")
	a.Symbol, a.Name = common.RightPadBytes([]byte("MKR"), 32), common.RightPadBytes([]byte("Maker"), 32) // bytes32, as of 2016
	got, err := a.token(id{1, other})
	if err != nil || got.Symbol != "MKR" || got.Name != "Maker" {
		t.Errorf("token = %+v, %v; want MKR, Maker", got, err)
	}
	a.Name = nil
	if got, err = a.token(id{1, other}); err != nil || got.Name != "MKR" {
		t.Errorf("without a name: %+v, %v", got, err)
	}
	a.Symbol = dynamic(strings.Repeat("x", 5000))
	if got, err = a.token(id{1, other}); err != nil || len([]rune(got.Symbol)) != maxSymbol {
		t.Errorf("a long symbol: %+v, %v", got, err)
	}
}

func listOf(rows string) string {
	return fmt.Sprintf(`{"name":"My list","timestamp":"2026-01-02T03:04:05.000Z","version":{"major":1,"minor":2,"patch":3},"tokens":[%s]}`, rows)
}

const good = `{"chainId":1,"address":"0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48","symbol":"USDC","name":"USD Coin","decimals":6}`

func TestParseList(t *testing.T) {
	full := `{"name":"My list","timestamp":"2026-01-02T03:04:05+00:00","version":{"major":1,"minor":2,"patch":3},"logoURI":"ipfs://Qm","keywords":["a b"],
		"tags":{"stable":{"name":"Stablecoin","description":"Worth a dollar"}},"tokens":[
		{"chainId":1,"address":"0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48","symbol":"USDC","name":"USD Coin","decimals":6,"logoURI":"https://x.example/a.png","tags":["stable"],
		 "extensions":{"bridgeInfo":{"10":{"tokenAddress":"0x0b2C639c533813f4Aa9D7837CAf62653d097Ff85"}},"color":"#fff","n":1,"b":true,"z":null}},
		{"chainId":1,"address":"0x0000000000000000000000000000000000000000","symbol":"ETH","name":"Ether","decimals":18},
		{"chainId":1,"address":"0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE","symbol":"ETH","name":"Ether","decimals":18}]}`
	l, err := ParseList([]byte(full))
	if err != nil {
		t.Fatal(err)
	}
	if l.Len() != 1 || l.tokens[0].Verified || l.tokens[0].List != "My list" || l.Version != [3]uint64{1, 2, 3} || l.Timestamp.Year() != 2026 {
		t.Errorf("the list is %+v", l)
	}
}

func TestParseListRefuses(t *testing.T) {
	if _, err := ParseList([]byte(listOf(good))); err != nil {
		t.Fatal(err)
	}
	row := func(old, new string) string {
		changed := strings.Replace(good, old, new, 1)
		if changed == good {
			t.Fatal("nothing changed: ", old)
		}
		return listOf(changed)
	}
	head := func(old, new string) string {
		changed := strings.Replace(listOf(good), old, new, 1)
		if changed == listOf(good) {
			t.Fatal("nothing changed: ", old)
		}
		return changed
	}
	for name, text := range map[string]string{
		"twice":            listOf(good + "," + strings.ToLower(good[:70]) + good[70:]),
		"no symbol":        row(`"USDC"`, `""`),
		"unseen symbol":    row(`"USDC"`, `"\u200b"`),
		"long symbol":      row(`"USDC"`, `"`+strings.Repeat("x", 21)+`"`),
		"long name":        row(`"USD Coin"`, `"`+strings.Repeat("x", 61)+`"`),
		"no chain":         row(`"chainId":1`, `"chainId":0`),
		"negative chain":   row(`"chainId":1`, `"chainId":-1`),
		"many decimals":    row(`"decimals":6`, `"decimals":200`),
		"no decimals":      row(`,"decimals":6`, ``),
		"half a decimal":   row(`"decimals":6`, `"decimals":6.5`),
		"bad address":      row("0xA0", "0xZZ"),
		"short address":    row("0xA0", "0x"),
		"unknown field":    row(`"decimals":6`, `"decimals":6,"price":1`),
		"bad tag":          row(`"decimals":6`, `"decimals":6,"tags":["no spaces"]`),
		"bad logo":         row(`"decimals":6`, `"decimals":6,"logoURI":"a b"`),
		"deep extensions":  row(`"decimals":6`, `"decimals":6,"extensions":{"a":{"b":{"c":{"d":1}}}}`),
		"list in it":       row(`"decimals":6`, `"decimals":6,"extensions":{"a":[1]}`),
		"no name":          head(`"My list"`, `""`),
		"hostile name":     head(`"My list"`, `"<b>"`),
		"no time":          head(`"2026-01-02T03:04:05.000Z"`, `"yesterday"`),
		"no version":       head(`"version":{"major":1,"minor":2,"patch":3},`, ``),
		"half a version":   head(`,"patch":3`, ``),
		"no tokens":        listOf(""),
		"not a list":       good,
		"an array":         "[" + good + "]",
		"two values":       listOf(good) + "{}",
		"not UTF-8":        row(`USD Coin`, "USD\xffCoin"),
		"unknown at top":   head(`"name"`, `"secret":1,"name"`),
		"too many tokens":  listOf(strings.Repeat(good+",", maxTokens) + good),
		"too many bytes":   listOf(good) + strings.Repeat(" ", MaxListBytes),
		"undescribed tag":  head(`"name"`, `"tags":{"a":{"name":"A"}},"name"`),
		"wild keyword":     head(`"name"`, `"keywords":["<script>"],"name"`),
		"endless keywords": head(`"name"`, `"keywords":["a"`+strings.Repeat(`,"a"`, 20)+`],"name"`),
	} {
		if _, err := ParseList([]byte(text)); !errors.Is(err, ErrList) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
