package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"

	"swapkeep/host/frame"
)

// A port is a native-messaging host, started as a browser starts one.
type port struct {
	*child
	in    *frame.Reader
	out   *frame.Writer
	calls int
}

// open starts a host for the home's daemon.
func (l *lab) open(exe, home string) (*port, error) {
	cmd := exec.Command(exe, origin)
	cmd.Env = l.environ(home)
	c, err := spawn(cmd)
	if err != nil {
		return nil, err
	}
	return &port{child: c, in: frame.NewReader(c.stdout), out: frame.NewWriter(c.stdin)}, nil
}

// relay starts the relay under test.
func (l *lab) relay(home string) (*port, error) {
	return l.open(filepath.Join(l.bin, "swapkeep"), home)
}

// hello calls host.hello and returns the frame that answers it, skipping notifications.
// An echo counts as an answer.
func (p *port) hello() ([]byte, error) {
	p.calls++
	id := fmt.Sprintf(`"id":"bench-%d"`, p.calls)
	ask := fmt.Sprintf(`{"jsonrpc":"2.0",%s,"method":"host.hello","params":{"protocol":{"min":1,"max":1}}}`, id)
	if err := p.out.Write([]byte(ask)); err != nil {
		return nil, err
	}
	for {
		body, err := p.in.Read()
		if err != nil {
			return nil, fmt.Errorf("the host answers no hello: %w", err)
		}
		if bytes.Contains(body, []byte(id)) {
			return body, nil
		}
	}
}

// greeted checks that an answer is the daemon's hello and no error.
func greeted(body []byte) error {
	var reply struct {
		Result struct {
			Product      string   `json:"product"`
			Capabilities []string `json:"capabilities"`
		} `json:"result"`
	}
	if err := json.Unmarshal(body, &reply); err != nil {
		return err
	}
	if reply.Result.Product != "swapkeep" || len(reply.Result.Capabilities) == 0 {
		return fmt.Errorf("this is no hello: %s", body)
	}
	return nil
}
