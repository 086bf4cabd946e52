//go:build browser

package ui_test

import (
	"flag"
	"fmt"
	"image/png"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"swapkeep/test/await"
	"swapkeep/test/browser/ui"
)

// All packages below test/browser get the programs under test; this one ignores them.
var _ = flag.String("bin", "", "not used: pages only, no host")

// each runs a test in both browsers.
func each(t *testing.T, test func(*testing.T, ui.Kind)) {
	t.Helper()
	for _, kind := range ui.Kinds() {
		t.Run(string(kind), func(t *testing.T) { test(t, kind) })
	}
}

// unpacked assembles the test page's extension for a browser.
func unpacked(t *testing.T, kind ui.Kind) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("testdata/extension")); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(filepath.Join(dir, string(kind)+".json"), filepath.Join(dir, "manifest.json")); err != nil {
		t.Fatal(err)
	}
	return dir
}

func setup(t *testing.T, kind ui.Kind) ui.Setup {
	t.Helper()
	home := t.TempDir()
	return ui.Setup{
		Kind: kind, Profile: filepath.Join(home, "profile"), Extension: unpacked(t, kind), ScreenshotDir: t.ArtifactDir(),
		Env: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home},
	}
}

func open(t *testing.T, kind ui.Kind) *ui.Page {
	t.Helper()
	began := time.Now()
	b := ui.Start(t, setup(t, kind))
	started := time.Since(began)
	p := b.Open("popup.html")
	t.Logf("started in %s, page there after %s more", started.Round(time.Millisecond), (time.Since(began) - started).Round(time.Millisecond))
	return p
}

func TestMouse(t *testing.T) {
	each(t, func(t *testing.T, kind ui.Kind) {
		p := open(t, kind)
		p.AwaitText("A page for the harness", "kept: nothing")
		p.AwaitNoText("Unseen")
		if !p.Disabled("button", "Review swap") {
			t.Error("the button is not disabled")
		}
		p.Fill("You pay", "9")
		p.Fill("You pay", "1.25")
		p.Fill("Password", "Grüße & +a")
		if pay, word := p.Value("You pay"), p.Value("Password"); pay != "1.25" || word != "Grüße & +a" {
			t.Errorf("the fields hold %q and %q", pay, word)
		}
		p.Choose("Network", "Arbitrum One")
		p.AwaitText("Network Arbitrum One")
		p.Choose("Network", "Base")
		p.Choose("Slippage", "0.1 %")
		p.Choose("Token ETH", "USDC")
		if got := p.Text("button", "Token USDC"); got != "USDC" {
			t.Errorf("the token is %q", got)
		}
		p.Click("checkbox", "I have read it")
		p.Click("button", "Review swap")
		p.In("dialog", "Review").AwaitText("Is this right?")
		if far := p.All("button", "Far away"); len(far) != 0 {
			t.Error("what is behind a modal dialog was found")
		}
		p.In("dialog", "Review").Click("button", "Confirm")
		p.AwaitAbsent("dialog", "Review")
		p.AwaitText("Accepted 1.25 on Base, by a person")
		p.In("region", "Second").Click("button", "Copy")
		p.AwaitText("Copied Second")
		if got := p.Clipboard(); got != "Second" {
			t.Errorf("the clipboard holds %q", got)
		}
		p.Click("button", "/^Far/")
		p.AwaitText("Reached")
		p.Click("button", "Late")
		p.For(5 * time.Second).AwaitText("Done")
		p.Reload()
		p.AwaitText("kept: 1.25")
		radio := p.Find("radio", "0.5 %")
		if field := p.Find("textbox", "You pay"); !radio.Checked || field.Description != "in whole coins" {
			t.Errorf("the form is %+v, %+v", radio, field)
		}
	})
}

func TestKeyboardAlone(t *testing.T) {
	each(t, func(t *testing.T, kind ui.Kind) {
		p := open(t, kind)
		if e := p.Focused(); e.Role != "" {
			t.Errorf("%s has the focus", e)
		}
		p.Reach("Tab", "textbox", "You pay")
		p.Type("0.5")
		p.Press("ArrowLeft", "Backspace", "Backspace", "1")
		if got := p.Value("You pay"); got != "15" {
			t.Errorf("typed %q", got)
		}
		p.Press("Tab", "Shift+Tab")
		if e := p.Focused(); e.Name != "You pay" || !e.Focused {
			t.Errorf("back at %s", e)
		}
		p.Reach("Tab", "combobox", "Network")
		p.Press("ArrowDown")
		p.AwaitText("Network Base")
		p.Reach("Tab", "radio", "0.5 %")
		p.Press("ArrowUp")
		p.Await("radio", "0.1 %", "checked", func(e ui.Element) bool { return e.Checked })
		p.Reach("Tab", "checkbox", "")
		p.Press("Space")
		p.Reach("Tab", "button", "Review swap")
		p.Press("Enter")
		p.In("dialog", "Review").AwaitText("Is this right?")
		p.Press("Escape")
		p.AwaitAbsent("dialog", "Review")
		p.AwaitText("Shift+Tab ", "Escape")
		p.AwaitNoText("fake")
		p.Reach("Shift+Tab", "textbox", "You pay")
		p.Press("Enter")
		p.Find("dialog", "Review")
	})
}

func TestLooks(t *testing.T) {
	each(t, func(t *testing.T, kind ui.Kind) {
		p := open(t, kind)
		background := func(want string) {
			t.Helper()
			var is string
			if p.Eval("getComputedStyle(document.body).backgroundColor", &is); is != want {
				t.Errorf("the background is %s, want %s", is, want)
			}
		}
		background("rgb(255, 255, 255)")
		sized(t, p.Screenshot("light"), 400, 600)
		p.Theme(ui.Dark)
		background("rgb(17, 17, 17)")
		sized(t, p.Screenshot("dark"), 400, 600)
		p.Theme(ui.Light)
		background("rgb(255, 255, 255)")
		p.ReducedMotion(true)
		p.ReducedMotion(false)
		for _, width := range []int{360, 1280} {
			p.Size(width, 800)
			sized(t, p.Screenshot(fmt.Sprint("deeper/w", width)), width, 800)
		}
		p.Size(600, 600)
		p.Click("checkbox", "")
		p.Click("button", "Review swap")
		sized(t, p.Screenshot("dialog.png"), 600, 600)
		p.Hide()
		p.Unhide()
		p.Click("button", "Confirm")
	})
}

func sized(t *testing.T, path string, width, height int) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	if size, err := png.DecodeConfig(f); err != nil || size.Width != width || size.Height != height {
		t.Errorf("%s is %+v, %v", path, size, err)
	}
}

// TestConsole checks that every kind of error is reported, once, and for the right page.
func TestConsole(t *testing.T) {
	each(t, func(t *testing.T, kind ui.Kind) {
		p := open(t, kind)
		other := p.Browser().Open("popup.html")
		for how, word := range map[string]string{"throw": "nobody catches this", "log": "logged 7", "policy": "Content"} {
			p.Eval("fail("+quoted(how)+")", nil)
			heard := awaitEntries(p.Console)
			if len(heard) == 0 || !strings.Contains(heard[0].Text, word) {
				t.Errorf("%s: heard %q", how, heard)
			}
			time.Sleep(50 * time.Millisecond) // a policy violation is reported once for each policy that forbids it
			p.Console()
			if again := p.Console(); len(again) != 0 {
				t.Errorf("%s: told again: %v", how, again)
			}
		}
		p.Eval("fail('background')", nil)
		if heard := awaitEntries(p.Browser().Console); len(heard) != 1 || !strings.Contains(heard[0].Text, "the background failed") {
			t.Errorf("of the background: %v", heard)
		}
		if heard := other.Console(); len(heard) != 0 {
			t.Errorf("another page is blamed: %v", heard)
		}
	})
}

func quoted(s string) string { return "'" + s + "'" }

func awaitEntries(take func() []ui.Entry) (heard []ui.Entry) {
	await.Holds(10*time.Second, func() bool { heard = take(); return len(heard) > 0 })
	return heard
}

func TestAxe(t *testing.T) {
	each(t, func(t *testing.T, kind ui.Kind) {
		p := open(t, kind)
		p.Accessible("as it is")
		p.Eval("document.querySelector('label').remove()", nil)
		all := p.Axe()
		if !slices.ContainsFunc(all, func(v ui.Violation) bool { return v.ID == "label" && len(v.Nodes) == 1 }) {
			t.Errorf("a field without its label: %v", all)
		}
	})
}

// TestTwoWindows works in two pages alternately; both get mouse and key events.
func TestTwoWindows(t *testing.T) {
	each(t, func(t *testing.T, kind ui.Kind) {
		p := open(t, kind)
		q := p.Browser().Open("popup.html?view=tab")
		for i, page := range []*ui.Page{p, q, p, q} {
			page.Fill("You pay", fmt.Sprint(i))
			page.Press("Tab")
			if e := page.Focused(); e.Name != "Password" {
				t.Errorf("%s has the focus", e)
			}
		}
		if a, b := p.Value("You pay"), q.Value("You pay"); a != "2" || b != "3" {
			t.Errorf("the pages hold %s and %s", a, b)
		}
		var search string
		if q.Eval("location.search", &search); search != "?view=tab" {
			t.Errorf("the query is %q", search)
		}
		q.Close()
		itself := p.Browser().Open("popup.html")
		itself.Eval("setTimeout(close)", nil)
		p.Click("button", "Late")
		p.AwaitText("Done")
	})
}

// TestKilledAndStartedAgain checks that the extension's storage survives a kill.
func TestKilledAndStartedAgain(t *testing.T) {
	each(t, func(t *testing.T, kind ui.Kind) {
		s := setup(t, kind)
		s.Language = "de"
		b := ui.Start(t, s)
		p := b.Open("popup.html")
		p.AwaitText("Guten Tag")
		p.Eval("(globalThis.browser ?? chrome).storage.local.set({ kept: 'this' })", nil)
		p.Reload()
		p.AwaitText("kept: this")
		b.Kill()
		s.Language = ""
		p = ui.Start(t, s).Open("popup.html")
		p.AwaitText("Hello", "kept: this")
	})
}

// TestChromiumOnly covers what Firefox cannot do.
func TestChromiumOnly(t *testing.T) {
	b := ui.Start(t, setup(t, ui.Chromium))
	var answer int
	if b.Background("answer()", &answer); answer != 42 {
		t.Errorf("the worker answers %d", answer)
	}
	p := b.Popup("popup.html")
	p.AwaitText("A page for the harness")
	p.Click("checkbox", "I have read it")
	p.Click("button", "Review swap")
	p.Find("dialog", "Review")
	p.Screenshot("popup")
	p.Close()
}

// A failing test records the message of a failure.
type failing struct {
	*testing.T
	words *string
}

func (f failing) Fatalf(format string, args ...any) {
	*f.words = fmt.Sprintf(format, args...)
	runtime.Goexit()
}

// TestFailures checks that each failure says what is wrong and what is there instead.
func TestFailures(t *testing.T) {
	short := 300 * time.Millisecond
	cases := map[string]struct {
		act  func(*ui.Page)
		says []string
	}{
		"missing":   {func(p *ui.Page) { p.Click("button", "Nowhere") }, []string{`no button "Nowhere"`, `button "Late"`}},
		"ambiguous": {func(p *ui.Page) { p.Click("button", "Copy") }, []string{`2 elements are button "Copy"`}},
		"hidden":    {func(p *ui.Page) { p.Find("button", "Unseen") }, []string{`no button "Unseen"`}},
		"disabled":  {func(p *ui.Page) { p.Click("button", "Review swap") }, []string{"is disabled"}},
		"covered":   {func(p *ui.Page) { p.Click("button", "Covered") }, []string{`button "Covered" is covered by <`}},
		"unsaid":    {func(p *ui.Page) { p.AwaitText("Hello", "Good bye") }, []string{`no "Good bye"`}},
		"said":      {func(p *ui.Page) { p.AwaitNoText("Hello") }, []string{`there is "Hello"`}},
		"no option": {func(p *ui.Page) { p.Choose("Network", "Atlantis") }, []string{`"Arbitrum One"`}},
		"no key":    {func(p *ui.Page) { p.Press("Hyper+x") }, []string{"Hyper"}},
		"no scope":  {func(p *ui.Page) { p.In("dialog", "Review").AwaitText("Hello") }, []string{`no dialog "Review"`}},
		"unreached": {func(p *ui.Page) { p.Reach("Tab", "button", "Unseen") }, []string{`the focus passed [`, `textbox "You pay"`}},
		"no value":  {func(p *ui.Page) { p.Eval("nothing.at.all", nil) }, []string{"nothing is not defined"}},
	}
	each(t, func(t *testing.T, kind ui.Kind) {
		var words string
		s := setup(t, kind)
		s.Log = func() string { return "and so the log ends" }
		p := ui.Start(failing{t, &words}, s).Open("popup.html").For(short)
		p.AwaitText("kept:")
		for name, c := range cases {
			words = ""
			var done sync.WaitGroup
			done.Go(func() { c.act(p) })
			done.Wait()
			_, picture, _ := strings.Cut(words, "picture: ")
			picture, _, _ = strings.Cut(picture, "\n")
			sized(t, picture, 400, 600)
			for _, say := range append(c.says, "the page shows: A page for the harness", "and so the log ends") {
				if !strings.Contains(words, say) {
					t.Errorf("%s: %q is not in: %s", name, say, words)
				}
			}
		}
	})
}

// TestNames checks that our roles and names agree with Chromium's.
func TestNames(t *testing.T) {
	p := open(t, ui.Chromium)
	p.Click("checkbox", "I have read it")
	for _, role := range []string{"button", "textbox", "checkbox", "radio", "radiogroup", "combobox", "heading", "region", "form"} {
		var ours []string
		for _, e := range p.All(role, "") {
			ours = append(ours, e.Name)
		}
		theirs := p.ComputedNames(role) // in an order of its own
		slices.Sort(ours)
		slices.Sort(theirs)
		if !slices.Equal(ours, theirs) {
			t.Errorf("%s: we read %q, Chromium %q", role, ours, theirs)
		}
	}
}
