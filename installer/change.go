package installer

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"syscall"
)

// A Kind is what is made.
type Kind string

// The kinds.
const (
	Directory  Kind = "directory"
	Program    Kind = "program"
	Link       Kind = "link"
	Manifest   Kind = "manifest"   // by which a browser finds the host
	Extensions Kind = "extensions" // the file of the extensions that were let in
	Autostart  Kind = "autostart"  // a file by which the system starts the daemon
	Key        Kind = "key"        // of the registry
	Value      Kind = "value"      // in a registry key
)

// A Change is one thing that an installation makes or replaces.
type Change struct {
	Kind     Kind     `json:"kind"`
	Path     string   `json:"path"`               // of a file, a folder or a link; of a registry key with its hive
	Name     string   `json:"name,omitempty"`     // of a registry value; empty is the key's default
	From     string   `json:"from,omitempty"`     // the file that a program is copied from
	To       string   `json:"to,omitempty"`       // a link's target or a value's text
	Content  string   `json:"content,omitempty"`  // of a file that is written
	SHA256   string   `json:"sha256,omitempty"`   // of what will be there
	Browsers []string `json:"browsers,omitempty"` // whom a manifest or key serves
	Replaces string   `json:"replaces,omitempty"` // the sha256 of what is there and gives way
	merges   bool     // what is there is part of what will be, and gives way
	ours     bool     // what is there is an earlier installation's, or a package's
}

// A kind is how things of it are made, looked at and removed.
type kind struct {
	sum    func(m Machine, path, name string) (sha string, there bool, err error)
	make   func(m Machine, c Change) error
	remove func(m Machine, path, name string) error // of one that is there; of a folder or key only an empty one
}

var kinds map[Kind]kind // filled at start: the functions look into it

func init() {
	written := kind{fileSum, writeFile, removeFile}
	kinds = map[Kind]kind{
		Directory:  {directorySum, makeDirectory, removeFile},
		Program:    {fileSum, copyProgram, removeFile},
		Link:       {linkSum, func(m Machine, c Change) error { return m.Files.Symlink(c.To, c.Path) }, removeFile},
		Manifest:   written,
		Extensions: written,
		Autostart:  written,
		Key:        {keySum, func(m Machine, c Change) error { return m.Registry.Make(c.Path) }, removeKey},
		Value: {valueSum, func(m Machine, c Change) error { return m.Registry.Set(c.Path, c.Name, c.To) },
			func(m Machine, path, name string) error { return m.Registry.Unset(path, name) }},
	}
}

func (k Kind) inRegistry() bool { return k == Key || k == Value }

// holds reports whether things of this kind hold others and go last, when empty.
func (k Kind) holds() bool { return k == Directory || k == Key }

// errNotEmpty: a folder or key holds what is not ours.
var errNotEmpty = errors.New("is not empty")

// Sum is the sha256 of a text, as receipts write it.
func Sum(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// absent reports whether an error says that nothing is at a path: also that what would
// be a folder on the way to it is none.
func absent(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

// unlessAbsent is nil for an error that says that there is nothing.
func unlessAbsent(err error) error {
	if absent(err) {
		return nil
	}
	return err
}

// there makes of an error whether there is anything.
func there(err error) (bool, error) { return err == nil, unlessAbsent(err) }

// odd is the sum of what is no thing of the kind that was looked for.
const odd = "another kind of file"

func fileSum(m Machine, path, _ string) (string, bool, error) {
	info, err := m.Files.Lstat(path)
	if ok, err := there(err); !ok {
		return "", false, err
	}
	if !info.Mode().IsRegular() {
		return odd, true, nil
	}
	content, err := m.Files.ReadFile(path)
	return Sum(content), err == nil, err
}

func linkSum(m Machine, path, _ string) (string, bool, error) {
	info, err := m.Files.Lstat(path)
	if ok, err := there(err); !ok {
		return "", false, err
	}
	if info.Mode()&fs.ModeSymlink == 0 {
		return odd, true, nil
	}
	target, err := m.Files.Readlink(path)
	return Sum([]byte(target)), err == nil, err
}

func directorySum(m Machine, path, _ string) (string, bool, error) {
	info, err := m.Files.Lstat(path)
	if ok, err := there(err); !ok {
		return "", false, err
	}
	if !info.IsDir() {
		return odd, true, nil
	}
	return "", true, nil
}

func keySum(m Machine, path, _ string) (string, bool, error) {
	is, err := m.Registry.Exists(path)
	return "", is, err
}

func valueSum(m Machine, path, name string) (string, bool, error) {
	text, is, err := m.Registry.Value(path, name)
	return Sum([]byte(text)), is, err
}

func writeFile(m Machine, c Change) error { return m.Files.Write(c.Path, []byte(c.Content), 0o644) }

// copyProgram copies what was planned to be copied, and nothing that took its place.
func copyProgram(m Machine, c Change) error {
	content, err := m.Files.ReadFile(c.From)
	if err != nil {
		return err
	}
	if Sum(content) != c.SHA256 {
		return fmt.Errorf("%s has changed since it was looked at; run this again", c.From)
	}
	return m.Files.Write(c.Path, content, 0o755)
}

// makeDirectory is content with a folder that is there by now.
func makeDirectory(m Machine, c Change) error {
	err := m.Files.Mkdir(c.Path, m.modeOf(c.Path))
	if !errors.Is(err, fs.ErrExist) {
		return err
	}
	if info, err := m.Files.Stat(c.Path); err != nil || !info.IsDir() {
		return fmt.Errorf("%s is not a folder; move it away", c.Path)
	}
	return nil
}

func removeFile(m Machine, path, _ string) error { return m.Files.Remove(path) }

func removeKey(m Machine, path, _ string) error {
	gone, err := m.Registry.RemoveEmpty(path)
	if err == nil && !gone {
		return errNotEmpty
	}
	return err
}
