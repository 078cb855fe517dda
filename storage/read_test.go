package storage

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
)

// TestRead checks both plans of statements, and those for databases that lack columns or have a watermark.
func TestRead(t *testing.T) {
	t.Parallel()
	const plain, distributed, lacking, both = 0, 1, 2, 3
	withEntity := []Join{
		By("left join", "entity", "e", "x", "id", "contract_id"), Beside(" cross join lateral (select now()) n"),
	}
	page := Read{
		Setting: NoBitmaps, Select: "e.memo", Page: "select * from contract_result limit 2", As: "x", Joins: withEntity,
		Rest: " order by 1",
	}
	parents := page
	parents.From = "(values (1)) p(ord)"
	named := Read{
		Select: "*", Page: "select * from nft n limit 2", Name: "found", As: "l",
		Joins: []Join{
			Joined(" join entity e on e.id = l.token_id", "entity",
				"id in (select token_id from found)").And("e.deleted"),
		},
	}
	ahead := Read{
		SQL: "select * from entity join contract using (id)",
		Ahead: []Rows{
			RowsOf("entity", "id = $1"),
			{"contract", "select id from contract where id in (select id from entity)"},
		},
	}
	nested := Read{Select: "y.*", Page: page.Query(&DB{apart: &atomic.Bool{}}), As: "y"}
	for name, c := range map[string]struct {
		read Read
		on   int
		want string
	}{
		"page": {page, plain, `select e.memo from (select * from contract_result limit 2) x left join entity e on e.id = x.contract_id
 cross join lateral (select now()) n order by 1`},
		"page, distributed": {page, distributed, `with page as materialized (select * from contract_result limit 2),
entity as materialized (select * from entity where id in (select contract_id from page))
select e.memo from page x left join entity e on e.id = x.contract_id cross join lateral (select now()) n order by 1`},
		"page without columns": {page, lacking, `with entity as not materialized (select *, null::text as memo from entity)
select e.memo from (select * from contract_result limit 2) x left join entity e on e.id = x.contract_id
 cross join lateral (select now()) n order by 1`},
		"page, distributed without columns": {page, both, `with page as materialized (select * from contract_result limit 2),
entity as materialized (with entity as not materialized (select *, null::text as memo from entity)
  select * from entity where id in (select contract_id from page))
select e.memo from page x left join entity e on e.id = x.contract_id cross join lateral (select now()) n order by 1`},
		"parents": {parents, plain, `select e.memo from (values (1)) p(ord) cross join lateral (select * from contract_result limit 2) x
 left join entity e on e.id = x.contract_id cross join lateral (select now()) n order by 1`},
		"parents, distributed": {parents, distributed, `with page as materialized (select * from contract_result limit 2),
entity as materialized (select * from entity where id in (select contract_id from page))
select e.memo from (values (1)) p(ord) cross join page x left join entity e on e.id = x.contract_id cross join lateral (select now()) n order by 1`},
		"named page": {named, plain, `with found as (select * from nft n limit 2)
select * from found l join entity e on e.id = l.token_id and e.deleted`},
		"named page, distributed": {named, distributed, `with found as (select * from nft n limit 2),
entity as materialized (select * from entity where id in (select token_id from found))
select * from found l join entity e on e.id = l.token_id and e.deleted`},
		"rows ahead": {ahead, plain, `select * from entity join contract using (id)`},
		"rows ahead, distributed": {ahead, distributed, `with entity as materialized (select * from entity where id = $1),
contract as materialized (select id from contract where id in (select id from entity)) select * from entity join contract using (id)`},
		"nested": {nested, lacking, `with entity as not materialized (select *, null::text as memo from entity)
select y.* from (` + nested.Page + `) y`},
		"a statement with expressions": {
			Read{SQL: "with e as (select * from entity) select * from e, record_file"},
			lacking,
			`with entity as not materialized (select *, null::text as memo from entity),
record_file as not materialized (select * from record_file where consensus_end <=
  coalesce((select min(consensus_end) from record_file_watermark), 9223372036854775807)),
e as (select * from entity) select * from e, record_file`,
		},
	} {
		db := &DB{apart: &atomic.Bool{}, schema: &atomic.Pointer[schema]{}, servers: &servers{}}
		db.apart.Store(c.on&distributed != 0)
		if c.on&lacking != 0 {
			db.SetAbsent([]Absent{{Table: "entity", Column: "memo", Type: "text", Nullable: true}, {Table: "prng"}})
			db.servers.bounded.Store(true)
		}
		if got := c.read.text(db); strings.Join(strings.Fields(got), " ") != strings.Join(strings.Fields(c.want), " ") {
			t.Errorf("%s\n got %s\nwant %s", name, got, c.want)
		}
	}
}

// TestByKeys checks the texts and the arguments of statements for keys.
func TestByKeys(t *testing.T) {
	t.Parallel()
	k := ByKeys("select x = " + Any1 + " or y = " + Any2)
	for name, c := range map[string]struct {
		apart bool
		keys  [][]int64
		want  string
		first any
	}{
		"one of each":      {false, [][]int64{{1}, {2}}, "select x = $1 or y = $2", int64(1)},
		"one, distributed": {true, [][]int64{{1}, {2}}, "select x = $1 or y = $2", int64(1)},
		"several":          {false, [][]int64{{1}, {2, 3}}, "select x = " + Any1 + " or y = " + Any2, []int64{1}},
		"none":             {false, [][]int64{nil, {2}}, "select x = " + Any1 + " or y = " + Any2, []int64(nil)},
		"several, distributed": {
			true,
			[][]int64{{1, 2}, {2}},
			"select x = any($1::bigint[]::bigint[]) or y = any($2::bigint[]::bigint[])",
			[]int64{1, 2},
		},
	} {
		db := &DB{apart: &atomic.Bool{}}
		db.apart.Store(c.apart)
		r, args := k.For(db, c.keys...)
		if text := r.SQL; text != c.want || len(args) != 2 || fmt.Sprint(args[0]) != fmt.Sprint(c.first) {
			t.Errorf("%s: %s %v", name, text, args)
		}
	}
}

// A description of a statement is rendered for tables of one server, and for distributed tables, whose joins are read
// by the keys of the page.
func ExampleRead() {
	read := Read{
		Select: "l.index, e.memo",
		Page:   "select * from contract_log order by index limit 2",
		As:     "l",
		Joins:  []Join{By("left join", "entity", "e", "l", "id", "contract_id")},
	}
	db := &DB{apart: &atomic.Bool{}}
	fmt.Println(read.Query(db))
	fmt.Println()
	db.apart.Store(true)
	fmt.Println(read.Query(db))
	// Output:
	// select l.index, e.memo
	// from (select * from contract_log order by index limit 2) l left join entity e on e.id = l.contract_id
	//
	// with page as materialized (select * from contract_log order by index limit 2),
	// entity as materialized (select * from entity where id in (select contract_id from page))
	// select l.index, e.memo
	// from page l left join entity e on e.id = l.contract_id
}
