package host

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"testing"

	"swapkeep/host/frame"
	"swapkeep/host/protocol"
)

// FuzzDispatch sends arbitrary bytes as a message. Nothing panics, and each message gets
// exactly one reply, with a result or an error of the table. A further request shows that
// the connection still works.
func FuzzDispatch(f *testing.F) {
	for _, fixture := range fixtureFrames(f) {
		f.Add([]byte(fixture))
	}
	f.Add([]byte(`{"jsonrpc":"2.0","id":"\ud800","method":"swap.fees","params":{}}`))
	f.Add([]byte(`{"jsonrpc":"2.0","id":1,"method":"host.hello","params":{"protocol":{"min":1,"max":null}}}`))
	f.Add([]byte("\xff\xfe"))
	f.Add([]byte(` {"a":[1,{"b":"]}\""}],"c":-1e9 } `))
	f.Fuzz(func(t *testing.T, body []byte) {
		if len(body) == 0 || len(body) > protocol.MaxRequest {
			return // the frame reader handles these
		}
		p := fuzzPeer(t)
		write := func(b []byte) { _ = p.out.Write(b) } // a failed write gets no reply
		go write(body)                                 // a pipe has no buffer
		first := p.reply()
		check(t, first)
		go write([]byte(fmt.Sprintf(`{"jsonrpc":"2.0","id":"%s","method":"swap.fees"}`, fence)))
		if m := p.reply(); string(m.ID) != `"`+fence+`"` || m.Result == nil {
			t.Fatalf("a second reply to %q: %s", body, m.raw)
		}
	})
}

const fence = "the next request"

func check(t *testing.T, m message) {
	if (m.Result == nil) == (m.Error == nil) || m.ID == nil {
		t.Fatalf("neither result nor error: %s", m.raw)
	}
	if m.Error == nil {
		return
	}
	row, ok := protocol.RowOf(m.Error.Name)
	if !ok || row.Code != m.Error.Code || m.Error.Remedy == "" || m.Error.Name == "internal" {
		t.Fatalf("an error of no row: %s", m.raw)
	}
}

// fuzzPeer returns a terminal with an open session, connected over a pipe.
func fuzzPeer(t *testing.T) *peer {
	here, there := net.Pipe()
	wallet := newFakeWallet()
	s, err := New(Config{
		Wallet: wallet, Swaps: &fakeSwaps{}, Networks: &fakeNetworks{}, Tokens: &fakeTokens{}, Settings: &fakeSettings{}, ProviderKeys: &fakeProviderKeys{}, Prices: newFakePrices(),
		Errors: fakeSentinels,
	})
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = s.Serve(context.Background(), there)
	}()
	t.Cleanup(func() {
		s.Close()
		<-done
	})
	p := &peer{t: t, nc: here, in: frame.NewReader(here), out: frame.NewWriter(here)}
	p.must("host.attach", attaches["terminal"])
	p.note()
	p.must("keys.unlock", map[string]any{"password": password})
	return p
}

func fixtureFrames(t testing.TB) (frames []string) {
	for _, f := range readFixtures(t) {
		for _, c := range f.Cases {
			frames = append(frames, c.request(t))
		}
	}
	return frames
}

// FuzzMembers compares the object splitter with encoding/json: same names, same values.
func FuzzMembers(f *testing.F) {
	for _, s := range []string{`{}`, `{"a":1}`, `{ "a" : [1,"]"] , "\u0062":{"c":"}"} }`, `{"a":"\\\"","b":true,"c":null}`, `{"a":1,"a":2}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		var want map[string]json.RawMessage
		if err := json.Unmarshal(body, &want); err != nil || want == nil {
			return
		}
		got, twice := members(body)
		if twice != nil {
			return
		}
		if len(got) != len(want) {
			t.Fatalf("%d members of %s, want %d", len(got), body, len(want))
		}
		for _, m := range got {
			if string(m.value) != string(want[m.name]) {
				t.Errorf("%s is %s, want %s", m.name, m.value, want[m.name])
			}
		}
	})
}
