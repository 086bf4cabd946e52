package contracts_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"swapkeep/sandbox/contracts"
)

func TestMissingContractsNameTheCommand(t *testing.T) {
	t.Setenv(contracts.Env, t.TempDir())
	for name, dir := range map[string]string{"named": t.TempDir(), "in the environment": ""} {
		_, err := contracts.Open(dir)
		if !errors.Is(err, contracts.ErrMissing) || !strings.Contains(err.Error(), "make contracts") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestBadFiles(t *testing.T) {
	dir := t.TempDir()
	for name, content := range map[string]string{
		"Permit2": `{"abi":[],"bytecode":"0x00"}`,
		"Empty":   `{"abi":[],"bytecode":"0x"}`,
		"NoHex":   `{"abi":[],"bytecode":"__lib__"}`,
		"NoABI":   `{"bytecode":"0x00"}`,
		"NoJSON":  `{`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name+".json"), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv(contracts.Env, dir)
	set, err := contracts.Open("")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := set.Get("Permit2"); err != nil {
		t.Error(err)
	}
	for _, name := range []string{"Empty", "NoHex", "NoABI", "NoJSON"} {
		if _, err := set.Get(name); err == nil || errors.Is(err, contracts.ErrMissing) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := set.Get("Absent"); !errors.Is(err, contracts.ErrMissing) {
		t.Errorf("Absent: %v", err)
	}
}
