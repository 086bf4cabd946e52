package host

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"swapkeep/host/protocol"
	"swapkeep/swap"

	"github.com/google/uuid"
)

// A Server answers every connection of one daemon.
type Server struct {
	Config
	instance protocol.UUID
	started  time.Time
	acts     *actCache
	network  sync.Mutex    // held while the active network changes
	inFlight atomic.Int64  // bytes of unanswered requests, over all connections
	stopping chan struct{} // closed by Close
	stops    []func()      // cancel subscriptions
	waits    waits

	mu         sync.Mutex
	conns      map[*conn]struct{}
	lastClient uint64                  // client numbers given out so far
	quoteSlots map[string]*quotePlaces // by origin with a quote or plan in progress
}

// waits are the protocol's timeouts; tests shorten them.
type waits struct{ attach, write, request, confirm time.Duration }

// New returns a server subscribed to its wallet and swaps. The caller must close it.
func New(c Config) (*Server, error) {
	if c.Wallet == nil || c.Swaps == nil || c.Networks == nil || c.Tokens == nil || c.Settings == nil || c.Prices == nil || c.ProviderKeys == nil {
		return nil, errors.New("host: wallet, swaps, networks, tokens, settings, prices and provider keys must be set")
	}
	s := &Server{
		Config: c, instance: protocol.UUID(uuid.NewString()), started: time.Now().UTC(),
		acts: newActMemory(protocol.MaxRemembered), stopping: make(chan struct{}), conns: map[*conn]struct{}{}, quoteSlots: map[string]*quotePlaces{},
		waits: waits{protocol.AttachTimeout, protocol.WriteTimeout, protocol.RequestTimeout, confirmWait},
	}
	telling, stop := context.WithCancel(context.Background())
	go s.broadcastPrices(telling)
	if c.Confirmations != nil {
		c.Confirmations.Tell(s.confirmationsChanged)
	}
	s.stops = []func(){c.Wallet.Subscribe(s.keysChanged), c.Swaps.Subscribe(s.orderChanged), stop}
	return s, nil
}

// Close ends every connection and accepts no more. It may be repeated.
func (s *Server) Close() {
	s.mu.Lock()
	if s.isStopping() {
		s.mu.Unlock()
		return
	}
	close(s.stopping)
	all := s.list()
	s.mu.Unlock()
	for _, stop := range s.stops {
		stop()
	}
	for _, c := range all {
		c.drop("daemon stopping")
	}
}

func (s *Server) isStopping() bool {
	select {
	case <-s.stopping:
		return true
	default:
		return false
	}
}

func (s *Server) state() string {
	if s.isStopping() {
		return protocol.DaemonStopping
	}
	return protocol.DaemonRunning
}

// list returns every connection. The caller holds s.mu.
func (s *Server) list() []*conn {
	all := make([]*conn, 0, len(s.conns))
	for c := range s.conns {
		all = append(all, c)
	}
	return all
}

// attached returns every attached connection, oldest first.
func (s *Server) attached() []*conn {
	s.mu.Lock()
	all := s.list()
	s.mu.Unlock()
	all = slices.DeleteFunc(all, func(c *conn) bool { return c.caller() == nil })
	slices.SortFunc(all, func(a, b *conn) int { return a.caller().Since.Compare(b.caller().Since) })
	return all
}

// Serve answers one connection until it ends, which is no error, or ctx does. Acting
// requests go on after the connection is lost, but not after ctx; Serve returns when they
// are done. It closes nc.
func (s *Server) Serve(ctx context.Context, nc net.Conn) error {
	c := newConn(ctx, s, nc)
	if s.Process != nil {
		c.process = s.Process(nc)
	}
	if e := s.addConn(c); e != nil {
		return c.refuse(nil, e)
	}
	defer s.removeConn(c)
	defer context.AfterFunc(ctx, func() { c.drop("daemon stopping") })()
	return c.serve()
}

// addConn adds c to the connections, or returns an error. The limit per process counts
// unattached connections too.
func (s *Server) addConn(c *conn) *protocol.Error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.isStopping():
		return protocol.New("stopping", "")
	case len(s.conns) >= protocol.MaxConnections:
		return tooManyConnections("too many windows and commands are connected")
	case c.process != 0 && s.connectionsOf(c.process) >= protocol.MaxPerProcess:
		return tooManyConnections("one program has too many connections open")
	}
	c.client = s.clientOf(c.process)
	s.conns[c] = struct{}{}
	return nil
}

// clientOf returns the client number of a process that has connections, or a new one,
// because the system may reuse process ids. The caller holds s.mu.
func (s *Server) clientOf(process int) uint64 {
	for c := range s.conns {
		if process != 0 && c.process == process {
			return c.client
		}
	}
	s.lastClient++
	return s.lastClient
}

// tooManyConnections returns a busy error for a connection, with a remedy: waiting frees no
// connection.
func tooManyConnections(message string) *protocol.Error {
	e := protocol.New("busy", message)
	e.Remedy = "close some windows or commands, then repeat"
	return e
}

// connectionsOf counts a process's connections. The caller holds s.mu.
func (s *Server) connectionsOf(process int) (n int) {
	for c := range s.conns {
		if c.process == process {
			n++
		}
	}
	return n
}

// register registers who as the caller of c. Some connections are reserved for terminals: an
// extension that leaks ports must not keep a person from stopping the daemon.
func (s *Server) register(c *conn, who *protocol.Connection) *protocol.Error {
	s.mu.Lock()
	defer s.mu.Unlock()
	browsers := 0
	for other := range s.conns {
		if seated := other.caller(); seated != nil && seated.Kind == protocol.KindBrowser {
			browsers++
		}
	}
	if who.Kind == protocol.KindBrowser && browsers >= protocol.MaxBrowsers {
		return tooManyConnections("too many browser ports are open")
	}
	c.who.Store(who)
	return nil
}

func (s *Server) removeConn(c *conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.conns, c)
}

// broadcast sends a notification to every attached connection without waiting. A client
// that does not read is dropped.
func (s *Server) broadcast(method string, params any) {
	body, err := json.Marshal(protocol.Notification{JSONRPC: protocol.Version, Method: method, Params: params})
	if err != nil || len(body) > protocol.MaxResult {
		s.Log.Error().Err(err).Str("notification", method).Int("bytes", len(body)).Msg("notification not sent")
		return
	}
	for _, c := range s.attached() {
		c.push(slices.Clone(body))
	}
}

// orderChanged is called by the swap service after every recorded change.
func (s *Server) orderChanged(o swap.Order) { s.broadcast("swap.order", orderOf(o)) }

// keysChanged is called by the wallet. A lock ends every session, and a lock or a changed
// list of wallets drops all plans.
func (s *Server) keysChanged(c WalletChange) {
	if c.Cause == protocol.CauseLocked {
		s.endSessions()
	}
	if c.Cause == protocol.CauseLocked || c.Cause == protocol.CauseListed {
		s.dropPlans()
	}
	if c.Err != nil {
		c.Discovery.Error = s.errorOf(c.Err).Name
	}
	s.broadcast("keys.changed", protocol.KeysChanged{State: s.keysState(), Cause: c.Cause, Idle: c.Idle, Discovery: c.Discovery})
}

// keysState returns the wallet's state, or the name of the error if it is unavailable.
func (s *Server) keysState() string {
	ctx, cancel := context.WithTimeout(context.Background(), keysPatience)
	defer cancel()
	status, err := s.Wallet.Status(ctx)
	if err != nil {
		return s.errorOf(err).Name
	}
	return status.State
}

// keysPatience is the timeout of the wallet status for a notification.
const keysPatience = 2 * time.Second

func (s *Server) endSessions() {
	s.mu.Lock()
	all := s.list()
	s.mu.Unlock()
	for _, c := range all {
		c.closeSession()
	}
}
