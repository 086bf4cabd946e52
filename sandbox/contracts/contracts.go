// Package contracts loads the creation code that the sandbox's chains run. `make
// contracts` builds it from published packages and the Solidity files in this directory;
// it is not part of the repository or of a binary.
package contracts

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common/hexutil"
)

// Env is the environment variable that names the directory of the contracts if no flag
// does.
const Env = "SWAPKEEP_SANDBOX_CONTRACTS"

// ErrMissing means that the contracts have not been built, or not in the directory that
// was searched.
var ErrMissing = errors.New("the sandbox's contracts are missing: run `make contracts` in the repository, " +
	"or name their directory with --contracts or $" + Env)

// A Contract is a contract's ABI and creation code.
type Contract struct {
	ABI  abi.ABI
	Code []byte
}

// A Set holds the contracts of one directory. It reads each on first use and is safe for
// concurrent use.
type Set struct {
	dir string

	mu     sync.Mutex
	loaded map[string]*Contract
}

// probe is a contract whose presence marks a directory of contracts.
const probe = "Permit2.json"

// Open finds the contracts: in dir if it is given, else in $SWAPKEEP_SANDBOX_CONTRACTS if
// that is set, else in build/contracts beside the executable's directory, else in
// build/contracts of the module that contains the working directory. It returns
// ErrMissing if they are in none of these.
func Open(dir string) (*Set, error) {
	candidates := []string{dir}
	if dir == "" {
		candidates = defaultDirs()
	}
	for _, d := range candidates {
		if _, err := os.Stat(filepath.Join(d, probe)); err == nil {
			return &Set{dir: d, loaded: map[string]*Contract{}}, nil
		}
	}
	if dir != "" {
		return nil, fmt.Errorf("no contracts in %s: %w", dir, ErrMissing)
	}
	return nil, ErrMissing
}

func defaultDirs() []string {
	if dir := os.Getenv(Env); dir != "" {
		return []string{dir}
	}
	var dirs []string
	if exe, err := os.Executable(); err == nil {
		dirs = append(dirs, filepath.Join(filepath.Dir(exe), "..", "build", "contracts"))
	}
	wd, err := os.Getwd()
	if err != nil {
		return dirs
	}
	for d := wd; ; d = filepath.Dir(d) {
		if _, err := os.Stat(filepath.Join(d, "go.mod")); err == nil {
			return append(dirs, filepath.Join(d, "build", "contracts"))
		}
		if d == filepath.Dir(d) {
			return dirs
		}
	}
}

// Get returns the named contract. The error is ErrMissing if there is no such file.
func (s *Set) Get(name string) (*Contract, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := s.loaded[name]; c != nil {
		return c, nil
	}
	raw, err := os.ReadFile(filepath.Join(s.dir, name+".json"))
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("contract %s: %w", name, ErrMissing)
	}
	if err != nil {
		return nil, fmt.Errorf("read contract %s: %w", name, err)
	}
	c, err := parse(raw)
	if err != nil {
		return nil, fmt.Errorf("contract %s: %w", name, err)
	}
	s.loaded[name] = c
	return c, nil
}

func parse(raw []byte) (*Contract, error) {
	var file struct {
		ABI      json.RawMessage `json:"abi"`
		Bytecode hexutil.Bytes   `json:"bytecode"`
	}
	if err := json.Unmarshal(raw, &file); err != nil {
		return nil, err
	}
	if len(file.Bytecode) == 0 {
		return nil, errors.New("no bytecode")
	}
	parsed, err := abi.JSON(bytes.NewReader(file.ABI))
	if err != nil {
		return nil, err
	}
	return &Contract{ABI: parsed, Code: file.Bytecode}, nil
}

// Init returns the creation code followed by the encoded constructor arguments.
func (c *Contract) Init(args ...any) ([]byte, error) {
	packed, err := c.ABI.Pack("", args...)
	if err != nil {
		return nil, fmt.Errorf("constructor: %w", err)
	}
	return append(bytes.Clone(c.Code), packed...), nil
}
