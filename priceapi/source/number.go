package source

import (
	"encoding/json"
	"errors"
	"math/big"
	"strconv"
	"strings"
	"time"

	"swapkeep/priceapi/price"
	"swapkeep/rest"
)

// ErrReply means that a reply is not of the form that its service documents.
var ErrReply = errors.New("the reply is not of the documented form")

// whole reads a document. What the decoder says of it is not repeated: it quotes.
func whole(body []byte, to any) error {
	if rest.ReadRow(body, to) != nil {
		return ErrReply
	}
	return nil
}

// row reads one entry of a document; false drops it.
func row(raw json.RawMessage, to any) bool {
	return len(raw) > 0 && rest.ReadRow(raw, to) == nil
}

// A decimal is a number as JSON writes one, or the same in a string; empty for null.
type decimal string

// UnmarshalJSON refuses every other form.
func (d *decimal) UnmarshalJSON(b []byte) error {
	switch {
	case string(b) == "null":
		*d = ""
	case b[0] == '"':
		return json.Unmarshal(b, (*string)(d))
	case b[0] == '-' || b[0] >= '0' && b[0] <= '9':
		*d = decimal(b)
	default:
		return ErrReply
	}
	return nil
}

// value is the number of dollars; false where that is no price.
func (d decimal) value() (price.Value, bool) {
	v, err := price.Parse(string(d))
	return v, err == nil && !v.IsZero()
}

// count is the number of things; false unless there is one at least.
func (d decimal) count() (uint64, bool) {
	n, err := strconv.ParseUint(string(d), 10, 63)
	return n, err == nil && n > 0
}

// ahead is how far a service's clock may be before ours.
const ahead = 2 * time.Minute

// time is that of the Unix second; false where there is none, or where it lies too
// far ahead.
func (d decimal) time(now time.Time) (time.Time, bool) {
	s, err := strconv.ParseUint(string(d), 10, 40) // for 30,000 years
	if err != nil {
		return time.Time{}, false
	}
	return past(time.Unix(int64(s), 0), now)
}

// past takes a little ahead for now: nothing can have been seen later.
func past(at, now time.Time) (time.Time, bool) {
	switch {
	case at.Unix() <= 0 || at.After(now.Add(ahead)):
		return time.Time{}, false
	case at.After(now):
		at = now
	}
	return at.UTC(), true
}

// served is when the service made a reply that tells no time of its prices: by the
// service's own clock, so that ours, where it is wrong, makes no old price a new one.
func served(r *rest.Reply) (time.Time, bool) {
	skew, _ := r.Skew()
	return past(r.Received.Add(skew).Truncate(time.Second), r.Received)
}

var dollar = must(price.Parse("1"))

// confidence is from 0 to 1, nil where there is none; false where it is something
// else.
func (d decimal) confidence() (*float64, bool) {
	if d == "" {
		return nil, true
	}
	v, err := price.Parse(string(d))
	f := v.Float()
	return &f, err == nil && v.Cmp(dollar) <= 0
}

// Changes beyond these are no change of a price, but of what is asked for.
var (
	hundred = must(price.Parse("100"))
	absurd  = must(price.Parse("1e6"))
)

// ago is what the price was before it changed by so many percent to now; zero where
// that is not told, or makes no sense; false where it is no number.
func (d decimal) ago(now price.Value) (price.Value, bool) {
	if d == "" {
		return price.Value{}, true
	}
	digits, fell := strings.CutPrefix(string(d), "-")
	by, err := price.Parse(digits)
	switch {
	case err != nil:
		return price.Value{}, false
	case fell && by.Cmp(hundred) >= 0 || by.Cmp(absurd) > 0:
		return price.Value{}, true
	}
	percent := hundred.Int()
	if fell {
		percent.Sub(percent, by.Int())
	} else {
		percent.Add(percent, by.Int())
	}
	v, err := price.FromRatio(new(big.Int).Mul(now.Int(), hundredth), percent)
	if err != nil { // too much for a price: it says nothing
		return price.Value{}, true
	}
	return v, true
}

var hundredth = big.NewInt(100)

func must(v price.Value, err error) price.Value {
	if err != nil {
		panic(err)
	}
	return v
}
