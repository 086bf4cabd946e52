package main

import "testing"

// Arguments that only print text need neither a home nor a valid configuration.
func TestWordsNeedNoHome(t *testing.T) {
	for _, arg := range []string{"version", "--version", "help", "--help", "-h"} {
		if err := run(t.Context(), []string{arg}, []string{"SWAPKEEP_HOME=relative"}); err != nil {
			t.Errorf("%s: %v", arg, err)
		}
	}
	if err := run(t.Context(), []string{"--unknown"}, nil); err == nil {
		t.Error("an unknown flag is taken")
	}
}
