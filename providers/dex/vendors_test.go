//go:build vendors

package dex

import (
	"fmt"
	"math/big"
	"strings"
	"testing"

	"swapkeep/swap"
	"swapkeep/test/vendors"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
)

// A CosignedOrder is an auction order as the order service lists it.
type CosignedOrder struct {
	Kind      string         `json:"kind"` // Dutch_V2 or Dutch_V3
	Chain     uint64         `json:"chain"`
	Encoded   hexutil.Bytes  `json:"encoded"`
	Signature hexutil.Bytes  `json:"signature"`
	Swapper   common.Address `json:"swapper"`
	At        []int64        `json:"at"` // seconds, or blocks for V3
}

// Says is what one side reads of an order: its hashes, who signed, and what it takes and
// pays at each moment.
type Says struct {
	Hash, Digest     common.Hash
	Signer, Cosigner common.Address
	Again            hexutil.Bytes // the order encoded again
	Moments          []Moment
}

// A Moment is what an order takes and pays at one time, in base units.
type Moment struct {
	At  int64
	In  string
	Out []string
}

// Compare compares what this package reads of an order with what the vendor's does.
func (o CosignedOrder) Compare(t *testing.T, c *vendors.Count, theirs Says) {
	t.Helper()
	kind := map[string]*auctionKind{"Dutch_V2": dutchV2, "Dutch_V3": dutchV3}[o.Kind]
	e, err := kind.decode(o.Encoded)
	if err != nil {
		t.Fatalf("%s %s: %v", o.Kind, theirs.Hash, err)
	}
	what := o.Kind + " " + theirs.Hash.Hex()
	c.Same(what, "order hashes", e.hash(), theirs.Hash)
	c.Same(what, "digests to sign", e.digest(o.Chain), theirs.Digest)
	c.Same(what, "digests to sign", digestOf(t, e.typed(o.Chain)), theirs.Digest)
	c.Same(what, "signers", o.Swapper, theirs.Signer)
	if err := (signedOrder{dutchOrder: e.dutchOrder, chain: o.Chain, signature: o.Signature}).checkSigner(theirs.Signer); err != nil {
		t.Errorf("%s: %v", what, err)
	}
	by, _ := e.signer(o.Chain)
	c.Same(what, "cosigners", by, theirs.Cosigner)
	c.Same(what, "encodings made anew", o.Encoded, theirs.Again)
	for _, m := range theirs.Moments {
		in, out := e.resolve(e.cosigning, big.NewInt(m.At))
		c.Same(what, "amounts at a moment", in, m.In)
		for i, n := range out {
			c.Same(what, "amounts at a moment", n, m.Out[i])
		}
	}
}

// TestVendorsOrders reads orders that uniswapx-sdk makes at random.
func TestVendorsOrders(t *testing.T) {
	var made []struct {
		CosignedOrder
		Says
	}
	vendors.RunScript(t, "uniswapx.cjs", map[string]any{"make": 80, "seed": "swapkeep"}, &made)
	c := vendors.NewCount(t, "uniswapx-sdk")
	for _, x := range made {
		x.Compare(t, c, x.Says)
		kind := map[bool]*auctionKind{true: dutchV2, false: dutchV3}[x.Kind == "Dutch_V2"]
		e, err := kind.decode(x.Encoded)
		if err != nil {
			t.Fatal(err)
		}
		if why := e.cosignerFault(x.Chain); why != "" {
			t.Errorf("%s %s: %s", x.Kind, x.Hash, why)
		}
	}
}

// A Program is what the vendor's parser reads of calldata for the router.
type Program struct {
	Commands     []string
	Floor, Takes string // base units: what the account gets at least, and what it gives
	Fees         []struct {
		To  common.Address
		Bps string
	}
	Deadline int64
}

// Compare compares it with the effect that this package reads of the same calldata.
func (p Program) Compare(t *testing.T, c *vendors.Count, what string, f swap.Effect) {
	t.Helper()
	c.Same(what, "floors", f.Receives[0].Min, p.Floor)
	c.Same(what, "amounts taken", f.Spends[0].Amount, p.Takes)
	c.Same(what, "fees", len(f.Pays), len(p.Fees))
	for i, x := range f.Pays {
		c.Same(what, "fees", x.To, p.Fees[i].To)
		c.Same(what, "fees", x.Bps, p.Fees[i].Bps)
	}
	c.Same(what, "deadlines", f.Deadline.Unix(), p.Deadline)
}

// TestVendorsForms reads calldata that universal-router-sdk makes.
func TestVendorsForms(t *testing.T) {
	var answer struct {
		Made []struct {
			Name, Want    string
			To, In, Out   common.Address
			Data          hexutil.Bytes
			Value, Amount string
			FeeBps        float64
			Says          Program
		}
	}
	vendors.RunScript(t, "router.cjs", map[string]any{"make": true}, &answer)
	c := vendors.NewCount(t, "universal-router-sdk")
	for _, x := range answer.Made {
		terms := ethToUSDC()
		terms.SrcChain, terms.DstChain = 1, 1
		terms.TokenIn, terms.TokenOut, terms.FeeBps = x.In, x.Out, int(x.FeeBps)
		terms.AmountIn, _ = new(big.Int).SetString(x.Amount, 10)
		terms.MinOut, _ = new(big.Int).SetString(x.Says.Floor, 10)
		if x.FeeBps == 0 {
			terms.FeeReceiver = nativeCoin
		}
		c.Same(x.Name, "routers", deployments[0].router, x.To)
		f, err := checked(terms, x.Data)
		switch {
		case err == nil && x.Want != "refused":
			c.Same(x.Name, "forms read", true, true)
			x.Says.Compare(t, c, x.Name, f)
		case codeOf(err) != "" && x.Want != "read":
			c.Same(x.Name, "forms refused", true, true)
			t.Logf("%s: %v", x.Name, err)
		default:
			t.Errorf("%s is to be %s: %v", x.Name, x.Want, err)
		}
		terms.MinOut.Add(terms.MinOut, common.Big1)
		if _, err := checked(terms, x.Data); codeOf(err) == "" {
			t.Errorf("%s: a higher floor than the package wrote down: %v", x.Name, err)
		}
	}
}

// TestVendorsPins checks every contract of every chain served, and every function called.
func TestVendorsPins(t *testing.T) {
	known, c := vendors.Known(t), vendors.NewCount(t, "dex pins")
	for _, d := range deployments {
		for name, ours := range map[string]common.Address{
			"UniversalRouter " + routerVersion: d.router, "WETH of the router": d.wrapped, "WETH9": d.wrapped,
			"Permit2": permit2, "reactor " + d.auction.listed: d.reactor,
		} {
			c.Same(fmt.Sprint("chain ", d.chain, ", ", name), "contracts", strings.ToLower(ours.Hex()), known.Addresses[d.chain][name])
		}
	}
	for fn, name := range map[selector]string{depositFn: "deposit", withdrawFn: "withdraw", executeFn: "execute", invalidateFn: "invalidateUnorderedNonces"} {
		c.Same(name, "functions", name, known.Hashes[hexutil.Encode(fn[:])])
	}
}
