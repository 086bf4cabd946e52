//go:build display

package dialog

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"swapkeep/confirm"
	"swapkeep/test/await"
)

// A desktop is an X server of the test's own.
type desktop struct {
	t   *testing.T
	env []string
}

func newDesktop(t *testing.T) *desktop {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	x := exec.Command("Xvfb", "-displayfd", "3", "-screen", "0", "1280x900x24", "-nolisten", "tcp")
	x.ExtraFiles = []*os.File{w}
	if err := x.Start(); err != nil {
		t.Fatalf("%v: run scripts/setup.sh", err)
	}
	_ = w.Close()
	t.Cleanup(func() { _ = x.Process.Kill(); _ = x.Wait() })
	number, err := bufio.NewReader(r).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	d := &desktop{t, []string{"DISPLAY=:" + strings.TrimSpace(number), "PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "XDG_RUNTIME_DIR=" + t.TempDir(), "NO_AT_BRIDGE=1", "LANG=C.UTF-8"}}
	wm := exec.Command("openbox")
	wm.Env = d.env
	if err := wm.Start(); err != nil {
		t.Fatalf("%v: run scripts/setup.sh", err)
	}
	t.Cleanup(func() { _ = wm.Process.Kill(); _ = wm.Wait() })
	await.Until(t, 10*time.Second, "a window manager", func() bool { return d.xdotool("getactivewindow") != "" || d.xdotool("get_num_desktops") != "" })
	return d
}

// xdotool returns what it prints; "" after an error.
func (d *desktop) xdotool(args ...string) string {
	cmd := exec.Command("xdotool", args...)
	cmd.Env = d.env
	out, _ := cmd.Output()
	return strings.TrimSpace(string(out))
}

// window waits for the dialog's window, and gives it the keyboard.
func (d *desktop) window(pid int) string {
	id := ""
	await.Until(d.t, 20*time.Second, "the dialog", func() bool {
		id, _, _ = strings.Cut(d.xdotool("search", "--onlyvisible", "--name", "Swapkeep"), "\n")
		return id != ""
	})
	d.xdotool("windowactivate", "--sync", id)
	d.xdotool("windowfocus", "--sync", id)
	return id
}

// A shown is a program whose dialogs a person answers while they are open.
type shown struct {
	program
	does func(code string)
}

func (s shown) ask(ctx context.Context, env []string, q question) (string, answer, error) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.does(aCode.FindStringSubmatch(q.text)[1])
	}()
	typed, a, err := s.program.ask(ctx, env, q)
	<-done
	return typed, a, err
}

// TestRealDialogs answers the dialogs of every program on a real X server: by the code, by other
// keys, by none.
func TestRealDialogs(t *testing.T) {
	d := newDesktop(t)
	for _, p := range programs {
		if p.name == "pinentry" || p.name == "pinentry-gnome3" { // one of the others, or one that needs a desktop's own service
			continue
		}
		path, err := exec.LookPath(p.name)
		if err != nil {
			t.Fatalf("%v: run scripts/setup.sh", err)
		}
		end := "ctrl+End"
		if p.name != "zenity" {
			end = "End"
		}
		for name, c := range map[string]struct {
			ask  string
			keys func(code string)
			for_ time.Duration
			want confirm.Answer
		}{
			"the code": {"swap", func(code string) {
				d.window(0)
				d.xdotool("key", end)
				d.xdotool("type", "--delay", "20", code)
				d.finish(p.name)
			}, time.Minute, confirm.Approved},
			"a storm of Return":     {"swap", func(string) { d.window(0); d.storm("Return") }, 5 * time.Second, confirm.Undecided},
			"a storm of Tab, space": {"swap", func(string) { d.window(0); d.storm("Tab", "space") }, 5 * time.Second, confirm.Undecided},
			"nothing":               {"swap", func(string) {}, 2 * time.Second, confirm.Undecided},
			"Escape":                {"swap", func(string) { d.window(0); d.xdotool("key", "Escape") }, time.Minute, confirm.Declined},
		} {
			t.Run(p.name+"/"+name, func(t *testing.T) {
				began := time.Now()
				dialogs := Dialogs{Language: func() string { return "en" }}
				got, err := dialogs.show(t.Context(), shown{p.make(path), c.keys}, d.env, confirm.Waiting{Ask: asks[c.ask]}, time.Now().Add(c.for_))
				if err != nil || got != c.want && !(c.want == confirm.Undecided && got == confirm.Declined) { // a storm may decline
					t.Errorf("%v, %v", got, err)
				}
				t.Logf("took %s", time.Since(began).Round(time.Millisecond))
			})
		}
	}
}

// finish presses the button that confirms.
func (d *desktop) finish(program string) {
	if program == "zenity" { // Return is a line of the text there
		d.xdotool("key", "ctrl+Tab", "ctrl+Tab", "Return")
		return
	}
	d.xdotool("key", "Return")
}

func (d *desktop) storm(keys ...string) {
	for range 24 {
		d.xdotool(append([]string{"key", "--delay", "0"}, keys...)...)
	}
}
