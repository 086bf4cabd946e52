package providertest

import (
	"bytes"
	"context"
	"fmt"
	"math/big"
	"slices"
	"testing"

	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/crypto"
)

const (
	selectorLen = 4
	wordLen     = 32
)

// calldata changes every word, every byte and the envelope of the last step's transaction.
// Each change must be refused, or have no effect on what was accepted. A word that may have
// other values needs a stated reason, unless the call is opaque: then the movements that a
// simulation shows are checked against the terms.
func (h *harness) calldata(t *testing.T, r *record) {
	last := len(h.order.Plan.Steps) - 1
	h.envelope(t, last)
	data := h.order.Plan.Steps[last].Call.Data
	free, used := Suite{Harmless: h.flow.FreeWords}, map[int]map[string]bool{}
	try := func(kind, place string, changed []byte) {
		r.add(&r.calldata, 1)
		refused := h.tryStep(t, place+": "+kind, last, func(s *swap.Step) { s.Call.Data = changed })
		if refused || h.flow.Opaque != "" {
			return
		}
		row := free.excusingRow(h.flow.Name, place, kind, nil)
		if row < 0 {
			t.Errorf("%s: %s is accepted, and no reason says why that is harmless", place, kind)
		}
		markUsed(used, row, kind)
	}
	for i := range data {
		for _, bits := range []byte{0x01, 0x80, 0xff} {
			changed := slices.Clone(data)
			changed[i] ^= bits
			try("a byte", wordOf(i), changed)
		}
	}
	for w := 0; selectorLen+(w+1)*wordLen <= len(data); w++ {
		for kind, word := range words(data[selectorLen+w*wordLen:][:wordLen]) {
			changed := slices.Clone(data)
			copy(changed[selectorLen+w*wordLen:], word)
			try(kind, wordOf(selectorLen+w*wordLen), changed)
		}
	}
	for n := 0; n < len(data); n += wordLen / 2 {
		try(fmt.Sprintf("cut to %d bytes", n), "length", data[:n])
	}
	for _, n := range []int{1, 31, 32, 64} {
		try(fmt.Sprintf("%d bytes more", n), "length", append(slices.Clone(data), make([]byte, n)...))
	}
	free.checkAllNeeded(t, used)
	if h.flow.Opaque != "" {
		r.add(&r.movements, h.movements(t))
	}
}

// Word is the place of the n-th word of calldata, counted after the selector.
func Word(n int) string { return fmt.Sprintf("word %d", n) }

// wordOf is the place of the i-th byte.
func wordOf(i int) string {
	if i < selectorLen {
		return "selector"
	}
	return Word((i - selectorLen) / wordLen)
}

// words are other values of one word, by name.
func words(w []byte) map[string][]byte {
	n := new(big.Int).SetBytes(w)
	limit := new(big.Int).Lsh(big.NewInt(1), 256)
	out := map[string][]byte{}
	for name, v := range map[string]*big.Int{
		"one more":      new(big.Int).Add(n, big.NewInt(1)),
		"one less":      new(big.Int).Sub(n, big.NewInt(1)),
		"doubled":       new(big.Int).Lsh(n, 1),
		"zero":          new(big.Int),
		"one":           big.NewInt(1),
		"two":           big.NewInt(2),
		"the maximum":   new(big.Int).Sub(limit, big.NewInt(1)),
		"the top bit":   new(big.Int).Rsh(limit, 1),
		"the attacker":  new(big.Int).SetBytes(common.HexToAddress(Attacker).Bytes()),
		"padded behind": new(big.Int).Lsh(new(big.Int).SetBytes(common.HexToAddress(Attacker).Bytes()), 96),
	} {
		v.Mod(v, limit)
		if v.Cmp(n) != 0 {
			out[name] = v.FillBytes(make([]byte, wordLen))
		}
	}
	return out
}

// envelope changes the call's other fields.
func (h *harness) envelope(t *testing.T, i int) {
	for name, change := range map[string]func(*swap.Step){
		"from the attacker": func(s *swap.Step) { s.Call.From = common.HexToAddress(Attacker) },
		"to the attacker":   func(s *swap.Step) { s.Call.To = common.HexToAddress(Attacker) },
		"to nobody":         func(s *swap.Step) { s.Call.To = common.Address{} },
		"another chain":     func(s *swap.Step) { s.Call.ChainID++ },
		"value one more":    func(s *swap.Step) { s.Call.Value = new(big.Int).Add(s.Call.Value, big.NewInt(1)) },
		"value negative":    func(s *swap.Step) { s.Call.Value = big.NewInt(-1) },
		"value missing":     func(s *swap.Step) { s.Call.Value = nil },
		"no data":           func(s *swap.Step) { s.Call.Data = nil },
		"no call":           func(s *swap.Step) { s.Call = nil },
		"another kind":      func(s *swap.Step) { s.Kind = swap.TypedStep },
		"an unknown kind":   func(s *swap.Step) { s.Kind = "lie" },
	} {
		if !h.tryStep(t, name, i, change) {
			t.Errorf("%s: accepted", name)
		}
	}
	h.safe(t, i)
}

// safe sends a step to the Safe, with its own calldata and with calls that a Safe obeys. It
// is not enough that the digest differs: a new plan could be accepted by its own digest. An
// isolated account may call it, since it obeys the account alone.
func (h *harness) safe(t *testing.T, i int) {
	for name, data := range obeyed(h.order.Plan.Steps[i].Call.Data) {
		call := *h.order.Plan.Steps[i].Call
		call.From, call.To, call.Data = h.terms.Account, Safe, data
		steps := slices.Clone(h.order.Plan.Steps)
		steps[i].Call = &call
		if err := h.judge(h.p, steps, made, map[string]string{}); code(err) == "" {
			t.Errorf("to the Safe: %s: %v", name, err)
		}
	}
}

// Safe stands for a contract that obeys the account: a Safe that it owns, an ownable or a
// vesting contract. No call of a provider may go there.
var Safe = common.HexToAddress("0x5afe5afe5afe5afe5afe5afe5afe5afe5afe5afe")

// obeyed are calls that make such contracts give away what they hold, and the honest call.
func obeyed(honest []byte) map[string][]byte {
	to := common.LeftPadBytes(common.FromHex(Attacker), 32)
	all := map[string][]byte{"the honest call": honest}
	for _, function := range []string{
		"execTransaction(address,uint256,bytes,uint8,uint256,uint256,uint256,address,address,bytes)", "execTransactionFromModule(address,uint256,bytes,uint8)",
		"execute(address,uint256,bytes)", "execute(bytes32,bytes)", "multicall(bytes[])", "transferOwnership(address)", "setOwner(address)", "withdraw(uint256)",
		"withdrawTo(address,uint256)", "release(address)", "delegate(address)", "upgradeTo(address)", "deposit(address,uint256)", "claim(address)",
	} {
		all[function] = slices.Concat(crypto.Keccak256([]byte(function))[:4], to, make([]byte, 320))
	}
	return all
}

// tryStep decodes and checks the plan with one step changed. If that passes, the provider
// may still refuse the same calldata in a reply, since it knows the quote and the signed
// permit.
func (h *harness) tryStep(t *testing.T, name string, i int, change func(*swap.Step)) (refused bool) {
	steps := slices.Clone(h.order.Plan.Steps)
	call := *steps[i].Call
	steps[i].Call = &call
	change(&steps[i])
	o := outcome{facets: map[string]string{}}
	if err := h.judge(h.p, steps, made, o.facets); err != nil {
		if code(err) == "" {
			t.Errorf("%s: an error without a code: %v", name, err)
		}
		return true
	}
	if h.flow.Opaque != "" && o.facets["digest"] != h.good.facets["digest"] {
		return true // package swap signs only what was accepted
	}
	served := h.served(steps[i].Call.Data)
	if served.err == nil && o.facets["digest"] != h.good.facets["digest"] {
		t.Errorf("%s: accepted, and changes %v", name, differences(h.good, served))
	}
	if served.err != nil && code(served.err) == "" {
		t.Errorf("%s: an error without a code: %v", name, served.err)
	}
	return served.err != nil
}

// served runs the flow with other calldata in the reply that contains it.
func (h *harness) served(data []byte) outcome {
	steps := h.order.Plan.Steps
	last := steps[len(steps)-1].Call.Data
	honest, lie := []byte(hexutil.Encode(last)), []byte(hexutil.Encode(data))
	for p, x := range h.server.exchanges {
		if body := bytes.ReplaceAll(x.Response.Body, honest, lie); !bytes.Equal(body, x.Response.Body) {
			h.server.override(p, telling(x, body))
			defer h.server.override(p, nil)
		}
	}
	return h.run(context.Background(), h.p)
}
