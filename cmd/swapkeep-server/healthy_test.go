package main

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

func TestHealthy(t *testing.T) {
	answer := func(status int) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) })
	}
	plain, secured := httptest.NewServer(answer(200)), httptest.NewTLSServer(answer(204))
	ill, moved := httptest.NewServer(answer(503)), httptest.NewServer(http.RedirectHandler(plain.URL, http.StatusFound))
	gone := httptest.NewServer(answer(200))
	gone.Close()
	for _, s := range []*httptest.Server{plain, secured, ill, moved} {
		t.Cleanup(s.Close)
	}
	for address, well := range map[string]bool{
		plain.URL: true, secured.URL: true, ill.URL: false, moved.URL: false, gone.URL: false,
		"": false, "http://198.51.100.1/": false, "http://localhost/": false, "file:///etc/passwd": false,
	} {
		if err := healthy(t.Context(), address, ""); (err == nil) != well {
			t.Errorf("%q: %v", address, err)
		}
	}
}

// TestHealthyHost: the price API accepts only its own Host name.
func TestHealthyHost(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Host != "prices.example.com" {
			w.WriteHeader(http.StatusMisdirectedRequest)
		}
	}))
	t.Cleanup(s.Close)
	if err := healthy(t.Context(), s.URL, "prices.example.com"); err != nil {
		t.Error(err)
	}
	if err := healthy(t.Context(), s.URL, ""); err == nil {
		t.Error("another name was answered")
	}
}
