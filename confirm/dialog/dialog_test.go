package dialog

import (
	"context"
	"errors"
	"flag"
	"math/big"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"swapkeep/confirm"
	"swapkeep/extension/messages"
	"swapkeep/swap"

	"pgregory.net/rapid"
)

var update = flag.Bool("update", false, "write the golden files anew")

var aCode = regexp.MustCompile(`: ([` + letters + `]{4})\n`)

// text returns an argument that is shown as it is.
func text(s string) swap.Arg { return swap.Arg{Kind: swap.TextArg, Value: s} }

// longest is the greatest amount that a token can have, of 78 digits.
var longest = new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 256), big.NewInt(1)).String()

// asks are kinds of asks that dialogs must bear.
var asks = map[string]confirm.Ask{
	"swap": {Kind: "execute", Lines: []swap.Line{
		{Key: "line_provider", Args: []swap.Arg{{Kind: swap.WordArg, Value: "brand_dex"}}, Severity: swap.Note},
		{Key: "line_pay", Args: []swap.Arg{{Kind: swap.NumberArg, Value: "1250.5", Unit: "USDC"}, text("Ethereum")}, Severity: swap.Note},
		{Key: "line_to_other", Args: []swap.Arg{text("0x00000000000000000000000000000000000000A2")}, Severity: swap.Warn},
	}},
	"amount": {Kind: "execute", Lines: []swap.Line{
		{Key: "line_pay", Args: []swap.Arg{{Kind: swap.NumberArg, Value: longest, Unit: `“FOO[U+202E]” (0x00000000000000000000000000000000000000C3, ` + longest + ` / 10^0)`}, text("Ethereum")}, Severity: swap.Note},
	}},
	"thirty": {Kind: "revoke", Lines: func() (out []swap.Line) {
		for range 30 {
			out = append(out, swap.Line{Key: "line_approve", Args: []swap.Arg{text("Permit2 (0x000000000022D473030F116dDEE9F6B43aC78BA3)"), {Kind: swap.NumberArg, Value: "1", Unit: "USDC"}}, Severity: swap.Note})
		}
		return out
	}()},
}

// TestPages holds the pages of each kind of ask against golden files, in each language.
func TestPages(t *testing.T) {
	for name, a := range asks {
		for _, language := range messages.Languages {
			a.Origin = "chrome-extension://abcdefghijklmnopabcdefghijklmnop/"
			var out strings.Builder
			for _, p := range pages(language, confirm.Waiting{Ask: a, Unshown: 3}, 90*time.Second) {
				out.WriteString(strings.ReplaceAll(p.text, p.code, "CODE") + "\f\n")
			}
			path := filepath.Join("testdata", name+"."+language+".txt")
			if *update {
				if err := os.WriteFile(path, []byte(out.String()), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil || out.String() != string(want) {
				t.Errorf("%s: %v\n%s\nwant\n%s", path, err, out.String(), want)
			}
		}
	}
}

// TestPagesAreBounded checks that every page is short enough for pinentry and has its own code
// once, that no line is wider than it should be, and that nothing of the lines is left out.
func TestPagesAreBounded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := confirm.Waiting{Ask: confirm.Ask{Kind: "execute", Origin: "chrome-extension://" + strings.Repeat("a", rapid.IntRange(0, 80).Draw(t, "origin"))}}
		for range rapid.IntRange(1, 40).Draw(t, "lines") {
			word := rapid.StringMatching(`[A-Z0-9 %“”]{0,900}`).Draw(t, "word")
			w.Lines = append(w.Lines, swap.Line{Key: rapid.SampledFrom([]string{"line_finding", "line_pay"}).Draw(t, "key"), Args: []swap.Arg{text(word), text("Ethereum")}})
		}
		all := pages("en", w, time.Minute)
		whole := ""
		for _, p := range all {
			if n := escaped("SETDESC " + p.text); n > 1000 {
				t.Fatalf("%d bytes:\n%s", n, p.text)
			}
			if found := aCode.FindAllStringSubmatch(p.text, -1); len(found) != 1 || found[0][1] != p.code {
				t.Fatalf("codes %v, want %s:\n%s", found, p.code, p.text)
			}
			for _, line := range strings.Split(p.text, "\n") {
				if utf8.RuneCountInString(line) > width {
					t.Fatalf("%d characters: %s", utf8.RuneCountInString(line), line)
				}
			}
			whole += p.text
		}
		shown := strings.Join(strings.Fields(whole), "")
		for _, l := range w.Lines {
			if want := strings.Join(strings.Fields(l.Args[0].Value), ""); !strings.Contains(shown, want) {
				t.Fatalf("left out: %q", want)
			}
		}
	})
}

// A person answers dialogs.
type person func(q question, code string) (string, answer, error)

func (p person) ask(_ context.Context, _ []string, q question) (string, answer, error) {
	return p(q, aCode.FindStringSubmatch(q.text)[1])
}

// TestCode checks that an ask is confirmed by the codes of all its pages alone.
func TestCode(t *testing.T) {
	right := func(_ question, code string) (string, answer, error) { return code, entered, nil }
	upper := func(_ question, code string) (string, answer, error) {
		return " " + strings.ToUpper(code) + "\n", entered, nil
	}
	firstCode := ""
	for name, c := range map[string]struct {
		kind   string
		person person
		want   confirm.Answer
		err    bool
	}{
		"the code":             {"swap", right, confirm.Approved, false},
		"in capitals":          {"swap", upper, confirm.Approved, false},
		"all pages":            {"thirty", right, confirm.Approved, false},
		"nothing":              {"swap", func(question, string) (string, answer, error) { return "", entered, nil }, confirm.Undecided, false},
		"something else":       {"swap", func(question, string) (string, answer, error) { return "aaaa", entered, nil }, confirm.Undecided, false},
		"cancel":               {"swap", func(question, string) (string, answer, error) { return "", declined, nil }, confirm.Declined, false},
		"cancel with the code": {"swap", func(_ question, code string) (string, answer, error) { return code, declined, nil }, confirm.Declined, false},
		"the time":             {"swap", func(question, string) (string, answer, error) { return "", timedOut, nil }, confirm.Undecided, false},
		"the program fails":    {"swap", func(question, string) (string, answer, error) { return "", 0, errors.New("no") }, confirm.Undecided, true},
		"after a slip": {"swap", func(q question, code string) (string, answer, error) {
			return map[bool]string{true: "aaaa", false: code}[q.again == ""], entered, nil
		}, confirm.Approved, false},
		"the first page's code only": {"thirty", func(_ question, code string) (string, answer, error) {
			firstCode = firstOf(firstCode, code)
			return firstCode, entered, nil
		}, confirm.Undecided, false},
	} {
		firstCode = ""
		d := Dialogs{Language: func() string { return "en" }}
		got, err := d.show(t.Context(), c.person, nil, confirm.Waiting{Ask: asks[c.kind]}, time.Now().Add(time.Minute))
		if got != c.want || (err != nil) != c.err {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
}

func firstOf(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// TestCodesDiffer checks that codes are not foreseeable from one another.
func TestCodesDiffer(t *testing.T) {
	seen := map[string]int{}
	for range 2000 {
		seen[newCode()]++
	}
	for code, n := range seen {
		if n > 5 || len(code) != 4 {
			t.Errorf("%s came %d times", code, n)
		}
	}
}
