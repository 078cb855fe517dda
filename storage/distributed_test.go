package storage

import (
	"strings"
	"testing"
)

// TestByKeys checks statements for distributed tables.
func TestByKeys(t *testing.T) {
	t.Parallel()
	p := placement{
		"entity": "id", "entity_stake": "id", "contract_result": "contract_id",
		"ethereum_transaction": "payer_account_id", "nft": "token_id",
	}
	for sql, want := range map[string]string{
		`select 1`: `select 1`,
		`select * from entity e left join entity_stake s on s.id = e.id where e.id = ` +
			Any1: `select * from entity e left join entity_stake s on s.id = e.id where e.id = ` +
			`any($1::bigint[]::bigint[])`,
		NoBitmaps + `select e.memo, ')' from (select * from contract_result limit 2) cr left join entity e on e.id = cr.contract_id
left join lateral (select hash from record_file where consensus_end >= cr.consensus_timestamp limit 1) r on true order by 1`: NoBitmaps +
			`with cr_rows as materialized (select * from contract_result limit 2), e_rows as materialized (select * from entity e where e.id in (select contract_id from cr_rows))
select e.memo, ')' from cr_rows cr left join e_rows e on e.id = cr.contract_id
left join lateral (select hash from record_file where consensus_end >= cr.consensus_timestamp limit 1) r on true order by 1`,
		`with page as (select * from nft n limit 2) select * from page l join entity e on e.id = l.token_id and e.deleted`: `with page as (select * from nft n limit 2),
e_rows as materialized (select * from entity e where e.id in (select token_id from page) and e.deleted)
select * from page l join e_rows e on e.id = l.token_id and e.deleted`,
		`select x.*, (select max(serial_number) from nft where token_id = x.id) from (select * from entity limit 2) x`: `with x_rows as materialized (select * from entity limit 2),
nft_rows as materialized (select * from nft where token_id in (select id from x_rows))
select x.*, (select max(serial_number) from nft_rows where token_id = x.id) from x_rows x`,
		`select (select 1 from nft where token_id = x.id), (select 2 from nft where token_id = x.id), (select 3 from entity where id = x.id) from (select 1 as id) x`: `with x_rows as materialized (select 1 as id), nft_rows as materialized (select * from nft where token_id in (select id from x_rows)), entity_rows as materialized (select * from entity where id in (select id from x_rows))
select (select 1 from nft_rows where token_id = x.id), (select 2 from nft_rows where token_id = x.id), (select 3 from entity_rows where id = x.id) from x_rows x`,
	} {
		if got := p.byKeys(sql); strings.Join(strings.Fields(got), " ") != strings.Join(strings.Fields(want), " ") {
			t.Errorf("%s\n got %s\nwant %s", sql, got, want)
		}
	}
}

// TestEachParent checks the statements of parents.
func TestEachParent(t *testing.T) {
	t.Parallel()
	got := eachParent(`select p.ord from `+Unnest("id", "at")+
		` cross join lateral (select * from nft where token_id = p.id and x > p.at limit $3) n`,
		[]any{[]int64{5, 6}, []int64{7, 8}, 9})
	want := `select p.ord from (select $1::bigint as id, $2::bigint as at, $4::bigint as ord) p cross join lateral ` +
		`(select * from nft where token_id = $1::bigint and x > $2::bigint limit $3) n`
	if len(got) != 2 || got[1].sql != want || got[1].args[0] != int64(6) || got[1].args[1] != int64(8) ||
		got[1].args[3] != int64(2) {
		t.Errorf("got %+v", got)
	}
	from, arg := OfParents([]int64{5})
	got = eachParent(`select p.ord, p.id from `+from, []any{arg})
	if len(got) != 1 || got[0].sql != `select p.ord, $1::bigint from (select $1::bigint as id, $2::bigint as ord) p` ||
		got[0].args[1] != int64(1) {
		t.Errorf("got %+v", got)
	}
}
