// Package refused keeps provider replies that this version did not understand, or that were
// not what was asked for, so that a user can send them to the developers. The files are
// redacted, bounded in number and size, and readable by the daemon's user only, in the
// daemon's home.
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

// Limits of what is kept.
const (
	Dir      = "refused" // below the home
	maxFiles = 20        // one per kind of refusal; the oldest is removed
	MaxFile  = 64 << 10  // bytes

	keepInterval  = 10 * time.Minute // until a kind is kept again
	retryInterval = time.Minute      // until a kind that could not be written is tried again
)

// A Keeper keeps replies in one directory. It is safe for concurrent use.
type Keeper struct {
	dir, version string
	now          func() time.Time

	mu   sync.Mutex
	kept map[string]time.Time // by file name
}

// New creates no files: the directory is made with the first reply that is kept.
func New(home, version string, now func() time.Time) *Keeper {
	return &Keeper{dir: filepath.Join(home, Dir), version: version, now: now, kept: map[string]time.Time{}}
}

// An Answer is one file: a refusal with the last replies before it.
type Answer struct {
	At       time.Time `json:"at"`
	Version  string    `json:"version"`
	Provider swap.Kind `json:"provider"`
	Code     swap.Code `json:"code"`
	Field    string    `json:"field,omitempty"`
	Reason   string    `json:"reason"`
	Replies  []Reply   `json:"replies"`
}

// A Reply is an exchange. Its body is stored as text, whatever it was.
type Reply struct {
	Method string `json:"method"`
	Path   string `json:"path"` // of the call, without base URL and query
	Status int    `json:"status"`
	Body   string `json:"body"`
	Cut    bool   `json:"cut,omitempty"` // the end of the body is missing
}

// worthKeeping are the refusals for which the reply is the evidence: it cannot be parsed,
// or differs from what was asked for or accepted.
var worthKeeping = []swap.Code{swap.Undecodable, swap.ProviderInvalidResponse, swap.NotAsAccepted, swap.NotPinned}

// Watch returns a context whose exchanges are recorded, and a function to be called with
// their result. Refused parts of a reply are reported through the context itself
// ([swap.OnPartRefused]). accounts are those in the request, to be redacted. A file is
// written at once, for each kind of refusal at most once in ten minutes. Errors of writing
// a file are not reported; the next refusal of its kind after a minute is tried again.
func (k *Keeper) Watch(ctx context.Context, kind swap.Kind, accounts ...common.Address) (context.Context, func(error)) {
	ctx, recorder := rest.Record(ctx)
	report := func(err error) {
		var r *swap.Refusal
		if !errors.As(err, &r) || !slices.Contains(worthKeeping, r.Code) {
			return
		}
		name := fileName(kind, r)
		if !k.claimKind(name) {
			return
		}
		last := recorder.Last()
		switch {
		case len(last) == 0:
			k.setKept(name, time.Time{})
		case k.keep(name, kind, r, last, redaction{secrets: recorder.Redact, accounts: accounts}) != nil:
			k.setKept(name, k.now().Add(retryInterval-keepInterval))
		}
	}
	return swap.OnPartRefused(ctx, report), report
}

// fileName is the file name for a kind of refusal.
func fileName(kind swap.Kind, r *swap.Refusal) string {
	of := sha256.Sum256([]byte(string(r.Code) + "\n" + r.Field))
	return fmt.Sprintf("%s-%s.json", kind, hex.EncodeToString(of[:8]))
}

// claimKind reports whether no reply was kept under name within the last ten minutes, and marks
// it as kept now. This limits the cost of searching replies for secrets.
func (k *Keeper) claimKind(name string) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	now := k.now()
	if at, ok := k.kept[name]; ok && now.Sub(at).Abs() < keepInterval {
		return false
	}
	k.kept[name] = now
	return true
}

// setKept corrects the time of a claim after which no reply was kept.
func (k *Keeper) setKept(name string, at time.Time) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.kept[name] = at
}

// keep writes a file. That an old one could not be removed is no error.
func (k *Keeper) keep(name string, kind swap.Kind, r *swap.Refusal, last []rest.Exchange, hide redaction) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	a := Answer{At: k.now().UTC().Truncate(time.Second), Version: k.version, Provider: kind, Code: r.Code, Field: hide.redactAll(r.Field), Reason: hide.redactAll(r.Reason)}
	for _, x := range last {
		a.Replies = append(a.Replies, Reply{Method: x.Method, Path: hide.redactAll(x.Path), Status: x.Status, Body: hide.redactAll(string(x.Body))})
	}
	if err := os.MkdirAll(k.dir, 0o700); err != nil {
		return err
	}
	_ = atomicfile.RemoveUnfinished(k.dir) // temporary files of a killed process
	if err := atomicfile.Write(filepath.Join(k.dir, name), func(w io.Writer) error {
		_, err := w.Write(a.encode())
		return err
	}); err != nil {
		return err
	}
	_ = k.drop()
	return nil
}

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
	for len(ages) > maxFiles {
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

// encode is the answer as ASCII JSON of at most MaxFile bytes; bodies are cut to fit.
func (a Answer) encode() []byte {
	for limit := MaxFile; ; limit /= 2 {
		for i := range a.Replies {
			a.Replies[i].cut(limit)
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

func (r *Reply) cut(limit int) {
	if len(r.Body) > limit {
		r.Body, r.Cut = strings.ToValidUTF8(r.Body[:limit], ""), true
	}
}

// ascii writes all other characters as JSON escapes, so that none can reorder or hide text
// on a screen.
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
