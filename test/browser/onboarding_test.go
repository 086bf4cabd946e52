//go:build browser

package browser

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"swapkeep/sandbox"
	"swapkeep/test/await"
	"swapkeep/test/browser/desk"
	"swapkeep/test/browser/ui"
)

// TestOnboarding creates a wallet in the tab that the popup opens, and imports others.
func TestOnboarding(t *testing.T) {
	each(t, func(t *testing.T, kind ui.Kind) {
		d := desk.New(t, desk.Options{})
		b := d.Browser(kind)
		popup := b.Open("popup.html")
		popup.Click("button", "Create wallet")
		awaitView(t, popup, "popup.html?view=tab#create")

		p := b.Open("popup.html?view=tab#create")
		p.Find("heading", "Create a wallet")
		for _, refused := range []struct{ password, repeat, says string }{
			{"short", "short", "Use at least 10 characters."},
			{desk.Password, desk.Password + "x", "The passwords do not match."},
			{"password123", "password123", "too easy to guess"},
		} {
			p.Fill("Password", refused.password)
			p.Fill("Repeat password", refused.repeat)
			p.Click("button", "Create wallet")
			p.AwaitText(refused.says)
		}
		p.Fill("Password", desk.Password)
		p.Fill("Repeat password", desk.Password)
		p.Click("button", "Create wallet")
		p.Find("heading", "Your recovery words")
		words := wordsOf(p)
		if len(words) != 12 || len(wordsLeft(p, words)) == 0 {
			t.Fatalf("the words are %d", len(words))
		}
		confirmWords(t, p, words)
		p.Find("radiogroup", "Swap provider")
		if left := wordsLeft(p, words); len(left) > 3 { // some of the words occur on any page
			t.Errorf("%d of the words are still there", len(left))
		}
		if s := d.Status(); s.Keys != "unlocked" {
			t.Errorf("the keys are %s", s.Keys)
		}
		popup.Find("radiogroup", "Swap provider") // the window from before

		importAnother(t, b)
		importKeyFile(t, b)
		popup.Click("button", "/^Account: /")
		popup.AwaitText("Wallet 1", "published", "from a file")
		if wallets := popup.All("button", "/^Remove /"); len(wallets) != 3 {
			t.Errorf("there are %v", wallets)
		}
	})
}

// awaitView waits until the extension has a page open.
func awaitView(t *testing.T, p *ui.Page, path string) {
	t.Helper()
	var views []string
	if !await.Holds(10*time.Second, func() bool { views = openViews(p); return slices.Contains(views, path) }) {
		t.Fatalf("open are %q", views)
	}
}

// confirmWords types the three words that are asked for, one of them wrong at first.
func confirmWords(t *testing.T, p *ui.Page, words []string) {
	t.Helper()
	p.Click("button", "I wrote them down")
	p.Find("heading", "Check your words")
	asked := p.All("textbox", "/^Word /")
	if len(asked) != 3 {
		t.Fatalf("asked are %v", asked)
	}
	for i, field := range asked {
		word := wordAt(t, field.Name, words)
		if i == 1 {
			word = "wrong"
		}
		p.Fill(field.Name, word)
	}
	p.Click("button", "Continue")
	p.AwaitText("This is not word " + strings.TrimPrefix(asked[1].Name, "Word "))
	p.Fill(asked[1].Name, wordAt(t, asked[1].Name, words))
	p.Click("button", "Continue")
}

// wordAt returns the word that a field such as "Word 7" asks for.
func wordAt(t *testing.T, field string, words []string) string {
	t.Helper()
	n, err := strconv.Atoi(strings.TrimPrefix(field, "Word "))
	if err != nil || n < 1 || n > len(words) {
		t.Fatalf("asked is %q", field)
	}
	return words[n-1]
}

// importAnother is refused a key that is not the sandbox's, and imports the published
// words.
func importAnother(t *testing.T, b *ui.Browser) {
	t.Helper()
	p := b.Open("popup.html?view=tab#import")
	p.Choose("Import from", "Private key")
	p.Fill("Private key", strings.Repeat("5", 64))
	p.Fill("Password", desk.Password)
	p.Click("button", "Import wallet")
	p.AwaitText("The sandbox accepts only its own keys")
	p.Choose("Import from", "Recovery words")
	p.Fill("Recovery words", "test test test")
	p.Click("button", "Import wallet")
	p.AwaitText("you entered 3.")
	p.Fill("Recovery words", sandbox.Mnemonic)
	p.Fill("Name", "published")
	p.Click("button", "Import wallet")
	p.Find("radiogroup", "Swap provider")
	p.Close()
}

// importKeyFile imports a key file, first with a wrong password of the file. Its key is the
// sixteenth of the published words.
func importKeyFile(t *testing.T, b *ui.Browser) {
	t.Helper()
	p := b.Open("popup.html?view=tab#import")
	p.Choose("Import from", "Key file")
	for _, file := range []struct{ name, password, says string }{
		{"not-a-key-file.json", "", "This is not a key file"},
		{"public-test-key.json", "a wrong one", "Wrong key file password"},
		{"public-test-key.json", "password of a public test key", ""},
	} {
		path, err := filepath.Abs(filepath.Join("testdata", file.name))
		if err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		p.Fill("Key file text", "typed before") // to notice that the same file is read again
		p.File("Choose file", path)
		p.Await("textbox", "Key file text", "read", func(e ui.Element) bool { return e.Value == string(text) })
		p.Fill("Key file password", file.password)
		p.Fill("Name", "from a file")
		p.Fill("Password", desk.Password)
		p.Click("button", "Import wallet")
		if file.says != "" {
			p.AwaitText(file.says)
		}
	}
	p.Find("radiogroup", "Swap provider")
	p.Close()
}

// TestUnlock covers wrong passwords, and all windows locking together, by hand and by time.
func TestUnlock(t *testing.T) {
	each(t, func(t *testing.T, kind ui.Kind) {
		d := desk.New(t, desk.Options{Faults: true})
		d.Wallet()
		b := d.Browser(kind)
		p, q := b.Open("popup.html"), b.Open("popup.html")
		for wrong := range 3 {
			p.Fill("Password", "wrong password")
			p.Press("Enter")
			p.Await("textbox", "Password", "empty again", func(e ui.Element) bool { return e.Value == "" && e.Focused })
			p.AwaitText("Wrong password")
			if field := p.Find("textbox", "Password"); !field.Invalid {
				t.Errorf("after %d wrong ones the field is %+v", wrong+1, field)
			}
		}
		for try := 0; ; try++ { // the first wait is short enough to be missed on a busy machine; each is longer
			p.Fill("Password", "wrong password")
			p.Press("Enter")
			if await.Holds(2*time.Second, func() bool {
				wait := p.All("button", "/^Wait [0-9]+ s$/")
				return len(wait) == 1 && wait[0].Disabled && strings.Contains(p.VisibleText(), "Too many wrong passwords")
			}) {
				break
			}
			if try == 3 {
				t.Fatal("after 7 wrong passwords no wait was seen")
			}
		}
		p.Await("button", "Unlock", "back", func(e ui.Element) bool { return e.Disabled }) // disabled while the password is empty
		unlock(p)
		q.Find("radiogroup", "Swap provider")

		q.Click("button", "Lock the wallet")
		for _, window := range []*ui.Page{p, q} {
			window.AwaitText("Unlock your wallet", "Your keys are locked on this computer.")
		}
		unlock(q)
		d.SetClock(time.Hour)
		lookAtClock(q, "5m")
		for _, window := range []*ui.Page{p, q} {
			window.AwaitText("Unlock your wallet", "It locked automatically")
		}
		q.Fill("Password", desk.Password)
		q.Press("Enter")
		wordsGoWithLock(t, b, func() {
			d.SetClock(2 * time.Hour)
			lookAtClock(q, "6m")
		})
	})
}

// lookAtClock makes the vault check its clock now, instead of within half a minute: it does
// so when the auto-lock time is set. If it has locked meanwhile the call is refused, which
// is as good.
func lookAtClock(p *ui.Page, after string) {
	p.Eval(fmt.Sprintf(`new Promise((looked) => {
		const port = chrome.runtime.connect({ name: "shell" });
		port.onMessage.addListener((m) => m.id === 1 && (port.disconnect(), looked()));
		port.postMessage({ id: 1, method: "settings.set", params: { key: "keys.auto_lock", value: %q } });
	})`, after), nil)
}

// wordsGoWithLock creates a wallet and lets it lock itself while its words are shown.
func wordsGoWithLock(t *testing.T, b *ui.Browser, lock func()) {
	t.Helper()
	p := b.Open("popup.html?view=tab#create")
	p.Fill("Name", "second")
	p.Fill("Password", desk.Password)
	p.Click("button", "Create wallet")
	p.Find("heading", "Your recovery words")
	words := wordsOf(p)
	lock()
	p.Find("heading", "The wallet was locked")
	p.AwaitText("“second”", "send nothing to it until you have them", "The sandbox does not export recovery words.")
	if left := wordsLeft(p, words); len(words) != 12 || len(left) > 3 { // some of the words occur on any page
		t.Errorf("%d of %d words are still there", len(left), len(words))
	}
	p.Accessible("words-locked")
	p.Click("button", "Continue")
	p.AwaitText("Unlock your wallet", "It locked automatically")
}
