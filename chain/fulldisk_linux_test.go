package chain

import (
	"errors"
	"os/signal"
	"syscall"
	"testing"
)

// TestFullDisk checks that without room for the journal nothing is signed or sent, and
// that everything goes on once there is room.
func TestFullDisk(t *testing.T) {
	c, key, hub := newBase(t, "full")
	s := newTestSender(t, tempDB(t), hub, key)
	submit := func(name string) (*Tx, error) {
		return s.Submit(t.Context(), name, pay(base, key.addr, "0xaa", 1), soon())
	}
	if _, err := submit("before"); err != nil {
		t.Fatal(err)
	}
	withFullDisk(t, func() {
		if tx, err := submit("full"); tx != nil || !errors.Is(err, ErrLedger) {
			t.Errorf("submit: %+v, %v", tx, err)
		}
		if tx, err := s.Cancel(t.Context(), "before", soon()); !errors.Is(err, ErrLedger) || len(tx.Attempts) != 1 {
			t.Errorf("cancel: %+v, %v", tx, err)
		}
	})
	if key.count() != 1 || c.count("eth_sendRawTransaction") != 1 {
		t.Errorf("%d signed, %d sent, want one of each", key.count(), c.count("eth_sendRawTransaction"))
	}
	if tx, err := submit("full"); err != nil || tx.Nonce != 1 {
		t.Errorf("with room again: %+v, %v", tx, err)
	}
}

// withFullDisk runs f while no file of this process can be written past its first byte,
// which looks like a full disk to the database.
func withFullDisk(t *testing.T, f func()) {
	t.Helper()
	signal.Ignore(syscall.SIGXFSZ)
	defer signal.Reset(syscall.SIGXFSZ)
	var was syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &was); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 1, Max: was.Max}); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &was); err != nil {
			t.Fatal(err)
		}
	}()
	f()
}
