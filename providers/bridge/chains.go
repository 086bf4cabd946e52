package bridge

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"time"

	"swapkeep/providers/wire"
	"swapkeep/rest"
	"swapkeep/swap"
	"swapkeep/tokens"

	"github.com/ethereum/go-ethereum/common"
)

// maxChains is far above the number of chains that the bridge serves.
const maxChains = 1000

// A listedChain is an EVM chain in GET /chains.
type listedChain struct {
	open       bool   // enabled, with deposits
	name       string // its name in the bridge's protocol
	depository common.Address
	routers    []routerPair

	display swap.Destination // for display
	tokens  []tokens.Token   // for display
}

// A chainList caches GET /chains. One caller at a time requests it; a failure is also
// returned to those who waited meanwhile.
type chainList struct {
	api    *rest.Client
	now    func() time.Time
	life   time.Duration
	lock   chan struct{} // a mutex whose waiters can give up; guards the fields below
	list   map[uint64]listedChain
	at     time.Time
	err    error // the latest failure, at time failed
	failed time.Time
}

func newChainList(api *rest.Client, now func() time.Time, life time.Duration) *chainList {
	if life == 0 {
		life = chainsLife
	}
	return &chainList{api: api, now: now, life: life, lock: make(chan struct{}, 1)}
}

// get returns the list, and requests it when it is too old.
func (c *chainList) get(ctx context.Context) (map[uint64]listedChain, error) {
	arrived := c.now()
	select {
	case c.lock <- struct{}{}:
		defer func() { <-c.lock }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if age := c.now().Sub(c.at); c.list != nil && age >= 0 && age < c.life {
		return c.list, nil
	}
	if c.failed.After(arrived) {
		return nil, c.err
	}
	list, err := c.ask(ctx)
	switch {
	case err == nil:
		c.list, c.at = list, c.now()
	case ctx.Err() == nil: // otherwise it concerns this caller only
		c.err, c.failed = err, c.now()
	}
	return list, err
}

func (c *chainList) ask(ctx context.Context) (map[uint64]listedChain, error) {
	reply, err := c.api.Do(ctx, rest.Call{Method: http.MethodGet, Path: "/chains"})
	if err != nil {
		return nil, service.Refusal(err)
	}
	return readChains(reply.Body)
}

// A chainEntry is one element of the list, as far as it is read.
type chainEntry struct {
	ID             *wire.Number               `json:"id"`
	Disabled       *bool                      `json:"disabled"`
	DepositEnabled *bool                      `json:"depositEnabled"`
	VMType         string                     `json:"vmType"`
	Contracts      map[string]json.RawMessage `json:"contracts"`
	Protocol       struct {
		V2 *struct {
			Name       string        `json:"chainId"`
			Depository *wire.Address `json:"depository"`
		} `json:"v2"`
	} `json:"protocol"`
}

// readChains reads the list. An entry that cannot be read, is not an EVM chain's or appears
// twice is left out: that chain is not served.
func readChains(raw []byte) (map[uint64]listedChain, error) {
	var reply struct {
		Chains []json.RawMessage `json:"chains"`
	}
	if err := service.Read("chains", raw, &reply); err != nil {
		return nil, garbage("chains", err)
	}
	if len(reply.Chains) == 0 || len(reply.Chains) > maxChains {
		return nil, refuse(swap.ProviderInvalidResponse, "chains", "sent a list of %d chains", len(reply.Chains))
	}
	list, twice := map[uint64]listedChain{}, map[uint64]bool{}
	for _, raw := range reply.Chains {
		var e chainEntry
		if rest.DecodeRow(raw, &e) != nil || e.VMType != "evm" || e.ID == nil || !e.ID.IsUint64() {
			continue
		}
		id := e.ID.Uint64()
		if _, there := list[id]; there {
			twice[id] = true
		}
		l := e.listed()
		l.readDisplay(id, raw)
		list[id] = l
	}
	for id := range twice {
		delete(list, id)
	}
	return list, nil
}

func (e chainEntry) listed() listedChain {
	l := listedChain{open: e.Disabled != nil && !*e.Disabled && e.DepositEnabled != nil && *e.DepositEnabled}
	if v2 := e.Protocol.V2; v2 != nil {
		l.name = v2.Name
		if v2.Depository != nil { // a chain that is only a destination has none
			l.depository = v2.Depository.Address
		}
	}
	var first contractPair
	for _, x := range []struct {
		key string
		to  **wire.Address
	}{{"erc20Router", &first.Router}, {"approvalProxy", &first.Proxy}} {
		if json.Unmarshal(e.Contracts[x.key], x.to) != nil {
			*x.to = nil
		}
	}
	l.routers = append(l.routers, first.pair())
	for _, raw := range e.Contracts {
		var more contractPair
		if rest.DecodeRow(raw, &more) == nil { // keyed by version; other contracts are strings
			l.routers = append(l.routers, more.pair())
		}
	}
	return l
}

// A contractPair is the routers of one version.
type contractPair struct {
	Router *wire.Address `json:"erc20Router"`
	Proxy  *wire.Address `json:"approvalProxy"`
}

// pair is p with zero addresses for what is missing.
func (p contractPair) pair() (r routerPair) {
	if p.Router != nil {
		r.router = p.Router.Address
	}
	if p.Proxy != nil {
		r.proxy = p.Proxy.Address
	}
	return r
}

// checkChains requires both chains of a request to be enabled, and to have the built-in
// depository where there is one.
func (p *Provider) checkChains(ctx context.Context, src, dst uint64) (ends [2]listedChain, err error) {
	list, err := p.chains.get(ctx)
	if err != nil {
		return ends, err
	}
	for i, c := range []struct {
		id    uint64
		field string
	}{{src, "srcChainId"}, {dst, "dstChainId"}} {
		l, there := list[c.id]
		switch want := depositoryOf(c.id); {
		case !there || !l.open:
			return ends, unserved(c.field, c.id)
		case want != (common.Address{}) && l.depository != want:
			return ends, refuse(swap.NotPinned, "depository", "names another deposit contract on chain %d than the built-in one; the chain is not used until that is settled", c.id)
		}
		l.name = cmp.Or(protocolNames[c.id], l.name)
		ends[i] = l
	}
	return ends, nil
}

func unserved(field string, chainID uint64) error {
	return refuse(swap.UnsupportedNetwork, field, "does not serve chain %d now; choose another provider or network", chainID)
}

// checkRouter requires the API's own list to contain a router that a step calls, as the one
// for this input.
func (l listedChain) checkRouter(to, input common.Address) error {
	if !takes(l.routers, to, input) {
		return refuse(swap.NotPinned, "to", "wants %s called, which its own list of contracts does not have for this", to)
	}
	return nil
}

// checkDestination refuses a chain of the support table that the bridge does not reach,
// even if the API serves it.
func checkDestination(chainID uint64) error {
	if slices.Contains(swap.SupportedChains(), chainID) && swap.SupportOf(swap.Bridge, chainID).Support != swap.Active {
		return refuse(swap.UnsupportedNetwork, "dstChainId", "does not reach chain %d; choose another provider or network", chainID)
	}
	return nil
}
