package entities

import (
	"context"
	"fmt"

	"heliograph/internal/domain/ledger"
	"heliograph/storage"
)

// File transactions, by their types in the table file_data: one that creates, or one that brings content, begins a version.
const fileVersion = `(transaction_type = 17 or transaction_type = 19 and length(file_data) > 0)`

// filePart is what one transaction brought of a file.
type filePart struct {
	at      ledger.Timestamp
	content []byte
}

func filePartTargets(p *filePart, into []any) []any { return append(into, &p.at, &p.content) }

// SystemFile reads the newest content of a system file that read can make something of, among those that are no younger than the upper bound and
// whose first part is no older than the lower. What the last transaction brought is dropped when it makes the file unreadable, then what the one
// before it brought, and so on. at is when the content became so; it is unknown when nothing can be read within the number of attempts that is
// configured.
func SystemFile(ctx context.Context, db *storage.DB, file ledger.EntityID, bounds Bounds, read func(content []byte) error) (at ledger.Null[ledger.Timestamp], err error) {
	for attempts := db.FileAttempts(); attempts > 0 && bounds.Lower <= bounds.Upper; {
		// The parts of the newest version: what created or replaced the content, and what was appended.
		parts, err := storage.List(ctx, db, `select consensus_timestamp, file_data from file_data
where entity_id = $1 and consensus_timestamp <= $3 and consensus_timestamp >= (
  select consensus_timestamp from file_data
  where entity_id = $1 and consensus_timestamp between $2 and $3 and `+fileVersion+`
  order by consensus_timestamp desc limit 1)
  and not (transaction_type = 19 and coalesce(length(file_data), 0) = 0)
order by consensus_timestamp`, []any{int64(file), int64(bounds.Lower), int64(bounds.Upper)}, filePartTargets, nil)
		if err != nil {
			return at, fmt.Errorf("reading file %s: %w", file, err)
		}
		if len(parts) == 0 {
			return at, nil
		}
		var content []byte
		for _, p := range parts {
			content = append(content, p.content...)
		}
		for ; len(parts) > 0 && attempts > 0; attempts-- {
			last := parts[len(parts)-1]
			if read(content) == nil {
				return ledger.Of(last.at), nil
			}
			content, parts = content[:len(content)-len(last.content)], parts[:len(parts)-1]
			bounds.Upper = last.at - 1
		}
	}
	return at, nil
}

// MaxSystemFile is the greatest number of a system file; call data are never in one.
const MaxSystemFile = 1000
