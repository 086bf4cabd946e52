package web

import (
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
)

// Problem is an error response as in RFC 9457, with a remedy.
type Problem struct {
	Type   string         `json:"type" doc:"Kind of problem." example:"urn:swapkeep:problem:unknown-token"`
	Title  string         `json:"title" doc:"Name of the kind." example:"Unknown token"`
	Status int            `json:"status" doc:"HTTP status." example:"404"`
	Detail string         `json:"detail" doc:"What is wrong with this request." example:"no monitored token has this address"`
	Remedy string         `json:"remedy" doc:"What to do about it." example:"GET /api/v1/tokens lists the tokens that are monitored"`
	Errors []ProblemField `json:"errors,omitempty" nullable:"false" doc:"The invalid parameters."`

	header http.Header
}

// ProblemField is an invalid parameter. Its value is not echoed.
type ProblemField struct {
	Location string `json:"location" doc:"Location and name of the parameter." example:"query.limit"`
	Message  string `json:"message" doc:"What is wrong with it." example:"expected number <= 1000"`
}

// A problemKind is a kind of problem.
type problemKind struct {
	name   string // last part of its type's URN
	status int
	title  string
	remedy string
}

const problemURN = "urn:swapkeep:problem:"

// The kinds of problems. Kinds with the same status differ in type.
var (
	badBody      = problemKind{"request-body", 400, "Request body not allowed", "send the request without a body"}
	keyNeeded    = problemKind{"key-needed", 401, "API key required", "send your API key in the X-API-Key header; the operator of this service issues keys"}
	crossOrigin  = problemKind{"cross-origin", 403, "Cross-origin request refused", "call the API directly, or ask its operator to allow your page's origin"}
	unknownPath  = problemKind{"unknown-path", 404, "Not found", "see /docs for the resources; paths are matched exactly, without a trailing slash"}
	unknownToken = problemKind{"unknown-token", 404, "Unknown token", "GET /api/v1/tokens lists the tokens that are monitored"}
	noPrice      = problemKind{"no-price", 404, "No price yet", "try again in a minute; GET /api/v1/tokens shows which tokens have a price"}
	wrongMethod  = problemKind{"method", 405, "Method not allowed", "use GET or HEAD"}
	longURL      = problemKind{"long-url", 414, "URL too long", "request fewer tokens at once"}
	wrongHost    = problemKind{"host", 421, "Unknown host", "use an address that the service is configured with, such as http://127.0.0.1:5330"}
	badParameter = problemKind{"parameter", 422, "Invalid parameter", "see errors for the parameters, and /docs for their allowed values"}
	tooMany      = problemKind{"rate", 429, "Too many requests", "wait for the number of seconds in Retry-After"}
	broken       = problemKind{"internal", 500, "Internal error", "try again; if it persists, tell the operator"}
	notFetched   = problemKind{"not-fetched", 503, "No prices fetched yet", "wait for the number of seconds in Retry-After; the first fetch takes a moment"}
	noHistory    = problemKind{"history", 503, "Price history unavailable", "try again; GET /api/v1/health shows the state of the database"}
	noCount      = problemKind{"uncounted", 503, "Rate limit unavailable", "try again; GET /api/v1/health shows the state of the cache"}
	fullStreams  = problemKind{"streams", 503, "Too many event streams", "close a stream, or read /api/v1/tokens/price24h once a minute"}
)

func (k problemKind) urn() string { return problemURN + k.name }

// problem returns a problem of this kind.
func (k problemKind) problem(detail string) *Problem {
	return &Problem{Type: k.urn(), Title: k.title, Status: k.status, Detail: detail, Remedy: k.remedy}
}

func (p *Problem) with(name, value string) *Problem {
	if p.header == nil {
		p.header = http.Header{}
	}
	p.header.Set(name, value)
	return p
}

func (p *Problem) after(wait time.Duration) *Problem {
	return p.with("Retry-After", strconv.Itoa(max(1, int(math.Ceil(wait.Seconds())))))
}

func (p *Problem) write(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	p.headers(h.Set)
	body := encode(p)
	h.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(p.Status)
	if r.Method != http.MethodHead {
		_, _ = w.Write(body) // a write error means that the client has gone
	}
}

func (p *Problem) headers(set func(name, value string)) {
	for name := range p.header {
		set(name, p.header.Get(name))
	}
	set("Content-Type", problemType)
	set("Cache-Control", "no-store")
	set("X-Content-Type-Options", "nosniff")
}

// asProblem is a huma transformer that turns validation errors into problems.
func asProblem(c huma.Context, _ string, v any) (any, error) {
	e, ok := v.(*huma.ErrorModel)
	if !ok {
		return v, nil
	}
	p := broken.problem("an unexpected error")
	if e.Status == http.StatusUnprocessableEntity {
		p = badParameter.problem("invalid parameters for this resource")
	}
	for _, d := range e.Errors {
		p.Errors = append(p.Errors, ProblemField{Location: shorten(d.Location), Message: d.Message})
	}
	p.headers(c.SetHeader)
	return p, nil
}

// maxLocation limits how many bytes of a parameter's name are echoed.
const maxLocation = 80

func shorten(location string) string {
	if len(location) > maxLocation {
		return strings.ToValidUTF8(location[:maxLocation], "") + "…"
	}
	return location
}
