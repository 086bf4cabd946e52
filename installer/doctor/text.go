package doctor

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
)

// Characters that no shell takes for its own.
const (
	plain        = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+:@%,~"
	plainWindows = `abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789\:._-`
)

// quoted is a path as one word of the machine's shell, as it is where that is enough. No
// path of Windows has a quotation mark in it.
func (p *Patient) quoted(path string) string {
	windows, harmless := p.Machine.OS == "windows", plain
	if windows {
		harmless = plainWindows
	}
	switch {
	case path != "" && strings.Trim(path, harmless) == "":
		return path
	case windows:
		return `"` + path + `"`
	}
	return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
}

// moveAside is the command by which a file makes room for a new one, which another makes.
func (p *Patient) moveAside(path, then string) string {
	words := p.quoted(path) + " " + p.quoted(path+".damaged")
	if p.Machine.OS == "windows" { // whose two shells have no && in common
		return "move " + words + ", then " + then
	}
	return "mv " + words + " && " + then
}

// kill is the command that ends a process.
func (p *Patient) kill(pid int) string {
	if p.Machine.OS == "windows" {
		return fmt.Sprintf("taskkill /F /PID %d", pid) // a program without a window hears nothing milder
	}
	return fmt.Sprintf("kill %d", pid)
}

func oneLine(err error) string { return strings.ReplaceAll(err.Error(), "\n", "; ") }

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// parent is the folder of a path of the machine.
func (p *Patient) parent(path string) string {
	sep := "/"
	if p.Machine.OS == "windows" {
		sep = `\`
	}
	i := strings.LastIndex(path, sep)
	if i <= 0 {
		return sep
	}
	return path[:i]
}

var errTooLarge = errors.New("too large to be read")

// under is a path below a folder of the machine, given with slashes.
func (p *Patient) under(dir, below string) string {
	if p.Machine.OS == "windows" {
		return dir + `\` + strings.ReplaceAll(below, "/", `\`)
	}
	return dir + "/" + below
}

// from is where a link in a folder of the machine leads.
func (p *Patient) from(dir, to string) string {
	if p.Machine.OS != "windows" {
		if path.IsAbs(to) {
			return to
		}
		return path.Join(dir, to)
	}
	to = strings.ReplaceAll(to, "/", `\`)
	switch {
	case strings.Contains(to, ":"), strings.HasPrefix(to, `\\`): // of any disk, or another machine's
		return to
	case strings.HasPrefix(to, `\`): // of the same disk
		return dir[:min(2, len(dir))] + to
	}
	for {
		first, rest, more := strings.Cut(to, `\`)
		switch first {
		case "", ".":
		case "..":
			dir = p.parent(dir)
		default:
			dir = p.under(dir, first)
		}
		if !more {
			return dir
		}
		to = rest
	}
}

// joined are findings of which those that say the same are one, about all.
func joined(findings []Finding) (out []Finding) {
	for _, f := range findings {
		same := func(o Finding) bool { return o.Status == f.Status && o.Evidence == f.Evidence && o.Remedy == f.Remedy }
		if i := slices.IndexFunc(out, same); i >= 0 {
			out[i].About += ", " + f.About
			continue
		}
		out = append(out, f)
	}
	return out
}

// lastLine is the last line of a text.
func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(strings.ToValidUTF8(text, "")), "\n")
	return strings.TrimSpace(lines[len(lines)-1])
}
