package bridgesim_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/gorilla/websocket"

	"swapkeep/sandbox"
	"swapkeep/sandbox/bridgesim"
	"swapkeep/sandbox/inject"
	"swapkeep/sandbox/sandboxtest"
)

// dial connects to the websocket and reads its first frame.
func dial(t *testing.T, s *sandbox.Sandbox) *websocket.Conn {
	t.Helper()
	conn, resp, err := websocket.DefaultDialer.DialContext(t.Context(), strings.Replace(s.BaseURL("bridge"), "http", "ws", 1)+"/ws?apiKey="+testKey, nil)
	if err != nil {
		t.Fatalf("%v (%v)", err, resp)
	}
	t.Cleanup(func() { _ = conn.Close() })
	sandboxtest.SameShape(t, "ready", sandboxtest.Decode[any](t, next(t, conn)), example(t, "ws_ready"))
	return conn
}

func next(t *testing.T, conn *websocket.Conn) []byte {
	t.Helper()
	if err := conn.SetReadDeadline(time.Now().Add(10 * time.Second)); err != nil {
		t.Fatal(err)
	}
	_, raw, err := conn.ReadMessage()
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func subscribe(t *testing.T, conn *websocket.Conn, kind string, request common.Hash) {
	t.Helper()
	frame := fields{"type": kind, "event": "request.status.updated", "filters": fields{"id": request}}
	sandboxtest.SameShape(t, "frame", sandboxtest.Decode[any](t, mustJSON(t, frame)), example(t, "ws_sub"))
	if err := conn.WriteJSON(frame); err != nil {
		t.Fatal(err)
	}
	sandboxtest.SameShape(t, "ack", sandboxtest.Decode[any](t, next(t, conn)), example(t, "ws_ack"))
}

func mustJSON(t *testing.T, v any) []byte {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func TestSocketTellsEveryState(t *testing.T) {
	s := start(t)
	set(t, s, func(o *bridgesim.Settings) { o.Outcome.Kind = bridgesim.Refund })
	conn := dial(t, s)
	stranger, q := quote(t, s, baseETH, arbETH, sandboxtest.Units(1, 16), nil), quote(t, s, baseETH, arbETH, sandboxtest.Units(1, 16), nil)
	subscribe(t, conn, "subscribe", stranger.RequestID)
	subscribe(t, conn, "unsubscribe", stranger.RequestID)
	subscribe(t, conn, "subscribe", q.RequestID)
	if _, err := s.Faults("bridge").Add(inject.Rule{Target: "/ws/event", Kind: inject.Lie, Pointer: "/data/status", Value: json.RawMessage(`"success"`), Times: 1}); err != nil {
		t.Fatal(err)
	}
	executeAll(t, s, stranger)
	executeAll(t, s, q)
	var states []string
	for len(states) == 0 || states[len(states)-1] != "refund" {
		raw := next(t, conn)
		if len(states) == 0 {
			sandboxtest.SameShape(t, "event", sandboxtest.Decode[any](t, raw), example(t, "ws_evt"))
		}
		var event struct {
			Data struct {
				Status    string
				RequestID common.Hash `json:"requestId"`
			}
		}
		if err := json.Unmarshal(raw, &event); err != nil || event.Data.RequestID != q.RequestID {
			t.Fatalf("%v in %s", err, raw)
		}
		states = append(states, event.Data.Status)
	}
	if want := []string{"success", "failure", "pending", "refund"}; !slices.Equal(states, want) {
		t.Errorf("%v, want %v (the first is a lie)", states, want)
	}
}

func TestSocketNeedsTheKey(t *testing.T) {
	s := start(t)
	url := strings.Replace(s.BaseURL("bridge"), "http", "ws", 1) + "/ws"
	_, resp, err := websocket.DefaultDialer.DialContext(t.Context(), url, nil)
	if err == nil || resp == nil || resp.StatusCode != http.StatusUnauthorized {
		t.Errorf("without a key: %v, %v", resp, err)
	}
	dial(t, s)
}

func TestSocketRefusesNonsenseAndDrops(t *testing.T) {
	s := start(t)
	conn := dial(t, s)
	for _, nonsense := range []string{`{`, `{"type":"subscribe","event":"other"}`, `{"type":"subscribe","event":"request.status.updated","filters":{"id":7}}`} {
		if err := conn.WriteMessage(websocket.TextMessage, []byte(nonsense)); err != nil {
			t.Fatal(err)
		}
		var reply struct{ Type string }
		if err := json.Unmarshal(next(t, conn), &reply); err != nil || reply.Type != "error" {
			t.Errorf("%s: %v %v", nonsense, reply, err)
		}
	}
	if err := conn.WriteJSON(fields{"type": "subscribe", "event": "request.status.updated"}); err != nil {
		t.Fatal(err)
	}
	next(t, conn)
	if _, err := s.Faults("bridge").Add(inject.Rule{Target: "/ws/event", Kind: inject.Drop}); err != nil {
		t.Fatal(err)
	}
	q := quote(t, s, baseETH, arbETH, sandboxtest.Units(1, 16), nil)
	executeAll(t, s, q)
	if _, _, err := conn.ReadMessage(); err == nil {
		t.Error("a dropped event arrived")
	}
	follow(t, s, q.RequestID, "success")
}
