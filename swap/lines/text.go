package lines

import (
	"strings"

	"swapkeep/extension/messages"
	"swapkeep/swap"
)

// Text returns a line in a language (see [messages.Languages]). A key that the catalogue does
// not have is shown as it is.
func Text(language string, l swap.Line) string {
	values := make([]string, len(l.Args))
	for i, a := range l.Args {
		values[i] = value(language, a)
	}
	if text, ok := messages.TextIn(language, l.Key, values...); ok {
		return text
	}
	return strings.Join(append([]string{l.Key}, values...), " ")
}

func value(language string, a swap.Arg) string {
	switch a.Kind {
	case swap.NumberArg:
		n := a.Value
		if language == "de" {
			n = strings.Replace(n, ".", ",", 1)
		}
		return strings.TrimSpace(n + " " + a.Unit)
	case swap.WordArg:
		if kind, ok := strings.CutPrefix(a.Value, "brand_"); ok {
			return messages.Brand(kind)
		}
		text, ok := messages.TextIn(language, a.Value)
		if !ok {
			return a.Value
		}
		if strings.HasPrefix(a.Value, "err_") { // the first sentence: the second is about signatures
			text, _, _ = strings.Cut(strings.TrimSuffix(text, "."), ". ")
		}
		return text
	}
	return a.Value
}
