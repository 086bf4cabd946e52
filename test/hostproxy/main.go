// Loudhost replaces the native host when the extension is measured: it starts the host next
// to it and passes everything through, and also sends the browser what the measurement
// writes to a socket, as if the daemon had sent it. The socket's path is the program's with
// ".sock" appended.
package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"

	"swapkeep/host/frame"
)

func main() {
	if err := serve(); err != nil {
		fmt.Fprintln(os.Stderr, "hostproxy:", err)
		os.Exit(1)
	}
}

func serve() error {
	exe, err := os.Executable()
	if err != nil {
		return err
	}
	browser := frame.NewWriter(os.Stdout)
	if err := listen(exe+".sock", browser); err != nil {
		return err
	}
	host := exec.Command(filepath.Join(filepath.Dir(exe), "swapkeep"), os.Args[1:]...)
	host.Stdin, host.Stderr = os.Stdin, os.Stderr // the host ends when the browser closes its port
	said, err := host.StdoutPipe()
	if err != nil {
		return err
	}
	if err := host.Start(); err != nil {
		return err
	}
	return errors.Join(copyFrames(said, browser), host.Wait())
}

// listen passes on the messages of everyone who connects to the socket. A browser that lost
// its host starts another, so the socket of an earlier one may still exist.
func listen(path string, browser *frame.Writer) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	l, err := net.Listen("unix", path)
	if err != nil {
		return err
	}
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() { _, _ = copyFrames(conn, browser), conn.Close() }()
		}
	}()
	return nil
}

// copyFrames writes each frame in one piece, so that the two sources do not mix within a frame.
func copyFrames(from io.Reader, browser *frame.Writer) error {
	in := frame.NewReader(from)
	for {
		body, err := in.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = browser.Write(body)
		}
		if err != nil {
			return err
		}
	}
}
