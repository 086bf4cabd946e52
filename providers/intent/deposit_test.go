package intent

import (
	"bytes"
	"math/big"
	"strings"
	"testing"

	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common"
)

// TestIsolatedDeposit checks that only an isolated account may deposit into a contract that
// nobody built in, on any network, and that a plan must then be from it.
func TestIsolatedDeposit(t *testing.T) {
	throwaway := common.HexToAddress("0x1501471501471501471501471501471501471501")
	p := &Provider{depositContracts: depositContracts}
	raw := bytes.ReplaceAll(example(t, "k_build_resp"), []byte(exampleDepot.Hex()), []byte(safe.Hex()))
	raw = bytes.ReplaceAll(raw, []byte(strings.ToLower(exampleDepot.Hex()[2:])), []byte(strings.ToLower(safe.Hex()[2:])))
	own := termsOf(exampleRequest(), 1)
	isolated := own
	isolated.Isolated = throwaway
	_, err := readPlan(raw, own, nil)
	refusedFor(t, "from the account", err, swap.NotPinned, "to")
	_, err = readPlan(raw, isolated, nil)
	refusedFor(t, "from the account, where the isolated one is due", err, swap.NotAsAccepted, "from")
	raw = bytes.ReplaceAll(raw, []byte(exampleAccount.Hex()), []byte(throwaway.Hex()))
	_, err = readPlan(raw, own, nil)
	refusedFor(t, "from the isolated one, where the account is due", err, swap.NotAsAccepted, "from")
	d, err := readPlan(raw, isolated, nil)
	if err != nil || d.to != safe {
		t.Fatalf("%+v, %v", d, err)
	}
	s := swap.Step{Kind: swap.CallStep, Call: d.call(isolated)}
	if f, err := p.Decode(isolated, s); err != nil || f.Kind != swap.Opaque || f.Target != safe || s.Call.From != throwaway {
		t.Errorf("%+v, %v", f, err)
	}
	_, err = p.Decode(own, s)
	refusedFor(t, "decoded for the account", err, swap.NotAsAccepted, "from")
	s.Call.Value = big.NewInt(1)
	_, err = p.Decode(isolated, s)
	refusedFor(t, "with the coin", err, swap.NotAsAccepted, "value")
}
