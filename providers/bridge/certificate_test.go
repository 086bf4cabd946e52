package bridge

import (
	"crypto/x509"
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
)

// TestFalseCertificateOfTheSocket checks that a websocket whose certificate comes from no
// known authority does not get the key.
func TestFalseCertificateOfTheSocket(t *testing.T) {
	var asked atomic.Int64
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) }))
	s.Config.ErrorLog = log.New(io.Discard, "", 0) // logs the handshake, which must fail
	s.StartTLS()
	t.Cleanup(s.Close)
	conn, err := dial(t.Context(), strings.Replace(s.URL, "https", "wss", 1), "a-key")
	if conn != nil {
		_ = conn.Close()
	}
	if unknown := (x509.UnknownAuthorityError{}); !errors.As(err, &unknown) || asked.Load() != 0 {
		t.Errorf("%v after %d requests", err, asked.Load())
	}
}
