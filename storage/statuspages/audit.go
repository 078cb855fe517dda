package statuspages

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"
)

// AuditEntry is an entry of the audit log.
type AuditEntry struct {
	ID     int64
	At     time.Time
	Page   string // code; empty if the write concerned no page
	Actor  string
	Action string
	Object string
	// Before and After are the row before and after the write, as JSON; nil if it did not exist.
	Before, After json.RawMessage
}

// Changed returns the columns that the write changed, in alphabetical order; none if the row was created or deleted.
func (a *AuditEntry) Changed() []string {
	var before, after map[string]json.RawMessage
	if json.Unmarshal(a.Before, &before) != nil || json.Unmarshal(a.After, &after) != nil {
		return nil
	}
	var out []string
	for name, value := range after {
		if old, there := before[name]; there && !bytes.Equal(old, value) && name != "updated_at" && name != "version" {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// AuditFilter selects entries of the audit log. The zero value selects all.
type AuditFilter struct{ Page, Object string }

// Audit returns the newest entries of the audit log.
func (s *DB) Audit(ctx context.Context, f AuditFilter, limit int) ([]*AuditEntry, error) {
	rows, err := read(ctx, s, `select id, at, coalesce(page_id, ''), actor, action, coalesce(object_id, ''), before, after from status.audit
where ($1 = '' or page_id = $1) and ($2 = '' or object_id = $2) order by id desc limit $3`, []any{f.Page, f.Object, limit},
		func(a *AuditEntry, into []any) []any {
			return append(into, &a.ID, &a.At, &a.Page, &a.Actor, &a.Action, &a.Object, &a.Before, &a.After)
		}, nil)
	if err != nil {
		return nil, fmt.Errorf("reading the audit log: %w", err)
	}
	return rows, nil
}
