package config

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestInstalledExtensions(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "swapkeep", "extensions.json")
	env := []string{"XDG_CONFIG_HOME=" + dir, "SWAPKEEP_EXTENSIONS_CHROMIUM=of-the-environment,both"}
	c, err := Load(env)
	if err != nil || c.ExtensionsFile != path || len(c.Installed.Chromium) != 0 {
		t.Fatalf("without the file: %q, %v, %v", c.ExtensionsFile, c.Installed, err)
	}
	if err := os.Mkdir(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ name, text, refused string }{
		{"two families", `{"chromium": ["both", "installed"], "firefox": ["a@b"]}`, ""},
		{"unknown key", `{"chrome": []}`, `unknown field "chrome"`},
		{"no list", `{"chromium": "installed"}`, "cannot unmarshal"},
		{"data after the list", `{} {}`, "more than one value"},
		{"not JSON", `chromium = []`, "invalid character"},
		{"too large", `{"chromium": ["` + strings.Repeat("x", maxFile) + `"]}`, "over 1048576 bytes"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if err := os.WriteFile(path, []byte(tt.text), 0o644); err != nil {
				t.Fatal(err)
			}
			c, err := Load(env)
			if tt.refused != "" {
				if err == nil || !strings.Contains(err.Error(), tt.refused) || !strings.Contains(err.Error(), path) {
					t.Fatalf("error %v, want %q and the path in it", err, tt.refused)
				}
				return
			}
			if err != nil || !slices.Equal(c.Extensions.Chromium, []string{"of-the-environment", "both", "installed"}) ||
				!slices.Equal(c.Extensions.Firefox, []string{"a@b"}) || !slices.Equal(c.Installed.Chromium, []string{"both", "installed"}) {
				t.Errorf("%v, let in %v, %v", c.Extensions, c.Installed, err)
			}
		})
	}
	if err := os.WriteFile(path, []byte("{}"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(env); err == nil || !strings.Contains(err.Error(), "chmod go-w") {
		t.Errorf("writable by others: %v", err)
	}
}

// extensions.json belongs to the configuration file, wherever that is.
func TestInstalledExtensionsBesideTheConfiguration(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"config.toml": "[extensions]\nfirefox = [\"x@y\"]\n", "extensions.json": `{"firefox":["a@b"]}`} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c, err := Load([]string{"SWAPKEEP_CONFIG=" + filepath.Join(dir, "config.toml")})
	if err != nil || !slices.Equal(c.Extensions.Firefox, []string{"x@y", "a@b"}) {
		t.Errorf("Extensions = %v, %v, want Firefox [x@y a@b]", c.Extensions, err)
	}
}
