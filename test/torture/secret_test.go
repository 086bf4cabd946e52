//go:build faults && linux

package torture

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"swapkeep/host/protocol"
	"swapkeep/test/processes"
	"swapkeep/test/requests"
	"swapkeep/test/secretscan"
)

// keyedServices lists the services that get a key with each request, except the bridge, whose key
// is in a file named by the configuration.
var keyedServices = []string{dex, gasless, "coingecko"}

// newAccessKey returns a new access key.
func newAccessKey() string { return strings.ToLower(rand.Text()) }

// hideAccess adds an access key to every node's address in the configuration.
func (w *world) hideAccess() error {
	path, key := w.config(), newAccessKey()
	w.secrets = append(w.secrets, secretscan.Text("access key of nodes", key))
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	text := string(b)
	for _, c := range w.Chains() {
		text = strings.ReplaceAll(text, fmt.Sprintf("%q", c.RPC()), fmt.Sprintf("%q", c.RPC()+"/"+key))
	}
	if strings.Count(text, key) != len(chains) {
		return errors.New("the nodes' addresses are not in the configuration")
	}
	return os.WriteFile(path, []byte(text), 0o600)
}

// addSecrets gives the daemon keys to store, and collects everything that must not be found
// anywhere, including what derives from the wallet's words and what the keychain holds.
func (w *world) addSecrets(u *user, words string) error {
	for _, kind := range keyedServices {
		key := newAccessKey()
		w.secrets = append(w.secrets, secretscan.Text("key of "+kind, key))
		if err := u.retryUntilAnswered("providers.set_key", protocol.SetKeyParams{Provider: kind, Key: []byte(key), Password: []byte(requests.Password)}, nil); err != nil {
			return err
		}
	}
	wallet, err := secretscan.WalletSecrets("words", words, accounts)
	if err != nil {
		return err
	}
	held, err := w.keychain.Secrets()
	if err != nil {
		return err
	}
	w.secrets = slices.Concat(w.secrets, wallet, []secretscan.Secret{secretscan.Text("password", requests.Password)})
	wallets := 0
	for name, value := range held {
		if strings.HasPrefix(name, "provider/") {
			continue // one of those keys as it is
		}
		w.secrets = append(w.secrets, secretscan.Text("keychain's "+name, value))
		var record struct{ Ciphertext []byte }
		if json.Unmarshal(value, &record) == nil && len(record.Ciphertext) > 0 {
			w.secrets = append(w.secrets, secretscan.Key("keychain's "+name+": ciphertext", record.Ciphertext))
			wallets++
		}
	}
	if wallets != 1 || len(held) < len(keyedServices)+2 {
		return fmt.Errorf("the keychain holds %d items, %d of a wallet", len(held), wallets)
	}
	return nil
}

// scanProcesses searches environment and arguments of running programs until peace.
func (w *world) scanProcesses() {
	s, err := secretscan.New(w.secrets...)
	if err != nil {
		w.find("%v", err)
		return
	}
	for ; !w.atPeace() && w.ctx.Err() == nil; time.Sleep(time.Second) {
		pids, err := processes.RunningFrom(w.Bin)
		for _, pid := range pids {
			found, failed := s.Process(pid)
			err = errors.Join(err, failed)
			w.reportSecrets(found)
		}
		if err != nil {
			w.find("programs that run: %v", err)
		}
	}
	files, bytes := s.Searched()
	if bytes < 1000 {
		w.find("of programs that run, %d bytes were searched for secrets", bytes)
	}
	w.count("files of programs that run, searched", files)
}

func (w *world) reportSecrets(found []secretscan.Finding) {
	for _, f := range found {
		w.find("a secret is left: %s", f)
	}
}

// testFiles names what the test itself put into a world's directory, secrets included.
var testFiles = []string{"bin", "bridge-key", "config.toml", "k"}

// checkSecrets checks that nothing that programs left or printed contains a secret.
func (w *world) checkSecrets() {
	s, err := secretscan.New(w.secrets...)
	if err != nil {
		w.find("%v", err)
		return
	}
	if found, err := s.File(w.config()); err != nil || len(found) == 0 {
		w.find("the search is blind: %v", err)
	}
	all, err := os.ReadDir(w.Dir)
	for _, e := range all {
		if slices.Contains(testFiles, e.Name()) {
			continue
		}
		path, search := filepath.Join(w.Dir, e.Name()), s.File
		if e.IsDir() {
			search = s.Dir
		}
		found, failed := search(path)
		err = errors.Join(err, failed)
		w.reportSecrets(found)
	}
	files, bytes := s.Searched()
	if err != nil || files < 10 || bytes < 100_000 {
		w.find("%d files of %d bytes were searched for secrets, %v", files, bytes, err)
	}
	w.count("secrets looked for in what is left", len(w.secrets))
	w.count("secrets looked for in what is left, KiB of it", int(bytes>>10))
}
