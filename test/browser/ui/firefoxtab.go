//go:build linux

package ui

import (
	"encoding/base64"
	"encoding/json"
	"errors"
)

// firefoxTab is a tab, alone in its window.
type firefoxTab struct {
	f      *firefox
	handle string
	hidden bool
	inner  uint64 // the document that told belongs to
	told   entryCounts
}

// do switches to the tab and calls.
func (t *firefoxTab) do(call func() error) error {
	t.f.mu.Lock()
	defer t.f.mu.Unlock()
	if err := t.f.switchTo(t.handle); err != nil {
		return err
	}
	return call()
}

func (t *firefoxTab) run(js string) (raw json.RawMessage, err error) {
	var text *string
	err = t.do(func() error { return t.f.script(false, "return "+asJSON(js), &text) })
	if err == nil && text == nil {
		err = errors.New("the expression has no value")
	}
	if err != nil {
		return nil, err
	}
	return json.RawMessage(*text), nil
}

func (t *firefoxTab) reload() error {
	return reloaded(t, func() error { return t.do(func() error { return t.f.call("WebDriver:Refresh", nil, nil) }) })
}

func (t *firefoxTab) act(source string, more params, actions []params) error {
	sequence := params{"type": source, "id": source, "actions": actions}
	for k, v := range more {
		sequence[k] = v
	}
	return t.do(func() error {
		return t.f.call("WebDriver:PerformActions", params{"actions": []params{sequence}}, nil)
	})
}

func (t *firefoxTab) click(x, y float64) error {
	return t.act("pointer", params{"parameters": params{"pointerType": "mouse"}}, []params{
		{"type": "pointerMove", "x": int(x), "y": int(y), "duration": 0, "origin": "viewport"},
		{"type": "pointerDown", "button": 0},
		{"type": "pointerUp", "button": 0},
	})
}

func (t *firefoxTab) choose(_, _ float64, path string) error {
	return t.do(func() error {
		var found struct{ Value map[string]string }
		if err := t.f.call("WebDriver:FindElement", params{"using": "css selector", "value": "input[type=file]"}, &found); err != nil {
			return err
		}
		for _, id := range found.Value { // keyed by the protocol's name for an element
			return t.f.call("WebDriver:ElementSendKeys", params{"id": id, "text": path}, nil)
		}
		return errors.New("there is no field for files")
	})
}

func (t *firefoxTab) press(strokes []stroke) error {
	var actions []params
	add := func(kind string, k key) { actions = append(actions, params{"type": kind, "value": string(k.point)}) }
	for _, s := range strokes {
		for _, m := range s.held {
			add("keyDown", m.key)
		}
		add("keyDown", s.key)
		add("keyUp", s.key)
		for i := len(s.held) - 1; i >= 0; i-- {
			add("keyUp", s.held[i].key)
		}
	}
	return t.act("key", nil, actions)
}

// show sets a tab's viewport and preferences, for this tab only, except for reduced motion,
// which applies to the whole browser.
const show = `
	const [width, height, scheme, motion] = arguments;
	const window = Services.wm.getMostRecentWindow("navigator:browser"), browser = window.gBrowser.selectedBrowser;
	window.resizeTo(Math.max(width + 100, 700), Math.max(height + 300, 700));
	Object.assign(browser.style, { width: width + "px", height: height + "px", minWidth: "0", minHeight: "0", flex: "none", alignSelf: "start", justifySelf: "start" });
	browser.browsingContext.prefersColorSchemeOverride = scheme;
	Services.prefs.setIntPref("ui.prefersReducedMotion", motion === "reduce" ? 1 : 0);`

func (t *firefoxTab) look(l Look) error {
	return t.do(func() error { return t.f.script(true, show, nil, l.Width, l.Height, l.scheme(), l.motion()) })
}

// veil puts another tab of the window in front, or removes it.
const veil = `
	const [hidden] = arguments;
	const { gBrowser } = Services.wm.getMostRecentWindow("navigator:browser");
	if (hidden) {
		gBrowser.selectedTab = gBrowser.addTab("about:blank", { triggeringPrincipal: Services.scriptSecurityManager.getSystemPrincipal() });
	} else {
		gBrowser.removeTab(gBrowser.selectedTab, { animate: false });
		gBrowser.selectedTab = gBrowser.tabs[0];
	}`

func (t *firefoxTab) hide(hidden bool) error {
	if hidden == t.hidden {
		return nil
	}
	t.hidden = hidden
	return t.do(func() error { return t.f.script(true, veil, nil, hidden) })
}

const copied = `
	const it = Cc["@mozilla.org/widget/transferable;1"].createInstance(Ci.nsITransferable), data = {};
	it.init(null);
	it.addDataFlavor("text/plain");
	Services.clipboard.getData(it, Services.clipboard.kGlobalClipboard);
	it.getTransferData("text/plain", data);
	return data.value.QueryInterface(Ci.nsISupportsString).data;`

func (t *firefoxTab) clipboard() (text string, err error) {
	err = t.do(func() error { return t.f.script(true, copied, &text) })
	return text, err
}

func (t *firefoxTab) picture() ([]byte, error) {
	var shot struct{ Value string }
	err := t.do(func() error { return t.f.call("WebDriver:TakeScreenshot", params{"full": false, "hash": false}, &shot) })
	if err != nil {
		return nil, err
	}
	return base64.StdEncoding.DecodeString(shot.Value)
}

// heard returns nothing for a tab that has closed itself; its scripts' errors are then
// reported as the background's.
func (t *firefoxTab) heard() (fresh []Entry, err error) {
	err = t.do(func() error {
		var r struct{ Value logged }
		if err := t.f.call("WebDriver:ExecuteScript", params{"script": errorsLogged, "args": []any{t.f.origin, false}, "sandbox": "system"}, &r); err != nil {
			return err
		}
		if r.Value.Inner != t.inner { // another document
			t.inner, t.told = r.Value.Inner, entryCounts{}
		}
		fresh = t.told.without(r.Value.Entries)
		t.told.add(fresh)
		t.f.told.add(fresh)
		return nil
	})
	if errors.Is(err, errNoWindow) {
		return nil, nil
	}
	return fresh, err
}

func (t *firefoxTab) close() error {
	return t.do(func() error {
		t.f.at = ""
		return t.f.call("WebDriver:CloseWindow", nil, nil)
	})
}
