package dex

import (
	"errors"

	"swapkeep/swap"
)

// codeOf returns the code of a refusal, or "" for an error without one.
func codeOf(err error) swap.Code {
	var r *swap.Refusal
	if errors.As(err, &r) {
		return r.Code
	}
	return ""
}
