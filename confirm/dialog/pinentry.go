package dialog

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// pinentry asks by the Assuan protocol, as GnuPG's manual of pinentry has it: a command a
// line, answered by OK or ERR, with data in lines that begin with D.
type pinentry struct{ program string }

// Codes of libgpg-error, in the low 16 bits of the number after ERR.
const (
	errTimeout       = 62
	errCanceled      = 99
	errFullyCanceled = 198
)

func (p pinentry) ask(ctx context.Context, env []string, q question) (typed string, a answer, err error) {
	cmd := exec.CommandContext(ctx, p.program)
	cmd.Env = env
	cmd.WaitDelay = time.Second
	in, err := cmd.StdinPipe()
	if err != nil {
		return "", 0, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return "", 0, err
	}
	if err := cmd.Start(); err != nil {
		return "", 0, err
	}
	defer func() {
		_, _ = io.WriteString(in, "BYE\n")
		_ = in.Close()
		_ = cmd.Wait()
	}()
	c := assuan{in, bufio.NewReaderSize(io.LimitReader(out, maxAnswer), maxLine)}
	if _, err := c.answer(); err != nil { // its greeting
		return "", 0, err
	}
	for _, line := range []string{
		"SETTITLE " + escape(q.title), "SETDESC " + escape(q.text), "SETPROMPT " + escape(q.prompt),
		"SETOK " + escape(q.yes), "SETCANCEL " + escape(q.no), "SETTIMEOUT " + strconv.Itoa(int(q.left/time.Second)),
	} {
		if _, err := c.say(line); err != nil {
			return "", 0, err
		}
	}
	if q.again != "" {
		if _, err := c.say("SETERROR " + escape(q.again)); err != nil {
			return "", 0, err
		}
	}
	typed, err = c.say("GETPIN")
	var refused *assuanError
	switch {
	case err == nil:
		return typed, entered, nil
	case errors.As(err, &refused) && (refused.code == errCanceled || refused.code == errFullyCanceled):
		return "", declined, nil
	case errors.As(err, &refused) && refused.code == errTimeout:
		return "", timedOut, nil
	}
	return "", 0, err
}

const (
	maxLine   = 1 << 10
	maxAnswer = 1 << 16 // of everything that pinentry says
)

// An assuan is a connection to a server of the Assuan protocol.
type assuan struct {
	in  io.Writer
	out *bufio.Reader
}

// An assuanError is a server's ERR.
type assuanError struct {
	code int // of libgpg-error, without its source
	text string
}

func (e *assuanError) Error() string { return fmt.Sprintf("pinentry: error %d %s", e.code, e.text) }

func (c assuan) say(line string) (string, error) {
	if _, err := io.WriteString(c.in, line+"\n"); err != nil {
		return "", err
	}
	return c.answer()
}

// answer reads up to OK, and returns the data before it.
func (c assuan) answer() (data string, err error) {
	for {
		line, err := c.out.ReadString('\n')
		if err != nil {
			return "", fmt.Errorf("pinentry ended: %w", err)
		}
		word, rest, _ := strings.Cut(strings.TrimRight(line, "\r\n"), " ")
		switch word {
		case "OK":
			return data, nil
		case "D":
			if rest, err = url.PathUnescape(rest); err != nil {
				return "", fmt.Errorf("pinentry: %w", err)
			}
			data += rest
		case "ERR":
			number, text, _ := strings.Cut(rest, " ")
			code, err := strconv.Atoi(number)
			if err != nil {
				return "", fmt.Errorf("pinentry: error %q", number)
			}
			return "", &assuanError{code & 0xffff, text}
		}
	}
}

var escaper = strings.NewReplacer("%", "%25", "\n", "%0A", "\r", "%0D")

func escape(s string) string { return escaper.Replace(s) }
