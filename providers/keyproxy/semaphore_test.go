package keyproxy

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"swapkeep/test/await"
)

// others makes forty calls of the second installation; each must succeed.
func (d testProxy) others(t *testing.T) {
	t.Helper()
	codes := map[string]int{}
	for range 20 {
		for _, a := range []testRequest{get("/v1/orders"), post("/v1/quote", quote(""))} {
			g := d.send(t, with(a, header("Authorization", "Bearer "+otherText)))
			codes[fmt.Sprint(g.status, g.code)]++
		}
	}
	if codes["200"] != 40 {
		t.Errorf("another installation's forty calls: %v", codes)
	}
}

// raw sends the start of a request on its own connection and does not read the answer.
func (d testProxy) raw(t *testing.T, request string) {
	t.Helper()
	address := strings.TrimPrefix(d.url, "http://")
	c, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	if _, err := io.WriteString(c, strings.ReplaceAll(request, "HOST", address)); err != nil {
		t.Fatal(err)
	}
}

// busy is how many calls to an endpoint were refused for lack of a place.
func (d testProxy) busy(endpoint string) uint64 {
	d.metrics.mu.Lock()
	defer d.metrics.mu.Unlock()
	return d.metrics.calls[series{endpoint, string(busy)}]
}

const slowHead = "POST /v1/quote HTTP/1.1\r\nHost: HOST\r\nAuthorization: Bearer TOKEN\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{"

// TestSlowBodiesOfOneInstallation: bodies that do not arrive hold no call's place, and no
// more of the bodies' places than one installation may have.
func TestSlowBodiesOfOneInstallation(t *testing.T) {
	d := open(t, newProvider(t, nil), nil)
	for range 70 {
		d.raw(t, strings.Replace(slowHead, "TOKEN", testToken, 1))
	}
	await.Until(t, 20*time.Second, "what is too much is refused", func() bool { return d.busy("/quote") >= 6 })
	d.others(t)
}

// TestCallsOfOneInstallation: a thousand calls that the provider does not answer leave
// places for others, and refused calls use no quota.
func TestCallsOfOneInstallation(t *testing.T) {
	release := make(chan struct{})
	var acquired atomic.Int64
	up := newProvider(t, func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/v1/swaps") {
			acquired.Add(1)
			<-release
		}
		w.Header().Set("Content-Type", jsonType)
		_, _ = io.WriteString(w, `{}`)
	})
	t.Cleanup(func() { close(release) }) // before the provider's Close waits for its calls
	d := open(t, up, func(c *Config) { c.Limits.Rate, c.Limits.Burst = 100, 200 })
	for range 1000 {
		d.raw(t, "GET /v1/swaps HTTP/1.1\r\nHost: HOST\r\nAuthorization: Bearer "+testToken+"\r\n\r\n")
	}
	await.Until(t, 20*time.Second, "what is too much is refused", func() bool { return d.busy("/swaps") >= 936 })
	d.others(t)
	if n := acquired.Load(); n > 64 {
		t.Errorf("%d calls are under way", n)
	}
}

// TestStrangersTakeNothing: a request without a known token is answered before its body
// arrives, and its connection is closed.
func TestStrangersTakeNothing(t *testing.T) {
	d := open(t, newProvider(t, nil), nil)
	address := strings.TrimPrefix(d.url, "http://")
	for name, request := range map[string]string{
		"slow body":    strings.Replace(slowHead, "TOKEN", testToken+"x", 1),
		"many at once": strings.Repeat("GET /v1/orders HTTP/1.1\r\nHost: HOST\r\n\r\n", 100),
		"health":       strings.Repeat("GET /health HTTP/1.1\r\nHost: HOST\r\n\r\n", 100),
		"foreign host": strings.Replace(slowHead, "HOST", "other.example", 1),
	} {
		c, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		_ = c.SetDeadline(time.Now().Add(4 * time.Second)) // shorter than BodyTime
		_, _ = io.WriteString(c, strings.ReplaceAll(request, "HOST", address))
		all, err := io.ReadAll(c)
		if n := strings.Count(string(all), "HTTP/1.1 "); err != nil && !strings.Contains(err.Error(), "reset") || n != 1 {
			t.Errorf("%s: %d answers, then %v", name, n, err)
		}
		_ = c.Close()
	}
}

// TestPlaces: nobody holds more than is left free, the last places are for those that hold
// none, and returned places can be taken again.
func TestPlaces(t *testing.T) {
	p := newFairSemaphore(12)
	var installs []*install
	acquired := func(in *install) (n int) {
		for p.acquire(in) == nil {
			n++
		}
		return n
	}
	for i, want := range []int{6, 3, 1, 1, 1, 0} {
		in := &install{name: fmt.Sprint(i)}
		installs = append(installs, in)
		if n := acquired(in); n != want {
			t.Errorf("installation %d holds %d, want %d", i, n, want)
		}
	}
	for range 6 {
		p.release(installs[0])
	}
	if n := acquired(installs[5]); n != 3 || p.inUse() != 9 {
		t.Errorf("%d after some were given back, %d taken", n, p.inUse())
	}
	if full := p.acquire(installs[1]); full == nil || full.code != busy || full.after != time.Second {
		t.Errorf("refused with %v", full)
	}
}
