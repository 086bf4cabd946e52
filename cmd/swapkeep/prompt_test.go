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

	"swapkeep/host/protocol"
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

// TestFirstPasswordIsWiped checks that the first of two typed passwords is wiped unless the
// second equals it.
func TestFirstPasswordIsWiped(t *testing.T) {
	for name, c := range map[string]struct {
		second string
		err    error
		taken  bool
	}{
		"equal": {"secret", nil, true}, "different": {"secre7", nil, false}, "longer": {"secrets", nil, false},
		"interrupted": {"", errInterrupted, false}, "the end of the input": {"", errEnd, false},
	} {
		first, second := protocol.Secret("secret"), protocol.Secret(c.second)
		got, err := repeated(first, func() (protocol.Secret, error) { return second, c.err })
		if wiped := string(first) == strings.Repeat("\x00", 6); wiped == c.taken || (err == nil) != c.taken || c.taken != (string(got) == "secret") {
			t.Errorf("%s: the first is wiped: %t, error %v; want it taken: %t", name, wiped, err, c.taken)
		}
		if c.err != nil && !errors.Is(err, c.err) {
			t.Errorf("%s: error %v, want %v", name, err, c.err)
		}
		if strings.Trim(string(second), "\x00") != "" {
			t.Errorf("%s: the second is not wiped", name)
		}
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
