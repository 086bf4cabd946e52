//go:build linux || darwin

package main

import (
	"errors"
	"io"
	"os"
	"runtime"
	"strings"
	"syscall"
	"testing"
)

func TestReadLine(t *testing.T) {
	for text, want := range map[string]string{
		"one\ntwo\n": "one", "one\r\n": "one", "one": "one", "\n": "", " spaces \n": " spaces ", "12345678": "12345678",
	} {
		if got, err := readLine(strings.NewReader(text), 8); err != nil || string(got) != want {
			t.Errorf("%q: %q, %v", text, []byte(got), err)
		}
	}
	if _, err := readLine(strings.NewReader(""), 8); !errors.Is(err, io.EOF) {
		t.Errorf("of nothing: %v", err)
	}
	if _, err := readLine(strings.NewReader("123456789\n"), 8); err == nil {
		t.Error("a line that is too long was taken")
	}
}

// One descriptor can hold several secrets, a line each.
func TestSecretsOfOneDescriptor(t *testing.T) {
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _, _ = read.Close(), write.Close() }()
	fd, err := syscall.Dup(int(read.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := write.WriteString("first\nsecond\n"); err != nil {
		t.Fatal(err)
	}
	term := &terminal{}
	for _, want := range []string{"first", "second"} {
		got, err := term.secret(t.Context(), &secretFlag{name: "password-fd", fd: fd}, "Password")
		if err != nil || string(got) != want {
			t.Errorf("%q, %v; want %q", []byte(got), err, want)
		}
		runtime.GC() // a file that nobody keeps would be closed now
		runtime.GC()
	}
}
