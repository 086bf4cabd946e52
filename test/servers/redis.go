//go:build hosted

package servers

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

// A Redis is a private server that stores nothing on disk.
type Redis struct {
	Password string

	t    testing.TB
	dir  string
	port int
	p    *process
}

// StartRedis starts a server, which is stopped when the test ends.
func StartRedis(t testing.TB) *Redis {
	t.Helper()
	r := &Redis{t: t, dir: privateDir(t), port: freePort(t), Password: newPassword()}
	writePrivate(t, filepath.Join(r.dir, "redis.conf"), fmt.Sprintf("port %d\nbind 127.0.0.1\nunixsocket %s\nrequirepass %s\nsave \"\"\nappendonly no\ndir %s\n", r.port, r.socket(), r.Password, r.dir))
	r.Start()
	t.Cleanup(r.Stop)
	return r
}

func (r *Redis) socket() string { return filepath.Join(r.dir, "redis.sock") }

// Start starts a stopped server again, empty, at the same address.
func (r *Redis) Start() {
	r.t.Helper()
	server, err := exec.LookPath("redis-server")
	if err != nil {
		r.t.Fatal("redis-server is missing: install the Debian package redis-server, or run scripts/setup.sh")
	}
	p, err := run(r.dir, "TERM", r.ping, server, filepath.Join(r.dir, "redis.conf"))
	if err != nil {
		r.t.Fatal(err)
	}
	r.p = p
}

func (r *Redis) Stop() {
	if r.p != nil {
		r.p.end()
		r.p = nil
	}
}

// Signal sends s to the server. After SIGSTOP it accepts connections but does not answer.
func (r *Redis) Signal(s syscall.Signal) {
	r.t.Helper()
	if err := syscall.Kill(r.p.pid, s); err != nil {
		r.t.Fatal(err)
	}
}

// URL returns the server's TCP URL.
func (r *Redis) URL() string { return fmt.Sprintf("redis://:%s@127.0.0.1:%d/0", r.Password, r.port) }

// URLWithoutPassword returns URL without the password.
func (r *Redis) URLWithoutPassword() string { return fmt.Sprintf("redis://127.0.0.1:%d/0", r.port) }

// SocketURL returns the server's Unix socket URL.
func (r *Redis) SocketURL() string { return fmt.Sprintf("unix://:%s@%s", r.Password, r.socket()) }

// Client returns another client of the server, to inspect or damage its data.
func (r *Redis) Client() *redis.Client {
	o, err := redis.ParseURL(r.URL())
	if err != nil {
		r.t.Fatal(err)
	}
	c := redis.NewClient(o)
	r.t.Cleanup(func() { _ = c.Close() })
	return c
}

func (r *Redis) ping() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	o, err := redis.ParseURL(r.URL())
	if err != nil {
		return err
	}
	o.MaxRetries = -1
	c := redis.NewClient(o)
	defer func() { _ = c.Close() }()
	return c.Ping(ctx).Err()
}
