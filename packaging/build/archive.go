package main

import (
	"archive/tar"
	"bytes"
	"cmp"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
)

// An entry is a file or a symbolic link in an archive.
type entry struct {
	Name   string
	Mode   int64
	Source string // file to pack
	Link   string // or target of the link
}

// archive writes a tar.gz of the entries below a directory with the archive's name.
// Everything is sorted, owned by root and has the release's time.
func (r *release) archive(name string, entries []entry) error {
	top := name[:len(name)-len(".tar.gz")]
	var packed bytes.Buffer
	w := tar.NewWriter(&packed)
	folders := map[string]bool{}
	slices.SortFunc(entries, func(a, b entry) int { return cmp.Compare(a.Name, b.Name) })
	for _, e := range entries {
		if err := r.folders(w, folders, path.Dir(path.Join(top, e.Name))); err != nil {
			return err
		}
		if err := r.pack(w, path.Join(top, e.Name), e); err != nil {
			return fmt.Errorf("%s: %w", e.Name, err)
		}
	}
	if err := w.Close(); err != nil {
		return err
	}
	return r.write(filepath.Join(r.out, name), compressed(packed.Bytes()))
}

func (r *release) folders(w *tar.Writer, made map[string]bool, folder string) error {
	if folder == "." || made[folder] {
		return nil
	}
	made[folder] = true
	if err := r.folders(w, made, path.Dir(folder)); err != nil {
		return err
	}
	return w.WriteHeader(r.header(tar.Header{Typeflag: tar.TypeDir, Name: folder + "/", Mode: 0o755}))
}

func (r *release) pack(w *tar.Writer, name string, e entry) error {
	if e.Link != "" {
		return w.WriteHeader(r.header(tar.Header{Typeflag: tar.TypeSymlink, Name: name, Linkname: e.Link, Mode: 0o777}))
	}
	data, err := os.ReadFile(e.Source)
	if err != nil {
		return err
	}
	if err := w.WriteHeader(r.header(tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: e.Mode, Size: int64(len(data))})); err != nil {
		return err
	}
	_, err = w.Write(data)
	return err
}

func (r *release) header(h tar.Header) *tar.Header {
	h.ModTime, h.Uname, h.Gname = r.Time, "root", "root"
	return &h
}
