package dex

import (
	"errors"

	"swapkeep/swap"
)

// codeOf is the code of a refusal, or "" when the error has none.
func codeOf(err error) swap.Code {
	var r *swap.Refusal
	if errors.As(err, &r) {
		return r.Code
	}
	return ""
}
