//go:build browser

package browser

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"swapkeep/host/frame"
	"swapkeep/host/protocol"
	"swapkeep/manifest"
	"swapkeep/test/browser/desk"
	"swapkeep/test/browser/ui"
)

var measureDir = flag.String("measure", "", "take the measurements of make bench and write them to this `directory`")

// benchSamples are the samples of one row of the benchmarks: Swapkeep's and those of what it is
// compared with, in nanoseconds, bytes or frames.
type benchSamples struct{ Ours, Reference []float64 }

// measurements are by name. Each returns the samples of its rows, by the name of the row.
var measurements = map[string]func(*testing.T, ui.Kind) map[string]benchSamples{
	"connect": measureConnect,
	"popup":   measurePopup,
	"frames":  measureFrames,
}

// TestMeasure takes the measurements for make bench and writes one file for each
// measurement and browser into the directory that make bench passes. Without -measure it is
// skipped: it tests nothing that other tests do not, and times on a busy machine mean nothing.
func TestMeasure(t *testing.T) {
	if *measureDir == "" {
		t.Skip("only make bench measures")
	}
	for name, measure := range measurements {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, kind ui.Kind) {
				b, err := json.Marshal(measure(t, kind))
				if err == nil {
					err = os.WriteFile(filepath.Join(*measureDir, name+"-"+string(kind)+".json"), b, 0o600)
				}
				if err != nil {
					t.Fatal(err)
				}
			})
		})
	}
}

const (
	rounds = 30 // samples of what takes a fraction of a second
	warmUp = 3  // earlier rounds, whose times are dropped
)

// timeAlternately takes samples of two things in turn, so that other load on the machine affects
// both.
func timeAlternately(ours, reference func() float64) (s benchSamples) {
	for i := range warmUp + rounds {
		a, b := ours(), reference()
		if i >= warmUp {
			s.Ours, s.Reference = append(s.Ours, a), append(s.Reference, b)
		}
	}
	return s
}

// pauseChains stops the simulated chains, because making blocks takes processor time that the
// browser would have on a user's machine.
func pauseChains(d *desk.Desk) {
	for _, c := range d.Chains() {
		c.Pause()
	}
}

// nanoseconds converts milliseconds.
func nanoseconds(ms float64) float64 { return ms * 1e6 }

//go:embed measure/greet.js
var greetScript string

const echoHost = "app.swapkeep.echo"

// measureConnect measures the time from opening a port to a native host until its first reply:
// Swapkeep's host, while the daemon runs, and a host that only echoes. The background page
// opens the port in Chromium. In Firefox a page does, because there the background shares its
// process and clock with the pages.
func measureConnect(t *testing.T, kind ui.Kind) map[string]benchSamples {
	d := desk.New(t, desk.Options{})
	d.InstallProgram(kind, echoHost, "./bench/echohost")
	b := d.Browser(kind)
	eval := b.Background
	if kind == ui.Firefox {
		eval = b.Open("popup.html").Eval
	}
	d.Status()
	pauseChains(d)
	connectTo := func(host string) func() float64 {
		return func() (ms float64) {
			eval(fmt.Sprintf("(%s)(%q)", greetScript, host), &ms)
			return nanoseconds(ms)
		}
	}
	return map[string]benchSamples{"reply": timeAlternately(connectTo(manifest.HostName), connectTo(echoHost))}
}

//go:embed measure/usable.js
var usableScript []byte

//go:embed measure/empty.html
var emptyHTML []byte

const popupPage, emptyPage = "popup.html", "empty.html"

// usable is what usable.js reports when the amount of a swap can be typed on a page.
type usable struct {
	At      float64  // ms since the navigation to the page began
	Scripts []string // paths of the scripts that the page loaded
}

// measurePopup measures the time from the navigation to a page until an amount can be typed
// there: on the unlocked popup, and on a page that has only the input field. addUsable adds
// the script that reports it to both.
func measurePopup(t *testing.T, kind ui.Kind) map[string]benchSamples {
	d := desk.New(t, desk.Options{})
	extensionDir := d.ModifyExtension(kind, addUsable)
	d.RichWallet(desk.Base)
	d.Swapkeep("networks", "select", fmt.Sprint(desk.Base))
	b := d.Browser(kind)
	unlocked(d, b).Close()
	pauseChains(d)
	var popup usable // the last report of the popup
	open := func(openPage func(string) *ui.Page, path string) float64 {
		p := openPage(path)
		var u usable
		p.Eval("usable", &u)
		p.Close()
		if path == popupPage {
			popup = u
		}
		return nanoseconds(u.At)
	}
	rows := map[string]benchSamples{"tab": timeAlternately(
		func() float64 { return open(b.Open, popupPage) },
		func() float64 { return open(b.Open, emptyPage) })}
	if kind != ui.Chromium {
		return rows // a test can open the popup of the toolbar button only in Chromium; the scripts are the same
	}
	rows["scripts"] = benchSamples{Ours: []float64{zippedSize(t, extensionDir, popup.Scripts)}}
	action := func(path string) func() float64 {
		return func() float64 {
			window := b.Open(emptyPage) // a popup needs an active window, and closing the last one left none
			defer window.Close()
			b.Background(fmt.Sprintf("chrome.action.setPopup({ popup: %q })", path), nil)
			return open(b.Popup, path)
		}
	}
	rows["action"] = timeAlternately(action(popupPage), action(emptyPage))
	return rows
}

// addUsable changes an unpacked extension: it adds usable.js as the first script of the popup,
// and a page that has only the input field and that script.
func addUsable(dir string) error {
	popup := filepath.Join(dir, popupPage)
	text, err := os.ReadFile(popup)
	if err != nil {
		return err
	}
	const head = "<head>"
	if !bytes.Contains(text, []byte(head)) {
		return fmt.Errorf("%s has no %s", popupPage, head)
	}
	text = bytes.Replace(text, []byte(head), []byte(head+`<script src="usable.js"></script>`), 1)
	return errors.Join(
		os.WriteFile(popup, text, 0o600),
		os.WriteFile(filepath.Join(dir, emptyPage), emptyHTML, 0o600),
		os.WriteFile(filepath.Join(dir, "usable.js"), usableScript, 0o600))
}

// zippedSize returns the total size of the files, each compressed by gzip -9.
func zippedSize(t *testing.T, dir string, paths []string) float64 {
	t.Helper()
	var out bytes.Buffer
	for _, path := range paths {
		text, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(path)))
		if err != nil {
			t.Fatal(err)
		}
		z, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
		if err == nil {
			_, err = z.Write(text)
		}
		if err = errors.Join(err, z.Close()); err != nil {
			t.Fatal(err)
		}
	}
	return float64(out.Len())
}

//go:embed measure/frames.js
var framesScript string

const (
	frameTime        = 5 * time.Second // of each sample
	frameRounds      = 3
	notificationRate = 50 // notifications sent in a second
	frameRate        = 60 // frames that a headless browser draws in a second, if it drops none
)

// measureFrames counts the frames that two pages, the swap form and the activity, drop while many
// notifications arrive, and while none does.
func measureFrames(t *testing.T, kind ui.Kind) map[string]benchSamples {
	d := desk.New(t, desk.Options{})
	proxy := d.InstallProgram(kind, manifest.HostName, "./test/hostproxy")
	w := d.RichWallet(desk.Base)
	d.Swapkeep("networks", "select", fmt.Sprint(desk.Base))
	p := &trader{Page: unlocked(d, d.BrowserAlone(kind)), t: t, d: d, w: w}
	pauseChains(d)
	conn, err := net.Dial("unix", proxy+".sock")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	n := &notifier{to: frame.NewWriter(conn), order: openOrder(t, d), gas: *jsonOutput[protocol.GasWatchResult](t, d, "gas").Price}
	p.receive("USDC")
	p.amount("0.5")
	p.Await("button", "Review swap", "enabled", func(e ui.Element) bool { return !e.Disabled })
	rows := map[string]benchSamples{"form": n.droppedFrames(t, p.Page)}
	p.Click("button", "/^Activity/")
	p.Find("heading", "Activity")
	rows["activity"] = n.droppedFrames(t, p.Page)
	return rows
}

// openOrder starts a swap and returns its order, which stays in progress because the chains are
// paused.
func openOrder(t *testing.T, d *desk.Desk) protocol.Order {
	t.Helper()
	review := jsonOutput[protocol.Review](t, d, "swap", "0.5", "ETH", "USDC", "--provider", "dex", "--review-only")
	d.SwapkeepWith(desk.Password+"\n", "swap", "--accept", string(review.Digest), "--detach", "--password-fd", "0")
	return d.Orders()[0]
}

// jsonOutput runs a command of swapkeep with --json and returns its output.
func jsonOutput[T any](t *testing.T, d *desk.Desk, args ...string) (v T) {
	t.Helper()
	if out := d.Swapkeep(append([]string{"--json"}, args...)...); json.Unmarshal(out, &v) != nil {
		t.Fatalf("swapkeep %q: %s", args, out)
	}
	return v
}

// notifier sends the notifications of a very busy daemon: changes of orders and of gas prices.
type notifier struct {
	to    *frame.Writer
	order protocol.Order    // notifications have this order with another id, revision and condition
	gas   protocol.GasPrice // and this gas price with another block and fee
	sent  int
}

// openOrders is the number of orders that the notifications are about.
const openOrders = 20

// next returns the next notification: in turn, a changed gas price and a changed order.
func (n *notifier) next() protocol.Notification {
	n.sent++
	if n.sent%2 == 0 {
		gas := n.gas
		gas.Block += uint64(n.sent)
		gas.Normal.MaxFee = protocol.Amount(fmt.Sprint(2_000_000_000 + n.sent))
		return protocol.Notification{JSONRPC: protocol.Version, Method: "gas.price", Params: gas}
	}
	order := n.order
	order.ID = fmt.Sprintf("%s%02d", order.ID[:len(order.ID)-2], n.sent/2%openOrders)
	order.Revision += uint64(n.sent)
	order.Condition = []string{"", "waiting_unlock"}[n.sent/2/openOrders%2]
	return protocol.Notification{JSONRPC: protocol.Version, Method: "swap.order", Params: order}
}

// send sends notifications at notificationRate until stop is closed.
func (n *notifier) send(stop <-chan struct{}) error {
	tick := time.NewTicker(time.Second / notificationRate)
	defer tick.Stop()
	for {
		body, err := json.Marshal(n.next())
		if err = errors.Join(err, n.to.Write(body)); err != nil {
			return err
		}
		select {
		case <-stop:
			return nil
		case <-tick.C:
		}
	}
}

// droppedFrames counts the frames that a page drops while notifications are sent (ours) and
// while none is (the reference). It fails if less than nine tenths of the notifications
// arrive. It first makes all orders known to the page, so that its list has the same length
// in every sample.
func (n *notifier) droppedFrames(t *testing.T, p *ui.Page) (s benchSamples) {
	t.Helper()
	n.framesWhileSending(t, p, 2*openOrders*time.Second/notificationRate)
	for range frameRounds {
		busy := n.framesWhileSending(t, p, frameTime)
		if want := notificationRate * frameTime.Seconds() * 0.9; busy.Heard < want {
			t.Fatalf("the page received %g notifications in %s, want at least %g", busy.Heard, frameTime, want)
		}
		s.Ours, s.Reference = append(s.Ours, busy.dropped()), append(s.Reference, recordFrames(p, frameTime).dropped())
	}
	return s
}

// framesWhileSending records the frames of a page while notifications are sent.
func (n *notifier) framesWhileSending(t *testing.T, p *ui.Page, length time.Duration) frameRecord {
	t.Helper()
	stop, sendErr := make(chan struct{}), make(chan error)
	go func() { sendErr <- n.send(stop) }()
	frames := recordFrames(p, length)
	close(stop)
	if err := <-sendErr; err != nil {
		t.Fatal(err)
	}
	return frames
}

// frameRecord is the result of frames.js.
type frameRecord struct {
	Gaps  []float64 // ms between frames
	Heard float64   // notifications received
}

// recordFrames records the frames of a page for a length of time.
func recordFrames(p *ui.Page, length time.Duration) (r frameRecord) {
	p.Eval(fmt.Sprintf("(%s)(%d)", framesScript, length.Milliseconds()), &r)
	return r
}

// dropped returns the number of frames that are missing: those that fit into the gaps at
// frameRate.
func (r frameRecord) dropped() (n float64) {
	for _, gap := range r.Gaps {
		n += math.Max(0, math.Round(gap*frameRate/1000)-1)
	}
	return n
}
