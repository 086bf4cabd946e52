package main

import (
	"bytes"
	"os"
	"testing"
)

func TestFilesAreFresh(t *testing.T) {
	for _, f := range files {
		old, err := os.ReadFile("../" + f.path)
		if err != nil {
			t.Fatal(err)
		}
		fresh, err := f.fresh(old)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(old, fresh) {
			t.Errorf("%s is stale: run go generate ./host/protocol", f.path)
		}
	}
}

func TestMarkdownNeedsItsMarkers(t *testing.T) {
	doc, err := os.ReadFile("../" + files[0].path)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range sections {
		for _, marker := range []string{"<!-- generated: " + s.name + " -->\n", "<!-- end: " + s.name + " -->"} {
			if _, err := markdown(bytes.Replace(doc, []byte(marker), nil, 1)); err == nil {
				t.Errorf("no complaint without %q", marker)
			}
		}
		twice := append(bytes.Clone(doc), []byte("<!-- generated: "+s.name+" -->\n")...)
		if _, err := markdown(twice); err == nil {
			t.Errorf("no complaint about two sections %s", s.name)
		}
	}
	stale := bytes.Replace(doc, []byte("frame of zero length"), []byte("something else"), 1)
	fresh, err := markdown(stale)
	if err != nil || !bytes.Equal(fresh, doc) {
		t.Errorf("a stale row was not rewritten: %v", err)
	}
}
