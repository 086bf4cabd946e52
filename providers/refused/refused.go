// Package refused keeps what providers answered where this version did not understand
// it, or it was not what was asked for, so that a person can send it to who can mend that.
// What is kept is redacted, bounded, and in the daemon's home, for its user alone.
package refused

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"swapkeep/internal/atomicfile"
	"swapkeep/rest"
	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common"
)

// Bounds of what is kept.
const (
	Dir      = "refused" // below the home
	MaxFiles = 20        // one for each kind of refusal; the oldest goes
	MaxFile  = 64 << 10  // bytes

	again = 10 * time.Minute // until one of a kind is kept anew
)

// A Keeper keeps answers in one folder. It may be used by several goroutines.
type Keeper struct {
	dir, version string
	now          func() time.Time

	mu   sync.Mutex
	kept map[string]time.Time // by file
}

// New makes nothing yet: the folder is made with the first file.
func New(home, version string, now func() time.Time) *Keeper {
	return &Keeper{dir: filepath.Join(home, Dir), version: version, now: now, kept: map[string]time.Time{}}
}

// An Answer is one file: a refusal, and the last answers that came before it.
type Answer struct {
	At       time.Time `json:"at"`
	Version  string    `json:"version"`
	Provider swap.Kind `json:"provider"`
	Code     swap.Code `json:"code"`
	Field    string    `json:"field,omitempty"`
	Reason   string    `json:"reason"`
	Replies  []Reply   `json:"replies"`
}

// A Reply is an exchange. Its body is text, whatever it was.
type Reply struct {
	Method string `json:"method"`
	Path   string `json:"path"` // of the call; base URL and query are left out
	Status int    `json:"status"`
	Body   string `json:"body"`
	Cut    bool   `json:"cut,omitempty"` // its end is missing
}

// worthKeeping are the refusals of which the answer is the evidence: it cannot be read, or it is
// other than what was asked for or accepted.
var worthKeeping = []swap.Code{swap.NotUnderstood, swap.ProviderGarbage, swap.NotAsAccepted, swap.NotPinned}

// Watch returns a context whose exchanges are remembered, and what is to be told how it
// came out; of a part that was refused it hears by itself. The accounts are those that stand in the request. A file that cannot be
// written is none: nothing waits for it.
func (k *Keeper) Watch(ctx context.Context, kind swap.Kind, accounts ...common.Address) (context.Context, func(error)) {
	ctx, recorder := rest.Record(ctx)
	told := func(err error) {
		var r *swap.Refusal
		if !errors.As(err, &r) || !slices.Contains(worthKeeping, r.Code) {
			return
		}
		if name := nameOf(kind, r); k.isNew(name) {
			if last := recorder.Last(); len(last) > 0 {
				_ = k.keep(name, kind, r, last, redaction{secrets: recorder.Hide, accounts: accounts})
			}
		}
	}
	return swap.OnPartRefused(ctx, told), told
}

// nameOf is the file of a kind of refusal.
func nameOf(kind swap.Kind, r *swap.Refusal) string {
	of := sha256.Sum256([]byte(string(r.Code) + "\n" + r.Field))
	return fmt.Sprintf("%s-%s.json", kind, hex.EncodeToString(of[:8]))
}

// isNew reports that no answer of a name was kept just now, and takes this one for kept:
// to search answers for secrets takes its time.
func (k *Keeper) isNew(name string) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	now := k.now()
	if at, ok := k.kept[name]; ok && now.Sub(at).Abs() < again {
		return false
	}
	k.kept[name] = now
	return true
}

// keep writes an answer down.
func (k *Keeper) keep(name string, kind swap.Kind, r *swap.Refusal, last []rest.Exchange, hide redaction) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	a := Answer{At: k.now().UTC().Truncate(time.Second), Version: k.version, Provider: kind, Code: r.Code, Field: hide.text(r.Field), Reason: hide.text(r.Reason)}
	for _, x := range last {
		a.Replies = append(a.Replies, Reply{Method: x.Method, Path: hide.text(x.Path), Status: x.Status, Body: hide.text(string(x.Body))})
	}
	if err := os.MkdirAll(k.dir, 0o700); err != nil {
		return err
	}
	_ = atomicfile.Sweep(k.dir) // what a kill left
	if err := atomicfile.Write(filepath.Join(k.dir, name), func(w io.Writer) error {
		_, err := w.Write(a.encode())
		return err
	}); err != nil {
		return err
	}
	return k.drop()
}

// drop removes the oldest beyond the bound.
func (k *Keeper) drop() error {
	all, err := os.ReadDir(k.dir)
	if err != nil {
		return err
	}
	ages := map[string]time.Time{}
	for _, e := range all {
		if info, err := e.Info(); err == nil && strings.HasSuffix(e.Name(), ".json") {
			ages[e.Name()] = info.ModTime()
		}
	}
	for len(ages) > MaxFiles {
		oldest := ""
		for name, at := range ages {
			if oldest == "" || at.Before(ages[oldest]) {
				oldest = name
			}
		}
		delete(ages, oldest)
		err = errors.Join(err, os.Remove(filepath.Join(k.dir, oldest)))
	}
	return err
}

// encode is the answer as JSON of plain ASCII, within the bound: bodies are cut for it.
func (a Answer) encode() []byte {
	for most := MaxFile; ; most /= 2 {
		for i := range a.Replies {
			a.Replies[i].cut(most)
		}
		b, err := json.MarshalIndent(a, "", " ")
		if err != nil {
			panic(err) // text and numbers
		}
		if b = ascii(b); len(b) <= MaxFile {
			return b
		}
	}
}

func (r *Reply) cut(most int) {
	if len(r.Body) > most {
		r.Body, r.Cut = strings.ToValidUTF8(r.Body[:most], ""), true
	}
}

// ascii writes every other character as JSON's escape of it, so that none moves or
// hides text on a screen.
func ascii(b []byte) []byte {
	var out bytes.Buffer
	for _, c := range string(b) {
		switch {
		case c < 0x7f:
			out.WriteByte(byte(c))
		case c <= 0xffff:
			fmt.Fprintf(&out, `\u%04x`, c)
		default:
			c -= 0x10000
			fmt.Fprintf(&out, `\u%04x\u%04x`, 0xd800+c>>10, 0xdc00+c&0x3ff)
		}
	}
	return out.Bytes()
}
