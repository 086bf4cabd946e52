package main

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/crypto"

	"swapkeep/host/client"
	"swapkeep/host/owner"
	"swapkeep/host/protocol"
	"swapkeep/keys"
	"swapkeep/sandbox"
	"swapkeep/sandbox/sandboxtest"
	"swapkeep/test/await"
	"swapkeep/test/processes"
	"swapkeep/test/requests"
	"swapkeep/test/secretscan"
)

// A secretFixture is a user's machine with the real programs, with the log at debug level, and
// the secrets that must not be found in what the programs leave.
type secretFixture struct {
	*machine
	secrets []secretscan.Secret
	said    map[string]*heard // by program run: its output that others can see
	running []int             // process ids that were given secrets and still run
}

// newSecretFixture creates a garden with a configuration. Wallets are in files, because the system's
// keychain is outside of the test.
func newSecretFixture(t *testing.T, config string) *secretFixture {
	t.Helper()
	m := newMachine(t, "SWAPKEEP_KEYS_BACKEND=file", "SWAPKEEP_LOG_LEVEL=debug", "TERM=xterm")
	path := filepath.Join(t.TempDir(), "config.toml")
	if err := os.WriteFile(path, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	m.env = append(m.env, "SWAPKEEP_CONFIG="+path)
	return &secretFixture{machine: m, said: map[string]*heard{}}
}

// secret returns a new random secret that occurs in no other text.
func (g *secretFixture) secret(name string) string {
	value := strings.ToLower(rand.Text()) + "aq"
	g.secrets = append(g.secrets, secretscan.Text(name, value))
	return value
}

// words adds all secrets derived from a mnemonic.
func (g *secretFixture) words(name, mnemonic string) {
	g.t.Helper()
	all, err := secretscan.WalletSecrets(name, mnemonic, 2)
	if err != nil {
		g.t.Fatal(err)
	}
	g.secrets = append(g.secrets, all...)
}

// run runs a command with these lines on descriptor 0 and records its output.
func (g *secretFixture) run(status int, lines []string, args ...string) {
	g.t.Helper()
	said := g.hear(strings.Join(args, " "))
	cmd := g.command(binary("swapkeep"), args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(strings.Join(lines, "\n")+"\n"), said, said
	err := cmd.Run()
	if cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != status {
		g.t.Fatalf("%s: %v, want exit status %d\n%s", args, err, status, said)
	}
}

// heard is a program's output so far.
type heard struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (h *heard) Write(b []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.b.Write(b)
}

func (h *heard) String() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.b.String()
}

func (g *secretFixture) hear(name string) *heard {
	b := &heard{}
	g.said[fmt.Sprintf("%d: %s", len(g.said)+1, name)] = b
	return b
}

// sit runs a command on a terminal. The user may see what it prints, except passwords.
func (g *secretFixture) sit(lines []string, args ...string) string {
	g.t.Helper()
	screen, err := talk(g.command(binary("swapkeep"), args...), lines)
	if err != nil || !strings.Contains(screen, "exit 0") {
		g.t.Fatalf("%s: %v\n%s", args, err, screen)
	}
	return screen
}

// open starts a browser with one port.
func (g *secretFixture) open() *client.Process {
	g.t.Helper()
	cmd := g.command(binary("swapkeep"), origin)
	cmd.Stderr = g.hear("relay")
	p := g.start(cmd)
	greeting(g.t, p.Client)
	g.running = append(g.running, p.PID())
	return p
}

func (g *secretFixture) ask(p *client.Process, method string, params, result any) error {
	ctx, cancel := context.WithTimeout(g.t.Context(), time.Minute)
	defer cancel()
	return p.Call(ctx, method, params, result)
}

func (g *secretFixture) must(p *client.Process, method string, params, result any) {
	g.t.Helper()
	if err := g.ask(p, method, params, result); err != nil {
		g.t.Fatalf("%s: %v", method, err)
	}
}

// search looks for the secrets in all files, recorded output and running processes.
func (g *secretFixture) search() []secretscan.Finding {
	g.t.Helper()
	s, err := secretscan.New(g.secrets...)
	if err != nil {
		g.t.Fatal(err)
	}
	dir := filepath.Dir(g.place.Home) // the user's home directory
	found, err := s.Dir(dir)
	if err != nil {
		g.t.Error(err)
	}
	for name, said := range g.said {
		found = append(found, s.Bytes(name, []byte(said.String()))...)
	}
	for _, pid := range append(g.running, g.daemon()) {
		more, err := s.Process(pid)
		if err != nil {
			g.t.Error(err)
		}
		found = append(found, more...)
	}
	g.private(g.place.Home)
	log, err := os.ReadFile(g.place.LogPath())
	if err != nil || !bytes.Contains(log, []byte(`"level":"debug"`)) {
		g.t.Errorf("the log does not say all that it could: %v", err)
	}
	files, n := s.Searched()
	g.t.Logf("%d secrets looked for in %d files, %d KiB, and %d programs' words", len(g.secrets), files, n>>10, len(g.said))
	return found
}

// private checks that only the user can access the files in the state directory.
func (g *secretFixture) private(home string) {
	g.t.Helper()
	var seen []string
	err := filepath.WalkDir(home, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			g.t.Errorf("%s has mode %v", path, info.Mode())
		}
		seen = append(seen, entry.Name())
		return err
	})
	if err != nil || !slices.Contains(seen, "spawn.lock") || !slices.Contains(seen, "daemon.lock") {
		g.t.Errorf("in the state directory are %v, %v", seen, err)
	}
}

// daemon returns the daemon's process id.
func (g *secretFixture) daemon() int {
	g.t.Helper()
	var status protocol.StatusResult
	out, err := g.command(binary("swapkeep"), "--json", "status").Output()
	if err == nil {
		err = json.Unmarshal(out, &status)
	}
	if err != nil || status.PID <= 1 {
		g.t.Fatalf("status: %v\n%s", err, out)
	}
	return status.PID
}

// nowhere returns a configuration, not of a sandbox, of networks that do not answer and
// whose URLs contain an access key.
func nowhere(access string) string {
	var b strings.Builder
	ids := []int{1, 10, 56, 8453, 42161, 143, 43114, 5330, 39}
	for _, id := range ids {
		fmt.Fprintf(&b, "[networks.%d]\nrpc = [\"http://127.0.0.1:1/%s\"]\n", id, access)
	}
	return b.String() + "[chains]\nallow_loopback = " + strings.ReplaceAll(fmt.Sprintln(ids), " ", ", ")
}

// The user creates, imports, unlocks, exports and removes wallets, sometimes with a wrong
// password, in a browser and on terminals. No secret is found in the home, the log, the
// programs' output, environment or arguments. The secrets that are documented to be
// stored in plain text are found, which shows that the search works.
func TestPlantedSecretsAreNowhere(t *testing.T) {
	rpc := strings.ToLower(rand.Text())
	g := newSecretFixture(t, nowhere(rpc))
	g.secrets = append(g.secrets, secretscan.Text("access key of an RPC", rpc))
	password, fileWord := g.secret("password"), g.secret("password of a key file")
	const mnemonic = "melt video distance fortune orphan solar history unfold gossip burden face pistol" // a test mnemonic without funds
	g.words("imported words", mnemonic)
	single, inFile := newKey(t), newKey(t)
	g.secrets = append(g.secrets, secretscan.Key("imported key", crypto.FromECDSA(single)), secretscan.Key("key of a file", crypto.FromECDSA(inFile)))

	browser := g.open()
	var made protocol.CreateResult
	g.must(browser, "keys.create", protocol.CreateParams{Request: requests.NewUUID(), Password: []byte(password)}, &made)
	g.words("made words", string(made.Words))
	g.must(browser, "keys.unlock", protocol.UnlockParams{Password: []byte(password)}, nil)
	if err := g.ask(browser, "keys.unlock", protocol.UnlockParams{Password: []byte(g.secret("wrong password"))}, nil); !errors.Is(err, protocol.New("wrong_password", "")) {
		t.Errorf("a wrong password: %v", err)
	}
	if err := g.ask(browser, "keys.import", protocol.ImportParams{Request: requests.NewUUID(), Password: []byte(password), Mnemonic: []byte(g.secret("no words at all"))}, nil); err == nil {
		t.Error("what are no words are imported")
	}

	g.run(exitKeys, []string{g.secret("another wrong password")}, "keys", "unlock", "--password-fd", "0")
	g.run(exitOK, []string{mnemonic, password}, "keys", "import", "words", "--secret-fd", "0", "--password-fd", "0")
	g.run(exitOK, []string{spelt(single), password}, "keys", "import", "key", "--secret-fd", "0", "--password-fd", "0")
	g.run(exitOK, []string{fileWord, password}, "keys", "import", "keystore", "--file", keyFile(t, inFile, fileWord), "--keystore-password-fd", "0", "--password-fd", "0")
	g.run(exitOK, []string{password}, "keys", "unlock", "--password-fd", "0")
	g.run(exitOK, []string{g.secret("password of an exported file"), password}, "keys", "export", "keystore", "--of", crypto.PubkeyToAddress(inFile.PublicKey).Hex(),
		"--file", filepath.Join(filepath.Dir(g.place.Home), "exported.json"), "--keystore-password-fd", "0", "--password-fd", "0")
	for _, args := range [][]string{{"words", "--of", made.Wallet.ID}, {"key", "--of", crypto.PubkeyToAddress(single.PublicKey).Hex()}} {
		screen := g.sit([]string{"< Password", "> " + password, "< Type written", "> written"}, append([]string{"keys", "export"}, args...)...)
		if strings.Contains(screen, password) {
			t.Error("the password stands on the terminal")
		}
	}
	provider := g.secret("a provider's key")
	g.run(exitOK, []string{provider, password}, "providers", "set-key", "bridge", "--key-fd", "0", "--password-fd", "0")
	access := g.secret("access key in an address")
	address := "https://bridge.example/v3/" + access
	g.must(browser, "settings.set", protocol.SetParams{Key: "providers.bridge.base_url", Value: &address, Password: []byte(password)}, nil)
	g.run(exitOK, nil, "status")
	g.run(exitOK, nil, "settings")
	g.must(browser, "keys.remove", protocol.RemoveParams{Request: requests.NewUUID(), Wallet: made.Wallet.ID, Password: []byte(password)}, nil)

	open := map[string]bool{}
	for _, f := range g.search() {
		switch {
		case f.Secret == "a provider's key" && filepath.Dir(f.Place) == filepath.Join(g.place.Home, "keys"),
			f.Secret == "access key in an address" && f.Place == filepath.Join(g.place.Home, "orders.db"):
			open[f.Secret] = true // documented in docs/security.md
		default:
			t.Error(f)
		}
	}
	if len(open) != 2 {
		t.Errorf("of what is stored openly only %v is found: the search is blind", open)
	}
}

// Nor is any secret found after swaps with a sandbox wallet, from a browser and a
// terminal, although the words of a new wallet were shown once.
func TestPlantedSecretsAfterSwaps(t *testing.T) {
	box := sandboxtest.StartWith(t, sandbox.Options{Period: time.Second})
	if err := box.WriteKeys(t.TempDir()); err != nil {
		t.Fatal(err)
	}
	g := newSecretFixture(t, string(box.Config()))
	g.env = append(g.env, "SWAPKEEP_PRICES_DISABLED=false") // the sandbox's prices
	password := g.secret("password")
	browser := g.open()
	var made protocol.CreateResult
	g.must(browser, "keys.create", protocol.CreateParams{Request: requests.NewUUID(), Password: []byte(password)}, &made)
	g.words("made words", string(made.Words))
	accounts, err := sandbox.AccountsOf(string(made.Words), 1)
	if err != nil {
		t.Fatal(err)
	}
	ctx, chain := t.Context(), box.Chain(1)
	for _, token := range []common.Address{{}, sandboxtest.Token(t, chain, "WETH")} {
		if err := chain.Fund(ctx, accounts[0].Address, token, sandboxtest.Units(10, 18)); err != nil {
			t.Fatal(err)
		}
	}
	g.run(exitKeys, []string{g.secret("wrong password")}, "keys", "unlock", "--password-fd", "0")
	await.Until(t, 30*time.Second, "a price of ether", func() bool {
		var told protocol.PricesResult
		g.must(browser, "prices.list", protocol.PricesParams{Tokens: []protocol.Address{protocol.Native}}, &told)
		return len(told.Prices) == 1 && told.Prices[0].Now != ""
	})
	for pay, get := range map[string]string{"1 ETH": "USDC", "2 WETH": "USDC"} { // one transaction; an approval and a signature
		talk := []string{"< Password", "> " + password, "< Swap as reviewed?", "> yes", "< The result is proven"}
		if strings.HasSuffix(pay, " WETH") {
			talk = slices.Insert(talk, 2, "< Which offer", "> 1", "< Approve?", "> yes") // a pool swap or the auction
		}
		screen := g.sit(talk, "swap", pay, get, "--provider", "dex")
		if s, err := secretscan.New(g.secrets...); err != nil || len(s.Bytes("terminal", []byte(screen))) != 0 {
			t.Errorf("secrets stand on the terminal: %v", err)
		}
	}
	for _, f := range g.search() {
		t.Error(f)
	}
	g.readable(accounts[0].Address, chain)
}

// readable checks that a reader of the disk can find the account and the signed
// transactions of orders, as documented.
func (g *secretFixture) readable(account common.Address, chain *sandbox.Chain) {
	g.t.Helper()
	sent := chain.Transactions()
	if len(sent) == 0 {
		g.t.Fatal("the account sent no transaction")
	}
	s, err := secretscan.New(secretscan.Text("address", account.Hex()), secretscan.Key("signed transaction", sent[len(sent)-1].Raw))
	if err != nil {
		g.t.Fatal(err)
	}
	found, err := s.File(filepath.Join(g.place.Home, "orders.db"))
	for _, what := range []string{"address", "signed transaction"} {
		if !slices.ContainsFunc(found, func(f secretscan.Finding) bool { return f.Secret == what }) {
			g.t.Errorf("the %s is not in orders.db: %v", what, err)
		}
	}
}

// Guessing with a new process for each guess, and killing the daemon after each, makes
// nobody wait longer than the throttle does, and leaves no file in the home.
func TestGuessesAndARestart(t *testing.T) {
	g := newSecretFixture(t, nowhere("key"))
	password := g.secret("password")
	g.must(g.open(), "keys.create", protocol.CreateParams{Request: requests.NewUUID(), Password: []byte(password)}, nil)
	unlock := func(status int, word string) {
		t.Helper()
		g.run(status, []string{word}, "keys", "unlock", "--password-fd", "0")
	}
	for range 2 {
		unlock(exitKeys, "not the password")
		if err := processes.Kill(g.daemon()); err != nil {
			t.Fatal(err)
		}
		wait, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		if err := owner.WaitFree(wait, g.place); err != nil {
			t.Fatal(err)
		}
		cancel()
	}
	for range 3 {
		unlock(exitKeys, "not the password")
	}
	unlock(exitOK, password)
	if left, _ := filepath.Glob(filepath.Join(g.place.Home, "guess*")); len(left) > 0 {
		t.Errorf("left in the home: %v", left)
	}
}

func newKey(t *testing.T) *ecdsa.PrivateKey {
	t.Helper()
	key, err := crypto.GenerateKey()
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func spelt(key *ecdsa.PrivateKey) string { return hexutil.Encode(crypto.FromECDSA(key)) }

// keyFile writes a keystore file like another wallet does.
func keyFile(t *testing.T, key *ecdsa.PrivateKey, password string) string {
	t.Helper()
	files, err := keys.OpenFiles(filepath.Join(t.TempDir(), "keys"))
	if err != nil {
		t.Fatal(err)
	}
	store, err := keys.NewStore(files, "another", keys.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	v, err := keys.New(store, keys.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(v.Close)
	if _, err := v.ImportKey(t.Context(), "", []byte(spelt(key)), []byte(password)); err != nil {
		t.Fatal(err)
	}
	text, err := v.Export(t.Context(), keys.Export{
		Form: keys.FormKeystore, Account: crypto.PubkeyToAddress(key.PublicKey), Password: []byte(password), KeystorePassword: []byte(password),
	})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "key.json")
	if err := os.WriteFile(path, text.Reveal(), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
