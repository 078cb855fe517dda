package storage

import (
	"errors"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
)

// Absent is a table, or a column of another table, that the gateway reads and the database lacks.
type Absent struct {
	Table    string // or a function with its arguments
	Column   string // empty for a table
	Type     string // of the column, without domains
	Nullable bool   // reads return null instead of the column
}

// String returns the name of the table, or of the column with its table, such as "nft" or "entity.balance".
func (a Absent) String() string { return strings.TrimSuffix(a.Table+"."+a.Column, ".") }

// MismatchError reports that a statement needs tables or columns that the database lacks, or that the role may not
// read.
type MismatchError struct {
	text string
	err  error
}

// Error returns a text that names what the database lacks or denies.
func (e *MismatchError) Error() string { return e.text }

// Unwrap returns the error of the server.
func (e *MismatchError) Unwrap() error { return e.err }

// schema contains the differences of the database from the tables that the gateway reads.
type schema struct {
	absent []Absent
	tables []Rows // in place of tables without nullable columns
}

// SetAbsent sets the tables and columns that the database lacks, which the caller has found. Later reads of nullable
// ones return null, and statements that need others fail with a [*MismatchError]. It replaces what an earlier call has
// set.
func (db *DB) SetAbsent(absent []Absent) {
	s := &schema{absent: absent}
	columns := map[string]string{}
	for _, a := range absent {
		if a.Column != "" && a.Nullable {
			columns[a.Table] += ", null::" + a.Type + " as " + a.Column
		}
	}
	for _, table := range slices.Sorted(maps.Keys(columns)) {
		s.tables = append(s.tables, Rows{table, "select *" + columns[table] + " from " + table})
	}
	db.schema.Store(s)
}

// Has reports whether the database has a column of a table, or the table if column is empty: whether it is not one of
// those given to [DB.SetAbsent]. Before that call, and for a nil db, it is true. It reads nothing.
func (db *DB) Has(table, column string) bool {
	if db == nil {
		return true
	}
	s := db.schema.Load()
	return s == nil || !slices.ContainsFunc(s.absent, func(a Absent) bool {
		return a.Table == table && a.Column == column
	})
}

// replaced returns the rows that a statement reads in place of those of its tables: tables without nullable columns
// get them, which are null, and the table of blocks has those up to the watermark. A table that the statement does not
// use can be among them, if its name is a part of another word; the planner then removes its query. For the DB of
// [Read.Query], which has no schema, it returns nil.
func (db *DB) replaced(sql string) (out []Rows) {
	if db.schema == nil {
		return nil
	}
	if s := db.schema.Load(); s != nil {
		for _, t := range s.tables {
			if strings.Contains(sql, t.Table) {
				out = append(out, t)
			}
		}
	}
	if db.servers == nil || !db.servers.bounded.Load() || !strings.Contains(sql, blocksTable) {
		return out
	}
	i := slices.IndexFunc(out, func(r Rows) bool { return r.Table == blocksTable })
	if i < 0 {
		i = len(out)
		out = append(out, Rows{blocksTable, "select * from " + blocksTable})
	}
	out[i].Query += visibleBlocks
	return out
}

// object matches the name in the server's messages about undefined objects.
var object = regexp.MustCompile(`^(?:column|relation|function) "?(?:\w+\.)?([\w()]+)"? does not exist`)

// explain returns a [*MismatchError] if a statement failed because of a table or column that was given to
// [DB.SetAbsent], or of a missing permission, and otherwise err. If the table of the watermark is missing, it also
// makes later statements ignore the watermark.
func (db *DB) explain(err error) error {
	if err == nil {
		return nil
	}
	var pg *pgconn.PgError
	if errors.As(err, &pg) && pg.Code == "42501" {
		return &MismatchError{"the gateway's role has no permission: " + pg.Message, err}
	}
	if errors.As(err, &pg) && pg.Code == "42P01" && strings.Contains(pg.Message, watermarkTable) {
		db.servers.bounded.Store(false) // the importer has removed it: the next statement succeeds
	}
	s := db.schema.Load()
	// undefined column, table, function
	if s == nil || !errors.As(err, &pg) || !slices.Contains([]string{"42703", "42P01", "42883"}, pg.Code) {
		return err
	}
	m := object.FindStringSubmatch(pg.Message)
	var found []string
	for _, a := range s.absent {
		if len(m) > 1 && (a.Column == m[1] || a.Column == "" && a.Table == m[1]) {
			found = append(found, a.String())
		}
	}
	if len(found) == 0 {
		return err
	}
	return &MismatchError{"the database has no " + strings.Join(found, ", "), err}
}
