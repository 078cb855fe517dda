package storage

import (
	"errors"
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

// String returns the name, such as "nft" or "entity.balance".
func (a Absent) String() string { return strings.TrimSuffix(a.Table+"."+a.Column, ".") }

// MismatchError reports that a statement needs tables or columns that the database lacks, or that the role may not
// read.
type MismatchError struct {
	text string
	err  error
}

func (e *MismatchError) Error() string { return e.text }

// Unwrap returns the error of the server.
func (e *MismatchError) Unwrap() error { return e.err }

// schema contains the differences of the database from the tables that the gateway reads.
type schema struct {
	absent []Absent
	tables map[string]*strings.Builder // the select lists that replace tables without nullable columns
}

// reference matches a table in a from clause and the word after it, which is its alias or a keyword.
var reference = regexp.MustCompile(`\b(from|join)\s+([a-z_]+)\b(\s+(?:as\s+)?[a-z]\w*)?`)

// keywords are words that can follow a table without an alias.
var keywords = strings.Fields(`and cross except fetch for full group having inner intersect join left limit offset ` +
	`on or order right union using where window`)

// SetAbsent sets the tables and columns that the database lacks. Reads of nullable ones return null, and statements
// that need others fail with a [*MismatchError].
func (db *DB) SetAbsent(absent []Absent) {
	s := &schema{absent, map[string]*strings.Builder{}}
	for _, a := range absent {
		if a.Column == "" || !a.Nullable {
			continue
		}
		if s.tables[a.Table] == nil {
			s.tables[a.Table] = &strings.Builder{}
		}
		s.tables[a.Table].WriteString(", null::" + a.Type + " as " + a.Column)
	}
	db.schema.Store(s)
}

// Has reports whether the database has a column that reads may miss. Before [DB.SetAbsent], and for a nil db, it has.
func (db *DB) Has(table, column string) bool {
	if db == nil {
		return true
	}
	s := db.schema.Load()
	return s == nil || !slices.ContainsFunc(s.absent, func(a Absent) bool {
		return a.Table == table && a.Column == column
	})
}

// adapt returns the statement for the tables of the database. It replaces tables without nullable columns by
// subqueries with them, which the planner removes, and the table of blocks by one of those up to the watermark.
func (db *DB) adapt(sql string) string {
	if p := db.placement.Load(); p != nil && len(*p) > 0 {
		sql = p.byKeys(sql)
	}
	s, bounded := db.schema.Load(), db.servers != nil && db.servers.bounded.Load()
	if (s == nil || len(s.tables) == 0) && !bounded {
		return sql
	}
	return reference.ReplaceAllStringFunc(sql, func(text string) string {
		m := reference.FindStringSubmatch(text)
		var columns, condition string
		if s != nil && s.tables[m[2]] != nil {
			columns = s.tables[m[2]].String()
		}
		if bounded && m[2] == blocksTable {
			condition = visibleBlocks
		}
		if columns == "" && condition == "" {
			return text
		}
		if alias := strings.TrimSpace(m[3]); alias == "" || slices.Contains(keywords, alias) {
			m[3] = " " + m[2] + m[3]
		}
		return m[1] + " (select *" + columns + " from " + m[2] + condition + ")" + m[3]
	})
}

// object matches the name in the server's messages about undefined objects.
var object = regexp.MustCompile(`^(?:column|relation|function) "?(?:\w+\.)?([\w()]+)"? does not exist`)

// explain returns a [*MismatchError] if a statement failed because of a known difference or a missing permission, and
// otherwise err.
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
