package bridgesim

import (
	"encoding/json"
	"fmt"
	"net/http"
)

// Controls returns the simulator's requests of the sandbox's control endpoint.
func (s *Server) Controls() map[string]func(*http.Request) (any, error) {
	return map[string]func(*http.Request) (any, error){
		"GET /orders": func(*http.Request) (any, error) { return s.Orders(), nil },
		"POST /haircut": func(r *http.Request) (any, error) {
			var args struct {
				Chain uint64 `json:"chain"`
				Bips  int64  `json:"bips"`
			}
			body := json.NewDecoder(r.Body)
			body.DisallowUnknownFields()
			if err := body.Decode(&args); err != nil {
				return nil, fmt.Errorf("body: %w", err)
			}
			return map[string]bool{"ok": true}, s.Haircut(r.Context(), args.Chain, args.Bips)
		},
	}
}
