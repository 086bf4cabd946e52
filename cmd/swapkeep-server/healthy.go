package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"time"

	"github.com/spf13/cobra"
)

// Environment variables with the defaults of the flags.
const (
	healthVariable     = "SWAPKEEP_SERVER_HEALTH"
	healthHostVariable = "SWAPKEEP_SERVER_HEALTH_HOST"
)

const askTime = 4 * time.Second

func healthyCommand() *cobra.Command {
	var address, host string
	c := &cobra.Command{
		Use: "healthy", Short: "Ask the service on this machine whether it is well; for a container's health check", Args: cobra.NoArgs,
		Long: "healthy asks an address on loopback, by GET, and succeeds on a status of 2xx: the price API's\n" +
			"/api/v1/health, or the proxy's /health. The certificate is not checked: it is for the service's\n" +
			"name, and nothing is sent but the question.",
		RunE: func(c *cobra.Command, _ []string) error { return healthy(c.Context(), address, host) },
	}
	c.Flags().StringVar(&address, "url", os.Getenv(healthVariable), "`address` to ask (default $"+healthVariable+")")
	c.Flags().StringVar(&host, "host", os.Getenv(healthHostVariable), "`name` that the service goes by, where it answers to no other (default $"+healthHostVariable+")")
	return c
}

var errNotLoopback = errors.New("give an http or https address on loopback with --url or " + healthVariable)

func healthy(ctx context.Context, address, host string) error {
	u, err := url.Parse(address)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") {
		return errNotLoopback
	}
	if ip, err := netip.ParseAddr(u.Hostname()); err != nil || !ip.IsLoopback() {
		return errNotLoopback
	}
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return err
	}
	request.Host = host // empty: the URL's host
	client := http.Client{
		Transport: &http.Transport{
			DialContext:     (&net.Dialer{}).DialContext,
			TLSClientConfig: &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS12}, //nolint:gosec // on loopback, see above
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	reply, err := client.Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = reply.Body.Close() }()
	if reply.StatusCode/100 != 2 {
		return fmt.Errorf("the service answers %s", reply.Status)
	}
	return nil
}
