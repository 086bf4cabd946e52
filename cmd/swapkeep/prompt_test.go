//go:build linux || darwin

package main

import (
	"bytes"
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

// One descriptor can hold several secrets, one per line.
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
		runtime.GC() // would close an unreferenced file
		runtime.GC()
	}
}

// FuzzReadLine: a secret is the first line, complete and within the limit; the rest is
// left for the next read; no error contains it.
func FuzzReadLine(f *testing.F) {
	for _, s := range []string{"secret\nnext\n", "secret\r\n", "secret", "\n", "\r\n", "12345678\r\n", "123456789\n", "12345678\r", "123456789", "\r\r\n", "", "a\x00b\n"} {
		f.Add([]byte(s), uint8(8))
	}
	f.Fuzz(func(t *testing.T, input []byte, bound uint8) {
		in, most := bytes.NewReader(input), int(bound)
		got, err := readLine(in, most)
		first, rest, _ := bytes.Cut(input, []byte("\n"))
		first = bytes.TrimSuffix(first, []byte("\r"))
		switch {
		case err == nil && (len(got) > most || !bytes.Equal(got, first) || in.Len() != len(rest)):
			t.Fatalf("%q is read of %q, with %d bytes left", got, input, in.Len())
		case err != nil && len(input) > 0 && len(first) <= most:
			t.Fatalf("%q: %v", input, err)
		case err != nil && len(first) > 16 && strings.Contains(err.Error(), string(first)):
			t.Fatalf("%v repeats it", err)
		}
	})
}
