package messages

import "strings"

// An Arg is the value of one placeholder of a line, as the wire's Arg has it.
type Arg struct{ Kind, Value, Unit string }

// Line returns a line of a review in a language (see [Languages]). A key that the catalogue does
// not have, as of a newer daemon, is shown as it is.
func Line(language, key string, args []Arg) string {
	values := make([]string, len(args))
	for i, a := range args {
		values[i] = a.text(language)
	}
	if text, ok := TextIn(language, key, values...); ok {
		return text
	}
	return strings.Join(append([]string{key}, values...), " ")
}

func (a Arg) text(language string) string {
	switch a.Kind {
	case "number":
		n := a.Value
		if language == "de" {
			n = strings.Replace(n, ".", ",", 1)
		}
		return strings.TrimSpace(n + " " + a.Unit)
	case "units":
		text, _ := TextIn(language, "line_base_units", a.Value, a.Unit)
		return text
	case "word":
		if kind, ok := strings.CutPrefix(a.Value, "brand_"); ok {
			return Brand(kind)
		}
		text, ok := TextIn(language, a.Value)
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
