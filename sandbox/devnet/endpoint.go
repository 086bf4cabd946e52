package devnet

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"

	"swapkeep/sandbox/inject"
)

const (
	maxRequest = 5 << 20
	maxSeen    = 10_000
)

// A Endpoint is a chain's JSON-RPC endpoint over HTTP and WebSocket. Fault rules apply by
// method to requests over HTTP, not to those over WebSocket.
type Endpoint struct {
	chain *Chain
	book  *inject.Book
	ws    http.Handler

	mu   sync.Mutex
	seen []RawTransaction
}

// A RawTransaction was submitted over HTTP, accepted or not.
type RawTransaction struct {
	Hash common.Hash   `json:"hash"` // zero if Raw cannot be decoded
	Raw  hexutil.Bytes `json:"raw"`
	At   time.Time     `json:"at"`
}

// NewEndpoint returns the endpoint of a chain.
func NewEndpoint(chain *Chain, book *inject.Book) *Endpoint {
	return &Endpoint{chain: chain, book: book, ws: chain.server.WebsocketHandler([]string{"*"})}
}

// Transactions lists the last 10,000 raw transactions submitted over HTTP, oldest first.
func (f *Endpoint) Transactions() []RawTransaction {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]RawTransaction{}, f.seen...)
}

// Reset clears the recorded transactions.
func (f *Endpoint) Reset() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.seen = nil
}

// A call is one JSON-RPC request.
type call struct {
	ID     json.RawMessage   `json:"id"`
	Method string            `json:"method"`
	Params []json.RawMessage `json:"params"`
}

func (f *Endpoint) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if strings.EqualFold(r.Header.Get("Upgrade"), "websocket") {
		f.ws.ServeHTTP(w, r)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxRequest))
	if err != nil {
		http.Error(w, err.Error(), http.StatusRequestEntityTooLarge)
		return
	}
	calls, batch := parseCalls(body)
	methods := make([]string, len(calls))
	for i, c := range calls {
		methods[i] = c.Method
		f.record(c)
	}
	carryOut := func(w http.ResponseWriter, r *http.Request) {
		again := r.Clone(r.Context())
		again.Body, again.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		f.chain.server.ServeHTTP(w, again)
	}
	alter := func(body []byte, lie inject.Rule) ([]byte, error) { return alterReplies(body, calls, batch, lie) }
	reject := func(w http.ResponseWriter, rule inject.Rule) { rejectCalls(w, calls, batch, rule) }
	f.book.Decide(methods...).Serve(w, r, carryOut, alter, reject)
}

// parseCalls decodes a request or a batch. Anything else yields no calls, and the chain's
// own server reports the error.
func parseCalls(body []byte) (calls []call, batch bool) {
	if trimmed := bytes.TrimSpace(body); len(trimmed) > 0 && trimmed[0] == '[' {
		_ = json.Unmarshal(body, &calls)
		return calls, true
	}
	var one call
	if json.Unmarshal(body, &one) == nil && one.Method != "" {
		calls = []call{one}
	}
	return calls, false
}

// record records a submitted transaction.
func (f *Endpoint) record(c call) {
	if c.Method != "eth_sendRawTransaction" || len(c.Params) == 0 {
		return
	}
	seen := RawTransaction{At: time.Now()}
	if json.Unmarshal(c.Params[0], &seen.Raw) != nil {
		return
	}
	var tx types.Transaction
	if tx.UnmarshalBinary(seen.Raw) == nil {
		seen.Hash = tx.Hash()
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.seen = append(f.seen, seen); len(f.seen) > maxSeen {
		f.seen = f.seen[1:]
	}
}

// alterReplies applies a lie to the reply of each call it matches. The pointer is
// relative to the reply: /result is the method's result.
func alterReplies(body []byte, calls []call, batch bool, lie inject.Rule) ([]byte, error) {
	if !batch {
		return inject.Replace(body, lie.Pointer, lie.Value)
	}
	var replies []json.RawMessage
	if err := json.Unmarshal(body, &replies); err != nil {
		return nil, err
	}
	if len(replies) != len(calls) {
		return nil, errors.New("the batch has notifications, so its replies have no known place")
	}
	for i, c := range calls {
		if !lie.Matches(c.Method) {
			continue
		}
		altered, err := inject.Replace(replies[i], lie.Pointer, lie.Value)
		if err != nil {
			return nil, errors.New("reply " + strconv.Itoa(i) + ": " + err.Error())
		}
		replies[i] = altered
	}
	return json.Marshal(replies)
}

// rejectCalls answers every call of a request with the rule's error.
func rejectCalls(w http.ResponseWriter, calls []call, batch bool, rule inject.Rule) {
	type failure struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	}
	type reply struct {
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Error   failure         `json:"error"`
	}
	if rule.Code == 0 {
		rule.Code = -32000
	}
	if rule.Message == "" {
		rule.Message = "fault injected by the sandbox"
	}
	replies := make([]reply, len(calls))
	for i, c := range calls {
		replies[i] = reply{"2.0", c.ID, failure{rule.Code, rule.Message}}
	}
	var out any = replies
	if !batch {
		out = replies[0]
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(out)
}
