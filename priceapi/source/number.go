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

// ErrReply means that a reply does not have the form that its service documents.
var ErrReply = errors.New("the reply is not of the documented form")

// decodeDocument decodes a document. It hides the decoder's error, which may quote the reply.
func decodeDocument(body []byte, to any) error {
	if rest.DecodeRow(body, to) != nil {
		return ErrReply
	}
	return nil
}

// decodeRow decodes one entry of a document; false means that it is dropped.
func decodeRow(raw json.RawMessage, to any) bool {
	return len(raw) > 0 && rest.DecodeRow(raw, to) == nil
}

// A decimal is a JSON number, or a string with one; empty for null.
type decimal string

// UnmarshalJSON accepts numbers, strings and null only.
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

// value returns d as dollars; false if it is not a price above zero.
func (d decimal) value() (price.Value, bool) {
	v, err := price.Parse(string(d))
	return v, err == nil && !v.IsZero()
}

// count returns d as a number of at least one, else false.
func (d decimal) count() (uint64, bool) {
	n, err := strconv.ParseUint(string(d), 10, 63)
	return n, err == nil && n > 0
}

// ahead is how far a service's clock may be ahead of ours.
const ahead = 2 * time.Minute

// time returns d as Unix seconds; false if it is no time or too far in the future.
func (d decimal) time(now time.Time) (time.Time, bool) {
	s, err := strconv.ParseUint(string(d), 10, 40) // enough for 30,000 years
	if err != nil {
		return time.Time{}, false
	}
	return clampFuture(time.Unix(int64(s), 0), now)
}

// clampFuture replaces a time slightly in the future by now, because no price can be from later.
func clampFuture(at, now time.Time) (time.Time, bool) {
	switch {
	case at.Unix() <= 0 || at.After(now.Add(ahead)):
		return time.Time{}, false
	case at.After(now):
		at = now
	}
	return at.UTC(), true
}

// replyTime returns when the service made a reply whose prices carry no time. It uses the
// service's own clock, so that a wrong local clock does not make an old price new.
func replyTime(r *rest.Reply) (time.Time, bool) {
	skew, _ := r.Skew()
	return clampFuture(r.Received.Add(skew).Truncate(time.Second), r.Received)
}

var dollar = must(price.Parse("1"))

// confidence returns a number from 0 to 1, nil if there is none; false if it is anything
// else.
func (d decimal) confidence() (*float64, bool) {
	if d == "" {
		return nil, true
	}
	v, err := price.Parse(string(d))
	f := v.Float()
	return &f, err == nil && v.Cmp(dollar) <= 0
}

// Percentages beyond these are not treated as price changes.
var (
	hundred   = must(price.Parse("100"))
	maxChange = must(price.Parse("1e6"))
)

// dayAgo returns the price before it changed by d percent to now; zero if d is missing or
// makes no sense; false if it is not a number.
func (d decimal) dayAgo(now price.Value) (price.Value, bool) {
	if d == "" {
		return price.Value{}, true
	}
	digits, fell := strings.CutPrefix(string(d), "-")
	by, err := price.Parse(digits)
	switch {
	case err != nil:
		return price.Value{}, false
	case fell && by.Cmp(hundred) >= 0 || by.Cmp(maxChange) > 0:
		return price.Value{}, true
	}
	percent := hundred.Int()
	if fell {
		percent.Sub(percent, by.Int())
	} else {
		percent.Add(percent, by.Int())
	}
	v, err := price.FromRatio(new(big.Int).Mul(now.Int(), hundredth), percent)
	if err != nil { // larger than a price can be: ignored
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
