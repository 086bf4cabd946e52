//go:build browser

package browser

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"swapkeep/test/browser/ui"
)

// TestScreens wants every screen and state to be accessible in both themes, and to
// fit narrow and wide windows, in both languages. The orders' own screens are the same
// bytes in Firefox, and take the longest to reach.
func TestScreens(t *testing.T) {
	seen := map[ui.Kind][]string{ui.Chromium: {"beginning", "wallet", "orders"}, ui.Firefox: {"beginning", "wallet"}}
	each(t, func(t *testing.T, kind ui.Kind) {
		(&tour{t, kind, func(p *ui.Page, name string) { inspect(t, p, name) }}).past(seen[kind]...)
	})
}

func inspect(t *testing.T, p *ui.Page, name string) {
	t.Helper()
	for _, theme := range []string{ui.Dark, ui.Light} {
		p.Theme(theme)
		p.Accessible(name)
	}
	for _, width := range []int{600, 360} {
		p.Size(width, 600)
		fits(t, p, fmt.Sprintf("%s at %d px", name, width))
	}
	if p.Browser().Kind() == ui.Chromium {
		inGerman(p, func() { fits(t, p, name+" in German") })
		inTab(p, func() { fits(t, p, name+" in a tab") })
	}
	p.Size(400, 600)
}

// inTab has the page look as it does in a tab of a large window.
func inTab(p *ui.Page, look func()) {
	const view = "document.documentElement.dataset.view"
	var before *string
	p.Eval(view+" ?? null", &before)
	p.Size(1200, 800)
	p.Eval(view+` = "tab"`, nil)
	look()
	if before == nil {
		p.Eval("delete "+view, nil)
	}
}

// fits fails the test where something that scrolls, or a row in it, has more in it than
// it is wide.
func fits(t *testing.T, p *ui.Page, name string) {
	t.Helper()
	var wide []string
	p.Eval(`[...document.querySelectorAll("html, main, header, nav, dialog[open], :is(main, dialog[open], header, nav) :is(.row, .card, dl, li, button, p, h1, h2)")]
		.filter((e) => e.scrollWidth > e.clientWidth && getComputedStyle(e).overflowX !== "hidden" && getComputedStyle(e).display !== "inline" && e.checkVisibility() && !e.matches(".hidden, .hidden *"))
		.map((e) => e.cloneNode(false).outerHTML + " " + e.scrollWidth + " > " + e.clientWidth)`, &wide)
	for _, e := range wide {
		t.Errorf("%s, %s: too wide is %s", p.Browser().Kind(), name, e)
	}
}

// inGerman has the page speak it while it is looked at. Every window follows the
// setting; of a window that is not unlocked the next one does.
func inGerman(p *ui.Page, look func()) {
	var wallet bool
	p.Eval(`document.querySelector("nav") !== null`, &wallet)
	if !wallet {
		return
	}
	for _, language := range []string{"de", "en"} {
		p.Eval(fmt.Sprintf(`new Promise((done) => {
			const port = chrome.runtime.connect({ name: "shell" });
			port.postMessage({ id: 1, method: "settings.set", params: { key: "ui.language", value: %[1]q } });
			const look = setInterval(() => document.documentElement.lang === %[1]q && (clearInterval(look), port.disconnect(), done()), 10);
		})`, language), nil)
		if language == "de" {
			look()
		}
	}
}

// TestScreenshots takes a picture of every screen and state in both themes, of the
// popup's size, into the folder that SWAPKEEP_SCREENSHOTS names.
func TestScreenshots(t *testing.T) {
	dir := os.Getenv("SWAPKEEP_SCREENSHOTS")
	if dir == "" {
		t.Skip("SWAPKEEP_SCREENSHOTS names no folder")
	}
	number := 0
	(&tour{t, ui.Chromium, func(p *ui.Page, name string) {
		number++
		name = fmt.Sprintf("%02d-%s", number, name)
		for _, theme := range []string{ui.Dark, ui.Light} {
			p.Theme(theme)
			shoot(t, p, filepath.Join(dir, name+"-"+theme))
		}
		if german[name[3:]] {
			inGerman(p, func() { shoot(t, p, filepath.Join(dir, name+"-german")) })
		}
		if scroll(p, "e.scrollHeight") {
			shoot(t, p, filepath.Join(dir, name+"-end"))
			scroll(p, "0")
		}
	}}).past("beginning", "updates", "wallet", "orders")
}

// german are screens of which there is a picture in German too.
var german = map[string]bool{
	"form-dex": true, "review-approval": true, "approval": true, "networks": true, "settings-providers": true,
	"order-under-way": true, "order-needs-consent": true, "order-failed": true, "activity": true,
}

// shoot copies a picture to a path.
func shoot(t *testing.T, p *ui.Page, path string) {
	t.Helper()
	b, err := os.ReadFile(p.Screenshot(filepath.Base(path)))
	if err == nil {
		err = os.MkdirAll(filepath.Dir(path), 0o755)
	}
	if err == nil {
		err = os.WriteFile(path+".png", b, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// scroll scrolls what is in front to an expression of it, e, and reports whether that
// is far from its top.
func scroll(p *ui.Page, to string) (far bool) {
	p.Eval(`[document.querySelector("dialog[open]") ?? document.querySelector("main")].map((e) => { e.scrollTop = `+to+`; return e.scrollTop > 40; })[0]`, &far)
	return far
}

// fileNameOf makes a title part of a file's name.
func fileNameOf(title string) string {
	return strings.ReplaceAll(strings.ToLower(title), " ", "-")
}
