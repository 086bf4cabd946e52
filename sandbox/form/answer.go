package form

import (
	"bytes"
	"encoding/json"
	"net/http"
)

// An Answer is how an API writes its answers.
type Answer struct {
	ContentType string
	Bare        bool // <, > and & stand as they are
}

// Marshal encodes a value, on one line.
func (a Answer) Marshal(v any) ([]byte, error) {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(!a.Bare)
	err := enc.Encode(v)
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), err
}

// Write answers with a value. One that cannot be encoded is the simulator's own
// trouble and shown as such.
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
