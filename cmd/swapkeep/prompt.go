package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/pflag"
	"golang.org/x/term"

	"swapkeep/cmd/internal/screen"
	"swapkeep/host/protocol"
)

// errDeclined means that the user said no.
var errDeclined = errors.New("declined: nothing was done")

// errEnd means that the terminal's input ended.
var errEnd = errors.New("the input ended before an answer")

// interactive reports whether a user can be asked: input and questions are both on a
// terminal.
func (t *terminal) interactive() bool {
	questions, ok := t.err.(*os.File)
	return ok && term.IsTerminal(int(t.in.Fd())) && term.IsTerminal(int(questions.Fd()))
}

// A secretFlag names the file descriptor that a secret is read from.
type secretFlag struct {
	name string
	fd   int // -1: ask at the terminal
}

const noDescriptor = -1

// secretFlagOf adds the flag for a secret. Secrets are never arguments or environment
// variables, because other processes can see those.
func secretFlagOf(flags *pflag.FlagSet, name, what string) *secretFlag {
	f := &secretFlag{name: name}
	flags.IntVar(&f.fd, name, noDescriptor, "read "+what+" from this open `descriptor`, to the end of its first line")
	return f
}

// passwordFlag adds the flag of commands that need the wallet's password.
func passwordFlag(flags *pflag.FlagSet) *secretFlag {
	return secretFlagOf(flags, "password-fd", "the wallet password")
}

// secret reads a secret from the flag's descriptor, or asks for it without echo.
func (t *terminal) secret(ctx context.Context, from *secretFlag, question string) (protocol.Secret, error) {
	if from.fd != noDescriptor {
		return t.readDescriptor(from)
	}
	if !t.interactive() {
		return nil, usageError{fmt.Errorf("%s: no terminal to type it at; use --%s", strings.ToLower(question), from.name)}
	}
	return t.hidden(ctx, question)
}

// maxPasswords limits how often a mistyped password is asked for.
const maxPasswords = 3

// password gets the wallet's password and calls do with it. A wrong one that was typed is
// asked for again, so that what it was typed for is not lost. The caller zeroes the
// password, which is nil after an error.
func (t *terminal) password(ctx context.Context, from *secretFlag, do func(protocol.Secret) error) (protocol.Secret, error) {
	for tries := 1; ; tries++ {
		secret, err := t.secret(ctx, from, "Password")
		if err != nil {
			return nil, err
		}
		if err = do(secret); err == nil {
			return secret, nil
		}
		secret.Zero()
		if from.fd != noDescriptor || tries == maxPasswords || !errors.Is(err, protocol.New("wrong_password", "")) {
			return nil, err
		}
		t.talk.Paragraph(screen.Warn, "wrong password, try again")
	}
}

// withPassword is password for a do that is all there is to do.
func (t *terminal) withPassword(ctx context.Context, from *secretFlag, do func(protocol.Secret) error) error {
	secret, err := t.password(ctx, from, do)
	secret.Zero()
	return err
}

// newSecret is secret for a new password, typed twice at a terminal.
func (t *terminal) newSecret(ctx context.Context, from *secretFlag, question string) (protocol.Secret, error) {
	first, err := t.secret(ctx, from, question)
	if err != nil || from.fd != noDescriptor {
		return first, err
	}
	return repeated(first, func() (protocol.Secret, error) { return t.hidden(ctx, "Repeat it") })
}

// repeated returns first if again returns the same, and otherwise wipes it.
func repeated(first protocol.Secret, again func() (protocol.Secret, error)) (protocol.Secret, error) {
	second, err := again()
	defer second.Zero()
	if err == nil && string(first) != string(second) {
		err = usageError{errors.New("the passwords do not match; nothing was done")}
	}
	if err != nil {
		first.Zero()
		return nil, err
	}
	return first, nil
}

// readDescriptor reads one line byte by byte, so that the rest is left for the next
// reader of the descriptor.
func (t *terminal) readDescriptor(from *secretFlag) (protocol.Secret, error) {
	bad := func(why error) error { return usageError{fmt.Errorf("--%s %d: %w", from.name, from.fd, why)} }
	f := t.descriptor(from.fd)
	if f == nil {
		return nil, bad(errors.New("not an open file descriptor"))
	}
	secret, err := readLine(f, protocol.MaxSecret)
	if err == nil && len(secret) == 0 || errors.Is(err, io.EOF) {
		err = errors.New("it is empty")
	}
	if err != nil {
		secret.Zero()
		return nil, bad(err)
	}
	return secret, nil
}

// descriptor returns an open descriptor as a file, nil if it cannot be one. The file is
// kept, because collecting it would close the descriptor, which may be read again.
func (t *terminal) descriptor(fd int) *os.File {
	switch f, known := t.descriptors[fd]; {
	case known:
		return f
	case fd < 0:
		return nil
	case fd == 0:
		return t.in
	}
	if t.descriptors == nil {
		t.descriptors = map[int]*os.File{}
	}
	t.descriptors[fd] = os.NewFile(uintptr(fd), "descriptor "+strconv.Itoa(fd))
	return t.descriptors[fd]
}

// readLine reads to the end of the line or of the input. It returns io.EOF for empty
// input.
func readLine(r io.Reader, most int) (protocol.Secret, error) {
	text, b := make(protocol.Secret, 0, most+1), make([]byte, 1)
	for {
		n, err := r.Read(b)
		switch {
		case errors.Is(err, io.EOF) && len(text) == 0:
			return nil, io.EOF
		case n == 1 && b[0] == '\n', errors.Is(err, io.EOF):
			if len(text) > 0 && text[len(text)-1] == '\r' {
				text = text[:len(text)-1]
			}
			if len(text) > most {
				return text, fmt.Errorf("is longer than %d bytes", most)
			}
			return text, nil
		case err != nil:
			return text, err
		case n == 1 && len(text) == cap(text): // no reallocation, so that the secret can be wiped
			return text, fmt.Errorf("is longer than %d bytes", most)
		case n == 1:
			text = append(text, b[0])
		}
	}
}

// maxTyped is more than a terminal accepts as one line. A line is read to its end;
// otherwise the rest of a password would be typed into the next command.
const maxTyped = 64 << 10

// hidden asks at the terminal without echo. Echo is turned off before the question is
// printed, so that a password typed at once does not show. Only this function changes the
// terminal's mode: a reader left behind by a signal would change it after it was
// restored.
func (t *terminal) hidden(ctx context.Context, question string) (protocol.Secret, error) {
	fd := int(t.in.Fd())
	before, err := term.GetState(fd)
	if err == nil {
		err = disableEcho(fd)
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = term.Restore(fd, before) }()
	return answered(ctx, t, question, func() (protocol.Secret, error) {
		text, err := readLine(t.in, maxTyped)
		fmt.Fprintln(t.err)
		if len(text) > protocol.MaxSecret {
			text.Zero()
			return nil, usageError{fmt.Errorf("the answer is longer than %d bytes", protocol.MaxSecret)}
		}
		return text, err
	})
}

// question asks at the terminal and returns the trimmed line.
func (t *terminal) question(ctx context.Context, question string) (string, error) {
	return answered(ctx, t, question, func() (string, error) {
		text, err := readLine(t.in, protocol.MaxText)
		return strings.TrimSpace(string(text)), err
	})
}

// answered prints a question and waits for the answer or the end of ctx.
func answered[T any](ctx context.Context, t *terminal, question string, read func() (T, error)) (T, error) {
	type reply struct {
		value T
		err   error
	}
	t.talk.ClearProgress()
	fmt.Fprint(t.err, t.talk.Paint(screen.Strong, screen.Printable(question)+": "))
	got := make(chan reply, 1)
	go func() {
		value, err := read()
		got <- reply{value, err}
	}()
	select {
	case r := <-got:
		if errors.Is(r.err, io.EOF) {
			r.err = errEnd
		}
		return r.value, r.err
	case <-ctx.Done():
		fmt.Fprintln(t.err)
		var none T
		return none, errInterrupted
	}
}

// confirm asks for y or yes. Anything else is errDeclined.
func (t *terminal) confirm(ctx context.Context, question string) error {
	said, err := t.question(ctx, question+" [y/N]")
	if err == nil && !strings.EqualFold(said, "y") && !strings.EqualFold(said, "yes") {
		err = errDeclined
	}
	return err
}

// typed asks for a word that must be typed exactly; otherwise it returns errDeclined.
func (t *terminal) typed(ctx context.Context, question, word string) error {
	said, err := t.question(ctx, question)
	if err != nil {
		return err
	}
	if said != word {
		return errDeclined
	}
	return nil
}

// choose asks for a number from 1 to of and returns it minus one; empty input means 1.
func (t *terminal) choose(ctx context.Context, question string, of int) (int, error) {
	for range maxAsks {
		said, err := t.question(ctx, fmt.Sprintf("%s, 1 to %d [1]", question, of))
		if err != nil {
			return 0, err
		}
		if said == "" {
			return 0, nil
		}
		if n, err := strconv.Atoi(said); err == nil && n >= 1 && n <= of {
			return n - 1, nil
		}
	}
	return 0, errDeclined
}

// maxAsks limits how often a question is repeated.
const maxAsks = 5

// remark prints a remark for the user, not with --json.
func (t *terminal) remark(text string) {
	if t.talk.Live() && !t.json {
		t.talk.Paragraph(screen.Faint, text)
	}
}
