//go:build linux

package programs

import (
	"encoding/json"
	"fmt"
	"time"

	"swapkeep/host/client"
	"swapkeep/host/protocol"
)

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
