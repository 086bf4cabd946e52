package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/crypto"

	"swapkeep/chain"
	"swapkeep/host/protocol"
	"swapkeep/live"
	"swapkeep/sandbox"
	"swapkeep/sandbox/inject"
	"swapkeep/sandbox/sandboxtest"
	"swapkeep/swap"
	"swapkeep/test/await"
	"swapkeep/test/requests"
)

// A world that is as expected is reported so; each deviation is reported, and nothing
// else.
func TestLive(t *testing.T) {
	box := sandboxtest.StartWith(t, sandbox.Options{Chains: []uint64{1, 8453}, Period: time.Second})
	dir := t.TempDir()
	look := func(rpc string, args ...string) live.Report {
		t.Helper()
		if err := box.WriteFiles(dir); err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(dir, "config.toml")
		written, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		text := strings.Replace(string(written), fmt.Sprintf("rpc = [%q, %q]", box.Chain(8453).RPCs()[0], box.Chain(8453).RPCs()[1]), fmt.Sprintf("rpc = [%s]", rpc), 1)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		env := []string{"SWAPKEEP_HOME=" + filepath.Join(dir, "home"), "SWAPKEEP_CONFIG=" + file, "SWAPKEEP_KEYS_BACKEND=file"}
		if err := compareLive(t.Context(), &out, args, env); err != nil {
			t.Fatal(err)
		}
		var r live.Report
		if err := json.Unmarshal(out.Bytes(), &r); err != nil {
			t.Fatal(err)
		}
		return r
	}
	differ := func(r live.Report) (rows []string) {
		for _, row := range r.Rows {
			quiet := row.Verdict == live.NotAvailable && strings.HasPrefix(row.How, "none in the blocks from ") // no swaps happen on this chain
			if row.Verdict != live.Works && row.Verdict != live.Unknown && !quiet {
				rows = append(rows, fmt.Sprintf("%s %d %s: %s: %s", row.Subject, row.Chain, row.What, row.Verdict, row.How))
			}
		}
		return rows
	}
	honest := fmt.Sprintf("%q", box.Chain(8453).RPC())
	r := look(honest)
	if d := differ(r); len(d) != 0 {
		t.Errorf("of an honest world: %q", d)
	}
	for _, subject := range []string{"hosts", "tokens", "oracles", "dex", "bridge", "intent", "gasless"} {
		if !slices.ContainsFunc(r.Rows, func(row live.Row) bool { return row.Subject == subject && row.Chain == 8453 }) {
			t.Errorf("nothing of %s", subject)
		}
	}
	for _, routing := range []string{"CLASSIC", "DUTCH_V3", "ROUTER", "DEPOSIT", "Hyperstream", "RFQ", "JAM"} {
		if !slices.ContainsFunc(r.Rows, func(row live.Row) bool { return strings.HasSuffix(row.What, ", "+routing) }) {
			t.Errorf("no quote of the kind %s", routing)
		}
	}
	for what, want := range map[string]live.Verdict{"spender 0x000000000022D473030F116dDEE9F6B43aC78BA3": live.Works, "router 0x": live.Unknown, "settlement 0x": live.Unknown} {
		i := slices.IndexFunc(r.Rows, func(row live.Row) bool {
			return row.Chain == 8453 && strings.HasPrefix(row.What, what)
		})
		if i < 0 || r.Rows[i].Verdict != want || !strings.Contains(r.Rows[i].How, " bytes, at 1 hosts") {
			t.Errorf("%s is not %q: %v", what, want, r.Rows)
		}
	}
	if len(r.Answers) == 0 || bytes.Contains(mustJSON(t, r), []byte(dir)) {
		t.Error("the report has no answers, or names this machine")
	}
	for _, args := range [][]string{{"--provider", "nobody"}, {"--network", "7"}, {"--network", "x"}} {
		if err := compareLive(t.Context(), io.Discard, args, []string{"SWAPKEEP_HOME=" + dir, "SWAPKEEP_CONFIG=" + filepath.Join(dir, "config.toml")}); err == nil {
			t.Errorf("%q is taken", args)
		}
	}
	const weth, permit2, ethFeed = "4200000000000000000000000000000000000006", "000000000022d473030f116ddee9f6b43ac78ba3", "71041dddad3595f9ced3dccfbe3d1f4b0a16bb70"
	const description, decimals, separator = "7284e416", "313ce567", "3644e515"
	const spender, feed = "spender 0x000000000022D473030F116dDEE9F6B43aC78BA3: differs: ", "oracles: differs: ETH__USD: 0x71041dddad3595F9CEd3DcCFBe3D1F4b0a16Bb70 says that "
	base, word := box.Chain(8453), func(n int) string { return fmt.Sprintf("%064x", n) }
	usdc := strings.ToLower(sandboxtest.Token(t, base, "USDC").Hex()[2:])
	answers := func(answer string) func(string) string { return func(string) string { return answer } }
	writes := func(pattern, text string) func(string) string {
		return func(answer string) string { return regexp.MustCompile(pattern).ReplaceAllLiteralString(answer, text) }
	}
	const last = `[0-9a-f]{64}"$` // the only word of an answer to a single question
	otherCode := lie{"eth_getCode", answers(`"0x6001"`), []string{permit2}, spender + "code hash " + crypto.Keccak256Hash([]byte{0x60, 1}).Hex() +
		" instead of 0xa67739abc3ede9dbdc0491636c67d6a14ac07fab9030c3f509b1eb7b11dff8ed, 2 bytes"}
	for _, lies := range [][]lie{
		{
			otherCode,
			{"eth_getCode", answers(`"0x"`), []string{weth}, "wrapper 0x" + weth + ": differs: "},
			{"eth_call", writes(fmt.Sprintf("%x", "ETH / USD"), fmt.Sprintf("%x", "BTC / USD")), []string{ethFeed, description}, feed + `it measures "BTC / USD"`},
			{"eth_call", writes(word(1)+word(64)+word(32)+word(6), word(1)+word(64)+word(32)+word(18)), []string{usdc, decimals}, "built-in tokens: differs: USDC: its decimals are 0x" + word(18) + ", and not 6"},
			{"eth_getLogs", answers(`{}`), nil, ": differs: no logs: "},
		},
		{
			{"eth_call", writes(last, word(99)+`"`), []string{permit2, separator}, "DOMAIN_SEPARATOR() is 0x" + word(99) + " and not 0x"},
			{"eth_call", writes(last, word(78)+`"`), []string{ethFeed, decimals}, feed + "its decimals are 0x" + word(78)},
			{"eth_simulateV1", answers(`{}`), nil, "no use of eth_simulateV1"},
		},
		{{"eth_getBlockByNumber", writes(`"timestamp":"0x[0-9a-f]+"`, `"timestamp":"0x60000000"`), []string{"latest"}, "its latest block is not of now"}},
	} {
		told(t, differ(look(liar(t, base.RPC(), lies), "--network", "8453")), lies)
	}
	otherCode.named = spender // two hosts disagree about it
	told(t, differ(look(honest+", "+liar(t, base.RPC(), []lie{otherCode}), "--network", "8453", "--provider", "dex")), []lie{otherCode})
	forked := honest + ", " + liar(t, base.RPC(), []lie{{"eth_getBlockByNumber", writes(`"hash":"0x..`, `"hash":"0xee`), nil, ""}})
	elsewhere := fmt.Sprintf("%s, %q", honest, box.Chain(1).RPC())
	for _, c := range []struct{ hosts, named string }{
		{forked, "their agreement"}, {elsewhere, "serves another chain: 1 instead of 8453"},
	} {
		told(t, differ(look(c.hosts, "--network", "8453")), []lie{{named: "their agreement: differs: "}, {named: c.named}, {named: "so nothing on the chain is compared"}})
		for _, row := range look(c.hosts, "--network", "8453", "--provider", "dex").Rows {
			quote := strings.HasPrefix(row.What, "dollars for ") || strings.HasPrefix(row.What, "the coin for ")
			if row.Subject != "hosts" && !quote {
				t.Errorf("compared all the same: %v", row)
			}
		}
	}

	const thief = `"0x00000000000000000000000000000000000BaD00"`
	var lies []lie
	for provider, l := range map[string]struct{ target, pointer, value, named string }{
		"dex":     {"/quote", "/quote/input/amount", `"7"`, "dex 8453 dollars for the coin: differs: "},
		"bridge":  {"/quote/v2", "/details/recipient", thief, "bridge 8453 dollars for the coin: differs: "},
		"intent":  {"/v1/quotes", "/routes/0/quote/amountIn", `"7"`, "intent 8453 dollars to 1: differs: "},
		"gasless": {"jam/quote", "/toSign/receiver", thief, "gasless 8453 dollars for the wrapped coin, a part of the answer: differs: "},
	} {
		if _, err := box.Faults(provider).Add(inject.Rule{Target: l.target, Kind: inject.Lie, Pointer: l.pointer, Value: json.RawMessage(l.value)}); err != nil {
			t.Fatal(err)
		}
		lies = append(lies, lie{named: l.named})
	}
	told(t, differ(look(honest, "--network", "8453")), lies)
}

// A lie is a wrong answer of a host, and the expected finding.
type lie struct {
	method string
	bend   func(answer string) string
	about  []string // all strings that the question must contain
	named  string
}

// told checks that exactly these lies are reported.
func told(t *testing.T, differ []string, lies []lie) {
	t.Helper()
	for _, l := range lies {
		if !slices.ContainsFunc(differ, func(row string) bool { return strings.Contains(row, "differs") && strings.Contains(row, l.named) }) {
			t.Errorf("not told %q: %q", l.named, differ)
		}
	}
}

// The report of a provider's answer contains neither the URL that was called nor an
// account, nor characters that hide or reorder text.
func TestLiveReport(t *testing.T) {
	box := sandboxtest.StartWith(t, sandbox.Options{Chains: []uint64{8453}, Period: time.Second})
	const token = "t0ken-in-the-path"
	echo := fmt.Sprintf(`{"echo":"at 127.0.0.1/%s \u0074%s \u202e",`, token, token[1:])
	dir, file := t.TempDir(), ""
	if err := box.WriteFiles(dir); err != nil {
		t.Fatal(err)
	}
	file = filepath.Join(dir, "config.toml")
	written, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	base := regexp.MustCompile(`(?s)(\[providers\.bridge\].*?base_url = )"([^"]*)"`)
	at := base.FindSubmatch(written)
	if at == nil {
		t.Fatalf("no base url in %s", written)
	}
	to, err := url.Parse(string(at[2]))
	if err != nil {
		t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(to)
	proxy.ModifyResponse = func(r *http.Response) error {
		body, err := io.ReadAll(r.Body)
		if strings.Contains(r.Request.URL.Path, "quote") {
			body = bytes.Replace(body, []byte("{"), []byte(echo), 1)
		}
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		r.Header.Del("Content-Length")
		return err
	}
	s := httptest.NewServer(http.StripPrefix("/"+token, proxy))
	t.Cleanup(s.Close)
	text := base.ReplaceAllString(string(written), fmt.Sprintf(`${1}"%s/%s"`, s.URL, token))
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	env := []string{"SWAPKEEP_HOME=" + filepath.Join(dir, "home"), "SWAPKEEP_CONFIG=" + file, "SWAPKEEP_KEYS_BACKEND=file"}
	if err := compareLive(t.Context(), &out, []string{"--provider", "bridge"}, env); err != nil {
		t.Fatal(err)
	}
	report := out.String()
	if !strings.Contains(report, `"echo":"at 127.0.0.1/[redacted] [redacted] \u202e"`) || strings.Contains(report, token) || strings.Contains(report, chain.Nobody.Hex()) || !json.Valid(out.Bytes()) {
		t.Errorf("the report is %s", report)
	}
	if i := strings.IndexFunc(report, func(r rune) bool { return r != '\n' && (r < ' ' || r > '~') }); i >= 0 {
		t.Errorf("the report has %q", report[i:i+3])
	}
}

// Errors in the built-in lists of tokens and of oracles are both reported.
func TestLiveLists(t *testing.T) {
	box := sandboxtest.StartWith(t, sandbox.Options{Chains: []uint64{8453}, Period: time.Second})
	hub, err := chain.NewMultiClient([]chain.Endpoint{{Chain: 8453, URLs: []string{box.Chain(8453).RPC()}}}, chain.Options{Sandbox: true})
	if err != nil {
		t.Fatal(err)
	}
	defer hub.Close()
	w := live.BuiltIn()
	w.Nodes, w.Sandbox = hub, true
	for i := range w.Tokens {
		if w.Tokens[i].Chain == 8453 && w.Tokens[i].Symbol == "USDC" {
			w.Tokens[i].Decimals = 18
		}
	}
	for i := range w.Oracles {
		if w.Oracles[i].Chain == 8453 && w.Oracles[i].Name == "ETH__USD" {
			w.Oracles[i].Name = "BTC__USD"
		}
	}
	var found []string
	for _, row := range live.Examine(t.Context(), w).Rows {
		if row.Verdict == live.Differs {
			found = append(found, row.Subject+": "+row.How)
		}
	}
	want := []string{"tokens: USDC: its decimals are 0x" + strings.Repeat("0", 63) + "6, and not 18", `oracles: BTC__USD: 0x71041dddad3595F9CEd3DcCFBe3D1F4b0a16Bb70 says that it measures "ETH / USD"`}
	if !slices.Equal(found, want) {
		t.Errorf("%q, want %q", found, want)
	}
}

// The fill of a stranger's order is parsed like that of an own order.
func TestLiveFill(t *testing.T) {
	box := sandboxtest.StartWith(t, sandbox.Options{Chains: []uint64{1, 8453}, Instant: true})
	v := startPriced(t, box, filepath.Join(t.TempDir(), "home"), true)
	n := box.Chain(1).Network
	var offers protocol.QuoteResult
	v.must("swap.quote", protocol.QuoteParams{Account: v.account, TokenIn: protocol.Address(n.Tokens[0].Address.Hex()), AmountIn: protocol.AmountOf(sandboxtest.Units(2000, 6)), TokenOut: protocol.Address(n.Wrapped.Address.Hex())}, &offers)
	i := slices.IndexFunc(offers.Offers, func(o protocol.Offer) bool { return o.Routing == "DUTCH_V2" })
	if i < 0 {
		t.Fatalf("no auction: %+v", offers)
	}
	var r protocol.Review
	v.must("swap.prepare", protocol.PrepareParams{Offer: offers.Offers[i].ID}, &r)
	var made protocol.Order
	var o protocol.OrderResult
	v.must("swap.execute", protocol.ExecuteParams{Request: requests.NewUUID(), Digest: r.Digest, Acknowledge: codes(r)}, &made)
	if !await.Holds(time.Minute, func() bool {
		v.must("swap.order", protocol.OrderParams{Order: made.ID}, &o)
		return o.Order.State == "filled"
	}) {
		t.Fatalf("it is %s", o.Order.State)
	}
	hub, err := dialNetworks(v.d.cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer hub.Close()
	providers, err := openProviders(v.d.cfg, func(context.Context, string) (string, error) { return "", nil }, providerDeps{})
	if err != nil {
		t.Fatal(err)
	}
	w := live.World{Nodes: hub, Providers: providers, Provider: swap.DEX, Network: 1, Sandbox: true}
	found := live.Examine(t.Context(), w).Rows
	if !slices.ContainsFunc(found, func(row live.Row) bool { return strings.HasPrefix(row.What, "a fill by ") && row.Verdict == live.Works }) {
		t.Errorf("the fill is not read back: %v", found)
	}
}

// liar starts a proxy in front of an RPC host that tells some lies, and returns its URL
// in the form of the configuration.
func liar(t *testing.T, rpc string, lies []lie) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		answer, err := http.Post(rpc, "application/json", bytes.NewReader(body))
		if err != nil {
			panic(http.ErrAbortHandler)
		}
		defer func() { _ = answer.Body.Close() }()
		text, _ := io.ReadAll(answer.Body)
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(bent(body, text, lies))
	}))
	t.Cleanup(s.Close)
	return fmt.Sprintf("%q", s.URL)
}

// bent returns the answer to a question with the lies applied.
func bent(question, answer []byte, lies []lie) []byte {
	var asked struct{ Method string }
	var said struct {
		ID     json.RawMessage `json:"id"`
		Result json.RawMessage `json:"result"`
	}
	if json.Unmarshal(question, &asked) != nil || json.Unmarshal(answer, &said) != nil {
		return answer
	}
	lower := strings.ToLower(string(question))
	for _, l := range lies {
		if l.method == asked.Method && !slices.ContainsFunc(l.about, func(what string) bool { return !strings.Contains(lower, what) }) {
			answer = fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"result":%s}`, said.ID, l.bend(string(said.Result)))
		}
	}
	return answer
}

func mustJSON(t *testing.T, v any) []byte {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
