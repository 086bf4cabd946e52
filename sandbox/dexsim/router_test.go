package dexsim

import (
	"encoding/json"
	"math/big"
	"os"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"

	"swapkeep/sandbox/eip55"
	"swapkeep/sandbox/network"
	"swapkeep/sandbox/operator"
)

// vectors were made with the Uniswap SDKs.
type vectors struct {
	PermitSingle []struct {
		Values    permitSingle `json:"values"`
		Signature string       `json:"signature"`
	} `json:"permitSingle"`
	UniversalRouterCalldata []struct {
		Name     string          `json:"name"`
		Value    string          `json:"value"`
		Commands hexutil.Bytes   `json:"commands"`
		Inputs   []hexutil.Bytes `json:"inputs"`
		Deadline int64           `json:"deadline"`
		Calldata hexutil.Bytes   `json:"calldata"`
	} `json:"universalRouterCalldata"`
}

func loadVectors(t *testing.T) vectors {
	t.Helper()
	raw, err := os.ReadFile("testdata/vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	var v vectors
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// classic returns the quote behind a vector: one pool of 0.05 %, 40 basis points to the
// integrator.
func classic(in, out common.Address, amount, minimum string, hop0In, hop0Out common.Address) *classicQuote {
	swapper := eip55.Address(common.HexToAddress("0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266"))
	return &classicQuote{
		ChainID: 8453,
		Swapper: swapper,
		Input:   input{Amount: amount, Token: eip55.Address(in)},
		Output:  output{Token: eip55.Address(out), Recipient: swapper},
		Route: [][]hop{{{
			Type: "v3-pool", Fee: "500",
			TokenIn: hopToken{Address: eip55.Address(hop0In)}, TokenOut: hopToken{Address: eip55.Address(hop0Out)},
		}}},
		AggregatedOutputs: []aggregatedOutput{
			{Recipient: swapper, Bps: 9960, MinAmount: minimum},
			{Recipient: eip55.Address(common.HexToAddress("0x90F79bf6EB2c4f870365E785982E1f101E93b906")), Bps: 40},
		},
	}
}

func TestCalldataMatchesVectors(t *testing.T) {
	v := loadVectors(t)
	weth := common.HexToAddress("0x4200000000000000000000000000000000000006")
	usdc := common.HexToAddress("0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913")
	m := &market{Chain: operator.Chain{Network: network.Network{
		ID:      8453,
		Wrapped: network.Token{Address: weth},
		Tokens:  []network.Token{{Address: usdc}},
	}}}
	permit := &permitData{Values: v.PermitSingle[1].Values}
	signature := v.PermitSingle[1].Signature
	const permitNative, nativeOut, nativeIn = 2, 3, 4 // indices of the 2.1.2 vectors
	requests := map[int]*swapRequest{
		permitNative: {classic: classic(usdc, weth, "1000000000", "368000000000000000", usdc, weth), Permit: permit, Signature: signature},
		nativeOut:    {classic: classic(usdc, native, "1000000000", "368000000000000000", usdc, weth)},
		nativeIn:     {classic: classic(native, usdc, "100000000000000000", "260000000", weth, usdc)},
	}
	for i, r := range requests {
		want := v.UniversalRouterCalldata[i]
		t.Run(want.Name, func(t *testing.T) {
			p, err := m.program(r)
			if err != nil {
				t.Fatal(err)
			}
			got, err := p.calldata(want.Deadline)
			if err != nil {
				t.Fatal(err)
			}
			if hexutil.Encode(got) != want.Calldata.String() {
				t.Errorf("calldata\n got %x\nwant %x", got, []byte(want.Calldata))
			}
		})
	}
}

func TestMinimumAndSplitMatchTheRecordedQuote(t *testing.T) {
	total, _ := new(big.Int).SetString("371275357774436004", 10)
	user := common.HexToAddress("0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266")
	parts := aggregate(eip55.Address{}, total, user, []portion{{native, 40, "INTEGRATOR"}}, 50)
	got := []string{minAmountFloor(total, 50).String(), parts[0].Amount, parts[0].MinAmount, parts[1].Amount, parts[1].MinAmount}
	want := []string{"369418980985563823", "369790256343338260", "367941305061621568", "1485101431097744", "1477675923942255"}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("figure %d: got %s, want %s", i, got[i], want[i])
		}
	}
}
