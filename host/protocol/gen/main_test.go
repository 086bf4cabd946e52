package main

import (
	"bytes"
	"os"
	"testing"
)

func TestDocumentIsFresh(t *testing.T) {
	doc, err := os.ReadFile("../" + document)
	if err != nil {
		t.Fatal(err)
	}
	fresh, err := rewrite(doc)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(doc, fresh) {
		t.Fatal("PROTOCOL.md is stale: run go generate ./host/protocol")
	}
}

func TestRewriteNeedsItsMarkers(t *testing.T) {
	doc, err := os.ReadFile("../" + document)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range sections {
		for _, marker := range []string{"<!-- generated: " + s.name + " -->\n", "<!-- end: " + s.name + " -->"} {
			if _, err := rewrite(bytes.Replace(doc, []byte(marker), nil, 1)); err == nil {
				t.Errorf("no complaint without %q", marker)
			}
		}
		twice := append(bytes.Clone(doc), []byte("<!-- generated: "+s.name+" -->\n")...)
		if _, err := rewrite(twice); err == nil {
			t.Errorf("no complaint about two sections %s", s.name)
		}
	}
	stale := bytes.Replace(doc, []byte("frame of zero length"), []byte("something else"), 1)
	fresh, err := rewrite(stale)
	if err != nil || !bytes.Equal(fresh, doc) {
		t.Errorf("a stale row was not rewritten: %v", err)
	}
}
