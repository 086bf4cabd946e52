package form

import (
	"bytes"
	"encoding/json"
	"net/http"
)

// An Answer is the format of an API's responses.
type Answer struct {
	ContentType  string
	NoEscapeHTML bool // <, > and & are not escaped
}

// Marshal encodes a value, on one line.
func (a Answer) Marshal(v any) ([]byte, error) {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(!a.NoEscapeHTML)
	err := enc.Encode(v)
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), err
}

// Write responds with a value. If it cannot be encoded, which is a bug in the simulator,
// the response is 500 with the error.
func (a Answer) Write(w http.ResponseWriter, status int, v any) {
	raw, err := a.Marshal(v)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", a.ContentType)
	w.WriteHeader(status)
	_, _ = w.Write(raw)
}
