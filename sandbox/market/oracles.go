package market

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/ethereum/go-ethereum/common"

	"swapkeep/sandbox/eip55"
	"swapkeep/sandbox/network"
	"swapkeep/sandbox/operator"
)

// modes lists the oracle modes by their numbers in the market's contract, with the kinds
// of oracles that support each. DIA's answers are unsigned, Aave's have no timestamp.
var modes = []struct {
	name  string
	kinds []string
}{
	{"ok", []string{chainlink, sequencer, aave, dia}},
	{"stale", []string{chainlink, dia}},
	{"zero", []string{chainlink, aave, dia}},
	{"negative", []string{chainlink}},
	{"revert", []string{chainlink, sequencer, aave, dia}},
	{"tenfold", []string{chainlink, aave, dia}},
	{"down", []string{sequencer}},
}

// Kinds of oracles.
const (
	chainlink = "chainlink"
	sequencer = "sequencer"
	aave      = "aave"
	dia       = "dia"
)

const (
	// staleAge is the default age of a stale answer, in seconds.
	staleAge = 2 * 24 * 3600
	maxAge   = 365 * 24 * 3600
	// resetUptime is the uptime of a sequencer after Reset, in seconds.
	resetUptime = 30 * 24 * 3600
)

// An Oracle is an oracle of a chain and its current mode.
type Oracle struct {
	At     eip55.Address `json:"at"`
	Kind   string        `json:"kind"`
	Symbol string        `json:"symbol,omitempty"` // chainlink only: the asset whose price it reports
	Mode   string        `json:"mode"`
	// Seconds is the age of a stale answer or, for a sequencer, how long it has been in
	// its state.
	Seconds uint64 `json:"seconds,omitempty"`
}

// oracles lists a chain's oracles, all in mode ok.
func oracles(n network.Network) []Oracle {
	o := n.Oracles()
	var all []Oracle
	for _, f := range o.Feeds {
		all = append(all, Oracle{At: eip55.Address(f.At), Kind: chainlink, Symbol: f.Symbol, Mode: modes[0].name})
	}
	for _, single := range []struct {
		at   common.Address
		kind string
	}{{o.Sequencer, sequencer}, {o.Aave, aave}, {o.DIA, dia}} {
		if single.at != (common.Address{}) {
			all = append(all, Oracle{At: eip55.Address(single.at), Kind: single.kind, Mode: modes[0].name})
		}
	}
	return all
}

// A Change sets the mode of oracles.
type Change struct {
	// At is an oracle's address, a kind, or "all" for all that support the mode.
	At   string `json:"at"`
	Mode string `json:"mode"`
	// Seconds is the age of a stale answer (0 = two days) or, for a sequencer, how long
	// it has been in its state.
	Seconds uint64 `json:"seconds"`
}

// chosen returns the oracles that a change affects and the number of its mode.
func (c Change) chosen(n network.Network) (at []common.Address, mode uint8, err error) {
	number := -1
	for i, m := range modes {
		if m.name == c.Mode {
			number = i
		}
	}
	if number < 0 {
		return nil, 0, fmt.Errorf("mode: want one of %q", modeNames())
	}
	if c.Seconds > maxAge {
		return nil, 0, fmt.Errorf("seconds: want at most %d", maxAge)
	}
	for _, o := range oracles(n) {
		named := c.At == o.Kind || (common.IsHexAddress(c.At) && common.HexToAddress(c.At) == common.Address(o.At))
		if (named || c.At == "all") && slices.Contains(modes[number].kinds, o.Kind) {
			at = append(at, common.Address(o.At))
		}
	}
	if len(at) == 0 {
		return nil, 0, fmt.Errorf("at: chain %d has no oracle %q that could be %q; there are those of GET /chains/%d/oracles, the kinds %q, and \"all\"",
			n.ID, c.At, c.Mode, n.ID, slices.Sorted(maps.Keys(kindsOf(n))))
	}
	return at, uint8(number), nil
}

func modeNames() (names []string) {
	for _, m := range modes {
		names = append(names, m.name)
	}
	return names
}

func kindsOf(n network.Network) map[string]bool {
	kinds := map[string]bool{}
	for _, o := range oracles(n) {
		kinds[o.Kind] = true
	}
	return kinds
}

// Oracles reads the current modes of a chain's oracles.
func (m *Market) Oracles(ctx context.Context, chain uint64) ([]Oracle, error) {
	s, err := m.site(chain)
	if err != nil {
		return nil, err
	}
	all := oracles(s.Network)
	for i, o := range all {
		out, err := s.read(ctx, network.Market, s.abis.market, "states", common.Address(o.At))
		if err != nil {
			return nil, err
		}
		all[i].Mode, all[i].Seconds = modes[out[0].(uint8)].name, out[1].(uint64)
	}
	return all, nil
}

// SetOracles changes the mode of a chain's oracles in one transaction. It mines a block.
func (m *Market) SetOracles(ctx context.Context, chain uint64, c Change) error {
	s, err := m.site(chain)
	if err != nil {
		return err
	}
	m.chainMu.Lock()
	defer m.chainMu.Unlock()
	return m.setOracles(ctx, s, c)
}

// setOracles is SetOracles for callers that hold moving.
func (m *Market) setOracles(ctx context.Context, s *chainPools, c Change) error {
	at, mode, err := c.chosen(s.Network)
	if err != nil {
		return err
	}
	if c.Mode == "stale" && c.Seconds == 0 {
		c.Seconds = staleAge
	}
	data, err := s.abis.market.Pack("set", at, mode, c.Seconds)
	if err != nil {
		return err
	}
	s.oraclesChanged = true
	return m.sendAndMine(ctx, s, operator.Call{To: network.Market, Data: data})
}
