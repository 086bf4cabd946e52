// Package manual writes the manual pages of a command line: one for each command, from
// its help.
package manual

import (
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// A Section is an additional section of the first page.
type Section struct {
	Title string
	Items []Item
}

// An Item is a term and its description.
type Item struct{ Term, Text string }

// Write writes the pages of root and its subcommands to an existing directory: name.1 and
// name-command.1. They contain no date, so that the same program gives the same pages.
func Write(dir string, root *cobra.Command, version string, more []Section) error {
	var err error
	for _, cmd := range pages(root) {
		sections := more
		if cmd != root {
			sections = nil
		}
		name := filepath.Join(dir, pageName(cmd)+".1")
		err = errors.Join(err, os.WriteFile(name, []byte(Page(cmd, version, sections)), 0o644))
	}
	return err
}

// pages returns a command and its available subcommands.
func pages(cmd *cobra.Command) []*cobra.Command {
	out := []*cobra.Command{cmd}
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			out = append(out, pages(c)...)
		}
	}
	return out
}

func pageName(cmd *cobra.Command) string { return strings.ReplaceAll(cmd.CommandPath(), " ", "-") }

// Page returns the manual page of one command.
func Page(cmd *cobra.Command, version string, more []Section) string {
	p := &page{}
	name := pageName(cmd)
	p.macro(".TH", strings.ToUpper(name), "1", "", "swapkeep "+version, "Swapkeep manual")
	p.section("NAME")
	p.text(name + " - " + lower(cmd.Short))
	p.section("SYNOPSIS")
	p.synopsis(cmd)
	p.section("DESCRIPTION")
	p.paragraphs(firstOf(cmd.Long, cmd.Short+"."))
	p.commands(cmd)
	p.flags("OPTIONS", cmd.NonInheritedFlags())
	p.flags("GLOBAL OPTIONS", cmd.InheritedFlags())
	if cmd.Example != "" {
		p.section("EXAMPLES")
		p.literal(cmd.Example)
	}
	for _, s := range more {
		p.section(s.Title)
		for _, i := range s.Items {
			p.item(i.Term, i.Text)
		}
	}
	p.seeAlso(cmd)
	return p.String()
}

func firstOf(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// lower puts the first letter of a capitalized word in lower case.
func lower(s string) string {
	if len(s) < 2 || s[1] < 'a' || s[1] > 'z' {
		return s
	}
	return strings.ToLower(s[:1]) + s[1:]
}

func (p *page) synopsis(cmd *cobra.Command) {
	if cmd.Runnable() {
		p.macro(".B", cmd.UseLine())
	}
	if cmd.HasAvailableSubCommands() {
		if cmd.Runnable() {
			p.line(".br")
		}
		p.macro(".B", cmd.CommandPath()+" COMMAND")
	}
}

func (p *page) commands(cmd *cobra.Command) {
	if !cmd.HasAvailableSubCommands() {
		return
	}
	p.section("COMMANDS")
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			p.item(c.CommandPath(), c.Short+".")
		}
	}
}

func (p *page) flags(title string, set *pflag.FlagSet) {
	if !set.HasAvailableFlags() {
		return
	}
	p.section(title)
	set.VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		value, usage := pflag.UnquoteUsage(f)
		term := "--" + f.Name
		if f.Shorthand != "" {
			term = "-" + f.Shorthand + ", " + term
		}
		if value != "" {
			term += " " + value
		}
		p.item(term, usage)
	})
}

func (p *page) seeAlso(cmd *cobra.Command) {
	var names []string
	if cmd.HasParent() {
		names = append(names, pageName(cmd.Parent())+"(1)")
	}
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			names = append(names, pageName(c)+"(1)")
		}
	}
	if len(names) > 0 {
		p.section("SEE ALSO")
		p.text(strings.Join(names, ", "))
	}
}

// A page is a manual page in roff.
type page struct{ strings.Builder }

func (p *page) line(s string) { p.WriteString(s + "\n") }

// macro writes a roff request with quoted arguments.
func (p *page) macro(name string, args ...string) {
	for _, a := range args {
		name += ` "` + strings.ReplaceAll(escape(a), `"`, `\(dq`) + `"`
	}
	p.line(name)
}

func (p *page) section(title string) { p.macro(".SH", title) }

func (p *page) item(term, text string) {
	p.line(".TP")
	p.macro(".B", term)
	p.text(text)
}

// text writes text that roff fills into lines.
func (p *page) text(s string) {
	for _, l := range strings.Split(s, "\n") {
		p.line(guarded(escape(l)))
	}
}

// paragraphs writes text whose paragraphs are separated by empty lines.
func (p *page) paragraphs(s string) {
	for i, part := range strings.Split(s, "\n\n") {
		if i > 0 {
			p.line(".PP")
		}
		p.text(part)
	}
}

// literal writes lines without filling.
func (p *page) literal(s string) {
	p.line(".nf")
	p.text(s)
	p.line(".fi")
}

// escape escapes the characters that are special in roff.
func escape(s string) string {
	return strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`, "’", `\(cq`, "≥", ">=").Replace(s)
}

// guarded keeps a text line from being read as a request.
func guarded(l string) string {
	if strings.HasPrefix(l, ".") || strings.HasPrefix(l, `'`) {
		return `\&` + l
	}
	return l
}
