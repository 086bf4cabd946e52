package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"swapkeep/test/await"
)

// The server holds the vendor's keys: it dumps no core, and other processes of its user
// cannot read its memory, while they can read that of a program without such protection.
// Root can read everything, so as root the test runs both as an unprivileged user.
func TestMemoryIsHidden(t *testing.T) {
	dir, err := os.MkdirTemp("", "sksm") // the test's own directory is closed to other users
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	as := &syscall.SysProcAttr{}
	if os.Getuid() == 0 {
		const nobody = 65534
		as.Credential = &syscall.Credential{Uid: nobody, Gid: nobody}
		for _, err := range []error{os.Chown(dir, nobody, nobody), os.Chmod(filepath.Dir(binary), 0o711)} {
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	config := filepath.Join(dir, "c.toml")
	if err := os.WriteFile(config, []byte(settings("http://127.0.0.1:1/v1", "a", "", "")), 0o644); err != nil {
		t.Fatal(err)
	}
	start := func(exe string, args ...string) int {
		cmd := exec.Command(exe, args...)
		cmd.Dir, cmd.Env, cmd.SysProcAttr = "/", append(os.Environ(), keyVariable+"="+testKey), as
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
		return cmd.Process.Pid
	}
	// The kernel makes the same check for reading memory and for attaching.
	environ := func(pid int) string {
		cmd := exec.Command("cat", "/proc/"+strconv.Itoa(pid)+"/environ")
		cmd.SysProcAttr = as
		out, _ := cmd.CombinedOutput()
		return string(out)
	}
	other, server := start("sleep", "60"), start(binary, "proxy", "--sandbox", "--config", config)
	await.Until(t, 10*time.Second, "another process can be read, or the test proves nothing", func() bool { return strings.Contains(environ(other), testKey) })
	await.Until(t, 10*time.Second, "its memory cannot be read", func() bool { return strings.Contains(environ(server), "ermission denied") })
	limits, err := os.ReadFile("/proc/" + strconv.Itoa(server) + "/limits")
	if err != nil {
		t.Fatal(err)
	}
	_, core, _ := strings.Cut(string(limits), "Max core file size")
	if got := strings.Fields(core)[:2]; got[0] != "0" || got[1] != "0" { // soft and hard limit
		t.Errorf("core files of %q bytes", got)
	}
}
