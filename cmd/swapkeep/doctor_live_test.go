package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestWorldReport: the output of the daemon's program is in the report as it was written,
// and output that is not plain ASCII is refused.
func TestWorldReport(t *testing.T) {
	const text = `{"rows":[{"subject":"dex","chainId":1,"what":"a","verdict":"works","how":"\u202e"}],"answers":[{"raw":{"b":1.50,"a":"\u202e"}}]}` + "\n"
	said, rows, err := parseLive(text)
	if err != nil || len(rows) != 1 || rows[0].How != "\u202e" {
		t.Fatalf("%v, %v", rows, err)
	}
	path := filepath.Join(t.TempDir(), "report.json")
	if err := writeReport(path, said); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if flat := strings.Join(strings.Fields(string(b)), ""); flat != `{"version":"`+version+`",`+strings.TrimSpace(text)[1:] {
		t.Errorf("the report is %s", b)
	}
	term, out := onPaper()
	term.printLive([]liveRow{{"dex", 1, "a router", "no known hash", "code hash 0x1"}, {"dex", 1, "another", "differs", "code hash 0x1 instead of 0x2"}})
	if s := out.String(); !strings.Contains(s, "note") || !strings.Contains(s, "a router: code hash 0x1") || !strings.Contains(s, "0 as expected, 1 different") {
		t.Errorf("said %q", s)
	}
	if worstOf(rows) != nil {
		t.Error("what works is a warning")
	}
	for _, bad := range []string{strings.Replace(text, `\u202e`, "\u202e", 1), "{}", `{"rows":`} {
		if _, _, err := parseLive(bad); err == nil {
			t.Errorf("%q is read", bad)
		}
	}
}
