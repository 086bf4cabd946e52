package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A keychain stores the demo's wallet.
type keychain struct {
	name  string // for people
	env   []string
	count func(ctx context.Context, service string) (int, error) // nil: cannot be queried
	// end removes everything that the demo stored and returns what to print about it.
	// service is empty if no home was created.
	end func(ctx context.Context, service string) (string, error)
}

// A keychainRow is one kind of keychain. The error of open says why it is unavailable
// here.
type keychainRow struct {
	name string
	open func(ctx context.Context, dir string) (keychain, error)
}

var keychains = []keychainRow{
	{"system", openSystemKeychain},
	{"private", openPrivateKeychain},
	{"file", openFileKeychain},
}

func keychainNamed(name string) bool {
	return name == "auto" || slices.ContainsFunc(keychains, func(r keychainRow) bool { return r.name == name })
}

// firstKeychain opens the first available keychain, or only the named one. why says why
// those before it were not available.
func firstKeychain(ctx context.Context, rows []keychainRow, name, dir string) (k keychain, why string, err error) {
	var reasons []string
	for _, row := range rows {
		if name != "auto" && name != row.name {
			continue
		}
		k, err = row.open(ctx, dir)
		if err == nil {
			return k, strings.Join(reasons, "; "), nil
		}
		if ctx.Err() != nil {
			return k, "", ctx.Err()
		}
		reasons = append(reasons, err.Error())
	}
	return k, "", errors.New("no keychain: " + strings.Join(reasons, "; "))
}

func (s *demoRun) chooseKeychain(ctx context.Context) error {
	s.out.Heading("Keychain")
	k, why, err := firstKeychain(ctx, keychains, s.demoOptions.keychain, s.dir)
	if err != nil {
		return err
	}
	s.keychain, s.env = k, append(s.env, k.env...)
	s.onCleanup("keychain", func(ctx context.Context) (string, error) {
		service, err := s.service()
		if errors.Is(err, os.ErrNotExist) {
			service, err = "", nil
		}
		how, ended := k.end(ctx, service)
		return how, errors.Join(err, ended)
	})
	s.out.Fact("chosen", k.name)
	switch {
	case s.demoOptions.keychain != "auto":
		why = "asked for with --keychain"
	case why == "":
		why = "it is there and unlocked"
	}
	s.out.Fact("because", why)
	return nil
}

// service returns the name under which the daemon of the demo's home stores its items.
func (s *demoRun) service() (string, error) {
	b, err := os.ReadFile(filepath.Join(s.dir, "home", "home.json"))
	if err != nil {
		return "", err
	}
	var home struct {
		Namespace string `json:"namespace"`
	}
	if err := json.Unmarshal(b, &home); err != nil || home.Namespace == "" {
		return "", errors.New("home.json does not name the keychain's namespace")
	}
	return "swapkeep/sandbox." + home.Namespace, nil
}

// describeKept describes what the keychain holds of the wallet; an error if it holds nothing.
func (s *demoRun) describeKept(ctx context.Context) (string, error) {
	service, err := s.service()
	if err != nil {
		return "", err
	}
	if s.keychain.count == nil {
		return fmt.Sprintf("encrypted under the password in %s, as %s", s.keychain.name, service), nil
	}
	n, err := s.keychain.count(ctx, service)
	if err != nil {
		return "", err
	}
	if n == 0 {
		return "", fmt.Errorf("%s holds nothing of %s", s.keychain.name, service)
	}
	return fmt.Sprintf("%s of %s, encrypted under the password", count(n, "item"), service), nil
}

// openFileKeychain stores the wallet in files of the home. The daemon uses files only if
// it is configured to.
func openFileKeychain(_ context.Context, dir string) (keychain, error) {
	kept := filepath.Join(dir, "home", "keys")
	return keychain{
		name: `files in the demo's own directory (keys.backend = "file")`,
		env:  []string{"SWAPKEEP_KEYS_BACKEND=file"},
		count: func(context.Context, string) (int, error) {
			entries, err := os.ReadDir(kept)
			return len(entries), err
		},
		end: func(context.Context, string) (string, error) { return "its files go with the directory", nil },
	}, nil
}
