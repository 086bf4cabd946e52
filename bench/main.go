// Command bench measures Swapkeep beside its peers and against its limits, in
// one run, and prints a table: what, ours, reference, ratio, goal, and whether
// the goal was hit. docs/performance.md says how each row is measured.
//
// A missed goal is printed as a miss and is no failure; a row that could not be
// measured is one. Everything runs in a temporary directory, with a home, a
// keychain in files and an outside world of its own.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"time"
)

// patience bounds the whole run.
const patience = 20 * time.Minute

// subjects are the rows of the table.
var subjects = []subject{
	{"spawn to hello, daemon up", "bare Go echo host", inTime, atMostTimes(1.5), measureSpawn},
	{"hello round trip", "same relay, bare echo daemon", inTime, atMostTimes(1.5), measureRoundTrip},
	{"Permit2 PermitSingle: hash + sign", "viem 2.57.0 in Node", inTime, timesFaster(8), measurePermit},
	{"host time added to a quote", "the provider's HTTP alone", inTime, atMost(float64(time.Millisecond)), measureQuote},
	{"host time added to four providers at once", "the slowest one's HTTP alone", inTime, atMost(float64(2 * time.Millisecond)), measureAtOnce},
	{"JAM order: rebuild, compare, sign", "", inTime, atMost(float64(150 * time.Microsecond)), orderOf(jamOrder, false)},
	{"JAM order of a kept quote: rebuild, sign", "", inTime, noGoal, orderOf(jamOrder, true)},
	{"Dutch V3 order: rebuild, compare, sign", "", inTime, atMost(float64(150 * time.Microsecond)), orderOf(dutchOrder, false)},
	{"Dutch V3 order of a kept quote: rebuild, sign", "", inTime, noGoal, orderOf(dutchOrder, true)},
	{"Check of a plan (approve, permit, swap)", "", inTime, atMost(float64(50 * time.Microsecond)), measureCheck},
	{"decoding of its permit and swap", "", inTime, noGoal, measureDecode},
	{"load of 1,000 open orders at start", "", inTime, atMost(float64(time.Second)), measureOrders},
	{"price list of 100 tokens, under load", "bare net/http handler, same bytes", inTime, ofTheRate(0.9), loadOf(100, listPath, false)},
	{"price list of 100 of 10,000 tokens, under load", "bare net/http handler, same bytes", inTime, ofTheRate(0.85), loadOf(10_000, listPath, false)},
	{"price of one token, under load", "bare net/http handler, same bytes", inTime, ofTheRate(0.7), loadOf(100, singlePath(7), false)},
	{"price list under load: slowest hundredth", "bare net/http handler, same bytes", inTime, noGoal, loadOf(100, listPath, true)},
	{"commit of a minute, 1,000 tokens", "", inTime, noGoal, commitOf(1000)},
	{"commit of a minute, 10,000 tokens", "", inTime, noGoal, commitOf(10_000)},
	{"history of 1,000 tokens: written a day", "", inSize, atMost(120 * megabyte), measureDay},
	{"history of 1,000 tokens: file", "", inSize, atMost(100 * megabyte), measureFile},
	{"chart of 24h, response included", "", inTime, atMost(float64(time.Millisecond)), chartOf("24h")},
	{"chart of a week, response included", "", inTime, atMost(float64(time.Millisecond)), chartOf("week")},
	{"chart of a month, response included", "", inTime, atMost(float64(time.Millisecond)), chartOf("month")},
	{"price server, 100 tokens: resident memory", "", inSize, noGoal, priceMemoryOf(100)},
	{"price server, 10,000 tokens: resident memory", "", inSize, noGoal, priceMemoryOf(10_000)},
	{"idle daemon: resident memory", "", inSize, atMost(30 * megabyte), memoryOf("VmRSS")},
	{"idle daemon: most resident memory", "", inSize, noGoal, memoryOf("VmHWM")},
	{"sandbox: four chains and all providers ready", "", inTime, atMost(float64(2 * time.Second)), measureSandbox},
	{"relay binary, stripped", "", inSize, atMost(8 * megabyte), sizeOf("swapkeep")},
	{"daemon binary, stripped", "", inSize, atMost(22 * megabyte), sizeOf("swapkeepd")},
	{"extension's package, Chromium", "", inKilo, noGoal, packageOf("chromium")},
	{"extension's package, Firefox", "", inKilo, noGoal, packageOf("firefox")},
	{"popup's JavaScript until the form, gzip", "", inKilo, atMost(60 * kilobyte), inBrowser("chromium", "popup", "scripts")},
	{"native port to first answer, Chromium", "bare Go echo host, same browser", inTime, atMostTimes(1.2), inBrowser("chromium", "connect", "reply")},
	{"native port to first answer, Firefox", "bare Go echo host, same browser", inTime, atMostTimes(1.2), inBrowser("firefox", "connect", "reply")},
	{"popup open to interactive, Chromium", emptyPage, inTime, atMost(float64(interactive)), inBrowser("chromium", "popup", "action")},
	{"popup in a tab to interactive, Chromium", emptyPage, inTime, atMost(float64(interactive)), inBrowser("chromium", "popup", "tab")},
	{"popup in a tab to interactive, Firefox", emptyPage, inTime, noGoal, inBrowser("firefox", "popup", "tab")},
	{"frames dropped in 5 s: form, 50 news/s, Chromium", noNews, inWhole, noMore, inBrowser("chromium", "frames", "form")},
	{"frames dropped in 5 s: activity, 50 news/s, Chromium", noNews, inWhole, noMore, inBrowser("chromium", "frames", "activity")},
	{"frames dropped in 5 s: form, 50 news/s, Firefox", noNews, inWhole, noMore, inBrowser("firefox", "frames", "form")},
	{"frames dropped in 5 s: activity, 50 news/s, Firefox", noNews, inWhole, noMore, inBrowser("firefox", "frames", "activity")},
}

// interactive is the longest that a popup may take to be used.
const interactive = 150 * time.Millisecond

// What a browser's rows are compared with.
const (
	emptyPage = "page of one field, same extension"
	noNews    = "the same without the news"
)

func main() {
	bin := flag.String("bin", "bin", "directory of the programs, as make build makes them")
	packages := flag.String("packages", "build/extension", "directory of the extension's packages, as make extension makes them")
	node := flag.String("node", "bench/node", "directory of the peer in Node, installed")
	file := flag.String("json", "", "also write the rows to this file")
	world := flag.Bool("outside", false, "be the outside world of a bench, until stdin ends")
	count := flag.Int("prices", 0, "be a price server with so many tokens, until stdin ends")
	history := flag.String("history", "", "of -prices: the file that charts are drawn from")
	only := flag.String("only", "", "measure only what has this in its name")
	flag.Parse()
	if *world {
		end(runOutside())
	}
	if *count > 0 {
		end(runPrices(*count, *history))
	}
	ctx, _ := signal.NotifyContext(context.Background(), os.Interrupt)
	end(run(ctx, places{*bin, *node, *packages}, *file, *only))
}

func end(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

// errUnmeasured: a row without figures.
var errUnmeasured = errors.New("not everything could be measured")

func run(ctx context.Context, at places, file, only string) (err error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	l, err := openLab(ctx, at)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.close()) }()
	r := report{Machine: machineOf(ctx), Began: time.Now().UTC().Truncate(time.Second)}
	for _, s := range subjects {
		if !strings.Contains(s.what, only) {
			continue
		}
		fmt.Fprintf(os.Stderr, "bench: %s …\n", s.what)
		r.Rows = append(r.Rows, s.row(ctx, l))
	}
	r.Took = time.Since(r.Began).Round(time.Second).String()
	r.print(os.Stdout)
	if file != "" {
		b, err := json.MarshalIndent(r, "", " ")
		if err != nil {
			return err
		}
		if err := os.WriteFile(file, append(b, '\n'), 0o644); err != nil {
			return err
		}
	}
	if r.unmeasured() {
		return errUnmeasured
	}
	return ctx.Err()
}
