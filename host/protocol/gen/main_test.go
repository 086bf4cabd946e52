package main

import (
	"bytes"
	"os"
	"testing"
)

func TestFilesAreFresh(t *testing.T) {
	for _, f := range files {
		if old, err := os.ReadFile("../" + f.path); err != nil || !bytes.Equal(old, f.text()) {
			t.Errorf("%s is stale: run go generate ./host/protocol: %v", f.path, err)
		}
	}
}
