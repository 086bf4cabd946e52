package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"
)

const (
	rpcPath   = "/rpc/"
	askedPath = "/asked"

	maxAsk   = 1 << 20 // bytes of a request
	maxAsked = 100     // requests that are remembered
)

// An outside simulates what the daemon reaches over HTTP, on loopback: a node for each
// network, where every account has 10 coins, a DEX that answers at once, and the other
// providers, which answer with a delay. It is a separate process, so that its work counts
// neither for the daemon nor for this program.
type outside struct {
	*child
	base string
}

// openOutside starts this program again as the outside services.
func openOutside() (*outside, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	c, err := spawn(exec.Command(self, "-outside"))
	if err != nil {
		return nil, err
	}
	line, err := bufio.NewReader(c.stdout).ReadString('\n')
	if err != nil {
		return nil, errors.Join(fmt.Errorf("the outside world did not start: %w", err), c.close())
	}
	return &outside{c, strings.TrimSpace(line)}, nil
}

func (o *outside) rpcURL(id uint64) string { return fmt.Sprint(o.base, rpcPath, id) }

// An recordedRequest is one recorded request.
type recordedRequest struct {
	Path string
	Body []byte
}

// asked returns the requests since its last call.
func (o *outside) asked() (all []recordedRequest, err error) {
	resp, err := http.Get(o.base + askedPath)
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	return all, json.NewDecoder(resp.Body).Decode(&all)
}

// repeat sends requests again, one after the other, with plain net/http.
func (o *outside) repeat(client *http.Client, asked []recordedRequest) error {
	for _, a := range asked {
		resp, err := client.Post(o.base+a.Path, "application/json", bytes.NewReader(a.Body))
		if err != nil {
			return err
		}
		_, err = io.Copy(io.Discard, resp.Body)
		if err = errors.Join(err, resp.Body.Close()); err != nil {
			return err
		}
		if resp.StatusCode != http.StatusOK {
			return fmt.Errorf("%s: status %d", a.Path, resp.StatusCode)
		}
	}
	return nil
}

// world serves the outside services until stdin ends.
type world struct {
	mu    sync.Mutex
	asked []recordedRequest
}

func runOutside() error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	server := &http.Server{Handler: &world{}, ReadHeaderTimeout: 10 * time.Second}
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		_ = server.Close()
	}()
	fmt.Printf("http://%s\n", l.Addr())
	if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

func (o *world) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	if r.URL.Path == askedPath {
		_ = json.NewEncoder(w).Encode(o.remembered(nil))
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxAsk))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	o.remembered(&recordedRequest{r.URL.Path, body})
	switch network, isRPC := strings.CutPrefix(r.URL.Path, rpcPath); {
	case isRPC:
		_, _ = w.Write(nodeReply(network, body))
	case !answer(w, r.URL.Path):
		http.NotFound(w, r)
	}
}

// remembered adds a request to those remembered or, without one, takes them all.
func (o *world) remembered(a *recordedRequest) (all []recordedRequest) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if a == nil {
		all, o.asked = o.asked, nil
		return all
	}
	if len(o.asked) < maxAsked {
		o.asked = append(o.asked, *a)
	}
	return nil
}

// nodeReply answers what a quote, or an order that waits for its transaction, asks of a
// node: the transaction is in no block. Any other method is an error and would make the
// quote fail.
func nodeReply(network string, body []byte) []byte {
	var call struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
	}
	if err := json.Unmarshal(body, &call); err != nil {
		return []byte(`{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"one call at a time"}}`)
	}
	var id uint64
	_, _ = fmt.Sscan(network, &id)
	results := map[string]string{
		"eth_chainId":               fmt.Sprintf(`"0x%x"`, id),
		"eth_getBalance":            `"0x8ac7230489e80000"`,
		"eth_getTransactionReceipt": "null",
	}
	result, ok := results[call.Method]
	if !ok {
		return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no method %s here"}}`, call.ID, call.Method)
	}
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"result":%s}`, call.ID, result)
}
