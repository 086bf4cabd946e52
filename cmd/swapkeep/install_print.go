package main

import (
	"fmt"
	"strings"

	"swapkeep/cmd/internal/screen"
	"swapkeep/installer"
)

// States of an installation in the JSON output.
const (
	planned   = "planned"
	installed = "installed"
	nothing   = "nothing to do"
)

// planOutput is the output of install --json.
type planOutput struct {
	State string `json:"state"`
	*installer.Plan
	Handover *handover `json:"handover,omitempty"`
	Old      []string  `json:"old,omitempty"` // directories of earlier versions that were removed, or would be
}

// titles describe the states for people.
var titles = map[string]string{
	planned:   "Planned changes:",
	installed: "Swapkeep is installed.",
	nothing:   "Swapkeep is already installed; nothing to do.",
}

func (t *terminal) printPlan(said planOutput) error {
	if t.json {
		return writeJSON(t.out, said)
	}
	plan := said.Plan
	t.result.Title(titles[said.State])
	if len(plan.Changes) > 0 {
		t.result.Table(make([]screen.Column, 3), changeRows(plan))
	}
	if said.State == planned && len(plan.Foreign) > 0 {
		t.result.Paragraph(screen.Warn, "Another file is in the way; it is replaced only if you confirm:")
		for _, f := range plan.Foreign {
			t.result.Line("  " + f.String())
		}
	}
	t.printHandover(said)
	t.printBrowsers(plan)
	for _, w := range plan.Warnings {
		t.result.Paragraph(screen.Warn, w)
	}
	return nil
}

// printHandover prints what happens to the running daemon and to earlier versions.
func (t *terminal) printHandover(said planOutput) {
	h, gave, unlock, gone := said.Handover, "was replaced", "Unlock your wallet again: orders", "The programs of an earlier version were removed: "
	if said.State == planned {
		gave, unlock, gone = "would be stopped and replaced", "Your wallet would be locked: orders", "The programs of an earlier version would be removed: "
	}
	if h != nil {
		t.result.Line(fmt.Sprintf("The daemon of %s %s by that of %s; open orders: %d.", h.From, gave, h.To, h.OpenOrders))
		if h.Locked {
			t.result.Paragraph(screen.Warn, unlock+" that still need a signature wait for it.")
		}
	}
	for _, dir := range said.Old {
		t.result.Line(gone + dir)
	}
}

// verbs describe the change to each kind of thing.
var verbs = map[installer.Kind]string{
	installer.Directory: "make folder", installer.Program: "copy program", installer.Link: "make link", installer.Manifest: "write manifest",
	installer.Extensions: "allow extensions", installer.Autostart: "start at login", installer.Key: "make key", installer.Value: "set value",
}

func changeRows(plan *installer.Plan) (rows [][]string) {
	for _, c := range plan.Changes {
		about := ""
		switch {
		case c.Kind == installer.Link:
			about = "to " + c.To
		case len(c.Browsers) > 0:
			about = "for " + strings.Join(c.Browsers, ", ")
		}
		rows = append(rows, []string{"  " + verbs[c.Kind], strings.TrimSpace(c.Path + " " + c.Name), about})
	}
	return append(rows, []string{"  write receipts", plan.Receipts, ""})
}

// printBrowsers prints which browsers need more, were skipped, or were not found.
func (t *terminal) printBrowsers(plan *installer.Plan) {
	for _, s := range plan.Sandboxed {
		t.result.Heading(fmt.Sprintf("%s as %s %s needs more:", s.Browser, s.Box, s.App))
		for _, need := range s.Needs {
			t.result.Paragraph(screen.Plain, need)
		}
		for _, command := range s.Commands { // whole lines, to be copied
			t.result.Line("  " + command)
		}
	}
	var absent []string
	for _, s := range plan.Skipped {
		if s.Absent {
			absent = append(absent, s.Browser)
			continue
		}
		t.result.Paragraph(screen.Warn, s.String())
	}
	if plan.Browsers() == 0 {
		t.result.Paragraph(screen.Warn, "No browser will find it: give one with --browser, or all with --all.")
	}
	if len(absent) > 0 {
		t.result.Paragraph(screen.Faint, "Not found on this machine: "+strings.Join(absent, ", ")+".")
	}
}
