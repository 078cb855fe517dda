// Package statusdemo writes the status page of the demo network into a database.
package statusdemo

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"heliograph/internal/base/wrap"
	"heliograph/internal/domain/ledger"
	"heliograph/storage/demo"
	"heliograph/storage/statuspages"
)

// ErrNotDemo is returned if the database has other status pages than that of the demo network.
var ErrNotDemo = errors.New("the status database holds pages other than that of the demo network; use an empty database")

// beginner is a connection or a pool.
type beginner interface {
	BeginTx(ctx context.Context, options pgx.TxOptions) (pgx.Tx, error)
}

// Load writes the status page of the demo network into a database with the status tables. It does nothing if there are status pages. It uses one
// transaction. The same time gives the same rows.
func Load(ctx context.Context, db beginner, now time.Time) error {
	return load(ctx, db, now, func(ctx context.Context, tx pgx.Tx) (bool, error) {
		var filled bool
		err := tx.QueryRow(ctx, `select exists (select from status.page)`).Scan(&filled)
		return !filled, wrap.Error(err, "check for status pages")
	})
}

// Reload replaces the status page of the demo network, or loads it. It returns [ErrNotDemo] and changes nothing if there are other pages.
func Reload(ctx context.Context, db beginner, now time.Time) error {
	return load(ctx, db, now, func(ctx context.Context, tx pgx.Tx) (bool, error) {
		var others bool
		if err := tx.QueryRow(ctx, `select exists (select from status.page where id <> $1)`, demo.StatusPage).Scan(&others); err != nil {
			return false, fmt.Errorf("check for status pages: %w", err)
		}
		if others {
			return false, ErrNotDemo
		}
		_, err := tx.Exec(ctx, `delete from status.page where id = $1`, demo.StatusPage)
		return true, wrap.Error(err, "delete the status page")
	})
}

func load(ctx context.Context, db beginner, now time.Time, prepare func(context.Context, pgx.Tx) (bool, error)) error {
	return pgx.BeginTxFunc(ctx, db, pgx.TxOptions{}, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, `lock table status.page in share row exclusive mode`); err != nil {
			return fmt.Errorf("lock the status pages: %w", err)
		}
		if wanted, err := prepare(ctx, tx); err != nil || !wanted {
			return err
		}
		s, err := build(now.UTC().Truncate(time.Second))
		if err != nil {
			return fmt.Errorf("build the demo status page: %w", err)
		}
		return wrap.Error(tx.SendBatch(ctx, s.batch()).Close(), "write the demo status page")
	})
}

// batch returns the statements that write the page.
func (s *builder) batch() *pgx.Batch {
	b := &statuspages.Batch{}
	b.Queue(`insert into status.page (id, slug, name, url, is_default, time_zone, revision, created_at, updated_at)
values ($1, $2, $3, $4, true, $5, $6, $7, $8)`,
		s.Page.Code, s.Page.Slug, s.Page.Name, s.Page.URL, s.Page.TimeZone, len(s.updates), s.start, s.At)
	for _, groups := range []bool{true, false} { // components refer to their groups
		for _, c := range s.Components {
			if c.IsGroup == groups {
				b.InsertComponent(c)
			}
		}
	}
	for _, n := range s.notices {
		b.InsertNotice(n.state.Notice)
		for _, a := range n.state.Attachments {
			b.Queue(`insert into status.incident_component (page_id, incident_id, component_id, held_status) values ($1, $2, $3, $4)`,
				demo.StatusPage, a.NoticeCode, a.ComponentCode, ledger.NonZero(a.HeldStatus).Pointer())
		}
		for _, u := range n.state.Updates {
			b.InsertUpdate(u)
		}
	}
	for _, c := range s.changes {
		b.Queue(`insert into status.component_change (component_id, changed_at, old_status, new_status, update_id, origin, revision)
values ($1, $2, $3, $4, $5, $6, $7)`,
			c.ComponentCode, c.At, ledger.NonZero(c.OldStatus).Pointer(), c.NewStatus, c.UpdateCode.Pointer(), c.Origin, c.Revision.Pointer())
	}
	for i, u := range s.updates { // each of them was a write
		b.Queue(`insert into status.revision (page_id, revision, at) values ($1, $2, $3)`, demo.StatusPage, i+1, s.now.Add(time.Duration(u.At)))
	}
	b.Queue(`select pg_notify('status_page', $1 || ':' || $2::bigint)`, demo.StatusPage, len(s.updates))
	return &b.Batch
}
