package manual

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

func tree() *cobra.Command {
	run := func(*cobra.Command, []string) {}
	root := &cobra.Command{Use: "tool", Short: "A tool"}
	root.PersistentFlags().Bool("json", false, "write JSON")
	pay := &cobra.Command{
		Use: "pay AMOUNT", Short: "Pay", Run: run,
		Long:    ".starts like a request\n\n'so does this, with a back\\slash and a \"quote\"",
		Example: "  tool pay 1.5 -- 'x'",
	}
	pay.Flags().String("to", "", "`address` that is paid")
	root.AddCommand(pay, &cobra.Command{Use: "secret", Hidden: true, Run: run})
	return root
}

func TestPagesAreWritten(t *testing.T) {
	dir := t.TempDir()
	more := []Section{{"EXIT STATUS", []Item{{"0", "Done."}}}}
	if err := Write(dir, tree(), "1.0", more); err != nil {
		t.Fatal(err)
	}
	names, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(names) != 2 { // no page for the hidden command
		t.Fatalf("%v, %v", names, err)
	}
	for name, want := range map[string]string{
		"tool.1":     "EXIT STATUS",
		"tool-pay.1": `\-\-to address`,
	} {
		page, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil || !strings.Contains(string(page), want) {
			t.Errorf("%s lacks %q, %v:\n%s", name, want, err, page)
		}
		if err := check(string(page)); err != nil {
			t.Errorf("%s: %v\n%s", name, err, page)
		}
	}
}

func TestTextIsNotRead(t *testing.T) {
	page := Page(tree().Commands()[0], "1.0", nil)
	for _, want := range []string{"\\&.starts like", `\(aqso does this`, `back\eslash`, "  tool pay 1.5 \\-\\- \\(aqx\\(aq"} {
		if !strings.Contains(page, want) {
			t.Errorf("%q is not in\n%s", want, page)
		}
	}
}

// check returns an error for the first line that roff would misread: an unknown request,
// or a character that is not ASCII.
func check(page string) error {
	known := map[string]bool{".TH": true, ".SH": true, ".TP": true, ".B": true, ".PP": true, ".nf": true, ".fi": true, ".br": true}
	for n, l := range strings.Split(page, "\n") {
		request, _, _ := strings.Cut(l, " ")
		switch {
		case strings.HasPrefix(l, "'"), strings.HasPrefix(l, ".") && !known[request]:
			return fmt.Errorf("line %d: %s is no request of a page", n+1, request)
		case strings.ContainsFunc(l, func(r rune) bool { return r > '~' }):
			return fmt.Errorf("line %d: %q", n+1, l)
		}
	}
	return nil
}
