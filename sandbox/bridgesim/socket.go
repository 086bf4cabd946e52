package bridgesim

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/gorilla/websocket"
)

// socketPath is the websocket's path. Upgrades are accepted on any other path too, as the
// real one has its own host and no path.
const socketPath = "/ws"

// statusEvent is the only event.
const statusEvent = "request.status.updated"

// Limits of the websocket.
const (
	maxFrame    = 16 << 10
	maxSockets  = 100
	maxFilters  = 1000
	maxWaiting  = 256 // frames queued for a slow reader
	socketWrite = 10 * time.Second
)

// A frame is a client's message; answers to it have more members.
type frame struct {
	Type    string         `json:"type"`
	Event   string         `json:"event"`
	Filters map[string]any `json:"filters"`
}

type statusFrame struct {
	Event     string      `json:"event"`
	Data      statusEntry `json:"data"`
	Published int64       `json:"publishedAt"`
}

type statusEntry struct {
	Status           string        `json:"status"`
	Details          string        `json:"details,omitempty"`
	InTxHashes       []common.Hash `json:"inTxHashes"`
	TxHashes         []common.Hash `json:"txHashes"`
	UpdatedAt        int64         `json:"updatedAt"`
	OriginChain      uint64        `json:"originChainId"`
	DestinationChain uint64        `json:"destinationChainId"`
	RequestID        common.Hash   `json:"requestId"`
	FailReason       string        `json:"failReason,omitempty"`
	RefundFailReason string        `json:"refundFailReason,omitempty"`
}

// A hub holds the connections. It is guarded by the server's mu.
type hub struct {
	closed  bool
	sockets []*socket
}

// A socket is one client's connection.
type socket struct {
	conn    *websocket.Conn
	request *http.Request
	frames  chan any // to be sent
	filters []string // subscribed request ids; "" is all
}

// publish sends an order's status to its subscribers.
func (h *hub) publish(o *order) {
	now := o.shown()
	event := statusFrame{statusEvent, statusEntry{
		Status: now.Status, Details: now.Details, InTxHashes: now.InTxHashes, TxHashes: now.TxHashes, UpdatedAt: now.UpdatedAt,
		OriginChain: now.OriginChain, DestinationChain: now.DestinationChain, RequestID: o.request,
		FailReason: o.failReason, RefundFailReason: o.refundFailReason,
	}, time.Now().UnixMilli()}
	for _, c := range h.sockets {
		if slices.Contains(c.filters, "") || slices.Contains(c.filters, o.request.Hex()) {
			c.send(event)
		}
	}
}

// send queues a frame. If the queue is full, the connection is closed.
func (c *socket) send(frame any) {
	select {
	case c.frames <- frame:
	default:
		_ = c.conn.Close()
	}
}

func (h *hub) close() {
	h.closed = true
	for _, c := range h.sockets {
		_ = c.conn.Close()
	}
}

// socket serves a websocket.
func (s *Server) socket(w http.ResponseWriter, r *http.Request) {
	if key := s.Settings().APIKey; key != "" && r.URL.Query().Get("apiKey") != key {
		writeError(w, errUnauthorized)
		return
	}
	upgrader := websocket.Upgrader{}
	conn, err := upgrader.Upgrade(w, r, nil)
	if err != nil {
		return // Upgrade has responded
	}
	defer conn.Close()
	conn.SetReadLimit(maxFrame)
	c := &socket{conn: conn, request: r, frames: make(chan any, maxWaiting)}
	if !s.join(c) {
		return
	}
	defer s.leave(c)
	c.send(map[string]any{"type": "connection", "status": "ready", "data": map[string]string{"id": strings.ToLower(rand.Text()[:11])}})
	go s.read(c)
	s.write(c)
}

func (s *Server) join(c *socket) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.hub.closed || len(s.hub.sockets) >= maxSockets {
		return false
	}
	s.hub.sockets = append(s.hub.sockets, c)
	return true
}

func (s *Server) leave(c *socket) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hub.sockets = slices.DeleteFunc(s.hub.sockets, func(x *socket) bool { return x == c })
}

// read handles subscriptions until the client disconnects, which also ends write.
func (s *Server) read(c *socket) {
	defer close(c.frames)
	for {
		_, raw, err := c.conn.ReadMessage()
		if err != nil {
			s.leave(c) // so that nothing is sent to the closed channel
			return
		}
		s.mu.Lock()
		c.send(c.answer(raw))
		s.mu.Unlock()
	}
}

// answer handles a client's frame. The caller holds the server's mu.
func (c *socket) answer(raw []byte) any {
	f, ok := parseFrame(raw)
	if !ok {
		return map[string]any{"type": "error", "status": "error", "data": map[string]string{"message": "Invalid message"}}
	}
	id := f.request()
	c.filters = slices.DeleteFunc(c.filters, func(have string) bool { return have == id })
	if f.Type == "subscribe" && len(c.filters) < maxFilters {
		c.filters = append(c.filters, id)
	}
	data := map[string]any{"event": f.Event}
	if f.Filters != nil {
		data["filters"] = f.Filters
	}
	return map[string]any{"type": f.Type, "status": "success", "data": data}
}

// parseFrame parses a subscribe or unsubscribe message.
func parseFrame(raw []byte) (frame, bool) {
	var f frame
	if json.Unmarshal(raw, &f) != nil || f.Event != statusEvent || (f.Type != "subscribe" && f.Type != "unsubscribe") {
		return frame{}, false
	}
	id, present := f.Filters["id"]
	_, isText := id.(string)
	return f, !present || isText
}

// request returns the request id of the frame; "" for all.
func (f frame) request() string {
	id, _ := f.Filters["id"].(string)
	return strings.ToLower(id)
}

// write sends the queued frames. Faults of /ws/event apply to events.
func (s *Server) write(c *socket) {
	for f := range c.frames {
		raw, err := json.Marshal(f)
		if err != nil {
			return
		}
		if _, isEvent := f.(statusFrame); isEvent {
			out := &frameWriter{header: http.Header{}}
			s.Faults.Decide(socketPath+"/event").Serve(out, c.request, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(raw) }, nil, nil)
			raw = out.body.Bytes()
		}
		_ = c.conn.SetWriteDeadline(time.Now().Add(socketWrite))
		if c.conn.WriteMessage(websocket.TextMessage, raw) != nil {
			return
		}
	}
}

// A frameWriter buffers a response that becomes a frame.
type frameWriter struct {
	header http.Header
	body   bytes.Buffer
}

func (f *frameWriter) Header() http.Header         { return f.header }
func (f *frameWriter) WriteHeader(int)             {}
func (f *frameWriter) Write(p []byte) (int, error) { return f.body.Write(p) }
