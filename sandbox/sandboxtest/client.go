package sandboxtest

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"testing"
)

// Send sends a request as the wallet's adapters would. The body is sent as it is if it is
// []byte, else as JSON. Headers are pairs of name and value. The response body is closed
// at the end of the test.
func Send(t testing.TB, method, url string, body any, header ...string) *http.Response {
	t.Helper()
	raw, isRaw := body.([]byte)
	if !isRaw && body != nil {
		var err error
		if raw, err = json.Marshal(body); err != nil {
			t.Fatal(err)
		}
	}
	r, err := http.NewRequestWithContext(t.Context(), method, url, bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Accept", "application/json")
	r.Header.Set("Content-Type", "application/json")
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { resp.Body.Close() })
	return resp
}

// Ask sends a request and returns the status and body of the response.
func Ask(t testing.TB, method, url string, body any, header ...string) (status int, reply []byte) {
	t.Helper()
	resp := Send(t, method, url, body, header...)
	defer resp.Body.Close() // a test may send many requests
	reply, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, reply
}

// MustAsk sends a request, fails the test unless the status is 200, and decodes the body.
func MustAsk[T any](t testing.TB, method, url string, body any, header ...string) T {
	t.Helper()
	status, raw := Ask(t, method, url, body, header...)
	if status != http.StatusOK {
		t.Fatalf("%s %s: %d %s", method, url, status, raw)
	}
	return Decode[T](t, raw)
}

// Decode decodes JSON.
func Decode[T any](t testing.TB, raw []byte) T {
	t.Helper()
	var v T
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatalf("%v in %s", err, raw)
	}
	return v
}

// Example reads a recorded body.
func Example(t testing.TB, file string) any {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return Decode[any](t, raw)
}
