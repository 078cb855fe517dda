package migrations

import (
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// ours are the relations that the reference lacks: default partitions and version tables.
var ours = []string{
	"public.account_balance_default r", "public.token_balance_default r",
	"public.heliograph_migration r", "public.heliograph_migration_id_seq S",
}

// readTable returns the rows of a reference file as maps by column name.
func readTable(t *testing.T, path string) []map[string]string {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	records, err := csv.NewReader(file).ReadAll()
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	if len(records) < 2 {
		t.Fatalf("%s has no rows", path)
	}
	var rows []map[string]string
	for _, record := range records[1:] {
		row := make(map[string]string)
		for i, name := range records[0] {
			row[name] = record[i]
		}
		rows = append(rows, row)
	}
	return rows
}

// lines converts each row to one line with the given fields.
func lines(rows []map[string]string, fields ...string) []string {
	var result []string
	for _, row := range rows {
		values := make([]string, len(fields))
		for i, field := range fields {
			values[i] = row[field]
		}
		result = append(result, strings.Join(values, " | "))
	}
	return result
}

// diff reports the lines that only one side has.
func diff(t *testing.T, want, got []string) {
	t.Helper()
	for _, line := range want {
		if !slices.Contains(got, line) {
			t.Errorf("missing: %s", line)
		}
	}
	for _, line := range got {
		if !slices.Contains(want, line) {
			t.Errorf("extra:   %s", line)
		}
	}
	if len(want) != len(got) {
		t.Errorf("%d lines, want %d", len(got), len(want))
	}
}

// ledgerRelations selects the ledger's tables, without partitions and our version table.
const ledgerRelations = `
	with relation as (
		select oid, relname::text as name
		from pg_class
		where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition
		  and relname <> 'heliograph_migration'
	)`

func TestColumns(t *testing.T) {
	t.Parallel()
	want := lines(readTable(t, "columns.csv"), "table", "ordinal", "column", "type", "nullable",
		"default", "base_type")
	conn := connect(t, empty.Shared(t))
	got := query[string](t, conn, ledgerRelations+`
		select concat_ws(' | ', name, attnum, attname, format_type(atttypid, atttypmod),
		                 case when attnotnull then 'no' else 'yes' end,
		                 case
		                     when attidentity <> '' or attgenerated <> '' then 'generated'
		                     when pg_get_expr(adbin, adrelid) like '''''::%' then '(empty string)'
		                     else coalesce(regexp_replace(pg_get_expr(adbin, adrelid), '^''(.*)''::[^'']+$', '\1'), '')
		                 end,
		                 case
		                     when typtype = 'd' then format_type(typbasetype, typtypmod)
		                     else format_type(atttypid, atttypmod)
		                 end)
		from relation
		join pg_attribute on attrelid = relation.oid and attnum > 0
		join pg_type on pg_type.oid = atttypid
		left join pg_attrdef on adrelid = attrelid and adnum = attnum`)
	diff(t, want, got)
}

func TestKeys(t *testing.T) {
	t.Parallel()
	want := lines(readTable(t, "testdata/keys.csv"), "table", "kind", "columns")
	conn := connect(t, empty.Shared(t))
	got := query[string](t, conn, ledgerRelations+`
		select concat_ws(' | ', name,
		                 case when indisprimary then 'primary key' when indisunique then 'unique index' else 'none' end,
		                 coalesce((select string_agg(attname, ' ' order by ordinality)
		                           from unnest(indkey) with ordinality as key (number, ordinality)
		                           join pg_attribute on attrelid = indrelid and attnum = number), ''))
		from relation
		left join pg_index on indrelid = oid and indisunique`)
	diff(t, want, got)
}

func TestIndexes(t *testing.T) {
	t.Parallel()
	want := lines(readTable(t, "testdata/indexes.csv"), "table", "index", "method", "kind", "columns", "predicate")
	conn := connect(t, empty.Shared(t))
	got := query[string](t, conn, ledgerRelations+`
		select concat_ws(' | ', name, index.relname, amname,
		                 case when indisprimary then 'primary' when indisunique then 'unique' else 'plain' end,
		                 (select string_agg(
		                      lower(pg_get_indexdef(indexrelid, n, true))
		                      || case when opcdefault then '' else ' (' || opcname || ')' end
		                      || case when indcollation[n - 1] in (0, coalesce(attcollation, 100)) then ''
		                              else ' [collation ' || collname || ']' end
		                      || case indoption[n - 1] when 0 then '' when 3 then ' desc'
		                              when 1 then ' desc nulls last' else ' nulls first' end,
		                      ', ' order by n)
		                  from generate_series(1, indnatts) as n
		                  join pg_opclass on pg_opclass.oid = indclass[n - 1]
		                  left join pg_collation on pg_collation.oid = indcollation[n - 1]
		                  left join pg_attribute on attrelid = indrelid and attnum = indkey[n - 1] and attnum > 0),
		                 coalesce(lower(pg_get_expr(indpred, indrelid)), ''))
		from relation
		join pg_index on indrelid = relation.oid
		join pg_class index on index.oid = indexrelid
		join pg_am on pg_am.oid = index.relam
		where indisvalid and indnatts = indnkeyatts`)
	// PostgreSQL prints comparisons of domain columns with a cast to the base type.
	cast := regexp.MustCompile(`\((\w+)\)::bigint`)
	for i, line := range got {
		got[i] = cast.ReplaceAllString(line, "$1")
	}
	diff(t, want, got)
}

func TestEnums(t *testing.T) {
	t.Parallel()
	want := lines(readTable(t, "testdata/enums.csv"), "type", "ordinal", "label")
	conn := connect(t, empty.Shared(t))
	got := query[string](t, conn, `
		select concat_ws(' | ', typname, row_number() over (partition by typname order by enumsortorder), enumlabel)
		from pg_enum
		join pg_type on pg_type.oid = enumtypid`)
	diff(t, want, got)
}

func TestDomains(t *testing.T) {
	t.Parallel()
	want := lines(readTable(t, "testdata/domains.csv"), "domain", "base_type", "nullable", "checks", "used_by")
	conn := connect(t, empty.Shared(t))
	got := query[string](t, conn, ledgerRelations+`
		select concat_ws(' | ', typname, format_type(typbasetype, typtypmod),
		                 case when typnotnull or typdefault is not null then 'no' else 'yes' end,
		                 coalesce((select string_agg(pg_get_constraintdef(oid), ' ') from pg_constraint
		                           where contypid = pg_type.oid), 'none'),
		                 coalesce((select string_agg(used, ' ' order by used collate "C")
		                           from relation, pg_attribute, concat(name, '.', attname) as used
		                           where attrelid = relation.oid and atttypid = pg_type.oid), '(unused)'))
		from pg_type
		where typtype = 'd' and typnamespace = 'public'::regnamespace`)
	diff(t, want, got)
}

func TestFunctions(t *testing.T) {
	t.Parallel()
	note := regexp.MustCompile(` \([^)]*\)$`) // annotations in the reference after the type
	var want []string
	for _, row := range readTable(t, "testdata/functions.csv") {
		returns, table := strings.CutPrefix(row["returns"], "rows of ")
		if table {
			returns = "table" + returns
		} else {
			returns = note.ReplaceAllString(returns, "")
		}
		for name := range strings.SplitSeq(row["name"], " / ") {
			arguments := note.ReplaceAllString(row["arguments"], "")
			want = append(want, strings.Join([]string{name, row["kind"], arguments, returns}, " | "))
		}
	}
	conn := connect(t, empty.Shared(t))
	got := query[string](t, conn, `
		select concat_ws(' | ', proname,
		                 case prokind when 'f' then 'function' when 'p' then 'procedure' else prokind::text end,
		                 regexp_replace(lower(pg_get_function_arguments(oid)), '\min ', '', 'g'),
		                 coalesce(lower(pg_get_function_result(oid)), ''))
		from pg_proc
		where pronamespace in ('public'::regnamespace, 'temporary'::regnamespace)
		  and not exists (select from pg_depend where classid = 'pg_proc'::regclass and objid = pg_proc.oid
		                  and deptype = 'e')`)
	diff(t, want, got)
}

func TestViews(t *testing.T) {
	t.Parallel()
	want := lines(readTable(t, "testdata/views.csv"), "view", "ordinal", "column", "type")
	conn := connect(t, empty.Shared(t))
	got := query[string](t, conn, `
		select concat_ws(' | ', relname, attnum, attname, format_type(atttypid, atttypmod))
		from pg_class
		join pg_attribute on attrelid = pg_class.oid and attnum > 0
		where relkind in ('v', 'm') and relnamespace = 'public'::regnamespace`)
	diff(t, want, got)
}

func TestExtensions(t *testing.T) {
	t.Parallel()
	want := lines(readTable(t, "testdata/extensions.csv"), "extension")
	conn := connect(t, empty.Shared(t))
	diff(t, want, query[string](t, conn, "select extname::text from pg_extension where extname <> 'plpgsql'"))
}

func TestPartitioning(t *testing.T) {
	t.Parallel()
	conn := connect(t, empty.Shared(t))
	reference := readTable(t, "testdata/partitioning.csv")
	diff(t, lines(reference, "table", "strategy", "key"), query[string](t, conn, `
		select concat_ws(' | ', partrelid::regclass, case partstrat when 'r' then 'range' when 'l' then 'list' end,
		                 substring(pg_get_partkeydef(partrelid) from '^\w+ \((.*)\)$'))
		from pg_partitioned_table`))

	var want []string
	for _, row := range reference {
		var partitions []string
		switch row["strategy"] {
		case "list":
			for i := range 32 {
				name := strings.Replace(row["partition_name_pattern"], "NN", fmt.Sprintf("%02d", i), 1)
				partitions = append(partitions, fmt.Sprintf("%s FOR VALUES IN (%d)", name, i))
			}
		case "range":
			month := time.Date(2019, time.September, 1, 0, 0, 0, 0, time.UTC)
			for ; month.Before(time.Date(2027, time.January, 1, 0, 0, 0, 0, time.UTC)); month = month.AddDate(0,
				1, 0) {
				name := strings.Replace(row["partition_name_pattern"], "YYYY_MM", month.Format("2006_01"), 1)
				partitions = append(partitions, fmt.Sprintf("%s FOR VALUES FROM ('%d') TO ('%d')",
					name, month.UnixNano(), month.AddDate(0, 1, 0).UnixNano()))
			}
		}
		if strconv.Itoa(len(partitions)) != row["partitions_in_reference"] {
			t.Errorf("%s: the test expects %d partitions, the reference has %s",
				row["table"], len(partitions), row["partitions_in_reference"])
		}
		want = append(want, partitions...)
	}
	diff(t, append(want, "account_balance_default DEFAULT", "token_balance_default DEFAULT"), query[string](t, conn, `
		select relname || ' ' || pg_get_expr(relpartbound, oid)
		from pg_class
		where relispartition and relkind = 'r'`))
	diff(t, slices.DeleteFunc(want, func(line string) bool { return strings.HasPrefix(line, "transaction_hash") }),
		query[string](t, conn, `
			select format('%s FOR VALUES FROM (''%s'') TO (''%s'')', name, from_timestamp, to_timestamp)
			from mirror_node_time_partitions
			where starts_with(name::text, parent::text || '_p')`))
}

// TestNothingElse checks that there are no objects of kinds that the other tests do not list.
func TestNothingElse(t *testing.T) {
	t.Parallel()
	conn := connect(t, empty.Shared(t))
	var want []string
	for _, row := range readTable(t, "columns.csv") {
		if row["ordinal"] == "1" {
			want = append(want, "public."+row["table"]+" r")
		}
	}
	want = append(want, ours...)
	want = append(want, "public.mirror_node_time_partitions v")
	diff(t, want, query[string](t, conn, `
		select concat(relnamespace::regnamespace, '.', relname, ' ', case relkind when 'p' then 'r' else relkind end)
		from pg_class
		where relnamespace::regnamespace::text !~ '^(pg_|information_schema)' and relkind not in ('i', 'I')
		  and relpersistence = 'p'
		  and not (relispartition and relname ~ '_(p\d{4}_\d\d|\d\d)$')`))
	diff(t, []string{"public", "temporary"}, query[string](t, conn,
		"select nspname::text from pg_namespace where nspname !~ '^(pg_|information_schema)'"))
	diff(t, nil, query[string](t, conn,
		"select conname::text from pg_constraint where contype not in ('p') and connamespace = 'public'::regnamespace"))
	diff(t, nil, query[string](t, conn, "select tgname::text from pg_trigger"))
	diff(t, nil, query[string](t, conn, `
		select typname::text
		from pg_type
		join pg_class on pg_class.oid = typrelid
		where relkind = 'c' and typnamespace = 'public'::regnamespace`))
}

func TestVersionIsTheLastFile(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("ledger/*.sql")
	if err != nil {
		t.Fatal(err)
	}
	for i, file := range files {
		if !strings.HasPrefix(filepath.Base(file), fmt.Sprintf("%05d_", i+1)) {
			t.Errorf("%s should have the number %d", file, i+1)
		}
	}
	if Version() != len(files) {
		t.Errorf("version %d with %d files", Version(), len(files))
	}
}
