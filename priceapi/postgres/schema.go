package postgres

import (
	"context"
	"crypto/rand"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// schema holds all tables, so that one name can be dumped, restored or dropped.
const schema = "swapkeep_prices"

// Advisory locks, which are per database.
const (
	migrateLock = 0x53_77_61_70_50_72_69_01
	leaderLock  = 0x53_77_61_70_50_72_69_02
)

// A migration is SQL that upgrades the schema by one version.
type migration string

// migrations[i] upgrades to version i+1. They are never changed, only appended to.
var migrations = []migration{first}

// Times are whole minutes since 1970. For blocks see block.go. A place is a token's index.
// times lists which tokens have data at a time. Candles built from finer rows exist up to
// head.quarters and head.hours, exclusive.
const first = `
CREATE TABLE head (
	one      boolean PRIMARY KEY DEFAULT true CHECK (one),
	term     bigint  NOT NULL DEFAULT 0,
	quarters integer NOT NULL DEFAULT 0,
	hours    integer NOT NULL DEFAULT 0,
	fetches  bigint  NOT NULL DEFAULT 0,
	successful bigint NOT NULL DEFAULT 0,
	took     bigint  NOT NULL DEFAULT 0,
	secret   bytea
);
INSERT INTO head DEFAULT VALUES;

CREATE TABLE probe (at timestamptz NOT NULL);
INSERT INTO probe VALUES (to_timestamp(0));

CREATE TABLE tokens (
	place   integer PRIMARY KEY,
	chain   bigint  NOT NULL,
	address bytea   NOT NULL CHECK (length(address) = 20),
	UNIQUE (chain, address)
);

CREATE TABLE times (
	resolution smallint NOT NULL,
	at  integer NOT NULL,
	has bytea   NOT NULL,
	PRIMARY KEY (resolution, at)
);

CREATE TABLE minutes  (block integer, at integer, data bytea NOT NULL, PRIMARY KEY (block, at));
CREATE TABLE quarters (block integer, at integer, data bytea NOT NULL, PRIMARY KEY (block, at));
CREATE TABLE hours    (block integer, at integer, data bytea NOT NULL, PRIMARY KEY (block, at));
ALTER TABLE minutes  ALTER data SET STORAGE PLAIN;
ALTER TABLE quarters ALTER data SET STORAGE PLAIN;
ALTER TABLE hours    ALTER data SET STORAGE PLAIN;

CREATE TABLE facts (
	chain      bigint NOT NULL,
	address    bytea  NOT NULL CHECK (length(address) = 20),
	market_cap numeric(39,18) NOT NULL,
	diluted    boolean  NOT NULL,
	cap_source smallint NOT NULL,
	cap_at     timestamptz,
	holders    numeric(20,0) NOT NULL,
	holders_at timestamptz,
	PRIMARY KEY (chain, address)
);

-- The board is made anew every minute: it is in no log, no standby and no backup.
CREATE UNLOGGED TABLE board (
	one  boolean PRIMARY KEY DEFAULT true CHECK (one),
	seq  bigint NOT NULL,
	data bytea  NOT NULL
);
ALTER TABLE board ALTER data SET STORAGE EXTERNAL;
`

// migrate upgrades the database to the current schema in one transaction. If the schema is
// current nothing is changed and no right to change it is needed. A leader of an older
// version is deposed. Errors: ErrNewer, the server's.
func migrate(ctx context.Context, pool *pgxpool.Pool, steps []migration) error {
	version, err := versionOf(ctx, pool, len(steps))
	if err != nil || version == len(steps) {
		return err
	}
	return pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "SELECT pg_advisory_xact_lock($1)", int64(migrateLock)); err != nil {
			return err
		}
		version, err := versionOf(ctx, tx, len(steps)) // may have changed while waiting for the lock
		if err != nil {
			return err
		}
		if version == 0 {
			if _, err := tx.Exec(ctx, "CREATE SCHEMA IF NOT EXISTS "+schema); err != nil {
				return err
			}
			if _, err := tx.Exec(ctx, "CREATE TABLE version (version integer PRIMARY KEY, at timestamptz NOT NULL DEFAULT now())"); err != nil {
				return err
			}
		}
		for v := version; v < len(steps); v++ {
			if _, err := tx.Exec(ctx, string(steps[v])); err != nil {
				return fmt.Errorf("migration to schema %d: %w", v+1, err)
			}
			if _, err := tx.Exec(ctx, "INSERT INTO version (version) VALUES ($1)", v+1); err != nil {
				return err
			}
		}
		secret := make([]byte, 32)
		_, _ = rand.Read(secret) // never fails
		_, err = tx.Exec(ctx, "UPDATE head SET term = term + 1, secret = coalesce(secret, $1)", secret)
		return err
	})
}

// A querier is a pool or a transaction.
type querier interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}

// versionOf returns the schema version; 0 = none yet. Errors: ErrNewer, the server's.
func versionOf(ctx context.Context, q querier, latest int) (version int, err error) {
	var there bool
	// This reads the catalogue, because to_regclass uses a cache that is outdated after
	// waiting for a lock.
	if err := q.QueryRow(ctx, "SELECT EXISTS (SELECT FROM pg_tables WHERE schemaname = $1 AND tablename = 'version')", schema).Scan(&there); err != nil || !there {
		return 0, err
	}
	if err := q.QueryRow(ctx, "SELECT coalesce(max(version), 0) FROM version").Scan(&version); err != nil {
		return 0, err
	}
	if version > latest {
		return 0, fmt.Errorf("%w (schema %d, this program knows %d)", ErrNewer, version, latest)
	}
	return version, nil
}
