package main

import (
	"regexp"
	"strings"

	"swapkeep/extension/messages"
	"swapkeep/host/protocol"
)

// A leg of a pool route as the DEX writes it: protocol version, share, then pools.
var (
	routeLeg = regexp.MustCompile(`^\[[vV]([234])\] ([0-9]+)(\.[0-9]+)?%(?: = (.*))?$`)
	poolFee  = regexp.MustCompile(`\b[0-9]+(?:\.[0-9]+)?%`)
)

// routeText describes an offer's route. A pool route of the DEX becomes
// "Uniswap v3, 0.05 % pool"; any other stays in the provider's words, which the daemon
// has made printable.
func routeText(o protocol.Offer) string {
	raw := strings.TrimSpace(o.Routing + " " + o.Route)
	if o.Provider != "dex" || o.Routing != "CLASSIC" {
		return raw
	}
	legs := strings.Split(o.Route, ", [")
	for i, leg := range legs {
		if i > 0 {
			leg = "[" + leg
		}
		m := routeLeg.FindStringSubmatch(leg)
		if m == nil {
			return raw
		}
		legs[i] = messages.Brand(o.Provider) + " v" + m[1] + poolsText(poolFee.FindAllString(m[4], -1))
		if len(legs) > 1 {
			legs[i] = m[2] + strings.TrimRight(strings.TrimRight(m[3], "0"), ".") + " % " + legs[i]
		}
	}
	return strings.Join(legs, "; ")
}

// poolsText names pools by their fees, such as ", 0.05 % pool"; "" if no fee is known.
func poolsText(fees []string) string {
	for i, fee := range fees {
		fees[i] = strings.TrimSuffix(fee, "%") + " %"
	}
	switch len(fees) {
	case 0:
		return ""
	case 1:
		return ", " + fees[0] + " pool"
	}
	return ", " + strings.Join(fees, " and ") + " pools"
}
