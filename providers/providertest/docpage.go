package providertest

import (
	"os"
	"strings"
	"testing"
)

// GeneratedPart is a part of a documentation page that is generated from a table in the code: the
// text between <!-- drawn from From --> and <!-- end -->.
type GeneratedPart struct {
	From, Text string
}

// CheckPage fails if the page's generated parts differ from the code's. SWAPKEEP_BLESS=1
// rewrites them.
func CheckPage(t *testing.T, file string, parts ...GeneratedPart) {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	want := string(b)
	for _, d := range parts {
		open, end := "<!-- drawn from "+d.From+" -->\n", "<!-- end -->"
		head, rest, ok := strings.Cut(want, open)
		_, tail, ok2 := strings.Cut(rest, end)
		if !ok || !ok2 {
			t.Fatalf("%s has no place for what %s says", file, d.From)
		}
		want = head + open + d.Text + end + tail
	}
	switch {
	case want == string(b):
	case os.Getenv("SWAPKEEP_BLESS") == "1":
		if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	default:
		t.Errorf("%s is stale: run this test with SWAPKEEP_BLESS=1", file)
	}
}
