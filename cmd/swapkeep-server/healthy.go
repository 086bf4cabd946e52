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
		Use: "healthy", Short: "Check the health of the service on this machine, for a container's health check", Args: cobra.NoArgs,
		Long: "healthy sends a GET request to a loopback address and succeeds on a 2xx status: the price API's\n" +
			"/api/v1/health, or the proxy's /health. The certificate is not checked, because it is for the\n" +
			"service's public name, and nothing but the request is sent.",
		RunE: func(c *cobra.Command, _ []string) error { return healthy(c.Context(), address, host) },
	}
	c.Flags().StringVar(&address, "url", os.Getenv(healthVariable), "`address` to ask (default $"+healthVariable+")")
	c.Flags().StringVar(&host, "host", os.Getenv(healthHostVariable), "`name` for the Host header, if the service accepts only its own (default $"+healthHostVariable+")")
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
