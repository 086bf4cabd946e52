package chain

import (
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"
)

// farJSON lists read-only endpoints of networks that the wallet does not serve, and that a bridge
// pays out on; testdata/live/far-rpc.json is the research behind it. Each host has the source and
// the date of what is known of it.
//
//go:embed far.json
var farJSON []byte

// A farRow is a far network of the list.
type farRow struct {
	ChainID   uint64 `json:"chainId"`
	Name      string `json:"name"`
	Finalized bool   `json:"finalized"` // the chain's client serves the tag; otherwise it is not known
	Hosts     []struct {
		URL      string `json:"url"`
		Operator string `json:"operator"` // distinct within a network
		Logs     string `json:"logs"`     // documented or unknown: whether eth_getLogs works
		Source   string `json:"source"`
		Date     string `json:"date"`
	} `json:"hosts"`
}

// What makes a block of a far network final if no tag does. Nothing is signed there, so a slow
// answer costs nothing.
const (
	farDepth  = 64
	farMinAge = time.Minute
)

// FarNetworks returns the networks of the list that are not among [Networks]. They have only what
// reading a transaction takes: no coin, no fees, no ceiling.
func FarNetworks() []Network {
	var rows []farRow
	if err := json.Unmarshal(farJSON, &rows); err != nil {
		panic(err) // our own file
	}
	var all []Network
	for _, r := range rows {
		if _, own := NetworkByID(r.ChainID); own {
			continue
		}
		n := Network{ID: r.ChainID, Name: r.Name, Depth: farDepth, MinAge: farMinAge, BlockTime: time.Second}
		if r.Finalized {
			n.Depth, n.MinAge, n.Finalized = 1, 0, true
		}
		for _, h := range r.Hosts {
			n.RPC = append(n.RPC, h.URL)
		}
		all = append(all, n)
	}
	return all
}

// SetFar makes h read transactions of the [FarNetworks], for proof alone: [MultiClient.Evidence]
// and [MultiClient.Head] also answer for them, and every other method refuses them with
// [ErrNoNetwork]. given replaces endpoints of the list; a chain that is not on it is refused.
// In the sandbox only those are used. It is called before h is used, and opens no connection.
func (h *MultiClient) SetFar(given []Endpoint) error {
	known := FarNetworks()
	for _, ep := range given {
		if !slices.ContainsFunc(known, func(n Network) bool { return n.ID == ep.Chain }) {
			return fmt.Errorf("chain %d: %w", ep.Chain, ErrNoNetwork)
		}
	}
	far := &MultiClient{sandbox: h.sandbox, options: h.options, client: h.client}
	for _, n := range known {
		i := slices.IndexFunc(given, func(ep Endpoint) bool { return ep.Chain == n.ID })
		if i < 0 && h.sandbox {
			continue
		}
		var err error
		if i >= 0 {
			n, err = withSettings(n, given[i], h.options)
		}
		if err != nil {
			return err
		}
		p, err := far.poolOf(n)
		if err != nil {
			return err
		}
		far.pools = append(far.pools, p)
	}
	h.far = far
	return nil
}

// ReadsTransactions reports whether transactions of a network can be read: it is one of the
// wallet's, or a far one.
func (h *MultiClient) ReadsTransactions(id uint64) bool {
	_, err := h.readingPool(id)
	return err == nil
}

// readingPool returns the pool of a network or of a far one.
func (h *MultiClient) readingPool(id uint64) (*pool, error) {
	p, err := h.pool(id)
	if errors.Is(err, ErrNoNetwork) && h.far != nil {
		return h.far.pool(id)
	}
	return p, err
}
