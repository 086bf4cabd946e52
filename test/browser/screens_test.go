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

// TestScreens checks that every screen and state is accessible in both themes, and fits
// narrow and wide windows in both languages. The orders' own screens are the same bytes in
// Firefox and take the longest to reach, so they run in Chromium only.
func TestScreens(t *testing.T) {
	seen := map[ui.Kind][]string{ui.Chromium: {"beginning", "wallet", "orders"}, ui.Firefox: {"beginning", "wallet"}}
	each(t, func(t *testing.T, kind ui.Kind) {
		(&tour{t, kind, func(p *ui.Page, name string) { inspect(t, p, name) }}).visit(seen[kind]...)
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

// inTab makes the page look as in a tab of a large window.
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

// fits fails the test if a scrollable element or a row in it is narrower than its content.
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

// inGerman runs look while the page is in German. In a window that is not unlocked, which
// would not follow the setting, it does nothing.
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

// TestScreenshots takes a picture of every screen and state in both themes, in the popup's
// size, into the directory that SWAPKEEP_SCREENSHOTS names.
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
	}}).visit("beginning", "updates", "wallet", "orders", "held", "outside")
}

// german lists the screens that are pictured in German too.
var german = map[string]bool{
	"form-dex": true, "review-approval": true, "approval": true, "networks": true, "settings-providers": true,
	"order-under-way": true, "order-needs-consent": true, "order-failed": true, "activity": true,
	"review-throwaway": true, "approval-throwaway": true, "order-throwaway": true, "order-throwaway-ended": true, "assets-incoming": true,
}

// shoot takes a screenshot and copies it to a path.
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

// scroll scrolls the front element, e, to an expression, and reports whether that is far
// down.
func scroll(p *ui.Page, to string) (far bool) {
	p.Eval(`[document.querySelector("dialog[open]") ?? document.querySelector("main")].map((e) => { e.scrollTop = `+to+`; return e.scrollTop > 40; })[0]`, &far)
	return far
}

// fileNameOf makes a title part of a file's name.
func fileNameOf(title string) string {
	return strings.ReplaceAll(strings.ToLower(title), " ", "-")
}
