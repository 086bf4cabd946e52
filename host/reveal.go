package host

import (
	"bytes"
	"encoding/json"
	"reflect"

	"swapkeep/host/protocol"
	"swapkeep/internal/zeroize"

	"github.com/google/uuid"
)

// A maskedSecret is a secret of a result that bypasses encoding/json, which leaves copies in
// its own buffers.
type maskedSecret struct {
	mark   string // placeholder in the encoded message
	secret protocol.Secret
}

// hide returns the result with its secrets replaced by placeholders.
func hide(result any) (any, []maskedSecret) {
	if _, shows := result.(interface{ Zero() }); !shows {
		return result, nil
	}
	marked := reflect.New(reflect.TypeOf(result)).Elem()
	marked.Set(reflect.ValueOf(result))
	var all []maskedSecret
	for i := range marked.NumField() {
		if s, ok := marked.Field(i).Interface().(protocol.Secret); ok && len(s) > 0 {
			h := maskedSecret{uuid.NewString(), s}
			marked.Field(i).Set(reflect.ValueOf(protocol.Secret(h.mark)))
			all = append(all, h)
		}
	}
	return marked.Interface(), all
}

// reveal puts the secrets into an encoded message. Only the returned message contains
// them.
func reveal(body []byte, all []maskedSecret) ([]byte, error) {
	for _, h := range all {
		written, err := h.secret.MarshalJSON()
		if err != nil {
			return nil, err
		}
		before, after, _ := bytes.Cut(body, []byte(`"`+h.mark+`"`))
		shown := make([]byte, 0, len(before)+len(written)+len(after))
		zeroize.Do(func() { shown = append(append(append(shown, before...), written...), after...) })
		clear(written)
		clear(body)
		body = shown
	}
	return body, nil
}

// A success is a [protocol.Response] whose result is encoded together with it.
type success struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Result  any             `json:"result"`
}

// encoded encodes a response.
func encoded(r protocol.Response, result any) ([]byte, error) {
	if r.Error != nil {
		return json.Marshal(r)
	}
	shown, secrets := hide(result)
	body, err := json.Marshal(success{r.JSONRPC, r.ID, shown})
	if err != nil {
		return nil, err
	}
	return reveal(body, secrets)
}
