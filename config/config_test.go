package config

import (
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func load(t *testing.T, file string, env ...string) (Config, error) {
	t.Helper()
	env = append([]string{"XDG_CONFIG_HOME=" + t.TempDir()}, env...)
	if file != "" {
		path := filepath.Join(t.TempDir(), "config.toml")
		if err := os.WriteFile(path, []byte(file), 0o600); err != nil {
			t.Fatal(err)
		}
		env = append(env, "SWAPKEEP_CONFIG="+path)
	}
	return Load(env)
}

func TestOrderOfSources(t *testing.T) {
	file := "sandbox = true\n[providers.dex]\nbase_url = \"http://127.0.0.1:1/v1\"\n[networks.1]\nrpc = [\"http://127.0.0.1:2\"]\ndepth = 2\n[keys]\nauto_lock = \"1h\"\n"
	c, err := load(t, file, "SWAPKEEP_PROVIDERS_DEX_BASE_URL=http://127.0.0.1:9/v1", "SWAPKEEP_NETWORKS_1_RPC=http://127.0.0.1:3, http://127.0.0.1:4", "SWAPKEEP_KEYS_AUTO_LOCK=2m")
	if err != nil {
		t.Fatal(err)
	}
	if got := c.Providers.DEX.BaseURL; got != "http://127.0.0.1:9/v1" {
		t.Errorf("base_url = %q", got)
	}
	n := c.Networks["1"]
	if !slices.Equal(n.RPC, []string{"http://127.0.0.1:3", "http://127.0.0.1:4"}) || n.Depth != 2 {
		t.Errorf("network 1 = %+v", n)
	}
	if time.Duration(c.Keys.AutoLock) != 2*time.Minute || c.Keys.Backend != "os" {
		t.Errorf("keys = %+v", c.Keys)
	}
	c, err = Load([]string{"XDG_CONFIG_HOME=" + t.TempDir(), "SWAPKEEP_LOG_LEVEL=warn"}, "log.level=debug")
	if err != nil || c.Log.Level != "debug" {
		t.Errorf("flags last: %q, %v", c.Log.Level, err)
	}
}

func TestRefused(t *testing.T) {
	for _, c := range []struct{ name, file, env, want string }{
		{"unknown key", "[keys]\nbackand = \"os\"\n", "", "unknown key keys.backand"},
		{"unknown variable", "", "SWAPKEEP_KEYS_BACKAND=os", "unknown configuration key"},
		{"backend", "[keys]\nbackend = \"cloud\"\n", "", "os or file"},
		{"auto lock", "", "SWAPKEEP_KEYS_AUTO_LOCK=0s", "1m to 24h"},
		{"plain http", "[providers.dex]\nbase_url = \"http://dex.example\"\n", "", "https"},
		{"loopback outside the sandbox", "[providers.dex]\nbase_url = \"https://127.0.0.1\"\n", "", "only allowed in the sandbox"},
		{"plain http of the bridge", "[providers.bridge]\nbase_url = \"http://bridge.example\"\n", "", "providers.bridge.base_url"},
		{"plain http of the intents", "[providers.intent]\nbase_url = \"http://intent.example\"\n", "", "providers.intent.base_url"},
		{"plain http of the intents, in windows", "", "SWAPKEEP_PROVIDERS_INTENT_FRONTEND_BASE_URL=http://intent.example", "providers.intent.frontend_base_url"},
		{"plain http of the gasless orders", "[providers.gasless]\nbase_url = \"http://gasless.example\"\n", "", "providers.gasless.base_url"},
		{"an ended network outside the sandbox", "[chains]\nrevived = [5330]\n", "", "runs in a sandbox only"},
		{"outside from the sandbox", "sandbox = true\n[providers.dex]\nbase_url = \"https://dex.example\"\n", "", "only reach this machine"},
		{"a websocket as a sandbox's base URL", "sandbox = true\n[providers.bridge]\nbase_url = \"ws://127.0.0.1:1\"\n", "", "must be http or https"},
		{"no scheme of the web in the sandbox", "sandbox = true\n[providers.dex]\nbase_url = \"file://localhost/v1\"\n", "", "must be http or https"},
		{"credentials in a URL", "[providers.dex]\nbase_url = \"https://a:b@dex.example\"\n", "", "not a plain URL"},
		{"type", "", "SWAPKEEP_LIMITS_OPEN_ORDERS=many", "invalid syntax"},
		{"a table", "", "SWAPKEEP_KEYS=x", "a table"},
		{"relative folder", "", "XDG_CONFIG_HOME=here", "absolute"},
		{"relative home", "", "SWAPKEEP_HOME=here", "absolute"},
		{"missing file", "", "SWAPKEEP_CONFIG=/nonexistent/config.toml", "no such file"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var env []string
			if c.env != "" {
				env = append(env, c.env)
			}
			_, err := load(t, c.file, env...)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q in it", err, c.want)
			}
		})
	}
}

// A file that others may write is refused.
func TestFileOpenToOthers(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.toml")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for mode, refused := range map[os.FileMode]bool{0o600: false, 0o644: false, 0o666: true, 0o602: true} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		_, err := Load([]string{"SWAPKEEP_CONFIG=" + path})
		if refused != (err != nil && strings.HasSuffix(err.Error(), "chmod go-w "+path)) {
			t.Errorf("mode %04o: %v", mode, err)
		}
	}
	if _, err := Load([]string{"SWAPKEEP_CONFIG=" + os.DevNull}); err != nil {
		t.Errorf("no file at all: %v", err)
	}
	if err := os.WriteFile(path, make([]byte, maxFile+1), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Load([]string{"SWAPKEEP_CONFIG=" + path}); err == nil || !strings.Contains(err.Error(), "over") {
		t.Errorf("a file without end: %v", err)
	}
}

// An access key in a URL does not appear in errors, which are logged and shown.
func TestURLIsNotEchoed(t *testing.T) {
	for _, url := range []string{"http://dex.example/v1/ACCESSKEY", "https://127.0.0.1/ACCESSKEY", "https://dex.example/?k=ACCESSKEY", "ftp://dex.example/ACCESSKEY", "https://a:ACCESSKEY@dex.example"} {
		_, err := load(t, "", "SWAPKEEP_PROVIDERS_DEX_BASE_URL="+url)
		if err == nil || strings.Contains(err.Error(), "ACCESSKEY") {
			t.Errorf("%s: %v", url, err)
		}
	}
	_, err := load(t, "sandbox = true", "SWAPKEEP_PROVIDERS_DEX_BASE_URL=https://dex.example/ACCESSKEY")
	if err == nil || strings.Contains(err.Error(), "ACCESSKEY") {
		t.Errorf("sandbox: %v", err)
	}
}

// FuzzParse: an accepted file is within the bounds, uses no plain http outside the sandbox,
// and each of its values can be set again as a setting without change.
func FuzzParse(f *testing.F) {
	f.Add("sandbox = true\n[networks.1]\nrpc = [\"http://127.0.0.1:2\"]\n")
	f.Add("[keys]\nauto_lock = \"x\"\n")
	f.Add("[keys]\nauto_lock = \"1h0m0.5s\"\n[swap]\nslippage = 0.5\n[ui]\nlanguage = \"pt-BR\"\n")
	f.Add("[providers.dex]\nbase_url = \"https://dex.example/KEY\"\ntoken_file = \"/t\"\n[prices]\nlisten = \"127.0.0.1:1\"\n")
	f.Add("[providers.intent]\nbase_url = \"https://a@b.example\"\n")
	f.Add("[swap]\nslippage = 5e1\n[limits]\nopen_orders = 0x10\n")
	f.Add("[[networks]]\n")
	f.Add("keys.backend = 'file'\nkeys.backend = 'os'\n")
	f.Fuzz(func(t *testing.T, in string) {
		c := Default()
		if c.parse([]byte(in)) != nil || c.Check() != nil {
			return
		}
		if auto := time.Duration(c.Keys.AutoLock); auto < time.Minute || auto > 24*time.Hour || c.Swap.Slippage.Hundredths < 1 || c.Swap.Slippage.Hundredths > 5000 || c.Limits.OpenOrders < 1 {
			t.Fatalf("%q is out of bounds: %+v", in, c)
		}
		for name, raw := range c.urls() {
			u, err := url.Parse(raw)
			if raw != "" && (err != nil || u.User != nil || u.Host == "" || u.Scheme != "https" && !(c.Sandbox && u.Scheme == "http")) {
				t.Fatalf("%s is %q", name, raw)
			}
		}
		for _, key := range []string{"keys.backend", "keys.auto_lock", "swap.slippage", "limits.open_orders", "ui.language", "ui.currency", "prices.listen", "providers.dex.base_url", "fees.fee_bps"} {
			values, err := c.Values(key)
			if err != nil {
				t.Fatal(err)
			}
			same, err := c.With(map[string][]string{key: values})
			if err != nil {
				t.Fatalf("%s = %q is accepted of a file alone: %v", key, values, err)
			}
			if again, err := same.Values(key); err != nil || !slices.Equal(again, values) {
				t.Fatalf("%s = %q becomes %q: %v", key, values, again, err)
			}
		}
	})
}

// FuzzTokenFile: a token is read whole or not at all, and no error contains it.
func FuzzTokenFile(f *testing.F) {
	token := strings.Repeat("t", minToken)
	for _, s := range []string{token, token + "\n", "\ufeff" + token, token + " x", "t", strings.Repeat("t", maxToken+1), token + "\x00", "\u00a0" + token, ""} {
		f.Add([]byte(s))
	}
	path := filepath.Join(f.TempDir(), "token")
	f.Fuzz(func(t *testing.T, text []byte) {
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		p := Provider{TokenFile: path}
		got, err := p.InstallationToken()
		want := strings.TrimSpace(string(text))
		switch {
		case err != nil && (got != "" || len(want) >= minToken && strings.Contains(err.Error(), want)):
			t.Fatalf("secretIn = %q, %v, want no secret in the result or the error", got, err)
		case err == nil && (got != want || (Provider{Token: got}).checkToken() != nil):
			t.Fatalf("%q is read of %q", got, text)
		}
	})
}

// A setting overrides the file and is overridden by environment and flags.
func TestSettings(t *testing.T) {
	file := "[keys]\nauto_lock = \"1h\"\n[swap]\nslippage = 0.25\n[networks.1]\nrpc = [\"https://a.example/KEY\"]\ndepth = 9\n"
	token := strings.Repeat("t", minToken)
	c, err := load(t, file, "SWAPKEEP_LIMITS_OPEN_ORDERS=7", tokenVariable+"="+token)
	if err != nil {
		t.Fatal(err)
	}
	with, err := c.With(map[string][]string{
		"keys.auto_lock": {"5m"}, "limits.open_orders": {"9"}, "ui.language": {"pt-BR"},
		"networks.1.rpc": {"https://b.example", "https://c.example"}, "networks.10.rpc": {"https://d.example"},
	})
	if err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]struct {
		values string
		source Source
	}{
		"keys.auto_lock": {"5m0s", FromSetting}, "limits.open_orders": {"7", FromEnvironment}, "ui.language": {"pt-BR", FromSetting},
		"networks.1.rpc": {"https://b.example https://c.example", FromSetting}, "networks.1.depth": {"9", FromFile},
		"networks.10.rpc": {"https://d.example", FromSetting}, "networks.10.depth": {"0", FromDefault},
		"swap.slippage": {"0.25", FromFile}, "ui.currency": {"USD", FromDefault}, "providers.dex.disabled": {"false", FromDefault},
	} {
		values, err := with.Values(key)
		if got := strings.Join(values, " "); err != nil || got != want.values || with.Origin(key).Source != want.source {
			t.Errorf("%s is %q from %v, %v; want %+v", key, got, with.Origin(key), err, want)
		}
	}
	if with.Providers.DEX.Token != token || with.File != c.File || with.File == "" {
		t.Errorf("what is no key is lost: %+v", with)
	}
	if c.Networks["1"].RPC[0] != "https://a.example/KEY" || len(c.Networks) != 1 || c.UI.Language != "en" || c.Origin("keys.auto_lock").Source != FromFile {
		t.Errorf("the configuration itself has changed: %+v", c)
	}
	for key, values := range map[string][]string{
		"keys.auto_lock": {"1s"}, "swap.slippage": {"0"}, "ui.currency": {"usd"}, "providers.dex.base_url": {"http://x.example"},
		"no.such.key": {"1"}, "networks.1": {"1"}, "limits.open_orders": {"many"},
	} {
		if key == "limits.open_orders" {
			c.origins = nil
		}
		if _, err := c.With(map[string][]string{key: values}); err == nil {
			t.Errorf("%s = %v was taken", key, values)
		}
	}
	for _, key := range []string{"no", "keys", "keys.backend.x", "networks.1", ""} {
		if v, err := c.Values(key); err == nil {
			t.Errorf("%q has the values %v", key, v)
		}
	}
}

func TestPercents(t *testing.T) {
	for in, want := range map[string]string{"slippage = 0.5": "0.5", "slippage = \"1.25\"": "1.25", "slippage = 50": "50", "slippage = 3.0": "3"} {
		c, err := load(t, "[swap]\n"+in+"\n")
		if err != nil {
			t.Errorf("%s: %v", in, err)
			continue
		}
		if b, _ := c.Swap.Slippage.MarshalText(); string(b) != want {
			t.Errorf("%s became %s", in, b)
		}
	}
	for _, in := range []string{"0", "51", "0.001", "-1", "1e1", "nan", "true"} {
		if _, err := load(t, "[swap]\nslippage = "+in+"\n"); err == nil {
			t.Errorf("slippage %s was taken", in)
		}
	}
}

func TestOrigins(t *testing.T) {
	c, err := Load([]string{"XDG_CONFIG_HOME=" + t.TempDir(), "SWAPKEEP_LOG_LEVEL=warn", "SWAPKEEP_KEYS_AUTO_LOCK=2m"}, "log.level=debug")
	if err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]Origin{
		"log.level": {FromFlag, "log.level"}, "keys.auto_lock": {FromEnvironment, "SWAPKEEP_KEYS_AUTO_LOCK"}, "keys.backend": {FromDefault, ""},
	} {
		if got := c.Origin(key); got != want {
			t.Errorf("%s: %+v, want %+v", key, got, want)
		}
	}
}

// Fields that are not keys cannot be set as keys.
func TestFieldsThatAreNoKeys(t *testing.T) {
	for _, flag := range []string{"=x", "-=x", "keys.=x", ".=x"} {
		if _, err := Load([]string{"XDG_CONFIG_HOME=" + t.TempDir()}, flag); err == nil {
			t.Errorf("%q was taken", flag)
		}
	}
}

// A token comes from the environment or from a file that nobody else can read, and from
// nowhere else.
func TestInstallationToken(t *testing.T) {
	const token, other = "test-token-of-no-installation", "other-token-of-no-installation"
	path := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(path, []byte(token+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := load(t, "[providers.dex]\ntoken_file = \""+path+"\"\n")
	if err != nil {
		t.Fatal(err)
	}
	if got, err := c.Providers.DEX.InstallationToken(); got != token || err != nil {
		t.Errorf("from the file: %q, %v", got, err)
	}
	if err := os.WriteFile(path, []byte(other), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, _ := c.Providers.DEX.InstallationToken(); got != other {
		t.Error("a new token does not count")
	}
	for text, mode := range map[string]os.FileMode{other: 0o640, "too short": 0o600, other + " " + other: 0o600} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		if got, err := c.Providers.DEX.InstallationToken(); got != "" || err == nil || strings.Contains(err.Error(), text) {
			t.Errorf("%04o %q: %v", mode, text, err)
		}
	}
	if c, err = load(t, "[providers.bridge]\nkey_file = \""+path+"\"\n"); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{"k\n": "k", "": "", "a key": ""} {
		if err := errors.Join(os.WriteFile(path, []byte(text), 0o600), os.Chmod(path, 0o600)); err != nil {
			t.Fatal(err)
		}
		if got, err := c.Providers.Bridge.Key(); got != want || (err == nil) != (want != "") {
			t.Errorf("the bridge's key from %q: %q, %v", text, got, err)
		}
	}
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Providers.Bridge.Key(); err == nil {
		t.Error("a key that others may read is read")
	}
	if c, err = load(t, "", tokenVariable+"="+token); err != nil {
		t.Fatal(err)
	}
	if got, err := c.Providers.DEX.InstallationToken(); got != token || err != nil {
		t.Errorf("from the environment: %q, %v", got, err)
	}
	none, err := load(t, "")
	if err != nil {
		t.Fatal(err)
	}
	if got, err := none.Providers.DEX.InstallationToken(); got != "" || err != nil {
		t.Errorf("from nowhere: %q, %v", got, err)
	}
	for _, bad := range []struct{ file, env string }{
		{"[providers.dex]\ntoken = \"" + token + "\"\n", ""},
		{"[providers.dex]\ntoken_file = \"token\"\n", ""},
		{"[providers.bridge]\nkey_file = \"key\"\n", ""},
		{"[providers.dex]\ntoken_file = \"" + path + "\"\n", tokenVariable + "=" + token},
		{"", tokenVariable + "=short"},
	} {
		if _, err := load(t, bad.file, bad.env); err == nil || strings.Contains(err.Error(), token) {
			t.Errorf("%+v: %v", bad, err)
		}
	}
	if _, err := Load([]string{"XDG_CONFIG_HOME=" + t.TempDir()}, "providers.dex.token="+token); err == nil || strings.Contains(err.Error(), token) {
		t.Errorf("as an argument: %v", err)
	}
}
