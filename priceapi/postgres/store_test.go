//go:build hosted

package postgres

import (
	"context"
	"errors"
	"net/url"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"swapkeep/priceapi/poll"
	"swapkeep/priceapi/price"
	"swapkeep/test/servers"
)

// TestManyOpenAtOnce checks that of several processes that start on an empty database one
// creates the schema, and all share its secret.
func TestManyOpenAtOnce(t *testing.T) {
	at := servers.StartPostgreSQL(t).Database()
	secrets := make([]string, 6)
	var wg sync.WaitGroup
	for i := range secrets {
		wg.Go(func() {
			s, err := Open(t.Context(), Options{URL: at})
			if err != nil {
				t.Error(err)
				return
			}
			defer s.Close()
			secrets[i] = string(s.Secret())
		})
	}
	wg.Wait()
	for _, s := range secrets {
		if len(s) != 32 || s != secrets[0] {
			t.Errorf("secrets %x", secrets)
		}
	}
}

// TestMigration checks that a migration keeps the data and deposes an old version's leader,
// that a failing step changes nothing, and that an older program rejects a newer schema.
func TestMigration(t *testing.T) {
	at := servers.StartPostgreSQL(t).Database()
	s := opened(t, Options{URL: at})
	old := led(t, s)
	if err := old.Append(t.Context(), oneMinute(t, testNow, "1")); err != nil {
		t.Fatal(err)
	}
	if err := migrate(t.Context(), s.pool, append(migrations, "ALTER TABLE tokens ADD COLUMN note text; SELECT 1/0")); err == nil {
		t.Fatal("a step that fails is taken")
	}
	if v, err := versionOf(t.Context(), s.pool, 9); v != 1 || err != nil {
		t.Fatalf("version %d, %v", v, err)
	}
	if err := migrate(t.Context(), s.pool, append(migrations, "ALTER TABLE tokens ADD COLUMN note text")); err != nil {
		t.Fatal(err)
	}
	if err := old.Append(t.Context(), oneMinute(t, testNow, "2")); !errors.Is(err, ErrDeposed) {
		t.Errorf("the old version writes on: %v", err)
	}
	if last, err := s.Last(t.Context()); err != nil || last[testID(0)].Value != dollars(t, "1") {
		t.Errorf("Last = %v, %v; want 1 dollar", last, err)
	}
	if _, err := Open(t.Context(), Options{URL: at}); !errors.Is(err, ErrNewer) {
		t.Errorf("a newer schema: %v", err)
	}
}

// TestReader checks that a role without write access can serve.
func TestReader(t *testing.T) {
	g := servers.StartPostgreSQL(t)
	at := g.Database()
	term := led(t, opened(t, Options{URL: at}))
	if err := term.Append(t.Context(), oneMinute(t, testNow, "1")); err != nil {
		t.Fatal(err)
	}
	servers.ExecSQL(t, at, "CREATE ROLE reader LOGIN PASSWORD 'of-the-reader'; GRANT USAGE ON SCHEMA swapkeep_prices TO reader; GRANT SELECT ON ALL TABLES IN SCHEMA swapkeep_prices TO reader; GRANT UPDATE ON swapkeep_prices.probe TO reader")
	u, err := url.Parse(at)
	if err != nil {
		t.Fatal(err)
	}
	u.User = url.UserPassword("reader", "of-the-reader")
	s := opened(t, Options{URL: u.String()})
	day, _ := price.PeriodNamed("24h")
	if c, err := s.Chart(t.Context(), testID(0), day, testNow); err != nil || len(c) != 1 {
		t.Errorf("Chart = %v, %v; want one candle", c, err)
	}
	if err := s.Check(t.Context()); err != nil {
		t.Error(err)
	}
	term.Resign()
	if _, err := s.Lead(t.Context()); err == nil || !strings.Contains(err.Error(), "permission denied") {
		t.Errorf("leads: %v", err)
	}
}

// TestDamagedRows checks that damaged rows count as no data and cause no error.
func TestDamagedRows(t *testing.T) {
	at := servers.StartPostgreSQL(t).Database()
	term := led(t, opened(t, Options{URL: at}))
	for i := range 3 {
		if err := term.Append(t.Context(), oneMinute(t, testNow.Add(time.Duration(i-3)*20*time.Minute), "5")); err != nil {
			t.Fatal(err)
		}
	}
	for _, sql := range []string{
		"UPDATE swapkeep_prices.minutes SET data = substr(data, 1, 77) WHERE at = (SELECT min(at) FROM swapkeep_prices.minutes)",
		`UPDATE swapkeep_prices.minutes SET data = set_byte(data, 7, 254) WHERE at = (SELECT max(at) FROM swapkeep_prices.minutes)`, // above the largest price
		`UPDATE swapkeep_prices.quarters SET data = '\x0102'`,
		`UPDATE swapkeep_prices.times SET has = '\xffffffffff'`,
		`INSERT INTO swapkeep_prices.facts VALUES (1, '\x0000000000000000000000000000000000000001', 999999999999999999999, false, 1, null, 18446744073709551616, null)`,
	} {
		servers.ExecSQL(t, at, sql)
	}
	last, err := term.Last(t.Context())
	if err != nil || len(last) != 1 || !last[testID(0)].At.Equal(testNow.Add(-40*time.Minute).Truncate(time.Minute)) {
		t.Errorf("last %v, %v", last, err)
	}
	for _, p := range price.Periods() {
		if _, err := term.Chart(t.Context(), testID(0), p, testNow); err != nil {
			t.Error(err)
		}
	}
	facts, err := term.Facts(t.Context())
	if err != nil || len(facts) != 0 {
		t.Errorf("facts %v, %v", facts, err)
	}
	if c, err := term.Coverages(t.Context(), testNow); err != nil || len(c) != 1 {
		t.Errorf("coverages %v, %v", c, err)
	}
	if err := term.Append(t.Context(), oneMinute(t, testNow, "6")); err != nil {
		t.Error(err)
	}
}

// TestTimes checks that a minute outside the allowed times is rejected and nothing of it is
// written.
func TestTimes(t *testing.T) {
	term := led(t, opened(t, Options{URL: servers.StartPostgreSQL(t).Database()}))
	for _, off := range []time.Duration{-27 * time.Hour, 7 * time.Minute, 400 * 24 * time.Hour} {
		if err := term.Append(t.Context(), oneMinute(t, testNow.Add(off), "1")); !errors.Is(err, ErrTime) {
			t.Errorf("%s: %v", off, err)
		}
	}
	if totals, err := term.Totals(t.Context()); err != nil || totals.Fetches != 0 {
		t.Errorf("Totals = %+v, %v; want no fetches", totals, err)
	}
}

// TestRetention checks that data beyond its retention is deleted.
func TestRetention(t *testing.T) {
	at := servers.StartPostgreSQL(t).Database()
	now := testNow
	s := opened(t, Options{URL: at, Days: 31, Now: func() time.Time { return now }})
	term := led(t, s)
	for range 40 * 24 / 6 {
		now = now.Add(6 * time.Hour)
		if err := term.Append(t.Context(), oneMinute(t, now, "1")); err != nil {
			t.Fatal(err)
		}
	}
	for table, limit := range map[string]int{"minutes": 5, "quarters": 8*4 + 1, "hours": 31*4 + 1, "times": 5 + 8*4 + 1 + 31*4 + 1} {
		var n int
		if err := s.pool.QueryRow(t.Context(), "SELECT count(*) FROM "+table).Scan(&n); err != nil || n > limit || n < limit-3 {
			t.Errorf("%s: %d rows, want %d: %v", table, n, limit, err)
		}
	}
}

// TestRestored restores a backup in which a place belongs to another token, and checks that
// no process returns one token's prices for the other.
func TestRestored(t *testing.T) {
	at := servers.StartPostgreSQL(t).Database()
	s := opened(t, Options{URL: at})
	term := led(t, s)
	if err := term.Append(t.Context(), oneMinute(t, testNow, "1")); err != nil {
		t.Fatal(err)
	}
	day, _ := price.PeriodNamed("24h")
	if c, err := s.Chart(t.Context(), testID(0), day, testNow); err != nil || len(c) != 1 {
		t.Fatalf("Chart = %v, %v; want one candle", c, err)
	}
	other := testID(5)
	servers.ExecSQL(t, at, "UPDATE swapkeep_prices.tokens SET chain = $1, address = $2; ", int64(other.Chain), other.Address.Bytes())
	if c, err := s.Chart(t.Context(), testID(0), day, testNow); err != nil || len(c) != 0 {
		t.Errorf("Chart of a token whose row now names another = %v, %v; want no candles", c, err)
	}
	if last, err := s.Last(t.Context()); err != nil || len(last) != 1 || !last[other].Known() {
		t.Errorf("Last = %v, %v; want one price, of the other token", last, err)
	}
}

// TestBackup checks the documented backup procedure, and that a leader that continues on a
// restored database does not give a token another's place.
func TestBackup(t *testing.T) {
	at := servers.StartPostgreSQL(t).Database()
	s := opened(t, Options{URL: at})
	term := led(t, s)
	if err := errors.Join(term.Append(t.Context(), oneMinute(t, testNow, "1")), term.PutTable(t.Context(), 5, []byte("board"))); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "prices.dump")
	do := func(args ...string) {
		t.Helper()
		if out, err := exec.CommandContext(t.Context(), servers.FindProgram(t, args[0]), args[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", args[0], err, out)
		}
	}
	do("pg_dump", "--format=custom", "--schema=swapkeep_prices", "--file="+file, at)
	late := oneMinute(t, testNow.Add(time.Minute), "2")
	late.Samples[testID(1)] = late.Samples[testID(0)]
	if err := term.Append(t.Context(), late); err != nil {
		t.Fatal(err)
	}
	servers.ExecSQL(t, at, "DROP SCHEMA swapkeep_prices CASCADE")
	if err := term.Append(t.Context(), late); err == nil {
		t.Error("appended to nothing")
	}
	do("pg_restore", "--dbname="+at, file)
	if last, err := s.Last(t.Context()); err != nil || len(last) != 1 || last[testID(0)].Value != dollars(t, "1") {
		t.Errorf("Last after pg_restore = %v, %v; want one price, 1 dollar", last, err)
	}
	third := oneMinute(t, testNow.Add(2*time.Minute), "3")
	third.Samples[testID(2)] = price.Sample{Value: dollars(t, "33"), At: third.At, Source: price.DefiLlama}
	if err := term.Append(t.Context(), third); err != nil {
		t.Fatal(err)
	}
	last, err := opened(t, Options{URL: at, Now: func() time.Time { return third.At }}).Last(t.Context())
	if err != nil || len(last) != 2 || last[testID(0)].Value != dollars(t, "3") || last[testID(2)].Value != dollars(t, "33") {
		t.Errorf("Last = %v, %v; want 3 and 33 dollars", last, err)
	}
}

// TestPriceTable checks that the newest price table is returned to those who do not have it.
func TestPriceTable(t *testing.T) {
	term := led(t, opened(t, Options{URL: servers.StartPostgreSQL(t).Database()}))
	if seq, data, err := term.Table(t.Context(), 0); seq != 0 || data != nil || err != nil {
		t.Errorf("Table of an empty database = %d, %q, %v; want none", seq, data, err)
	}
	const seq uint64 = 1<<63 + 5 // of a term that begins after January 2038
	large := strings.Repeat("board", 1<<20)
	for _, c := range []struct {
		seq  uint64
		text string
	}{{1<<62 + 5, "small"}, {1<<63 - 1, large}, {seq, "small"}, {seq, large}} {
		if err := term.PutTable(t.Context(), c.seq, []byte(c.text)); err != nil {
			t.Fatal(err)
		}
		if got, data, err := term.Table(t.Context(), 3); got != c.seq || string(data) != c.text || err != nil {
			t.Errorf("Table = %d, %d bytes, %v; want %d, %d bytes", got, len(data), err, c.seq, len(c.text))
		}
	}
	if got, data, err := term.Table(t.Context(), seq); got != seq || data != nil || err != nil {
		t.Errorf("Table(known) = %d, %q, %v; want no data", got, data, err)
	}
}

// TestCallerGivesUp checks that cancelling a call only ends that call.
func TestCallerGivesUp(t *testing.T) {
	term := led(t, opened(t, Options{URL: servers.StartPostgreSQL(t).Database()}))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := term.Append(ctx, oneMinute(t, testNow, "1")); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if err := term.Append(t.Context(), oneMinute(t, testNow, "1")); err != nil {
		t.Error(err)
	}
}

// BenchmarkHistory measures appending a minute and reading charts, near prices and
// coverages, by number of tokens.
func BenchmarkHistory(b *testing.B) {
	g := servers.StartPostgreSQL(b)
	for name, n := range map[string]uint64{"1000": 1000, "10000": 10_000} {
		now := testNow
		s, err := Open(b.Context(), Options{URL: g.Database(), Now: func() time.Time { return now }})
		if err != nil {
			b.Fatal(err)
		}
		term, err := s.Lead(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		minute := func() {
			now = now.Add(time.Minute)
			m := poll.Minute{At: now, OK: true, Samples: map[price.ID]price.Sample{}}
			for i := range n {
				m.Samples[testID(i)] = price.Sample{Value: dollars(b, "1234.5"), At: now, Source: price.DefiLlama}
			}
			if err := term.Append(b.Context(), m); err != nil {
				b.Fatal(err)
			}
		}
		for range 25 * 60 { // as many minutes as are kept
			minute()
		}
		b.Run(name+"/append", func(b *testing.B) {
			for b.Loop() {
				minute()
			}
		})
		day, _ := price.PeriodNamed("24h")
		b.Run(name+"/chart", func(b *testing.B) {
			for b.Loop() {
				if c, err := s.Chart(b.Context(), testID(n/2), day, now); err != nil || len(c) < 287 {
					b.Fatal(len(c), err)
				}
			}
		})
		b.Run(name+"/near", func(b *testing.B) {
			for b.Loop() {
				if c, err := s.Near(b.Context(), now.Add(-24*time.Hour), 30*time.Minute); err != nil || len(c) != int(n) {
					b.Fatal(len(c), err)
				}
			}
		})
		b.Run(name+"/coverages", func(b *testing.B) {
			for b.Loop() {
				if c, err := s.Coverages(b.Context(), now); err != nil || len(c) != int(n) {
					b.Fatal(len(c), err)
				}
			}
		})
		term.Resign()
		s.Close()
	}
}
