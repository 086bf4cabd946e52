package graph

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// Programs as bits.
const (
	command = 1 << iota // swapkeep, which is also the relay
	daemon
	server
)

var programs = map[string]int{"swapkeep": command, "swapkeepd": daemon, "swapkeep-server": server}

// linkedModules lists the third-party modules that the programs link, on any system they are built
// for. Each addition is decided here; make audit shows their versions.
var linkedModules = []struct {
	module string
	by     int
	way    string // the package that imports it; "": one of ours
}{
	{"github.com/bits-and-blooms/bitset", daemon | server, "github.com/consensys/gnark-crypto/ecc/bls12-381/fr"},
	{"github.com/cespare/xxhash/v2", daemon | server, "go.opentelemetry.io/otel/attribute/internal/xxhash"},
	{"github.com/consensys/gnark-crypto", daemon | server, "github.com/crate-crypto/go-eth-kzg"},
	{"github.com/crate-crypto/go-eth-kzg", daemon | server, "github.com/ethereum/go-ethereum/crypto/kzg4844"},
	{"github.com/danielgtaylor/huma/v2", daemon | server, ""},
	{"github.com/danieljoos/wincred", daemon, "github.com/zalando/go-keyring"},
	{"github.com/deckarep/golang-set/v2", daemon | server, "github.com/ethereum/go-ethereum/rpc"},
	{"github.com/decred/dcrd/dcrec/secp256k1/v4", daemon | server, ""},
	{"github.com/ethereum/go-ethereum", daemon | server, ""},
	{"github.com/fjl/jsonw", daemon | server, "github.com/ethereum/go-ethereum/rpc"},
	{"github.com/go-logr/logr", daemon | server, "go.opentelemetry.io/otel"},
	{"github.com/go-logr/stdr", daemon | server, "go.opentelemetry.io/otel/internal/global"},
	{"github.com/go-ole/go-ole", daemon | server, "github.com/StackExchange/wmi"},
	{"github.com/godbus/dbus/v5", daemon, ""},
	{"github.com/google/uuid", command | daemon, ""},
	{"github.com/gorilla/mux", daemon | server, ""},
	{"github.com/gorilla/websocket", daemon | server, ""},
	{"github.com/holiman/uint256", daemon | server, ""},
	{"github.com/inconshreveable/mousetrap", command | server, "github.com/spf13/cobra"},
	{"github.com/jackc/pgpassfile", server, "github.com/jackc/pgx/v5/pgconn"},
	{"github.com/jackc/pgservicefile", server, "github.com/jackc/pgx/v5/pgconn"},
	{"github.com/jackc/pgx/v5", server, ""},
	{"github.com/jackc/puddle/v2", server, "github.com/jackc/pgx/v5/pgxpool"},
	{"github.com/mattn/go-colorable", daemon | server, "github.com/rs/zerolog"},
	{"github.com/mattn/go-isatty", daemon | server, "github.com/mattn/go-colorable"},
	{"github.com/Microsoft/go-winio", command | daemon | server, ""},
	{"github.com/pelletier/go-toml/v2", command | daemon | server, ""},
	{"github.com/redis/go-redis/v9", server, ""},
	{"github.com/rs/zerolog", daemon | server, ""},
	{"github.com/shirou/gopsutil", daemon | server, "github.com/ethereum/go-ethereum/metrics"},
	{"github.com/spf13/cobra", command | server, ""},
	{"github.com/spf13/pflag", command | server, ""},
	{"github.com/StackExchange/wmi", daemon | server, "github.com/shirou/gopsutil/cpu"},
	{"github.com/swaggest/swgui", daemon | server, ""},
	{"github.com/tklauser/go-sysconf", daemon | server, "github.com/shirou/gopsutil/cpu"},
	{"github.com/tklauser/numcpus", daemon | server, "github.com/tklauser/go-sysconf"},
	{"github.com/zalando/go-keyring", daemon, ""},
	{"go.etcd.io/bbolt", daemon | server, ""},
	{"go.opentelemetry.io/auto/sdk", daemon | server, "go.opentelemetry.io/otel/internal/global"},
	{"go.opentelemetry.io/otel", daemon | server, "github.com/ethereum/go-ethereum/rpc"},
	{"go.opentelemetry.io/otel/metric", daemon | server, "go.opentelemetry.io/otel"},
	{"go.opentelemetry.io/otel/trace", daemon | server, "github.com/ethereum/go-ethereum/rpc"},
	{"go.uber.org/atomic", server, "github.com/redis/go-redis/v9/internal/pool"},
	{"golang.org/x/crypto", command | daemon, ""},
	{"golang.org/x/sync", daemon | server, "github.com/crate-crypto/go-eth-kzg"},
	{"golang.org/x/sys", command | daemon | server, ""},
	{"golang.org/x/term", command, ""},
	{"golang.org/x/text", server, "github.com/jackc/pgx/v5/pgconn"},
	{"golang.org/x/time", command | daemon | server, ""},
}

// TestModulesThatProgramsLink builds nothing: it asks go list what would be linked.
func TestModulesThatProgramsLink(t *testing.T) {
	by, ways := map[string]int{}, map[string]map[string]bool{}
	for _, system := range []string{"linux", "windows", "darwin"} {
		for program, bit := range programs {
			for module, from := range modulesOf(t, system, program) {
				if by[module] |= bit; ways[module] == nil {
					ways[module] = map[string]bool{}
				}
				for _, way := range from {
					ways[module][way] = true
				}
			}
		}
	}
	for _, row := range linkedModules {
		if by[row.module] != row.by {
			t.Errorf("%s is linked by %03b, its row says %03b", row.module, by[row.module], row.by)
		}
		if !ways[row.module][row.way] {
			t.Errorf("%s does not come by %q but by %v", row.module, row.way, ways[row.module])
		}
		delete(by, row.module)
	}
	for module := range by {
		t.Errorf("%s is linked and has no row: it comes by %v", module, ways[module])
	}
}

// modulesOf returns the modules that a program links on a system, each with the packages of
// other modules that import it; "" stands for any of ours.
func modulesOf(t *testing.T, system, program string) map[string][]string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "list", "-deps", "-f", `{{.ImportPath}} {{with .Module}}{{if .Main}}-{{else}}{{.Path}}{{end}}{{else}}-{{end}} {{join .Imports " "}}`, "swapkeep/cmd/"+program)
	cmd.Env = append(os.Environ(), "GOOS="+system, "CGO_ENABLED=0")
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	module, imports := map[string]string{}, map[string][]string{}
	for line := range strings.Lines(string(out)) {
		f := strings.Fields(line)
		module[f[0]], imports[f[0]] = f[1], f[2:]
	}
	found := map[string][]string{}
	for from, all := range imports {
		for _, path := range all {
			to := module[path]
			if to == "-" || to == "" || to == module[from] {
				continue
			}
			way := from
			if strings.HasPrefix(from, "swapkeep/") {
				way = ""
			}
			found[to] = append(found[to], way)
		}
	}
	return found
}
