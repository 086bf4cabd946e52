//go:build hosted

package servers

import (
	"context"
	"fmt"
	"net/url"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// A PostgreSQL is a private cluster.
type PostgreSQL struct {
	Password string

	t    testing.TB
	dir  string
	port int
	p    *process
	last int
}

// FindProgram finds a PostgreSQL program. Debian keeps them out of PATH.
func FindProgram(t testing.TB, name string) string {
	t.Helper()
	if path, err := exec.LookPath(name); err == nil {
		return path
	}
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/" + name)
	if len(found) == 0 {
		t.Fatalf("%s is missing: install the Debian package postgresql, or run scripts/setup.sh", name)
	}
	return found[len(found)-1]
}

// StartPostgreSQL creates and starts a cluster, which is stopped when the test ends.
func StartPostgreSQL(t testing.TB) *PostgreSQL {
	t.Helper()
	g := &PostgreSQL{t: t, dir: privateDir(t), port: freePort(t), Password: newPassword()}
	password := filepath.Join(g.dir, "password")
	writePrivate(t, password, g.Password)
	as, err := asServerUser()
	if err != nil {
		t.Fatal(err)
	}
	args := append(as, FindProgram(t, "initdb"), "--pgdata="+filepath.Join(g.dir, "data"), "--username=swapkeep", "--auth=scram-sha-256",
		"--pwfile="+password, "--encoding=UTF8", "--no-locale", "--no-sync")
	cmd := exec.CommandContext(t.Context(), args[0], args[1:]...)
	cmd.Dir = g.dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("initdb: %v\n%s", err, out)
	}
	g.Start()
	t.Cleanup(g.Stop)
	return g
}

// Start starts a stopped cluster again, at the same address.
func (g *PostgreSQL) Start() {
	g.t.Helper()
	p, err := run(g.dir, "INT", g.ping, FindProgram(g.t, "postgres"), "-D", filepath.Join(g.dir, "data"), "-p", strconv.Itoa(g.port),
		"-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories="+g.dir,
		"-c", "fsync=off", "-c", "full_page_writes=off", "-c", "shared_buffers=32MB", "-c", "max_connections=100")
	if err != nil {
		g.t.Fatal(err)
	}
	g.p = p
}

// Stop stops the cluster at once and cuts off its sessions.
func (g *PostgreSQL) Stop() {
	if g.p != nil {
		g.p.end()
		g.p = nil
	}
}

// Signal sends s to every process of the cluster. After SIGSTOP the server accepts
// connections but does not answer.
func (g *PostgreSQL) Signal(s syscall.Signal) {
	g.t.Helper()
	out, err := exec.Command("ps", "-o", "pid=", "--ppid", strconv.Itoa(g.p.pid)).Output()
	if err != nil {
		g.t.Fatal(err)
	}
	pids := []int{g.p.pid}
	for _, text := range strings.Fields(string(out)) {
		if pid, err := strconv.Atoi(text); err == nil {
			pids = append(pids, pid)
		}
	}
	for _, pid := range pids {
		if err := syscall.Kill(pid, s); err != nil && err != syscall.ESRCH {
			g.t.Fatal(err)
		}
	}
}

// URL returns the TCP URL of a database.
func (g *PostgreSQL) URL(database string) string {
	u := url.URL{Scheme: "postgres", User: url.UserPassword("swapkeep", g.Password), Host: fmt.Sprintf("127.0.0.1:%d", g.port), Path: database, RawQuery: "sslmode=disable"}
	return u.String()
}

// SocketURL returns the Unix socket URL of a database.
func (g *PostgreSQL) SocketURL(database string) string {
	return fmt.Sprintf("postgres://swapkeep:%s@/%s?host=%s&port=%d", g.Password, database, g.dir, g.port)
}

// Database creates an empty database and returns its TCP URL.
func (g *PostgreSQL) Database() string {
	g.t.Helper()
	g.last++
	name := "test" + strconv.Itoa(g.last)
	conn, err := pgx.Connect(context.Background(), g.URL("postgres"))
	if err != nil {
		g.t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.Background()) }()
	if _, err := conn.Exec(context.Background(), "CREATE DATABASE "+name); err != nil {
		g.t.Fatal(err)
	}
	return g.URL(name)
}

// ExecSQL runs SQL in the database at url.
func ExecSQL(t testing.TB, url, sql string, args ...any) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.Background()) }()
	if _, err := conn.Exec(t.Context(), sql, args...); err != nil {
		t.Fatal(err)
	}
}

func (g *PostgreSQL) ping() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	conn, err := pgx.Connect(ctx, g.URL("postgres"))
	if err != nil {
		return err
	}
	return conn.Close(ctx)
}
