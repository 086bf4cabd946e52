package installer

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"syscall"
)

// A Kind is the kind of a change.
type Kind string

const (
	Directory  Kind = "directory"
	Program    Kind = "program"
	Link       Kind = "link"
	Manifest   Kind = "manifest"   // tells a browser where the host is
	Extensions Kind = "extensions" // the file of the extensions that were allowed
	Autostart  Kind = "autostart"  // a file that makes the system start the daemon
	Key        Kind = "key"        // a registry key
	Value      Kind = "value"      // a value in a registry key
)

// A Change is one thing that an installation creates or replaces.
type Change struct {
	Kind     Kind     `json:"kind"`
	Path     string   `json:"path"`               // of a file, directory or link; for a registry key with its hive
	Name     string   `json:"name,omitempty"`     // of a registry value; empty is the key's default
	From     string   `json:"from,omitempty"`     // the file that a program is copied from
	To       string   `json:"to,omitempty"`       // a link's target or a registry value's text
	Content  string   `json:"content,omitempty"`  // of a file that is written
	SHA256   string   `json:"sha256,omitempty"`   // of the new state
	Browsers []string `json:"browsers,omitempty"` // browsers that a manifest or key serves
	Replaces string   `json:"replaces,omitempty"` // sha256 of what is replaced
	merges   bool     // the new content includes what is there, which may be replaced
	ours     bool     // what is there is from an earlier installation or a package
}

// A kind has the operations on things of one Kind.
type kind struct {
	sum    func(m Machine, path, name string) (sha string, there bool, err error)
	make   func(m Machine, c Change) error
	remove func(m Machine, path, name string) error // must exist; a directory or key only if it is empty
}

var kinds map[Kind]kind // set in init: the functions refer to it

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

// isContainer reports whether this kind contains others: removed last and only when empty.
func (k Kind) isContainer() bool { return k == Directory || k == Key }

// errNotEmpty means that a directory or key contains something that is not ours.
var errNotEmpty = errors.New("is not empty")

// Sum returns the sha256 of a text in hex, as in receipts.
func Sum(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// absent reports whether an error means that nothing is at a path, also because a parent
// is not a directory.
func absent(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

// unlessAbsent returns nil if the error means that nothing is there.
func unlessAbsent(err error) error {
	if absent(err) {
		return nil
	}
	return err
}

// there converts the error of a stat to whether something is there.
func there(err error) (bool, error) { return err == nil, unlessAbsent(err) }

// wrongKind is the sum of something of another kind than expected.
const wrongKind = "another kind of file"

func fileSum(m Machine, path, _ string) (string, bool, error) {
	info, err := m.Files.Lstat(path)
	if ok, err := there(err); !ok {
		return "", false, err
	}
	if !info.Mode().IsRegular() {
		return wrongKind, true, nil
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
		return wrongKind, true, nil
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
		return wrongKind, true, nil
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

// copyProgram copies the program that was planned, and fails if it has changed since.
func copyProgram(m Machine, c Change) error {
	content, err := m.Files.ReadFile(c.From)
	if err != nil {
		return err
	}
	if Sum(content) != c.SHA256 {
		return fmt.Errorf("%s was changed meanwhile; try again", c.From)
	}
	return m.Files.Write(c.Path, content, 0o755)
}

// makeDirectory succeeds if the directory exists by now.
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
	removed, err := m.Registry.RemoveEmpty(path)
	if err == nil && !removed {
		return errNotEmpty
	}
	return err
}
