package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Marks of the parts of a document that a run writes.
const (
	figuresMark = "figures"
	curvesMark  = "curves"
)

// writeMarkdown puts the table, and the curves if any were drawn, into a document.
func (r report) writeMarkdown(file, curves string) error {
	document, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if document, err = between(document, figuresMark, r.table()); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	if curves != "" {
		dir, err := filepath.Rel(filepath.Dir(file), curves)
		if err != nil {
			return err
		}
		if document, err = between(document, curvesMark, r.pictures(filepath.ToSlash(dir))); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
	}
	return os.WriteFile(file, document, 0o644)
}

// between replaces the text between a pair of marks.
func between(document []byte, mark, text string) ([]byte, error) {
	begin, end := []byte("<!-- "+mark+" -->\n"), []byte("<!-- end of "+mark+" -->\n")
	before, rest, ok := bytes.Cut(document, begin)
	_, after, ended := bytes.Cut(rest, end)
	if !ok || !ended {
		return nil, fmt.Errorf("it has no marks %q and %q, each on a line of its own", bytes.TrimSpace(begin), bytes.TrimSpace(end))
	}
	return bytes.Join([][]byte{before, begin, []byte("\n" + text + "\n"), end, after}, nil), nil
}

// from describes where the figures come from.
func (r report) from() string {
	return fmt.Sprintf("%s; %s; %s, %s.\n\n", r.Source, r.Machine, r.Began.Format(time.DateOnly), r.Took)
}

func (r report) table() string {
	var b strings.Builder
	b.WriteString(r.from())
	rows := [][]string{columns, {"---", "---", "---", "---", "---", "---", "---"}}
	for _, row := range r.Rows {
		rows = append(rows, row.cells())
	}
	for _, cells := range rows {
		fmt.Fprintf(&b, "| %s |\n", strings.Join(cells, " | "))
	}
	for _, why := range r.reasons() {
		fmt.Fprintf(&b, "\n%s\n", why)
	}
	return b.String()
}

// pictures shows the curves, and the figures of each.
func (r report) pictures(dir string) string {
	var b strings.Builder
	b.WriteString(r.from())
	for i, c := range r.Curves {
		if i > 0 {
			b.WriteString("\n")
		}
		if c.Error != "" {
			fmt.Fprintf(&b, "%s: %s\n", c.Title, c.Error)
			continue
		}
		fmt.Fprintf(&b, "![%s](%s/%s)\n\n<details><summary>In figures</summary>\n\n%s\n</details>\n", c.Title, dir, c.File, c.table())
	}
	return b.String()
}

// table has a line for each point of the first line, which has all of them.
func (d measuredCurve) table() string {
	head, rule := []string{d.Along}, []string{"---:"}
	for _, l := range d.Lines {
		head, rule = append(head, l.Name), append(rule, "---:")
	}
	rows := [][]string{head, rule}
	for i, p := range d.Lines[0].Points {
		row := []string{thousands(p.X)}
		for _, l := range d.Lines {
			cell := "–"
			if i < len(l.Points) && l.Points[i].X == p.X {
				cell = d.unit.show(l.Points[i].Y)
			}
			row = append(row, cell)
		}
		rows = append(rows, row)
	}
	var b strings.Builder
	for _, row := range rows {
		fmt.Fprintf(&b, "| %s |\n", strings.Join(row, " | "))
	}
	return b.String()
}
