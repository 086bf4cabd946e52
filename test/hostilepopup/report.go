//go:build faults && linux

package main

import (
	"fmt"
	"io"
	"text/tabwriter"
)

// A row is the result of an attempt, in US dollars.
type row struct {
	name     string
	can      string
	moved    float64 // paid into swaps
	taken    float64 // lost in the end, gas included
	happened string
}

func printRows(out io.Writer, rows []row) {
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "attempt\tcapability\tmoved $\ttaken $\tresult")
	for _, r := range rows {
		fmt.Fprintf(t, "%s\t%s\t%.2f\t%.2f\t%s\n", r.name, r.can, r.moved, r.taken, r.happened)
	}
	_ = t.Flush()
	fmt.Fprintln(out, "outside: reading the password or new words while they are in the page (test/browser TestScriptInThePopup, TestOnboarding)")
}
