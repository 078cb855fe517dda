package entities

import (
	"context"
	"slices"

	"heliograph/internal/base/list"
	"heliograph/internal/domain/ledger"
	"heliograph/storage"
)

var fileRows = storage.NewMapper(accountTargets, finishAccount, func(r *accountRow) *ledger.File { return (*ledger.File)(&r.Account) })

// QueueFiles queues a query for files by id. done receives one file per id, or nil for ids that do not exist.
func QueueFiles(b *storage.Batch, ids []ledger.EntityID, done func([]*ledger.File)) {
	sql := `select ` + accountColumns + ` from entity e left join entity_stake s on s.id = e.id where e.type = 'FILE' and e.id = ` + storage.Any1
	storage.QueueByKey(b, fileRows, sql, ids, func(f *ledger.File) ledger.EntityID { return f.EntityID }, done)
}

// StartsVersion matches the rows of file_data that start a version of a file: a creation, or an update with content.
const StartsVersion = `(transaction_type = 17 or transaction_type = 19 and length(file_data) > 0)`

// filePart is the content that one transaction added to a file.
type filePart struct {
	at      ledger.Timestamp
	content []byte
}

var filePartRows = storage.MapperOf(func(p *filePart, into []any) []any { return append(into, &p.at, &p.content) }, nil)

// SystemFile reads the newest valid content of a system file within bounds. The last part must not be newer than the upper bound, and the first part not
// older than the lower. If read fails, the newest part is dropped and the content is read again. at is the time of the content that was read. It is null if
// no content is valid within the configured number of attempts.
func SystemFile(ctx context.Context, db *storage.DB, file ledger.EntityID, bounds Bounds,
	read func(content []byte) error,
) (at ledger.Null[ledger.Timestamp], err error) {
	for attempts := db.FileAttempts(); attempts > 0 && bounds.Lower <= bounds.Upper; {
		// The parts of the newest version: the one that created or replaced the content and those that were appended.
		parts, err := filePartRows.List(ctx, db, "a system file", `select consensus_timestamp, file_data from file_data
where entity_id = $1 and consensus_timestamp <= $3 and consensus_timestamp >= (
  select consensus_timestamp from file_data
  where entity_id = $1 and consensus_timestamp between $2 and $3 and `+StartsVersion+`
  order by consensus_timestamp desc limit 1)
  and not (transaction_type = 19 and coalesce(length(file_data), 0) = 0)
order by consensus_timestamp`, int64(file), int64(bounds.Lower), int64(bounds.Upper))
		if err != nil || len(parts) == 0 {
			return at, err
		}
		content := slices.Concat(list.Map(parts, func(p *filePart) []byte { return p.content })...)
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

// MaxSystemFile is the largest number of a system file. Call data is never stored in system files.
const MaxSystemFile = 1000
