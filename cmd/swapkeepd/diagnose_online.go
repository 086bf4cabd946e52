package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"swapkeep/chain"
	"swapkeep/host/protocol"
	"swapkeep/internal/clock"
)

// onlineTime limits the queries to all networks together.
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
	answers, err := s.answers()
	if err != nil {
		return finding(protocol.CheckSkipped, oneLine(err), "")
	}
	newest, answered := time.Time{}, false
	for _, a := range answers {
		if a.err == nil && a.head.After(newest) {
			newest, answered = a.head, true
		}
	}
	switch age := now.Sub(newest); {
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
	answers, err := s.answers()
	if err != nil {
		return finding(protocol.CheckFail, oneLine(err), "fix networks in the configuration")
	}
	var silent []string
	for _, a := range answers {
		if a.err != nil {
			silent = append(silent, a.name)
		}
	}
	slices.Sort(silent)
	evidence := fmt.Sprintf("%d of %d networks answer", len(answers)-len(silent), len(answers))
	switch {
	case len(silent) == 0:
		return finding(protocol.CheckOK, evidence, "")
	case len(silent) == len(answers):
		return finding(protocol.CheckFail, evidence, "check the network connection, proxy and firewall; then networks in the configuration")
	}
	return finding(protocol.CheckWarn, evidence+"; no answer from: "+strings.Join(silent, ", "), "wait, or set another RPC URL: swapkeep settings set networks.ID.rpc URL")
}

// An answer is one network's answer.
type answer struct {
	name string
	head time.Time // time of its latest block
	err  error
}

// ask queries all networks that run, in parallel.
func (s examined) ask(ctx context.Context) ([]answer, error) {
	hub, err := s.hub()
	if err != nil {
		return nil, err
	}
	if s.daemon == nil {
		defer hub.Close()
	}
	ctx, cancel := context.WithTimeout(ctx, onlineTime)
	defer cancel()
	networks := runningNetworks(hub)
	out := make([]answer, len(networks))
	var all sync.WaitGroup
	for i, n := range networks {
		all.Go(func() {
			price, err := hub.GasPrice(ctx, n.ID)
			out[i] = answer{n.Name, price.Time, err}
		})
	}
	all.Wait()
	return out, nil
}

func runningNetworks(hub *chain.MultiClient) []chain.Network {
	return slices.DeleteFunc(hub.Networks(), chain.Network.HasEnded)
}

func (s examined) hub() (*chain.MultiClient, error) {
	if s.daemon != nil {
		return s.daemon.hub, nil
	}
	return dialNetworks(s.cfg)
}
