package host

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"swapkeep/host/frame"
	"swapkeep/host/protocol"
)

func TestTablesAgree(t *testing.T) {
	if protocol.MaxRequest != frame.MaxIn || protocol.MaxResult != frame.MaxOut || protocol.MaxDrain != frame.MaxDrain {
		t.Error("the limits of protocol and frame differ")
	}
	served := map[string]bool{"host.attach": true}
	for name := range handlers {
		served[name] = true
	}
	for _, m := range protocol.Methods {
		if !served[m.Name] {
			t.Errorf("%s has no handler", m.Name)
		}
		delete(served, m.Name)
		request := fieldsIn(m.Params)["request"]
		if m.Acting != request.required {
			t.Errorf("%s: acting is %v, but its request parameter is required: %v", m.Name, m.Acting, request.required)
		}
		if m.Acting && m.Access == protocol.Reads {
			t.Errorf("%s acts, and is served to read-only connections", m.Name)
		}
		if strings.Contains(strings.ToLower(m.Name), "sign") {
			t.Errorf("%s: nothing signs what a caller supplies", m.Name)
		}
	}
	for name := range served {
		t.Errorf("%s is in no table", name)
	}
}

// TestSigningMethodsAskForConsent checks that every method that ends in a signature
// requires a session, a uuid and the digest of what was shown.
func TestSigningMethodsAskForConsent(t *testing.T) {
	for _, name := range []string{"swap.execute", "swap.accept", "swap.cancel", "swap.close", "swap.speedup", "approvals.revoke"} {
		m, ok := protocol.MethodOf(name)
		f := fieldsIn(m.Params)
		if !ok || !m.Session || !m.Acting || m.Access != protocol.Writes || !f["digest"].required {
			t.Errorf("%s: %+v", name, m)
		}
	}
}

// TestRights checks that each kind of caller is served exactly the methods in the table.
func TestRights(t *testing.T) {
	r := newRig(t, func(c *Config) { c.AllowUnknown = true })
	wants := map[string]map[protocol.Access]string{
		"terminal":  {protocol.Reads: "", protocol.Writes: "", protocol.Terminal: ""},
		"extension": {protocol.Reads: "", protocol.Writes: "", protocol.Terminal: "terminal_only"},
		"unknown":   {protocol.Reads: "", protocol.Writes: "read_only", protocol.Terminal: "terminal_only"},
	}
	for caller, want := range wants {
		p := r.attach(caller)
		var hello protocol.Hello
		if err := json.Unmarshal(p.must("host.hello", nil).Result, &hello); err != nil {
			t.Fatal(err)
		}
		for _, m := range protocol.Methods {
			if m.Name == "host.attach" || m.Name == "host.stop" && caller == "terminal" {
				continue
			}
			got := ""
			if e := p.call(m.Name, map[string]any{"no such parameter": 1}).Error; e != nil {
				got = e.Name
			}
			refused := want[m.Access]
			switch {
			case refused != "" && got != refused:
				t.Errorf("%s calls %s: %q, want %q", caller, m.Name, got, refused)
			case refused == "" && got != "" && got != "bad_params" && got != "locked":
				t.Errorf("%s calls %s: %q", caller, m.Name, got)
			}
			if slices.Contains(hello.Capabilities, m.Name) != (refused == "") {
				t.Errorf("%s: hello and the table differ about %s", caller, m.Name)
			}
		}
	}
}

func fieldsIn(params any) map[string]field { return fieldsOf(reflect.TypeOf(params)) }
