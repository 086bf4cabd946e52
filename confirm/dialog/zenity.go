package dialog

import (
	"bytes"
	"context"
	"errors"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// zenity shows the text in a window of text that can be written into: it is the one form in which
// zenity reads a text by pipe, where no other user sees it. The code is typed at its end.
type zenity struct{ program string }

// Exit codes of zenity.
const (
	zenityCancel  = 1
	zenityTimeout = 5
)

func (z zenity) ask(ctx context.Context, env []string, q question) (typed string, a answer, err error) {
	cmd := exec.CommandContext(ctx, z.program, "--text-info", "--editable", "--width=640", "--height=560",
		"--title="+q.title, "--ok-label="+q.yes, "--cancel-label="+q.no, "--timeout="+strconv.Itoa(int(q.left/time.Second)))
	cmd.Env = env
	cmd.WaitDelay = time.Second
	text := q.text + "\n" + q.again + "\n" + q.prompt + ": "
	cmd.Stdin = strings.NewReader(text)
	var out, complaints bytes.Buffer
	cmd.Stdout, cmd.Stderr = &limited{&out, len(text) + maxLine}, &limited{&complaints, maxAnswer}
	err = cmd.Run()
	var exit *exec.ExitError
	switch {
	case err == nil:
		rest, whole := strings.CutPrefix(out.String(), text)
		if !whole { // the text itself was changed: what was confirmed is not what was shown
			return "", entered, nil
		}
		return strings.TrimSpace(rest), entered, nil
	case ctx.Err() != nil:
		return "", timedOut, nil
	case bytes.Contains(complaints.Bytes(), []byte("open display")): // it exits as if it was cancelled
		return "", 0, errNoDisplay
	case errors.As(err, &exit) && exit.ExitCode() == zenityCancel:
		return "", declined, nil
	case errors.As(err, &exit) && exit.ExitCode() == zenityTimeout:
		return "", timedOut, nil
	}
	return "", 0, err
}

// limited writes up to n bytes, then fails.
type limited struct {
	to *bytes.Buffer
	n  int
}

var errNoDisplay = errors.New("zenity: cannot open the display")

var errTooLong = errors.New("the answer is too long")

func (l *limited) Write(p []byte) (int, error) {
	if l.n -= len(p); l.n < 0 {
		return 0, errTooLong
	}
	return l.to.Write(p)
}
