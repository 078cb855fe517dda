package world

import (
	"fmt"
	"iter"
	"maps"

	"github.com/jackc/pgx/v5/pgtype"
)

// row is one table row by column name. A column that is left out is null, so every column that may not be null has to
// be there, even where the table has a default.
type Row map[string]any

// span is the range [from, to) of nanoseconds; a zero to leaves it open.
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

// sink collects the rows of all tables in the order in which they were made.
type sink map[string][]Row

func (s sink) add(table string, r Row) { s[table] = append(s[table], r) }

// versions holds one of the versioned tables: the row in force of each object, and in the twin table <name>_history the
// rows that came before. The column timestamp_range is filled in by it.
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

func newVersions(table string, out sink) *versions {
	return &versions{table: table, out: out, byKey: map[string]*version{}}
}

// key joins the parts of an object's key.
func key(parts ...any) string { return fmt.Sprint(parts...) }

// get returns the row in force, nil if there is none. Changes made through it are changes in place, without a version.
func (v *versions) get(k string) Row {
	if c, ok := v.byKey[k]; ok {
		return c.row
	}
	return nil
}

// put starts an object at ts, or replaces the row of one that exists by a new version.
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

// change starts a new version at ts that has the given columns changed.
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

// flush writes the rows in force.
func (v *versions) flush() {
	for _, k := range v.order {
		v.out.add(v.table, v.current(k))
	}
}

// inForce is the row in force of an object that exists, with its time.
func (v *versions) current(k string) Row {
	c := v.byKey[k]
	c.row["timestamp_range"] = span(c.from, 0)
	return c.row
}

// row1 is a row of one column.
func row1(column string, v any) Row { return Row{column: v} }

// inForce returns the rows in force of each table whose rows change, by table and key.
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
