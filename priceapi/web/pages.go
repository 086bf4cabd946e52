package web

import (
	"bytes"
	"compress/gzip"
	"embed"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"

	"github.com/swaggest/swgui/v5/static"
)

const (
	docsPath = "/docs"
	specPath = "/openapi.json"
)

// ours is this package's part of the documentation page. The rest is Swagger UI, which
// comes gzipped. Its files are used directly, because its own handler hashes all of them at
// every start.
//
//go:embed page
var ours embed.FS

// docsPolicy allows the page to load only its own files. Swagger UI writes style attributes
// and has data: images in its style sheet.
var docsPolicy = []string{"default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"}

// A file describes a file of the documentation.
type file struct {
	path, kind string
	from       embed.FS
	name       string // gzipped if it ends in .gz
}

var files = []file{
	{docsPath, "text/html; charset=utf-8", ours, "page/index.html"},
	{"/docs/start.js", "text/javascript; charset=utf-8", ours, "page/start.js"},
	{"/docs/swagger-ui-bundle.js", "text/javascript; charset=utf-8", static.FS, "swagger-ui-bundle.js.gz"},
	{"/docs/swagger-ui.css", "text/css; charset=utf-8", static.FS, "swagger-ui.css.gz"},
	{"/docs/favicon-32x32.png", "image/png", static.FS, "favicon-32x32.png"},
}

// routePages registers everything that is not a resource.
func (a *API) routePages() {
	get := func(path string, serve http.HandlerFunc) {
		a.router.Path(path).Methods(http.MethodGet).HandlerFunc(serve)
	}
	for _, f := range files {
		get(f.path, f.handler())
	}
	get(specPath, func(w http.ResponseWriter, r *http.Request) { a.spec().write(w, r) })
	root := encoded(Root{Name: "Swapkeep price API", Version: a.c.Version, API: Base, Documentation: docsPath, OpenAPI: specPath}, 0)
	get("/", root.write)
}

// handler serves the gzipped file to clients that accept gzip, and the unpacked one to
// others. It unpacks once, because these requests are not rate limited and a slow client
// keeps its copy alive.
func (f file) handler() http.HandlerFunc {
	packed := sync.OnceValue(func() *answer { return f.answer(f.read()) })
	if !strings.HasSuffix(f.name, ".gz") {
		return func(w http.ResponseWriter, r *http.Request) { packed().write(w, r) }
	}
	unpacked := sync.OnceValue(func() *answer { return f.answer(unpack(packed().body)) })
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Add("Vary", "Accept-Encoding")
		if acceptsGzip(r.Header.Get("Accept-Encoding")) {
			as := *packed()
			as.encoding = []string{"gzip"}
			as.write(w, r)
			return
		}
		unpacked().write(w, r)
	}
}

func (f file) answer(body []byte) *answer {
	a := answerOf(body, []string{f.kind})
	a.csp = docsPolicy
	return a
}

func (f file) read() []byte {
	body, err := f.from.ReadFile(f.name)
	if err != nil {
		panic(fmt.Errorf("embedded page: %w", err))
	}
	return body
}

// acceptsGzip evaluates Accept-Encoding; a weight of zero means no (RFC 9110, 12.5.3).
func acceptsGzip(accept string) bool {
	for one := range strings.SplitSeq(accept, ",") {
		coding, weight, _ := strings.Cut(one, ";")
		if strings.EqualFold(strings.TrimSpace(coding), "gzip") {
			weight = strings.TrimPrefix(strings.TrimSpace(weight), "q=")
			return weight == "" || strings.Trim(weight, "0.") != ""
		}
	}
	return false
}

func unpack(packed []byte) []byte {
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		panic(fmt.Errorf("embedded page: %w", err))
	}
	body, err := io.ReadAll(z)
	if err != nil {
		panic(fmt.Errorf("embedded page: %w", err))
	}
	return body
}
