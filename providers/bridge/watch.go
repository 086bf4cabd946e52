package bridge

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"time"

	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common"
	"github.com/gorilla/websocket"
)

// statusEvent is the only event that is subscribed to.
const statusEvent = "request.status.updated"

// Bounds of the stream.
const (
	maxFrame         = 64 << 10
	dialTimeout      = 10 * time.Second
	handshakeTimeout = 3 * time.Second // for the connection to be ready and the subscription confirmed
	pingInterval     = 30 * time.Second
	readTimeout      = 75 * time.Second // without even an answer to a ping
	writeTimeout     = 5 * time.Second
)

// errStream replaces a connection's own error, which may repeat the address and the key.
var errStream = errors.New("bridge: the stream of status changes ended; orders are asked about")

// Watch calls report at each status change that the provider pushes for one request, until
// ctx ends or the connection is lost. Without a key or a websocket it returns nil at once.
func (p *Provider) Watch(ctx context.Context, o swap.Order, report func(swap.Claim)) error {
	s, err := p.paidOrder(o)
	if err != nil {
		return err
	}
	key, err := p.key(ctx)
	if err != nil || key == "" || p.socket == "" {
		return nil // polling goes on, and reports what is wrong with the key
	}
	conn, err := dial(ctx, p.socket, key)
	if err != nil {
		return errStream
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	if err := subscribe(conn, s.id); err != nil {
		return errStream
	}
	done := make(chan struct{})
	defer close(done)
	go keepAlive(conn, done)
	for {
		f, err := next(conn)
		if err != nil {
			return errStream
		}
		c, ok := s.claimFromFrame(f, p.now())
		if ok {
			report(c)
		}
	}
}

func dial(ctx context.Context, socket, key string) (*websocket.Conn, error) {
	d := websocket.Dialer{Proxy: http.ProxyFromEnvironment, HandshakeTimeout: dialTimeout, TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12}}
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	conn, res, err := d.DialContext(ctx, socket+"?"+url.Values{"apiKey": {key}}.Encode(), nil)
	if err != nil {
		if res != nil {
			_ = res.Body.Close()
		}
		return nil, err
	}
	conn.SetReadLimit(maxFrame)
	return conn, nil
}

// A frame is a message from the provider, or the subscription.
type frame struct {
	Type    string            `json:"type,omitempty"`
	Status  string            `json:"status,omitempty"`
	Event   string            `json:"event,omitempty"`
	Filters map[string]string `json:"filters,omitempty"`
	Data    json.RawMessage   `json:"data,omitempty"`
}

// subscribe waits until the connection is ready and the subscription is confirmed.
func subscribe(conn *websocket.Conn, id common.Hash) error {
	if err := conn.SetReadDeadline(time.Now().Add(handshakeTimeout)); err != nil {
		return err
	}
	if f, err := next(conn); err != nil || f.Type != "connection" || f.Status != "ready" {
		return errors.Join(err, errStream)
	}
	if err := conn.SetWriteDeadline(time.Now().Add(writeTimeout)); err != nil {
		return err
	}
	if err := conn.WriteJSON(frame{Type: "subscribe", Event: statusEvent, Filters: map[string]string{"id": id.Hex()}}); err != nil {
		return err
	}
	if f, err := next(conn); err != nil || f.Type != "subscribe" || f.Status != "success" {
		return errors.Join(err, errStream)
	}
	extend := func(string) error { return conn.SetReadDeadline(time.Now().Add(readTimeout)) }
	conn.SetPongHandler(extend)
	return extend("")
}

// next reads a frame. One that is not JSON ends the stream.
func next(conn *websocket.Conn) (frame, error) {
	kind, raw, err := conn.ReadMessage()
	if err != nil {
		return frame{}, err
	}
	if kind != websocket.TextMessage {
		return frame{}, errors.New("a frame that is no text")
	}
	return readFrame(raw)
}

func readFrame(raw []byte) (f frame, err error) {
	err = service.Read("frame", raw, &f)
	return f, err
}

// claimFromFrame returns the claim in an event about this order, and false for any other frame.
func (s paidDeposit) claimFromFrame(f frame, now time.Time) (swap.Claim, bool) {
	if f.Event != statusEvent {
		return swap.Claim{}, false
	}
	var about struct {
		RequestID string `json:"requestId"`
	}
	if service.Read("frame.data", f.Data, &about) != nil {
		return swap.Claim{}, false
	}
	if id, err := parseHash(about.RequestID); err != nil || id != s.id {
		return swap.Claim{}, false
	}
	r, err := readStatus(f.Data)
	if err != nil {
		return swap.Claim{}, false
	}
	c, err := s.claim(r, now)
	return c, err == nil
}

// keepAlive sends pings until done, and closes the connection when one fails.
func keepAlive(conn *websocket.Conn, done <-chan struct{}) {
	t := time.NewTicker(pingInterval)
	defer t.Stop()
	for {
		select {
		case <-done:
			return
		case <-t.C:
			if conn.WriteControl(websocket.PingMessage, nil, time.Now().Add(writeTimeout)) != nil {
				_ = conn.Close()
				return
			}
		}
	}
}
