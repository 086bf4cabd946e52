package bridgesim

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/ethclient"

	"swapkeep/sandbox/operator"
)

// receiptNode serves a chain of two blocks in which every transaction has that status.
func receiptNode(t *testing.T, status int) *ethclient.Client {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var call struct {
			ID     json.RawMessage
			Method string
		}
		if err := json.NewDecoder(r.Body).Decode(&call); err != nil {
			t.Error(err)
		}
		result := `"0x2"`
		if call.Method == "eth_getTransactionReceipt" {
			result = fmt.Sprintf(`{"status":"0x%x","blockNumber":"0x1","cumulativeGasUsed":"0x1","gasUsed":"0x1","logs":[],"logsBloom":"0x%s","transactionHash":"%s"}`,
				status, strings.Repeat("00", 256), common.Hash{7})
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, call.ID, result)
	}))
	t.Cleanup(server.Close)
	client, err := ethclient.Dial(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	return client
}

// TestRevertedRefund checks that an order whose refund reverted is not refunded: it fails,
// and its refund is sent again.
func TestRevertedRefund(t *testing.T) {
	for status, want := range []state{
		{status: failed, failReason: "SLIPPAGE"},
		{status: refunded, failReason: "SLIPPAGE", isRefund: true, payment: common.Hash{7}, details: "Refunded on origin"},
	} {
		o := &order{offer: &offer{origin: &market{Chain: operator.Chain{Client: receiptNode(t, status)}}}}
		got, err := (&Server{}).refunding(t.Context(), o, state{status: pending, failReason: "SLIPPAGE", isRefund: true, payment: common.Hash{7}})
		want.since = got.since
		if err != nil || got != want {
			t.Errorf("a refund with receipt status %d: %+v, %v; want %+v", status, got, err, want)
		}
	}
}
