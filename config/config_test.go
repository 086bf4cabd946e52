package config

import (
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
		{"unknown variable", "", "SWAPKEEP_KEYS_BACKAND=os", "no such key"},
		{"backend", "[keys]\nbackend = \"cloud\"\n", "", "os or file"},
		{"auto lock", "", "SWAPKEEP_KEYS_AUTO_LOCK=0s", "1m to 24h"},
		{"plain http", "[providers.dex]\nbase_url = \"http://dex.example\"\n", "", "https"},
		{"loopback outside the sandbox", "[providers.dex]\nbase_url = \"https://127.0.0.1\"\n", "", "sandbox only"},
		{"outside from the sandbox", "sandbox = true\n[providers.dex]\nbase_url = \"https://dex.example\"\n", "", "only reach this machine"},
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

// A file that anybody may write says what anybody wants.
func TestFileOpenToOthers(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.toml")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for mode, refused := range map[os.FileMode]bool{0o600: false, 0o644: false, 0o664: false, 0o666: true, 0o602: true} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		_, err := Load([]string{"SWAPKEEP_CONFIG=" + path})
		if refused != (err != nil && strings.Contains(err.Error(), "chmod o-w")) {
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

// An access key in a URL is not repeated where logs and screens are.
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

// FuzzParse: no file crashes the reader.
func FuzzParse(f *testing.F) {
	f.Add("sandbox = true\n[networks.1]\nrpc = [\"http://127.0.0.1:2\"]\n")
	f.Add("[keys]\nauto_lock = \"x\"\n")
	f.Add("[[networks]]\n")
	f.Fuzz(func(t *testing.T, in string) {
		c := Default()
		if err := c.parse([]byte(in)); err == nil {
			_ = c.Check()
		}
	})
}
