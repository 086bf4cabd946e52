package refused

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"swapkeep/rest"
	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common"
)

var (
	account   = common.HexToAddress("0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266")
	recipient = common.HexToAddress("0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC")
)

const (
	key       = "key-of-the-user/+"
	token     = "token-in-the-path"
	host      = "127.0.0.1"
	signature = "0xabababababababababababababababababababababababababababababababababababababababababababababababababababababababababababababababab1c"
	hash      = "0xD4f71fa132a005aa7fc1596fffaea5a168e06a6fc4960d0c3a6f61cc702a6904"
)

// ask makes one recorded call to a server and passes r to the keeper as its result.
func ask(t *testing.T, k *Keeper, body, contentType string, r error) {
	t.Helper()
	s := newServer(t, body, contentType)
	c := client(t, s)
	ctx, done := k.Watch(t.Context(), swap.DEX, account, recipient, account)
	call := rest.Call{Method: http.MethodPost, Path: "/swap/" + strings.ToLower(account.Hex()), Body: []byte(`{"signature":"` + signature + `"}`)}
	var err error
	if contentType == "application/x-ndjson" {
		_, err = c.Stream(ctx, call, func(*rest.Reply, []byte) error { return nil })
	} else {
		_, err = c.Do(ctx, call)
	}
	if err != nil {
		t.Fatal(err)
	}
	done(r)
}

// newServer is a server with one reply.
func newServer(t *testing.T, body, contentType string) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", contentType)
		fmt.Fprint(w, body)
	}))
	t.Cleanup(s.Close)
	return s
}

// client is a client whose base URL contains a secret token.
func client(t *testing.T, s *httptest.Server) *rest.Client {
	t.Helper()
	c, err := rest.New(rest.Config{Name: "dex", Base: s.URL + "/v1/" + token + "/x7", Published: "https://api.example.org/v1", Reach: rest.LoopbackOnly, Secrets: func(context.Context) (http.Header, error) {
		return http.Header{"X-Api-Key": {key}, "Authorization": {"Bearer " + key}}, nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// files returns the names of the kept files and their joined text.
func files(t *testing.T, home string) (names []string, all string) {
	t.Helper()
	list, err := os.ReadDir(filepath.Join(home, Dir))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	for _, e := range list {
		info, err := e.Info()
		if err != nil {
			t.Fatal(err)
		}
		if runtime.GOOS != "windows" && info.Mode() != 0o600 || info.Size() > MaxFile {
			t.Errorf("%s has mode %v and %d bytes", e.Name(), info.Mode(), info.Size())
		}
		b, err := os.ReadFile(filepath.Join(home, Dir, e.Name()))
		if err != nil || !json.Valid(b) || bytes.ContainsFunc(b, func(c rune) bool { return c != '\n' && (c < ' ' || c > '~') }) {
			t.Errorf("%s: %v, or no plain JSON", e.Name(), err)
		}
		names, all = append(names, e.Name()), all+string(b)
	}
	return names, all
}

// TestRedacted: personal data and keys are in no file, in any notation. Equal accounts and
// hashes stay equal, and different ones different.
func TestRedacted(t *testing.T) {
	for _, contentType := range []string{"application/json", "application/x-ndjson"} {
		home := t.TempDir()
		escaped := `\u` + fmt.Sprintf("%04x", key[0]) + key[1:]
		body := `{"swapper":"` + account.Hex() + `","to":"` + recipient.Hex() + `","data":"0x3593564c000000000000000000000000` + strings.ToUpper(account.Hex()[2:]) + signature[2:] + `00",` +
			`"echo":"` + key + `","inURL":"https:\/\/` + host + `\/v1\/` + strings.ToUpper(token) + `?key=` + url.QueryEscape(key) + `","short":"x7 0x7 v1",` +
			`"host":"` + host + `","hidden":"` + escaped + `","signature":"` + signature + `","orderId":"` + hash + `","again":"` + strings.ToLower(hash) + `",` +
			`"text":"<script>` + "\u202e\U0001F600" + `</script>\\u0041"}`
		r := swap.Refuse(swap.Undecodable, "what %s sent with %s and %s to %s is not known", account, key, signature, token)
		r.Field = "data." + token
		ask(t, New(home, "1.2.3", time.Now), body, contentType, r)
		names, all := files(t, home)
		if len(names) != 1 {
			t.Fatalf("kept %v", names)
		}
		lower := strings.ToLower(all)
		for _, secret := range []string{key, signature[2:60], account.Hex()[2:], recipient.Hex()[2:], hash[2:], token, url.QueryEscape(key), "<script>"} {
			if strings.Contains(lower, strings.ToLower(secret)) {
				t.Errorf("%q is in %s", secret, all)
			}
		}
		var a Answer
		if err := json.Unmarshal([]byte(all), &a); err != nil {
			t.Fatal(err)
		}
		first, second := fmt.Sprintf("%040x", firstPlaceholder), fmt.Sprintf("%040x", firstPlaceholder+1)
		x := a.Replies[0]
		if a.Provider != swap.DEX || a.Code != swap.Undecodable || a.Field != "data.[redacted]" || a.Version != "1.2.3" || !strings.Contains(a.Reason, first) ||
			x.Method != "POST" || x.Status != 200 || x.Path != "/swap/0x"+first || x.Cut || strings.Count(x.Body, first) != 2 || strings.Count(x.Body, second) != 1 || !strings.Contains(x.Body, `\\u0041`) || !strings.Contains(x.Body, `"[redacted] 0x7 v1"`) {
			t.Errorf("kept %+v", a)
		}
		if _, after, ok := strings.Cut(x.Body, `"orderId":"`); !ok || strings.Count(x.Body, after[:66]) != 2 {
			t.Errorf("a hash that stood twice is two in %s", x.Body)
		}
	}
}

// TestPart: if only a part of a reply is refused, that refusal is kept.
func TestPart(t *testing.T) {
	home := t.TempDir()
	s := newServer(t, `{"routing":"DUTCH_V9","swapper":"`+account.Hex()+`"}`, "application/json")
	ctx, done := New(home, "1.2.3", time.Now).Watch(t.Context(), swap.DEX, account)
	if _, err := client(t, s).Do(ctx, rest.Call{Method: http.MethodGet, Path: "/quote"}); err != nil {
		t.Fatal(err)
	}
	swap.PartRefused(ctx, nil)
	swap.PartRefused(ctx, swap.Refuse(swap.Undecodable, "another auction"))
	done(nil)
	if names, all := files(t, home); len(names) != 1 || !strings.Contains(all, "DUTCH_V9") || !strings.Contains(all, "another auction") || strings.Contains(strings.ToLower(all), strings.ToLower(account.Hex()[2:])) {
		t.Errorf("kept %v: %s", names, all)
	}
}

// TestReport: secrets and accounts are in no string of the document, in any escaping.
// Hashes, signatures and numbers stay, and the result is ASCII JSON.
func TestReport(t *testing.T) {
	ctx, write := Report(t.Context(), recipient, account)
	if _, err := client(t, newServer(t, `{}`, "application/json")).Do(ctx, rest.Call{Method: http.MethodGet, Path: "/"}); err != nil {
		t.Fatal(err)
	}
	escaped := `\u` + fmt.Sprintf("%04x", key[0]) + key[1:]
	raw := json.RawMessage(`{"` + account.Hex() + `":"` + escaped + `","token":"` + token + `\u202e","id":"` + hash + `","maker":"` + signature + `","amount":7.50}`)
	b, err := write(map[string]any{"how": "at " + host + " for " + account.Hex(), "raw": raw})
	if err != nil {
		t.Fatal(err)
	}
	me := fmt.Sprintf("0x%040x", firstPlaceholder+1)
	want := `{"how":"at ` + host + ` for ` + me + `","raw":{"` + me + `":"[redacted]","token":"[redacted]\u202e","id":"` + hash + `","maker":"` + signature + `","amount":7.50}}`
	if string(b) != want {
		t.Errorf("%s, want %s", b, want)
	}
}

// TestBounds: bodies are cut, a kind is kept again only after a while, and of many kinds
// only the latest stay. Accepted replies and other kinds of refusal are not kept.
func TestBounds(t *testing.T) {
	home, now := t.TempDir(), time.Unix(1_800_000_000, 0)
	k := New(home, "1.2.3", func() time.Time { return now })
	ask(t, k, `{}`, "application/json", swap.Refuse(swap.NoRoute, "no route"))
	ask(t, k, `{}`, "application/json", nil)
	if names, _ := files(t, home); len(names) > 0 {
		t.Errorf("kept %v", names)
	}
	for _, code := range []swap.Code{swap.NotAsAccepted, swap.NotPinned} {
		elsewhere := t.TempDir()
		ask(t, New(elsewhere, "1.2.3", time.Now), `{}`, "application/json", swap.Refuse(code, "another"))
		if names, _ := files(t, elsewhere); len(names) != 1 {
			t.Errorf("%s: kept %v", code, names)
		}
	}
	long := `{"x":"` + strings.Repeat("\u202e\"", 1<<18)
	ask(t, k, long, "application/json", swap.Refuse(swap.ProviderInvalidResponse, "no json"))
	if names, all := files(t, home); len(names) != 1 || !strings.Contains(all, `"cut": true`) {
		t.Errorf("kept %v", names)
	}
	ask(t, k, `{"second":1}`, "application/json", swap.Refuse(swap.ProviderInvalidResponse, "no json"))
	if _, all := files(t, home); strings.Contains(all, "second") {
		t.Error("one of a kind is kept again at once")
	}
	now = now.Add(keepInterval)
	ask(t, k, `{"third":1}`, "application/json", swap.Refuse(swap.ProviderInvalidResponse, "no json"))
	if names, all := files(t, home); len(names) != 1 || !strings.Contains(all, "third") {
		t.Error("one of a kind is not kept anew")
	}
	for i := range maxFiles + 5 {
		r := swap.Refuse(swap.ProviderInvalidResponse, "no json")
		r.Field = fmt.Sprint(i)
		ask(t, k, `{}`, "application/json", r)
	}
	if names, all := files(t, home); len(names) != maxFiles || strings.Contains(all, "third") {
		t.Errorf("%d files are kept", len(names))
	}
}

// TestWriteFails: a reply that could not be written does not stop the next of its kind for
// as long as one that was, but for a while, and one without exchanges not at all.
func TestWriteFails(t *testing.T) {
	home, now := t.TempDir(), time.Unix(1_800_000_000, 0)
	k := New(home, "1.2.3", func() time.Time { return now })
	refusal := swap.Refuse(swap.Undecodable, "no json")
	_, done := k.Watch(t.Context(), swap.DEX)
	done(refusal) // nothing was exchanged
	inTheWay := filepath.Join(home, Dir)
	if err := os.WriteFile(inTheWay, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	ask(t, k, `{"first":1}`, "application/json", refusal)
	if err := os.Remove(inTheWay); err != nil {
		t.Fatal(err)
	}
	ask(t, k, `{"second":1}`, "application/json", refusal)
	if names, _ := files(t, home); len(names) != 0 {
		t.Errorf("kept %v at once after a failure, want none", names)
	}
	now = now.Add(retryInterval)
	ask(t, k, `{"third":1}`, "application/json", refusal)
	if names, all := files(t, home); len(names) != 1 || !strings.Contains(all, "third") {
		t.Errorf("kept %v with %s, want the third reply", names, all)
	}

	k = New(home, "1.2.3", func() time.Time { return now })
	_, done = k.Watch(t.Context(), swap.DEX)
	done(refusal)
	ask(t, k, `{"fourth":1}`, "application/json", refusal)
	if _, all := files(t, home); !strings.Contains(all, "fourth") {
		t.Errorf("kept %s, want the fourth reply: before it nothing was exchanged", all)
	}
}

// FuzzRedact: the file for any reply is ASCII JSON within its limit, without the account.
func FuzzRedact(f *testing.F) {
	f.Add([]byte(`{"a":"` + account.Hex() + `"}`))
	f.Add([]byte("\xff\x00\u2028" + signature + hash))
	f.Add(bytes.Repeat([]byte(`\"`), MaxFile))
	f.Fuzz(func(t *testing.T, body []byte) {
		hide := redaction{secrets: func(text string) string { return text }, accounts: []common.Address{account}}
		b := Answer{Replies: []Reply{{Body: hide.redactAll(string(body))}}}.encode()
		if !json.Valid(b) || len(b) > MaxFile || bytes.ContainsFunc(b, func(c rune) bool { return c != '\n' && (c < ' ' || c > '~') }) {
			t.Fatalf("%d bytes: %q", len(b), b)
		}
		if strings.Contains(strings.ToLower(string(b)), strings.ToLower(account.Hex()[2:])) {
			t.Fatalf("%q has the account", b)
		}
	})
}
