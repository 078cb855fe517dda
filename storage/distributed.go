package storage

import (
	"context"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
)

// A statement has two plans. PostgreSQL joins tables, and unnests parents to read a page for each of them. Citus only
// joins tables that are distributed by the columns of the join. Where its tables are distributed, statements are
// therefore run key by key: one statement for each parent, whose keys are parameters, and a table that is joined to a
// page is read by the keys of the page. The second plan is derived from the text of the first:
//
//	select … from (page) x left join entity e on e.id = x.contract_id
//
// becomes
//
//	with x_rows as materialized (page), e_rows as materialized (select * from entity e where e.id in (select contract_id from x_rows))
//	select … from x_rows x left join e_rows e on e.id = x.contract_id
//
// Citus runs each of these common table expressions by itself, and sends its rows to the workers for the next one.

// placement contains the distribution column of each distributed table.
type placement map[string]string

// ReadPlacement reads how the tables are distributed, if the database has a view citus_tables, and whether it has a
// watermark. Before, statements are those for PostgreSQL.
func (db *DB) ReadPlacement(ctx context.Context) error {
	tables := placement{}
	var there bool
	err := db.Pool().QueryRow(ctx, `select to_regclass('citus_tables') is not null`).Scan(&there)
	if err == nil && there {
		var table, column string
		var rows pgx.Rows
		if rows, err = db.Pool().Query(ctx,
			`select table_name::text, distribution_column from citus_tables where citus_table_type = 'distributed'`); err == nil {
			_, err = pgx.ForEachRow(rows, []any{&table, &column}, func() error {
				tables[table] = column
				return nil
			})
		}
	}
	if err != nil {
		return fmt.Errorf("reading how the tables are distributed: %w", err)
	}
	db.placement.Store(&tables)
	return db.readWatermark(ctx)
}

// Distributed reports whether tables are distributed, so that statements are run key by key.
func (db *DB) Distributed() bool {
	p := db.placement.Load()
	return p != nil && len(*p) > 0
}

var (
	// hidden matches parameters that the planner must not see. Citus must, to find the shards.
	hidden = regexp.MustCompile(`\(select (\$\d+::\w+(?:\[\])?)\)`)
	// parents matches the FROM items of [Unnest] and [UnnestKeys].
	parents = regexp.MustCompile(`unnest\((?:\(select \$\d+::bigint\[\]\)(?:, )?)+\) with ordinality p\(([a-z_, ` +
		`]+), ord\)|` +
		`\(select (\$[^()]*)1::bigint as ord\) p\b`)
	column    = regexp.MustCompile(`[a-z_]+$`)
	parameter = regexp.MustCompile(`\$(\d+)`)
	// byHash matches calls of a function that reads a distributed table, which workers cannot do.
	byHash = regexp.MustCompile(`get_transaction_info_by_hash\((\$\d+)\)`)
)

// statement is a statement with its arguments.
type statement struct {
	sql  string
	args []any
}

// statements returns the statements that read the rows of the parents in a statement.
func (db *DB) statements(sql string, args []any) []statement {
	if db.Distributed() {
		return eachParent(sql, args)
	}
	return []statement{{sql, args}}
}

// eachParent returns one statement for each of the parents p in a statement, or the statement itself if it has none.
func eachParent(sql string, args []any) []statement {
	at := parents.FindStringSubmatchIndex(sql)
	if at == nil {
		return []statement{{sql, args}}
	}
	var columns []string
	n, list, first := 1, at[2] >= 0, 0 // the index of the first parameter of the parents
	if m := parameter.FindStringSubmatch(sql[at[0]:at[1]]); m != nil {
		first, _ = strconv.Atoi(m[1])
		first--
	}
	if list {
		columns = strings.Split(sql[at[2]:at[3]], ", ")
		n = reflect.ValueOf(args[first]).Len()
	} else {
		for part := range strings.SplitSeq(strings.TrimSuffix(sql[at[4]:at[5]], ", "), ", ") {
			columns = append(columns, column.FindString(part))
		}
	}
	ord := "$" + strconv.Itoa(len(args)+1)
	var own strings.Builder // it mentions all parameters, because the statement may not use some of them
	own.WriteString("(select ")
	before, after := sql[:at[0]], sql[at[1]:]
	for i, name := range columns {
		param := "$" + strconv.Itoa(first+i+1)
		own.WriteString(param + "::bigint as " + name + ", ")
		uses := regexp.MustCompile(`\bp\.` + name + `\b`)
		before = uses.ReplaceAllLiteralString(before, param+"::bigint")
		after = strings.ReplaceAll(uses.ReplaceAllLiteralString(after, param+"::bigint"), "any("+param+")", param)
	}
	sql = before + own.String() + ord + "::bigint as ord) p" + after
	out := make([]statement, n)
	for k := range out {
		values := append(slices.Clone(args), int64(k+1))
		for i := range columns {
			if list {
				values[first+i] = reflect.ValueOf(args[first+i]).Index(k).Interface()
			}
		}
		out[k] = statement{sql, values}
	}
	return out
}

var (
	clauseEnd = regexp.MustCompile(`\b(?:where|group by|having|order by|limit|offset|union)\b`)
	fromWord  = regexp.MustCompile(`\bfrom\b`)
	joinWord  = regexp.MustCompile(`\b(?:cross |left )?join\b(?: lateral\b)?`)
	tableItem = regexp.MustCompile(`^\s*([a-z_]+)(?:\s+([a-z]\w*))?\s*(?:\bon\b|$)`)
	queryItem = regexp.MustCompile(`^\s*\(\s*\)\s+([a-z]\w*)\s*(?:\bon\b|$)`)
	qualified = regexp.MustCompile(`\b([a-z]\w*)\.[a-z]`)
	ofRow     = regexp.MustCompile(`\bfrom ([a-z_]+) where (\w+) = ([a-z]\w*)\.(\w+)`) // a query for each row, in the select list
	equality  = regexp.MustCompile(`^([a-z]\w*)\.(\w+) = ([a-z]\w*)\.(\w+)$`)
)

// masked returns a text of the same length with spaces in place of what is in parentheses or quotes.
func masked(sql string) string {
	out, depth, quoted := []byte(sql), 0, false
	for i, c := range out {
		switch {
		case c == '\'':
			quoted = !quoted
		case quoted:
		case c == '(':
			depth++
			if depth == 1 {
				continue
			}
		case c == ')':
			depth--
			if depth == 0 {
				continue
			}
		}
		if depth > 0 || quoted {
			out[i] = ' '
		}
	}
	return string(out)
}

// item is an item of a FROM clause.
type item struct {
	join, table, alias, on string
	query                  string // in place of the table
	rows                   string // the common table expression of the query, which is only made if it is used
	used                   bool
}

// fromClause contains items by alias.
type fromClause struct {
	placement placement
	items     map[string]*item
}

// byKeys returns the statement that reads joined tables key by key.
func (p placement) byKeys(sql string) string {
	sql = byHash.ReplaceAllString(hidden.ReplaceAllString(sql, "$1"), `(select consensus_timestamp, hash || coalesce(hash_suffix, '') as hash, payer_account_id
  from transaction_hash where hash = $1)`)
	start := 0
	if i := settingOf(sql); i >= 0 {
		start = len(settings[i].comment)
	}
	setting, sql := sql[:start], sql[start:]
	mask := masked(sql)
	if head := strings.Index(mask, "select "); strings.HasPrefix(sql, "with ") && head > 0 {
		sql = p.eachQuery(sql[:head], mask[:head]) + sql[head:]
		mask = masked(sql)
	}
	from := fromWord.FindStringIndex(mask)
	if from == nil {
		return setting + sql
	}
	end := len(sql)
	if at := clauseEnd.FindStringIndex(mask[from[1]:]); at != nil {
		end = from[1] + at[0]
	}
	items, f := fromItems(sql[from[1]:end], mask[from[1]:end]), fromClause{p, map[string]*item{}}
	changed, selected := false, sql[:from[1]]
	var read []string // common table expressions of the tables that the select list reads
	for i, it := range items {
		if it.query != "" {
			query := p.byKeys(it.query)
			changed, it.query = changed || query != it.query, query
		}
		switch {
		case it.query != "" && it.alias != "" && !mentions(it.query, items[:i]):
			it.rows = it.alias + "_rows"
			for _, m := range ofRow.FindAllStringSubmatch(sql[:from[0]], -1) {
				if table := m[1]; p[table] == m[2] && m[3] == it.alias && strings.Contains(selected, " "+table+" ") {
					read = append(read, table+"_rows as materialized (select * from "+table+" where "+
						m[2]+" in (select "+m[4]+" from "+it.rows+"))")
					selected = strings.ReplaceAll(selected, " "+table+" ", " "+table+"_rows ")
					it.used, changed = true, true
				}
			}
		case it.table != "" && strings.Contains(mask[:from[0]], it.table+" as "):
			it.rows = it.table
		case p[it.table] != "" && i > 0:
			if query := f.keyed(it); query != "" {
				it.query, it.rows, it.used, changed = query, it.alias+"_rows", true, true
			}
		}
		f.items[it.alias] = it
	}
	if !changed {
		return setting + sql
	}
	var ctes []string
	var out strings.Builder
	for _, it := range items {
		switch {
		case it.used && it.query != "":
			ctes = append(ctes, it.rows+" as materialized ("+it.query+")")
			it.join, it.table = strings.TrimSuffix(it.join, " lateral"), it.rows
		case it.query != "":
			it.table = "(" + it.query + ")"
		}
		out.WriteString(it.join + " " + it.table + " " + it.alias)
		if it.on != "" {
			out.WriteString(" on " + it.on)
		}
		out.WriteString("\n")
	}
	ctes = append(ctes, read...)
	head := "with " + strings.Join(ctes, ",\n") + "\n"
	if ctes == nil {
		head = ""
	} else if strings.HasPrefix(sql, "with ") {
		at := strings.Index(mask, "select ")
		head = strings.TrimSpace(sql[:at]) + ",\n" + strings.TrimPrefix(head, "with ")
		selected = selected[at:]
	}
	return setting + head + selected + out.String() + sql[end:]
}

// eachQuery returns a text in which the queries in parentheses are replaced.
func (p placement) eachQuery(sql, mask string) string {
	var out strings.Builder
	for {
		start, end := strings.IndexByte(mask, '(')+1, strings.IndexByte(mask, ')')
		if start == 0 {
			return out.String() + sql
		}
		out.WriteString(sql[:start] + p.byKeys(sql[start:end]) + ")")
		sql, mask = sql[end+1:], mask[end+1:]
	}
}

// keyed returns the query for the rows of a joined table by the keys of earlier items, or "" if Citus can join the
// table itself.
func (f fromClause) keyed(it *item) string {
	var conditions []string
	var sources []*item
	for _, c := range conjuncts(it.on) {
		if m := equality.FindStringSubmatch(c); m != nil {
			own, key, other, value := m[1], m[2], m[3], m[4]
			if other == it.alias {
				own, key, other, value = other, value, own, key
			}
			source := f.items[other]
			if own == it.alias && source != nil && source.rows != "" {
				conditions, sources = append(conditions, own+"."+key+" in (select "+value+" from "+source.rows+")"),
					append(sources, source)
				continue
			}
			if own == it.alias && source != nil && key == f.placement[it.table] && value == f.placement[source.table] {
				return ""
			}
		}
		if !slices.ContainsFunc(qualified.FindAllStringSubmatch(c, -1), func(m []string) bool {
			return m[1] != it.alias
		}) {
			conditions = append(conditions, c)
		}
	}
	for _, source := range sources {
		source.used = true
	}
	if conditions == nil {
		return ""
	}
	return "select * from " + it.table + " " + it.alias + " where " + strings.Join(conditions, " and ")
}

// fromItems splits a FROM clause. Items that are neither tables nor queries have no alias.
func fromItems(sql, mask string) (items []*item) {
	words := append(joinWord.FindAllStringIndex(mask, -1), []int{len(mask), len(mask)})
	start, join := 0, ""
	for _, word := range words {
		text, shape := sql[start:word[0]], mask[start:word[0]]
		it := &item{join: join, query: strings.TrimSpace(text)}
		if m := tableItem.FindStringSubmatchIndex(shape); m != nil {
			it.table, it.alias, it.query, it.on = text[m[2]:m[3]], text[m[2]:m[3]], "", strings.TrimSpace(text[m[1]:])
			if m[4] >= 0 {
				it.alias = text[m[4]:m[5]]
			}
		} else if m := queryItem.FindStringSubmatchIndex(shape); m != nil {
			it.alias, it.on = text[m[2]:m[3]], strings.TrimSpace(text[m[1]:])
			it.query = text[strings.IndexByte(shape, '(')+1 : strings.IndexByte(shape, ')')]
		} else {
			it.table, it.query = it.query, ""
		}
		items = append(items, it)
		start, join = word[1], sql[word[0]:word[1]]
	}
	return items
}

// conjuncts splits a condition at "and".
func conjuncts(on string) (list []string) {
	mask, start := masked(on), 0
	for {
		at := strings.Index(mask[start:], " and ")
		if at < 0 {
			return append(list, strings.TrimSpace(on[start:]))
		}
		list = append(list, strings.TrimSpace(on[start:start+at]))
		start += at + len(" and ")
	}
}

// mentions reports whether a query uses columns of items.
func mentions(query string, items []*item) bool {
	return slices.ContainsFunc(qualified.FindAllStringSubmatch(query, -1), func(m []string) bool {
		return slices.ContainsFunc(items, func(it *item) bool { return it.alias == m[1] })
	})
}

var table = regexp.MustCompile(`\b(from|join) ([a-z_]+)\b`)

// ReadAhead returns the statement with each of some tables, given with the query for the rows that the statement may
// use, replaced by those rows, if tables are distributed. Later queries can use the rows of earlier tables, which are
// named table_rows. This is for statements that Citus cannot plan.
func (db *DB) ReadAhead(sql string, tables ...[2]string) string {
	if !db.Distributed() || len(tables) == 0 {
		return sql
	}
	var with []string
	names := map[string]bool{}
	for _, t := range tables {
		names[t[0]], with = true, append(with, t[0]+"_rows as materialized ("+t[1]+")")
	}
	return "with " + strings.Join(with, ",\n") + "\n" + table.ReplaceAllStringFunc(sql, func(text string) string {
		if names[text[strings.IndexByte(text, ' ')+1:]] {
			return text + "_rows"
		}
		return text
	})
}
