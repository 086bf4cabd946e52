package sandbox_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"math/big"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/ethclient"

	"swapkeep/sandbox"
	"swapkeep/sandbox/contracts"
	"swapkeep/sandbox/sandboxtest"
	"swapkeep/test/await"
)

func allChains() []uint64 {
	var ids []uint64
	for _, n := range sandbox.Networks() {
		ids = append(ids, n.ID)
	}
	return ids
}

// manual starts a sandbox that mines blocks on request only.
func manual(t *testing.T, chains ...uint64) *sandbox.Sandbox {
	return sandboxtest.StartWith(t, sandbox.Options{Chains: chains, Period: -1})
}

// view calls a method with words as arguments and returns the result.
func view(t *testing.T, c *sandbox.Chain, at common.Address, signature string, args ...common.Hash) []byte {
	t.Helper()
	data := crypto.Keccak256([]byte(signature))[:4]
	for _, a := range args {
		data = append(data, a[:]...)
	}
	out, err := c.Client().CallContract(t.Context(), ethereum.CallMsg{To: &at, Data: data}, nil)
	if err != nil {
		t.Fatalf("chain %d: %s of %s: %v", c.ID, signature, at, err)
	}
	return out
}

func word(a common.Address) common.Hash { return common.BytesToHash(a[:]) }

func TestEveryChain(t *testing.T) {
	began := time.Now()
	s := manual(t, allChains()...)
	t.Logf("%d chains up in %v", len(s.Chains()), time.Since(began))
	if len(s.Chains()) != 10 {
		t.Fatalf("%d chains", len(s.Chains()))
	}
	separators := domainSeparators(t)
	compared := 0
	for _, c := range s.Chains() {
		checkID(t, c)
		checkLinks(t, c)
		for _, tok := range append(c.Network.Tokens, c.Network.Wrapped) {
			checkToken(t, c, tok, s.Accounts()[0].Address)
			for name, service := range s.Services() {
				if got := new(big.Int).SetBytes(view(t, c, tok.Address, "balanceOf(address)", word(service.Address))); got.Cmp(tok.Units(50_000_000)) != 0 {
					t.Errorf("chain %d: %s has %v of %s", c.ID, name, got, tok.Symbol)
				}
			}
		}
		for name, at := range c.Network.Named() {
			if code, err := c.Client().CodeAt(t.Context(), at, nil); err != nil || len(code) == 0 {
				t.Errorf("chain %d: nothing stands at %s, which is to be %s (%v)", c.ID, at, name, err)
			}
		}
		if want, known := separators[strconv.FormatUint(c.ID, 10)]; known {
			compared++
			if got := common.BytesToHash(view(t, c, c.Network.Contracts.Permit2, "DOMAIN_SEPARATOR()")); got != want {
				t.Errorf("chain %d: Permit2's domain separator is %s, want %s", c.ID, got, want)
			}
		}
	}
	if compared != 7 {
		t.Errorf("%d domain separators compared, want 7", compared)
	}
}

func checkID(t *testing.T, c *sandbox.Chain) {
	t.Helper()
	client, err := ethclient.Dial(c.RPC())
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	if id, err := client.ChainID(t.Context()); err != nil || id.Uint64() != c.ID {
		t.Errorf("chain %d says it is %v (%v)", c.ID, id, err)
	}
}

// checkLinks checks that the contracts refer to each other by their addresses.
func checkLinks(t *testing.T, c *sandbox.Chain) {
	t.Helper()
	n, wrapped := c.Network.Contracts, c.Network.Wrapped.Address
	type link struct {
		at        common.Address
		signature string
		want      common.Address
	}
	links := []link{
		{n.QuoterV2, "factory()", n.V3Factory},
		{n.QuoterV2, "WETH9()", wrapped},
		{n.PositionManager, "factory()", n.V3Factory},
		{n.V2Router, "factory()", n.V2Factory},
		{n.V2Router, "WETH()", wrapped},
	}
	if c.Network.DEX {
		links = append(links, link{n.UniversalRouter, "V3_POSITION_MANAGER()", n.PositionManager})
	}
	if x := c.Network.UniswapX(); x.Protocol != "" {
		links = append(links, link{x.V3Reactor, "permit2()", n.Permit2}, link{x.V3Reactor, "owner()", x.FeeOwner},
			link{x.V3Reactor, "feeController()", common.Address{}})
	}
	if c.ID == 1 {
		v2 := c.Network.UniswapX().V2Reactor
		links = append(links, link{v2, "permit2()", n.Permit2}, link{v2, "feeController()", common.Address{}})
	}
	for _, l := range links {
		if got := common.BytesToAddress(view(t, c, l.at, l.signature)); got != l.want {
			t.Errorf("chain %d: %s of %s is %s, want %s", c.ID, l.signature, l.at, got, l.want)
		}
	}
	if got := new(big.Int).SetBytes(view(t, c, n.Multicall3, "getChainId()")); got.Uint64() != c.ID {
		t.Errorf("chain %d: Multicall3 says %v", c.ID, got)
	}
}

// domainSeparators returns Permit2's domain separators by chain id.
func domainSeparators(t *testing.T) map[string]common.Hash {
	t.Helper()
	raw, err := os.ReadFile("testdata/vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	var vectors struct {
		DomainSeparators map[string]common.Hash `json:"domainSeparators"`
	}
	if err := json.Unmarshal(raw, &vectors); err != nil {
		t.Fatal(err)
	}
	return vectors.DomainSeparators
}

func checkToken(t *testing.T, c *sandbox.Chain, tok sandbox.Token, holder common.Address) {
	t.Helper()
	if !bytes.Contains(view(t, c, tok.Address, "symbol()"), []byte(tok.Symbol)) || !bytes.Contains(view(t, c, tok.Address, "name()"), []byte(tok.Name)) {
		t.Errorf("chain %d: %s does not say its name", c.ID, tok.Symbol)
	}
	if got := new(big.Int).SetBytes(view(t, c, tok.Address, "decimals()")); got.Uint64() != uint64(tok.Decimals) {
		t.Errorf("chain %d: %s has %v decimals", c.ID, tok.Symbol, got)
	}
	if got := new(big.Int).SetBytes(view(t, c, tok.Address, "balanceOf(address)", word(holder))); got.Sign() <= 0 {
		t.Errorf("chain %d: account 0 has no %s", c.ID, tok.Symbol)
	}
}

// TestPoolsAreWhereTheRoutersLook checks the init code hashes from which the routers
// compute pool addresses, and that a pool has its mainnet address.
func TestPoolsAreWhereTheRoutersLook(t *testing.T) {
	set, err := contracts.Open("")
	if err != nil {
		t.Fatal(err)
	}
	hashes := map[string]string{
		"V2Pair": "0x96e8ac4277198ff8b6f785478aa9a39f403cb768dd02cbee326c3e7da348845f",
		"V3Pool": "0xe34f199b19b2b4f47f68442619d555527d244f78a3297ea89325f843f87b8b54",
	}
	for name, want := range hashes {
		c, err := set.Get(name)
		if err != nil {
			t.Fatal(err)
		}
		if got := crypto.Keccak256Hash(c.Code); got.Hex() != want {
			t.Errorf("%s: init code hash %s, want %s", name, got, want)
		}
	}
	c := manual(t, 1).Chain(1)
	usdc, _ := c.Network.Token("USDC")
	pool := view(t, c, c.Network.Contracts.V3Factory, "getPool(address,address,uint24)",
		word(usdc.Address), word(c.Network.Wrapped.Address), common.BigToHash(big.NewInt(500)))
	if got, want := common.BytesToAddress(pool), common.HexToAddress("0x88e6A0c2dDD26FEEb64F039a2c41296FcB3f5640"); got != want {
		t.Errorf("USDC/WETH 0.05 %% is at %s, want %s", got, want)
	}
}

func TestAccountsAreThoseOfThePublishedMnemonic(t *testing.T) {
	accounts, err := sandbox.Accounts(4)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266", "0x70997970C51812dc3A010C7d01b50e0d17dc79C8",
		"0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC", "0x90F79bf6EB2c4f870365E785982E1f101E93b906",
	}
	for i, a := range accounts {
		if a.Address.Hex() != want[i] {
			t.Errorf("account %d is %s, want %s", i, a.Address, want[i])
		}
	}
}

func TestFund(t *testing.T) {
	s := manual(t, 1, 39)
	to := common.HexToAddress("0x00000000000000000000000000000000DeaDBeef")
	for _, c := range s.Chains() {
		for _, tok := range append(c.Network.Tokens, c.Network.Wrapped) {
			if err := c.Fund(t.Context(), to, tok.Address, big.NewInt(7)); err != nil {
				t.Error(err)
			}
			if got := new(big.Int).SetBytes(view(t, c, tok.Address, "balanceOf(address)", word(to))); got.Int64() != 7 {
				t.Errorf("chain %d: %v %s", c.ID, got, tok.Symbol)
			}
		}
		if err := c.Fund(t.Context(), to, common.Address{}, big.NewInt(9)); err != nil {
			t.Error(err)
		}
		if got, err := c.Client().BalanceAt(t.Context(), to, nil); err != nil || got.Int64() != 9 {
			t.Errorf("chain %d: %v wei (%v)", c.ID, got, err)
		}
		if c.Fund(t.Context(), to, to, big.NewInt(1)) == nil || c.Fund(t.Context(), to, common.Address{}, new(big.Int)) == nil {
			t.Error("funded with an unknown token, or with nothing")
		}
	}
}

// pay sends one wei from account 1 and does not wait for a receipt.
func pay(t *testing.T, s *sandbox.Sandbox, c *sandbox.Chain, nonce uint64) common.Hash {
	t.Helper()
	client, err := ethclient.Dial(c.RPC())
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	id := new(big.Int).SetUint64(c.ID)
	tx, err := types.SignNewTx(s.Accounts()[1].Key, types.LatestSignerForChainID(id), &types.DynamicFeeTx{
		ChainID: id, Nonce: nonce, GasTipCap: big.NewInt(1e9), GasFeeCap: big.NewInt(50e9), Gas: 21000, To: &common.Address{19: 1}, Value: big.NewInt(1),
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := client.SendTransaction(t.Context(), tx); err != nil {
		t.Fatal(err)
	}
	return tx.Hash()
}

func receipt(t *testing.T, c *sandbox.Chain, tx common.Hash) *types.Receipt {
	t.Helper()
	r, err := c.Client().TransactionReceipt(t.Context(), tx)
	if err != nil && !errors.Is(err, ethereum.NotFound) {
		t.Fatal(err)
	}
	return r
}

func TestReorg(t *testing.T) {
	s := manual(t, 1)
	c := s.Chain(1)
	kept := pay(t, s, c, 0)
	if err := c.Mine(3); err != nil {
		t.Fatal(err)
	}
	first := receipt(t, c, kept)
	if first == nil {
		t.Fatal("the kept transaction is not mined")
	}
	head := c.Head().Number.Uint64()
	if err := c.Reorg(3, false); err != nil {
		t.Fatal(err)
	}
	again := receipt(t, c, kept)
	if again == nil || again.BlockHash == first.BlockHash {
		t.Fatalf("after the reorganisation: %+v", again)
	}
	if got := c.Head().Number.Uint64(); got != head+1 {
		t.Errorf("head at %d, want %d", got, head+1)
	}
	if err := c.Reorg(int(c.Head().Number.Uint64()-again.BlockNumber.Uint64())+1, true); err != nil {
		t.Fatal(err)
	}
	if r := receipt(t, c, kept); r != nil {
		t.Errorf("a dropped transaction was mined again in block %v", r.BlockNumber)
	}
	if c.Reorg(1_000_000, false) == nil || c.Reorg(0, false) == nil {
		t.Error("a reorganisation of no or of too many blocks went through")
	}
}

func TestPauseAndShift(t *testing.T) {
	s := sandboxtest.StartWith(t, sandbox.Options{Chains: []uint64{10}, Period: 20 * time.Millisecond})
	c := s.Chain(10)
	c.Pause()
	still := c.Head().Number.Uint64()
	tx := pay(t, s, c, 0)
	time.Sleep(100 * time.Millisecond) // time for something that must not happen
	if got := c.Head().Number.Uint64(); got != still {
		t.Errorf("paused, yet %d blocks were made", got-still)
	}
	c.Resume()
	await.Until(t, 10*time.Second, "the transaction is mined after the pause", func() bool { return receipt(t, c, tx) != nil })
	before := c.Head().Time
	if err := c.Shift(time.Hour); err != nil {
		t.Fatal(err)
	}
	if got := c.Head().Time; got < before+3600 {
		t.Errorf("time moved by %d s", got-before)
	}
}

func TestInstantMinesWhatArrives(t *testing.T) {
	s := sandboxtest.StartWith(t, sandbox.Options{Chains: []uint64{8453}, Period: -1, Instant: true})
	c := s.Chain(8453)
	tx := pay(t, s, c, 0)
	await.Until(t, 10*time.Second, "the transaction is mined", func() bool { return receipt(t, c, tx) != nil })
}

func TestWebSocketShowsNewHeads(t *testing.T) {
	c := manual(t, 1).Chain(1)
	client, err := ethclient.Dial(c.WS())
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	heads := make(chan *types.Header, 1)
	sub, err := client.SubscribeNewHead(t.Context(), heads)
	if err != nil {
		t.Fatal(err)
	}
	defer sub.Unsubscribe()
	if err := c.Mine(1); err != nil {
		t.Fatal(err)
	}
	select {
	case h := <-heads:
		if h.Number.Cmp(c.Head().Number) != 0 {
			t.Errorf("head %v", h.Number)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("no new head within 10 s")
	}
}

func TestStartRefuses(t *testing.T) {
	cases := []struct {
		name string
		o    sandbox.Options
		want error
	}{
		{"an unknown chain", sandbox.Options{Chains: []uint64{137}}, sandbox.ErrUnknownChain},
		{"an address that others reach", sandbox.Options{Host: "0.0.0.0"}, sandbox.ErrNotLoopback},
		{"a name", sandbox.Options{Host: "localhost.example.org"}, sandbox.ErrNotLoopback},
		{"a directory without contracts", sandbox.Options{Contracts: t.TempDir()}, contracts.ErrMissing},
	}
	for _, tc := range cases {
		if s, err := sandbox.Start(t.Context(), tc.o); !errors.Is(err, tc.want) {
			t.Errorf("%s: got %v, want %v", tc.name, err, tc.want)
			if s != nil {
				_ = s.Close()
			}
		}
	}
	if s, err := sandbox.Start(t.Context(), sandbox.Options{Chains: []uint64{1, 1}}); err == nil {
		t.Error("one chain started twice")
		_ = s.Close()
	}
}
