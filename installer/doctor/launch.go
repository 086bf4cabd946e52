package doctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"swapkeep/host/client"
	"swapkeep/host/owner"
	"swapkeep/host/protocol"
	"swapkeep/host/transport"
	"swapkeep/manifest"
)

var launchChecks = []check{
	{"launch", "it answers when started like a browser does", nil, launches},
}

// Time limits for a host: for a good answer, for any answer, and for exiting, well below
// what Chromium allows.
const (
	answerSoon = 2 * time.Second
	answerLast = 5 * time.Second
	leaveSoon  = 500 * time.Millisecond
	stopTime   = 5 * time.Second        // for the daemon to report its status and to stop
	keepOpen   = 300 * time.Millisecond // how long to check whether a descriptor was inherited
)

// launches starts every program that browsers start, once per family.
func launches(ctx context.Context, p *Env) (out []Finding) {
	for _, b := range p.facts.browsers {
		if b.Box != "" {
			out = append(out, skipped("it starts programs in its sandbox or through a service; only the browser itself can test that").of(b.title()))
			continue
		}
		first, any := b.first()
		about := cmp.Or(first.path, first.file) + " for " + string(b.Family)
		if !any || slices.ContainsFunc(out, func(f Finding) bool { return f.About == about }) {
			continue
		}
		found := []Finding{noTime}
		if ctx.Err() == nil {
			found = p.launch(ctx, b, first)
		}
		for _, f := range found {
			out = append(out, f.of(about))
		}
	}
	if err := p.stopStarted(ctx); err != nil {
		out = append(out, note("the daemon that this started still runs: "+oneLine(err)).withRemedy("swapkeep stop"))
	}
	return orOK(out, skipped("no manifest names a program"))
}

// launch starts a host, waits for its answer and stops it.
func (p *Env) launch(ctx context.Context, b browser, h foundManifest) []Finding {
	id := p.caller(b, h)
	if why := p.unlaunchable(h, id); why != "" {
		return []Finding{skipped(why)}
	}
	cmd, err := p.hostCommand(b.Family, h, id)
	if err != nil {
		return []Finding{skipped(oneLine(err))}
	}
	var stderr bounded
	cmd.Dir, cmd.Env, cmd.Stderr, cmd.WaitDelay = filepath.Dir(h.path), p.browserEnv(), &stderr, time.Second
	sentinel, err := addSentinel(cmd, b.Family)
	if err != nil {
		return []Finding{skipped(oneLine(err))}
	}
	defer sentinel.close()
	began := time.Now()
	if _, running := owner.Holder(p.Place); !running && p.facts.started.IsZero() {
		p.facts.started = began
	}
	host, err := client.Start(cmd)
	if err != nil {
		return []Finding{fail("cannot be started: "+oneLine(err), "swapkeep install")}
	}
	sentinel.handed()
	var hello protocol.Hello
	askCtx, cancel := context.WithTimeout(ctx, answerLast)
	err = host.Call(askCtx, "host.hello", protocol.HelloParams{Protocol: &protocol.Range{Min: protocol.MinVersion, Max: protocol.MaxVersion}}, &hello)
	cancel()
	took := time.Since(began)
	left, leaving := host.Stop()
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() != nil {
		return []Finding{noTime} // cut off before its time limit
	}
	l := launchResult{hello: hello, err: err, took: took, left: left, leaving: leaving, words: strings.TrimSpace(stderr.String()), kept: sentinel.kept()}
	return l.findings(p, h)
}

// unlaunchable returns why a host is not started; "" if it may be.
func (p *Env) unlaunchable(h foundManifest, id string) string {
	switch _, err := p.Machine.Files.Stat(h.path); {
	case h.path == "":
		return "it names no program"
	case err != nil:
		return "it is not there"
	case len(h.lists) == 0:
		return "its manifest allows no extension"
	case id == "":
		return "its manifest names no allowed extension"
	case p.notStartable(h.path):
		return "it is not executable"
	case p.facts.locked && p.facts.daemon == nil:
		return "the daemon does not answer"
	case p.Machine.Sudo:
		return "not started as another user"
	case p.changeable(h.path):
		return "others can change it or the daemon beside it"
	case p.changed(h.path) || p.changed(p.daemonOf(h.path)):
		return "it or the daemon beside it was changed since it was installed"
	case !ownPath(h.path) && !p.sameProgram(h.path):
		return "another program; not started"
	}
	return ""
}

// notStartable reports whether a program is not executable, which another check reports.
func (p *Env) notStartable(path string) bool {
	info, err := p.Machine.Files.Stat(path)
	return err == nil && p.Machine.OS != "windows" && info.Mode().Perm()&0o111 == 0
}

// hostCommand returns the command with which a browser starts a host. On Windows Chromium
// uses the command processor, unless a policy or a newer version does not.
func (p *Env) hostCommand(f manifest.Family, h foundManifest, id string) (*exec.Cmd, error) {
	args := callerArgs(p.Machine.OS, f, h.file, id)
	if p.Machine.OS != "windows" || f != manifest.Chromium {
		return exec.Command(h.path, args...), nil
	}
	shell := p.Machine.Env("COMSPEC")
	switch {
	case shell == "":
		return nil, errors.New("COMSPEC, by which it would be started, is not set")
	case strings.ContainsAny(h.path, `%"`):
		return nil, errors.New("cmd.exe misreads a character of its path and might start another program")
	}
	return byLine(shell, shellLine(shell, h.path, args)), nil
}

// shellLine returns the command line that Chromium gives the command processor, without
// its pipe names, because here the pipes are inherited. /s removes the outer quotation
// marks and keeps the inner ones.
func shellLine(shell, program string, args []string) string {
	return fmt.Sprintf(`"%s" /d /s /c ""%s" %s"`, shell, program, strings.Join(args, " "))
}

// A launchResult is what was observed of a started host.
type launchResult struct {
	hello   protocol.Hello
	err     error
	took    time.Duration // until the answer
	left    time.Duration // from the end of its input until it exited
	leaving error
	words   string // standard error, which browsers show or log
	kept    bool   // a program that outlives the host has the browser's descriptor
}

func (l launchResult) findings(p *Env, h foundManifest) (out []Finding) {
	if l.err != nil {
		return []Finding{l.silent(p, h)}
	}
	if l.took > answerSoon {
		out = append(out, warn(fmt.Sprintf("took %s to answer", l.took.Round(100*time.Millisecond)), "start the daemon at login with swapkeep install --autostart"))
	}
	if v := l.hello.Connection.Version; v != p.Version {
		out = append(out, warn(fmt.Sprintf("it has version %s, this program %s", v, p.Version), p.chooseCopyRemedy(h.path, v)))
	}
	if l.left > leaveSoon {
		out = append(out, warn(fmt.Sprintf("took %s to exit after the browser closed its port", l.left.Round(100*time.Millisecond)), "run swapkeep stop, then try again"))
	}
	if l.leaving != nil {
		out = append(out, warn("failed: "+shown(oneLine(l.leaving)), "run swapkeep stop, then try again"))
	}
	if l.words != "" {
		out = append(out, warn("wrote to the browser's log: "+shown(lastLine(l.words)), "report it"))
	}
	if l.kept {
		out = append(out, warn("the daemon that it started keeps a file descriptor of the browser open", "report it"))
	}
	return orOK(out, ok("answers within 2 s and exits within 0.5 s, version "+l.hello.Version))
}

// launchRemedies are the remedies for a host that answers with an error, by the protocol's
// names. PROGRAM is the copy that was started; another one would report its own state.
var launchRemedies = map[string]string{
	"origin_refused":    "swapkeep install --extension-id ID",
	"daemon_stopped":    "PROGRAM status",
	"daemon_lost":       "PROGRAM status says why the daemon does not start",
	"database_locked":   "stop the other program that holds the database",
	"database_readonly": "fix the permissions of the state directory",
	"database_full":     "free some disk space",
	"database_newer":    "install the newer version again",
}

func (l launchResult) silent(p *Env, h foundManifest) Finding {
	program := "swapkeep"
	if !p.sameProgram(h.path) {
		program = p.quoted(h.path)
	}
	var wire *protocol.Error
	switch {
	case errors.As(l.err, &wire):
		remedy := launchRemedies[wire.Name]
		if remedy == "" {
			remedy = wire.Remedy
		}
		return fail(fmt.Sprintf("says: %s (%s)", wire.Message, wire.Name), strings.ReplaceAll(remedy, "PROGRAM", program))
	case errors.Is(l.err, context.DeadlineExceeded):
		return fail(fmt.Sprintf("no answer in %s", answerLast), program+" status")
	case l.words != "":
		return fail("ended: "+shown(lastLine(l.words)), "swapkeep install")
	}
	return fail("ended without an answer: "+shown(oneLine(l.err)), "swapkeep install")
}

// caller returns the extension for which a browser would start the host: an installed
// one, otherwise one that its manifest names and that is allowed. If the configuration
// cannot be read, it is unknown which are allowed, and the first is taken.
func (p *Env) caller(b browser, h foundManifest) string {
	ids := make([]string, 0, len(h.lists))
	for _, entry := range h.lists {
		id := strings.TrimSuffix(strings.TrimPrefix(entry, "chrome-extension://"), "/")
		if b.Family.ValidID(id) {
			ids = append(ids, id)
		}
	}
	for _, e := range b.extensions {
		if slices.Contains(ids, e.id) {
			return e.id
		}
	}
	for _, id := range ids {
		if p.known(b.Family, id) {
			return id
		}
	}
	if p.Config == nil {
		return ""
	}
	return strings.Join(ids[:min(1, len(ids))], "")
}

// changeable reports whether others could have changed a program or its daemon.
func (p *Env) changeable(program string) bool {
	if p.Machine.OS == "windows" {
		return false // the profile's access list protects them
	}
	_, host := p.exposed(program)
	_, daemon := p.exposed(p.daemonOf(program))
	return host || daemon
}

// callerArgs returns the arguments with which a browser starts the host.
func callerArgs(system string, f manifest.Family, file, id string) []string {
	switch {
	case f == manifest.Firefox:
		return []string{file, id}
	case system == "windows":
		return []string{manifest.ChromiumOrigin(id), "--parent-window=0"}
	}
	return []string{manifest.ChromiumOrigin(id)}
}

// browserVars are the relevant variables of a browser started from the desktop, including
// those that Windows needs to start a program.
var browserVars = []string{
	"HOME", "USER", "XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS", "DISPLAY",
	"SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "USERPROFILE", "USERNAME", "LOCALAPPDATA", "APPDATA", "PROGRAMDATA", "TEMP", "TMP", "COMSPEC", "PATHEXT",
}

// instanceVars are variables that select another instance or other manifests, in addition to
// those with the prefix SWAPKEEP_.
var instanceVars = []string{"XDG_STATE_HOME", "XDG_CONFIG_HOME", "CHROME_CONFIG_HOME"}

func selectsInstance(name string) bool {
	return strings.HasPrefix(name, "SWAPKEEP_") || slices.Contains(instanceVars, name)
}

// browserEnv returns a browser's environment plus the variables that select the instance, so
// that the one examined is this one. Another check reports them.
func (p *Env) browserEnv() []string {
	env := map[string]string{}
	for _, entry := range p.Environ {
		name, value, _ := strings.Cut(entry, "=")
		if slices.Contains(browserVars, strings.ToUpper(name)) || selectsInstance(name) {
			env[name] = value
		}
	}
	env["PATH"] = "/usr/bin:/bin"
	if p.Machine.OS == "windows" {
		env["PATH"] = p.Machine.Env("SystemRoot") + `\System32`
	}
	out := make([]string, 0, len(env))
	for name, value := range env {
		out = append(out, name+"="+value)
	}
	slices.Sort(out)
	return out
}

// stopStarted stops the daemon that a launch started, unless another client is connected by
// now: a browser would take the stop for a user's and not start another daemon.
func (p *Env) stopStarted(ctx context.Context) error {
	if p.facts.started.IsZero() {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTime)
	defer cancel()
	c, err := p.reach(ctx)
	if c == nil {
		return err
	}
	defer func() { _ = c.Close() }()
	status, err := p.settled(ctx, c)
	if err != nil || status.Started.Before(p.facts.started) || len(status.Connections) > 1 { // it ran before, or somebody uses it
		return err
	}
	return p.end(ctx, c)
}

// reach connects to the running daemon; nil without an error if there is none.
func (p *Env) reach(ctx context.Context) (*client.Client, error) {
	conn, err := transport.Dial(ctx, p.Place)
	if errors.Is(err, transport.ErrNoDaemon) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return client.Terminal(ctx, conn, p.Version)
}

func (p *Env) end(ctx context.Context, c *client.Client) error {
	if err := c.Call(ctx, "host.stop", nil, nil); err != nil && !errors.Is(err, client.ErrClosed) {
		return err
	}
	return owner.WaitFree(ctx, p.Place)
}

// A sentinel is the pipe that Firefox gives its hosts as descriptor 3; Firefox uses it to
// see which processes are left.
type sentinel struct{ mine, theirs *os.File }

func addSentinel(cmd *exec.Cmd, f manifest.Family) (*sentinel, error) {
	if f != manifest.Firefox || runtime.GOOS == "windows" {
		return &sentinel{}, nil
	}
	mine, theirs, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	cmd.ExtraFiles = []*os.File{theirs}
	return &sentinel{mine, theirs}, nil
}

// handed closes this process's copy after the start, so that only the host has it.
func (s *sentinel) handed() {
	if s.theirs != nil {
		_ = s.theirs.Close()
		s.theirs = nil
	}
}

// kept reports whether a process still has the other end, or wrote to it.
func (s *sentinel) kept() bool {
	if s.mine == nil {
		return false
	}
	_ = s.mine.SetReadDeadline(time.Now().Add(keepOpen))
	n, err := s.mine.Read(make([]byte, 1))
	return n > 0 || errors.Is(err, os.ErrDeadlineExceeded)
}

func (s *sentinel) close() {
	s.handed()
	if s.mine != nil {
		_ = s.mine.Close()
	}
}
