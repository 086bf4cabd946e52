package host

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"swapkeep/host/protocol"
	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common"
)

// admits decides whether to accept a caller, by what its relay or command reports.
func (s *Server) admits(p protocol.AttachParams) (*protocol.Connection, *protocol.Error) {
	who := &protocol.Connection{Kind: p.Kind, Origin: p.Origin, Version: p.Version, Since: time.Now().UTC()}
	switch {
	case !printable(p.Origin + p.Version):
		return nil, protocol.New("origin_refused", "origin and version must be printable ASCII")
	case p.Kind == protocol.KindTerminal && p.Origin == protocol.KindTerminal:
		return who, nil
	case p.Kind != protocol.KindBrowser || p.Origin == "" || p.Origin == protocol.KindTerminal:
		return nil, protocol.New("origin_refused", "a caller is a browser with an origin, or a terminal")
	case p.Origin == protocol.UnknownOrigin && s.AllowUnknown:
		who.ReadOnly = true
		return who, nil
	case p.Origin == protocol.UnknownOrigin:
		e := protocol.New("origin_refused", "the browser did not say which extension is calling")
		e.Remedy = "set extensions.allow_unknown in the configuration to let such callers read"
		return nil, e
	case s.AllowOrigin != nil && !s.AllowOrigin(p.Origin):
		return nil, protocol.Newf("origin_refused", "%s is not one of the allowed extensions", p.Origin)
	}
	return who, nil
}

// printable reports whether s is one line of printable ASCII, fit to be shown and logged.
func printable(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r > '~' })
}

func (c *call) hostHello(_ context.Context, p *protocol.HelloParams) (any, error) {
	selected, e := negotiate(p.Protocol, supportedVersions)
	if e != nil {
		return nil, e
	}
	return c.hello(selected), nil
}

// supportedVersions is the range of protocol versions of this build.
var supportedVersions = protocol.Range{Min: protocol.MinVersion, Max: protocol.MaxVersion}

// negotiate returns the highest version that both sides support.
func negotiate(client *protocol.Range, daemon protocol.Range) (int, *protocol.Error) {
	switch {
	case client == nil:
		return daemon.Min, nil
	case client.Min > client.Max || client.Min < 1:
		return 0, badParam("protocol", "must be a range: 1 <= min <= max")
	case client.Max < daemon.Min:
		return 0, mismatch("client", "this client is too old for the daemon: update the extension or command")
	case client.Min > daemon.Max:
		return 0, mismatch("daemon", "the daemon is too old for this client: update swapkeep")
	}
	return min(client.Max, daemon.Max), nil
}

func mismatch(side, message string) *protocol.Error {
	e := protocol.New("version_mismatch", message).With("update", side)
	e.Remedy = message[strings.Index(message, "update"):]
	return e
}

func (c *conn) hello(selected int) protocol.Hello {
	h := protocol.Hello{
		Product: "swapkeep", Version: c.s.Version,
		Protocol:     protocol.Versions{Min: protocol.MinVersion, Max: protocol.MaxVersion, Selected: selected},
		Capabilities: c.capabilities(), State: c.s.state(), Instance: c.s.instance, StateDirID: c.s.Home,
		Sandbox: c.s.Sandbox, Banner: c.s.banner(), Connection: c.connection(),
		Limits: map[string]int{
			"maxRequest": protocol.MaxRequest, "maxResult": protocol.MaxResult,
			"maxRunning": protocol.MaxRunning, "maxQueued": protocol.MaxQueued, "pageMax": protocol.PageMax,
		},
	}
	for _, e := range protocol.Events {
		h.Events = append(h.Events, e.Name)
	}
	return h
}

// capabilities returns the methods that this connection may call.
func (c *conn) capabilities() []string {
	var out []string
	for _, m := range protocol.Methods {
		if m.Name != "host.attach" && c.allowed(request{name: m.Name}) == nil {
			out = append(out, m.Name)
		}
	}
	return out
}

func (s *Server) banner() string {
	if s.Sandbox {
		return protocol.SandboxBanner
	}
	return ""
}

func (c *call) hostStatus(ctx context.Context, _ *protocol.None) (any, error) {
	s := c.s
	out := protocol.StatusResult{
		Version: s.Version, State: s.state(), PID: os.Getpid(), Instance: s.instance,
		StateDirID: s.Home, Directory: s.Directory, Sandbox: s.Sandbox, Banner: s.banner(), Started: s.started,
		Keys: s.keysState(), Prices: s.pricesStatus(), Connections: []protocol.Connection{}, Problems: []protocol.Problem{},
	}
	for _, other := range s.attached() {
		out.Connections = append(out.Connections, other.connection())
	}
	if s.Problems != nil {
		out.Problems = append(out.Problems, s.Problems()...)
	}
	network, noNetwork := s.activeNetwork()
	open, damaged, noOrders := s.openAndDamaged(ctx)
	out.Network, out.OpenOrders = network, open
	out.Problems = append(out.Problems, damaged...)
	for _, err := range []error{noNetwork, noOrders} { // the status must work even if something is broken
		if err != nil {
			e := s.errorOf(err)
			out.Problems = append(out.Problems, protocol.Problem{Name: e.Name, Message: e.Message, Remedy: e.Remedy})
		}
	}
	return out, nil
}

// maxNamedOrders is how many damaged records a status reports individually.
const maxNamedOrders = 3

// openAndDamaged counts the open orders, as far as they can be listed, and returns
// problems for those whose records are damaged.
func (s *Server) openAndDamaged(ctx context.Context) (open int, problems []protocol.Problem, err error) {
	damaged := 0
	for o, failed := range s.openOrders(ctx, common.Address{}) {
		if err = failed; err != nil {
			break
		}
		if open++; o.State != swap.Unreadable {
			continue
		}
		if damaged++; damaged <= maxNamedOrders {
			problems = append(problems, protocol.Problem{Name: "order", Message: o.Reason, Remedy: "restore the database from a backup, or look the account up in a block explorer; other orders go on"})
		}
	}
	if damaged > maxNamedOrders {
		problems = append(problems, protocol.Problem{Name: "order", Message: fmt.Sprintf("%d more orders have a damaged record", damaged-maxNamedOrders), Remedy: "swapkeep orders --open lists them"})
	}
	return open, problems, err
}

func (c *call) hostDiagnose(ctx context.Context, p *protocol.DiagnoseParams) (any, error) {
	if c.s.Diagnose == nil {
		return nil, protocol.New("unknown_method", "this daemon does not examine itself")
	}
	return protocol.Diagnosis{Version: c.s.Version, Checks: c.s.Diagnose(ctx, p.Online)}, nil
}

func (c *call) hostStop(context.Context, *protocol.None) (any, error) {
	if c.s.Stop == nil {
		return nil, protocol.New("unknown_method", "this daemon is not stopped over the wire")
	}
	return resultThen{protocol.StopResult{Stopping: true}, c.s.Stop}, nil
}
