package chain

import (
	"errors"
	"testing"

	"swapkeep/test/processes"
)

// TestFullDisk checks that without room for the journal nothing is signed or sent, and
// that everything goes on once there is room.
func TestFullDisk(t *testing.T) {
	if !processes.RunInChild(t) {
		return
	}
	c, key, hub := newBase(t, "full")
	s := newTestSender(t, tempDB(t), hub, key)
	submit := func(name string) (*Tx, error) {
		return s.Submit(t.Context(), name, pay(base, key.addr, "0xaa", 1), soon())
	}
	if _, err := submit("before"); err != nil {
		t.Fatal(err)
	}
	processes.WithFullDisk(t, func() {
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
