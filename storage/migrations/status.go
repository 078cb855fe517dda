package migrations

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// statusSet returns the migrations of the status pages. They live in a schema of their own, their version table included, so that they may
// be in any database.
func statusSet() set {
	const page = 0x70616765 // the word in ASCII
	return set{files: statusFiles, folder: "status", versions: "status.heliograph_migration", lockID: page, path: "pg_catalog"}
}

// StatusVersion returns the newest version of the status tables that this binary knows, the number of the last file.
func StatusVersion() int { return statusSet().newest() }

// Status creates or updates the schema status in the database at url, and touches nothing else. It leaves a schema that is newer than this
// binary as it is. Several processes may call it at the same time. The role has to be allowed to create a schema, unless there is one that it owns.
func Status(ctx context.Context, url string, log *slog.Logger) error {
	config, err := parseURL(url, log)
	if err != nil {
		return err
	}
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return fmt.Errorf("connect to the database to migrate: %w", err)
	}
	defer conn.Close(context.WithoutCancel(ctx)) // as in Ledger

	version, err := statusVersionOf(ctx, conn)
	if err != nil {
		return err
	}
	if version > StatusVersion() {
		log.WarnContext(ctx, "status tables are newer than this binary and stay as they are", "version", version, "known", StatusVersion())
		return nil
	}
	if err := createSchema(ctx, conn); err != nil {
		return err
	}
	if err := statusSet().up(ctx, config, log); err != nil {
		return fmt.Errorf("migrate the status tables: %w", err)
	}
	return nil
}

// createSchema makes the schema, unless it is there: asking first spares roles that own it the right to create one.
func createSchema(ctx context.Context, conn *pgx.Conn) error {
	var there bool
	if err := conn.QueryRow(ctx, "select to_regnamespace('status') is not null").Scan(&there); err != nil {
		return fmt.Errorf("look for the schema status: %w", err)
	}
	if there {
		return nil
	}
	var pg *pgconn.PgError
	switch _, err := conn.Exec(ctx, "create schema status"); {
	case err == nil:
	case errors.As(err, &pg) && (pg.Code == "42P06" || pg.Code == "23505"): // another process was faster: duplicate_schema, or unique_violation
	default:
		return fmt.Errorf("create the schema status: %w", err)
	}
	return nil
}

// HasStatus tells whether the database has the status tables in a version that this binary can work on, that is, its own or a newer one.
func HasStatus(ctx context.Context, conn Querier) (bool, error) {
	version, err := statusVersionOf(ctx, conn)
	return version >= StatusVersion(), err
}

// statusVersionOf is the version of the status tables in the database, 0 when there are none.
func statusVersionOf(ctx context.Context, conn Querier) (int, error) {
	there, err := one[bool](ctx, conn, "select to_regclass($1) is not null", statusSet().versions)
	if err != nil || !there {
		return 0, err
	}
	return one[int](ctx, conn, "select coalesce(max(version_id), 0)::int from "+statusSet().versions)
}

// one runs a query about the status tables that gives one value.
func one[T any](ctx context.Context, conn Querier, sql string, args ...any) (T, error) {
	var none T
	rows, err := conn.Query(ctx, sql, args...)
	if err != nil {
		return none, fmt.Errorf("look for the status tables: %w", err)
	}
	v, err := pgx.CollectExactlyOneRow(rows, pgx.RowTo[T])
	if err != nil {
		return none, fmt.Errorf("look for the status tables: %w", err)
	}
	return v, nil
}
