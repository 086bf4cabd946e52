package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"swapkeep/host/client"
	"swapkeep/host/protocol"
)

// Timeouts and intervals for talking to the product.
const (
	answerTime   = 30 * time.Second
	greetingTime = 20 * time.Second
	spinTime     = 100 * time.Millisecond
	goneTime     = 5 * time.Second
	gonePause    = 20 * time.Millisecond
)

// A port is the extension's connection to the host, as a browser opens it.
type port struct {
	*client.Process
	hello protocol.Hello
}

// ask calls a method and returns its result.
func ask[T any](ctx context.Context, p *port, method string, params any) (result T, err error) {
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	err = p.Call(ctx, method, params, &result)
	return result, err
}

// greeted waits for the hello of a daemon instance that this port has not seen yet.
func (p *port) greeted(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, greetingTime)
	defer cancel()
	for {
		params, err := p.await(ctx, "host.hello", func() {})
		if err != nil {
			return fmt.Errorf("no hello from the daemon: %w", err)
		}
		met := p.hello.Instance
		if err := json.Unmarshal(params, &p.hello); err != nil {
			return fmt.Errorf("hello: %w", err)
		}
		if p.hello.Instance != met {
			return nil
		}
	}
}

// await reads notifications until one of that method arrives, and calls idle every
// spinTime.
func (p *port) await(ctx context.Context, method string, idle func()) (json.RawMessage, error) {
	tick := time.NewTicker(spinTime)
	defer tick.Stop()
	for {
		select {
		case n := <-p.Notifications():
			if n.Method == method {
				return n.Params, nil
			}
		case <-tick.C:
			idle()
		case <-p.Done():
			return nil, p.Err()
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// terminal runs a swapkeep command with --json and decodes its output.
func (s *demoRun) terminal(ctx context.Context, result any, args ...string) error {
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, filepath.Join(s.bin, "swapkeep"), append(args, "--json")...)
	cmd.Env, cmd.SysProcAttr = s.env, ownGroup()
	out, err := cmd.Output()
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) && len(exit.Stderr) > 0 {
			return fmt.Errorf("swapkeep %s: %w: %s", args[0], err, exit.Stderr)
		}
		return fmt.Errorf("swapkeep %s: %w", args[0], err)
	}
	return json.Unmarshal(out, result)
}

// status reads the daemon's status, which is available to the command line only, and
// checks that it is the demo's daemon.
func (s *demoRun) status(ctx context.Context) (protocol.StatusResult, error) {
	var status protocol.StatusResult
	if err := s.terminal(ctx, &status, "status"); err != nil {
		return status, err
	}
	if status.Directory != filepath.Join(s.dir, "home") || status.PID <= 0 {
		return status, fmt.Errorf("status is of another daemon: pid %d, %s", status.PID, status.Directory)
	}
	s.daemon = status.PID
	return status, nil
}

// endHost stops the daemon with the stop command and then closes the port as a browser
// does. A relay that has just lost its daemon gets time to start the next one; otherwise
// that daemon would start after the clean-up.
func (s *demoRun) endHost(ctx context.Context) (string, error) {
	for s.port != nil && s.port.Err() == nil {
		if _, err := s.status(ctx); err == nil || ctx.Err() != nil {
			break
		}
		time.Sleep(gonePause)
	}
	var stopped struct {
		State string `json:"state"`
	}
	how, err := "", s.terminal(ctx, &stopped, "stop")
	if err == nil && s.daemon != 0 {
		err = awaitExit(s.daemon)
	}
	if s.port != nil {
		took, stopErr := s.port.Stop()
		err = errors.Join(err, stopErr)
		how = fmt.Sprintf(" (pid %d); the relay left %s after its browser", s.daemon, seconds(took))
	}
	if _, there := s.status(ctx); err != nil && there == nil {
		err = errors.Join(err, kill(s.daemon), awaitExit(s.daemon))
	}
	return "daemon " + stopped.State + how, err
}

// awaitExit waits until no process has that id.
func awaitExit(pid int) error {
	for end := time.Now().Add(goneTime); time.Now().Before(end); time.Sleep(gonePause) {
		if !alive(pid) {
			return nil
		}
	}
	return fmt.Errorf("the daemon (pid %d) did not go", pid)
}

// alive reports whether a process has that id. On Windows it cannot be checked and is
// false; there "swapkeep stop" waits for the daemon's lock.
func alive(pid int) bool {
	p, err := os.FindProcess(pid)
	if err != nil {
		return false
	}
	defer func() { _ = p.Release() }()
	return p.Signal(nullSignal) == nil
}

func kill(pid int) error {
	p, err := os.FindProcess(pid)
	if err != nil {
		return err
	}
	return p.Kill()
}
