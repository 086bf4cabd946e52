// Echohost is the least that a native-messaging host in Go can be: it sends
// every frame back. It stands for the limit that bench compares a start of the
// relay with.
package main

import (
	"encoding/binary"
	"io"
	"os"
)

const maxFrame = 1 << 20

func main() {
	frame := make([]byte, 4, 4096)
	for {
		if _, err := io.ReadFull(os.Stdin, frame[:4]); err != nil {
			return
		}
		length := int(binary.NativeEndian.Uint32(frame))
		if length > maxFrame {
			os.Exit(1)
		}
		if cap(frame) < 4+length {
			frame = append(make([]byte, 0, 4+length), frame[:4]...)
		}
		frame = frame[:4+length]
		if _, err := io.ReadFull(os.Stdin, frame[4:]); err != nil {
			os.Exit(1)
		}
		if _, err := os.Stdout.Write(frame); err != nil {
			return
		}
		frame = frame[:4]
	}
}
