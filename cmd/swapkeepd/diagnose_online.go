package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"swapkeep/chain"
	"swapkeep/host/protocol"
	"swapkeep/internal/clock"
)

// onlineTime limits the probe of all networks together.
const onlineTime = 5 * time.Second

// Tolerances of the clock. The deadlines of orders are only minutes away.
const (
	fileAhead  = 5 * time.Minute
	blockAhead = 30 * time.Second // block timestamps may be a little early
	blockOld   = 3 * time.Minute
)

const clockRemedy = "set the clock and enable time synchronization (timedatectl set-ntp true on Linux); order deadlines depend on it"

// clock compares the clock with file times in the home and, online, with latest blocks.
func (s examined) clock(context.Context) protocol.Check {
	now := clock.Now()
	for _, name := range []string{"home.json", "orders.db", "prices.db", "swapkeepd.log"} {
		info, err := os.Stat(filepath.Join(s.place.Home, name))
		if err == nil && info.ModTime().Sub(now) > fileAhead {
			return finding(protocol.CheckWarn, fmt.Sprintf("%s was written %s in the future: the clock was ahead then, or is behind now", name, info.ModTime().Sub(now).Round(time.Minute)), clockRemedy)
		}
	}
	if !s.online {
		return finding(protocol.CheckSkipped, "no file has a future date; compare with the networks by --online", "")
	}
	found, err := s.probes()
	if err != nil {
		return finding(protocol.CheckSkipped, oneLine(err), "")
	}
	age, answered := time.Duration(0), false // of the newest block
	for _, n := range found {
		for _, p := range n.probes {
			if p.Err == nil && (!answered || p.Age < age) {
				age, answered = p.Age, true
			}
		}
	}
	switch {
	case !answered:
		return finding(protocol.CheckSkipped, "no network answered", "")
	case age < -blockAhead:
		return finding(protocol.CheckFail, fmt.Sprintf("the newest block is %s in the future: the clock is behind", -age.Round(time.Second)), clockRemedy)
	case age > blockOld:
		return finding(protocol.CheckWarn, fmt.Sprintf("the newest block of any network is %s old: the clock is ahead, or every endpoint is behind", age.Round(time.Second)), clockRemedy)
	}
	return finding(protocol.CheckOK, "agrees with the networks' latest blocks", "")
}

// networks checks which networks return their latest block.
func (s examined) networks(context.Context) protocol.Check {
	if !s.online {
		return finding(protocol.CheckSkipped, "checked with --online", "")
	}
	found, err := s.probes()
	if err != nil {
		return finding(protocol.CheckFail, oneLine(err), "fix networks in the configuration")
	}
	var silent []string
	for _, n := range found {
		if !n.answered() {
			silent = append(silent, n.Name)
		}
	}
	slices.Sort(silent)
	evidence := fmt.Sprintf("%d of %d networks answer", len(found)-len(silent), len(found))
	switch {
	case len(silent) == 0:
		return finding(protocol.CheckOK, evidence, "")
	case len(silent) == len(found):
		return finding(protocol.CheckFail, evidence, "check the network connection, proxy and firewall; then networks in the configuration")
	}
	return finding(protocol.CheckWarn, evidence+"; no answer from: "+strings.Join(silent, ", "), "wait, or set another RPC URL: swapkeep settings set networks.ID.rpc URL")
}

func (s examined) hub() (*chain.MultiClient, error) {
	if s.daemon != nil {
		return s.daemon.hub, nil
	}
	return dialNetworks(s.cfg)
}
