package chain

import (
	"flag"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "draw the table of docs/networks.md again")

// TestHosts checks that every network that runs has two hosts of distinct operators, whose
// logs are documented unless nobody documents any, and that each row says where it is from.
func TestHosts(t *testing.T) {
	for _, n := range Networks() {
		var of []Host
		for _, h := range Hosts() {
			if h.Chain == n.ID {
				of = append(of, h)
			}
		}
		if len(of) < 2 || len(of) > maxEndpoints || of[0].Operator == of[1].Operator {
			t.Errorf("%s: %d hosts, or one operator's", n.Name, len(of))
			continue
		}
		undocumented := n.HasEnded() || n.ID == 39 // nothing is published of U2U's hosts
		for i, h := range of {
			if u, err := url.Parse(h.URL); err != nil || u.Scheme != "https" || u.Host == "" || h.Source == "" || h.Operator == "" {
				t.Errorf("%+v", h)
			}
			if i < 2 && h.Logs != Documented && !undocumented {
				t.Errorf("%s: logs of %s are %s", n.Name, h.URL, h.Logs)
			}
			if n.Finalized && h.Finalized != Documented {
				t.Errorf("%s: final blocks of %s are %s", n.Name, h.URL, h.Finalized)
			}
		}
		if !slices.EqualFunc(n.RPC, of, func(u string, h Host) bool { return u == h.URL }) {
			t.Errorf("%s: asked are %q", n.Name, n.RPC)
		}
	}
}

// TestHostsDrawn checks that docs/networks.md shows the table; -update draws it.
func TestHostsDrawn(t *testing.T) {
	const file, begin, end = "../docs/networks.md", "<!-- drawn from chain/hosts.go -->\n", "<!-- end -->"
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(raw), begin)
	_, after, closed := strings.Cut(rest, end)
	if !found || !closed {
		t.Fatal("no place for the table")
	}
	var b strings.Builder
	b.WriteString("| Network | Host | Operator | Logs | `finalized` | `eth_simulateV1` | `eth_getBlockReceipts` | Source (looked up " + hostsChecked + ") |\n|---|---|---|---|---|---|---|---|\n")
	for _, h := range Hosts() {
		n, _ := NetworkByID(h.Chain)
		fmt.Fprintf(&b, "| %s (%d) | %s | %s | %s | %s | %s | %s | %s |\n", n.Name, n.ID, strings.TrimPrefix(h.URL, "https://"), h.Operator, h.Logs, h.Finalized, h.Simulate, h.BlockReceipts, h.Source)
	}
	drawn := before + begin + b.String() + end + after
	if drawn == string(raw) {
		return
	}
	if !*update {
		t.Fatal("the table is stale; go test ./chain -run HostsDrawn -update draws it again")
	}
	if err := os.WriteFile(file, []byte(drawn), 0o644); err != nil {
		t.Fatal(err)
	}
}
