package doctor

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"swapkeep/extension/messages"
	"swapkeep/host/client"
	"swapkeep/host/owner"
	"swapkeep/host/protocol"
	"swapkeep/host/transport"
)

var daemonChecks = []check{
	{"daemon.program", "the daemon's program exists", nil, daemonProgram},
	{"daemon.running", "the daemon answers", nil, running},
	{"daemon.version", "and is of this version", nil, daemonVersion},
	{"daemon.socket", "only you can access its socket", []string{"linux", "darwin"}, socket},
	{"daemon.log", "its log has no errors", nil, logged},
	{"daemon", "the daemon's own checks", nil, diagnosis},
}

// dial connects to the daemon if one is running.
func (p *Env) dial(ctx context.Context) { p.facts.dial(ctx, p.Place, p.Version) }

func (s *facts) dial(ctx context.Context, place transport.Instance, version string) {
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	s.pid, s.locked = owner.Holder(place)
	conn, err := transport.Dial(ctx, place)
	if err != nil {
		s.dialed = err
		return
	}
	s.daemon, s.dialed = client.Terminal(ctx, conn, version)
}

func daemonProgram(_ context.Context, p *Env) []Finding {
	info, err := p.Machine.Files.Stat(p.Daemon)
	switch {
	case err != nil:
		return []Finding{fail(p.Daemon+" is not there", "unpack swapkeep and swapkeepd into one folder, then run swapkeep install from it")}
	case p.Machine.OS != "windows" && info.Mode().Perm()&0o111 == 0:
		return []Finding{p.notExecutable(p.Daemon, info).of(p.Daemon)}
	}
	found := slices.ContainsFunc(p.programs(), func(program string) bool { return p.daemonOf(program) == p.Daemon })
	if f, bad := p.daemonExposed(); bad && !found { // otherwise the program's check reports it
		at := f.About
		f.Evidence = at + ": " + f.Evidence
		return []Finding{p.fixByRestricting(f, at).of(p.Daemon)}
	}
	return []Finding{ok(p.Daemon)}
}

// daemonExposed returns a finding if others could change the daemon's program.
func (p *Env) daemonExposed() (Finding, bool) {
	if p.Machine.OS == "windows" {
		return Finding{}, false // the profile's access list protects it
	}
	return p.exposed(p.Daemon)
}

func running(ctx context.Context, p *Env) []Finding {
	s := p.facts
	switch {
	case s.daemon != nil:
		return []Finding{ok(fmt.Sprintf("process %d", s.pid))}
	case s.locked && errors.Is(s.dialed, transport.ErrNoDaemon), errors.Is(s.dialed, context.DeadlineExceeded):
		return []Finding{p.unanswered()}
	case errors.Is(s.dialed, transport.ErrNoDaemon):
		return []Finding{ok("not running; it starts when needed")}
	case errors.Is(s.dialed, transport.ErrForeignPeer):
		return []Finding{fail("another user's process answers in the daemon's place", "check who has access to "+p.quoted(p.Place.Home))}
	}
	return []Finding{fail(oneLine(s.dialed), "check the permissions of "+p.quoted(p.Place.RunDir()))}
}

// unanswered is the finding for a daemon that does not answer. It suggests killing a
// process only if its id is known, because kill 0 ends the caller's own group.
func (p *Env) unanswered() Finding {
	const wait, look = "wait a moment; if it persists, ", "find the swapkeepd process and end it"
	const evidence = " holds the state directory and does not answer: it is starting, stopping or stuck"
	switch {
	case p.facts.locked && p.facts.pid > 0:
		return fail(fmt.Sprintf("process %d%s", p.facts.pid, evidence), wait+"end it with "+p.kill(p.facts.pid))
	case p.facts.locked:
		return fail("an unknown process"+evidence, wait+look)
	}
	return fail(fmt.Sprintf("the listener gave no answer in %s and does not hold the state directory", askTime), wait+look)
}

func daemonVersion(ctx context.Context, p *Env) []Finding {
	if p.facts.daemon == nil {
		return []Finding{skipped("none answers")}
	}
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	var hello protocol.Hello
	if err := p.facts.daemon.Call(ctx, "host.hello", nil, &hello); err != nil {
		return []Finding{fail("host.hello: "+oneLine(err), "swapkeep stop")}
	}
	if hello.Version == p.Version {
		return []Finding{ok(hello.Version)}
	}
	f := warn(fmt.Sprintf("the daemon has version %s, this program %s", hello.Version, p.Version), "run swapkeep stop; the next use starts the new one")
	for _, program := range p.programs() { // otherwise the next use would start their version again
		if _, err := p.Machine.Files.Stat(program); err == nil && !p.sameProgram(program) {
			return []Finding{f.withRemedy(p.chooseCopyRemedy(program, hello.Version))}
		}
	}
	if p.otherCopyRemedy("") != "" {
		return []Finding{f.withRemedy("run swapkeep install from the version to keep")}
	}
	return []Finding{f.withFix(p.restart)}
}

// socket checks the daemon's socket, or the one that a dead daemon left.
func socket(_ context.Context, p *Env) []Finding {
	path := p.Place.SocketPath()
	info, err := os.Stat(path) // a long path is reached through a link
	switch {
	case err != nil && p.facts.daemon == nil:
		return []Finding{ok("none while no daemon runs")}
	case err != nil:
		return []Finding{fail(oneLine(err), "swapkeep stop")}
	case p.facts.daemon == nil && !p.facts.locked:
		return []Finding{note(path + " was left by a daemon that crashed; the next one replaces it").withRemedy("rm " + p.quoted(path)).withFix(p.removeSocket)}
	case info.Mode()&fs.ModeSocket == 0:
		return []Finding{fail(path+" is no socket", "rm "+p.quoted(path)+" && swapkeep stop")}
	case info.Mode().Perm()&0o077 != 0:
		return []Finding{fail(fmt.Sprintf("%s is accessible to others (mode %04o)", path, info.Mode().Perm()), "chmod 600 "+p.quoted(path)).withFix(p.chmod(path, 0, 0o177))}
	}
	if uid, known := p.Machine.Files.Owner(info); known && uid != p.UID {
		return []Finding{fail(fmt.Sprintf("%s belongs to user %d", path, uid), "check who has access to "+p.quoted(p.Place.Home))}
	}
	return []Finding{ok(fmt.Sprintf("%s, mode %04o", path, info.Mode().Perm()))}
}

// How much of the log is read, and how recent a failure must be.
const (
	logTail   = 64 << 10
	logRecent = 24 * time.Hour
)

// logged looks in the log for why the daemon ended, or for its last failure.
func logged(_ context.Context, p *Env) []Finding {
	text, err := os.ReadFile(p.Place.LogPath())
	if errors.Is(err, fs.ErrNotExist) {
		return []Finding{ok("none yet")}
	}
	if err != nil {
		return []Finding{warn(oneLine(err), "fix the permissions of "+p.quoted(p.Place.LogPath()))}
	}
	text = text[max(0, len(text)-logTail):]
	if reason, ended := strings.CutPrefix(lastLine(string(text)), owner.ReasonPrefix); ended && p.facts.daemon == nil {
		return []Finding{fail("the daemon did not start: "+shown(reason), "fix that; the next use starts it again")}
	}
	if last, at := p.lastError(text); last != "" && p.now().Sub(at) < logRecent {
		return []Finding{warn(fmt.Sprintf("at %s: %s", at.UTC().Format(time.DateTime), shown(last)), "see the lines before it in "+p.quoted(p.Place.LogPath()))}
	}
	return []Finding{ok("no error within a day")}
}

// lastError returns the last failure in the log and its time.
func (p *Env) lastError(text []byte) (message string, at time.Time) {
	for line := range bytes.Lines(text) {
		var entry struct {
			Level   string    `json:"level"`
			Time    time.Time `json:"time"`
			Message string    `json:"message"`
			Error   string    `json:"error"`
		}
		if json.Unmarshal(line, &entry) == nil && (entry.Level == "error" || entry.Level == "fatal" || entry.Level == "panic") {
			if text := strings.Trim(entry.Message+": "+entry.Error, ": "); text != "" {
				message, at = text, cmp.Or(entry.Time, at) // an entry without a time gets the time of the one before
			}
		}
		if bytes.HasPrefix(line, []byte("panic: ")) || bytes.HasPrefix(line, []byte("fatal error: ")) {
			message = strings.TrimSpace(string(line))
			if info, err := os.Stat(p.Place.LogPath()); err == nil {
				at = info.ModTime()
			}
		}
	}
	return message, at
}

// shown returns valid UTF-8 of at most 300 bytes.
func shown(text string) string {
	const longest = 300
	text = strings.ToValidUTF8(text, "")
	if len(text) > longest {
		text = strings.ToValidUTF8(text[:longest], "") + "…"
	}
	return text
}

// diagnosisTime limits the daemon's examination, which has time limits of its own.
const diagnosisTime = 8 * time.Second

// diagnosis asks the daemon for its findings, or its program if none is running.
func diagnosis(ctx context.Context, p *Env) (out []Finding) {
	ctx, cancel := context.WithTimeout(ctx, diagnosisTime)
	defer cancel()
	var d protocol.Diagnosis
	if why := p.unaskable(); why != "" {
		return []Finding{skipped(why)}
	}
	if err := p.diagnose(ctx, &d); err != nil {
		return []Finding{fail("it cannot be queried: "+oneLine(err), "run swapkeep stop, then try again")}
	}
	for _, c := range d.Checks {
		out = append(out, Finding{ID: c.ID, Title: titles[c.ID], Status: Status(c.Status), Evidence: shown(c.Evidence), Remedy: c.Remedy, Details: c.Details})
		for _, h := range c.Hosts {
			out = append(out, hostFinding(c.ID, h))
		}
	}
	return out
}

// hostFinding puts what an RPC host lacks into the words of the messages.
func hostFinding(id string, h protocol.HostFinding) Finding {
	words, known := messages.Text("host_" + h.Problem)
	if !known { // a newer daemon's code
		words = h.Problem
	}
	remedy, _ := messages.Text("do_host_"+h.Problem, strconv.FormatUint(h.ChainID, 10))
	return Finding{ID: id, Title: titles[id], About: shown(h.Network + ", " + h.Host), Status: Status(h.Status), Evidence: shown(words), Remedy: remedy}
}

// unaskable returns why neither the daemon nor its program can be asked; "" if one can.
func (p *Env) unaskable() string {
	switch {
	case p.Config != nil:
		return "cannot read the configuration"
	case p.facts.daemon == nil && p.facts.locked:
		return "the daemon does not answer"
	case p.facts.daemon == nil:
		return p.unstartable()
	}
	return ""
}

// unstartable returns why the daemon's program must not be started; "" if it may.
func (p *Env) unstartable() string {
	_, missing := p.Machine.Files.Stat(p.Daemon)
	_, exposed := p.daemonExposed()
	switch {
	case missing != nil:
		return "its program is missing"
	case exposed:
		return "others can change its program, so it is not started"
	case p.changed(p.Daemon):
		return "its program was changed since it was installed, so it is not started"
	}
	return ""
}

// titles are the titles of the checks that swapkeepd makes, by id.
var titles = map[string]string{
	"home.directory":  "the state directory is yours alone",
	"home.stamp":      "it is of the configuration's mode",
	"database.orders": "the order database is usable",
	"database.prices": "the price history is usable",
	"keychain":        "the keychain keeps what it is given",
	"prices.port":     "the price API has its port",
	"providers":       "what providers answer is understood",
	"clock":           "the clock is right",
	"networks":        "the networks answer",
	"networks.hosts":  "their hosts serve what swaps need",
}

func (p *Env) diagnose(ctx context.Context, d *protocol.Diagnosis) error {
	if p.facts.daemon != nil {
		err := p.facts.daemon.Call(ctx, "host.diagnose", protocol.DiagnoseParams{Online: p.Online}, d)
		if e := (*protocol.Error)(nil); errors.As(err, &e) && e.Name == "unknown_method" {
			return errors.New("the daemon is older than this command")
		}
		return err
	}
	args := []string{"check", "--json"}
	if p.Online {
		args = append(args, "--online")
	}
	output, err := runProgram(ctx, diagnosisTime, p.Environ, p.Daemon, args...)
	if err != nil {
		return err
	}
	return json.Unmarshal([]byte(output), d)
}
