package relay

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"swapkeep/host/frame"
	"swapkeep/host/protocol"
)

// grantOf lets a relay read a daemon's first messages, and returns what the browser got
// and the result.
func grantOf(t testing.TB, messages ...[]byte) (received [][]byte, err error) {
	t.Helper()
	var stream, out bytes.Buffer
	to := frame.NewWriter(&stream)
	for _, m := range messages {
		_ = to.Write(m)
	}
	r, err := newRelay(Config{Out: &out, Attach: protocol.AttachParams{}}, func(error) { t.Error("the relay thinks that its browser has gone") })
	if err != nil {
		t.Fatal(err)
	}
	err = r.readGrant(frame.NewReader(&stream))
	for in := frame.NewReader(&out); ; {
		body, end := in.Read()
		if end != nil {
			return received, err
		}
		received = append(received, body)
	}
}

// meaning parses one message independently of the relay and reports what it says about
// the attach. known is false for a message with misspelt or duplicate members.
func meaning(body []byte) (answer, grant, known bool) {
	var m map[string]any
	if json.Unmarshal(body, &m) != nil {
		return false, false, json.Valid(body) // invalid JSON is no answer either
	}
	for name := range m {
		for _, exact := range []string{"id", "method", "result", "error"} {
			if strings.EqualFold(name, exact) && (name != exact || bytes.Count(body, []byte(exact)) > 1) {
				return false, false, false
			}
		}
	}
	if bytes.Contains(body, []byte("\\u")) {
		return false, false, false
	}
	id, method := m["id"], m["method"]
	if method != nil && method != "" {
		return false, false, true
	}
	_, object := m["result"].(map[string]any)
	return id == "attach" || id == nil && m["error"] != nil, id == "attach" && object && m["error"] == nil, true
}

// FuzzGrant checks that only an answer to the attach grants it, after which the browser
// gets what came before the answer and no more. A refused browser gets at most one error,
// which has no request id.
func FuzzGrant(f *testing.F) {
	for _, s := range []string{
		granted, hello1 + "\n" + granted, refusal("busy"), hello1 + "\n" + refusal("origin_refused"), refusal("stopping"),
		`{"id":null,"error":{"code":1002,"message":"m"}}`, `{"id":"attach","result":{},"error":null}`, `{"id":"attach"}`, `{"error":null}`,
		strings.Repeat(hello1+"\n", maxEarly+1) + granted, `{"id":"attach","error":{"code":1,"message":"` + strings.Repeat("<", 600) + `"}}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		messages := bytes.FieldsFunc(text, func(c rune) bool { return c == '\n' })
		received, err := grantOf(t, messages...)
		first, sure := len(messages), true // index of the first answer
		for i, m := range messages {
			answer, grant, known := meaning(m)
			if sure = sure && known; answer {
				if first = i; sure && i <= maxEarly && grant != (err == nil) {
					t.Fatalf("%q: %v", m, err)
				}
				break
			}
		}
		switch {
		case err == nil:
			if sure && (len(received) != first || !bytes.Equal(bytes.Join(received, nil), bytes.Join(messages[:first], nil))) {
				t.Fatalf("%q: the browser hears %q", messages, received)
			}
		case errors.Is(err, ErrRefused):
			var e struct {
				ID    *int
				Error *protocol.Error
			}
			if len(received) != 1 || json.Unmarshal(received[0], &e) != nil || e.ID != nil || e.Error == nil || e.Error.Code == 0 {
				t.Fatalf("%q: the browser hears %q", messages, received)
			}
		case !errors.Is(err, errDaemonGone) || len(received) > 0:
			t.Fatalf("%q: %v, the browser hears %q", messages, err, received)
		}
	})
}
