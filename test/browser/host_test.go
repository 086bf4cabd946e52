//go:build browser

package browser

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"swapkeep/host/protocol"
	"swapkeep/manifest"
	"swapkeep/test/browser/desk"
	"swapkeep/test/browser/ui"
)

// extensionMessages is what the test extension's background received from the host.
type extensionMessages struct {
	Error    string
	Messages []struct {
		Method string
		Params json.RawMessage
		ID     json.RawMessage
		Result json.RawMessage
		Error  *protocol.Error
	}
}

// TestHost checks that the host greets exactly this extension and answers a request.
func TestHost(t *testing.T) {
	each(t, func(t *testing.T, kind ui.Kind) {
		tiny := tinyExtension(t)
		d := desk.New(t, desk.Options{Extension: tiny})
		p := d.Browser(kind).Open("page.html")
		var raw json.RawMessage
		p.Eval("(globalThis.browser ?? chrome).runtime.sendMessage('heard')", &raw)
		var h extensionMessages
		if err := json.Unmarshal(raw, &h); err != nil || h.Error != "" || len(h.Messages) < 2 {
			t.Fatalf("the extension heard %s, %v", raw, err)
		}
		greeting, answer := h.Messages[0], h.Messages[len(h.Messages)-1]
		var hello protocol.Hello
		if err := json.Unmarshal(greeting.Params, &hello); err != nil || greeting.Method != "host.hello" {
			t.Fatalf("greeted with %s %s: %v", greeting.Method, greeting.Params, err)
		}
		if hello.Product != "swapkeep" || hello.Connection.Kind != protocol.KindBrowser || hello.Connection.Origin != origin(t, kind, tiny[kind]) {
			t.Errorf("hello is %s", greeting.Params)
		}
		if string(answer.ID) != "1" || answer.Error != nil || len(answer.Result) == 0 {
			t.Errorf("the request got %+v", answer)
		}
	})
}

// origin returns how a browser names the extension in dir to the host.
func origin(t *testing.T, kind ui.Kind, dir string) string {
	t.Helper()
	id := extensionID(t, kind, dir)
	if kind == ui.Chromium {
		return manifest.ChromiumOrigin(id)
	}
	return id
}

func extensionID(t *testing.T, kind ui.Kind, dir string) string {
	t.Helper()
	idOf := map[ui.Kind]func(string) (string, error){ui.Chromium: ui.ChromiumID, ui.Firefox: ui.FirefoxID}
	id, err := idOf[kind](dir)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// tinyExtension assembles the test extension for each browser.
func tinyExtension(t *testing.T) map[ui.Kind]string {
	t.Helper()
	dirs := map[ui.Kind]string{}
	for _, kind := range ui.Kinds() {
		dir := t.TempDir()
		if err := os.CopyFS(dir, os.DirFS("extension")); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(filepath.Join(dir, string(kind)+".json"), filepath.Join(dir, "manifest.json")); err != nil {
			t.Fatal(err)
		}
		dirs[kind] = dir
	}
	return dirs
}
