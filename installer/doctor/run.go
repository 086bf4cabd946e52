package doctor

import (
	"bytes"
	"context"
	"errors"
	"os/exec"
	"strings"
	"time"
)

// maxSaid is what another program may say, in bytes: of the longest, Live, more than four
// providers' answers on eight networks.
const maxSaid = 8 << 20

// ask runs a program of the system within two seconds and returns what it said.
// Errors: exec.ErrNotFound where there is none.
func ask(ctx context.Context, name string, args ...string) (string, error) {
	return askWithin(ctx, askTime, nil, name, args...)
}

// askWithin is ask with another bound and an environment, nil being ours.
func askWithin(ctx context.Context, limit time.Duration, env []string, name string, args ...string) (string, error) {
	path, err := exec.LookPath(name)
	if err != nil {
		return "", err
	}
	said, err := say(ctx, limit, env, path, args...)
	if err != nil && ctx.Err() != nil {
		err = ctx.Err() // a program that was ended has failed in many ways
	}
	return said, err
}

// say runs a program in an environment, nil being ours, and returns its standard output.
func say(ctx context.Context, limit time.Duration, env []string, path string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, args...)
	var out, errs bounded
	cmd.Env, cmd.Stdout, cmd.Stderr, cmd.WaitDelay = env, &out, &errs, time.Second
	err := cmd.Run()
	if err != nil && errs.Len() > 0 {
		err = &saidError{err, strings.TrimSpace(errs.String())}
	}
	return out.String(), err
}

// A saidError is a program's failure with its words, of which the last are shown.
type saidError struct {
	error
	words string
}

func (e *saidError) Error() string { return lastLine(e.words) }
func (e *saidError) Unwrap() error { return e.error }

// bounded keeps the beginning of what is written to it.
type bounded struct{ bytes.Buffer }

func (b *bounded) Write(p []byte) (int, error) {
	if b.Len() < maxSaid {
		_, _ = b.Buffer.Write(p[:min(len(p), maxSaid-b.Len())])
	}
	return len(p), nil
}

func missing(err error) bool { return errors.Is(err, exec.ErrNotFound) }
