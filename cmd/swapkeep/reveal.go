package main

import (
	"bytes"
	"context"
	"fmt"
	"os"

	"golang.org/x/term"

	"swapkeep/cmd/internal/screen"
	"swapkeep/host/protocol"
)

// Advice printed with a secret.
var (
	wordsAdvice = []string{"Write the words on paper, in this order. Anyone who has them controls the wallet; without them it cannot be restored."}
	keyAdvice   = []string{"Anyone who has it controls the account."}
)

// shown reports whether standard output is a terminal.
func (t *terminal) shown() bool {
	f, ok := t.out.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// Escape sequences of a terminal's alternate screen, which has no scrollback.
const (
	otherScreen = "\x1b[?1049h\x1b[2J\x1b[H"
	ownScreen   = "\x1b[2J\x1b[H\x1b[?1049l"
)

// showSecret shows a secret on the alternate screen until the user has written it down,
// then clears it. The secret is never converted to a string.
func (t *terminal) showSecret(ctx context.Context, title string, told []string, lines [][]byte) error {
	stays := !t.interactive() || !t.result.Live()
	if !stays {
		fmt.Fprint(t.out, otherScreen)
		defer fmt.Fprint(t.out, ownScreen)
	}
	t.result.Title(title)
	for _, text := range told {
		t.result.Paragraph(screen.Warn, text)
	}
	t.result.Blank()
	for _, l := range lines {
		l = append(append([]byte("  "), l...), '\n')
		_, err := t.out.Write(l)
		clear(l)
		if err != nil {
			return err
		}
	}
	t.result.Blank()
	for !stays {
		said, err := t.question(ctx, "Type written when you have written it down; the screen is then cleared")
		if err != nil || said == "written" {
			return err
		}
	}
	return nil
}

// wordLines numbers the words of a mnemonic.
func wordLines(words protocol.Secret) (lines [][]byte) {
	for i, word := range bytes.Fields(words) {
		lines = append(lines, fmt.Appendf(nil, "%2d  %s", i+1, word))
	}
	return lines
}
