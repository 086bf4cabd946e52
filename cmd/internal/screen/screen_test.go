package screen

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode"
)

func TestPlainWhereNobodySits(t *testing.T) {
	var b bytes.Buffer
	s := New(&b, func(string) string { return "xterm" })
	s.Heading("Swap")
	s.Progress("0.1 s", "waiting")
	s.Fact("offer", strings.Repeat("a word ", 30))
	s.Event("0.1 s", "filled", "done")
	s.Quote([]string{"\x1b[31mred"})
	want := "\nSwap\n" +
		"  offer      " + strings.Repeat("a word ", 12) + "a\n" +
		"             word " + strings.Repeat("a word ", 11) + "a\n" +
		"             word" + strings.Repeat(" a word", 5) + "\n" +
		"  0.1 s      filled     done\n" +
		"  | [31mred\n"
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", &b, want)
	}
	for _, l := range strings.Split(b.String(), "\n") {
		if len(l) > PageWidth {
			t.Errorf("%d columns: %s", len(l), l)
		}
	}
}

// at returns a Screen for a terminal with that many columns.
func at(b *bytes.Buffer, width int) *Screen {
	return &Screen{w: b, colour: true, live: true, width: width, wide: width, label: labelWidth}
}

func TestAtATerminal(t *testing.T) {
	var b bytes.Buffer
	s := at(&b, 30)
	s.Progress("0.1 s", "executing: waiting for the chain")
	s.Event("0.2 s", "ok", "done")
	want := "\r\x1b[2m  0.1 s      / executing: wai…\x1b[0m\x1b[K" + "\r\x1b[K" +
		"  \x1b[2m0.2 s     \x1b[0m \x1b[1;32mok         \x1b[0m\x1b[1;32mdone\x1b[0m\n"
	if b.String() != want {
		t.Errorf("got %q, want %q", b.String(), want)
	}
}

func TestGridIsAligned(t *testing.T) {
	var b bytes.Buffer
	New(&b, func(string) string { return "" }).Grid([][]string{{"", "swap 1", "swap 2"}, {"pays", "1 ETH", "0.5 ETH"}, {"got", "2,992.47 USDC", "-"}})
	want := "        swap 1         swap 2\n  pays  1 ETH          0.5 ETH\n  got   2,992.47 USDC  -\n"
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", &b, want)
	}
}

// Columns that do not fit a narrow terminal continue below, under their own heads.
func TestGridFitsTheTerminal(t *testing.T) {
	var b bytes.Buffer
	s := at(&b, 31)
	s.colour = false
	s.Grid([][]string{{"", "swap 1", "swap 2", "swap 3"}, {"pays", "1 ETH", "0.5 ETH", "2,000 USDC"}, {"got", "2,992.47 USDC", "-", "0.66 WETH"}})
	want := "        swap 1         swap 2\n  pays  1 ETH          0.5 ETH\n  got   2,992.47 USDC  -\n" +
		"\n        swap 3\n  pays  2,000 USDC\n  got   0.66 WETH\n"
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", &b, want)
	}
}

var tokens = struct {
	columns []Column
	rows    [][]string
}{
	[]Column{{Head: "token"}, {Head: "balance", Right: true}, {Head: "name", Shrinks: true}},
	[][]string{{"ETH", "1.5", "Ether"}, {"USDC", "12,000", "a name that is far too long for this terminal"}},
}

func TestTableIsWholeWhereNobodySits(t *testing.T) {
	var b bytes.Buffer
	New(&b, func(string) string { return "" }).Table(tokens.columns, tokens.rows)
	want := "  token  balance  name\n  ETH        1.5  Ether\n  USDC    12,000  a name that is far too long for this terminal\n"
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", &b, want)
	}
}

func TestTableFitsTheTerminal(t *testing.T) {
	var b bytes.Buffer
	s := at(&b, 40)
	s.colour = false
	s.Table(tokens.columns, tokens.rows)
	want := "  token  balance  name\n  ETH        1.5  Ether\n  USDC    12,000  a name that is far to…\n"
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", &b, want)
	}
}

// Colours do not shift columns, and columns are not narrowed below their minimum.
func TestTableInColour(t *testing.T) {
	var b bytes.Buffer
	at(&b, 20).Table([]Column{{Head: "state", Style: func(int) Style { return States["failed"] }}, {Head: "why", Shrinks: true}}, [][]string{{"Failed", "because of this and that"}})
	want := "  \x1b[2mstate\x1b[0m   \x1b[2mwhy\x1b[0m\n  \x1b[1;31mFailed\x1b[0m  because o…\n"
	if b.String() != want {
		t.Errorf("got %q, want %q", b.String(), want)
	}
}

func TestFactsAreAsWideAsTheirLabels(t *testing.T) {
	var b bytes.Buffer
	New(&b, func(string) string { return "" }).Facts([][2]string{{"id", "1"}, {"a longer label", "2"}})
	if want := "  id              1\n  a longer label  2\n"; b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", &b, want)
	}
}

// Text from others cannot inject terminal control sequences.
func TestControlSequencesAreRemoved(t *testing.T) {
	const text = "a\x1b[2Jb\u202ec"
	var b bytes.Buffer
	s := New(&b, func(string) string { return "" })
	s.Paragraph(Plain, text)
	s.Facts([][2]string{{"label", text}})
	s.Event("now", "filled", text)
	s.Table([]Column{{Head: "head"}}, [][]string{{text}})
	s.Quote([]string{text})
	if strings.ContainsAny(b.String(), "\x1b\u202e") {
		t.Errorf("%q", &b)
	}
}

func TestPrintable(t *testing.T) {
	if got := Printable("US\u202eDC\x1b[2J\u200b\n"); got != "USDC[2J" {
		t.Errorf("%q", got)
	}
}

// JSON keeps its value and contains no terminal control characters.
func TestJSONForATerminal(t *testing.T) {
	for _, text := range []string{"a\u009b31mb", "\u202ePDF", "\u200b", "\u007f", "\u2028", "\U000e0041", "é€語😀"} {
		before, err := json.Marshal(map[string]string{"k": text})
		if err != nil {
			t.Fatal(err)
		}
		got := JSON(before)
		var after map[string]string
		if err := json.Unmarshal(got, &after); err != nil || after["k"] != text {
			t.Errorf("%q became %s: %q, %v", text, got, after["k"], err)
		}
		if strings.ContainsFunc(string(got), func(r rune) bool { return !unicode.IsPrint(r) }) {
			t.Errorf("%q: %q steers", text, got)
		}
	}
	if plain := []byte("{\n  \"a b\": \"é\"\n}\n"); &JSON(plain)[0] != &plain[0] {
		t.Error("a text that needs nothing was copied")
	}
}
