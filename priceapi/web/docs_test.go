package web

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"swapkeep/priceapi/price"
)

// A node is a part of the OpenAPI document.
type node = map[string]any

func document(t *testing.T, s *site) node {
	t.Helper()
	r := s.get(t, specPath)
	if r.status != 200 || r.header.Get("Content-Type") != openapiType {
		t.Fatalf("the specification: status %d, header %v; want 200 and the OpenAPI type", r.status, r.header)
	}
	return into[node](t, r)
}

// dig follows names into a node.
func dig(n node, names ...string) node {
	for _, name := range names {
		n, _ = n[name].(node)
	}
	return n
}

// TestDocument checks that every field of every record and every parameter has a
// description and an example, and every amount its unit.
func TestDocument(t *testing.T) {
	d := document(t, serve(t, config()))
	if d["openapi"] != "3.1.0" || dig(d, "info")["version"] != "1.2.3" || !strings.Contains(dig(d, "info")["description"].(string), "| "+unknownToken.urn()+" | 404 |") {
		t.Errorf("openapi is %v, info %v", d["openapi"], d["info"])
	}
	schemas := dig(d, "components", "schemas")
	if len(schemas) != 16 || schemas["ErrorModel"] != nil || schemas["ErrorDetail"] != nil {
		t.Errorf("%d records are documented", len(schemas))
	}
	unit := regexp.MustCompile(`US dollars|percent|seconds|[Nn]umber of|Chain id|How many|HTTP status`)
	for record := range schemas {
		fields := dig(schemas, record, "properties")
		if len(fields) == 0 || schemas[record].(node)["additionalProperties"] != false {
			t.Errorf("%s: %v, want properties and no additional ones", record, schemas[record])
		}
		for name := range fields {
			f := dig(fields, name)
			about, _ := f["description"].(string)
			kind, typed := f["type"].(string)
			amount := kind == "number" || kind == "integer" || strings.HasPrefix(name, "price_now") || strings.HasPrefix(name, "change") || name == "market_cap"
			_, example := f["examples"].([]any)
			switch {
			case len(about) < 5 || !typed && f["$ref"] == nil:
				t.Errorf("%s.%s is not explained: %v", record, name, f)
			case !example:
				t.Errorf("%s.%s has no example", record, name)
			case amount && !unit.MatchString(about):
				t.Errorf("%s.%s has no unit: %s", record, name, about)
			}
		}
	}
}

// TestOperations checks that every operation documents its answer, its possible problems,
// and its parameters with examples, and that each documented path answers.
func TestOperations(t *testing.T) {
	c := keyed()
	c.Limiter = &counter{n: 1000}
	s := serve(t, c)
	d := document(t, s)
	paths := dig(d, "paths")
	if len(paths) != 8 {
		t.Errorf("%d paths", len(paths))
	}
	for path := range paths {
		op := dig(paths, path, "get")
		if op["summary"] == "" || op["description"] == "" || op["operationId"] == "" {
			t.Errorf("%s is not explained", path)
		}
		responses := dig(op, "responses")
		want := []string{"200", "400", "403", "405", "414", "421", "422", "429", "431", "500", "503"}
		if path != Base+"/health" {
			want = append(want, "401")
			if op["security"] == nil {
				t.Errorf("%s does not say that it needs a key", path)
			}
		}
		if strings.Contains(path, "{address}") {
			want = append(want, "404")
		}
		for _, status := range want {
			r := dig(responses, status)
			if r["description"] == nil || r["content"] == nil {
				t.Errorf("%s: %s is not documented: %v", path, status, r)
			}
			if status >= "400" && status != "431" && dig(r, "content", problemType, "schema")["$ref"] != "#/components/schemas/Problem" {
				t.Errorf("%s: %s is no problem: %v", path, status, r["content"])
			}
		}
		params, _ := op["parameters"].([]any)
		for _, p := range params {
			p := p.(node)
			if p["description"] == "" || dig(p, "schema")["examples"] == nil {
				t.Errorf("%s: the parameter %v is not explained", path, p["name"])
			}
		}
		if r := s.ask(t, http.MethodHead, strings.ReplaceAll(path, "{address}", weth.Hex()), keyHeader, goodKey); r.status != 200 {
			t.Errorf("%s: %d", path, r.status)
		}
	}
	if dig(d, "components", "securitySchemes", keyScheme)["name"] != keyHeader {
		t.Errorf("the components lack the key's header: %v", dig(d, "components"))
	}
	if open := document(t, serve(t, config())); dig(open, "components")["securitySchemes"] != nil || strings.Contains(string(encode(open)), `"security":`) {
		t.Error("a service without keys documents keys")
	}
}

// TestLimitsAsDocumented checks that the parameter tags agree with the code.
func TestLimitsAsDocumented(t *testing.T) {
	d := document(t, serve(t, config()))
	for _, p := range dig(d, "paths", pricesPath, "get")["parameters"].([]any) {
		p := p.(node)
		if schema := dig(p, "schema"); p["name"] == "limit" && (schema["default"] != float64(defaultLimit) || schema["maximum"] != float64(maxLimit)) {
			t.Errorf("the schema of limit is %v, want the default and the maximum", schema)
		}
	}
	var names []any
	for _, p := range price.Periods() {
		names = append(names, p.Name)
	}
	for _, record := range []string{"Chart", "AvailablePeriod"} {
		if enum := dig(d, "components", "schemas", record, "properties", "period")["enum"].([]any); !slices.Equal(enum, names) {
			t.Errorf("%s: %v, want %v", record, enum, names)
		}
	}
}

// TestPage checks that the documentation page needs no other host.
func TestPage(t *testing.T) {
	s := serve(t, config())
	r := s.get(t, docsPath)
	policy := r.header.Get("Content-Security-Policy")
	if r.status != 200 || !strings.HasPrefix(r.header.Get("Content-Type"), "text/html") || !strings.Contains(policy, "default-src 'none'") || regexp.MustCompile(`https?:|\*|script-src[^;]*unsafe`).MatchString(policy) {
		t.Fatalf("the page: status %d, header %v; want 200, HTML and a strict policy", r.status, r.header)
	}
	if regexp.MustCompile(`https?://|src="//|href="//|<script>|<style>|\son\w+=`).MatchString(r.body) {
		t.Errorf("the page reaches out, or has scripts in it, which its policy forbids: %s", r.body)
	}
	parts := regexp.MustCompile(`(?:src|href)="([^"]+)"`).FindAllStringSubmatch(r.body, -1)
	if len(parts) < 5 {
		t.Fatalf("parts %v", parts)
	}
	for _, p := range parts {
		plain, packed := s.get(t, p[1]), s.get(t, p[1], "Accept-Encoding", "br, gzip;q=0.8")
		if plain.status != 200 || packed.status != 200 || plain.header.Get("Content-Encoding") != "" || len(plain.body) < 100 {
			t.Errorf("%s: %d, %d", p[1], plain.status, packed.status)
		}
		if packed.header.Get("Content-Encoding") == "" {
			continue
		}
		z, err := gzip.NewReader(strings.NewReader(packed.body))
		if err != nil {
			t.Fatal(err)
		}
		if body, err := io.ReadAll(z); err != nil || string(body) != plain.body || packed.header.Get("Etag") == plain.header.Get("Etag") || packed.header.Get("Vary") != "Accept-Encoding" {
			t.Errorf("%s: packed and plain differ: %v %v", p[1], err, packed.header)
		}
		if !strings.HasSuffix(p[1], ".css") {
			continue
		}
		if m := regexp.MustCompile(`url\(["']?(?:https?:)?//[^)]*|@import[^;]*`).FindString(plain.body); m != "" {
			t.Errorf("%s reaches out: %s", p[1], m)
		}
	}
	start := s.get(t, "/docs/start.js").body
	if !strings.Contains(start, `url: "`+specPath+`"`) || !strings.Contains(start, "validatorUrl: null") {
		t.Errorf("start.js lacks the specification's address or asks a validator: %s", start)
	}
	for accept, want := range map[string]bool{"gzip": true, "GZIP": true, "br,gzip ; q=0.5": true, "gzip;q=0": false, "gzip;q=0.000": false, "": false, "br": false, "x-gzip": false} {
		if acceptsGzip(accept) != want {
			t.Errorf("%q: %t", accept, !want)
		}
	}
}

// TestDocumentIsCompact checks that the document is JSON without unexpected content.
func TestDocumentIsCompact(t *testing.T) {
	body := []byte(serve(t, config()).get(t, specPath).body)
	var again bytes.Buffer
	if err := json.Compact(&again, body); err != nil || again.Len() > 200<<10 {
		t.Errorf("%d bytes: %v", again.Len(), err)
	}
	for _, never := range []string{"$schema", "unpkg", "localhost", "/home/", "null"} {
		if bytes.Contains(body, []byte(never)) {
			t.Errorf("the document has %q", never)
		}
	}
}
