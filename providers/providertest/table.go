package providertest

import (
	"fmt"
	"strings"
)

// MarkdownTable renders a Markdown table with a header and one row per element of the list.
func MarkdownTable[T any](head []string, list []T, row func(T) []any) string {
	var b strings.Builder
	fmt.Fprintf(&b, "| %s |\n%s|\n", strings.Join(head, " | "), strings.Repeat("|---", len(head)))
	for _, x := range list {
		b.WriteString("|")
		for _, cell := range row(x) {
			fmt.Fprintf(&b, " %v |", cell)
		}
		b.WriteString("\n")
	}
	return b.String()
}

// InlineCode formats a cell as code.
func InlineCode(v any) string { return fmt.Sprintf("`%v`", v) }
