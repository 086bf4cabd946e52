package host

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"swapkeep/host/protocol"
)

// A fixture is one file of testdata/protocol: cases of request and reply, which clients
// use in their tests too. In replies "$time", "$uuid" and "$number" match any value of
// that form.
type fixture struct {
	About string        `json:"about"`
	Cases []fixtureCase `json:"cases"`
}

type fixtureCase struct {
	Name   string            `json:"name"`
	Caller string            `json:"caller"`           // extension, terminal or unknown
	Given  []string          `json:"given,omitempty"`  // states of the daemon, see givens
	Before []json.RawMessage `json:"before,omitempty"` // requests whose replies are ignored
	Send   json.RawMessage   `json:"send,omitempty"`   // the request
	Text   *string           `json:"text,omitempty"`   // or the frame's text, if it is not JSON
	Reply  json.RawMessage   `json:"reply"`
	Events []json.RawMessage `json:"events,omitempty"` // notifications sent with the reply
}

// givens are the initial states of cases, other than an idle daemon with one locked
// wallet.
var givens = map[string]func(*Config){
	"sandbox":       func(c *Config) { c.Sandbox = true },
	"allow unknown": func(c *Config) { c.AllowUnknown = true },
	"new head":      func(c *Config) { c.Networks.(*fakeNetworks).heads = true },
	"prices":        func(c *Config) { withPrices(c.Prices.(*fakePrices)) },
	"prices move":   func(c *Config) { withPrices(c.Prices.(*fakePrices)); c.Prices.(*fakePrices).moves = true },
	"another ask":   func(c *Config) { c.Confirmations = &fakeConfirmations{more: true} },
	"waiting":       func(c *Config) { c.Confirmations = &fakeConfirmations{} },
	"open order":    func(c *Config) { c.Swaps.(*fakeSwaps).pending = true },
}

const fixtureDir = "../testdata/protocol"

// blessing, set by SWAPKEEP_BLESS=1, rewrites the replies of the fixtures. The change
// must then be reviewed like any other.
var blessing = os.Getenv("SWAPKEEP_BLESS") == "1"

func readFixtures(t testing.TB) map[string]*fixture {
	t.Helper()
	paths, err := filepath.Glob(fixtureDir + "/*.json")
	if err != nil || len(paths) == 0 {
		t.Fatal("no fixtures", err)
	}
	all := map[string]*fixture{}
	for _, path := range paths {
		if filepath.Base(path) == "errors.json" {
			continue
		}
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		d := json.NewDecoder(bytes.NewReader(b))
		d.DisallowUnknownFields()
		f := &fixture{}
		if err := d.Decode(f); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		all[path] = f
	}
	return all
}

func TestFixtures(t *testing.T) {
	for path, f := range readFixtures(t) {
		for i := range f.Cases {
			c := &f.Cases[i]
			t.Run(strings.TrimSuffix(filepath.Base(path), ".json")+"/"+c.Name, func(t *testing.T) { c.run(t) })
		}
		if blessing && !t.Failed() {
			var b bytes.Buffer
			e := json.NewEncoder(&b)
			e.SetEscapeHTML(false)
			e.SetIndent("", "  ")
			if err := e.Encode(f); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func (c *fixtureCase) run(t *testing.T) {
	r := newRig(t, func(config *Config) {
		for _, g := range c.Given {
			f, ok := givens[g]
			if !ok {
				t.Fatalf("unknown state %q", g)
			}
			f(config)
		}
	})
	p := r.dial()
	body, want := c.request(t), c.Caller != ""
	if want { // otherwise the case itself attaches
		p = r.attach(c.Caller)
	}
	for _, b := range c.Before {
		p.write(string(b))
		p.reply()
		p.notes = nil
	}
	p.write(body)
	reply := p.reply()
	events := p.notes
	for len(events) < len(c.Events) {
		events = append(events, p.note())
	}
	if blessing {
		c.bless(reply, events)
		return
	}
	match(t, "reply", c.Reply, reply.raw)
	if len(events) != len(c.Events) {
		t.Fatalf("%d notifications, want %d", len(events), len(c.Events))
	}
	for i, e := range events {
		match(t, fmt.Sprintf("event %d", i), c.Events[i], e.raw)
	}
}

func (c *fixtureCase) request(t testing.TB) string {
	if (c.Text == nil) == (c.Send == nil) {
		t.Fatal("want either send or text")
	}
	if c.Text != nil {
		return *c.Text
	}
	var b bytes.Buffer
	if err := json.Compact(&b, c.Send); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// varying are the fields whose values differ from run to run.
var varying = map[string]string{
	"since": "$time", "started": "$time", "instance": "$uuid", "pid": "$number",
}

func (c *fixtureCase) bless(reply message, events []message) {
	c.Reply, c.Events = blessed(reply.raw), nil
	for _, e := range events {
		c.Events = append(c.Events, blessed(e.raw))
	}
}

func blessed(raw []byte) json.RawMessage {
	s := string(raw)
	for name, pattern := range varying {
		s = regexp.MustCompile(`"`+name+`":("[^"]*"|\d+)`).ReplaceAllString(s, `"`+name+`":"`+strings.ReplaceAll(pattern, "$", "$$")+`"`)
	}
	return json.RawMessage(s)
}

// patterns are the patterns that "$name" matches.
var patterns = map[string]*regexp.Regexp{
	"$time":   regexp.MustCompile(`^"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z"$`),
	"$uuid":   regexp.MustCompile(`^"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"$`),
	"$number": regexp.MustCompile(`^[0-9]+$`),
}

func match(t *testing.T, what string, want, got []byte) {
	t.Helper()
	var w, g any
	if err := json.Unmarshal(want, &w); err != nil {
		t.Fatalf("%s: %v in %s", what, err, want)
	}
	if err := json.Unmarshal(got, &g); err != nil {
		t.Fatalf("%s: %v in %s", what, err, got)
	}
	if at := differ(w, g, ""); at != "" {
		t.Errorf("%s differs at %s\n got %s\nwant %s", what, at, got, want)
	}
}

// differ returns the first path where got differs from want.
func differ(want, got any, at string) string {
	if s, ok := want.(string); ok && patterns[s] != nil {
		b, _ := json.Marshal(got)
		if !patterns[s].Match(b) {
			return at
		}
		return ""
	}
	wm, ok1 := want.(map[string]any)
	gm, ok2 := got.(map[string]any)
	if ok1 && ok2 {
		for k := range gm {
			if _, ok := wm[k]; !ok {
				return at + "." + k
			}
		}
		for k := range wm {
			if d := differ(wm[k], gm[k], at+"."+k); d != "" {
				return d
			}
		}
		return ""
	}
	if !reflect.DeepEqual(want, got) {
		wl, ok1 := want.([]any)
		gl, ok2 := got.([]any)
		if !ok1 || !ok2 || len(wl) != len(gl) {
			return at + " "
		}
		for i := range wl {
			if d := differ(wl[i], gl[i], fmt.Sprintf("%s[%d]", at, i)); d != "" {
				return d
			}
		}
	}
	return ""
}

// TestFixturesCoverTheTables checks that every method and notification has a successful
// fixture, so that a client's decoder is tested with each type.
func TestFixturesCoverTheTables(t *testing.T) {
	methods, events := map[string]bool{}, map[string]bool{"host.hello": true} // attach receives it
	for _, f := range readFixtures(t) {
		for _, c := range f.Cases {
			var sent struct{ Method string }
			var reply struct{ Result json.RawMessage }
			_ = json.Unmarshal(c.Send, &sent)
			_ = json.Unmarshal(c.Reply, &reply)
			if reply.Result != nil {
				methods[sent.Method] = true
			}
			for _, raw := range c.Events {
				var e struct{ Method string }
				_ = json.Unmarshal(raw, &e)
				events[e.Method] = true
			}
		}
	}
	for _, m := range protocol.Methods {
		if !methods[m.Name] {
			t.Errorf("no fixture of a successful %s", m.Name)
		}
	}
	for _, e := range protocol.Events {
		if !events[e.Name] {
			t.Errorf("no fixture of the notification %s", e.Name)
		}
	}
}

// TestFixturesDecode checks that the results of the fixtures decode into the protocol's
// types without unknown fields, so that the documented types are what is sent.
func TestFixturesDecode(t *testing.T) {
	for path, f := range readFixtures(t) {
		for _, c := range f.Cases {
			var sent struct{ Method string }
			var reply struct{ Result json.RawMessage }
			_ = json.Unmarshal(c.Send, &sent)
			_ = json.Unmarshal(c.Reply, &reply)
			m, ok := protocol.MethodOf(sent.Method)
			if !ok || reply.Result == nil {
				continue
			}
			text := string(reply.Result)
			for name, value := range map[string]string{`"$time"`: `"2026-11-20T09:00:00Z"`, `"$uuid"`: `"0b8c6f3e-7c1f-4d55-9d3c-6f1f0a6f7d11"`, `"$number"`: "1"} {
				text = strings.ReplaceAll(text, name, value)
			}
			d := json.NewDecoder(strings.NewReader(text))
			d.DisallowUnknownFields()
			if err := d.Decode(reflect.New(reflect.TypeOf(m.Result)).Interface()); err != nil {
				t.Errorf("%s, %s: %v", filepath.Base(path), c.Name, err)
			}
		}
	}
}

// TestErrorTableIsAppendOnly checks that rows are only added. Clients decide by number,
// name and retryable.
func TestErrorTableIsAppendOnly(t *testing.T) {
	type row struct {
		Code      int    `json:"code"`
		Name      string `json:"name"`
		Retryable bool   `json:"retryable"`
	}
	path := fixtureDir + "/errors.json"
	var now []row
	for _, r := range protocol.Errors {
		now = append(now, row{r.Code, r.Name, r.Retryable})
	}
	if blessing {
		var lines []string
		for _, r := range now {
			b, err := json.Marshal(r)
			if err != nil {
				t.Fatal(err)
			}
			lines = append(lines, "  "+string(b))
		}
		if err := os.WriteFile(path, []byte("[\n"+strings.Join(lines, ",\n")+"\n]\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var kept []row
	if err := json.Unmarshal(b, &kept); err != nil {
		t.Fatal(err)
	}
	for _, k := range kept {
		if !slices.Contains(now, k) {
			t.Errorf("row %v was changed or taken away", k)
		}
	}
	if len(kept) != len(now) {
		t.Errorf("%d rows, %d in errors.json: add the new ones there", len(now), len(kept))
	}
}
