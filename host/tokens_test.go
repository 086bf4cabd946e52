package host

import (
	"context"
	"encoding/json"
	"math/big"
	"reflect"
	"slices"
	"strings"
	"testing"

	"swapkeep/host/protocol"
	"swapkeep/tokens"

	"github.com/ethereum/go-ethereum/common"
)

// manyTokens knows more tokens than one answer lists.
type manyTokens struct {
	fakeTokens
	all []tokens.Token
}

func (m *manyTokens) On(uint64) []tokens.Token { return m.all }

// everyNth has a balance of every step-th token, counted from the end.
type everyNth struct {
	fakeNetworks
	step     int
	maxAsked int // maximum number of tokens in one call
}

func (n *everyNth) Balances(_ context.Context, _ uint64, _ common.Address, asked []common.Address) ([]*big.Int, error) {
	out := make([]*big.Int, len(asked))
	n.maxAsked = max(n.maxAsked, len(asked))
	for i := range out {
		out[i] = new(big.Int)
		if (len(asked)-1-i)%n.step == 0 {
			out[i].SetInt64(1)
		}
	}
	return out, nil
}

// TestBalancesOfManyTokens checks that the last of many tokens is shown if its balance is
// not zero, and that the omitted ones are counted and have no balance.
func TestBalancesOfManyTokens(t *testing.T) {
	const many, step = 3000, 100
	m := &manyTokens{}
	for i := range many {
		m.all = append(m.all, tokens.Token{Chain: 1, Address: common.BigToAddress(big.NewInt(int64(i))), Symbol: "T", Name: "Token"})
	}
	n := &everyNth{step: step}
	r := newRig(t, func(c *Config) { c.Tokens, c.Networks = m, n })
	p := r.attach("extension")
	for _, c := range []struct {
		withBalance    bool
		shown, omitted int
	}{{false, maxBalances, many - maxBalances}, {true, many/step + 1, 0}} {
		var got protocol.BalancesResult
		reply := p.must("tokens.balances", map[string]any{"account": account.Hex(), "withBalance": c.withBalance})
		if err := json.Unmarshal(reply.Result, &got); err != nil {
			t.Fatal(err)
		}
		withAmount := 0
		for _, b := range got.Balances {
			if b.Amount != "0" {
				withAmount++
			}
		}
		if len(got.Balances) != c.shown || got.Omitted != c.omitted || withAmount != many/step || got.Balances[0].Token != protocol.Native {
			t.Errorf("withBalance %t: %d shown, %d omitted, %d held", c.withBalance, len(got.Balances), got.Omitted, withAmount)
		}
	}
}

// TestBalancesOfAHostileList checks a list of contracts that all report a balance for
// everybody: it neither makes a node read an unlimited number of balances nor makes an
// answer too large, and verified and imported tokens are still shown.
func TestBalancesOfAHostileList(t *testing.T) {
	m := &manyTokens{}
	for i := range 20_000 {
		m.all = append(m.all, tokens.Token{
			Chain: 1, Address: common.BigToAddress(big.NewInt(int64(i))), Symbol: strings.Repeat("&", 20), Name: strings.Repeat("<", 60), List: strings.Repeat("L", 30),
			Verified: i == 0, Imported: i == 19_999,
		})
	}
	n := &everyNth{step: 1}
	r := newRig(t, func(c *Config) { c.Tokens, c.Networks = m, n })
	var got protocol.BalancesResult
	reply := r.attach("extension").must("tokens.balances", map[string]any{"account": account.Hex()})
	if err := json.Unmarshal(reply.Result, &got); err != nil {
		t.Fatal(err)
	}
	if n.maxAsked != maxBalancesRead || len(got.Balances) != maxNonzeroBalances || got.Omitted != 20_000-maxNonzeroBalances {
		t.Errorf("asked about %d, %d shown, %d omitted", n.maxAsked, len(got.Balances), got.Omitted)
	}
	if last := addressOf(m.all[19_999].Address); got.Balances[1].Token != last {
		t.Errorf("the imported token is not among the first: %s", got.Balances[1].Token)
	}
}

// silent is a network whose contracts return no balance.
type silent struct{ fakeNetworks }

func (*silent) Balances(_ context.Context, _ uint64, _ common.Address, asked []common.Address) ([]*big.Int, error) {
	out := make([]*big.Int, len(asked))
	out[slices.Index(asked, tokens.Native)] = big.NewInt(1)
	return out, nil
}

// TestBalancesThatAreNotKnown checks that a verified or imported token without a balance
// is listed as unknown, while other tokens without one are omitted.
func TestBalancesThatAreNotKnown(t *testing.T) {
	r := newRig(t, func(c *Config) { c.Networks = &silent{} })
	p := r.attach("extension")
	var all, some protocol.BalancesResult
	for with, got := range map[bool]*protocol.BalancesResult{false: &all, true: &some} {
		if err := json.Unmarshal(p.must("tokens.balances", map[string]any{"account": account.Hex(), "withBalance": with}).Result, got); err != nil {
			t.Fatal(err)
		}
	}
	listed := slices.DeleteFunc(all.Balances, func(b protocol.Balance) bool { return !b.Known.Verified && !b.Known.Imported })
	if !reflect.DeepEqual(some.Balances, listed) || len(listed) < 2 || listed[1].Amount != "" || len(listed) == len(all.Balances) {
		t.Errorf("%+v of %+v", some.Balances, all.Balances)
	}
}
