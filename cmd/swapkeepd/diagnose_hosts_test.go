package main

import (
	"errors"
	"slices"
	"testing"

	"swapkeep/chain"
	"swapkeep/host/protocol"
)

// TestHostsAreJudged checks what is said of hosts that lack something, and that it is a failure
// only where the network's other hosts do not make up for it.
func TestHostsAreJudged(t *testing.T) {
	refused := errors.New("refused")
	sound := func(host string) chain.Probe {
		return chain.Probe{Host: host, Head: 1000, LogBlocks: 8192}
	}
	with := func(host string, change func(*chain.Probe)) chain.Probe {
		p := sound(host)
		change(&p)
		return p
	}
	noLogs := func(host string) chain.Probe {
		return with(host, func(p *chain.Probe) { p.LogBlocks, p.LogErr = 0, refused })
	}
	noReceipts := func(p *chain.Probe) { p.ReceiptsErr = refused }
	noSimulation := func(p *chain.Probe) { p.SimulateErr = refused }
	for name, c := range map[string]struct {
		probes []chain.Probe
		status string
		want   []string // host, problem, status
	}{
		"sound":                   {[]chain.Probe{sound("a"), sound("b")}, protocol.CheckOK, nil},
		"one lacks logs of three": {[]chain.Probe{sound("a"), noLogs("b"), sound("c")}, protocol.CheckWarn, []string{"b no_logs warn"}},
		"one lacks logs of two":   {[]chain.Probe{sound("a"), noLogs("b")}, protocol.CheckFail, []string{"b no_logs fail"}},
		"the only one":            {[]chain.Probe{noLogs("a")}, protocol.CheckFail, []string{"a no_logs fail"}},
		"few logs":                {[]chain.Probe{with("a", func(p *chain.Probe) { p.LogBlocks = 50 })}, protocol.CheckFail, []string{"a few_logs fail"}},
		"a young chain":           {[]chain.Probe{with("a", func(p *chain.Probe) { p.Head, p.LogBlocks = 50, 50 })}, protocol.CheckOK, nil},
		"no final block":          {[]chain.Probe{with("a", func(p *chain.Probe) { p.FinalErr = refused })}, protocol.CheckFail, []string{"a not_final fail"}},
		"old":                     {[]chain.Probe{with("a", func(p *chain.Probe) { p.Age = blockOld + 1 })}, protocol.CheckFail, []string{"a old_block fail"}},
		"silent":                  {[]chain.Probe{{Host: "a", Err: refused}, sound("b")}, protocol.CheckFail, []string{"a silent fail"}},
		"all silent":              {[]chain.Probe{{Host: "a", Err: refused}, {Host: "b", Err: refused}}, protocol.CheckSkipped, nil},
		"of another chain":        {[]chain.Probe{{Host: "a", Err: chain.ErrWrongChain}, sound("b"), sound("c")}, protocol.CheckWarn, []string{"a wrong_chain warn"}},
		"one has receipts":        {[]chain.Probe{sound("a"), with("b", noReceipts)}, protocol.CheckNote, []string{"b no_receipts note"}},
		"nobody has receipts":     {[]chain.Probe{with("a", noReceipts)}, protocol.CheckWarn, []string{"a no_receipts warn"}},
		"neither":                 {[]chain.Probe{with("a", func(p *chain.Probe) { noReceipts(p); noSimulation(p) })}, protocol.CheckWarn, []string{"a no_receipts warn", "a no_simulate warn"}},
		"one simulates":           {[]chain.Probe{sound("a"), with("b", noSimulation)}, protocol.CheckNote, []string{"b no_simulate note"}},
		"nobody simulates":        {[]chain.Probe{with("a", noSimulation)}, protocol.CheckWarn, []string{"a no_simulate warn"}},
	} {
		got := judgeNetworks([]probedNetwork{{chain.Network{ID: 56, Name: "BNB Smart Chain"}, c.probes}})
		var found []string
		for _, h := range got.Hosts {
			if h.ChainID != 56 || h.Network != "BNB Smart Chain" {
				t.Errorf("%s: %+v", name, h)
			}
			found = append(found, h.Host+" "+h.Problem+" "+h.Status)
		}
		if got.Status != c.status || !slices.Equal(found, c.want) {
			t.Errorf("%s: %s, %q", name, got.Status, found)
		}
	}
}
