package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
)

// sums writes SHA256SUMS over all files, in the format of sha256sum -c.
func (r *release) sums() error {
	var list bytes.Buffer
	err := filepath.WalkDir(r.out, func(path string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		sum, err := sumOf(path)
		if err != nil {
			return err
		}
		below, err := filepath.Rel(r.out, path)
		fmt.Fprintf(&list, "%s  %s\n", sum, filepath.ToSlash(below))
		return err
	})
	if err != nil {
		return err
	}
	return r.write(filepath.Join(r.out, "SHA256SUMS"), list.Bytes())
}
