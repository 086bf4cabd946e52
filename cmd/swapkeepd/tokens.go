package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"swapkeep/chain"
	"swapkeep/host/protocol"
	"swapkeep/internal/atomicfile"
	"swapkeep/priceapi/price"
	"swapkeep/swap"
	"swapkeep/tokens"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"
)

// contracts reads token metadata from contracts.
type contracts struct{ *chain.MultiClient }

func (c contracts) AskToken(ctx context.Context, id uint64, address common.Address) (tokens.Answers, error) {
	a, err := c.MultiClient.AskToken(ctx, id, address)
	return tokens.Answers(a), err
}

// SettledBlock returns the newest block that two hosts, where two are configured, hold settled.
func (c contracts) SettledBlock(ctx context.Context, id uint64) (uint64, error) {
	b, _, err := c.MultiClient.Settled(ctx, id)
	return b.Number, err
}

// Incoming implements tokens.Transfers by one bounded search for logs.
func (c contracts) Incoming(ctx context.Context, id uint64, account common.Address, from uint64) (all []common.Address, through uint64, err error) {
	to := common.BytesToHash(account[:])
	found, err := c.MultiClient.Logs(ctx, id, chain.LogFilter{Topics: [][]common.Hash{{chain.TransferTopic}, {}, {to}}}, from)
	if err != nil {
		return nil, 0, err
	}
	for _, l := range found.Logs {
		if len(l.Topics) == 3 && l.Topics[2] == to && len(l.Data) == 32 {
			all = append(all, l.Address)
		}
	}
	return all, found.Through.Number, nil
}

// Describe asks for symbols and decimals in one call.
func (c contracts) Describe(ctx context.Context, id uint64, all []common.Address) ([]tokens.Answers, error) {
	qs := make([]chain.Question, 0, 2*len(all))
	for _, a := range all {
		for _, method := range []string{"symbol()", "decimals()"} {
			qs = append(qs, chain.Question{To: a, Data: crypto.Keccak256([]byte(method))[:4]})
		}
	}
	answers, err := c.MultiClient.Ask(ctx, id, qs)
	if err != nil {
		return nil, err
	}
	out := make([]tokens.Answers, len(all))
	for i := range all {
		out[i] = tokens.Answers{Symbol: answers[2*i], Decimals: answers[2*i+1]}
	}
	return out, nil
}

// openTokens reads the configured token lists and the imported tokens. A list comes from
// a third party: an invalid one is left out as a whole and reported, and holds up no
// order.
func (d *daemon) openTokens(providers map[swap.Kind]swap.Provider) error {
	o := tokens.Options{Reserved: reserved(d.hub, providers)}
	for _, path := range d.cfg.Tokens.Lists {
		l, err := readList(path)
		if err != nil {
			d.lists = append(d.lists, protocol.Problem{
				Name: "tokens", Message: "the token list " + path + " is not used: " + err.Error(), Remedy: "fix it, or remove it from tokens.lists; then restart",
			})
			continue
		}
		o.Lists = append(o.Lists, l)
	}
	var err error
	d.tokens, err = tokens.Open(d.home.DB, contracts{d.hub}, o)
	d.incoming = tokens.NewIncoming(d.home.DB, d.tokens, contracts{d.hub})
	return err
}

// grantable returns the tokens on which an account may have granted allowances: all of the
// built-in list, and the imported ones. Their number is bounded by that list and by
// tokens.MaxImported.
func (d *daemon) grantable(id uint64) (all []common.Address) {
	for _, t := range d.tokens.On(id) {
		if t.Recognized || t.Imported {
			all = append(all, t.Address)
		}
	}
	return all
}

// recognizeTime limits how long to wait for a token contract's name.
const recognizeTime = 5 * time.Second

// recognize says whether a token is on one of the wallet's lists, and which token it
// imitates. For a token on no list it asks the contract for its name, on the wallet's
// networks.
func (d *daemon) recognize(ctx context.Context, id uint64, address common.Address) swap.Recognition {
	if _, ok := price.CanonicalOf(price.ID{Chain: id, Address: address}); ok {
		return swap.Recognition{Listed: true} // in the table of coins of the same issuer
	}
	ctx, cancel := context.WithTimeout(ctx, recognizeTime)
	defer cancel()
	t, _, err := d.tokens.Preview(ctx, id, address)
	if err != nil {
		return swap.Recognition{}
	}
	of, _ := d.tokens.Imitated(t)
	return swap.Recognition{Listed: t.List != "", Imitates: of}
}

func readList(path string) (*tokens.List, error) {
	text, err := atomicfile.Read(path, tokens.MaxListBytes)
	if err != nil {
		return nil, err
	}
	return tokens.ParseList(text)
}

// reserved returns a function that reports contracts that are pinned and are no tokens:
// those of the networks, and the providers' routers, spenders and verifiers. The wrapped
// native coin is pinned too, but is a token.
func reserved(hub *chain.MultiClient, providers map[swap.Kind]swap.Provider) func(uint64, common.Address) bool {
	type place struct {
		chain uint64
		at    common.Address
	}
	known := map[place]bool{}
	for _, n := range hub.Networks() {
		for _, a := range n.Contracts() {
			known[place{n.ID, a}] = true
		}
	}
	for _, p := range providers {
		for _, pin := range p.Pins() {
			if pin.Role != swap.Wrapper {
				known[place{pin.Chain, pin.Address}] = true
			}
		}
	}
	return func(id uint64, a common.Address) bool { return known[place{id, a}] }
}

// tokenProblems returns the lists and imported tokens that are left out.
func (d *daemon) tokenProblems() []protocol.Problem {
	n := d.tokens.Damaged()
	if n == 0 {
		return d.lists
	}
	return append(slices.Clone(d.lists), protocol.Problem{Name: "tokens", Message: fmt.Sprintf("%d imported tokens cannot be read and are left out", n), Remedy: "import them again (tokens.import)"})
}
