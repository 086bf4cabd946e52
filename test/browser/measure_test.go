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

var measureInto = flag.String("measure", "", "measure for make bench, and write what was found into this folder")

// benchSamples are the values of one row: ours and the reference, in nanoseconds, bytes or
// frames.
type benchSamples struct{ Ours, Reference []float64 }

// measurements by name; each returns rows by name.
var measurements = map[string]func(*testing.T, ui.Kind) map[string]benchSamples{
	"connect": measureConnect,
	"popup":   measurePopup,
	"frames":  measureFrames,
}

// TestMeasure takes the measurements for make bench and writes one file for each
// measurement and browser into the directory that make bench names. Without -measure it is
// skipped: it tests nothing that other tests do not, and figures from a busy machine prove
// nothing.
func TestMeasure(t *testing.T) {
	if *measureInto == "" {
		t.Skip("figures are make bench's")
	}
	for name, measure := range measurements {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, kind ui.Kind) {
				b, err := json.Marshal(measure(t, kind))
				if err == nil {
					err = os.WriteFile(filepath.Join(*measureInto, name+"-"+string(kind)+".json"), b, 0o600)
				}
				if err != nil {
					t.Fatal(err)
				}
			})
		})
	}
}

const (
	rounds = 30 // for what takes a fraction of a second
	warmUp = 3  // rounds that are not counted
)

// timeAlternately measures two things alternately, so that other load on the machine affects both.
func timeAlternately(ours, reference func() float64) (s benchSamples) {
	for i := range warmUp + rounds {
		a, b := ours(), reference()
		if i >= warmUp {
			s.Ours, s.Reference = append(s.Ours, a), append(s.Reference, b)
		}
	}
	return s
}

// pauseChains stops making blocks: no user runs three chains next to the browser.
func pauseChains(d *desk.Desk) {
	for _, c := range d.Chains() {
		c.Pause()
	}
}

// milliseconds returns ms in nanoseconds.
func milliseconds(ms float64) float64 { return ms * 1e6 }

//go:embed measure/greet.js
var greet string

const echoHost = "app.swapkeep.echo"

// measureConnect times a port from opening it to the background's first answer: our host's,
// with the daemon running, and a bare echo host's. Firefox's background shares process and
// clock with the pages, so there a page asks.
func measureConnect(t *testing.T, kind ui.Kind) map[string]benchSamples {
	d := desk.New(t, desk.Options{})
	d.InstallProgram(kind, echoHost, "./bench/echohost")
	b := d.Browser(kind)
	ask := b.Background
	if kind == ui.Firefox {
		ask = b.Open("popup.html").Eval
	}
	d.Status()
	pauseChains(d)
	to := func(host string) func() float64 {
		return func() (took float64) {
			ask(fmt.Sprintf("(%s)(%q)", greet, host), &took)
			return milliseconds(took)
		}
	}
	return map[string]benchSamples{"reply": timeAlternately(to(manifest.HostName), to(echoHost))}
}

//go:embed measure/usable.js
var usableScript []byte

//go:embed measure/empty.html
var emptyPage []byte

const popupPage, leastPage = "popup.html", "empty.html"

// usable is what the script usable.js reports of a page.
type usable struct {
	At      float64 // ms
	Scripts []string
}

// measurePopup times pages from navigation until an amount can be typed: the unlocked
// popup, and a page with nothing else. Both have the script that reports it, which the
// extension itself does not.
func measurePopup(t *testing.T, kind ui.Kind) map[string]benchSamples {
	d := desk.New(t, desk.Options{})
	folder := d.ModifyExtension(kind, addUsable)
	d.RichWallet(desk.Base)
	d.Swapkeep("networks", "select", fmt.Sprint(desk.Base))
	b := d.Browser(kind)
	unlocked(d, b).Close()
	pauseChains(d)
	var last usable // of the popup
	open := func(how func(string) *ui.Page, path string) float64 {
		p := how(path)
		var u usable
		p.Eval("usable", &u)
		p.Close()
		if path == popupPage {
			last = u
		}
		return milliseconds(u.At)
	}
	found := map[string]benchSamples{"tab": timeAlternately(
		func() float64 { return open(b.Open, popupPage) },
		func() float64 { return open(b.Open, leastPage) })}
	if kind != ui.Chromium {
		return found // tests can open the action's popup only in Chromium, and the scripts are the same
	}
	found["scripts"] = benchSamples{Ours: []float64{zipped(t, folder, last.Scripts)}}
	action := func(path string) func() float64 {
		return func() float64 {
			window := b.Open(leastPage) // the last popup left no window active
			defer window.Close()
			b.Background(fmt.Sprintf("chrome.action.setPopup({ popup: %q })", path), nil)
			return open(b.Popup, path)
		}
	}
	found["action"] = timeAlternately(action(popupPage), action(leastPage))
	return found
}

// addUsable puts the script first in the popup, and adds the least page.
func addUsable(folder string) error {
	popup := filepath.Join(folder, popupPage)
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
		os.WriteFile(filepath.Join(folder, leastPage), emptyPage, 0o600),
		os.WriteFile(filepath.Join(folder, "usable.js"), usableScript, 0o600))
}

// zipped returns the total size of files, each compressed by gzip -9.
func zipped(t *testing.T, folder string, paths []string) float64 {
	t.Helper()
	var out bytes.Buffer
	for _, path := range paths {
		text, err := os.ReadFile(filepath.Join(folder, filepath.FromSlash(path)))
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
var countFrames string

const (
	frameTime        = 5 * time.Second // how long frames are counted
	frameRounds      = 3
	notificationRate = 50 // notifications
	frameRate        = 60 // frames that a headless browser draws in a second
)

// measureFrames counts the frames that a page drops during many notifications, and without.
func measureFrames(t *testing.T, kind ui.Kind) map[string]benchSamples {
	d := desk.New(t, desk.Options{})
	loud := d.InstallProgram(kind, manifest.HostName, "./test/hostproxy")
	w := d.RichWallet(desk.Base)
	d.Swapkeep("networks", "select", fmt.Sprint(desk.Base))
	p := &trader{Page: unlocked(d, d.BrowserAlone(kind)), t: t, d: d, w: w}
	pauseChains(d)
	to, err := net.Dial("unix", loud+".sock")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = to.Close() }()
	n := &notifier{to: frame.NewWriter(to), order: openOrder(t, d), gas: *answer[protocol.GasWatchResult](t, d, "gas").Price}
	p.receive("USDC")
	p.amount("0.5")
	p.Await("button", "Review swap", "enabled", func(e ui.Element) bool { return !e.Disabled })
	found := map[string]benchSamples{"form": n.drops(t, p.Page)}
	p.Click("button", "/^Activity/")
	p.Find("heading", "Activity")
	found["activity"] = n.drops(t, p.Page)
	return found
}

// openOrder returns a swap that stays in progress because its chain is paused.
func openOrder(t *testing.T, d *desk.Desk) protocol.Order {
	t.Helper()
	review := answer[protocol.Review](t, d, "swap", "0.5", "ETH", "USDC", "--provider", "dex", "--review-only")
	d.SwapkeepWith(desk.Password+"\n", "swap", "--accept", string(review.Digest), "--detach", "--password-fd", "0")
	return d.Orders()[0]
}

// answer returns a command's JSON output.
func answer[T any](t *testing.T, d *desk.Desk, args ...string) (v T) {
	t.Helper()
	if out := d.Swapkeep(append([]string{"--json"}, args...)...); json.Unmarshal(out, &v) != nil {
		t.Fatalf("swapkeep %q: %s", args, out)
	}
	return v
}

// notifier produces the notifications of a very busy daemon: orders and gas prices change. Its
// members are the values it varies.
type notifier struct {
	to    *frame.Writer
	order protocol.Order
	gas   protocol.GasPrice
	sent  int
}

// openOrders is the number of orders reported in turn.
const openOrders = 20

// next returns a notification that was not sent before.
func (n *notifier) next() protocol.Notification {
	n.sent++
	if n.sent%2 == 0 {
		g := n.gas
		g.Block += uint64(n.sent)
		g.Normal.MaxFee = protocol.Amount(fmt.Sprint(2_000_000_000 + n.sent))
		return protocol.Notification{JSONRPC: protocol.Version, Method: "gas.price", Params: g}
	}
	o := n.order
	o.ID = fmt.Sprintf("%s%02d", o.ID[:len(o.ID)-2], n.sent/2%openOrders)
	o.Revision += uint64(n.sent)
	o.Condition = []string{"", "waiting_unlock"}[n.sent/2/openOrders%2]
	return protocol.Notification{JSONRPC: protocol.Version, Method: "swap.order", Params: o}
}

// send sends notifications at the rate of notificationRate, until over.
func (n *notifier) send(over <-chan struct{}) error {
	tick := time.NewTicker(time.Second / notificationRate)
	defer tick.Stop()
	for {
		body, err := json.Marshal(n.next())
		if err = errors.Join(err, n.to.Write(body)); err != nil {
			return err
		}
		select {
		case <-over:
			return nil
		case <-tick.C:
		}
	}
}

// drops counts the frames that a page drops, in turn with notifications, nine tenths of
// which must arrive, and without. It first sends notifications for a moment, so that the
// list of orders has the same length in all turns.
func (n *notifier) drops(t *testing.T, p *ui.Page) (s benchSamples) {
	t.Helper()
	n.framesWhileSending(t, p, 2*openOrders*time.Second/notificationRate)
	for range frameRounds {
		loud := n.framesWhileSending(t, p, frameTime)
		if wanted := notificationRate * frameTime.Seconds() * 0.9; loud.Heard < wanted {
			t.Fatalf("the page heard %g notifications in %s, want %g", loud.Heard, frameTime, wanted)
		}
		s.Ours, s.Reference = append(s.Ours, dropped(loud)), append(s.Reference, dropped(countFramesFor(p, frameTime)))
	}
	return s
}

// framesWhileSending counts frames while notifications are sent.
func (n *notifier) framesWhileSending(t *testing.T, p *ui.Page, length time.Duration) seen {
	t.Helper()
	over, told := make(chan struct{}), make(chan error)
	go func() { told <- n.send(over) }()
	loud := countFramesFor(p, length)
	close(over)
	if err := <-told; err != nil {
		t.Fatal(err)
	}
	return loud
}

type seen struct {
	Gaps  []float64 // ms between frames
	Heard float64   // notifications
}

func countFramesFor(p *ui.Page, length time.Duration) (s seen) {
	p.Eval(fmt.Sprintf("(%s)(%d)", countFrames, length.Milliseconds()), &s)
	return s
}

// dropped returns the number of frames that the gaps had room for.
func dropped(s seen) (n float64) {
	for _, gap := range s.Gaps {
		n += math.Max(0, math.Round(gap*frameRate/1000)-1)
	}
	return n
}
