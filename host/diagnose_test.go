package host

import (
	"context"
	"encoding/json"
	"testing"

	"swapkeep/host/protocol"
)

func fakeDiagnosis(_ context.Context, online bool) []protocol.Check {
	networks := protocol.Check{ID: "networks", Status: protocol.CheckSkipped, Evidence: "checked with --online"}
	if online {
		networks = protocol.Check{ID: "networks", Status: protocol.CheckOK, Evidence: "7 of 7 networks answer"}
	}
	return []protocol.Check{
		{ID: "keychain", Status: protocol.CheckFail, Evidence: "no session bus, so no keychain", Remedy: "log in to a desktop session"}, networks,
	}
}

// TestDiagnose checks that a terminal gets the diagnosis and that the online parameter is
// passed on.
func TestDiagnose(t *testing.T) {
	p := newRig(t).attach("terminal")
	for online, want := range map[bool]string{false: protocol.CheckSkipped, true: protocol.CheckOK} {
		var d protocol.Diagnosis
		if err := json.Unmarshal(p.must("host.diagnose", map[string]any{"online": online}).Result, &d); err != nil {
			t.Fatal(err)
		}
		if len(d.Checks) != 2 || d.Checks[1].Status != want || d.Version != "0.1.0" {
			t.Errorf("online %t: %+v", online, d)
		}
	}
	without := newRig(t, func(c *Config) { c.Diagnose = nil }).attach("terminal")
	if e := without.call("host.diagnose", nil).Error; e == nil || e.Name != "unknown_method" {
		t.Errorf("a daemon without a diagnosis says %v", e)
	}
}
