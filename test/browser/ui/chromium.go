//go:build linux

package ui

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"swapkeep/manifest"
)

// chromiumFlags keep a fresh profile quiet and offline, and keep background windows as
// active as the one in front. The screen is larger than a popup.
var chromiumFlags = []string{
	"--headless=new", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
	"--disable-component-update", "--disable-sync", "--disable-breakpad", "--log-level=3", "--remote-debugging-pipe",
	"--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
	"--disable-background-timer-throttling", "--disable-backgrounding-occluded-windows", "--disable-renderer-backgrounding",
	"--screen-info={1600x1200}", "--window-size=1280,1000",
}

// ChromiumID returns the id that Chromium gives the unpacked extension in a directory, by
// the key in its manifest.
func ChromiumID(extension string) (string, error) {
	var m struct{ Key string }
	if err := readManifest(extension, &m); err != nil {
		return "", err
	}
	return manifest.ChromiumID(m.Key)
}

func readManifest(extension string, into any) error {
	b, err := os.ReadFile(filepath.Join(extension, "manifest.json"))
	if err != nil {
		return err
	}
	return json.Unmarshal(b, into)
}

// chromium is a driver.
type chromium struct {
	*devtools
	worker string // its URL

	mu      sync.Mutex
	heardBy map[string][]Entry // errors, by the session that logged them
	workers []string           // sessions of the extension's workers, newest last

	choosers chan json.RawMessage // file choosers that a page opened
}

func startChromium(b *Browser) (driver, string, error) {
	id, err := ChromiumID(b.setup.Extension)
	if err != nil {
		return nil, "", err
	}
	exe, err := program("chromium", "chromium-browser", "google-chrome")
	if err != nil {
		return nil, "", err
	}
	theirIn, in, err := os.Pipe()
	if err != nil {
		return nil, "", err
	}
	out, theirOut, err := os.Pipe()
	if err != nil {
		return nil, "", err
	}
	args := append([]string{}, chromiumFlags...)
	args = append(args, "--lang="+b.setup.Language, "--user-data-dir="+b.setup.Profile, "--load-extension="+strings.Trim(b.setup.Extension+","+b.setup.OtherExtension, ","), "about:blank")
	if os.Getuid() == 0 {
		args = append([]string{"--no-sandbox"}, args...)
	}
	cmd := exec.Command(exe, args...)
	cmd.ExtraFiles = []*os.File{theirIn, theirOut}
	b.setup.Env = append(b.setup.Env, "LANGUAGE="+b.setup.Language)
	err = b.launch(cmd)
	_, _ = theirIn.Close(), theirOut.Close()
	origin := manifest.ChromiumOrigin(id)
	c := &chromium{heardBy: map[string][]Entry{}, choosers: make(chan json.RawMessage, 1)}
	c.devtools = newDevtools(in, out, c.onEvent)
	if err == nil {
		err = c.watchWorkers(b.setup.Extension, origin)
	}
	return c, origin, err
}

// watchWorkers attaches to the extension's worker whenever it starts.
func (c *chromium) watchWorkers(extension, origin string) error {
	var m struct {
		Background struct {
			ServiceWorker string `json:"service_worker"`
		}
	}
	if err := readManifest(extension, &m); err != nil {
		return err
	}
	c.worker = origin + m.Background.ServiceWorker
	return c.call("", "Target.setAutoAttach", map[string]any{
		"autoAttach": true, "waitForDebuggerOnStart": false, "flatten": true, "filter": []any{map[string]any{"type": "service_worker"}},
	}, nil)
}

// onEvent handles an event: a started worker, a file chooser, or an error.
func (c *chromium) onEvent(session, method string, params json.RawMessage) {
	if method == "Target.attachedToTarget" {
		var e struct {
			SessionID  string
			TargetInfo struct{ URL string }
		}
		if json.Unmarshal(params, &e) == nil && e.TargetInfo.URL == c.worker {
			c.mu.Lock()
			c.workers = append(c.workers, e.SessionID)
			c.mu.Unlock()
			go func() { _ = c.reportErrors(e.SessionID) }() // the worker may be gone by now
		}
		return
	}
	if method == "Page.fileChooserOpened" {
		select {
		case c.choosers <- params:
		default: // nobody waits for a second one
		}
		return
	}
	entry, ok := entryOf(method, params)
	if !ok {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.heardBy[session] = append(c.heardBy[session], entry)
}

// reportErrors makes a session report its errors, including earlier ones.
func (c *chromium) reportErrors(session string) error {
	return errors.Join(c.call(session, "Runtime.enable", nil, nil), c.call(session, "Log.enable", nil, nil))
}

// entryOf returns the error that an event reports, if any.
func entryOf(method string, params json.RawMessage) (Entry, bool) {
	var e struct {
		ExceptionDetails exception
		Entry            struct{ Source, Level, Text, URL string }
		Type             string
		Args             []remote
	}
	if err := json.Unmarshal(params, &e); err != nil {
		return Entry{}, false
	}
	switch {
	case method == "Runtime.exceptionThrown":
		return Entry{"exception", e.ExceptionDetails.String()}, true
	case method == "Log.entryAdded" && e.Entry.Level == "error":
		return Entry{e.Entry.Source, strings.TrimSpace(e.Entry.Text + " " + e.Entry.URL)}, true
	case method == "Runtime.consoleAPICalled" && (e.Type == "error" || e.Type == "assert"):
		var words []string
		for _, a := range e.Args {
			words = append(words, a.String())
		}
		return Entry{"console", strings.Join(words, " ")}, true
	}
	return Entry{}, false
}

// exception is DevTools' ExceptionDetails.
type exception struct {
	Text       string
	URL        string
	LineNumber int
	Exception  remote
}

func (e exception) String() string {
	return strings.TrimSpace(fmt.Sprintf("%s %s %s:%d", e.Text, e.Exception, e.URL, e.LineNumber+1))
}

// remote is DevTools' RemoteObject.
type remote struct {
	Description string
	Value       json.RawMessage
}

func (r remote) String() string {
	var text string
	switch {
	case r.Description != "":
		return r.Description
	case json.Unmarshal(r.Value, &text) == nil:
		return text
	}
	return string(r.Value)
}

// takeErrors returns and removes the errors of sessions.
func (c *chromium) takeErrors(sessions ...string) (all []Entry) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range sessions {
		all = append(all, c.heardBy[s]...)
		delete(c.heardBy, s)
	}
	return all
}

func (c *chromium) heard() ([]Entry, error) {
	c.mu.Lock()
	workers := append([]string{}, c.workers...)
	c.mu.Unlock()
	return c.takeErrors(workers...), nil
}

// evaluate returns the awaited value of an expression, as JSON.
func (c *chromium) evaluate(session, js string) (json.RawMessage, error) {
	var r struct {
		Result           struct{ Value json.RawMessage }
		ExceptionDetails *exception
	}
	err := c.call(session, "Runtime.evaluate", map[string]any{
		"expression": asJSON(js), "awaitPromise": true, "returnByValue": true, "userGesture": true,
	}, &r)
	switch {
	case err != nil:
		return nil, err
	case r.ExceptionDetails != nil:
		return nil, errors.New(r.ExceptionDetails.String())
	}
	var text string
	err = json.Unmarshal(r.Result.Value, &text)
	return json.RawMessage(text), err
}

// asJSON wraps an expression in a promise of its value as JSON.
func asJSON(js string) string {
	return "(async () => (" + js + "\n))().then((v) => JSON.stringify(v) ?? 'null')"
}

// background waits until a worker is activated, as it is listed before its script has run.
func (c *chromium) background(js string) (json.RawMessage, error) {
	err := errors.New("no service worker has started")
	for end := time.Now().Add(startTimeout); time.Now().Before(end); time.Sleep(pause) {
		session := c.newestWorker()
		if session == "" {
			continue
		}
		var state json.RawMessage
		if state, err = c.evaluate(session, "self.serviceWorker.state"); err == nil && string(state) == `"activated"` {
			return c.evaluate(session, js)
		}
	}
	return nil, fmt.Errorf("no service worker in %s: %w", startTimeout, err)
}

func (c *chromium) badge() (text string, err error) {
	raw, err := c.background("chrome.action.getBadgeText({})")
	if err == nil {
		err = json.Unmarshal(raw, &text)
	}
	return text, err
}

func (c *chromium) newestWorker() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if n := len(c.workers); n > 0 {
		return c.workers[n-1]
	}
	return ""
}

func (c *chromium) quit() error {
	err := c.call("", "Browser.close", nil, nil)
	c.devtools.close()
	return err
}

// attach creates a session with a target and makes it report errors.
func (c *chromium) attach(target string) (*chromiumTab, error) {
	var attached struct{ SessionID string }
	if err := c.call("", "Target.attachToTarget", map[string]any{"targetId": target, "flatten": true}, &attached); err != nil {
		return nil, err
	}
	t := &chromiumTab{c: c, session: attached.SessionID, target: target}
	return t, errors.Join(c.reportErrors(t.session), t.call("Page.enable", nil, nil))
}

func (c *chromium) open(url string, l Look) (tab, error) {
	var made struct{ TargetID string }
	if err := c.call("", "Target.createTarget", map[string]any{"url": "about:blank", "newWindow": true}, &made); err != nil {
		return nil, err
	}
	t, err := c.attach(made.TargetID)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(t.focused(true), t.look(l)); err != nil {
		return nil, err
	}
	return t, t.navigate(url)
}

// popup makes the worker open the popup, and waits for a new page.
func (c *chromium) popup(url string) (tab, error) {
	before, err := c.targets()
	if err != nil {
		return nil, err
	}
	if _, err := c.background("chrome.action.openPopup()"); err != nil {
		return nil, err
	}
	for end := time.Now().Add(startTimeout); time.Now().Before(end); time.Sleep(pause) {
		now, err := c.targets()
		if err != nil {
			return nil, err
		}
		for id, at := range now {
			if _, old := before[id]; old || !strings.HasPrefix(at, url) {
				continue
			}
			t, err := c.attach(id)
			if err != nil {
				return nil, err
			}
			return t, loaded(t, at)
		}
	}
	return nil, errors.New("no popup appeared")
}

// targets returns the URLs of all targets by id.
func (c *chromium) targets() (map[string]string, error) {
	var r struct {
		TargetInfos []struct{ TargetID, URL string }
	}
	if err := c.call("", "Target.getTargets", nil, &r); err != nil {
		return nil, err
	}
	all := map[string]string{}
	for _, t := range r.TargetInfos {
		all[t.TargetID] = t.URL
	}
	return all, nil
}
