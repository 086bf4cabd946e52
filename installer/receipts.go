package installer

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"time"

	"swapkeep/manifest"
)

// Receipts record what an installation made. They are written before the first change, so
// that a crash leaves nothing that they do not name.
type Receipts struct {
	Format  int            `json:"format"`
	Scope   manifest.Scope `json:"scope"`
	Entries []Receipt      `json:"entries"`
}

// A Receipt is one thing that was made, or was about to be made.
type Receipt struct {
	Kind    Kind      `json:"kind"`
	Path    string    `json:"path"`             // of a file, directory or link; for a registry key with its hive
	Name    string    `json:"name,omitempty"`   // of a registry value; empty is the key's default value
	SHA256  string    `json:"sha256,omitempty"` // of the file, the link's target or the value's text, in hex
	Before  string    `json:"before,omitempty"` // while pending: sha256 of our older content that is replaced
	Pending bool      `json:"pending,omitempty"`
	Time    time.Time `json:"time"`
	Version string    `json:"version"` // of the installing program
	Owner   string    `json:"owner"`   // program that browsers were to start
}

const (
	receiptsName   = "receipts.json"
	receiptsFormat = 1
	maxReceipts    = 1 << 20 // bytes
)

// ErrReceipts means that the receipts cannot be used.
var ErrReceipts = errors.New("receipts.json is unusable")

// ReadReceipts reads a scope's receipts; without a file they are empty. It returns
// ErrReceipts with what to do.
func ReadReceipts(m Machine, scope manifest.Scope) (*Receipts, error) {
	path, err := ReceiptsPath(m, scope)
	if err != nil {
		return nil, err
	}
	bad := func(why error) error {
		return fmt.Errorf("%w: %s: %w; move it away, install again and compare", ErrReceipts, path, why)
	}
	if err := m.trusted(path, scope); absent(err) {
		return &Receipts{Format: receiptsFormat, Scope: scope}, nil
	} else if err != nil {
		return nil, bad(err)
	}
	text, err := m.Files.ReadFile(path)
	if err != nil {
		return nil, bad(err)
	}
	r, err := decodeReceipts(text)
	if err != nil {
		return nil, bad(err)
	}
	if r.Format != receiptsFormat || r.Scope != scope {
		return nil, bad(fmt.Errorf("it has format %d for scope %q", r.Format, r.Scope))
	}
	for _, e := range r.Entries {
		if !e.possible(m) {
			return nil, bad(fmt.Errorf("an entry names a %s %q", e.Kind, e.Path))
		}
	}
	return r, nil
}

// decodeReceipts accepts exactly one JSON object without unknown members.
func decodeReceipts(text []byte) (*Receipts, error) {
	var r Receipts
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&r); err != nil {
		return nil, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("extra data after its end")
	}
	return &r, nil
}

// possible reports whether an entry can belong to this machine and be read again after it
// was written.
func (r Receipt) possible(m Machine) bool {
	if _, known := kinds[r.Kind]; !known || !encodable(r.Path) || !encodable(r.Name) {
		return false
	}
	if r.Kind.inRegistry() {
		hive, _, in := strings.Cut(r.Path, `\`)
		return m.Registry != nil && in && (hive == "HKCU" || hive == "HKLM")
	}
	return m.isAbs(r.Path) && m.join(r.Path) == r.Path
}

// trusted returns nil if nobody but the owner could have written a scope's file, because
// an uninstall does what it says. The system's belongs to root.
func (m Machine) trusted(path string, scope manifest.Scope) error {
	info, err := m.Files.Lstat(path)
	if err != nil {
		return err
	}
	uid, known := m.Files.Owner(info)
	owner := m.UID
	if scope == manifest.System {
		owner = 0
	}
	switch {
	case !info.Mode().IsRegular():
		return errors.New("it is not a regular file")
	case info.Size() > maxReceipts:
		return fmt.Errorf("it is over %d bytes", maxReceipts)
	case m.OS != "windows" && info.Mode().Perm()&0o022 != 0:
		return errors.New("others can write it")
	case known && uid != owner:
		return fmt.Errorf("it belongs to user %d", uid)
	}
	return nil
}

// A State is the state of something that was made.
type State string

const (
	Same    State = "same"
	Changed State = "changed" // something else is there
	Gone    State = "gone"
)

// State compares the receipt with the machine.
func (r Receipt) State(m Machine) (State, error) {
	sum, there, err := kinds[r.Kind].sum(m, r.Path, r.Name)
	switch {
	case err != nil:
		return "", err
	case !there:
		return Gone, nil
	case sum == r.SHA256, r.Pending && r.Before != "" && sum == r.Before:
		return Same, nil
	}
	return Changed, nil
}

// find returns the entry for something.
func (r *Receipts) find(kind Kind, path, name string) (Receipt, bool) {
	i := slices.IndexFunc(r.Entries, func(e Receipt) bool { return e.is(kind, path, name) })
	if i < 0 {
		return Receipt{}, false
	}
	return r.Entries[i], true
}

// is reports whether an entry is for something. Kinds of files share their paths.
func (r Receipt) is(kind Kind, path, name string) bool {
	return r.Path == path && r.Name == name && r.Kind.inRegistry() == kind.inRegistry() && (r.Kind == Value) == (kind == Value)
}

// put adds an entry, or replaces the one for the same thing.
func (r *Receipts) put(e Receipt) {
	r.drop(e)
	r.Entries = append(r.Entries, e)
}

func (r *Receipts) drop(e Receipt) {
	r.Entries = slices.DeleteFunc(r.Entries, func(old Receipt) bool { return old.is(e.Kind, e.Path, e.Name) })
}

// write writes the receipts, together with the directories on the way to them,
// atomically.
func (r *Receipts) write(m Machine, path string) error {
	slices.SortFunc(r.Entries, func(a, b Receipt) int { return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Name, b.Name)) })
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	mode := fs.FileMode(0o600)
	if r.Scope == manifest.System { // readable for every user's doctor
		mode = 0o644
	}
	return m.writeInNew(path, append(text, '\n'), mode)
}
