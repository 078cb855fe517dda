package storage

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/puddle/v2"

	"heliograph/internal/base/admission"
	"heliograph/internal/domain/ledger"
)

// Failure is the class of an error.
type Failure int

// The classes of errors.
const (
	FailureOther       Failure = iota // a bug, or data that cannot be decoded
	FailureTimeout                    // a statement or a request exceeded its time limit
	FailureBusy                       // refused; see [admission.Refusal]
	FailureDatabase                   // the database returned an error or is unreachable
	FailureCancelled                  // the request was cancelled
	FailureAmbiguous                  // two rows where one is expected; see [ErrAmbiguous]
	FailureOutOfBounds                // a value outside the range of its type
	FailureMismatch                   // a missing table or column; see [MismatchError]
)

// ErrAmbiguous reports that two entities that are not deleted have the same alias or EVM address.
var ErrAmbiguous = errors.New("more than one entity that is not deleted matches")

// FailureOf returns the class of err, by which callers choose error codes and whether to retry. Unknown errors,
// and nil, are [FailureOther].
func FailureOf(err error) Failure {
	var pg *pgconn.PgError
	var connect *pgconn.ConnectError
	var row *unreadable
	var mismatch *MismatchError
	switch {
	case errors.As(err, &row):
		return FailureOther
	case errors.As(err, &mismatch):
		return FailureMismatch
	case errors.Is(err, ErrAmbiguous):
		return FailureAmbiguous
	case admission.RefusalOf(err) != nil:
		return FailureBusy
	case errors.Is(err, context.Canceled):
		return FailureCancelled
	case errors.As(err, &connect): // also if connecting took too long
		return FailureDatabase
	case errors.As(err, &pg) && pg.Code == "57014", errors.Is(err, context.DeadlineExceeded), pgconn.Timeout(err):
		return FailureTimeout
	case errors.As(err, &pg) && len(pg.Code) == 5 && pg.Code[:2] == "22":
		return FailureOutOfBounds
	case errors.As(err, &pg), pgconn.SafeToRetry(err), errors.Is(err, puddle.ErrClosedPool), isClosed(err):
		return FailureDatabase
	default:
		return FailureOther
	}
}

// LevelOf returns the level at which a background task logs an error: debug if the database cannot be reached, which
// is logged elsewhere, and otherwise warn.
func LevelOf(err error) slog.Level {
	if connect := new(*pgconn.ConnectError); errors.As(err, connect) {
		return slog.LevelDebug
	}
	return slog.LevelWarn
}

// withCause returns the error of a statement with the reason why ctx ended: the server reports a canceled statement
// like one that exceeded its time limit. It also adds the names of tables and columns that the database lacks, with
// [DB.explain], which can change db. A nil err stays nil.
func (db *DB) withCause(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	err = db.explain(err)
	if cause := ctx.Err(); cause != nil && !errors.Is(err, cause) {
		return fmt.Errorf("%w: %w", cause, err)
	}
	return err
}

// isClosed reports whether err is an error of the network or an unexpected end, which mean that the connection was
// lost while in use.
func isClosed(err error) bool {
	var netErr interface{ Temporary() bool }
	return errors.As(err, &netErr) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF)
}

// Malformed logs the first malformed value of a column. The member that shows the value is null or empty, so that one
// row does not make lists fail.
type Malformed struct{ once sync.Once }

// Report logs, as a warning, that the column of a row cannot be decoded because of err, unless an earlier call of m
// did. row names the row, and at is its consensus time. It is safe for concurrent use.
func (m *Malformed) Report(column, row string, at ledger.Timestamp, err error) {
	m.once.Do(func() {
		slog.Warn("a column cannot be decoded and is shown as missing; more such rows are not logged", "column",
			column, "row", row,
			"consensus_timestamp", at.String(), "error", err)
	})
}
