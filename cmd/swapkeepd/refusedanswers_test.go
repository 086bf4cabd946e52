package main

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"swapkeep/host/protocol"
	"swapkeep/host/transport"
	"swapkeep/providers/refused"
	answers "swapkeep/providers/wire"
)

// The check reports stored answers, and members that are not read.
func TestUnderstood(t *testing.T) {
	home := t.TempDir()
	s := examined{place: transport.Instance{Home: home}}
	var v struct{}
	if err := (answers.Service{Name: "tested"}).Read("quote", []byte(`{"lie":1}`), &v); err != nil {
		t.Fatal(err)
	}
	c := s.refusedAnswers(t.Context())
	if c.Status != protocol.CheckOK || !slices.Contains(c.Details, "tested quote: lie (1)") {
		t.Errorf("of a home without answers: %+v", c)
	}
	dir := filepath.Join(home, refused.Dir)
	if err := errors.Join(os.Mkdir(dir, 0o700), os.WriteFile(filepath.Join(dir, "dex.json"), []byte("{}"), 0o600)); err != nil {
		t.Fatal(err)
	}
	if c := s.refusedAnswers(t.Context()); c.Status != protocol.CheckNote || c.Remedy == "" {
		t.Errorf("of one with an answer: %+v", c)
	}
}
