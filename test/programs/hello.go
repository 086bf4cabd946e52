//go:build linux

package programs

import (
	"encoding/json"
	"fmt"
	"time"

	"swapkeep/host/client"
	"swapkeep/host/protocol"
)

// Browse starts a relay as a browser does and waits for a daemon's hello; extra adds to its
// environment and to that of a daemon it starts. The relay is nil only if it did not start.
func (h *Home) Browse(wait time.Duration, extra ...string) (*client.Process, protocol.Hello, error) {
	p, err := client.Start(h.Command(extra, Origin))
	if err != nil {
		return nil, protocol.Hello{}, err
	}
	hello, err := AwaitHello(p, wait)
	return p, hello, err
}

// AwaitHello waits up to wait for the daemon's next host.hello notification through a relay.
func AwaitHello(p *client.Process, wait time.Duration) (h protocol.Hello, err error) {
	for late := time.After(wait); ; {
		select {
		case n := <-p.Notifications():
			if n.Method == "host.hello" {
				return h, json.Unmarshal(n.Params, &h)
			}
		case <-p.Done():
			return h, p.Err()
		case <-late:
			return h, fmt.Errorf("no hello in %s", wait)
		}
	}
}
