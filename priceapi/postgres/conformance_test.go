//go:build hosted

package postgres_test

import (
	"testing"
	"time"

	"swapkeep/priceapi/poll"
	"swapkeep/priceapi/poll/historytest"
	"swapkeep/priceapi/postgres"
	"swapkeep/test/servers"
)

func TestConformance(t *testing.T) {
	url := servers.StartPostgreSQL(t).Database()
	historytest.Run(t, 10, func(now func() time.Time) (poll.History, func(), error) {
		servers.ExecSQL(t, url, "DROP SCHEMA IF EXISTS swapkeep_prices CASCADE")
		s, err := postgres.Open(t.Context(), postgres.Options{URL: url, Days: historytest.Days, Now: now})
		if err != nil {
			return nil, nil, err
		}
		term, err := s.Lead(t.Context())
		if err != nil {
			s.Close()
			return nil, nil, err
		}
		return term, func() { term.Resign(); s.Close() }, nil
	})
}
