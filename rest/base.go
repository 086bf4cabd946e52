package rest

import (
	"errors"
	"net"
	"net/url"
	"strings"
)

// Reach says where a base URL may point.
type Reach int

// The reaches. Loopback may be plain http; everything else must be https.
const (
	PublicOnly       Reach = iota // https only, no loopback
	PublicOrLoopback              // also a service on this machine that the user named
	LoopbackOnly                  // loopback only: the sandbox
)

// CheckBase refuses the base URLs that [New] refuses, for a service that is not only
// called through a Client.
func CheckBase(raw string, r Reach) error {
	_, err := parseBase(raw, r)
	return err
}

// parseBase checks a base URL. It refuses one that would leak the call, or send it
// somewhere the user did not name.
func parseBase(raw string, r Reach) (*url.URL, error) {
	u, err := url.Parse(strings.TrimRight(raw, "/"))
	if err != nil {
		return nil, errors.New("not a url") // the parser's text repeats the input
	}
	own := isLoopback(u.Hostname())
	switch {
	case u.Host == "" || u.Opaque != "":
		return nil, errors.New("needs the form https://host/path")
	case u.User != nil:
		return nil, errors.New("must not carry a user name or password")
	case u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return nil, errors.New("must not carry a query or fragment")
	case own && r == PublicOnly:
		return nil, errors.New("points at this machine; only the sandbox may")
	case !own && r == LoopbackOnly:
		return nil, errors.New("must point at this machine: the sandbox reaches nothing else")
	case u.Scheme != "https" && !(u.Scheme == "http" && own):
		return nil, errors.New("must be https")
	}
	return u, nil
}

// isLoopback judges by the name alone; nothing is resolved.
func isLoopback(host string) bool {
	if ip := net.ParseIP(host); ip != nil {
		return ip.IsLoopback() || ip.IsUnspecified()
	}
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	return host == "localhost" || strings.HasSuffix(host, ".localhost")
}
