package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"swapkeep/chain"
	"swapkeep/host/protocol"
)

// probe probes the RPC hosts of all networks that run, in parallel.
func (s examined) probe(ctx context.Context) ([]probedNetwork, error) {
	hub, err := s.hub()
	if err != nil {
		return nil, err
	}
	if s.daemon == nil {
		defer hub.Close()
	}
	ctx, cancel := context.WithTimeout(ctx, onlineTime)
	defer cancel()
	networks := slices.DeleteFunc(hub.Networks(), chain.Network.HasEnded)
	found := make([]probedNetwork, len(networks))
	var all sync.WaitGroup
	for i, n := range networks {
		all.Go(func() {
			probes, _ := hub.Probe(ctx, n.ID) // it fails only for an unknown network
			found[i] = probedNetwork{n, probes}
		})
	}
	all.Wait()
	return found, nil
}

// hosts checks what the RPC hosts of all networks that run serve of what swaps need.
func (s examined) hosts(context.Context) protocol.Check {
	if !s.online {
		return finding(protocol.CheckSkipped, "checked with --online", "")
	}
	found, err := s.probes()
	if err != nil {
		return finding(protocol.CheckFail, oneLine(err), "fix networks in the configuration")
	}
	return judgeNetworks(found)
}

// A probedNetwork is a network with what its hosts showed.
type probedNetwork struct {
	chain.Network
	probes []chain.Probe
}

// judgeNetworks lists what hosts lack.
func judgeNetworks(found []probedNetwork) protocol.Check {
	c := finding(protocol.CheckOK, "", "")
	hosts, sound := 0, 0
	for _, n := range found {
		hosts += len(n.probes)
		problems := n.problems()
		for _, p := range n.probes {
			if !slices.ContainsFunc(problems, func(h protocol.HostFinding) bool { return h.Host == p.Host }) {
				sound++
			}
		}
		c.Hosts = append(c.Hosts, problems...)
	}
	if !slices.ContainsFunc(found, probedNetwork.answered) {
		return finding(protocol.CheckSkipped, "no RPC host answers", "") // the check of the networks says what to do
	}
	c.Evidence = fmt.Sprintf("%d of %d RPC hosts serve logs, receipts and simulation", sound, hosts)
	for _, status := range []string{protocol.CheckNote, protocol.CheckWarn, protocol.CheckFail} {
		if slices.ContainsFunc(c.Hosts, func(h protocol.HostFinding) bool { return h.Status == status }) {
			c.Status = status
		}
	}
	return c
}

func (n probedNetwork) answered() bool {
	return slices.ContainsFunc(n.probes, func(p chain.Probe) bool { return p.Err == nil })
}

// problems lists what n's hosts lack. It is a failure where too few others are left: two for
// what proves an order. One is enough to recompute receipts and one to simulate, and without them
// less can be done.
func (n probedNetwork) problems() (out []protocol.HostFinding) {
	all, proving, recomputes, simulates := map[string]bool{}, map[string]bool{}, false, false
	for _, p := range n.probes {
		all[p.Host] = true
		if proofProblem(p) == "" {
			proving[p.Host] = true
			recomputes, simulates = recomputes || p.ReceiptsErr == nil, simulates || p.SimulateErr == nil
		}
	}
	for _, p := range n.probes {
		add := func(problem string, enough bool, good, bad string) {
			status := bad
			if enough {
				status = good
			}
			out = append(out, protocol.HostFinding{ChainID: n.ID, Network: n.Name, Host: p.Host, Problem: problem, Status: status})
		}
		if problem := proofProblem(p); problem != "" {
			add(problem, len(proving) >= min(2, len(all)), protocol.CheckWarn, protocol.CheckFail)
			continue
		}
		if p.ReceiptsErr != nil {
			add(protocol.HostNoReceipts, recomputes, protocol.CheckNote, protocol.CheckWarn)
		}
		if p.SimulateErr != nil {
			add(protocol.HostNoSimulate, simulates, protocol.CheckNote, protocol.CheckWarn)
		}
	}
	return out
}

// proofProblem returns why a host cannot prove an order; "" if it can.
func proofProblem(p chain.Probe) string {
	switch {
	case errors.Is(p.Err, chain.ErrWrongChain):
		return protocol.HostWrongChain
	case p.Err != nil:
		return protocol.HostSilent
	case p.Age < -blockAhead || p.Age > blockOld:
		return protocol.HostOldBlock
	case p.LogErr != nil:
		return protocol.HostNoLogs
	case p.LogBlocks < min(chain.MinLogRange, p.Head):
		return protocol.HostFewLogs
	case p.FinalErr != nil:
		return protocol.HostNotFinal
	}
	return ""
}
