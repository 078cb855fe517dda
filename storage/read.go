package storage

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// A statement has two plans. PostgreSQL joins tables, and unnests parents to read a page for each of them. Citus only
// joins tables that are distributed by the columns of the join. Where its tables are distributed, statements are
// therefore run key by key: one statement for each parent, whose keys are parameters, and a table that is joined to a
// page is read by the keys of the page before. A [Read] with a page and a join is for PostgreSQL
//
//	select … from (page) x left join entity e on e.id = x.contract_id
//
// and for Citus
//
//	with page as materialized (page),
//	entity as materialized (select * from entity where id in (select contract_id from page))
//	select … from page x left join entity e on e.id = x.contract_id
//
// Citus runs each of these common table expressions by itself, and sends its rows to the workers for the next one.
// Those of tables have their names, so that the rest of the statement is the same.

// ReadPlacement reads whether the tables are distributed, which they are if the database has a view citus_tables that
// says so, and whether it has a watermark. It stores the results in db, for [DB.Distributed] and later statements.
// Before, statements are those for PostgreSQL. It bypasses the queue. If reading the watermark fails, it returns the
// error, but the first result is stored.
func (db *DB) ReadPlacement(ctx context.Context) error {
	var apart bool
	err := db.Pool().QueryRow(ctx, `select to_regclass('citus_tables') is not null`).Scan(&apart)
	if err == nil && apart {
		err = db.Pool().QueryRow(ctx,
			`select exists (select 1 from citus_tables where citus_table_type = 'distributed')`).Scan(&apart)
	}
	if err != nil {
		return fmt.Errorf("reading how the tables are distributed: %w", err)
	}
	db.apart.Store(apart)
	return db.readWatermark(ctx)
}

// Distributed reports whether tables are distributed, so that statements are run key by key. It is false before
// [DB.ReadPlacement].
func (db *DB) Distributed() bool { return db.apart.Load() }

// Hidden returns an SQL expression of parameters as a subquery, whose value the planner of PostgreSQL does not see. If
// tables are distributed, it returns the expression itself: the planner of Citus must see the value to find the
// shards.
func (db *DB) Hidden(expression string) string {
	if db.Distributed() {
		return expression
	}
	return "(select " + expression + ")"
}

// ByHash returns a FROM item for the transactions with a hash: arg is the placeholder of the first 32 bytes. The item
// has the columns consensus_timestamp, hash and payer_account_id, and no alias, which the caller appends. The workers
// of Citus cannot call the function, which reads a distributed table.
func (db *DB) ByHash(arg string) string {
	if db.Distributed() {
		return `(select consensus_timestamp, hash || coalesce(hash_suffix, '') as hash, payer_account_id
  from transaction_hash where hash = ` + arg + `)`
	}
	return "get_transaction_info_by_hash(" + arg + ")"
}

// ByHashes returns a FROM item for the transactions with one of several hashes, like [DB.ByHash]: arg is the
// placeholder of an array of their first 32 bytes.
func (db *DB) ByHashes(arg string) string {
	if db.Distributed() {
		return `(select consensus_timestamp, hash || coalesce(hash_suffix, '') as hash, payer_account_id
  from transaction_hash where hash = any(` + arg + `))`
	}
	return `(select f.* from unnest(` + db.Hidden(arg+"::bytea[]") + `) k cross join get_transaction_info_by_hash(k) f)`
}

// Setting is how the planner is set for a statement. A cached generic plan keeps the settings that it was made under,
// and a comment gives the statement a text of its own. A setting applies to the transaction of a batch, which sends
// statements without one first.
type Setting int

// The settings. Each includes those before it.
const (
	noSetting Setting = iota
	// NoBitmaps disables bitmap scans, for pages in the order of an index. A bitmap scan finds all matching rows
	// before it sorts them; an index scan stops at the end of the page. The planner assumes that each account, token
	// and contract has the average number of rows, and prefers bitmaps for the busy ones.
	NoBitmaps
	// NoBitmapsCustom is NoBitmaps for statements that are planned at each execution, for the values of their
	// parameters.
	NoBitmapsCustom
)

// settings has, for each setting, the comment and the statement that makes it.
var settings = [...]struct{ comment, sql string }{
	NoBitmaps: {
		"/* enable_bitmapscan = off */ ",
		`select set_config('enable_bitmapscan', 'off', true)`,
	},
	NoBitmapsCustom: {
		"/* enable_bitmapscan = off, plan_cache_mode = force_custom_plan */ ",
		`select set_config('plan_cache_mode', 'force_custom_plan', true)`,
	},
}

// Read describes a statement, from which both plans are rendered: select … from Page As, joins, and the rest.
type Read struct {
	Setting Setting
	// SQL is the whole statement, if it has no page. Only Ahead applies to it.
	SQL string
	// Select is the select list. For parents it begins with the position of the parent.
	Select string
	// Parents are the objects whose rows are read, if each has rows of its own. From mentions them, or Page.
	Parents *Parents
	// From is the beginning of the FROM clause. A page after it is read for each of its rows.
	From string
	// Page is the query for the page, and As is its alias.
	Page, As string
	// Name is the name of the page for statements that use it twice. It is then a common table expression in both
	// plans.
	Name string
	// Ahead are rows that Citus reads before the page. Those of a table have its name.
	Ahead []Rows
	Joins []Join
	// Rest is what follows the joins.
	Rest string
}

// kept are the statements of [DB.Kept], by their keys.
var kept sync.Map

// Kept returns a statement that differs between requests with the same key in its arguments only. describe describes
// it for the first of them, and its text is kept, because composing the text takes longer than half of sending it.
// With a nil key, and if tables are distributed, the statement is described each time. Other keys must be comparable.
// The texts are kept for all DBs until the process ends, so there must be few keys. With a key, describe must not add
// arguments: later requests do not call it.
func (db *DB) Kept(key any, describe func() *Read) *Read {
	if key == nil || db.Distributed() {
		return describe()
	}
	if r, known := kept.Load(key); known {
		return r.(*Read)
	}
	r := describe()
	r = &Read{Setting: r.Setting, SQL: r.Query(db)}
	kept.Store(key, r)
	return r
}

// Rows is a query for the rows of a table that a statement uses. Other queries use it under the name of the table.
type Rows struct{ Table, Query string }

// RowsOf returns a description of the rows of a table that match a condition. It reads nothing.
func RowsOf(table, condition string) Rows {
	return Rows{table, "select * from " + table + " where " + condition}
}

// Join is a part of a FROM clause. where is the condition on the rows of its table that Citus reads by the keys of the
// page, if it reads any: a text, or pairs of a column and its key in the page. A query is read in place of the table.
type Join struct {
	sql, table, where, query string
	keys                     []string
}

// Joined returns a join with a table whose rows are found by a condition on the page or on the tables before it.
// sql is the join itself, and condition selects the rows that Citus reads first.
func Joined(sql, table, condition string) Join { return Join{sql: sql, table: table, where: condition} }

// Beside returns a join with tables that are not distributed. sql is the join itself.
func Beside(sql string) Join { return Join{sql: sql} }

// Then returns the join with a query, under a name, that returns at most one row; without one, its columns are null.
// The query can use columns of earlier queries in the same FROM clause, which it writes with [DB.Of]. Citus does not
// join a distributed table with one that is not: it reads one query after the other.
func (db *DB) Then(name, query string) Join {
	if db.Distributed() {
		return Join{sql: " left join " + name + " on true", table: name, query: query}
	}
	return Join{sql: "\nleft join lateral (" + query + ") " + name + " on true"}
}

// Of returns the SQL expression for a column of the row of an earlier query, by the name that this has in [DB.Then].
func (db *DB) Of(name, column string) string {
	if db.Distributed() {
		return "(select " + column + " from " + name + ")"
	}
	return name + "." + column
}

// By returns the join of a table, under an alias, with the page of another alias, by pairs of columns: one of the
// table, and its key in the page. kind is "join" or "left join".
func By(kind, table, alias, page string, columns ...string) Join {
	var on []string
	for pair := range slices.Chunk(columns, 2) {
		on = append(on, alias+"."+pair[0]+" = "+page+"."+pair[1])
	}
	return Join{
		sql:   " " + kind + " " + table + " " + alias + " on " + strings.Join(on, " and "),
		table: table, keys: columns,
	}
}

// rows returns the description of the rows that Citus reads before the join: those of a query, or of a table by the
// keys of the page. j must have a table.
func (j Join) rows() Rows {
	if j.query != "" {
		return Rows{j.table, j.query}
	}
	if j.keys == nil {
		return RowsOf(j.table, j.where)
	}
	var conditions []string
	for pair := range slices.Chunk(j.keys, 2) {
		conditions = append(conditions, pair[0]+" in (select "+pair[1]+" from page)")
	}
	return RowsOf(j.table, strings.Join(conditions, " and "))
}

// write appends parts of the text of a statement to b. It checks nothing.
func write(b *strings.Builder, parts ...string) {
	for _, part := range parts {
		b.WriteString(part)
	}
}

// And returns a copy of the join with a further condition of the join itself. The rows that Citus reads first stay
// the same.
func (j Join) And(condition string) Join {
	j.sql += " and " + condition
	return j
}

// Query returns the SQL of the statement as a query within another. Unlike the text of a statement that runs, it reads
// the tables themselves, also those that [DB.SetAbsent] and the watermark replace: the outer statement replaces them.
func (r *Read) Query(db *DB) string { return r.text(&DB{apart: db.apart}) }

// text returns the SQL of the statement for the tables of the database, without the comment of its setting. It does
// not change r.
func (r *Read) text(db *DB) string {
	var with []expression
	name, apart := r.Name, db.Distributed()
	add := func(how string, rows Rows) {
		with = append(with, expression{rows.Table, how, db.with(nil, rows.Query)})
	}
	const alone = "materialized "
	if apart {
		for _, rows := range r.Ahead {
			add(alone, rows)
		}
	}
	if r.SQL != "" {
		return db.with(with, r.SQL)
	}
	if name != "" {
		add("", Rows{name, r.Page})
	} else if apart && r.Page != "" && slices.ContainsFunc(r.Joins, func(j Join) bool { return j.table != "" }) {
		name = "page"
		add(alone, Rows{name, r.Page})
	}
	var sql strings.Builder
	sql.Grow(len(r.Select) + len(r.From) + len(r.Page) + len(r.Rest) + 256)
	write(&sql, "select ", r.Select, "\nfrom ", r.From)
	if r.Page != "" && r.From != "" {
		write(&sql, " cross join ")
	}
	switch {
	case name != "":
		write(&sql, name, " ", r.As)
	case r.Page != "" && r.From != "":
		write(&sql, "lateral (", r.Page, ") ", r.As)
	case r.Page != "":
		write(&sql, "(", r.Page, ") ", r.As)
	}
	for _, j := range r.Joins {
		write(&sql, j.sql)
		if apart && j.table != "" {
			add(alone, j.rows())
		}
	}
	write(&sql, r.Rest)
	return db.with(with, sql.String())
}

// expression is a common table expression. how is "materialized ", "not materialized ", or empty.
type expression struct{ name, how, query string }

// with returns sql preceded by common table expressions: those given, and those that replace tables which lack
// columns or have a watermark. A table with the name of a given one is not replaced. If sql begins with expressions
// of its own, they follow.
func (db *DB) with(expressions []expression, sql string) string {
	for _, t := range db.replaced(sql) {
		if !slices.ContainsFunc(expressions, func(e expression) bool { return e.name == t.Table }) {
			expressions = append(expressions, expression{t.Table, "not materialized ", t.Query})
		}
	}
	if len(expressions) == 0 {
		return sql
	}
	parts := make([]string, 0, 7*len(expressions)+2)
	separator := "with "
	for _, e := range expressions {
		parts = append(parts, separator, e.name, " as ", e.how, "(", e.query, ")")
		separator = ",\n"
	}
	if rest, ok := strings.CutPrefix(sql, "with "); ok {
		return strings.Join(append(parts, separator, rest), "")
	}
	return strings.Join(append(parts, "\n", sql), "")
}

// Parents are the objects for which a statement reads rows: a FROM item p with columns for their keys and the column
// ord, their position from 1. On a distributed database, each has a statement of its own.
type Parents struct {
	From string
	// Args are the first arguments of the statement, one for each column of a key.
	Args []any
	// Placed is set if the statement selects a column of the key as the position, in place of ord.
	Placed  bool
	columns []string
	each    [][]int64 // the keys, if each parent has a statement
}

// Parents returns the parents with some keys, one array of numbers for each of the columns, whose names are separated
// by ", ". The arrays have the same length: their elements at one position are the key of one parent. A statement
// selects from the item From, whose alias is p and whose column ord is the position of the parent from 1. Its
// arguments begin with Args. The planner does not see the number of parents: a generic plan then costs no more than a
// custom one, so PostgreSQL plans the statement once per connection instead of at each execution. On a distributed
// database (Citus), each parent has a statement of its own, with its keys as parameters; From and Args are then those
// of the first parent. It also returns empty conditions for the statement, which begin with the same arguments.
func (b *Batch) Parents(columns string, keys ...[]int64) (*Parents, Where) {
	p := &Parents{columns: strings.Split(columns, ", ")}
	if b.db.Distributed() {
		p.each = keys
		p.single(keys)
		return p, With(p.Args...)
	}
	arrays := make([]string, len(keys))
	for i, key := range keys {
		arrays[i] = `(select $` + strconv.Itoa(i+1) + `::bigint[])`
		p.Args = append(p.Args, key)
	}
	p.From = `unnest(` + strings.Join(arrays, ", ") + `) with ordinality p(` + columns + `, ord)`
	return p, With(p.Args...)
}

// ParentsOrOne returns the parents with some keys, for a statement in b. Unlike those of [Batch.Parents], the columns
// of a single parent are scalars. They cost PostgreSQL less, and the planner has statistics for a given value, but
// assumes an average number of rows for the elements of an array. There must be at least one array of keys.
func (b *Batch) ParentsOrOne(columns string, keys ...[]int64) (*Parents, Where) {
	if len(keys[0]) == 1 && !b.db.Distributed() {
		p := &Parents{columns: strings.Split(columns, ", ")}
		p.single(keys)
		return p, With(p.Args...)
	}
	return b.Parents(columns, keys...)
}

// single sets the FROM item and the arguments of p for one parent, the first. Without parents, the keys are 0.
func (p *Parents) single(keys [][]int64) {
	var sql strings.Builder
	sql.WriteString("(select ")
	for i, key := range keys {
		p.Args = append(p.Args, slices.Concat(key, []int64{0})[0])
		sql.WriteString("$" + strconv.Itoa(i+1) + "::bigint as " + p.columns[i] + ", ")
	}
	p.From = sql.String() + "1::bigint as ord) p"
}

// Key returns the SQL expression for a column of the key of a parent: a column of p, the alias of p.From in the
// statement, or if each parent has a statement the parameter. column must be one of those given to [Batch.Parents].
func (p *Parents) Key(column string) string {
	if p.each == nil {
		return "p." + column
	}
	return "$" + strconv.Itoa(slices.Index(p.columns, column)+1) + "::bigint"
}

// Any returns the operand, after "=", for any of the keys of parents, which have one column. It is not for a single
// parent of [Batch.ParentsOrOne], whose key is no array.
func (p *Parents) Any() string {
	if p.each == nil {
		return "any($1)"
	}
	return "$1"
}

// Join returns the join of a table, under an alias, with parents by pairs of columns: one of the table, and its key.
// kind is "join" or "left join". If each parent has a statement, Citus first reads the rows of the table by the same
// keys.
func (p *Parents) Join(kind, table, alias string, columns ...string) Join {
	var on, where []string
	for pair := range slices.Chunk(columns, 2) {
		key := p.Key(pair[1])
		on = append(on, alias+"."+pair[0]+" = "+key)
		where = append(where, pair[0]+" = "+key)
	}
	return Join{
		sql:   " " + kind + " " + table + " " + alias + " on " + strings.Join(on, " and "),
		table: table, where: strings.Join(where, " and "),
	}
}

// forEach calls f for each of the statements that read the rows of parents. If the parents share one (p or p.each is
// nil), f gets args and 0. Otherwise, on Citus, each parent has a statement: its keys replace the first arguments, and
// shift is the index of the parent, which is added to the positions in the rows, or 0 if the rows have the positions
// in the list of all parents themselves (p.Placed).
func (p *Parents) forEach(args []any, f func(args []any, shift int64)) {
	if p == nil || p.each == nil {
		f(args, 0)
		return
	}
	for k := range p.each[0] {
		own, shift := slices.Clone(args), int64(k)
		for i, key := range p.each {
			own[i] = key[k]
		}
		if p.Placed {
			shift = 0
		}
		f(own, shift)
	}
}
