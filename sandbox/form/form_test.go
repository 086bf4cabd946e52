package form

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestTypes(t *testing.T) {
	for text, want := range map[string]Type{
		` "a"`: String, `{"a":1}`: Object, "\n[]": Array, `true`: Boolean, `false`: Boolean, `null`: Null, `-1`: Number, `0.5`: Number, ``: "", ` `: "",
	} {
		if got := TypeOf(json.RawMessage(text)); got != want {
			t.Errorf("%q is of type %q, want %q", text, got, want)
		}
	}
	for text, want := range map[string]bool{`"a"`: true, `"b"`: false, `null`: false, `["a"]`: false, ``: false} {
		if OneOf(json.RawMessage(text), []string{"a", ""}) != want {
			t.Errorf("%q is one of them: want %v", text, want)
		}
	}
	if text, ok := Text(json.RawMessage(`"a\u0062"`)); !ok || text != "ab" {
		t.Errorf("Text = %q, %v; want \"ab\"", text, ok)
	}
}

func TestRead(t *testing.T) {
	for size, ok := range map[int]bool{0: true, maxRequest: true, maxRequest + 1: false} {
		r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(strings.Repeat("a", size)))
		if raw, err := Read(httptest.NewRecorder(), r); (err == nil) != ok || ok && len(raw) != size {
			t.Errorf("%d bytes: read %d, %v", size, len(raw), err)
		}
	}
}

func TestAnswer(t *testing.T) {
	for want, a := range map[string]Answer{`{"a":"\u003c"}`: {ContentType: "application/json"}, `{"a":"<"}`: {"text/x", true}} {
		w := httptest.NewRecorder()
		a.Write(w, http.StatusCreated, map[string]string{"a": "<"})
		if w.Code != http.StatusCreated || w.Body.String() != want || w.Header().Get("Content-Type") != a.ContentType {
			t.Errorf("%d %s of %s", w.Code, w.Body, w.Header())
		}
	}
	w := httptest.NewRecorder()
	Answer{}.Write(w, http.StatusOK, func() {})
	if w.Code != http.StatusInternalServerError {
		t.Errorf("what cannot be encoded is answered with %d", w.Code)
	}
}
