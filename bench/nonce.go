package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strconv"
)

// nonceSignatures are compared; the statistic of a difference grows with their root.
const nonceSignatures = 1_000_000

var reported = regexp.MustCompile(`([0-9.e+-]+) \|t\|`)

// measureNonces runs the benchmark of package keys, which tests whether the signing time
// reveals nonces that begin with zeros. Only that package can choose a nonce.
func measureNonces(ctx context.Context, l *lab) (sides, error) {
	times := strconv.Itoa(l.sampleCount(nonceSignatures)) + "x"
	cmd := exec.CommandContext(ctx, "go", "test", "-run", "^$", "-bench", "^BenchmarkNonceTiming$", "-benchtime", times, "swapkeep/keys")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	out, err := cmd.CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("%w\n%s", err, out)
	}
	found := reported.FindSubmatch(out)
	if found == nil {
		return nil, fmt.Errorf("no figure in\n%s", out)
	}
	t, err := strconv.ParseFloat(string(found[1]), 64)
	return sides{{t}}, err
}
