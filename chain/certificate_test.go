package chain

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// TestFalseCertificateOfAnEndpoint checks that an endpoint whose certificate no known
// authority issued is sent no request.
func TestFalseCertificateOfAnEndpoint(t *testing.T) {
	var asked atomic.Int64
	node := &testNode{answer: constant(1)}
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		node.ServeHTTP(w, r)
	}))
	s.Config.ErrorLog = log.New(io.Discard, "", 0) // of handshakes meant to fail
	s.StartTLS()
	t.Cleanup(s.Close)
	known := x509.NewCertPool()
	known.AddCert(s.Certificate())
	for _, roots := range []*x509.CertPool{nil, known} {
		transport := newTransport(false)
		if transport.TLSClientConfig != nil {
			t.Errorf("the transport is set to %+v", transport.TLSClientConfig)
		}
		transport.Proxy, transport.DialContext = nil, func(ctx context.Context, network, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, network, s.Listener.Addr().String())
		}
		if roots != nil {
			transport.TLSClientConfig = &tls.Config{RootCAs: roots}
		}
		h, err := NewMultiClient([]Endpoint{{Chain: 1, URLs: []string{"https://example.com/rpc"}}}, Options{HTTP: &http.Client{Transport: transport}, Timeout: 2 * time.Second})
		if err != nil {
			t.Fatal(err)
		}
		defer h.Close()
		_, err = h.Reader(t.Context(), 1)
		if refused := err != nil && strings.Contains(err.Error(), "certificate"); refused != (roots == nil) || (asked.Load() > 0) != (roots != nil) {
			t.Errorf("authority known: %v; error %v after %d requests", roots != nil, err, asked.Load())
		}
	}
}
