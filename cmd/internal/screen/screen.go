// Package screen writes what people read in a terminal: in colour and with a
// line that moves where somebody sits, plain elsewhere. What could steer a
// terminal is dropped from all that it is given.
package screen

import (
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"
)

// Widths in columns.
const (
	PageWidth  = 100
	leastWidth = 60
	labelWidth = 10
	indent     = 2
)

// A Style is how a text is set off where colours are wanted: the parameters of
// an ANSI escape.
type Style string

// The styles.
const (
	Plain  Style = ""
	Strong Style = "1"
	Faint  Style = "2"
	Bad    Style = "1;31"
	Good   Style = "1;32"
	Warn   Style = "1;33"
)

// States are the styles of orders' ends, of what they become, and of what a doctor
// finds.
var States = map[string]Style{
	"ok": Good, "warn": Warn, "fail": Bad,
	"filled": Good, "refunded": Warn, "expired": Warn, "cancelled": Warn, "failed": Bad,
}

// A Screen is where something is told.
type Screen struct {
	w      io.Writer
	colour bool
	live   bool // a line may be written over
	width  int  // of text
	wide   int  // of tables: all that the terminal has
	label  int  // columns of the labels of facts
	moving bool // a line that will be written over stands there now
	turn   int
	err    error // the first that writing a line gave
}

// New looks at what w is and what the environment asks for (NO_COLOR,
// TERM=dumb).
func New(w io.Writer, getenv func(string) string) *Screen {
	s := &Screen{w: w, width: PageWidth, wide: PageWidth, label: labelWidth}
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return s
	}
	s.live = getenv("TERM") != "dumb"
	s.colour = s.live && getenv("NO_COLOR") == ""
	if width, _, err := term.GetSize(int(f.Fd())); err == nil && width > 0 {
		s.wide = max(width-1, leastWidth)
		s.width = min(PageWidth, s.wide)
	}
	return s
}

// Live reports whether a person may be looking: lines can be written over.
func (s *Screen) Live() bool { return s.live }

// Labelled is s with that many columns for the labels of facts.
func (s *Screen) Labelled(columns int) *Screen { s.label = columns; return s }

// Paint sets text off.
func (s *Screen) Paint(how Style, text string) string {
	if !s.colour || how == Plain || text == "" {
		return text
	}
	return "\x1b[" + string(how) + "m" + text + "\x1b[0m"
}

// Line writes a line, however long it is.
func (s *Screen) Line(text string) { s.Painted(Plain, text) }

// Painted is Line with the text set off.
func (s *Screen) Painted(how Style, text string) { s.put(s.Paint(how, Printable(text))) }

// put writes a line that is fit for a terminal.
func (s *Screen) put(line string) {
	s.Progressed()
	if _, err := fmt.Fprintln(s.w, line); err != nil && s.err == nil {
		s.err = err
	}
}

// Err is why not all lines were written: nobody reads them, or a disk is full.
func (s *Screen) Err() error { return s.err }

// Blank leaves a line free.
func (s *Screen) Blank() { s.Line("") }

// Title writes a line that is set off.
func (s *Screen) Title(text string) { s.Words(Strong, text) }

// Heading is a title after a free line.
func (s *Screen) Heading(text string) {
	s.Blank()
	s.Title(text)
}

// Words writes a text over as many lines as it needs.
func (s *Screen) Words(how Style, text string) {
	for _, l := range Wrap(text, s.width) {
		s.Painted(how, l)
	}
}

// Fact writes a label and its text.
func (s *Screen) Fact(label, text string) { s.Styled(Plain, label, text) }

// Styled is Fact with the text set off.
func (s *Screen) Styled(how Style, label, text string) { s.row(how, label, "", text) }

// Event is a fact of an order: when, in which state, and what.
func (s *Screen) Event(when, state, text string) {
	s.row(States[state], when, pad(state, labelWidth)+" ", text)
}

// row writes label, column and the text beside them, over several lines if
// need be.
func (s *Screen) row(how Style, label, column, text string) {
	margin := strings.Repeat(" ", indent)
	head := margin + s.Paint(Faint, pad(Printable(label), s.label)) + " " + s.Paint(how, Printable(column))
	left := indent + s.label + 1 + len(column)
	for _, l := range Wrap(Printable(text), s.width-left) {
		s.put(strings.TrimRight(head+s.Paint(how, l), " "))
		head = strings.Repeat(" ", left)
	}
}

// Quote writes lines of a log as they are, but for what could steer a terminal.
func (s *Screen) Quote(lines []string) {
	for _, l := range lines {
		s.put(strings.Repeat(" ", indent) + s.Paint(Faint, "| "+Printable(l)))
	}
}

// Progress shows what is waited for, on one line that the next one replaces.
func (s *Screen) Progress(label, text string) {
	if !s.live {
		return
	}
	s.turn++
	l := fmt.Sprintf("%s%s %c %s", strings.Repeat(" ", indent), pad(label, s.label), `|/-\`[s.turn%4], text)
	fmt.Fprint(s.w, "\r"+s.Paint(Faint, Clip(Printable(l), s.width))+"\x1b[K")
	s.moving = true
}

// Progressed takes the moving line away.
func (s *Screen) Progressed() {
	if s.moving {
		fmt.Fprint(s.w, "\r\x1b[K")
		s.moving = false
	}
}
