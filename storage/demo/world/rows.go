package world

import (
	"fmt"
	"iter"
	"maps"

	"github.com/jackc/pgx/v5/pgtype"
)

// Row is a table row by column name. Missing columns are null, so columns that are not nullable must be set even if the table has a default.
type Row map[string]any

// span returns the range [from, to) of nanoseconds. If to is 0, the range has no upper bound.
func span(from, to int64) pgtype.Range[pgtype.Int8] {
	r := pgtype.Range[pgtype.Int8]{
		Lower:     pgtype.Int8{Int64: from, Valid: true},
		LowerType: pgtype.Inclusive,
		UpperType: pgtype.Unbounded,
		Valid:     true,
	}
	if to != 0 {
		r.Upper, r.UpperType = pgtype.Int8{Int64: to, Valid: true}, pgtype.Exclusive
	}
	return r
}

// sink collects the rows of all tables in order.
type sink map[string][]Row

func (s sink) add(table string, r Row) { s[table] = append(s[table], r) }

// versions is a table with history. The current row of each object belongs to the table, and its historical rows to <table>_history. versions sets the
// column timestamp_range.
type versions struct {
	table string
	out   sink
	byKey map[string]*version
	order []string
}

type version struct {
	from int64
	row  Row
}

func key(parts ...any) string { return fmt.Sprint(parts...) }

// get returns the current row, or nil. Changing it does not create a version.
func (v *versions) get(k string) Row {
	if c, ok := v.byKey[k]; ok {
		return c.row
	}
	return nil
}

// put adds an object at ts, or a new version of an existing object.
func (v *versions) put(k string, ts int64, r Row) {
	c, ok := v.byKey[k]
	if !ok {
		c = &version{}
		v.byKey[k] = c
		v.order = append(v.order, k)
	} else {
		v.archive(c, ts)
	}
	c.from, c.row = ts, r
}

// change adds a version at ts with changed columns.
func (v *versions) change(k string, ts int64, changed Row) Row {
	c := v.byKey[k]
	next := maps.Clone(c.row)
	maps.Copy(next, changed)
	if c.from != ts {
		v.archive(c, ts)
	}
	c.from, c.row = ts, next
	return next
}

func (v *versions) archive(c *version, ts int64) {
	old := maps.Clone(c.row)
	old["timestamp_range"] = span(c.from, ts)
	v.out.add(v.table+"_history", old)
}

func (v *versions) flush() {
	for _, k := range v.order {
		v.out.add(v.table, v.current(k))
	}
}

// current returns the current row of an existing object with its timestamp range.
func (v *versions) current(k string) Row {
	c := v.byKey[k]
	c.row["timestamp_range"] = span(c.from, 0)
	return c.row
}

// CurrentRows returns the current rows of tables whose rows change, by table and key.
func (w *World) CurrentRows() iter.Seq2[string, map[string]Row] {
	w.writeEntities()
	return func(yield func(string, map[string]Row) bool) {
		for _, v := range w.versioned() {
			rows := make(map[string]Row, len(v.order))
			for _, k := range v.order {
				rows[k] = v.current(k)
			}
			if !yield(v.table, rows) {
				return
			}
		}
		_ = yield("contract_state", w.slots) && yield("hook_storage", w.hookSlots) && yield("topic_message_lookup", w.lookups)
	}
}
