package source

import (
	"os"
	"testing"
)

// TestHonest checks that the recorded replies give exactly the content of
// testdata/<source>.told. SWAPKEEP_BLESS=1 rewrites those files for review.
func TestHonest(t *testing.T) {
	for _, s := range subjects {
		t.Run(s.name, func(t *testing.T) {
			at := newStage(t)
			at.play(t, s.replies, nil)
			got := all(t.Context(), s.opened(t, at, quick()), append(testTokens, testTokens...))
			for method, err := range got.errs {
				t.Errorf("%s: %v", method, err)
			}
			file := "testdata/" + s.name + ".told"
			if os.Getenv("SWAPKEEP_BLESS") != "" {
				if err := os.WriteFile(file, []byte(got.lines()), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if got.lines() != string(want) {
				t.Errorf("told:\n%s\nwant:\n%s", got.lines(), want)
			}
		})
	}
}
