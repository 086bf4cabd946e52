package wire

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strconv"

	"swapkeep/rest"
	"swapkeep/swap"
)

// A Failure says how one kind of failed reply is reported to the user.
type Failure struct {
	Status int    // 0 = any
	Code   string // the service's name or number of the error; "" = any
	Is     swap.Code
	Says   string // after "the … provider"
}

// AnyCode matches a failure that has a code, whichever it is.
const AnyCode = "*"

// A Service names a provider in texts for the user and maps its failures: the first row
// that matches counts.
type Service struct {
	Name     string    // as in "the dex provider"
	Whole    []Failure // read first; Says is the whole sentence
	Failures []Failure
	// NoAnswer replaces the usual sentences for calls that the service did not answer;
	// rest.BadStatus stands for a malformed answer.
	NoAnswer map[rest.Kind]string
}

// byStatus is read after a service's own table.
var byStatus = []Failure{
	{400, "", swap.ProviderRefused, "refused the request"},
	{401, "", swap.ProviderKey, "needs a valid API key; set it again"},
	{403, "", swap.ProviderKey, "refused access; check its api key"},
	{408, "", swap.ProviderDown, "was too slow; try again"},
	{429, "", swap.ProviderBusy, "is busy; try again shortly"},
	{500, "", swap.ProviderDown, "has an internal error; try again"},
	{502, "", swap.ProviderDown, "is down; try again later"},
	{503, "", swap.ProviderDown, "is down; try again later"},
	{504, "", swap.ProviderDown, "did not answer in time; try again"},
}

// byKind maps failures without a telling status.
var byKind = map[rest.Kind]Failure{
	rest.BadStatus:     {Is: swap.ProviderInvalidResponse, Says: "sent an invalid response; check its base url"},
	rest.Unreachable:   {Is: swap.ProviderDown, Says: "cannot be reached; check the connection"},
	rest.TimedOut:      {Is: swap.ProviderDown, Says: "did not answer in time; try again"},
	rest.CircuitOpen:   {Is: swap.ProviderDown, Says: "failed too often just now; try again in a few seconds"},
	rest.Throttled:     {Is: swap.ProviderBusy, Says: "was asked too often; try again shortly"},
	rest.NoCredentials: {Is: swap.ProviderKey, Says: "was not queried: its API key could not be read"},
	rest.Redirected:    {Is: swap.ProviderInvalidResponse, Says: "redirects, which is not followed; check its base url"},
	rest.TooLarge:      {Is: swap.ProviderInvalidResponse, Says: "sent a reply that is too large"},
	rest.NotJSON:       {Is: swap.ProviderInvalidResponse, Says: "sent a reply that is not json; check its base url"},
}

// Refusal turns a failed call into a [*swap.Refusal]. The caller's own cancellation, and
// errors that are no [*rest.Error], are returned unchanged.
func (s Service) Refusal(err error) error {
	var e *rest.Error
	if !errors.As(err, &e) || errors.Is(err, context.Canceled) {
		return err
	}
	f := s.failureOf(e)
	r := swap.Refuse(f.Is, "%s", f.Says)
	r.Err, r.Data = e, map[string]string{}
	if e.Detail != "" && (f.Is == swap.ProviderRefused || f.Is == swap.ProviderInvalidResponse) {
		r.Reason += fmt.Sprintf(": %q", e.Detail)
		if e.Kind == rest.BadStatus {
			r.QuotedText, r.QuotedFrom = e.Detail, swap.AuthorProvider
		}
	}
	if e.Status != 0 {
		r.Data["status"] = strconv.Itoa(e.Status)
	}
	if e.RetryAfter > 0 {
		r.Data["retryAfterSeconds"] = strconv.Itoa(int(math.Ceil(e.RetryAfter.Seconds())))
	}
	return r
}

// failureOf returns the failure that matches a failed call. Its Says is a whole sentence.
func (s Service) failureOf(e *rest.Error) Failure {
	if e.Kind != rest.BadStatus {
		return s.noAnswerFailure(e.Kind)
	}
	if f, ok := find(s.Whole, e); ok {
		return f
	}
	for _, table := range [][]Failure{s.Failures, byStatus} {
		if f, ok := find(table, e); ok {
			return s.prefixed(f)
		}
	}
	switch {
	case !e.JSON && e.Status < http.StatusInternalServerError:
		return s.noAnswerFailure(rest.BadStatus)
	case e.Status >= http.StatusInternalServerError:
		return s.prefixed(Failure{Is: swap.ProviderDown, Says: "has an internal error; try again"})
	}
	return s.prefixed(Failure{Is: swap.ProviderRefused, Says: "refused the request"})
}

func find(table []Failure, e *rest.Error) (Failure, bool) {
	i := slices.IndexFunc(table, func(f Failure) bool {
		return (f.Status == 0 || f.Status == e.Status) && (f.Code == "" || f.Code == e.Code || f.Code == AnyCode && e.Code != "")
	})
	if i < 0 {
		return Failure{}, false
	}
	return table[i], true
}

// noAnswerFailure returns the failure of a call with no answer, or with a malformed one.
func (s Service) noAnswerFailure(kind rest.Kind) Failure {
	f, ok := byKind[kind]
	if !ok {
		f = Failure{Is: swap.ProviderDown, Says: "failed; try again"}
	}
	if says := s.NoAnswer[kind]; says != "" {
		f.Says = says
		return f
	}
	return s.prefixed(f)
}

// prefixed puts the provider's name before a failure's text.
func (s Service) prefixed(f Failure) Failure {
	f.Says = s.subject() + f.Says
	return f
}

func (s Service) subject() string { return "the " + s.Name + " provider " }

// Refuse makes a refusal that names a field. Its reason begins with the provider.
func (s Service) Refuse(c swap.Code, field, format string, args ...any) *swap.Refusal {
	r := swap.Refuse(c, s.subject()+format, args...)
	r.Field = field
	return r
}

// An Echo is one field of a reply that must repeat the request. If it is missing the reply
// is garbage ([swap.ProviderInvalidResponse]); if it differs it is not what was asked for
// ([swap.NotAsAccepted]).
type Echo struct {
	Field            string
	Present, Matches bool
}

// CheckEchoes refuses the first field that is missing or differs.
func (s Service) CheckEchoes(list []Echo) error {
	for _, c := range list {
		switch {
		case !c.Present:
			return s.Refuse(swap.ProviderInvalidResponse, c.Field, "left out %s in its reply", c.Field)
		case !c.Matches:
			return s.Refuse(swap.NotAsAccepted, c.Field, "answered with another %s than was asked for", c.Field)
		}
	}
	return nil
}

// maxTextLen bounds a provider's own text that a person is shown, in characters.
const maxTextLen = 200

// Printable keeps printable ASCII only, bounded: nothing that moves or hides text.
func Printable(s string) string {
	out := make([]rune, 0, min(len(s), maxTextLen))
	for _, c := range s {
		if c >= ' ' && c <= '~' && len(out) < maxTextLen {
			out = append(out, c)
		}
	}
	return string(out)
}
