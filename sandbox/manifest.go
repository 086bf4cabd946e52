package sandbox

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/crypto"

	"swapkeep/sandbox/eip55"
)

// ManifestVersion is the version of sandbox.json's schema, which README.md documents.
const ManifestVersion = 1

// Depth is the number of confirmations that config.toml sets.
const Depth = 2

// A Manifest is the content of sandbox.json: what runs at which address.
type Manifest struct {
	Version   int                        `json:"version"`
	Warning   string                     `json:"warning"`
	Control   string                     `json:"control"`
	Chains    []ManifestChain            `json:"chains"`
	Providers map[string]ManifestService `json:"providers"`
	Prices    map[string]ManifestPrices  `json:"prices"`
	Mnemonic  string                     `json:"mnemonic"`
	Accounts  []ManifestAccount          `json:"accounts"`
	Services  map[string]ManifestAccount `json:"services"`
}

// A ManifestChain is a running chain.
type ManifestChain struct {
	ID        uint64                   `json:"id"`
	Name      string                   `json:"name"`
	RPC       string                   `json:"rpc"`
	WS        string                   `json:"ws"`
	Depth     int                      `json:"depth"`
	Native    string                   `json:"native"`
	Wrapped   ManifestToken            `json:"wrapped"`
	Tokens    []ManifestToken          `json:"tokens"`
	Contracts map[string]eip55.Address `json:"contracts"`
}

// A ManifestToken is an ERC-20 token. MicroUSD is its starting price in the pools, in
// millionths of a US dollar.
type ManifestToken struct {
	Address  eip55.Address `json:"address"`
	Symbol   string        `json:"symbol"`
	Name     string        `json:"name"`
	Decimals uint8         `json:"decimals"`
	MicroUSD int64         `json:"microUsd"`
	Tether   bool          `json:"tether,omitempty"`
}

// A ManifestService is a provider's simulator. If it demands a key, clients call Proxy,
// which holds the key.
type ManifestService struct {
	BaseURL string `json:"baseUrl"`
	Proxy   string `json:"proxy,omitempty"`
	// URLs are its addresses by configuration key of the daemon, such as base_url.
	URLs map[string]string `json:"urls"`
}

// ManifestPrices is a price service's simulator.
type ManifestPrices struct {
	BaseURL string `json:"baseUrl"`
}

// A ManifestAccount holds funds on every chain. Users' accounts are listed by index,
// service accounts by name.
type ManifestAccount struct {
	Index   uint32        `json:"index"`
	Address eip55.Address `json:"address"`
	Key     hexutil.Bytes `json:"privateKey"`
	Public  bool          `json:"public"` // always true: the key is public knowledge
}

const warning = "PUBLIC TEST KEYS. The chains have real chain ids: whatever these accounts sign is valid on the real chains. Never send funds to them."

// Manifest describes the running sandbox.
func (s *Sandbox) Manifest() Manifest {
	m := Manifest{
		Version: ManifestVersion, Warning: warning, Control: s.ControlURL(), Mnemonic: Mnemonic,
		Providers: map[string]ManifestService{}, Prices: map[string]ManifestPrices{}, Services: map[string]ManifestAccount{},
	}
	for _, sim := range s.simulators {
		if sim.prices {
			m.Prices[sim.kind] = ManifestPrices{s.BaseURL(sim.kind)}
			continue
		}
		m.Providers[sim.kind] = s.service(sim)
	}
	for _, c := range s.chains {
		n := c.Network
		entry := ManifestChain{
			ID: n.ID, Name: n.Name, RPC: c.RPC(), WS: c.WS(), Depth: Depth,
			Native: n.Native, Wrapped: manifestToken(n.Wrapped), Contracts: manifestContracts(n),
		}
		for _, t := range n.Tokens {
			entry.Tokens = append(entry.Tokens, manifestToken(t))
		}
		m.Chains = append(m.Chains, entry)
	}
	for _, a := range s.accounts {
		m.Accounts = append(m.Accounts, manifestAccount(a))
	}
	for name, a := range s.services {
		m.Services[name] = manifestAccount(a)
	}
	return m
}

func (s *Sandbox) service(sim *simulator) ManifestService {
	m := ManifestService{BaseURL: s.BaseURL(sim.kind), URLs: map[string]string{}}
	for _, k := range sim.paths {
		m.URLs[k.key] = sim.address(k)
	}
	if sim.kind == proxiedKind {
		m.Proxy = s.proxy
	}
	return m
}

func manifestAccount(a Account) ManifestAccount {
	return ManifestAccount{a.Index, eip55.Address(a.Address), crypto.FromECDSA(a.Key), true}
}

func manifestToken(t Token) ManifestToken {
	return ManifestToken{eip55.Address(t.Address), t.Symbol, t.Name, t.Decimals, t.MicroUSD, t.Tether}
}

func manifestContracts(n Network) map[string]eip55.Address {
	out := map[string]eip55.Address{}
	for name, address := range n.Named() {
		out[name] = eip55.Address(address)
	}
	return out
}

// FeeReceiver receives the wallet's fee: account 3 of the mnemonic.
var FeeReceiver = common.HexToAddress("0x90F79bf6EB2c4f870365E785982E1f101E93b906")

// Config returns the daemon's configuration for this sandbox, in TOML. Call WriteKeys
// first: key_file is written only for a key that has been written.
func (s *Sandbox) Config() []byte {
	var b bytes.Buffer
	b.WriteString("# Written by swapkeep-sandbox. The keys of the sandbox are public.\nsandbox = true\n")
	if ended := s.ended(); len(ended) > 0 {
		fmt.Fprintf(&b, "\n# Only a daemon built for fault tests treats these chains as running.\n[chains]\nrevived = [%s]\n", strings.Join(ended, ", "))
	}
	for _, c := range s.chains {
		fmt.Fprintf(&b, "\n[networks.%d]\nrpc = [%q, %q]\ndepth = %d\n", c.ID, c.RPCs()[0], c.RPCs()[1], Depth)
	}
	// Any free port, as the user may run a daemon of their own as well.
	b.WriteString("\n[prices]\nlisten = \"127.0.0.1:0\"\n")
	for _, sim := range s.simulators {
		section := "providers"
		if sim.prices {
			section = "prices.sources"
		}
		fmt.Fprintf(&b, "\n[%s.%s]\n", section, sim.kind)
		for _, k := range sim.paths {
			fmt.Fprintf(&b, "%s = %q\n", k.key, s.address(sim, k))
		}
		if sim.kind == proxiedKind && s.proxyToken != "" {
			fmt.Fprintf(&b, "token_file = %q\n", s.proxyToken)
		}
		if sim.kind == "bridge" && s.bridgeKeyFile != "" {
			fmt.Fprintf(&b, "key_file = %q\n", s.bridgeKeyFile)
		}
	}
	fmt.Fprintf(&b, "\n[fees]\nreceiver = %q\nname = %q\nwebsite = %q\n", FeeReceiver.Hex(), "Swapkeep Sandbox", "https://example.org")
	return b.Bytes()
}

// ended lists the ids of the running chains whose real ones were shut down.
func (s *Sandbox) ended() (ids []string) {
	for _, c := range s.chains {
		if c.Network.Ended {
			ids = append(ids, strconv.FormatUint(c.Network.ID, 10))
		}
	}
	return ids
}

// proxiedKind is the kind of the provider that BehindProxy puts behind a proxy.
const proxiedKind = "dex"

// address returns the URL where the daemon reaches a provider: the proxy's if there is
// one.
func (s *Sandbox) address(sim *simulator, k pathKey) string {
	if sim.kind == proxiedKind && s.proxy != "" {
		return s.proxy
	}
	return sim.address(k)
}

// WriteFiles writes the provider keys, sandbox.json and config.toml to a directory, which
// it creates if need be. Each file is replaced atomically.
func (s *Sandbox) WriteFiles(dir string) error {
	manifest, err := json.MarshalIndent(s.Manifest(), "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	if err := s.WriteKeys(dir); err != nil {
		return err
	}
	files := map[string][]byte{"sandbox.json": append(manifest, '\n'), "config.toml": s.Config()}
	for name, content := range files {
		if err := replaceFile(filepath.Join(dir, name), content); err != nil {
			return err
		}
	}
	return nil
}

// WriteKeys writes the bridge's API key to an existing directory, readable by the owner
// only. Call it before Config.
func (s *Sandbox) WriteKeys(dir string) error {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	s.bridgeKeyFile = filepath.Join(dir, "bridge-key")
	return replaceFile(s.bridgeKeyFile, []byte(s.bridgeKey+"\n"))
}

func replaceFile(path string, content []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}
