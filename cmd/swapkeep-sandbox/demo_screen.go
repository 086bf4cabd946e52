package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/term"
)

// Widths in columns.
const (
	pageWidth  = 100
	leastWidth = 60
	labelWidth = 10
	indent     = 2
)

// A style is how a text is set off where colours are wanted: the parameters of
// an ANSI escape.
type style string

const (
	plain  style = ""
	strong style = "1"
	faint  style = "2"
	bad    style = "1;31"
	good   style = "1;32"
	warn   style = "1;33"
)

// stateStyles set off the ends of orders, and what an order becomes.
var stateStyles = map[string]style{
	"filled": good, "refunded": warn, "expired": warn, "cancelled": warn, "failed": bad,
}

// A screen is where the demo is told: in colour and with a line that moves at
// a terminal, plain elsewhere.
type screen struct {
	w      io.Writer
	colour bool
	live   bool // a line may be written over
	width  int
	moving bool // such a line stands there now
	turn   int
}

// newScreen looks at what w is and what the environment asks for (NO_COLOR,
// TERM=dumb).
func newScreen(w io.Writer, getenv func(string) string) *screen {
	s := &screen{w: w, width: pageWidth}
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return s
	}
	s.live = getenv("TERM") != "dumb"
	s.colour = s.live && getenv("NO_COLOR") == ""
	if width, _, err := term.GetSize(int(f.Fd())); err == nil && width > 0 {
		s.width = min(pageWidth, max(width-1, leastWidth))
	}
	return s
}

func (s *screen) paint(how style, text string) string {
	if !s.colour || how == plain || text == "" {
		return text
	}
	return "\x1b[" + string(how) + "m" + text + "\x1b[0m"
}

func (s *screen) line(text string) {
	s.progressed()
	fmt.Fprintln(s.w, text)
}

func (s *screen) blank() { s.line("") }

func (s *screen) title(text string) {
	for _, l := range wrap(text, s.width) {
		s.line(s.paint(strong, l))
	}
}

func (s *screen) heading(text string) {
	s.blank()
	s.title(text)
}

// fact writes a label and its text.
func (s *screen) fact(label, text string) { s.styled(plain, label, text) }

// styled is fact with the text set off.
func (s *screen) styled(how style, label, text string) { s.row(how, label, "", text) }

// event is a fact of an order: when, in which state, and what.
func (s *screen) event(when, state, text string) {
	s.row(stateStyles[state], when, pad(state, labelWidth)+" ", text)
}

// row writes label, column and the text beside them, over several lines if
// need be.
func (s *screen) row(how style, label, column, text string) {
	margin := strings.Repeat(" ", indent)
	head := margin + s.paint(faint, pad(label, labelWidth)) + " " + s.paint(how, column)
	left := indent + labelWidth + 1 + len(column)
	for _, l := range wrap(text, s.width-left) {
		s.line(strings.TrimRight(head+s.paint(how, l), " "))
		head = strings.Repeat(" ", left)
	}
}

// quote writes lines of a log as they are, but for what could steer a terminal.
func (s *screen) quote(lines []string) {
	for _, l := range lines {
		s.line(strings.Repeat(" ", indent) + s.paint(faint, "| "+printable(l)))
	}
}

// progress shows what is waited for, on one line that the next one replaces.
func (s *screen) progress(label, text string) {
	if !s.live {
		return
	}
	s.turn++
	l := fmt.Sprintf("%s%s %c %s", strings.Repeat(" ", indent), pad(label, labelWidth), `|/-\`[s.turn%4], text)
	fmt.Fprint(s.w, "\r"+s.paint(faint, clip(l, s.width))+"\x1b[K")
	s.moving = true
}

// progressed takes the moving line away.
func (s *screen) progressed() {
	if s.moving {
		fmt.Fprint(s.w, "\r\x1b[K")
		s.moving = false
	}
}

// table writes rows in aligned columns, the first row and column as heads.
func (s *screen) table(rows [][]string) {
	var widths []int
	for _, row := range rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	for r, row := range rows {
		l := strings.Repeat(" ", indent)
		for i, cell := range row {
			how := stateStyles[cell]
			switch {
			case i == 0:
				how = faint
			case r == 0:
				how = strong
			}
			l += s.paint(how, pad(cell, widths[i])) + strings.Repeat(" ", indent)
		}
		s.line(strings.TrimRight(l, " "))
	}
}

func pad(text string, width int) string {
	return text + strings.Repeat(" ", max(0, width-utf8.RuneCountInString(text)))
}

func clip(text string, width int) string {
	if r := []rune(text); len(r) > width {
		return string(r[:width])
	}
	return text
}

// wrap breaks text between words. A word longer than the width stands alone.
func wrap(text string, width int) (lines []string) {
	l := ""
	for _, word := range strings.Fields(text) {
		switch {
		case l == "":
			l = word
		case utf8.RuneCountInString(l)+1+utf8.RuneCountInString(word) <= width:
			l += " " + word
		default:
			lines, l = append(lines, l), word
		}
	}
	return append(lines, l)
}

// printable drops what could steer a terminal from words of others.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return -1
	}, text)
}

// logTail is how many lines of a log are shown after a failure.
const logTail = 12

// tail reads the last lines of a file; none when there is no such file.
func tail(path string, n int) []string {
	content, err := os.ReadFile(path)
	content = bytes.TrimSpace(content)
	if err != nil || len(content) == 0 {
		return nil
	}
	lines := strings.Split(string(content), "\n")
	return lines[max(0, len(lines)-n):]
}
