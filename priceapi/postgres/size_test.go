//go:build hosted

package postgres

import (
	"testing"
	"time"

	"swapkeep/priceapi/poll"
	"swapkeep/priceapi/price"
	"swapkeep/test/servers"
)

// TestSize checks that a thousand tokens use no more disk and WAL than documented.
func TestSize(t *testing.T) {
	const tokens = 1000
	at := servers.StartPostgreSQL(t).Database()
	now := testNow
	s := opened(t, Options{URL: at, Now: func() time.Time { return now }})
	term := led(t, s)
	ask := func(sql string) (n int64) {
		t.Helper()
		if err := s.pool.QueryRow(t.Context(), sql).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	m := poll.Minute{OK: true, Samples: map[price.ID]price.Sample{}}
	sixHours := func() {
		for range 6 * 60 {
			now = now.Add(time.Minute)
			m.At = now
			for i := range uint64(tokens) {
				m.Samples[testID(i)] = price.Sample{Value: dollars(t, "1234.5"), At: now, Source: price.DefiLlama}
			}
			if err := term.Append(t.Context(), m); err != nil {
				t.Fatal(err)
			}
		}
	}
	sixHours()
	const written = "SELECT pg_current_wal_lsn() - '0/0'"
	before := ask(written)
	sixHours()
	log := 4 * (ask(written) - before) >> 20
	size := map[string]int64{}
	for _, l := range layouts {
		size[l.table] = ask("SELECT pg_total_relation_size('"+l.table+"')") >> 20
	}
	t.Logf("%d tokens: %d MB of log a day; tables in MB after half a day: %v", tokens, log, size)
	if log > 50 || size["minutes"] > 12 || size["quarters"] > 4 || size["hours"] > 2 {
		t.Errorf("more than is said: %d MB of log, tables %v", log, size)
	}
}
