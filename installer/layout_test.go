package installer

import (
	"path/filepath"
	"runtime"
	"testing"

	"swapkeep/host/transport"
	"swapkeep/manifest"
)

// The receipts are in the daemon's state directory, for both packages that determine it.
func TestOneStateDirectory(t *testing.T) {
	home := filepath.Join(t.TempDir(), "ann")
	for _, env := range []map[string]string{
		{"HOME": home, "LOCALAPPDATA": home},
		{"HOME": home, "LOCALAPPDATA": home, "XDG_STATE_HOME": filepath.Join(home, "state")},
		{"HOME": home, "LOCALAPPDATA": home, "XDG_STATE_HOME": "state"},
	} {
		getenv := func(name string) string { return env[name] }
		path, err := ReceiptsPath(Machine{OS: runtime.GOOS, Home: home, Env: getenv}, manifest.User)
		want, wantErr := transport.DefaultHome(getenv)
		if err != nil || wantErr != nil || filepath.Dir(path) != want {
			t.Errorf("%v: %s and %s, %v, %v", env, path, want, err, wantErr)
		}
	}
}
