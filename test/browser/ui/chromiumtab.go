//go:build linux

package ui

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"time"
)

// chromiumTab is a tab.
type chromiumTab struct {
	c               *chromium
	session, target string
	coverTarget     string // target of the tab that hides this one; "": none
}

func (t *chromiumTab) call(method string, params, result any) error {
	return t.c.call(t.session, method, params, result)
}

func (t *chromiumTab) run(js string) (json.RawMessage, error) { return t.c.evaluate(t.session, js) }

// focused makes the page behave as focused, which only one window can really be.
func (t *chromiumTab) focused(on bool) error {
	return t.call("Emulation.setFocusEmulationEnabled", map[string]any{"enabled": on}, nil)
}

func (t *chromiumTab) navigate(url string) error {
	var r struct{ ErrorText string }
	if err := t.call("Page.navigate", map[string]any{"url": url}, &r); err != nil {
		return err
	}
	if r.ErrorText != "" {
		return errors.New(r.ErrorText)
	}
	return loaded(t, url)
}

func (t *chromiumTab) reload() error {
	return reloaded(t, func() error { return t.call("Page.reload", nil, nil) })
}

// click presses the left mouse button at a place.
func (t *chromiumTab) click(x, y float64) error {
	for _, kind := range []string{"mouseMoved", "mousePressed", "mouseReleased"} {
		event := map[string]any{"type": kind, "x": x, "y": y}
		if kind != "mouseMoved" {
			event["button"], event["clickCount"] = "left", 1
		}
		if err := t.call("Input.dispatchMouseEvent", event, nil); err != nil {
			return err
		}
	}
	return nil
}

// choose replaces the chooser's window; the page still opens the chooser.
func (t *chromiumTab) choose(x, y float64, path string) error {
	intercept := func(on bool) error {
		return t.call("Page.setInterceptFileChooserDialog", map[string]any{"enabled": on}, nil)
	}
	if err := errors.Join(intercept(true), t.click(x, y)); err != nil {
		return err
	}
	var chooser struct{ BackendNodeID int }
	select {
	case params := <-t.c.choosers:
		if err := json.Unmarshal(params, &chooser); err != nil {
			return err
		}
	case <-time.After(patience):
		return errors.New("no chooser of files opened")
	}
	return errors.Join(
		t.call("DOM.setFileInputFiles", map[string]any{"files": []string{path}, "backendNodeId": chooser.BackendNodeID}, nil),
		intercept(false))
}

func (t *chromiumTab) press(strokes []stroke) error {
	for _, s := range strokes {
		mask := 0
		for _, m := range s.held {
			mask |= m.bit
			if err := t.key("rawKeyDown", m.key, mask); err != nil {
				return err
			}
		}
		kind := "rawKeyDown"
		if s.text != "" && mask&^modifiers["Shift"].bit == 0 {
			kind = "keyDown" // it types
		}
		if err := errors.Join(t.key(kind, s.key, mask), t.key("keyUp", s.key, mask)); err != nil {
			return err
		}
		for i := len(s.held) - 1; i >= 0; i-- {
			mask &^= s.held[i].bit
			if err := t.key("keyUp", s.held[i].key, mask); err != nil {
				return err
			}
		}
	}
	return nil
}

func (t *chromiumTab) key(kind string, k key, mask int) error {
	event := map[string]any{"type": kind, "key": k.name, "code": k.code, "windowsVirtualKeyCode": k.vk, "modifiers": mask}
	if kind == "keyDown" {
		event["text"] = k.text
	}
	if kind == "rawKeyDown" && mask == modifiers["Control"].bit && k.name == "a" {
		event["commands"] = []string{"selectAll"} // headless Chromium lacks the desktop's key bindings
	}
	return t.call("Input.dispatchKeyEvent", event, nil)
}

func (t *chromiumTab) look(l Look) error {
	return errors.Join(
		t.call("Emulation.setDeviceMetricsOverride", map[string]any{"width": l.Width, "height": l.Height, "deviceScaleFactor": 1, "mobile": false}, nil),
		t.call("Emulation.setEmulatedMedia", map[string]any{"features": []any{
			map[string]any{"name": "prefers-color-scheme", "value": l.scheme()},
			map[string]any{"name": "prefers-reduced-motion", "value": l.motion()},
		}}, nil))
}

// hide puts another tab of the window in front, or removes it.
func (t *chromiumTab) hide(hidden bool) error {
	if hidden == (t.coverTarget != "") {
		return nil
	}
	if !hidden {
		veil := t.coverTarget
		t.coverTarget = ""
		return errors.Join(t.c.call("", "Target.closeTarget", map[string]any{"targetId": veil}, nil), t.focused(true))
	}
	if err := errors.Join(t.focused(false), t.call("Page.bringToFront", nil, nil)); err != nil {
		return err
	}
	var made struct{ TargetID string }
	err := t.c.call("", "Target.createTarget", map[string]any{"url": "about:blank"}, &made)
	t.coverTarget = made.TargetID
	return err
}

func (t *chromiumTab) clipboard() (text string, err error) {
	if err := t.c.call("", "Browser.grantPermissions", map[string]any{"permissions": []string{"clipboardReadWrite"}}, nil); err != nil {
		return "", err
	}
	raw, err := t.run("navigator.clipboard.readText()")
	return text, errors.Join(err, json.Unmarshal(raw, &text), t.c.call("", "Browser.resetPermissions", nil, nil))
}

func (t *chromiumTab) picture() ([]byte, error) {
	var shot struct{ Data string }
	if err := t.call("Page.captureScreenshot", map[string]any{"format": "png"}, &shot); err != nil {
		return nil, err
	}
	return base64.StdEncoding.DecodeString(shot.Data)
}

func (t *chromiumTab) heard() ([]Entry, error) { return t.c.takeErrors(t.session), nil }

func (t *chromiumTab) close() error {
	return t.c.call("", "Target.closeTarget", map[string]any{"targetId": t.target}, nil)
}
