package rest

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
)

// impostor serves every host with a certificate that its own authority issued for
// example.com.
func impostor(t *testing.T) (s *httptest.Server, asked *atomic.Int64) {
	t.Helper()
	asked = &atomic.Int64{}
	s = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		reply(w, 200, `{"impostor":true}`)
	}))
	s.Config.ErrorLog = log.New(io.Discard, "", 0) // of handshakes meant to fail
	s.StartTLS()
	t.Cleanup(s.Close)
	return s, asked
}

// through returns a client of base whose connections reach the impostor.
func through(t *testing.T, base string, s *httptest.Server, roots *x509.CertPool) *Client {
	t.Helper()
	c, err := New(Config{Name: "test", Base: base, Limits: quick()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	transport := c.http.Transport.(*http.Transport)
	transport.Proxy, transport.DialContext = nil, func(ctx context.Context, network, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, network, s.Listener.Addr().String())
	}
	transport.TLSClientConfig.RootCAs = roots
	return c
}

// TestFalseCertificates checks that a server gets no request if no known authority
// vouches for it, or only for another host.
func TestFalseCertificates(t *testing.T) {
	s, asked := impostor(t)
	var seen atomic.Value // what the network sees: the host's name is not hidden
	s.TLS.GetConfigForClient = func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
		seen.Store(hello.ServerName)
		return nil, nil
	}
	known := x509.NewCertPool()
	known.AddCert(s.Certificate())
	unknown, another := &x509.UnknownAuthorityError{}, &x509.HostnameError{}
	for _, c := range []struct {
		base  string
		roots *x509.CertPool
		want  any
	}{
		{"https://example.com/v1/", nil, unknown},
		{"https://api.example.org/v1/", known, another},
	} {
		_, err := through(t, c.base, s, c.roots).Do(t.Context(), Call{Method: "GET", Path: "/quote"})
		if err == nil || !errors.As(err, c.want) {
			t.Errorf("%s: %v", c.base, err)
		}
	}
	if seen.Load() != "api.example.org" {
		t.Errorf("the network saw the host %v", seen.Load())
	}
	if asked.Load() != 0 {
		t.Errorf("the impostor was asked %d times", asked.Load())
	}
	if _, err := through(t, "https://example.com/v1/", s, known).Do(t.Context(), Call{Method: "GET", Path: "/quote"}); err != nil {
		t.Errorf("with its authority known: %v", err)
	}
}

// asksOutside makes the test binary a client, in an environment that the test sets.
const asksOutside = "TEST_BINARY_ASKS"

// TestProxyAndAuthorityOfTheEnvironment checks that the user's environment is trusted:
// their proxy, with an authority of theirs that vouches for any host, can be the other
// end.
func TestProxyAndAuthorityOfTheEnvironment(t *testing.T) {
	if base := os.Getenv(asksOutside); base != "" {
		c, err := New(Config{Name: "test", Base: base, Limits: quick()})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		r, err := c.Do(t.Context(), Call{Method: "GET", Path: "/quote"})
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("heard %s", r.Body)
		return
	}
	if runtime.GOOS != "linux" {
		t.Skip("not run: other systems have their own store of authorities, and no variable for it")
	}
	s, _ := impostor(t)
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { tunnel(w, r, s.Listener.Addr().String()) }))
	t.Cleanup(proxy.Close)
	file := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		env      []string
		received bool
	}{
		"proxy and authority": {[]string{"HTTPS_PROXY=" + proxy.URL, "SSL_CERT_FILE=" + file}, true},
		"proxy alone":         {[]string{"HTTPS_PROXY=" + proxy.URL}, false},
	} {
		cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
		cmd.Env = append(c.env, asksOutside+"=https://example.com/v1/")
		out, _ := cmd.CombinedOutput()
		if received := strings.Contains(string(out), `heard {"impostor":true}`); received != c.received {
			t.Errorf("%s: heard %v\n%s", name, received, out)
		}
	}
}

// tunnel answers CONNECT as a proxy does, but connects to a host of its choice.
func tunnel(w http.ResponseWriter, r *http.Request, to string) {
	far, err := net.Dial("tcp", to)
	if err != nil || r.Method != http.MethodConnect {
		http.Error(w, "no", http.StatusBadGateway)
		return
	}
	near, _, err := w.(http.Hijacker).Hijack()
	if err != nil {
		_ = far.Close()
		return
	}
	_, _ = io.WriteString(near, "HTTP/1.1 200 OK\r\n\r\n")
	go func() { _, _ = io.Copy(far, near); _ = far.Close() }()
	go func() { _, _ = io.Copy(near, far); _ = near.Close() }()
}

// TestTransportChecksCertificates checks that no setting of the transport disables the
// check.
func TestTransportChecksCertificates(t *testing.T) {
	c := newTransport(quick()).TLSClientConfig
	if c.InsecureSkipVerify || c.VerifyConnection != nil || c.VerifyPeerCertificate != nil || c.RootCAs != nil || c.MinVersion < tls.VersionTLS12 {
		t.Errorf("the transport is set to %+v", c)
	}
}
