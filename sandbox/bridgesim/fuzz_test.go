package bridgesim

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/ethclient"

	"swapkeep/sandbox/contracts"
	"swapkeep/sandbox/network"
	"swapkeep/sandbox/operator"
)

func recorded(f *testing.F, name string) []byte {
	f.Helper()
	raw, err := os.ReadFile("testdata/" + name + ".json")
	if err != nil {
		f.Fatal(err)
	}
	return raw
}

// known returns a simulator that settles nothing and reaches no chain.
func known() *Server {
	s := &Server{markets: map[uint64]*market{}}
	for _, n := range network.All() {
		if n.Bridge().Name != "" {
			s.markets[n.ID] = &market{Chain: operator.Chain{Network: n, Client: &ethclient.Client{}}}
		}
	}
	return s
}

// FuzzQuoteRequest checks that every request that passes the schema is priced or refused
// with a failure, and that priced amounts are consistent.
func FuzzQuoteRequest(f *testing.F) {
	f.Add(recorded(f, "quoteA_req"))
	f.Add(recorded(f, "quoteB_req"))
	f.Add(recorded(f, "price_req"))
	f.Add([]byte(`{"amount":"1","Amount":2,"ttl":1e3}`))
	s := known()
	f.Fuzz(func(t *testing.T, body []byte) {
		var q quoteRequest
		if err := decode(body, quoteFields, &q); err != nil {
			if _, ok := err.(failure); !ok {
				t.Fatalf("refused by %T: %v", err, err)
			}
			return
		}
		p, err := q.parties()
		if err != nil || q.supported() != nil {
			return
		}
		if p.user == native || p.recipient == native {
			t.Fatalf("parties %+v", p)
		}
		o, err := s.priceOf(q, p)
		if err != nil {
			if _, ok := err.(failure); !ok {
				t.Fatalf("refused by %T: %v", err, err)
			}
			return
		}
		if o.minAmountOut.Sign() < 0 || o.minAmountOut.Cmp(o.amountOut) > 0 || o.minDeposit.Cmp(o.depositAmount) > 0 {
			t.Errorf("least %s of %s, %s of %s", o.minAmountOut, o.amountOut, o.minDeposit, o.depositAmount)
		}
		if value(o.out, o.amountOut).Cmp(value(o.in, o.amountIn)) > 0 {
			t.Errorf("%s in pays %s out", o.amountIn, o.amountOut)
		}
		if q.ttl() < 0 {
			t.Errorf("ttl %s", q.ttl())
		}
	})
}

func FuzzReports(f *testing.F) {
	f.Add(recorded(f, "index_req"))
	f.Add(recorded(f, "single_req"))
	f.Add([]byte(`{"chainId":8453,"txHash":null}`))
	s := known()
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, answer := range []func() (any, error){
			func() (any, error) { return s.index(t.Context(), body, nil) },
			func() (any, error) { return s.single(t.Context(), body, nil) },
		} {
			reply, err := answer()
			if _, ok := err.(failure); err != nil && !ok {
				t.Errorf("refused by %T: %v", err, err)
			}
			if (reply == nil) == (err == nil) {
				t.Errorf("reply %v, error %v", reply, err)
			}
		}
	})
}

func FuzzCurrencies(f *testing.F) {
	f.Add(recorded(f, "cur_req"))
	f.Add([]byte(`{"tokens":["1:0xdac17f958d2ee523a2206206994597c13d831ec7"],"limit":0}`))
	s := known()
	f.Fuzz(func(t *testing.T, body []byte) {
		flat, err := s.currencyList(t.Context(), body, nil)
		groups, again := s.currencyGroups(t.Context(), body, nil)
		if (err == nil) != (again == nil) {
			t.Fatalf("%v and %v", err, again)
		}
		if err != nil {
			return
		}
		n := 0
		for _, g := range groups.([][]currency) {
			n += len(g)
		}
		if n != len(flat.([]currency)) {
			t.Errorf("%d in groups, %d flat", n, len(flat.([]currency)))
		}
	})
}

func FuzzFrame(f *testing.F) {
	f.Add(recorded(f, "ws_sub"))
	f.Add([]byte(`{"type":"unsubscribe","event":"request.status.updated"}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		c := &socket{}
		reply, err := json.Marshal(c.answer(raw))
		if err != nil || !json.Valid(reply) {
			t.Errorf("%v: %s", err, reply)
		}
		if len(c.filters) > 1 {
			t.Errorf("filters %v", c.filters)
		}
	})
}

// FuzzLog checks that no log causes a panic and that logs of other events are ignored.
func FuzzLog(f *testing.F) {
	set, err := contracts.Open("")
	if err != nil {
		f.Fatal(err)
	}
	loaded, err := loadABIs(set)
	if err != nil {
		f.Fatal(err)
	}
	s := known()
	m := s.markets[8453]
	m.abis = loaded
	events := []string{
		"RelayNativeDeposit(address,uint256,bytes32)", "RelayErc20Deposit(address,address,uint256,bytes32)", "Routed(bytes32,address,uint256,address)",
	}
	for i := range events {
		f.Add(uint8(i), make([]byte, 32*(3+i)))
	}
	f.Add(uint8(9), []byte{1})
	f.Fuzz(func(t *testing.T, which uint8, data []byte) {
		l := types.Log{Address: m.Bridge().Depository, Topics: []common.Hash{{which}}, Data: data}
		if int(which) < len(events) {
			l.Topics[0] = crypto.Keccak256Hash([]byte(events[which]))
		}
		if which == 2 {
			l.Address = m.Bridge().Pairs[0].Router
		}
		seen, _, routed := m.decodeLog(l)
		if seen != nil && (seen.amount == nil || seen.amount.Sign() < 0 || int(which) >= len(events) || routed != (which == 2)) {
			t.Errorf("%+v of event %d", seen, which)
		}
	})
}
