package doctor

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
)

// Characters that are not special in any shell.
const (
	plain        = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+:@%,~"
	plainWindows = `abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789\:._-`
)

// quoted returns a path as one word of the machine's shell, unquoted if possible. Paths
// on Windows contain no quotation marks.
func (p *Env) quoted(path string) string {
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

// moveAside returns the command that renames a file, followed by the command then.
func (p *Env) moveAside(path, then string) string {
	words := p.quoted(path) + " " + p.quoted(path+".damaged")
	if p.Machine.OS == "windows" { // its two shells have no common &&
		return "move " + words + ", then " + then
	}
	return "mv " + words + " && " + then
}

// kill returns the command that ends a process.
func (p *Env) kill(pid int) string {
	if p.Machine.OS == "windows" {
		return fmt.Sprintf("taskkill /F /PID %d", pid) // a program without a window does not react to less
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

// parent returns the directory of a path of the machine.
func (p *Env) parent(path string) string {
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

// under returns a path below a directory of the machine. below has slashes.
func (p *Env) under(dir, below string) string {
	if p.Machine.OS == "windows" {
		return dir + `\` + strings.ReplaceAll(below, "/", `\`)
	}
	return dir + "/" + below
}

// from returns the target of a link in a directory of the machine.
func (p *Env) from(dir, to string) string {
	if p.Machine.OS != "windows" {
		if path.IsAbs(to) {
			return to
		}
		return path.Join(dir, to)
	}
	to = strings.ReplaceAll(to, "/", `\`)
	switch {
	case strings.Contains(to, ":"), strings.HasPrefix(to, `\\`): // on any disk, or on another machine
		return to
	case strings.HasPrefix(to, `\`): // on the same disk
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

// mergeSame merges findings with the same text into one, about all their subjects.
func mergeSame(findings []Finding) (out []Finding) {
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

// lastLine returns the last line of a text.
func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(strings.ToValidUTF8(text, "")), "\n")
	return strings.TrimSpace(lines[len(lines)-1])
}
