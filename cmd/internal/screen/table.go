package screen

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// A Column describes a column of a table.
type Column struct {
	Head    string
	Right   bool // right-aligned, for numbers
	Shrinks bool // may be narrowed to fit the terminal
	Style   func(row int) Style
}

// minColumn is the minimum width of a column that may be narrowed.
const minColumn = 8

// gap separates two columns.
const gap = "  "

// Table writes rows in aligned columns under their heads. Cells are truncated only on a
// terminal.
func (s *Screen) Table(columns []Column, rows [][]string) {
	heads := make([]string, len(columns))
	for i, c := range columns {
		heads[i] = c.Head
	}
	widths := widthsOf(append([][]string{heads}, rows...))
	if s.live {
		s.narrow(columns, widths)
	}
	if strings.Join(heads, "") != "" {
		s.cells(columns, widths, heads, func(int) Style { return Faint })
	}
	for r, row := range rows {
		s.cells(columns, widths, row, func(i int) Style {
			if i < len(columns) && columns[i].Style != nil {
				return columns[i].Style(r)
			}
			return Plain
		})
	}
}

// Grid writes a table whose first row and first column are heads. A cell that is a code of
// States has its style. Columns that do not fit the width continue below, under their own
// heads.
func (s *Screen) Grid(rows [][]string) {
	widths := widthsOf(rows)
	for from := 1; from < len(widths); {
		to := from
		for room := s.width - indent - widths[0]; to < len(widths) && (to == from || room >= len(gap)+widths[to]); to++ {
			room -= len(gap) + widths[to]
		}
		if from > 1 {
			s.Blank()
		}
		for r, row := range rows {
			s.gridRow(r, append(widths[:1:1], widths[from:to]...), append(row[:1:1], row[min(from, len(row)):min(to, len(row))]...))
		}
		from = to
	}
}

func (s *Screen) gridRow(r int, widths []int, row []string) {
	s.cells(nil, widths, row, func(i int) Style {
		switch {
		case i == 0:
			return Faint
		case r == 0:
			return Strong
		}
		return States[row[i]]
	})
}

func (s *Screen) cells(columns []Column, widths []int, row []string, how func(column int) Style) {
	l := strings.Repeat(" ", indent)
	for i, cell := range row {
		cell = Clip(Printable(cell), widths[i])
		blank := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
		painted := s.Paint(how(i), cell)
		if i < len(columns) && columns[i].Right {
			l += blank + painted + gap
		} else {
			l += painted + blank + gap
		}
	}
	s.put(strings.TrimRight(l, " "))
}

func widthsOf(rows [][]string) (widths []int) {
	for _, row := range rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	return widths
}

// narrow shrinks the widest column that may be narrowed, one column at a time, until the
// table fits or nothing can shrink further.
func (s *Screen) narrow(columns []Column, widths []int) {
	over := indent + len(gap)*(len(widths)-1) - s.wide
	for _, w := range widths {
		over += w
	}
	for ; over > 0; over-- {
		widest := -1
		for i, c := range columns {
			if c.Shrinks && widths[i] > minColumn && (widest < 0 || widths[i] > widths[widest]) {
				widest = i
			}
		}
		if widest < 0 {
			return
		}
		widths[widest]--
	}
}

// Longest returns the number of runes of the longest text.
func Longest(texts ...string) int {
	n := 0
	for _, t := range texts {
		n = max(n, utf8.RuneCountInString(t))
	}
	return n
}

// Facts writes labels and texts, with the label column as wide as the longest label.
func (s *Screen) Facts(rows [][2]string) {
	labels := make([]string, 0, len(rows))
	for _, r := range rows {
		labels = append(labels, r[0])
	}
	before := s.label
	s.label = Longest(labels...) + 1
	for _, r := range slices.Clone(rows) {
		s.Fact(r[0], r[1])
	}
	s.label = before
}
