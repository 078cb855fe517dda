package migrations

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// statusSet returns the migrations of the status pages. Tables and version table are in a separate schema, so they can be in any database.
func statusSet() set {
	const page = 0x70616765 // "page" in ASCII
	return set{files: statusFiles, folder: "status", versions: "status.heliograph_migration", lockID: page, path: "pg_catalog"}
}

// StatusVersion returns the newest version of the status tables in this binary, which is the number of the last file.
func StatusVersion() int { return statusSet().newest() }

// Status creates or updates the schema status in the database at url and changes nothing else. It does not change a schema that is newer than this binary. It
// is safe to call from several processes. The role must be allowed to create a schema, unless it owns an existing schema status.
func Status(ctx context.Context, url string, log *slog.Logger) error {
	config, err := parseURL(url, log)
	if err != nil {
		return err
	}
	conn, err := dial(ctx, config)
	if err != nil {
		return err
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

// createSchema creates the schema if it does not exist. The check lets roles that own the schema work without the privilege to create one.
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
	case errors.As(err, &pg) && (pg.Code == "42P06" || pg.Code == "23505"): // created concurrently: duplicate_schema or unique_violation
	default:
		return fmt.Errorf("create the schema status: %w", err)
	}
	return nil
}

// HasStatus reports whether the database has the status tables in a version that this binary supports: its own or a newer one.
func HasStatus(ctx context.Context, conn Querier) (bool, error) {
	version, err := statusVersionOf(ctx, conn)
	return version >= StatusVersion(), err
}

// statusVersionOf returns the version of the status tables in the database, or 0 if there are none.
func statusVersionOf(ctx context.Context, conn Querier) (int, error) {
	there, err := one[bool](ctx, conn, "select to_regclass($1) is not null", statusSet().versions)
	if err != nil || !there {
		return 0, err
	}
	return one[int](ctx, conn, "select coalesce(max(version_id), 0)::int from "+statusSet().versions)
}

// one runs a query about tables that returns one value.
func one[T any](ctx context.Context, conn Querier, sql string, args ...any) (T, error) {
	var none T
	rows, err := conn.Query(ctx, sql, args...)
	if err != nil {
		return none, fmt.Errorf("look for tables: %w", err)
	}
	v, err := pgx.CollectExactlyOneRow(rows, pgx.RowTo[T])
	if err != nil {
		return none, fmt.Errorf("look for tables: %w", err)
	}
	return v, nil
}
