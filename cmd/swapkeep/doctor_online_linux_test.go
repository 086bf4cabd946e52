//go:build faults

package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

// rpcHost starts a node of chain 56 that refuses some methods as BNB's public hosts do, and
// returns its URL.
func rpcHost(t *testing.T, refuses ...string) string {
	began := time.Now().Unix()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var q struct {
			ID     json.RawMessage
			Method string
		}
		if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 1<<20)).Decode(&q); err != nil {
			http.Error(w, "no request", http.StatusBadRequest)
			return
		}
		result := map[string]string{
			"eth_chainId": `"0x38"`, "eth_blockNumber": `"0x3e8"`, "eth_getLogs": "[]", "eth_getBlockReceipts": "[]",
			"eth_getBlockByNumber": fmt.Sprintf(`{"number":"0x3e8","hash":"0x%064x","timestamp":"0x%x","baseFeePerGas":"0x0"}`, 1000, began),
			"eth_gasPrice":         `"0x5f5e100"`, "eth_maxPriorityFeePerGas": `"0x5f5e100"`,
		}[q.Method]
		for _, m := range refuses {
			if m == q.Method {
				result = ""
			}
		}
		if result == "" {
			_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32005,"message":"limit exceeded"}}`, q.ID)
			return
		}
		_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, q.ID, result)
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// With --online the doctor tries what swaps need at the RPC hosts in use, and says what to do
// about each that lacks it.
func TestDoctorOnline(t *testing.T) {
	w := newDoctorFixture(t)
	w.write(".config/swapkeep/config.toml", fmt.Sprintf("sandbox = true\n%s[networks.56]\nrpc = [%q, %q]\n", fixtureConfig, rpcHost(t, "eth_getLogs"), rpcHost(t, "eth_getBlockReceipts")))
	golden(t, "online", "$ swapkeep doctor --online\n"+w.doctor("--online"))
}
