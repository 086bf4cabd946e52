package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"swapkeep/host/protocol"
	"swapkeep/test/await"
)

// A table of ends has the routes and what becomes of an order of each: the settings of the
// provider that decide it.
type endsTable struct {
	Routes []struct {
		Name, Provider, On string
		Settings           json.RawMessage // of the provider, for the quote
		Swap, Accept       []string        // arguments of swapkeep swap, and of its --accept
	}
	Outcomes []struct {
		Name     string
		Settings map[string]json.RawMessage // by provider
	}
}

// cmdEnds makes a swap of every route for every outcome, then closes what nothing ends, and writes
// how each ended and what shows it, in the words of orders show:
//
//	ends TABLE RESULT
func cmdEnds(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: ends TABLE RESULT, after sandbox and clock")
	}
	var table endsTable
	ts.Check(json.Unmarshal([]byte(ts.ReadFile(args[0])), &table))
	d := scriptDaemon{ts}
	ids := map[string]string{}
	for _, outcome := range table.Outcomes {
		for provider, settings := range outcome.Settings {
			cmdProvider(ts, false, []string{provider, string(settings)})
		}
		for _, r := range table.Routes {
			if outcome.Settings[r.Provider] == nil {
				continue
			}
			if r.Settings != nil {
				cmdProvider(ts, false, []string{r.Provider, string(r.Settings)})
			}
			d.run("", "networks", "select", r.On)
			ids[r.Name+", "+outcome.Name] = d.swap(append(slices.Clone(r.Swap), "--provider", r.Provider, "--account", "Account 1"), r.Accept)
		}
		d.until("the provider has reported on every order", func(o protocol.Order) bool {
			return o.Claim != nil && (o.Claim.State != "settling" || outcome.Name == "silent")
		})
	}
	d.until("what was reported is looked for", func(o protocol.Order) bool {
		return o.Condition != "" || o.Claim.State != "filled" && o.Claim.State != "refunded"
	})
	cmdClock(ts, false, []string{"9h"})
	for _, o := range d.orders("--open") {
		d.run("correct horse batteries\n", "orders", "close", o.ID, "--digest", string(o.Digest), "--password-fd", "0")
	}
	var out strings.Builder
	for _, r := range table.Routes {
		for _, outcome := range table.Outcomes {
			name := r.Name + ", " + outcome.Name
			if ids[name] == "" {
				continue
			}
			fmt.Fprintf(&out, "%s: %s\n", name, strings.Join(endShown(d.run("", "orders", "show", ids[name])), " | "))
		}
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(out.String()), 0o600))
}

// evidence matches the facts of an order that say what shows its end.
var evidence = regexp.MustCompile(`^  (proven by|provider|seen|not proven) +`)

// endShown returns the state that orders show prints, and the beginning of each fact that shows it.
func endShown(shown string) (end []string) {
	lines := strings.Split(shown, "\n")
	for _, line := range lines[1:] {
		if line == "" {
			break
		}
		if end == nil || evidence.MatchString(line) {
			line, _, _ = strings.Cut(line, ", from") // else of an account, at a time
			line, _, _ = strings.Cut(line, ": nothing in it")
			end = append(end, strings.TrimSpace(evidence.ReplaceAllString(line, "$1: ")))
		}
	}
	if strings.Contains(shown, "\n  throwaway account") {
		end = append(end, "from a throwaway account")
	}
	return end
}

// A scriptDaemon runs commands of the script's swapkeep.
type scriptDaemon struct{ ts *testscript.TestScript }

func (d scriptDaemon) run(stdin string, args ...string) string {
	cmd := exec.Command(scriptBinary(d.ts.Getenv, "swapkeep"), args...)
	cmd.Env, cmd.Dir, cmd.Stdin = environ(d.ts), d.ts.MkAbs("."), strings.NewReader(stdin)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		d.ts.Fatalf("%v: %v\n%s%s", args, err, out, stderr.Bytes())
	}
	return string(out)
}

func (d scriptDaemon) swap(args, accept []string) string {
	var review struct{ Digest string }
	d.ts.Check(json.Unmarshal([]byte(d.run("", append(append([]string{"swap"}, args...), "--review-only", "--json")...)), &review))
	var o protocol.Order
	out := d.run("correct horse batteries\n", append([]string{"swap", "--accept", review.Digest, "--password-fd", "0", "--detach", "--json"}, accept...)...)
	d.ts.Check(json.Unmarshal([]byte(out[strings.LastIndex(strings.TrimSpace(out), "\n")+1:]), &o))
	return o.ID
}

func (d scriptDaemon) orders(args ...string) []protocol.Order {
	var all protocol.OrdersResult
	d.ts.Check(json.Unmarshal([]byte(d.run("", append([]string{"orders", "list", "--json"}, args...)...)), &all))
	return all.Orders
}

func (d scriptDaemon) until(what string, holds func(protocol.Order) bool) {
	// Polls of what does not change become rarer, up to one a minute.
	if !await.Holds(3*time.Minute, func() bool {
		return !slices.ContainsFunc(d.orders("--open"), func(o protocol.Order) bool { return !holds(o) })
	}) {
		for _, o := range d.orders("--open") {
			d.ts.Logf("%s %s %s: %q, claim %+v", o.ID, o.Terms.Provider, o.State, o.Condition, o.Claim)
		}
		d.ts.Fatalf("never: %s", what)
	}
}
