package statuspages

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"

	"heliograph/internal/domain/ledger"
	"heliograph/internal/domain/status"
)

// NewToken is somebody who is to be allowed to write.
type NewToken struct {
	Name string
	Role status.Role
	// Page is the code of the only page that it is for; empty for all.
	Page      string
	ExpiresAt ledger.Null[time.Time]
}

// AddToken makes a token and returns its text, which is kept nowhere: only its hash is.
func (e *Editor) AddToken(ctx context.Context, by Author, in NewToken) (string, error) {
	if err := status.CheckName("the token", in.Name); err != nil {
		return "", err
	}
	if !in.Role.Valid() {
		return "", status.Refuse(status.BadInput, "%q is no role: choose viewer, reporter, operator or admin", in.Role)
	}
	if in.ExpiresAt.Valid && !in.ExpiresAt.V.After(e.now()) {
		return "", status.Refuse(status.BadInput, "the token would have expired already")
	}
	token, err := status.NewToken(e.random)
	if err != nil {
		return "", err
	}
	hash := status.HashToken(token)
	err = e.editTokens(ctx, by, "token.add", func(w *writing) error {
		var id int64
		err := w.QueryRow(ctx, `insert into status.operator_token (name, token_sha256, role, page_id, created_at, expires_at) values ($1, $2, $3, nullif($4, ''), $5, $6) returning id`,
			in.Name, hash[:], in.Role, in.Page, w.At, valueOrNull(in.ExpiresAt)).Scan(&id)
		if duplicate(err) {
			return status.Refuse(status.Conflict, "there is a token with the name %s", in.Name)
		}
		if err != nil {
			return fmt.Errorf("inserting a token: %w", err)
		}
		w.object = strconv.FormatInt(id, 10)
		return nil
	})
	if err != nil {
		return "", err
	}
	return token, nil
}

// RemoveToken makes a token worthless.
func (e *Editor) RemoveToken(ctx context.Context, by Author, name string) error {
	return e.editTokens(ctx, by, "token.remove", func(w *writing) error {
		var id int64
		rows, err := w.Query(ctx, `select id from status.operator_token where name = $1 for update`, name)
		if err == nil {
			id, err = pgx.CollectExactlyOneRow(rows, pgx.RowTo[int64])
		}
		if err != nil {
			if errors.Is(err, pgx.ErrNoRows) {
				return status.Refuse(status.NotFound, "there is no token with the name %s", name)
			}
			return fmt.Errorf("looking for a token: %w", err)
		}
		if err := w.watch(ctx, tokenTable, strconv.FormatInt(id, 10)); err != nil {
			return err
		}
		return w.exec(ctx, "removing a token", `delete from status.operator_token where id = $1`, id)
	})
}

// editTokens writes to the tokens, which are no part of any page: no reader hears of it.
func (e *Editor) editTokens(ctx context.Context, by Author, name string, do func(w *writing) error) error {
	return explainWrite(pgx.BeginFunc(ctx, e.db.pool, func(tx pgx.Tx) error {
		w := &writing{Tx: &Tx{Tx: tx, At: status.Milliseconds(e.now())}, editor: e, action: action{by: by, name: name}, table: tokenTable}
		if err := do(w); err != nil {
			return err
		}
		return w.audit(ctx)
	}))
}

// Tokens reads all tokens that can be used at an instant, or all where it is zero, by name.
func (s *DB) Tokens(ctx context.Context, at time.Time) ([]*status.Token, error) {
	return read(ctx, s, `select id, name, token_sha256, role, page_id, created_at, expires_at, last_used_at from status.operator_token
where $1::timestamptz is null or expires_at is null or expires_at > $1 order by name`, []any{valueOrNull(orNone(at))},
		func(t *status.Token, into []any) []any {
			return append(into, &t.ID, &t.Name, (*tokenHash)(&t.Hash), &t.Role, &t.PageCode, &t.CreatedAt, &t.ExpiresAt, &t.LastUsedAt)
		}, nil)
}

// tokenHash reads the hash of a token.
type tokenHash status.TokenHash

// ScanBytes implements pgtype.BytesScanner.
func (h *tokenHash) ScanBytes(v []byte) error {
	if len(v) != len(h) {
		return fmt.Errorf("a token's hash has %d bytes", len(v))
	}
	copy(h[:], v)
	return nil
}

// UsedToken notes that a token was used, at most once a minute: it is to tell which ones nobody needs.
func (s *DB) UsedToken(ctx context.Context, id int64, at time.Time) error {
	_, err := s.pool.Exec(ctx, `update status.operator_token set last_used_at = $2 where id = $1 and (last_used_at is null or last_used_at < $2::timestamptz - interval '1 minute')`, id, at)
	if err != nil {
		return explainWrite(fmt.Errorf("noting the use of a token: %w", err))
	}
	return nil
}
