package devnet

import (
	"encoding/json"
	"net/http/httptest"
	"testing"

	"swapkeep/sandbox/inject"
)

// FuzzCalls checks that a rejection answers every call of any request.
func FuzzCalls(f *testing.F) {
	f.Add([]byte(`{"jsonrpc":"2.0","id":1,"method":"eth_chainId","params":[]}`))
	f.Add([]byte(`[{"id":1,"method":"eth_chainId"},{"id":"x","method":"eth_sendRawTransaction","params":["0x02"]}]`))
	f.Add([]byte(`[]`))
	f.Add([]byte(`{"method":7}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		calls, batch := parseCalls(body)
		front := &Endpoint{}
		for _, c := range calls {
			front.record(c)
		}
		if len(calls) == 0 {
			return // no rule matches a request without calls
		}
		w := httptest.NewRecorder()
		rejectCalls(w, calls, batch, inject.Rule{})
		var one map[string]any
		var many []map[string]any
		if batch {
			if err := json.Unmarshal(w.Body.Bytes(), &many); err != nil || len(many) != len(calls) {
				t.Errorf("%d calls, reply %s: %v", len(calls), w.Body, err)
			}
		} else if err := json.Unmarshal(w.Body.Bytes(), &one); err != nil {
			t.Errorf("reply %s: %v", w.Body, err)
		}
	})
}
