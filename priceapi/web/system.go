package web

import (
	"context"
	"net/http"
)

// health reports the service's health. An unknown status counts as unhealthy.
func (a *API) health(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), a.limits.Backend)
	defer cancel()
	h := a.c.Health(ctx)
	record := HealthRecord{
		Status: h.Status, Timestamp: a.now().UTC().Format(zuluMicros), Version: a.c.Version,
		DatabaseStatus: h.Database, RedisStatus: h.Cache,
	}
	switch h.Status {
	case Healthy, Degraded:
		encoded(record, 0).write(w, r)
	default:
		record.Status = Unhealthy
		ill := encoded(record, 0)
		w.Header()["Content-Type"], w.Header()["Content-Length"] = ill.kind, ill.length
		w.Header()["Cache-Control"], w.Header()["X-Content-Type-Options"] = noStore, noSniff
		w.WriteHeader(http.StatusServiceUnavailable)
		_, _ = w.Write(ill.body) // a write error means that the client has gone
	}
}

var noStore = []string{"no-store"}

func (a *API) stats(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), a.limits.Backend)
	defer cancel()
	t, err := a.c.Charts.Totals(ctx)
	if err != nil {
		noHistory.problem("the numbers of fetches cannot be read now").after(a.limits.Backend).write(w, r)
		return
	}
	mean := 0.0
	if t.Fetches > 0 {
		mean = max(0, t.Took.Seconds()/float64(t.Fetches))
	}
	encoded(Statistics{
		TotalFetches: t.Fetches, SuccessfulFetches: t.Successful,
		TokensMonitored: len(a.snapshot().monitored[0]), AvgFetchSeconds: rounded(mean),
	}, 0).write(w, r)
}
