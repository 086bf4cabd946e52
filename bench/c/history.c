// history FILE TOKENS: a price history in SQLite, the peer of package series. Prepared
// statements, one transaction a minute that is on disk when it returns, tables that are
// their own index by token and time. What a row holds, and how long it is kept, is as
// in package series; candles of the present are held in memory.
//
// It answers each line with one:
//
//	fill NOW                     all that is kept is written      ns
//	minute AT                    a fetch is committed             ns, bytes given to the system
//	chart TOKEN TABLE FROM TO STEP  a chart's candles are made    ns, candles, sum of their last prices
//
// Times are whole minutes since 1970. The candle that TO is in is not counted: it is
// not over.
#include <sqlite3.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MAX_CANDLES 512

typedef struct {
	int64_t open, high, low, close;
} candle;

typedef struct {
	const char *table;
	int64_t step, kept; // minutes
	sqlite3_stmt *insert, *expire, *read;
	candle *now; // of each token, where the step is not a minute
} series;

static series all[] = {{.table = "minutes", .step = 1, .kept = 25 * 60},
                       {.table = "quarters", .step = 15, .kept = 8 * 24 * 60},
                       {.table = "hours", .step = 60, .kept = 32 * 24 * 60}};
enum { MINUTES, QUARTERS, HOURS, SERIES };

static sqlite3 *db;
static int tokens;

static void check(int rc, const char *what) {
	if (rc == SQLITE_OK || rc == SQLITE_DONE || rc == SQLITE_ROW)
		return;
	fprintf(stderr, "history: %s: %s\n", what, sqlite3_errmsg(db));
	exit(1);
}

static void run(const char *sql) { check(sqlite3_exec(db, sql, NULL, NULL, NULL), sql); }

static sqlite3_stmt *prepare(const char *form, const char *table) {
	char sql[256];
	sqlite3_stmt *s;
	snprintf(sql, sizeof sql, form, table);
	check(sqlite3_prepare_v3(db, sql, -1, SQLITE_PREPARE_PERSISTENT, &s, NULL), sql);
	return s;
}

static void step(sqlite3_stmt *s) {
	check(sqlite3_step(s), sqlite3_sql(s));
	check(sqlite3_reset(s), sqlite3_sql(s));
}

static int64_t nanoseconds(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

// what this process has given to the system (proc(5), io)
static int64_t written(void) {
	long long n = -1;
	char line[128];
	FILE *f = fopen("/proc/self/io", "r");
	while (f && fgets(line, sizeof line, f))
		if (sscanf(line, "wchar: %lld", &n) == 1)
			break;
	if (f)
		fclose(f);
	return n;
}

// price of token n, packed, as bench's priceAt and price.Pack have it
static int64_t price(int n, int64_t minute) {
	const __int128 whole = 100000000000000000LL; // 1e17
	__int128 v = (1 + n % 4000) * whole + 1 + (minute * 60 * 7919 + (int64_t)n * 104729) % (whole - 1);
	int exponent = 0;
	for (v *= 10; v >= whole; v /= 10)
		exponent++;
	return (int64_t)v << 6 | exponent;
}

static void put(series *s, int token, int64_t at, candle c) {
	sqlite3_bind_int(s->insert, 1, token);
	sqlite3_bind_int64(s->insert, 2, at);
	if (s->step == 1) {
		sqlite3_bind_int64(s->insert, 3, c.close);
		sqlite3_bind_int(s->insert, 4, 1); // its source
		sqlite3_bind_int(s->insert, 5, 0); // its age
	} else {
		sqlite3_bind_int64(s->insert, 3, c.open);
		sqlite3_bind_int64(s->insert, 4, c.high);
		sqlite3_bind_int64(s->insert, 5, c.low);
		sqlite3_bind_int64(s->insert, 6, c.close);
	}
	step(s->insert);
}

static void join(candle *c, candle other) {
	if (c->open == 0)
		c->open = c->high = c->low = other.open;
	if (other.high > c->high)
		c->high = other.high;
	if (other.low < c->low)
		c->low = other.low;
	c->close = other.close;
}

static void fill_all(int64_t now) {
	run("BEGIN");
	for (series *s = all; s < all + SERIES; s++)
		for (int n = 0; n < tokens; n++)
			for (int64_t at = (now - s->kept) / s->step * s->step + s->step; at <= now; at += s->step) {
				int64_t v = price(n, at);
				put(s, n, at, (candle){v, v, v, v});
			}
	run("COMMIT");
	run("PRAGMA wal_checkpoint(TRUNCATE)");
}

// a minute's samples, and with the last of a quarter or an hour its candles; what is
// too old goes once an hour
static void minute(int64_t at) {
	run("BEGIN IMMEDIATE");
	for (int n = 0; n < tokens; n++) {
		int64_t v = price(n, at);
		candle c = {v, v, v, v};
		put(&all[MINUTES], n, at, c);
		for (series *s = all + QUARTERS; s < all + SERIES; s++) {
			join(&s->now[n], c);
			if ((at + 1) % s->step == 0) {
				put(s, n, at + 1 - s->step, s->now[n]);
				memset(&s->now[n], 0, sizeof(candle));
			}
		}
	}
	if ((at + 1) % 60 == 0)
		for (series *s = all; s < all + SERIES; s++)
			for (int n = 0; n < tokens; n++) {
				sqlite3_bind_int(s->expire, 1, n);
				sqlite3_bind_int64(s->expire, 2, at - s->kept);
				step(s->expire);
			}
	run("COMMIT");
}

static int chart(int token, series *s, int64_t from, int64_t to, int64_t span, candle *candles) {
	int count = 0;
	int64_t present = -1;
	sqlite3_bind_int(s->read, 1, token);
	sqlite3_bind_int64(s->read, 2, from);
	sqlite3_bind_int64(s->read, 3, to);
	int rc;
	while ((rc = sqlite3_step(s->read)) == SQLITE_ROW) {
		int64_t slot = sqlite3_column_int64(s->read, 0) / span;
		if (slot == to / span || count == MAX_CANDLES)
			break;
		if (slot != present) {
			candles[count++] = (candle){0};
			present = slot;
		}
		candle c = {sqlite3_column_int64(s->read, 1), 0, 0, 0};
		if (s->step == 1)
			c.high = c.low = c.close = c.open;
		else
			c = (candle){c.open, sqlite3_column_int64(s->read, 2), sqlite3_column_int64(s->read, 3), sqlite3_column_int64(s->read, 4)};
		join(&candles[count - 1], c);
	}
	check(rc, "chart");
	check(sqlite3_reset(s->read), "chart");
	return count;
}

static void open_all(const char *path) {
	check(sqlite3_open(path, &db), path);
	run("PRAGMA journal_mode=WAL");
	run("PRAGMA synchronous=FULL"); // a commit is on disk, as bbolt's is
	run("PRAGMA cache_size=-65536");
	run("CREATE TABLE minutes(token INTEGER, at INTEGER, value INTEGER, source INTEGER, age INTEGER, PRIMARY KEY(token, at)) WITHOUT ROWID");
	for (series *s = all; s < all + SERIES; s++) {
		if (s->step > 1) {
			char sql[256];
			snprintf(sql, sizeof sql, "CREATE TABLE %s(token INTEGER, at INTEGER, open INTEGER, high INTEGER, low INTEGER, close INTEGER, PRIMARY KEY(token, at)) WITHOUT ROWID", s->table);
			run(sql);
			s->now = calloc((size_t)tokens, sizeof(candle));
		}
		s->insert = prepare(s->step == 1 ? "INSERT OR REPLACE INTO %s VALUES(?,?,?,?,?)" : "INSERT OR REPLACE INTO %s VALUES(?,?,?,?,?,?)", s->table);
		s->expire = prepare("DELETE FROM %s WHERE token=? AND at<?", s->table);
		s->read = prepare(s->step == 1 ? "SELECT at, value FROM %s WHERE token=? AND at BETWEEN ? AND ? ORDER BY at"
		                               : "SELECT at, open, high, low, close FROM %s WHERE token=? AND at BETWEEN ? AND ? ORDER BY at",
		                  s->table);
	}
}

int main(int argc, char **argv) {
	if (argc != 3 || (tokens = atoi(argv[2])) < 1)
		return 2;
	open_all(argv[1]);
	char line[256];
	while (fgets(line, sizeof line, stdin)) {
		int token, table;
		long long a, b, span;
		int64_t before = written(), began = nanoseconds();
		if (sscanf(line, "fill %lld", &a) == 1) {
			fill_all(a);
			printf("%lld\n", (long long)(nanoseconds() - began));
		} else if (sscanf(line, "minute %lld", &a) == 1) {
			minute(a);
			int64_t took = nanoseconds() - began;
			printf("%lld %lld\n", (long long)took, (long long)(written() - before));
		} else if (sscanf(line, "chart %d %d %lld %lld %lld", &token, &table, &a, &b, &span) == 5 && table >= 0 && table < SERIES) {
			candle candles[MAX_CANDLES];
			int count = chart(token, &all[table], a, b, span, candles);
			int64_t took = nanoseconds() - began;
			uint64_t sum = 0;
			for (int i = 0; i < count; i++)
				sum += (uint64_t)candles[i].close;
			printf("%lld %d %llu\n", (long long)took, count, (unsigned long long)sum);
		} else {
			fprintf(stderr, "history: what is %s", line);
			return 2;
		}
		fflush(stdout);
	}
	for (series *s = all; s < all + SERIES; s++) {
		sqlite3_finalize(s->insert);
		sqlite3_finalize(s->expire);
		sqlite3_finalize(s->read);
	}
	return sqlite3_close(db) != SQLITE_OK; // takes the log away
}
