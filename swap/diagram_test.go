package swap

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the drawn parts of docs/architecture.md")

const page = "../docs/architecture.md"

// TestDiagram: the state diagram in the documentation is the one of the table.
// go test ./swap -run Diagram -update draws it again.
func TestDiagram(t *testing.T) {
	b, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	const open, end = "<!-- drawn from swap/state.go -->\n", "<!-- end -->"
	head, rest, ok := strings.Cut(string(b), open)
	_, tail, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatal("the page has no place for the diagram")
	}
	want := head + open + diagram() + end + tail
	switch {
	case want == string(b):
	case *update:
		if err := os.WriteFile(page, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	default:
		t.Error("docs/architecture.md is stale: go test ./swap -run Diagram -update")
	}
}

// diagram draws the state table in Mermaid, and its rows below.
func diagram() string {
	var b strings.Builder
	b.WriteString("```mermaid\nstateDiagram-v2\n    [*] --> accepted\n")
	for _, r := range table {
		for _, n := range r.Next {
			fmt.Fprintf(&b, "    %s --> %s\n", r.State, n)
		}
		if len(r.Next) == 0 {
			fmt.Fprintf(&b, "    %s --> [*]\n", r.State)
		}
	}
	b.WriteString("```\n\n| State | Meaning | May become |\n|---|---|---|\n")
	for _, r := range table {
		next := make([]string, len(r.Next))
		for i, n := range r.Next {
			next[i] = string(n)
		}
		if len(next) == 0 {
			next = []string{"(final)"}
		}
		means := r.Means
		if r.Revoke != "" {
			means += "; of a revoke: " + r.Revoke
		}
		fmt.Fprintf(&b, "| %s | %s | %s |\n", r.State, means, strings.Join(next, ", "))
	}
	return b.String()
}
