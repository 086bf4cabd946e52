// Package secretscan finds secrets where they must not be. A test gives the product known
// secrets, lets it work, and then searches what it left: directories, logs, the output of
// processes, their environment and arguments.
//
//	s, err := secretscan.New(secretscan.Text("password", pw), secretscan.Key("account", key), secretscan.Words("wallet", words))
//	found, err := s.Dir(home)
//
// A finding names the secret and never shows it.
package secretscan

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// A Secret is a value that must not be found. It is searched for in every form of its kind.
type Secret struct {
	name  string
	value []byte
	kind  kind
}

type kind int

const (
	text kind = iota
	key
	words
)

// Text is a password, a token or an access key, as typed.
func Text[S ~string | ~[]byte](name string, value S) Secret {
	return Secret{name, []byte(value), text}
}

// Key is a key, a seed or entropy, as bytes.
func Key(name string, value []byte) Secret {
	return Secret{name, append([]byte{}, value...), key}
}

// Words is a mnemonic, with spaces between the words. Three of them in a row are found too,
// whatever separates them.
func Words[S ~string | ~[]byte](name string, value S) Secret {
	return Secret{name, []byte(value), words}
}

// A Finding is a place that holds a secret or half of one.
type Finding struct {
	Secret   string // its name
	Encoding string // how it is written there
	Place    string
	Offset   int64
}

func (f Finding) String() string {
	return fmt.Sprintf("%s: %s, as %s, at byte %d", f.Place, f.Secret, f.Encoding, f.Offset)
}

// minSecretBytes is in bytes. Shorter values occur in files by chance.
const minSecretBytes = 8

// A Search searches for some secrets. It must not be used concurrently.
type Search struct {
	needles map[uint64][]needle // by their first eight bytes
	hint    [1 << 16 / 64]uint64
	runs    []mnemonic
	longest int

	files int
	bytes int64
}

// New prepares a search. It refuses secrets so short that they occur by chance.
func New(secrets ...Secret) (*Search, error) {
	s := &Search{needles: map[uint64][]needle{}, longest: maxRunBytes}
	for _, secret := range secrets {
		if len(secret.value) < minSecretBytes {
			return nil, fmt.Errorf("%s is of %d bytes; one that can be searched for has %d", secret.name, len(secret.value), minSecretBytes)
		}
		for _, n := range needlesOf(secret) {
			head := binary.LittleEndian.Uint64(n.bytes)
			s.needles[head] = append(s.needles[head], n)
			s.hint[hash(head)/64] |= 1 << (hash(head) % 64)
			s.longest = max(s.longest, len(n.bytes))
		}
		if secret.kind == words {
			s.runs = append(s.runs, mnemonicOf(secret))
		}
	}
	return s, nil
}

func hash(head uint64) uint64 { return head * 0x9e3779b97f4a7c15 >> 48 }

// Searched returns how much has been searched, so that a test can check it was something.
func (s *Search) Searched() (files int, bytes int64) { return s.files, s.bytes }

// Dir searches every file below a directory, and the names of all entries. The error names
// what could not be read; the findings of the rest are still valid. The contents of
// sockets, pipes and links are not read.
func (s *Search) Dir(path string) (found []Finding, err error) {
	walked := filepath.WalkDir(path, func(at string, entry fs.DirEntry, failed error) error {
		if failed != nil {
			err = errors.Join(err, failed)
			return nil
		}
		found = append(found, s.Bytes("the name of "+at, []byte(entry.Name()))...)
		if !entry.Type().IsRegular() {
			return nil
		}
		more, failed := s.File(at)
		found = append(found, more...)
		if !errors.Is(failed, fs.ErrNotExist) { // removed meanwhile
			err = errors.Join(err, failed)
		}
		return nil
	})
	return found, errors.Join(err, walked)
}

// File searches one file.
func (s *Search) File(path string) ([]Finding, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	found, err := s.Reader(path, f)
	return found, errors.Join(err, f.Close())
}

// chunk is how many bytes of a stream are searched at once.
const chunk = 1 << 20

// Reader searches a stream to its end. Findings have place as their Place.
func (s *Search) Reader(place string, r io.Reader) ([]Finding, error) {
	s.files++
	seen := firstFindings{}
	buffer := make([]byte, 0, chunk+s.longest)
	for from := int64(0); ; {
		n, err := io.ReadFull(r, buffer[len(buffer):cap(buffer)])
		buffer = buffer[:len(buffer)+n]
		s.bytes += int64(n)
		s.scan(buffer, func(f Finding) {
			f.Place, f.Offset = place, f.Offset+from
			seen.add(f)
		})
		switch {
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
			return seen.all(), nil
		case err != nil:
			return seen.all(), fmt.Errorf("%s: %w", place, err)
		}
		kept := copy(buffer, buffer[len(buffer)-s.longest:]) // a secret may span two chunks
		from += int64(len(buffer) - kept)
		buffer = buffer[:kept]
	}
}

// Bytes searches b, such as the output of a program.
func (s *Search) Bytes(place string, b []byte) []Finding {
	seen := firstFindings{}
	s.scan(b, func(f Finding) {
		f.Place = place
		seen.add(f)
	})
	return seen.all()
}

func (s *Search) scan(b []byte, report func(Finding)) {
	for i := 0; i+8 <= len(b); i++ {
		head := binary.LittleEndian.Uint64(b[i:])
		if h := hash(head); s.hint[h/64]>>(h%64)&1 == 0 {
			continue
		}
		for _, n := range s.needles[head] {
			if n.at(b[i:]) {
				report(Finding{Secret: n.secret, Encoding: n.form, Offset: int64(i)})
			}
		}
	}
	if len(s.runs) > 0 {
		scanMnemonics(s.runs, b, report)
	}
}

// firstFindings keeps the first place of each secret and form.
type firstFindings struct{ found []Finding }

func (s *firstFindings) add(f Finding) {
	for _, known := range s.found {
		if known.Secret == f.Secret && known.Encoding == f.Encoding {
			return
		}
	}
	s.found = append(s.found, f)
}

func (s *firstFindings) all() []Finding { return s.found }
