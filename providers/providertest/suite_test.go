package providertest

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// lenienceVariable is the variable that gives [TestToy] a lenient toy, in a separate process.
const lenienceVariable = "PROVIDERTEST_BLIND"

// TestToy: the suite accepts an honest provider.
func TestToy(t *testing.T) { Hostile(t, toySuite(lenience(os.Getenv(lenienceVariable)))) }

// runToy runs TestToy in a separate process and returns its output and whether it passed.
func runToy(t *testing.T, blind lenience, more ...string) (string, bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	c := exec.CommandContext(ctx, os.Args[0], "-test.run=^TestToy$")
	c.Env = append(append(os.Environ(), lenienceVariable+"="+string(blind)), more...)
	out, err := c.CombinedOutput()
	if _, failed := err.(*exec.ExitError); err != nil && !failed {
		t.Fatal(err)
	}
	return string(out), err == nil
}

// TestSuiteFails: every lenience is found and reported by name.
func TestSuiteFails(t *testing.T) {
	const unexcused = "no reason says why that is harmless"
	for blind, want := range map[lenience][]string{
		anyAmount:     {"TestToy/signed/base/calldata", "word 1: one more is accepted, and " + unexcused, "word 1: the maximum is accepted"},
		anyRecipient:  {"TestToy/signed/base/calldata", "word 2: the attacker is accepted, and " + unexcused},
		anyTarget:     {"TestToy/signed/base/calldata", "to the attacker: accepted", "TestToy/leaves/flows/base/build:to", "the attacker (" + Attacker + "): accepted, and changes [step0.call]"},
		anySpender:    {"TestToy/leaves/flows/base/build:spender", "the attacker (" + Attacker + "): accepted, and changes [spender]"},
		anyMinimum:    {"TestToy/leaves/flows/base/quote:minimum", "refused without a code: quote: an offer of 2000 with a minimum of 0"},
		anyTail:       {"TestToy/signed/base/calldata", "length: 32 bytes more is accepted, and " + unexcused},
		anyName:       {"TestToy/leaves/flows/base/quote:", "with a name twice, at : accepted, and " + unexcused, "with a name in another case beside it, at : accepted"},
		noName:        {"TestToy/leaves/flows/base/quote:", "with a field more, at : read whole is false, and the outcome"},
		withoutCodes:  {"TestToy/leaves/flows/base/build:to", "refused without a code", "TestToy/attacks/a_lie", "want undecodable"},
		withoutReason: {"TestToy/leaves/flows/base/build:comment", "changed (swaps everythingx), at comment: accepted, and " + unexcused},
		idleReason:    {"TestToy/leaves", "the reason for build:to is not needed"},
		toleratedLie:  {"TestToy/attacks/a_lie", "want undecodable (), got <nil>"},
	} {
		t.Run(string(blind), func(t *testing.T) {
			t.Parallel()
			out, taken := runToy(t, blind)
			if taken {
				t.Fatal("taken")
			}
			for _, w := range want {
				if !strings.Contains(out, w) {
					t.Errorf("%q is not in\n%s", w, out)
				}
			}
		})
	}
}

// TestReport: a passing suite is reported on one line, a failing one is not.
func TestReport(t *testing.T) {
	file := filepath.Join(t.TempDir(), "report")
	if out, taken := runToy(t, strict, "SWAPKEEP_REPORT="+file); !taken {
		t.Fatal(out)
	}
	if _, taken := runToy(t, anyAmount, "SWAPKEEP_REPORT="+file); taken {
		t.Error("taken")
	}
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if line := regexp.MustCompile(`^hostile: toy: [1-9]\d* lies about 6 leaves: [1-9]\d* refused for [1-9] named reasons, [1-9]\d* harmless \(.*one of 3 leaves.*\), [1-9]\d* changes of calldata, 1 named attacks\n$`); !line.Match(raw) {
		t.Errorf("the report is %q", raw)
	}
}
