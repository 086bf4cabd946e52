package web

import (
	"errors"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
	"unicode"
)

// guard checks every request first: its Host, the web page it comes from, and its size. It
// also sets the headers that tell browsers which pages may read the answer.
func (a *API) guard(w http.ResponseWriter, r *http.Request) *Problem {
	if a.vary != nil {
		w.Header()["Vary"] = a.vary
	}
	if r.ContentLength != 0 {
		// net/http would wait for a small body before it closes. The error is ignored:
		// without a connection to set a deadline on there is nothing to wait for.
		_ = http.NewResponseController(w).SetReadDeadline(time.Now())
	}
	switch {
	case !(*a.hosts.Load())[r.Host] || r.URL.User != nil || r.URL.Scheme != "" && r.URL.Scheme != "http":
		return wrongHost.problem("the Host header is not one of this service").with("Connection", "close")
	case len(r.RequestURI) > a.limits.URL:
		return longURL.problem("the URL is too long").with("Connection", "close")
	case r.ContentLength != 0:
		// Closing leaves the body unread, whatever its framing says.
		return badBody.problem("the request has a body").with("Connection", "close")
	}
	return a.guardOrigin(w, r)
}

// guardOrigin rejects requests from pages of a foreign origin. Browsers send Origin, or
// else Sec-Fetch-Site.
func (a *API) guardOrigin(w http.ResponseWriter, r *http.Request) *Problem {
	corp := corpSameOrigin
	if from, sent := r.Header["Origin"]; sent {
		switch {
		case len(from) == 1 && a.origins[from[0]]:
			corp = corpCrossOrigin
			h := w.Header()
			h["Access-Control-Allow-Origin"] = from
			h["Access-Control-Expose-Headers"] = exposed
		case len(from) == 1 && (from[0] == "http://"+r.Host || from[0] == "https://"+r.Host):
		default:
			return crossOrigin.problem("the request comes from a web page of another origin")
		}
	} else if site, sent := r.Header["Sec-Fetch-Site"]; sent && !isOwnSite(site) && !opensDocs(r) {
		return crossOrigin.problem("the request comes from a web page of another site")
	}
	w.Header()["Cross-Origin-Resource-Policy"] = corp
	return nil
}

var exposed = []string{"ETag, Retry-After, " + StaleHeader}

func isOwnSite(site []string) bool {
	return len(site) == 1 && (site[0] == "same-origin" || site[0] == "none")
}

// opensDocs reports whether a link to the documentation was followed.
func opensDocs(r *http.Request) bool {
	return r.URL.Path == docsPath && r.Header.Get("Sec-Fetch-Mode") == "navigate" && r.Header.Get("Sec-Fetch-Dest") == "document"
}

func isPreflight(r *http.Request) bool { return r.Method == http.MethodOptions }

// preflight answers a CORS preflight of an allowed page.
func (a *API) preflight(w http.ResponseWriter, r *http.Request) bool {
	if !a.origins[r.Header.Get("Origin")] || r.Header.Get("Access-Control-Request-Method") == "" {
		return false
	}
	h := w.Header()
	h.Set("Access-Control-Allow-Methods", readMethods)
	h.Set("Access-Control-Allow-Headers", keyHeader+", If-None-Match, Last-Event-ID")
	h.Set("Access-Control-Max-Age", "600")
	w.WriteHeader(http.StatusNoContent)
	return true
}

// hostLetters are all characters that a browser writes in a host and port; a pattern such
// as *.example has others.
const hostLetters = "abcdefghijklmnopqrstuvwxyz0123456789-_.:[]"

// parseOrigin returns an origin in the form that browsers send.
func parseOrigin(o string) (string, error) {
	u, err := url.Parse(o)
	if err != nil {
		return "", err
	}
	plain := !strings.ContainsFunc(u.Host, func(r rune) bool { return !strings.ContainsRune(hostLetters, unicode.ToLower(r)) })
	if u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || !plain {
		return "", errors.New("not an http origin")
	}
	usual := map[string]string{"http": ":80", "https": ":443"}[u.Scheme]
	host := strings.TrimSuffix(strings.TrimSuffix(strings.ToLower(u.Host), usual), ":")
	return u.Scheme + "://" + host, nil
}

// loopbackNames are the names of a loopback listener.
var loopbackNames = []string{"127.0.0.1", "localhost", "::1"}

// hostsOf returns the Host headers that are valid for a listener.
func hostsOf(listen net.Addr) []string {
	host, port, err := net.SplitHostPort(listen.String())
	if err != nil {
		return nil
	}
	names := []string{host}
	if ip := net.ParseIP(host); ip != nil && ip.IsLoopback() {
		names = append(names, loopbackNames...)
	}
	var hosts []string
	for _, n := range names {
		hosts = append(hosts, net.JoinHostPort(n, port))
		if port == "80" { // browsers omit it
			hosts = append(hosts, strings.TrimSuffix(net.JoinHostPort(n, port), ":80"))
		}
	}
	return hosts
}
