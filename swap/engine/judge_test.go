package engine

import (
	"swapkeep/swap"
)

func codes(fs []swap.Finding) (out []string) {
	for _, f := range fs {
		out = append(out, f.Code+":"+string(f.Severity))
	}
	return out
}
