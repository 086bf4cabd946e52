// Package screen writes output for people: with colours and a progress line on a
// terminal, as plain text elsewhere. It drops terminal control sequences from everything
// it is given.
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
	minWidth   = 60
	labelWidth = 10
	indent     = 2
)

// A Style is the parameters of the ANSI escape that sets a text's appearance.
type Style string

const (
	Plain  Style = ""
	Strong Style = "1"
	Faint  Style = "2"
	Bad    Style = "1;31"
	Good   Style = "1;32"
	Warn   Style = "1;33"
)

// States maps the codes of doctor results and of final states of orders to their styles.
var States = map[string]Style{
	"ok": Good, "warn": Warn, "fail": Bad,
	"filled": Good, "revoked": Good, "filled_short": Warn, "refunded": Warn, "refunded_short": Warn,
	"expired": Warn, "cancelled": Warn, "failed": Bad,
}

// A Screen writes formatted output to one writer.
type Screen struct {
	w      io.Writer
	colour bool
	live   bool // a terminal on which a line can be overwritten
	width  int  // columns for text
	wide   int  // columns for tables: the whole terminal
	label  int  // columns for the labels of facts
	moving bool // the current line is a progress line
	turn   int
	err    error // the first write error
}

// New returns a Screen for w. It detects whether w is a terminal and honours NO_COLOR and
// TERM=dumb.
func New(w io.Writer, getenv func(string) string) *Screen {
	s := &Screen{w: w, width: PageWidth, wide: PageWidth, label: labelWidth}
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return s
	}
	s.live = getenv("TERM") != "dumb"
	s.colour = s.live && getenv("NO_COLOR") == ""
	if width, _, err := term.GetSize(int(f.Fd())); err == nil && width > 0 {
		s.wide = max(width-1, minWidth)
		s.width = min(PageWidth, s.wide)
	}
	return s
}

// Live reports whether w is a terminal on which lines can be overwritten.
func (s *Screen) Live() bool { return s.live }

// Labelled sets the number of columns for the labels of facts and returns s.
func (s *Screen) Labelled(columns int) *Screen { s.label = columns; return s }

// Paint applies a style to text where colours are enabled.
func (s *Screen) Paint(how Style, text string) string {
	if !s.colour || how == Plain || text == "" {
		return text
	}
	return "\x1b[" + string(how) + "m" + text + "\x1b[0m"
}

// Line writes one line without wrapping it.
func (s *Screen) Line(text string) { s.Painted(Plain, text) }

// Painted is Line with a style.
func (s *Screen) Painted(how Style, text string) { s.put(s.Paint(how, Printable(text))) }

// put writes a line that contains no unwanted control characters any more.
func (s *Screen) put(line string) {
	s.ClearProgress()
	if _, err := fmt.Fprintln(s.w, line); err != nil && s.err == nil {
		s.err = err
	}
}

// Err returns the first write error, such as a closed pipe or a full disk.
func (s *Screen) Err() error { return s.err }

func (s *Screen) Blank() { s.Line("") }

func (s *Screen) Title(text string) { s.Paragraph(Strong, text) }

// Heading writes a blank line and a title.
func (s *Screen) Heading(text string) {
	s.Blank()
	s.Title(text)
}

// Paragraph writes text wrapped to the screen's width.
func (s *Screen) Paragraph(how Style, text string) {
	for _, l := range Wrap(text, s.width) {
		s.Painted(how, l)
	}
}

// Fact writes a label and its text, wrapped beside the label.
func (s *Screen) Fact(label, text string) { s.Styled(Plain, label, text) }

// Styled is Fact with a style.
func (s *Screen) Styled(how Style, label, text string) { s.row(how, label, "", text) }

// Event writes the result of a check: subject, state and text.
func (s *Screen) Event(subject, state, text string) {
	s.row(States[state], subject, pad(state, labelWidth)+" ", text)
}

// row writes a label, a column and the text next to them, wrapped over several lines if
// necessary.
func (s *Screen) row(how Style, label, column, text string) {
	margin := strings.Repeat(" ", indent)
	head := margin + s.Paint(Faint, pad(Printable(label), s.label)) + " " + s.Paint(how, Printable(column))
	left := indent + s.label + 1 + len(column)
	for _, l := range Wrap(Printable(text), s.width-left) {
		s.put(strings.TrimRight(head+s.Paint(how, l), " "))
		head = strings.Repeat(" ", left)
	}
}

// Quote writes lines of a log unchanged, except for terminal control characters.
func (s *Screen) Quote(lines []string) {
	for _, l := range lines {
		s.put(strings.Repeat(" ", indent) + s.Paint(Faint, "| "+Printable(l)))
	}
}

// Progress writes what is being waited for on a line that the next output replaces. It
// does nothing where lines cannot be overwritten.
func (s *Screen) Progress(label, text string) {
	if !s.live {
		return
	}
	s.turn++
	l := fmt.Sprintf("%s%s %c %s", strings.Repeat(" ", indent), pad(label, s.label), `|/-\`[s.turn%4], text)
	fmt.Fprint(s.w, "\r"+s.Paint(Faint, Clip(Printable(l), s.width))+"\x1b[K")
	s.moving = true
}

// ClearProgress clears the progress line.
func (s *Screen) ClearProgress() {
	if s.moving {
		fmt.Fprint(s.w, "\r\x1b[K")
		s.moving = false
	}
}
