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

// An UnreachableError is an ErrUnreachable with the network that cannot be read and the error of
// each host that failed.
type UnreachableError struct {
	Network string
	partial bool // some hosts answered, but fewer than the quorum
	errs    []error
}

func (e *UnreachableError) Is(target error) bool { return target == ErrUnreachable }
func (e *UnreachableError) Unwrap() []error      { return e.errs }

func (e *UnreachableError) Error() string {
	return fmt.Sprintf("%s: %v", e.Public(), errors.Join(e.errs...))
}

// Public returns a message that clients may see. It has the network, the host names and the
// reasons, but no URL, which may contain an API key, and no text from a node.
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
	message := "cannot reach " + e.Network
	if e.partial {
		message = "cannot reach enough RPC hosts of " + e.Network
	}
	if len(hosts) > 0 {
		message += " (" + strings.Join(hosts, ", ") + ")"
	}
	if len(reasons) > 0 {
		message += ": " + strings.Join(reasons, ", ")
	}
	return message
}

// hostFailure returns the name of the host that err is about, "" if unknown, and why it failed.
func hostFailure(err error) (host, reason string) {
	var status *statusError
	var transport *transportError
	switch {
	case errors.As(err, &status):
		return status.host, fmt.Sprintf("HTTP %d", status.status)
	case errors.As(err, &transport):
		return transport.host, transportReason(transport.err)
	case errors.Is(err, ErrWrongChain):
		return "", "an endpoint serves another chain"
	case errors.Is(err, errBehind):
		return "", errBehind.Error()
	}
	return "", "no usable answer"
}

// transportReason returns why a request got no usable answer.
func transportReason(err error) string {
	var lookup *net.DNSError
	var connection *net.OpError
	switch {
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded):
		return "no answer in time"
	case errors.Is(err, context.Canceled):
		return "cancelled"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "connection refused"
	case errors.As(err, &lookup):
		return "host name not found"
	case errors.As(err, &connection):
		return "connection failed"
	}
	return "invalid answer"
}
