package main

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/google/uuid"
	"github.com/rs/zerolog"

	"swapkeep/chain"
	"swapkeep/config"
	"swapkeep/host/frame"
	"swapkeep/host/protocol"
	"swapkeep/internal/zeroize"
	"swapkeep/keys/keystest/memscan"
)

// A wire is a terminal's end of a connection to a daemon in this process. Unlike an
// ordinary client it keeps no copy of what passes.
type wire struct {
	t    *testing.T
	in   *frame.Reader
	out  *frame.Writer
	next int
}

// offline starts a real daemon, not a sandbox one, whose networks are all down.
func offline(t *testing.T) *wire {
	t.Helper()
	cfg := config.Default()
	cfg.Home, cfg.Keys.Backend, cfg.Networks = filepath.Join(t.TempDir(), "home"), "file", map[string]config.Network{}
	for _, n := range chain.Networks() {
		cfg.Networks[strconv.FormatUint(n.ID, 10)] = config.Network{RPC: []string{"http://127.0.0.1:1"}}
		cfg.Chains.AllowLoopback = append(cfg.Chains.AllowLoopback, n.ID)
	}
	ctx, stop := context.WithCancel(t.Context())
	d := &daemon{cfg: cfg, stop: stop, log: zerolog.Nop()}
	if err := d.build(); err != nil {
		_ = d.close()
		t.Fatal(err)
	}
	here, there := net.Pipe()
	served := make(chan error, 1)
	go func() { served <- d.server.Serve(ctx, there) }()
	t.Cleanup(func() {
		_ = here.Close()
		<-served
		d.server.Close()
		if err := d.close(); err != nil {
			t.Error(err)
		}
	})
	w := &wire{t: t, in: frame.NewReader(here), out: frame.NewWriter(here)}
	w.call("host.attach", map[string]any{"kind": "terminal", "origin": "terminal", "version": "test"}, nil, nil)
	return w
}

// call makes a request and passes the result to look, which must keep nothing of it.
// Secrets consist of letters and spaces. It returns the error's name, "" for a result.
func (w *wire) call(method string, params map[string]any, secrets map[string][]byte, look func(result []byte)) string {
	w.t.Helper()
	w.next++
	plain, err := json.Marshal(params)
	if err != nil {
		w.t.Fatal(err)
	}
	if params == nil {
		plain = []byte("{}")
	}
	body := make([]byte, 0, 16<<10)
	body = fmt.Appendf(body, `{"jsonrpc":"2.0","id":%d,"method":%q,"params":`, w.next, method)
	body = append(body, plain[:len(plain)-1]...)
	for name, secret := range secrets {
		if body[len(body)-1] != '{' {
			body = append(body, ',')
		}
		body = fmt.Appendf(body, "%q:\"", name)
		body = append(append(body, secret...), '"')
	}
	body = append(body, "}}"...)
	sent := make(chan error, 1)
	go func() { sent <- w.out.Write(body) }()
	for {
		reply, err := w.in.Read()
		if err != nil {
			w.t.Fatal(err)
		}
		if !bytes.Contains(reply, fmt.Appendf(nil, `"id":%d,`, w.next)) {
			clear(reply) // a notification
			continue
		}
		if err := <-sent; err != nil {
			w.t.Fatal(err)
		}
		clear(body)
		defer clear(reply)
		if !bytes.Contains(reply, []byte(`"result":`)) {
			var r struct{ Error *protocol.Error }
			if err := json.Unmarshal(reply, &r); err != nil || r.Error == nil {
				w.t.Fatalf("%s: no reply of its form, %v", method, err)
			}
			return r.Error.Name
		}
		if look != nil {
			look(reply)
		}
		return ""
	}
}

// within returns the JSON string of that name, which has no escapes.
func within(t *testing.T, reply []byte, name string) []byte {
	t.Helper()
	_, after, ok := bytes.Cut(reply, []byte(`"`+name+`":"`))
	end := bytes.IndexByte(after, '"')
	if !ok || end < 0 {
		t.Fatalf("the reply has no %s", name)
	}
	return after[:end]
}

// TestNothingOfTheWireIsLeftInMemory: after passwords, mnemonics and keys passed through
// the daemon's connection in both directions and the wallet was locked, the process's
// memory contains none of them.
func TestNothingOfTheWireIsLeftInMemory(t *testing.T) {
	if !zeroize.Erases {
		t.Skip("this build erases nothing: run it by make, or with GOEXPERIMENT=runtimesecret")
	}
	w := offline(t)
	var needles []memscan.Needle
	add := func(name string, secret []byte) {
		half := max(16, len(secret)/2)
		needles = append(needles, memscan.Of(name, secret[:half]), memscan.Of(name+", end", secret[len(secret)-half:]))
	}
	password, wrong, fileWord := memscan.Letters(24), memscan.Letters(24), memscan.Letters(24)
	add("password", password)
	add("wrong password", wrong)
	add("password of a key file", fileWord)
	id := func() string { return uuid.NewString() }
	must := func(what, refusal string) {
		t.Helper()
		if refusal != "" {
			t.Fatalf("%s: %s", what, refusal)
		}
	}
	var wallet, account string
	words := make([]byte, 0, 512)
	must("create", w.call("keys.create", map[string]any{"request": id(), "words": 24}, map[string][]byte{"password": password}, func(reply []byte) {
		zeroize.Do(func() { words = append(words, within(t, reply, "words")...) })
		wallet, account = string(within(t, reply, "id")), string(within(t, reply, "address"))
	}))
	add("words", words)
	leftIn(t, "after they were shown", words)
	must("unlock", w.call("keys.unlock", nil, map[string][]byte{"password": password}, nil))
	must("export", w.call("keys.export", map[string]any{"format": "words", "wallet": wallet}, map[string][]byte{"password": password}, func(reply []byte) {
		if !bytes.Equal(within(t, reply, "secret"), words) {
			t.Error("other words come out")
		}
	}))
	leftIn(t, "after the export", words)
	digits := make([]byte, 0, 128)
	must("export", w.call("keys.export", map[string]any{"format": "privateKey", "account": account}, map[string][]byte{"password": password}, func(reply []byte) {
		zeroize.Do(func() { digits = append(digits, within(t, reply, "secret")...) })
		key := make([]byte, 32)
		if _, err := hex.Decode(key, digits[2:]); err != nil {
			t.Error(err)
		}
		add("key", key)
		clear(key)
	}))
	leftIn(t, "after the export", digits)
	add("digits of the key", digits)
	must("export", w.call("keys.export", map[string]any{"format": "keystore", "account": account},
		map[string][]byte{"password": password, "keystorePassword": fileWord}, nil))
	for method, params := range map[string]map[string]any{"keys.unlock": nil, "keys.remove": {"request": id(), "wallet": wallet}} {
		if refusal := w.call(method, params, map[string][]byte{"password": wrong}, nil); refusal != "wrong_password" {
			t.Errorf("%s with a wrong password: %q", method, refusal)
		}
	}
	must("remove", w.call("keys.remove", map[string]any{"request": id(), "wallet": wallet}, map[string][]byte{"password": password}, nil))
	must("import", w.call("keys.import", map[string]any{"request": id()}, map[string][]byte{"password": password, "mnemonic": words}, nil))
	if refusal := w.call("keys.import", map[string]any{"request": id()}, map[string][]byte{"password": password, "privateKey": digits}, nil); refusal != "duplicate_wallet" {
		t.Errorf("the same key again: %q", refusal)
	}
	must("unlock", w.call("keys.unlock", nil, map[string][]byte{"password": password}, nil))
	for _, b := range [][]byte{password, wrong, fileWord, words, digits} {
		clear(b)
	}
	must("lock", w.call("keys.lock", nil, nil, nil))
	for _, f := range found(t, needles...) {
		t.Errorf("left in memory: %s", f)
	}
}

func found(t *testing.T, needles ...memscan.Needle) []string {
	t.Helper()
	all, err := memscan.Find(needles...)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// leftIn searches for what was shown. Only this test may have a copy, which is disguised.
func leftIn(t *testing.T, when string, shown []byte) {
	t.Helper()
	needle := memscan.Of("what was shown", shown[8:40])
	disguise := func() {
		for i := range shown {
			shown[i] ^= 0x5f
		}
	}
	disguise()
	for _, f := range found(t, needle) {
		t.Errorf("left in memory %s: %s", when, f)
	}
	disguise()
}
