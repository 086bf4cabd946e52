package chain

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
	"syscall"
)

// An UnreachableError is an ErrUnreachable that names the network and the hosts that
// failed.
type UnreachableError struct {
	Network string
	partial bool // some hosts answered, fewer than the quorum
	errs    []error
}

func (e *UnreachableError) Is(target error) bool { return target == ErrUnreachable }
func (e *UnreachableError) Unwrap() []error      { return e.errs }

func (e *UnreachableError) Error() string {
	return fmt.Sprintf("%s: %v", e.Public(), errors.Join(e.errs...))
}

// Public returns a text for clients: network, hosts and reasons, but no URL and nothing
// that a node sent.
func (e *UnreachableError) Public() string {
	var hosts, reasons []string
	for _, err := range e.errs {
		host, reason := hostFailure(err)
		if host != "" && !slices.Contains(hosts, host) {
			hosts = append(hosts, host)
		}
		if !slices.Contains(reasons, reason) {
			reasons = append(reasons, reason)
		}
	}
	said := "cannot reach " + e.Network
	if e.partial {
		said = "cannot reach enough RPC hosts of " + e.Network
	}
	if len(hosts) > 0 {
		said += " (" + strings.Join(hosts, ", ") + ")"
	}
	if len(reasons) > 0 {
		said += ": " + strings.Join(reasons, ", ")
	}
	return said
}

// hostFailure returns the host that err is about, "" if unknown, and why it failed.
func hostFailure(err error) (host, reason string) {
	var status *statusError
	var failed *transportError
	switch {
	case errors.As(err, &status):
		return status.host, fmt.Sprintf("HTTP %d", status.status)
	case errors.As(err, &failed):
		return failed.host, transportReason(failed.err)
	case errors.Is(err, ErrWrongChain):
		return "", "an endpoint serves another chain"
	case errors.Is(err, errBehind):
		return "", errBehind.Error()
	}
	return "", "no usable answer"
}

// transportReason says why no answer came.
func transportReason(err error) string {
	var name *net.DNSError
	var dial *net.OpError
	switch {
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded):
		return "no answer in time"
	case errors.Is(err, context.Canceled):
		return "cancelled"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "connection refused"
	case errors.As(err, &name):
		return "host name not found"
	case errors.As(err, &dial):
		return "connection failed"
	}
	return "invalid answer"
}
