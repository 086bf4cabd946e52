//go:build browser

package browser

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"swapkeep/manifest"
)

var chromiumFlags = []string{
	"--headless=new", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
	"--disable-component-update", "--disable-sync", "--remote-debugging-pipe",
}

func TestChromium(t *testing.T) {
	id := developmentID(t)
	d := newDesk(t, "SWAPKEEP_EXTENSIONS_CHROMIUM="+id)
	d.run("manifest", "chromium", "--dir", d.folder("profile/NativeMessagingHosts"))
	c := d.startChromium(d.extension(manifest.Chromium), d.folder("profile"))
	worker := c.serviceWorker("chrome-extension://" + id + "/background.js")
	c.heard(worker).check(t, manifest.ChromiumOrigin(id))
	c.call("", "Browser.close", nil, nil)
}

// developmentID is the id that Chromium gives the test extension for its key.
func developmentID(t *testing.T) string {
	t.Helper()
	b, err := os.ReadFile("extension/chromium.json")
	if err != nil {
		t.Fatal(err)
	}
	var m struct{ Key string }
	if err := json.Unmarshal(b, &m); err != nil {
		t.Fatal(err)
	}
	id, err := manifest.ChromiumID(m.Key)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// chromium speaks the DevTools protocol over a pair of pipes: JSON messages,
// each closed by a NUL.
type chromium struct {
	t    *testing.T
	in   *os.File
	out  *bufio.Reader
	last int
}

func (d *desk) startChromium(extension, profile string) *chromium {
	d.t.Helper()
	theirIn, in, err := os.Pipe()
	if err != nil {
		d.t.Fatal(err)
	}
	out, theirOut, err := os.Pipe()
	if err != nil {
		d.t.Fatal(err)
	}
	args := append(chromiumFlags, "--user-data-dir="+profile, "--load-extension="+extension, "about:blank")
	if os.Getuid() == 0 {
		args = append([]string{"--no-sandbox"}, args...)
	}
	cmd := exec.Command("chromium", args...)
	cmd.ExtraFiles = []*os.File{theirIn, theirOut}
	d.launch(cmd)
	_, _ = theirIn.Close(), theirOut.Close()
	if err := out.SetReadDeadline(time.Now().Add(patience)); err != nil {
		d.t.Fatal(err)
	}
	d.t.Cleanup(func() { _, _ = in.Close(), out.Close() })
	return &chromium{t: d.t, in: in, out: bufio.NewReader(out)}
}

// launch starts a browser in a group of its own and sees to the group's end.
func (d *desk) launch(cmd *exec.Cmd) {
	d.t.Helper()
	var words strings.Builder
	cmd.Env, cmd.Stdout, cmd.Stderr = d.env, &words, &words
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.WaitDelay = 5 * time.Second
	if err := cmd.Start(); err != nil {
		d.t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { _ = cmd.Wait(); close(ended) }()
	d.t.Cleanup(func() {
		select {
		case <-ended:
		case <-time.After(10 * time.Second):
			d.t.Error("the browser did not end by itself")
		}
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // its own group
		<-ended
		if d.t.Failed() {
			d.t.Logf("the browser said:\n%s", words.String())
		}
	})
}

// call makes one call and decodes its result; events in between are let go.
func (c *chromium) call(session, method string, params, result any) {
	c.t.Helper()
	c.last++
	message := map[string]any{"id": c.last, "method": method}
	if params != nil {
		message["params"] = params
	}
	if session != "" {
		message["sessionId"] = session
	}
	b, err := json.Marshal(message)
	if err != nil {
		c.t.Fatal(err)
	}
	if _, err := c.in.Write(append(b, 0)); err != nil {
		c.t.Fatal(err)
	}
	if err := c.answer(result); err != nil {
		c.t.Fatalf("%s: %v", method, err)
	}
}

func (c *chromium) answer(result any) error {
	for {
		b, err := c.out.ReadBytes(0)
		if err != nil {
			return err
		}
		var reply struct {
			ID            int
			Result, Error json.RawMessage
		}
		if err := json.Unmarshal(b[:len(b)-1], &reply); err != nil {
			return err
		}
		switch {
		case reply.ID != c.last:
			continue
		case len(reply.Error) > 0:
			return fmt.Errorf("%s", reply.Error)
		case result == nil:
			return nil
		}
		return json.Unmarshal(reply.Result, result)
	}
}

// heard waits for the worker to have run, and for what it heard.
func (c *chromium) heard(worker string) heard {
	c.t.Helper()
	expression := map[string]any{"expression": "globalThis.heard ?? null", "awaitPromise": true, "returnByValue": true}
	for {
		var reply struct {
			Result struct{ Value *heard }
		}
		if c.call(worker, "Runtime.evaluate", expression, &reply); reply.Result.Value != nil {
			return *reply.Result.Value
		}
		time.Sleep(50 * time.Millisecond) // bounded by the pipe's deadline
	}
}

// serviceWorker waits for the extension's worker and returns a session with it.
func (c *chromium) serviceWorker(url string) string {
	c.t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		var targets struct {
			TargetInfos []struct{ TargetID, Type, URL string }
		}
		c.call("", "Target.getTargets", nil, &targets)
		for _, target := range targets.TargetInfos {
			if target.URL != url {
				continue
			}
			var attached struct{ SessionID string }
			c.call("", "Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &attached)
			return attached.SessionID
		}
	}
	c.t.Fatalf("no service worker %s", url)
	return ""
}
