package onchain

import (
	"bytes"
	"context"
	"math/big"
	"sync"
	"testing"
	"time"

	"swapkeep/chain"
	"swapkeep/priceapi/price"
	"swapkeep/tokens"

	"github.com/ethereum/go-ethereum/common"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// A fakeChain answers from a table. Anything not in it is an address without code.
type fakeChain struct {
	mu           sync.Mutex
	answers      map[uint64]map[string][]byte // by chain, then by contract and calldata; nil = reverts
	block        map[uint64]time.Time         // if not one second ago
	fails        map[uint64]error
	calls        map[uint64]int // number so far
	maxQuestions int            // most questions in one call
	twist        func(qs []chain.Question, answers [][]byte) [][]byte
}

func newFake() *fakeChain {
	return &fakeChain{answers: map[uint64]map[string][]byte{}, block: map[uint64]time.Time{}, fails: map[uint64]error{}, calls: map[uint64]int{}}
}

func (f *fakeChain) Ask(ctx context.Context, id uint64, qs []chain.Question) ([][]byte, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls[id]++
	f.maxQuestions = max(f.maxQuestions, len(qs))
	if err := f.fails[id]; err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	answers := make([][]byte, len(qs))
	for i, q := range qs {
		answers[i] = f.answer(id, q)
	}
	if f.twist != nil {
		answers = f.twist(qs, answers)
	}
	return answers, nil
}

func (f *fakeChain) answer(id uint64, q chain.Question) []byte {
	if q.To == multicall3 {
		at, ok := f.block[id]
		if !ok {
			at = noon.Add(-time.Second)
		}
		if bytes.Equal(q.Data, stampQuestions[0].Data) {
			return enc(77)
		}
		return enc(at.Unix())
	}
	out, ok := f.answers[id][q.To.Hex()+string(q.Data)]
	if !ok {
		return []byte{}
	}
	return out
}

// set makes a contract answer a call.
func (f *fakeChain) set(id uint64, to common.Address, data, out []byte) {
	if f.answers[id] == nil {
		f.answers[id] = map[string][]byte{}
	}
	f.answers[id][to.Hex()+string(data)] = out
}

// enc encodes words: whole numbers, times, addresses.
func enc(values ...any) []byte {
	var out []byte
	for _, v := range values {
		n := new(big.Int)
		switch v := v.(type) {
		case int:
			n.SetInt64(int64(v))
		case int64:
			n.SetInt64(v)
		case time.Time:
			n.SetInt64(v.Unix())
		case *big.Int:
			n.Set(v)
		case common.Address:
			n.SetBytes(v[:])
		}
		if n.Sign() < 0 {
			n.Add(n, new(big.Int).Lsh(big.NewInt(1), 256))
		}
		out = append(out, n.FillBytes(make([]byte, word))...)
	}
	return out
}

func call(signature string, args ...any) []byte { return calldata(selector(signature), args...) }

func hex(s string) common.Address { return common.HexToAddress(s) }

func big10(n int64, digits uint8) *big.Int { return new(big.Int).Mul(big.NewInt(n), pow10(digits)) }

// feed makes a feed with 8 decimals return a price in millionths of a dollar.
func (f *fakeChain) feed(id uint64, at common.Address, micro int64, updated time.Time) {
	f.set(id, at, call("decimals()"), enc(8))
	f.round(id, at, 110680464442257320, big.NewInt(100*micro), updated, updated)
}

func (f *fakeChain) round(id uint64, at common.Address, number uint64, answer *big.Int, started, updated time.Time) {
	n := new(big.Int).SetUint64(number)
	f.set(id, at, call(latestRound), enc(n, answer, started, updated, n))
}

// up makes a chain's sequencer up since the given time.
func (f *fakeChain) up(id uint64, since time.Time) {
	f.round(id, chainConfigs[id].sequencer, 1<<63, new(big.Int), since, since)
}

// A fakePool is a pool of an asset and a coin.
type fakePool struct {
	market  int   // index
	tier    int64 // ignored for pairs
	at      common.Address
	coin    coin
	micro   int64 // price of the asset, in millionths of the coin
	balance int64 // whole coins
	mean    int64 // as micro, over the window; 0 = unknown
	thin    bool  // hardly any liquidity
}

// pool makes a pool answer like a real one at that price.
func (f *fakeChain) pool(id uint64, asset common.Address, decimals uint8, p fakePool) {
	mk := chainConfigs[id].markets[p.market]
	args := []any{asset, p.coin.address}
	if mk.tiers != nil {
		args = append(args, p.tier)
	}
	f.set(id, mk.factory, calldata(mk.find, args...), enc(p.at))
	balance := big10(p.balance, p.coin.decimals)
	f.set(id, p.coin.address, call("balanceOf(address)", p.at), enc(balance))
	// Base units of the coin for one base unit of the asset: num/den.
	num, den := big10(p.micro, p.coin.decimals), big10(1_000_000, decimals)
	if mk.words == 0 {
		other := new(big.Int).Div(new(big.Int).Mul(balance, den), num)
		reserves := enc(balance, other, 0)
		if isToken0(asset, p.coin.address) {
			reserves = enc(other, balance, 0)
		}
		f.set(id, p.at, call("getReserves()"), reserves)
		return
	}
	if !isToken0(asset, p.coin.address) {
		num, den = den, num
	}
	sqrt := new(big.Int).Lsh(num, 192)
	sqrt.Sqrt(sqrt.Div(sqrt, den))
	slot := []any{sqrt, 0}
	for len(slot) < mk.words {
		slot = append(slot, 1)
	}
	f.set(id, p.at, call("slot0()"), enc(slot...))
	liquidity := new(big.Int).Lsh(big.NewInt(1), 100)
	if p.thin {
		liquidity = big.NewInt(1000)
	}
	f.set(id, p.at, call("liquidity()"), enc(liquidity))
	if p.mean == 0 {
		f.set(id, p.at, observeCall, nil)
		return
	}
	f.set(id, p.at, observeCall, observed(tickOf(p, decimals, asset)))
}

var observeCall = call("observe(uint32[])", int64(32), int64(2), int64(600), int64(0))

func observed(tick int64) []byte {
	return enc(64, 160, 2, int64(-5_000_000), int64(-5_000_000)+600*tick, 2, 1, 2)
}

func tokenAt(id uint64, address, symbol string, decimals uint8) tokens.Token {
	return tokens.Token{Chain: id, Address: hex(address), Symbol: symbol, Name: symbol, Decimals: decimals}
}

// source returns a source on f whose clock stands at noon, and its refusals by token.
func source(t *testing.T, f *fakeChain) (*Source, func(price.ID) []Rejection) {
	t.Helper()
	var mu sync.Mutex
	refused := map[price.ID][]Rejection{}
	s := New(f, Options{Now: func() time.Time { return noon }, Rejected: func(r Rejection) {
		mu.Lock()
		defer mu.Unlock()
		refused[r.ID] = append(refused[r.ID], r)
	}})
	return s, func(id price.ID) []Rejection {
		mu.Lock()
		defer mu.Unlock()
		return refused[id]
	}
}

// readingTexts returns the readings as text, by token.
func readingTexts(rs []price.Reading) map[price.ID][]string {
	all := map[price.ID][]string{}
	for _, r := range rs {
		all[r.ID] = append(all[r.ID], r.Source.String()+" "+r.Value.Fixed(2))
	}
	return all
}
