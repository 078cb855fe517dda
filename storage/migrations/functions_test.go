package migrations

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
)

// pattern returns n consecutive bytes, starting with first.
func pattern(first byte, n int) []byte {
	result := make([]byte, n)
	for i := range result {
		result[i] = first + byte(i)
	}
	return result
}

type transactionInfo struct {
	ConsensusTimestamp int64
	Hash               []byte
	PayerAccountID     *int64
}

func infoByHash(t *testing.T, conn *pgx.Conn, hash []byte) []transactionInfo {
	t.Helper()
	rows, err := conn.Query(t.Context(),
		"select * from get_transaction_info_by_hash($1) order by consensus_timestamp", hash)
	if err != nil {
		t.Fatal(err)
	}
	infos, err := pgx.CollectRows(rows, pgx.RowToStructByName[transactionInfo])
	if err != nil {
		t.Fatal(err)
	}
	return infos
}

func TestTransactionInfoByHash(t *testing.T) {
	t.Parallel()
	conn := connect(t, empty.Fresh(t))
	insert := func(timestamp int64, hash, suffix []byte, payer any) {
		t.Helper()
		_, err := conn.Exec(t.Context(), `
			insert into transaction_hash (consensus_timestamp, hash, hash_suffix, payer_account_id)
			values ($1, $2, $3, $4)`, timestamp, hash, suffix, payer)
		if err != nil {
			t.Fatal(err)
		}
	}
	split, old, ethereum, twice := pattern(0, 48), pattern(40, 48), pattern(100, 32), pattern(255, 48)
	insert(10, split[:32], split[32:], 1001)
	insert(11, old, nil, 1002)
	insert(12, ethereum, nil, nil)
	insert(13, twice[:32], twice[32:], 1003)
	insert(14, twice[:32], twice[32:], 1004)
	// This row has the same first byte as another row, so it is in the same partition.
	insert(15, append([]byte{0}, pattern(7, 31)...), nil, 1005)

	for _, test := range []struct {
		name  string
		hash  []byte
		want  []byte
		at    []int64
		payer []int64 // 0 means null
	}{
		{"suffix is appended", split[:32], split, []int64{10}, []int64{1001}},
		{"old row with the whole hash", old[:32], old, []int64{11}, []int64{1002}},
		{"ethereum hash without payer", ethereum, ethereum, []int64{12}, []int64{0}},
		{"several rows", twice[:32], twice, []int64{13, 14}, []int64{1003, 1004}},
		{"whole hash finds nothing", split, nil, nil, nil},
		{"whole hash of an old row finds nothing", old, nil, nil, nil},
		{"too short", split[:31], nil, nil, nil},
		{"no bytes", []byte{}, nil, nil, nil},
		{"null", nil, nil, nil, nil},
		{"unknown", pattern(3, 32), nil, nil, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			infos := infoByHash(t, conn, test.hash)
			if len(infos) != len(test.at) {
				t.Fatalf("%d rows, want %d", len(infos), len(test.at))
			}
			for i, info := range infos {
				payer := int64(0)
				if info.PayerAccountID != nil {
					payer = *info.PayerAccountID
				}
				sameHash := bytes.Equal(info.Hash, test.want)
				if info.ConsensusTimestamp != test.at[i] || payer != test.payer[i] || !sameHash {
					t.Errorf("row %d: time %d, payer %d, hash %x; want %d, %d, %x", i,
						info.ConsensusTimestamp, payer, info.Hash, test.at[i], test.payer[i], test.want)
				}
			}
		})
	}
}

// TestTransactionInfoByHashEverywhere checks for each first byte that the function reads the partition in which
// PostgreSQL stores the row.
func TestTransactionInfoByHashEverywhere(t *testing.T) {
	t.Parallel()
	conn := connect(t, empty.Fresh(t))
	exec(t, conn, `
		insert into transaction_hash (consensus_timestamp, hash)
		select b, set_byte(decode(repeat('00', 32), 'hex'), 0, b) from generate_series(0, 255) b`)
	for first := range 256 {
		hash := make([]byte, 32)
		hash[0] = byte(first)
		infos := infoByHash(t, conn, hash)
		if len(infos) != 1 || infos[0].ConsensusTimestamp != int64(first) {
			t.Errorf("hash beginning with %02x: %+v", first, infos)
		}
	}
	if n := query[int](t, conn, "select count(distinct tableoid) from transaction_hash")[0]; n != 32 {
		t.Errorf("rows lie in %d partitions, want 32", n)
	}
}

func TestBalanceSnapshots(t *testing.T) {
	t.Parallel()
	conn := connect(t, empty.Fresh(t))
	exec(t, conn,
		// Account 2 is the treasury. 7 disappears with a balance and 8 without one. 9 and 10 are new.
		`insert into account_balance_old (consensus_timestamp, account_id, balance) values
			(100, 2, 500), (100, 5, 10), (100, 6, 20), (100, 7, 30), (100, 8, 0),
			(200, 2, 500), (200, 5, 10), (200, 6, 25), (200, 9, 1), (200, 10, 0),
			(300, 2, 501)`,
		`insert into token_balance_old (consensus_timestamp, account_id, token_id, balance) values
			(100, 2, 50, 500), (100, 5, 50, 10), (100, 5, 51, 10), (100, 7, 50, 30), (100, 8, 50, 0),
			(200, 2, 50, 500), (200, 5, 50, 10), (200, 5, 51, 15), (200, 9, 50, 1)`)
	for _, test := range []struct {
		call    string
		written int
		want    []string
	}{
		{
			"create_full_account_balance_snapshot(200, 1200)", 5,
			[]string{"1200 2 500", "1200 5 10", "1200 6 25", "1200 9 1", "1200 10 0"},
		},
		{
			"create_deduped_account_balance_snapshot(200, 1201)", 5,
			[]string{"1201 2 500", "1201 6 25", "1201 7 0", "1201 9 1", "1201 10 0"},
		},
		{"create_deduped_account_balance_snapshot(100, 1100)", 5, // the first snapshot: all rows are changes
			[]string{"1100 2 500", "1100 5 10", "1100 6 20", "1100 7 30", "1100 8 0"}},
		{"create_full_account_balance_snapshot(150, 1150)", 0, nil},
		{
			"create_full_token_balance_snapshot(200, 1200)", 4,
			[]string{"1200 2 50 500", "1200 5 50 10", "1200 5 51 15", "1200 9 50 1"},
		},
		{
			"create_deduped_token_balance_snapshot(200, 1201)", 3,
			[]string{"1201 5 51 15", "1201 7 50 0", "1201 9 50 1"},
		},
		{"create_full_token_balance_snapshot(150, 1150)", 0, nil},
	} {
		written := query[int](t, conn, "select "+test.call)[0]
		if written != test.written {
			t.Errorf("%s wrote %d rows, want %d", test.call, written, test.written)
		}
		columns, table := "consensus_timestamp, account_id, balance", "account_balance"
		if strings.Contains(test.call, "token") {
			columns, table = "consensus_timestamp, account_id, token_id, balance", "token_balance"
		}
		got := query[string](t, conn, fmt.Sprintf("select concat_ws(' ', %s) from %s order by %[1]s", columns, table))
		if !slices.Equal(got, test.want) {
			t.Errorf("%s wrote %q, want %q", test.call, got, test.want)
		}
		exec(t, conn, "truncate "+table)
	}
}

func TestStagingTables(t *testing.T) {
	t.Parallel()
	conn := connect(t, empty.Fresh(t))
	create := "call create_temp_table_safe('nft', 'token_id', 'serial_number')"
	exec(t, conn, create)
	const describe = `
		select concat_ws(' ', attname, format_type(atttypid, atttypmod), case when attnotnull then 'not null' end)
		from pg_attribute
		where attrelid = to_regclass($1) and attnum > 0
		order by attnum`
	want := query[string](t, conn, describe, "public.nft")
	for i, column := range want {
		if name, _, _ := strings.Cut(column, " "); name != "token_id" && name != "serial_number" {
			want[i] = strings.TrimSuffix(column, " not null")
		}
	}
	if got := query[string](t, conn, describe, "temporary.nft_temp"); !slices.Equal(got, want) {
		t.Errorf("staging table has columns %q, want %q", got, want)
	}
	key := query[string](t, conn, `
		select pg_get_constraintdef(oid) from pg_constraint where conrelid = 'temporary.nft_temp'::regclass`)
	if !slices.Equal(key, []string{"PRIMARY KEY (token_id, serial_number)"}) {
		t.Errorf("staging table has constraints %q", key)
	}
	unlogged := query[bool](t, conn,
		"select relpersistence = 'u' from pg_class where oid = 'temporary.nft_temp'::regclass")
	if !unlogged[0] {
		t.Error("staging table is logged")
	}

	exec(t, conn, "insert into temporary.nft_temp (token_id, serial_number) values (1, 1)", create)
	if n := query[int](t, conn, "select count(*) from temporary.nft_temp")[0]; n != 0 {
		t.Errorf("%d rows are left after the table was made again", n)
	}

	exec(t, conn, "call create_temp_table_safe('contract', variadic array[]::text[])")
	if got := query[bool](t, conn, "select to_regclass('temporary.contract_temp') is not null"); !got[0] {
		t.Error("no staging table without a key")
	}
}

func TestEntityTypeFromInt(t *testing.T) {
	t.Parallel()
	conn := connect(t, empty.Shared(t))
	want := []string{"UNKNOWN", "UNKNOWN", "ACCOUNT", "CONTRACT", "FILE", "TOPIC", "TOKEN", "SCHEDULE", "UNKNOWN"}
	got := query[string](t, conn, "select updateentitytypefromint(n)::text from generate_series(-1, 7) n order by n")
	if !slices.Equal(got, want) {
		t.Errorf("types of -1 to 7: %q, want %q", got, want)
	}
}
