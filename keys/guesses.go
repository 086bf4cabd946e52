package keys

import (
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"time"

	"swapkeep/durable"
)

// A guessRecord is the file that outlives the process with the count of wrong
// passwords. It is there only while there are some; "" keeps none.
type guessRecord string

const (
	// mostWrong is where counting ends.
	mostWrong = 1 << 20
	// maxGuesses is in bytes, of a record that is ours.
	maxGuesses = 256
	// guessesVersion is of the record's form.
	guessesVersion = 1
)

type guesses struct {
	Version int       `json:"version"`
	Wrong   int       `json:"wrong"`
	At      time.Time `json:"at"` // the last of them
}

// load is the count that an earlier process left. A record that is not as we write
// them counts as one of the longest wait. One from the future says that the clock was set
// back: its own wait begins again.
func (r guessRecord) load(now time.Time) backoff {
	if r == "" {
		return backoff{}
	}
	g, err := r.read()
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return backoff{}
	case err != nil:
		return backoff{wrong: len(backoffSteps), since: now}
	}
	return backoff{wrong: g.Wrong, since: now.Add(-max(0, now.Sub(g.At)))} // by the clock of now, which no setting moves
}

var errGuesses = errors.New("no record of guesses")

func (r guessRecord) read() (g guesses, err error) {
	b, err := durable.Read(string(r), maxGuesses)
	if err != nil {
		return g, err
	}
	if err := json.Unmarshal(b, &g); err != nil {
		return g, err
	}
	if g.Version != guessesVersion || g.Wrong < 1 || g.Wrong > mostWrong || g.At.IsZero() {
		return g, errGuesses
	}
	return g, nil
}

// keep writes the count down; none removes the record. It is on the disk when keep
// returns without an error.
func (r guessRecord) keep(b backoff) error {
	if r == "" {
		return nil
	}
	if b.wrong == 0 {
		err := os.Remove(string(r))
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	}
	text, err := json.Marshal(guesses{guessesVersion, b.wrong, b.since.UTC()})
	if err != nil {
		return err
	}
	return durable.Write(string(r), func(w io.Writer) error {
		_, err := w.Write(text)
		return err
	})
}
