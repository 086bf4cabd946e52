package live

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"swapkeep/chain"
	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"
)

// checkContracts checks the built-in contracts of a provider: whether there is code, whether its
// hash is the known one, and whether the contract's own answers are as expected.
func (w World) checkContracts(ctx context.Context, p swap.Provider, n chain.Network) (rows []Row) {
	var seen []common.Address
	for _, pin := range p.Pins() {
		if pin.Chain != n.ID || pin.Role == swap.Filler || pin.Role == swap.Cosigner || slices.Contains(seen, pin.Address) {
			continue // fillers and cosigners are accounts
		}
		seen = append(seen, pin.Address)
		v, how := w.contract(ctx, p, n, pin)
		rows = append(rows, Row{string(p.Kind()), n.ID, fmt.Sprintf("%s %s", pin.Role, pin.Address), v, how})
	}
	return rows
}

func (w World) contract(ctx context.Context, p swap.Provider, n chain.Network, pin swap.Pin) (Verdict, string) {
	code, hosts, err := w.Nodes.Code(ctx, n.ID, pin.Address)
	if err != nil {
		return verdictOf(err), err.Error()
	}
	v, how := Works, fmt.Sprintf("code hash %s, %d bytes, at %d hosts", code.Hash, code.Size, len(hosts))
	switch want, ok := w.knownHash(n.ID, pin.Address); {
	case !ok:
		v = Unknown
	case want != code.Hash:
		return Differs, fmt.Sprintf("code hash %s instead of %s, %d bytes, at %d hosts", code.Hash, want, code.Size, len(hosts))
	}
	for _, s := range selfChecks {
		if !s.of(p, pin, n) {
			continue
		}
		got, err := w.Nodes.AskQuorum(ctx, n.ID, chain.Question{To: pin.Address, Data: crypto.Keccak256([]byte(s.method))[:4]})
		if err != nil {
			return verdictOf(err), fmt.Sprintf("%s: %v", s.method, err)
		}
		if want := s.want(p, pin); !bytes.Equal(got, want.Bytes()) {
			return Differs, fmt.Sprintf("%s is 0x%x and not %s; %s", s.method, got, want, how)
		}
		how += "; " + s.method + " is right"
	}
	return v, how
}

// verdictOf returns Differs if hosts contradict each other or there is no code, and
// NotAvailable if they do not answer.
func verdictOf(err error) Verdict {
	if errors.Is(err, chain.ErrDisagree) || errors.Is(err, chain.ErrNoCode) || errors.Is(err, chain.ErrWrongChain) {
		return Differs
	}
	return NotAvailable
}

// A DomainProvider provider knows the EIP-712 domain with which a built-in contract checks
// signatures.
type DomainProvider interface {
	// Separator returns false for a contract that checks none.
	Separator(chainID uint64, contract common.Address) (common.Hash, bool)
}

// A selfCheck is a call that a contract of some role must answer in a known way.
type selfCheck struct {
	method string
	of     func(swap.Provider, swap.Pin, chain.Network) bool
	want   func(swap.Provider, swap.Pin) common.Hash
}

var permit2 = common.HexToAddress("0x000000000022D473030F116dDEE9F6B43aC78BA3")

var selfChecks = []selfCheck{
	{"DOMAIN_SEPARATOR()", func(p swap.Provider, pin swap.Pin, _ chain.Network) bool {
		_, ok := separatorOf(p, pin)
		return ok
	}, func(p swap.Provider, pin swap.Pin) common.Hash {
		h, _ := separatorOf(p, pin)
		return h
	}},
	// UniswapX reactors pull through Permit2 (BaseReactor.sol).
	{"permit2()", func(p swap.Provider, pin swap.Pin, _ chain.Network) bool {
		return p.Kind() == swap.DEX && pin.Role == swap.Settlement
	}, func(swap.Provider, swap.Pin) common.Hash { return common.BytesToHash(permit2.Bytes()) }},
	{"decimals()", func(_ swap.Provider, pin swap.Pin, n chain.Network) bool { return pin.Address == n.WrappedNative },
		func(swap.Provider, swap.Pin) common.Hash { return common.BytesToHash([]byte{18}) }},
}

func separatorOf(p swap.Provider, pin swap.Pin) (common.Hash, bool) {
	d, ok := p.(DomainProvider)
	if !ok {
		return common.Hash{}, false
	}
	return d.Separator(pin.Chain, pin.Address)
}
