package main

import (
	"bufio"
	"context"
	"fmt"
	"os/exec"
	"strconv"
	"time"

	"swapkeep/priceapi/price"
)

// sqlite is a history in SQLite: a running c/history.c.
type sqlite struct {
	*child
	answers *bufio.Reader
	path    string
}

func (l *lab) openSQLite(ctx context.Context, path string, count int) (*sqlite, error) {
	exe, err := l.compile(ctx, "history", "-lsqlite3")
	if err != nil {
		return nil, err
	}
	c, err := spawn(exec.CommandContext(ctx, exe, path, strconv.Itoa(count)))
	if err != nil {
		return nil, err
	}
	return &sqlite{c, bufio.NewReader(c.stdout), path}, nil
}

// ask sends a line and reads the numbers of the answer.
func (s *sqlite) ask(line string, answer ...any) error {
	if _, err := fmt.Fprintln(s.stdin, line); err != nil {
		return err
	}
	text, err := s.answers.ReadString('\n')
	if err != nil {
		return fmt.Errorf("the history in SQLite has ended: %w", err)
	}
	_, err = fmt.Sscan(text, answer...)
	return err
}

func (s *sqlite) fill(now time.Time) error {
	var took float64
	return s.ask(fmt.Sprint("fill ", minuteOf(now)), &took)
}

// minute commits a fetch and returns how long it took and how many bytes it wrote.
func (s *sqlite) minute(at int64) (took, bytes float64, err error) {
	err = s.ask(fmt.Sprint("minute ", at), &took, &bytes)
	return took, bytes, err
}

// chart makes a chart's candles and returns how long it took, their count and the sum of
// their closing prices.
func (s *sqlite) chart(n int, p price.Period, now time.Time) (took float64, count int, sum uint64, err error) {
	err = s.ask(fmt.Sprint("chart ", n, " ", int(p.Raw), " ", beginOf(p, now), " ", minuteOf(now), " ", int64(p.Step/time.Minute)), &took, &count, &sum)
	return took, count, sum, err
}

// size includes the write-ahead log.
func (s *sqlite) size() (float64, error) { return sizeOfFiles(s.path, s.path+"-wal") }
