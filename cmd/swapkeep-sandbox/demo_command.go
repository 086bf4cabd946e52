package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"swapkeep/cmd/internal/screen"
	"swapkeep/host/protocol"
)

// Time limits for the product's commands and its daemon.
const (
	commandTime = 60 * time.Second // a command that follows an order is the slowest
	leaveTime   = 5 * time.Second  // to leave after an interrupt
	goneTime    = 5 * time.Second
	gonePause   = 20 * time.Millisecond
)

// Exit statuses of swapkeep, as in its manual.
const (
	exitNoDaemon = 3
	exitSwap     = 8
)

// acceptLine accepts the review in review.json, as the help of swapkeep swap shows it.
const (
	digestOfReview = `"$(jq -r .digest review.json)"`
	acceptLine     = "swapkeep swap --accept " + digestOfReview + " --password-fd 0 < password"
)

// A step is a command as a user types it, and what is expected of it.
type step struct {
	line string                 // "< password" and "> review.json" are carried out here, not by a shell
	exit int                    // expected exit status
	want string                 // regular expression that the output must match
	show func(line string) bool // lines to print; nil = all
	into any                    // with --json: decodes the output instead of printing it
	each func(line string) error
	// follows an order: an interrupt ends the command. All others are carried out to the
	// end, because they may be starting the daemon.
	follows bool
}

// typed runs steps in order, prints each command with its output, and checks it. It
// returns the output of the last one.
func (s *demoRun) typed(ctx context.Context, steps ...step) (out string, err error) {
	for _, st := range steps {
		if ctx.Err() != nil {
			return "", reason(ctx, ctx.Err())
		}
		s.out.Painted(screen.Strong, "$ "+st.line)
		if out, err = s.check(ctx, st); err != nil {
			return out, reason(ctx, err)
		}
		if st.into != nil && !strings.Contains(st.line, " > ") {
			s.out.Quote([]string{"(JSON, used below)"})
		}
	}
	return out, nil
}

// check runs a command and checks its exit status and output.
func (s *demoRun) check(ctx context.Context, st step) (string, error) {
	exit, lines, err := s.execute(ctx, st)
	out := strings.Join(lines, "\n")
	if err != nil {
		return out, err
	}
	if exit != st.exit {
		return out, fmt.Errorf("%s: exit status %d, expected %d: %s", st.line, exit, st.exit, strings.Join(strings.Fields(out), " "))
	}
	if !regexp.MustCompile(st.want).MatchString(out) {
		return out, fmt.Errorf("%s: the output does not match %q", st.line, st.want)
	}
	return out, nil
}

// execute runs a command and reads its output line by line as it arrives.
func (s *demoRun) execute(ctx context.Context, st step) (exit int, lines []string, err error) {
	if !st.follows {
		ctx = context.WithoutCancel(ctx)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, commandTime, fmt.Errorf("%s: no end in %v", st.line, commandTime))
	defer cancel()
	r, w, err := os.Pipe()
	if err != nil {
		return 0, nil, err
	}
	defer func() { _ = r.Close() }()
	cmd, result := s.command(ctx, st.line), new(bytes.Buffer)
	cmd.Stdout, cmd.Stderr = w, w
	if st.into != nil {
		cmd.Stdout = result
	}
	err = cmd.Start()
	_ = w.Close()
	if err != nil {
		return 0, nil, err
	}
	lines, hooked := s.read(r, st)
	var ended *exec.ExitError
	if err := cmd.Wait(); err != nil && !errors.As(err, &ended) {
		return 0, lines, reason(ctx, err)
	}
	if hooked != nil || ctx.Err() != nil {
		return 0, lines, errors.Join(hooked, context.Cause(ctx))
	}
	if exit = cmd.ProcessState.ExitCode(); st.into != nil && exit == st.exit {
		err = json.Unmarshal(result.Bytes(), st.into)
		clear(result.Bytes()) // a recovery phrase, perhaps
	}
	return exit, lines, err
}

// command prepares a command line. It gets the demo's environment only, and the password
// on its standard input if the line says so.
func (s *demoRun) command(ctx context.Context, line string) *exec.Cmd {
	line, _, _ = strings.Cut(line, " > ")
	line, _, secret := strings.Cut(line, " < password")
	args := strings.Fields(strings.ReplaceAll(line, digestOfReview, string(s.digest)))
	cmd := exec.CommandContext(ctx, filepath.Join(s.bin, args[0]), args[1:]...)
	cmd.Env, cmd.SysProcAttr = s.env, ownGroup()
	cmd.Cancel = func() error {
		if cmd.Process.Signal(os.Interrupt) != nil { // not on Windows
			return cmd.Process.Kill()
		}
		return nil
	}
	cmd.WaitDelay = leaveTime
	if secret {
		cmd.Stdin = bytes.NewReader(s.password)
	}
	return cmd
}

// continued is how a wrapped line of the product's output begins.
const continued = "              "

// read reads and prints a command's output, without the banner that each command repeats.
// A wrapped line is shown if the line that it continues is. After an error of the step's
// hook it only reads.
func (s *demoRun) read(r *os.File, st step) (lines []string, err error) {
	shown := false
	for scan := bufio.NewScanner(r); scan.Scan(); {
		line := strings.TrimRight(scan.Text(), " ")
		if strings.HasPrefix(line, "SANDBOX: ") && st.line != statusLine {
			continue
		}
		lines = append(lines, line)
		if !strings.HasPrefix(line, continued) {
			shown = line != "" && (st.show == nil || st.show(line))
		}
		if shown {
			s.out.Quote([]string{line})
		}
		if st.each != nil && err == nil {
			err = st.each(line)
		}
	}
	_, _ = io.Copy(io.Discard, r) // after a line that is too long
	return lines, err
}

// nothing shows no line, head the first n lines, and matching those that match.
func nothing(string) bool { return false }

func head(n int) func(string) bool {
	return func(string) bool { n--; return n >= 0 }
}

func matching(expression string) func(string) bool {
	return regexp.MustCompile(expression).MatchString
}

func except(expression string) func(string) bool {
	hidden := matching(expression)
	return func(line string) bool { return !hidden(line) }
}

const statusLine = "swapkeep status"

var pidOf = regexp.MustCompile(`pid (\d+)`)

// statusStep checks that the daemon that answers is the demo's, in the sandbox.
func (s *demoRun) statusStep(show func(string) bool) step {
	return step{line: statusLine, show: show, want: `SANDBOX: (?s:.*)state directory +` + regexp.QuoteMeta(filepath.Join(s.dir, "home")) + `(\n|$)`}
}

// showStatus shows the daemon's status.
func (s *demoRun) showStatus(ctx context.Context) error {
	out, err := s.typed(ctx, s.statusStep(matching(`^(SANDBOX:|daemon |state directory |keys |prices )`)))
	if err != nil {
		return err
	}
	return s.readPID(out)
}

// readPID reads the daemon's process from its status.
func (s *demoRun) readPID(status string) (err error) {
	found := pidOf.FindStringSubmatch(status)
	if found == nil {
		return errors.New("the status does not name the daemon's process")
	}
	s.daemon, err = strconv.Atoi(found[1])
	return err
}

// stop stops the daemon and makes sure that its process is gone.
func (s *demoRun) stop(ctx context.Context) (string, error) {
	s.out.Painted(screen.Strong, "$ swapkeep stop")
	out, err := s.check(ctx, step{line: "swapkeep stop", want: "swapkeepd has stopped|swapkeepd is not running"})
	if s.daemon == 0 {
		return out, err
	}
	if gone := awaitExit(s.daemon); gone != nil {
		err = errors.Join(err, gone, kill(s.daemon), awaitExit(s.daemon))
	}
	return fmt.Sprintf("no process is left; the last was pid %d", s.daemon), err
}

// orders returns the daemon's orders.
func (s *demoRun) orders(ctx context.Context) (all []protocol.Order, err error) {
	var list protocol.OrdersResult
	_, err = s.check(ctx, step{line: fmt.Sprintf("swapkeep orders --limit %d --json", protocol.PageMax), into: &list})
	return list.Orders, err
}

// awaitExit waits until no process has that id.
func awaitExit(pid int) error {
	for end := time.Now().Add(goneTime); time.Now().Before(end); time.Sleep(gonePause) {
		if !alive(pid) {
			return nil
		}
	}
	return fmt.Errorf("the daemon (pid %d) is still running", pid)
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
