package doctor

import (
	"bytes"
	"context"
	"errors"
	"os/exec"
	"strings"
	"time"
)

// maxOutput limits the output of another program, in bytes. The longest is that of Live,
// which has more than four providers' answers on eight networks.
const maxOutput = 8 << 20

// ask runs a system program for at most askTime and returns its output. It returns
// exec.ErrNotFound if the program does not exist.
func ask(ctx context.Context, name string, args ...string) (string, error) {
	return askWithin(ctx, askTime, nil, name, args...)
}

// askWithin is ask with another time limit and an environment; nil is ours.
func askWithin(ctx context.Context, limit time.Duration, env []string, name string, args ...string) (string, error) {
	path, err := exec.LookPath(name)
	if err != nil {
		return "", err
	}
	output, err := runProgram(ctx, limit, env, path, args...)
	if err != nil && ctx.Err() != nil {
		err = ctx.Err() // a program that was killed may return any error
	}
	return output, err
}

// runProgram runs a program in an environment, nil being ours, and returns its output.
func runProgram(ctx context.Context, limit time.Duration, env []string, path string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, args...)
	var out, errs bounded
	cmd.Env, cmd.Stdout, cmd.Stderr, cmd.WaitDelay = env, &out, &errs, time.Second
	err := cmd.Run()
	if err != nil && errs.Len() > 0 {
		err = &toolError{err, strings.TrimSpace(errs.String())}
	}
	return out.String(), err
}

// A toolError is a program's failure; the last line of its stderr is the message.
type toolError struct {
	error
	stderr string
}

func (e *toolError) Error() string { return lastLine(e.stderr) }
func (e *toolError) Unwrap() error { return e.error }

// bounded keeps the first maxOutput bytes that are written to it.
type bounded struct{ bytes.Buffer }

func (b *bounded) Write(p []byte) (int, error) {
	if b.Len() < maxOutput {
		_, _ = b.Buffer.Write(p[:min(len(p), maxOutput-b.Len())])
	}
	return len(p), nil
}

func missing(err error) bool { return errors.Is(err, exec.ErrNotFound) }
