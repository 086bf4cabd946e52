package keyproxy

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"time"
)

// A code is an errorCode of the proxy. The provider's own codes never begin with Proxy, so
// a client can tell who refused.
type code string

// The proxy's own refusals.
const (
	hostRefused      code = "ProxyHostRefused"
	originRefused    code = "ProxyOriginRefused"
	endpointRefused  code = "ProxyEndpointRefused"
	methodRefused    code = "ProxyMethodRefused"
	unauthorized     code = "ProxyUnauthorized"
	rateLimited      code = "ProxyRateLimited"
	busy             code = "ProxyBusy"
	headerRefused    code = "ProxyHeaderRefused"
	mediaRefused     code = "ProxyMediaTypeRefused"
	queryRefused     code = "ProxyQueryRefused"
	bodyTooLarge     code = "ProxyBodyTooLarge"
	bodyTimeout      code = "ProxyBodyTimeout"
	bodyRefused      code = "ProxyBodyRefused"
	fieldRefused     code = "ProxyFieldRefused"
	feeRefused       code = "ProxyFeeRefused"
	upstreamTimeout  code = "ProxyUpstreamTimeout"
	upstreamLost     code = "ProxyUpstreamUnreachable"
	upstreamRedirect code = "ProxyUpstreamRedirect"
	upstreamKey      code = "ProxyUpstreamKeyRefused"
	upstreamReply    code = "ProxyUpstreamReplyRefused"
)

// statuses is the HTTP status of every code. Up to feeRefused nothing was sent to the
// provider; from upstreamTimeout on something may have been.
var statuses = map[code]int{
	hostRefused:      http.StatusMisdirectedRequest,
	originRefused:    http.StatusForbidden,
	endpointRefused:  http.StatusForbidden, // not 404: there that means "no route"
	methodRefused:    http.StatusMethodNotAllowed,
	unauthorized:     http.StatusUnauthorized,
	rateLimited:      http.StatusTooManyRequests,
	busy:             http.StatusServiceUnavailable,
	headerRefused:    http.StatusBadRequest,
	mediaRefused:     http.StatusUnsupportedMediaType,
	queryRefused:     http.StatusBadRequest,
	bodyTooLarge:     http.StatusRequestEntityTooLarge,
	bodyTimeout:      http.StatusRequestTimeout,
	bodyRefused:      http.StatusBadRequest,
	fieldRefused:     http.StatusBadRequest,
	feeRefused:       http.StatusForbidden,
	upstreamTimeout:  http.StatusGatewayTimeout,
	upstreamLost:     http.StatusBadGateway,
	upstreamRedirect: http.StatusBadGateway,
	upstreamKey:      http.StatusBadGateway,
	upstreamReply:    http.StatusBadGateway,
}

// A refusal ends a request. Its detail is sent to the client and contains neither secrets
// nor the provider's text.
type refusal struct {
	code   code
	detail string
	status int           // overrides the code's status; 0 = do not
	after  time.Duration // Retry-After; 0 = none
}

func (r *refusal) Error() string { return string(r.code) + ": " + r.detail }

func refuse(c code, format string, a ...any) *refusal {
	return &refusal{code: c, detail: fmt.Sprintf(format, a...)}
}

// asRefusal is err as a refusal. Every error of this package is one.
func asRefusal(err error) *refusal {
	var r *refusal
	if errors.As(err, &r) {
		return r
	}
	return refuse(upstreamReply, "the proxy failed")
}

func (r *refusal) httpStatus() int {
	if r.status != 0 {
		return r.status
	}
	return statuses[r.code]
}

// write sends the refusal in the provider's error form.
func (r *refusal) write(w http.ResponseWriter) {
	if r.after > 0 {
		w.Header().Set("Retry-After", seconds(r.after))
	}
	if r.code == unauthorized {
		w.Header().Set("WWW-Authenticate", "Bearer")
	}
	writeJSON(w, r.httpStatus(), struct {
		ErrorCode code   `json:"errorCode"`
		Detail    string `json:"detail"`
	}{r.code, r.detail})
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	body, err := json.Marshal(v)
	if err != nil {
		status, body = http.StatusInternalServerError, []byte(`{}`)
	}
	send(w, status, body)
}

// send writes a whole JSON body. A client that is gone is not an error.
func send(w http.ResponseWriter, status int, body []byte) {
	w.Header().Set("Content-Type", jsonType)
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, _ = w.Write(body)
}

// seconds formats a wait as whole seconds, at least one.
func seconds(d time.Duration) string {
	return strconv.Itoa(max(1, int(math.Ceil(d.Seconds()))))
}
