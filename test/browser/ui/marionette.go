//go:build linux

package ui

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"time"
)

// marionette speaks Firefox's remote protocol: "length:json", calls [0, id, name, params]
// and answers [1, id, error, result]. Calls must not be concurrent; mu is for the callers.
type marionette struct {
	mu   sync.Mutex
	conn net.Conn
	in   *bufio.Reader
	last int
}

// dialMarionette waits for the file that names the port, or until ended is closed.
func dialMarionette(portFile string, ended <-chan struct{}) (*marionette, error) {
	late := time.After(startTimeout)
	for {
		port, err := os.ReadFile(portFile)
		if err == nil && len(port) > 0 {
			if conn, err := net.Dial("tcp", "127.0.0.1:"+strings.TrimSpace(string(port))); err == nil {
				m := &marionette{conn: conn, in: bufio.NewReader(conn)}
				_, err := m.receive() // its greeting
				return m, err
			}
		}
		select {
		case <-ended:
			return nil, errors.New("it ended at once")
		case <-late:
			return nil, errors.New("it did not open its Marionette port")
		case <-time.After(pause):
		}
	}
}

func (m *marionette) receive() ([]byte, error) {
	if err := m.conn.SetDeadline(time.Now().Add(callTimeout)); err != nil {
		return nil, err
	}
	size, err := m.in.ReadString(':')
	if err != nil {
		return nil, err
	}
	var length int
	if _, err := fmt.Sscanf(size, "%d:", &length); err != nil {
		return nil, err
	}
	b := make([]byte, length)
	_, err = io.ReadFull(m.in, b)
	return b, err
}

// errNoWindow is Firefox's error for a window that has been closed.
var errNoWindow = errors.New("no such window")

// params are the parameters of a call.
type params = map[string]any

// call makes one call and decodes its result, if result is not nil.
func (m *marionette) call(name string, p params, result any) error {
	m.last++
	if p == nil {
		p = params{}
	}
	b, err := json.Marshal([]any{0, m.last, name, p})
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(m.conn, "%d:%s", len(b), b); err != nil {
		return fmt.Errorf("%s: the browser is gone: %w", name, err)
	}
	if b, err = m.receive(); err != nil {
		return fmt.Errorf("%s: the browser is gone: %w", name, err)
	}
	var answer [4]json.RawMessage
	if err := json.Unmarshal(b, &answer); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	var refusal *struct{ Error, Message string }
	if err := json.Unmarshal(answer[2], &refusal); err != nil || refusal != nil {
		if refusal != nil && refusal.Error == errNoWindow.Error() {
			return fmt.Errorf("%s: %w", name, errNoWindow)
		}
		return fmt.Errorf("%s: %s", name, answer[2])
	}
	if result == nil {
		return nil
	}
	return json.Unmarshal(answer[3], result)
}

// script runs the body of a function in the current page or, with chrome, in the browser
// itself, and decodes the awaited value that it returns.
func (m *marionette) script(chrome bool, body string, result any, args ...any) (err error) {
	if args == nil {
		args = []any{}
	}
	if chrome {
		if err := m.call("Marionette:SetContext", params{"value": "chrome"}, nil); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, m.call("Marionette:SetContext", params{"value": "content"}, nil)) }()
	}
	var v struct{ Value json.RawMessage }
	if err := m.call("WebDriver:ExecuteScript", params{"script": body, "args": args, "newSandbox": false}, &v); err != nil || result == nil {
		return err
	}
	return json.Unmarshal(v.Value, result)
}
