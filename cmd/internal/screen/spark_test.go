package screen

import "testing"

func TestSpark(t *testing.T) {
	for want, figures := range map[string][]Figure{
		"▁█":   {{0, 1}, {1, 2}},
		"▅▅":   {{0.1, 3}, {0.9, 3}},
		" ▅":   {{0.7, 5}},
		"▁▅█▁": {{0, 1}, {0.3, 2}, {0.5, 3}, {0.6, 3}, {0.99, 1}, {2, 9}, {-1, 9}},
	} {
		if got := Spark(figures, len([]rune(want))); got != want {
			t.Errorf("%v: %q, want %q", figures, got, want)
		}
	}
	if got := Spark(nil, 3); got != "   " {
		t.Errorf("nothing is drawn as %q", got)
	}
	if got := Spark([]Figure{{0, 1}}, 0); got != "" {
		t.Errorf("no columns hold %q", got)
	}
}
