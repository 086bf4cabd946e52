// Package messages holds the English words for the codes of the wire, which values fill their
// placeholders, and the brands of the providers, so that the terminal says what the popup says.
package messages

import (
	"embed"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"sync"
)

//go:embed en/states.json en/order.json en/errors.json en/review.json en/lines.json
//go:embed de/states.json de/order.json de/errors.json de/review.json de/lines.json
//go:embed brands.json values.json
var files embed.FS

// Languages are those that have every message.
var Languages = []string{"en", "de"}

// texts are the English messages by key. They are read when first needed: the relay starts
// without.
var texts = sync.OnceValue(func() map[string]string { return read("en") })

// translated are the German messages by key.
var translated = sync.OnceValue(func() map[string]string { return read("de") })

func read(language string) map[string]string {
	all := map[string]string{}
	for _, name := range []string{"states", "order", "errors", "review", "lines"} {
		maps.Copy(all, parse[map[string]string](language+"/"+name+".json"))
	}
	return all
}

func parse[T any](name string) (v T) {
	raw, err := files.ReadFile(name)
	if err != nil {
		panic(err)
	}
	if err := json.Unmarshal(raw, &v); err != nil {
		panic(fmt.Sprintf("messages/%s: %v", name, err))
	}
	return v
}

// State, Condition, Source, Receipt and Trusted return the words for a code of the wire's
// vocabularies OrderState, Condition, VerdictSource, VerdictReceipt and Trusted; a code of a newer
// daemon is returned as it is.
func State(code string) string { return lookUp("state_", code) }

// Condition is described at [State].
func Condition(code string) string { return lookUp("condition_", code) }

// Source is described at [State].
func Source(code string) string { return lookUp("source_", code) }

// Receipt is described at [State].
func Receipt(code string) string { return lookUp("receipt_", code) }

// Trusted is described at [State].
func Trusted(code string) string { return lookUp("trusted_", code) }

func lookUp(prefix, code string) string {
	if w, ok := texts()[prefix+code]; ok {
		return w
	}
	return code
}

// ProvenBy returns the words for a code of the wire's vocabulary ProvenBy. An order that its
// user did not cancel was withdrawn by the wallet. ok is false for a newer daemon's code.
func ProvenBy(code string, cancelled bool, provider string) (words string, ok bool) {
	if code == "withdrawn" && !cancelled {
		code = "refused"
	}
	return Text("order_by_"+code, Brand(provider))
}

var placeholder = regexp.MustCompile(`\$[$1-9]`)

// Text returns a message with $1 to $9 replaced by the values. ok is false if there is no such
// message.
func Text(key string, values ...string) (text string, ok bool) { return TextIn("en", key, values...) }

// TextIn is [Text] in one of [Languages]; any other is English.
func TextIn(language, key string, values ...string) (text string, ok bool) {
	words := texts()
	if language == "de" {
		words = translated()
	}
	text, ok = words[key]
	return placeholder.ReplaceAllStringFunc(text, func(p string) string {
		switch n := int(p[1] - '0'); {
		case p == "$$":
			return "$"
		case n <= len(values):
			return values[n-1]
		}
		return ""
	}), ok
}

// values has, for the placeholders $1 to $9 of a message, the key of the data that fills it, the
// form in which it is shown and, for some forms, the key of data that goes with it: for "amount"
// the token's address; for "worth" the same in dollars, which may be missing. A message that is
// not here has none.
var values = sync.OnceValue(func() map[string][][3]string { return parse[map[string][][3]string]("values.json") })

// Forms returns, for each placeholder of a message, the key of the data that fills it, the form
// in which that is shown, and the key of data that goes with it.
func Forms(key string) [][3]string { return values()[key] }

// Filled is [Text] with the values of data that the message needs, put into words by format,
// which gets what goes with a value too, and returns "" for what it cannot. ok is also false if a value is missing or has no words.
func Filled(key string, data map[string]string, format func(form, value, with string) string) (text string, ok bool) {
	var all []string
	for _, v := range values()[key] {
		value := data[v[0]]
		if value != "" {
			value = format(v[1], value, data[v[2]])
		}
		if value == "" {
			return "", false
		}
		all = append(all, value)
	}
	return Text(key, all...)
}
