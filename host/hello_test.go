package host

import (
	"testing"

	"swapkeep/host/protocol"
)

// TestVersionsApart checks version negotiation, because extension and host are updated at
// different times: they agree on the highest common version, or the error names the older
// side.
func TestVersionsApart(t *testing.T) {
	const newest = 5
	ranges := func(try func(protocol.Range)) {
		for lowest := 1; lowest <= newest; lowest++ {
			for highest := lowest; highest <= newest; highest++ {
				try(protocol.Range{Min: lowest, Max: highest})
			}
		}
	}
	speaks := func(r protocol.Range, v int) bool { return r.Min <= v && v <= r.Max }
	ranges(func(client protocol.Range) {
		ranges(func(daemon protocol.Range) {
			common := 0
			for v := 1; v <= newest; v++ {
				if speaks(client, v) && speaks(daemon, v) {
					common = v
				}
			}
			selected, e := negotiate(&client, daemon)
			if selected != common || (e == nil) != (common > 0) {
				t.Errorf("client %d, daemon %d: selected %d, %v; want %d", client, daemon, selected, e, common)
			}
			behind := "daemon"
			if client.Max < daemon.Min {
				behind = "client"
			}
			if e != nil && (e.Name != "version_mismatch" || e.Data["update"] != behind || e.Remedy == "") {
				t.Errorf("client %d, daemon %d: %+v; want to update the %s", client, daemon, e, behind)
			}
		})
	})
	if selected, e := negotiate(nil, protocol.Range{Min: 2, Max: 4}); e != nil || selected != 2 {
		t.Errorf("a client without a range: %d, %v; want the lowest", selected, e)
	}
	for _, r := range []protocol.Range{{}, {Min: 0, Max: 1}, {Min: 3, Max: 2}} {
		if _, e := negotiate(&r, supportedVersions); e == nil || e.Name != "bad_params" {
			t.Errorf("%d: %v", r, e)
		}
	}
}
