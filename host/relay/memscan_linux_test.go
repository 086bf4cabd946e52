package relay

import (
	"bytes"
	"net"
	"testing"

	"swapkeep/host/frame"
	"swapkeep/internal/zeroize"
	"swapkeep/keys/keystest/memscan"
)

// TestNothingOfAFrameIsLeftInMemory sends a password and a wallet's words through the
// relay, which lives as long as a window is open, and checks that nothing of them is left
// in the process's memory. Both ends wipe their own copies.
func TestNothingOfAFrameIsLeftInMemory(t *testing.T) {
	if !zeroize.Erases {
		t.Skip("this build erases nothing: run it by make, or with GOEXPERIMENT=runtimesecret")
	}
	d := newDaemon(t)
	password, words := memscan.Letters(24), memscan.Letters(24)
	needles := []memscan.Needle{memscan.Of("password", password), memscan.Of("words", words)}
	answer := append(append([]byte(`{"jsonrpc":"2.0","id":1,"result":{"words":"`), words...), `"}}`...)
	d.behave = func(conn net.Conn, _ int) {
		in, out := frame.NewReader(conn), frame.NewWriter(conn)
		body, err := in.Read()
		if err != nil || !bytes.Contains(body, password) {
			t.Errorf("the daemon heard another frame: %v", err)
		}
		clear(body)
		if err := out.Write(answer); err != nil {
			t.Error(err)
		}
		clear(answer)
		_, _ = in.Read() // until the relay ends
	}
	b := start(t, d, nil)
	b.expect(t, hello1)
	request := append(append([]byte(`{"jsonrpc":"2.0","id":1,"method":"keys.create","params":{"password":"`), password...), `"}}`...)
	if err := b.in.Write(request); err != nil {
		t.Fatal(err)
	}
	clear(request)
	got, err := b.out.Read()
	if err != nil || !bytes.Contains(got, words) {
		t.Fatalf("the browser heard another frame: %v", err)
	}
	if found, err := memscan.Find(needles...); err != nil || len(found) == 0 {
		t.Errorf("what the test itself holds is not found, the search is blind: %v", err)
	}
	for _, own := range [][]byte{got, password, words} {
		clear(own)
	}
	found, err := memscan.Find(needles...)
	if err != nil || len(found) != 0 {
		t.Errorf("left in memory: %v, %v", found, err)
	}
}
