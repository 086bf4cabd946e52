package dialog

import (
	"crypto/rand"
	"fmt"
	"math/big"
	"strings"
	"time"

	"swapkeep/confirm"
	"swapkeep/extension/messages"
	"swapkeep/swap"
	"swapkeep/swap/lines"
)

const (
	width    = 56  // characters of a line; some dialogs break longer ones by themselves
	pageSize = 850 // bytes of a page as pinentry is sent them: it takes lines of 1,000
)

// A page is what one dialog shows. Lines that do not fit one dialog are shown in several, and each
// has a code of its own: nobody confirms what he has not seen.
type page struct {
	text string
	code string
}

// pages puts an ask into pages of wrapped lines. The code of a page stands below the line of
// what is paid, so that who looks for it sees that one.
func pages(language string, w confirm.Waiting, left time.Duration) []page {
	say := func(key string, values ...string) string {
		text, _ := messages.TextIn(language, key, values...)
		return text
	}
	var blocks []string
	beside := 0
	for i, l := range w.Lines {
		if i == 0 || l.Key == "line_pay" {
			beside = i
		}
		mark := "-"
		if l.Severity != swap.Note {
			mark = "!"
		}
		blocks = append(blocks, wrap(mark+" "+lines.Text(language, l)))
	}
	foot := wrap(say("dialog_asked_by", w.Origin)) + wrap(say("dialog_seconds", fmt.Sprint(int(left/time.Second))))
	if w.Unshown > 1 {
		foot += wrap(say("dialog_unshown", fmt.Sprint(w.Unshown)))
	}
	room := pageSize - escaped(foot) - escaped(say("act_"+w.Kind)) - 120 // for the heading and the code
	blocks, beside = split(blocks, beside, room)
	var out []page
	var body strings.Builder
	code, placed := newCode(), false
	place := func() {
		body.WriteString("    " + say("dialog_code", code) + "\n")
		placed = true
	}
	end := func() {
		if !placed {
			place()
		}
		out = append(out, page{body.String(), code})
		body.Reset()
		code, placed = newCode(), false
	}
	for i, block := range blocks {
		if body.Len() > 0 && escaped(body.String())+escaped(block) > room {
			end()
		}
		body.WriteString(block)
		if i == beside {
			place()
		}
	}
	end()
	for i := range out {
		head := say("act_" + w.Kind)
		if len(out) > 1 {
			head += " (" + say("dialog_page", fmt.Sprint(i+1), fmt.Sprint(len(out))) + ")"
		}
		out[i].text = head + "\n\n" + out[i].text + "\n" + foot
	}
	return out
}

// split breaks blocks for which a page has no room into their lines. at is where the block that
// was at beside ends.
func split(blocks []string, beside, room int) (out []string, at int) {
	for i, block := range blocks {
		if escaped(block) <= room {
			out = append(out, block)
		} else {
			out = append(out, strings.SplitAfter(strings.TrimSuffix(block, "\n"), "\n")...)
			out[len(out)-1] += "\n"
		}
		if i == beside {
			at = len(out) - 1
		}
	}
	return out, at
}

// wrap breaks a text into lines of at most width characters, at spaces where it can, and ends it.
func wrap(text string) string {
	var out strings.Builder
	line := 0
	for i, word := range strings.Split(text, " ") {
		runes := []rune(word)
		switch {
		case i == 0:
		case line+1+len(runes) <= width:
			out.WriteByte(' ')
			line++
		default:
			out.WriteString("\n  ")
			line = 2
		}
		for line+len(runes) > width { // a word that is longer than a line
			out.WriteString(string(runes[:width-line]) + "\n  ")
			runes, line = runes[width-line:], 2
		}
		out.WriteString(string(runes))
		line += len(runes)
	}
	return out.String() + "\n"
}

// escaped returns how long a text is in Assuan.
func escaped(text string) int { return len(escape(text)) }

// letters of codes: none looks like another in any font, and no vowel makes a word of them.
const letters = "bcdfghkmnpqrstvwxz"

// newCode returns four random letters.
func newCode() string {
	code := make([]byte, 4)
	for i := range code {
		n, err := rand.Int(rand.Reader, big.NewInt(int64(len(letters))))
		if err != nil { // never
			panic(err)
		}
		code[i] = letters[n.Int64()]
	}
	return string(code)
}
