package webtest

import (
	_ "embed"
	"regexp"
	"strings"
)

// spec is the specification of the API, as it was given.
//
//go:embed testdata/price-api.md
var spec string

// A table is a table of the spec with the heading above it.
type table struct {
	heading string
	columns []string
	rows    [][]string
}

// tables extracts the tables of a Markdown text.
func tables(markdown string) (all []table) {
	heading := ""
	var open *table
	for line := range strings.Lines(markdown) {
		line = strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, "#"):
			heading = strings.TrimSpace(strings.TrimLeft(line, "#"))
		case !strings.HasPrefix(line, "|"):
			open = nil
		case open == nil:
			all = append(all, table{heading: heading, columns: cells(line)})
			open = &all[len(all)-1]
		case strings.Trim(line, "|-: ") != "":
			open.rows = append(open.rows, cells(line))
		}
	}
	return all
}

func cells(line string) []string {
	parts := strings.Split(strings.Trim(line, "|"), "|")
	for i := range parts {
		parts[i] = strings.TrimSpace(parts[i])
	}
	return parts
}

// A parameter is an endpoint's parameter as its row describes it.
type parameter struct {
	name string
	path bool
}

var parameterText = regexp.MustCompile(`^(\w+) \(([^)]*)\)$`)

// parameters parses the third cell of an endpoint's row.
func parameters(text string) (all []parameter, ok bool) {
	if text == "none" {
		return nil, true
	}
	for one := range strings.SplitSeq(text, ";") {
		m := parameterText.FindStringSubmatch(strings.TrimSpace(one))
		if m == nil {
			return nil, false
		}
		all = append(all, parameter{name: m[1], path: strings.HasPrefix(m[2], "path")})
	}
	return all, true
}
