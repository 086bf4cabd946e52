package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"

	"swapkeep/installer/doctor"
)

// liveFlags are the flags of doctor --live.
type liveFlags struct {
	provider string
	network  uint64
	report   string // path; "" = none
}

// A liveRow compares one fact about the outside world with package live's expectation.
type liveRow struct {
	Subject string `json:"subject"`
	Chain   uint64 `json:"chainId"`
	What    string `json:"what"`
	Verdict string `json:"verdict"`
	How     string `json:"how"`
}

// A liveReport is the file that a user can send. It contains the output of the daemon's
// program as it was written, redacted and in plain ASCII.
type liveReport struct {
	Version string          `json:"version"`
	Rows    json.RawMessage `json:"rows"`
	Answers json.RawMessage `json:"answers"` // the providers', with the requests
}

func (t *terminal) doctorLive(ctx context.Context, w liveFlags) error {
	p, err := t.doctorEnv(ctx)
	if err != nil {
		return err
	}
	var args []string
	if w.provider != "" {
		args = append(args, "--provider", w.provider)
	}
	if w.network != 0 {
		args = append(args, "--network", strconv.FormatUint(w.network, 10))
	}
	text, err := doctor.Live(ctx, p, args...)
	if err != nil {
		return err
	}
	said, rows, err := parseLive(text)
	if err != nil {
		return fmt.Errorf("what swapkeepd wrote cannot be read: %w", err)
	}
	if w.report != "" {
		if err := writeReport(w.report, said); err != nil {
			return err
		}
	}
	if t.json {
		if err := writeJSON(t.out, rows); err != nil {
			return err
		}
	} else {
		t.printLive(rows)
	}
	if w.report != "" && !t.json {
		t.result.Line("report written to " + w.report)
	}
	return worstOf(rows)
}

// parseLive parses the output of the daemon's program, which must be plain ASCII.
func parseLive(text string) (said liveReport, rows []liveRow, err error) {
	if slices.ContainsFunc([]byte(text), unprintable) {
		return said, nil, errors.New("it is not plain ASCII")
	}
	if err := json.Unmarshal([]byte(text), &said); err != nil {
		return said, nil, err
	}
	said.Version = version
	err = json.Unmarshal(said.Rows, &rows)
	return said, rows, err
}

// writeReport writes a new file with mode 0600. An existing file is an error.
func writeReport(file string, r liveReport) error {
	text, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		return err
	}
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(append(text, '\n'))
	return errors.Join(err, f.Close())
}

// worstOf returns the error for the exit status.
func worstOf(rows []liveRow) (worst error) {
	for _, v := range liveVerdicts {
		if v.err != nil && slices.ContainsFunc(rows, func(r liveRow) bool { return r.Verdict == v.word }) {
			worst = printedError{v.err}
		}
	}
	return worst
}

// liveVerdicts are the verdicts with their marks on the screen and their errors, the
// worst last.
var liveVerdicts = []struct {
	word, mark string
	err        error
}{
	{"works", "ok", nil},
	{"no known hash", "note", nil},
	{"cannot be asked", "warn", errWarned},
	{"differs", "fail", errChecksFailed},
}

func (t *terminal) printLive(rows []liveRow) {
	count := map[string]int{}
	s := t.result.Labelled(len("gasless"))
	for i, r := range rows {
		if i == 0 || r.Chain != rows[i-1].Chain {
			s.Heading(fmt.Sprintf("Network %d", r.Chain))
		}
		count[r.Verdict]++
		text := r.What
		if r.How != "" {
			text += ": " + r.How
		}
		for _, v := range liveVerdicts {
			if v.word == r.Verdict {
				s.Event(r.Subject, v.mark, text)
			}
		}
	}
	s.Blank()
	s.Line(fmt.Sprintf("%d as expected, %d different, %d unreachable, %d contracts without a known code hash",
		count["works"], count["differs"], count["cannot be asked"], count["no known hash"]))
}
