package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestMarkdown checks that figures are written only between a document's marks.
func TestMarkdown(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "performance.md")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	r := report{Took: "1s", Rows: []Row{{What: "a row", Ours: figureOf([]float64{1500}), unit: inTime, Goal: "≤ 2 µs", Verdict: hit}}, Curves: []measuredCurve{sample(100, 120)}}
	const document = "before\n<!-- figures -->\nold\n<!-- end of figures -->\nbetween\n<!-- curves -->\n<!-- end of curves -->\nafter\n"
	write(document)
	var texts [2]string
	for i := range texts {
		if err := r.writeMarkdown(file, filepath.Join(dir, "pictures")); err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		texts[i] = string(b)
	}
	if texts[0] != texts[1] || strings.Contains(texts[0], "old") {
		t.Errorf("%s\n%s", texts[0], texts[1])
	}
	for _, want := range []string{"before\n<!-- figures -->\n", "| a row | 1.50 µs | – | – | – | ≤ 2 µs | hit |", "between\n", "](pictures/a.svg)", "| 20 | 120 ns | – |", "<!-- end of curves -->\nafter\n"} {
		if !strings.Contains(texts[0], want) {
			t.Errorf("no %q in %s", want, texts[0])
		}
	}
	performance, err := os.ReadFile("../docs/performance.md")
	if err != nil {
		t.Fatal(err)
	}
	write(string(performance))
	if err := r.writeMarkdown(file, dir); err != nil {
		t.Errorf("docs/performance.md: %v", err)
	}
	write("no marks")
	if err := r.writeMarkdown(file, ""); err == nil {
		t.Error("figures were put into a document without marks")
	}
	if err := run(t.Context(), places{}, options{markdown: file, short: true}); !errors.Is(err, errPart) {
		t.Errorf("a short run's figures go into a document: %v", err)
	}
}
