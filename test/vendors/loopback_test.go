//go:build vendors

package vendors_test

import (
	"os/exec"
	"strings"
	"testing"
)

// TestVendorsLoopback checks that a script ends whatever network API a package uses to
// reach out. The address is reserved for documentation (192.0.2.0/24).
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
