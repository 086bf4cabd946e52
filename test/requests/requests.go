// Package requests has what tests that play a user put into their requests to the daemon, and
// read the name of its refusals.
package requests

import (
	"errors"
	"slices"

	"github.com/google/uuid"

	"swapkeep/host/protocol"
)

// Password of the test wallets, which are created anew each time.
const Password = "correct horse battery staple"

// NewUUID returns the uuid of a new request.
func NewUUID() protocol.UUID { return protocol.UUID(uuid.NewString()) }

// Acks returns the codes of the findings that must be acknowledged, each once.
func Acks(all []protocol.Finding) (codes []string) {
	for _, f := range all {
		if f.Severity == "acknowledge" && !slices.Contains(codes, f.Code) {
			codes = append(codes, f.Code)
		}
	}
	return codes
}

// ErrorName returns the name of the daemon's error, or "" if err is none of its errors.
func ErrorName(err error) string {
	var said *protocol.Error
	if errors.As(err, &said) {
		return said.Name
	}
	return ""
}
