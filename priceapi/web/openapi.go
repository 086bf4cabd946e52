package web

import (
	"fmt"
	"net/http"
	"reflect"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

// openapiType is the media type of the OpenAPI document.
const openapiType = "application/vnd.oai.openapi+json;version=3.1"

// keyScheme is the name of the API key scheme in the document.
const keyScheme = "apiKey"

// documentation configures huma: our formats and problems, and none of its pages.
func (a *API) documentation() huma.Config {
	c := huma.DefaultConfig("Swapkeep price API", a.c.Version)
	c.OpenAPIPath, c.DocsPath, c.SchemasPath = "", "", ""
	c.CreateHooks = nil // the default hooks add a $schema to every record
	c.Transformers = []huma.Transformer{asProblem}
	c.RejectUnknownQueryParameters = true
	c.Info.Description = about()
	if a.c.Keys != nil {
		c.Components.SecuritySchemes = map[string]*huma.SecurityScheme{keyScheme: {
			Type: "apiKey", In: "header", Name: keyHeader, Description: "An API key issued by the operator of the service.",
		}}
	}
	return c
}

// problemKinds are all kinds of problems, by status.
var problemKinds = []problemKind{badBody, keyNeeded, crossOrigin, unknownPath, unknownToken, noPrice, wrongMethod, longURL, wrongHost, badParameter, tooMany, broken, notFetched, noHistory, noCount, fullStreams}

// about returns the API's description.
func about() string {
	var b strings.Builder
	b.WriteString(`Prices of tokens on EVM networks, in US dollars for one whole token, fetched about every minute, with the change in 24 hours and charts of 24 hours, a week and a month.

* Use GET or HEAD. Responses carry an ETag; with If-None-Match an unchanged response is 304.
* Unknown, empty and repeated parameters are refused.
* A stale price is the last known one. /tokens marks it with stale; the header ` + StaleHeader + ` counts stale values in any response.
* Errors are RFC 9457 problems with a remedy. Only malformed HTTP requests and too large headers (400, 431) get a plain-text error.

| Problem | Status | Title | Remedy |
|---|---|---|---|
`)
	for _, k := range problemKinds {
		fmt.Fprintf(&b, "| %s | %d | %s | %s |\n", k.urn(), k.status, k.title, k.remedy)
	}
	return b.String()
}

// operation documents a resource: its answer and every problem.
func (a *API) operation(res resource) huma.Operation {
	op := huma.Operation{
		OperationID: res.id, Tags: []string{res.group}, Method: http.MethodGet, Path: Base + res.path, Summary: res.summary, Description: res.about,
		Responses: map[string]*huma.Response{"200": a.success(res)},
	}
	if !res.stream {
		op.Responses["304"] = &huma.Response{Description: "Not modified: the client has this response, by its If-None-Match."}
	}
	if res.id == health.id {
		op.Responses["503"] = a.success(res)
		op.Responses["503"].Description = "The service is unhealthy; the record says why."
	}
	if a.c.Keys != nil && !res.open {
		op.Security = []map[string][]string{{keyScheme: {}}}
	}
	for _, k := range append(a.commonProblems(res), res.problems...) {
		a.addProblem(op.Responses, k)
	}
	op.Responses["431"] = &huma.Response{Description: "Request headers too large.", Content: map[string]*huma.MediaType{"text/plain": {}}}
	return op
}

// commonProblems returns the problems that a resource shares with all others.
func (a *API) commonProblems(res resource) []problemKind {
	shared := []problemKind{badBody, crossOrigin, wrongMethod, longURL, wrongHost, badParameter, broken}
	if a.c.Keys != nil && !res.open {
		shared = append(shared, keyNeeded)
	}
	if a.c.Limiter != nil {
		shared = append(shared, tooMany, noCount)
	}
	return shared
}

func (a *API) success(res resource) *huma.Response {
	kind := jsonType
	headers := map[string]*huma.Param{
		"ETag":      textHeader("Entity tag for If-None-Match.", `"5f2b8c0e9d1a4b7c3e6f8a90"`),
		StaleHeader: {Description: "Number of stale values in this response; absent if none.", Schema: &huma.Schema{Type: huma.TypeInteger, Examples: []any{3}}},
	}
	if res.stream {
		kind, headers = "text/event-stream", nil
	}
	return &huma.Response{Description: res.summary, Headers: headers, Content: map[string]*huma.MediaType{kind: {Schema: a.schema(res.record)}}}
}

func textHeader(about, example string) *huma.Param {
	return &huma.Param{Description: about, Schema: &huma.Schema{Type: huma.TypeString, Examples: []any{example}}}
}

// addProblem documents a problem; kinds with the same status share a response.
func (a *API) addProblem(responses map[string]*huma.Response, k problemKind) {
	status, says := strconv.Itoa(k.status), k.title+" ("+k.urn()+")"
	r := responses[status]
	if r == nil {
		r = &huma.Response{}
		responses[status] = r
	}
	if r.Description != "" {
		says = strings.TrimSuffix(r.Description, ".") + "; " + says
	}
	r.Description = says
	if r.Content == nil {
		r.Content = map[string]*huma.MediaType{}
	}
	r.Content[problemType] = &huma.MediaType{Schema: a.schema(Problem{}), Example: map[string]any{
		"type": k.urn(), "title": k.title, "status": k.status, "detail": "what is wrong with this request", "remedy": k.remedy,
	}}
	if header, says := problemHeader(k.status); header != "" {
		if r.Headers == nil {
			r.Headers = map[string]*huma.Param{}
		}
		r.Headers[header] = says
	}
}

// problemHeader returns the header that is sent with a status.
func problemHeader(status int) (string, *huma.Param) {
	switch status {
	case http.StatusUnauthorized:
		return "WWW-Authenticate", textHeader("The header that carries the key.", `ApiKey header="X-API-Key"`)
	case http.StatusMethodNotAllowed:
		return "Allow", textHeader("The allowed methods.", readMethods)
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		return "Retry-After", &huma.Param{Description: "Seconds to wait.", Schema: &huma.Schema{Type: huma.TypeInteger, Examples: []any{5}}}
	}
	return "", nil
}

func (a *API) schema(record any) *huma.Schema {
	return a.docs.OpenAPI().Components.Schemas.Schema(reflect.TypeOf(record), true, "")
}

// document returns the OpenAPI document.
func (a *API) document() *answer {
	d := a.docs.OpenAPI()
	for _, theirs := range []string{"ErrorModel", "ErrorDetail"} { // huma's error format, which is never sent
		delete(d.Components.Schemas.Map(), theirs)
	}
	addExamples(d.Components.Schemas.Map())
	text, err := d.MarshalJSON()
	if err != nil {
		panic(fmt.Errorf("openapi document: %w", err))
	}
	return answerOf(text, []string{openapiType})
}

// addExamples gives every list of records an example: one record of its fields' examples.
func addExamples(records map[string]*huma.Schema) {
	for _, record := range records {
		for _, field := range record.Properties {
			if field.Items != nil && field.Items.Ref != "" {
				field.Examples = []any{[]any{exampleOf(records, field.Items.Ref)}}
			}
		}
	}
}

// exampleOf builds a record of its fields' examples. No record contains its own type.
func exampleOf(records map[string]*huma.Schema, ref string) map[string]any {
	example := map[string]any{}
	for name, field := range records[ref[strings.LastIndex(ref, "/")+1:]].Properties {
		if field.Items != nil && field.Items.Ref != "" {
			example[name] = []any{exampleOf(records, field.Items.Ref)}
		} else if len(field.Examples) > 0 {
			example[name] = field.Examples[0]
		}
	}
	return example
}
