//go:build vendors

package vendors_test

import (
	"os/exec"
	"strings"
	"testing"
)

// TestVendorsLoopback: whatever way a package reaches out by, its script ends. The address
// is one that nobody has.
func TestVendorsLoopback(t *testing.T) {
	for _, reach := range []string{
		`fetch("https://192.0.2.1")`, `fetch("https://api.relay.link")`, `require("net").connect(443, "192.0.2.1")`,
		`require("tls").connect({ host: "192.0.2.1", port: 443 })`, `require("http").get("http://192.0.2.1/")`,
		`require("dns").lookup("api.relay.link", () => {})`, `require("dgram").createSocket("udp4").send("x", 53, "192.0.2.1")`,
	} {
		out, err := exec.CommandContext(t.Context(), "node", "--require", "./loopback.cjs", "--eval", reach).CombinedOutput()
		if err == nil || !strings.Contains(string(out), "a package reached for") {
			t.Errorf("%s: %v: %s", reach, err, out)
		}
	}
}
