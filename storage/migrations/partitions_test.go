package migrations

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

func nanos(year int, month time.Month, day int) int64 {
	return time.Date(year, month, day, 0, 0, 0, 0, time.UTC).UnixNano()
}

// insertBalances inserts an hbar and a token balance at each time.
func insertBalances(t *testing.T, conn *pgx.Conn, times ...int64) {
	t.Helper()
	_, err := conn.Exec(t.Context(), `
		with t as (select unnest($1::bigint[]) as ts),
		     account as (insert into account_balance (consensus_timestamp, balance, account_id)
		                 select ts, 1, 2 from t)
		insert into token_balance (consensus_timestamp, balance, account_id, token_id) select ts, 1, 2, 3 from t`, times)
	if err != nil {
		t.Fatal(err)
	}
}

// balancePartitions returns the time and the partition of each row, without the table's name. It fails if the two
// tables differ.
func balancePartitions(t *testing.T, conn *pgx.Conn) []string {
	t.Helper()
	var both [2][]string
	for i, table := range []string{"account_balance", "token_balance"} {
		both[i] = query[string](t, conn, fmt.Sprintf(`
			select concat(consensus_timestamp, ' ', substring(tableoid::regclass::text from length('%s_') + 1))
			from %[1]s
			order by consensus_timestamp`, table))
	}
	if !slices.Equal(both[0], both[1]) {
		t.Fatalf("account balances are in %q, token balances in %q", both[0], both[1])
	}
	return both[0]
}

func countPartitions(t *testing.T, conn *pgx.Conn) int {
	t.Helper()
	return query[int](t, conn, "select count(*) from mirror_node_time_partitions")[0]
}

func TestRowsOfAnyTimeFit(t *testing.T) {
	t.Parallel()
	conn := connect(t, empty.Fresh(t))
	times := []int64{
		-1, 0, nanos(1970, time.January, 2),
		nanos(2019, time.September, 1) - 1, nanos(2019, time.September, 1), nanos(2019, time.December, 31),
		nanos(2027, time.January, 1) - 1, nanos(2027, time.January, 1), nanos(2040, time.June, 15), 1<<63 - 1,
	}
	insertBalances(t, conn, times...)
	var want []string
	for i, partition := range strings.Fields(
		"default default default default p2019_09 p2019_12 p2026_12 default default default") {
		want = append(want, fmt.Sprint(times[i], " ", partition))
	}
	if got := balancePartitions(t, conn); !slices.Equal(got, want) {
		t.Errorf("rows are in %q, want %q", got, want)
	}
}

func TestEnsurePartitionsMovesRows(t *testing.T) {
	t.Parallel()
	// The session's time zone must not matter. In this one, the new month starts hours earlier.
	conn := connect(t, empty.Fresh(t)+"&timezone=Asia/Kolkata")
	january, february, march := nanos(2027, time.January, 1), nanos(2027, time.February, 1), nanos(2027, time.March, 1)
	insertBalances(t, conn, 0, january-1, january, february-1, february, march-1, march, nanos(2040, time.June, 15))
	before := countPartitions(t, conn)

	lastOfNovember := time.Date(2026, time.November, 30, 23, 59, 0, 0, time.UTC)
	if err := EnsurePartitions(t.Context(), conn, lastOfNovember); err != nil {
		t.Fatal(err)
	}
	if after := countPartitions(t, conn); after != before {
		t.Errorf("%d partitions on the last day of November, had %d", after, before)
	}
	if err := EnsurePartitions(t.Context(), conn, time.Date(2027, time.January, 1, 0, 0, 0, 0, time.UTC)); err != nil {
		t.Fatal(err)
	}
	if after := countPartitions(t, conn); after != before+4 {
		t.Errorf("%d partitions in January, want two more for each table than %d", after, before)
	}
	want := []string{
		"0 default", fmt.Sprint(january-1, " p2026_12"), fmt.Sprint(january, " p2027_01"),
		fmt.Sprint(february-1, " p2027_01"), fmt.Sprint(february, " p2027_02"), fmt.Sprint(march-1, " p2027_02"),
		fmt.Sprint(march, " default"), fmt.Sprint(nanos(2040, time.June, 15), " default"),
	}
	if got := balancePartitions(t, conn); !slices.Equal(got, want) {
		t.Errorf("rows are in %q, want %q", got, want)
	}
	// The new partitions have the same indexes as the others.
	indexes := query[int](t, conn, `
		select count(*)::int from pg_index join pg_inherits on pg_inherits.inhrelid = indexrelid
		where indrelid in ('account_balance_p2027_02'::regclass, 'token_balance_p2027_02'::regclass) and indisvalid`)[0]
	if indexes != 3 {
		t.Errorf("the new partitions have %d indexes of their tables, want 3", indexes)
	}
}

func TestEnsurePartitionsTwiceAtOnce(t *testing.T) {
	t.Parallel()
	url := empty.Fresh(t)
	now := time.Date(2030, time.May, 5, 0, 0, 0, 0, time.UTC)
	reader := connect(t, url) // reads an older partition during the migration
	exec(t, reader, "begin", "select from account_balance_p2026_10")
	var group sync.WaitGroup
	for range 3 {
		conn := connect(t, url)
		group.Go(func() {
			if err := EnsurePartitions(t.Context(), conn, now); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	exec(t, reader, "commit")
	if n := countPartitions(t, reader); n != 2*(88+42) {
		t.Errorf("%d partitions up to June 2030, want %d", n, 2*(88+42))
	}
}

func TestEnsurePartitionsFillsGaps(t *testing.T) {
	t.Parallel()
	conn := connect(t, empty.Fresh(t))
	exec(t, conn, "drop table account_balance_p2020_02")
	insertBalances(t, conn, nanos(2020, time.February, 29))
	if err := EnsurePartitions(t.Context(), conn, time.Date(2026, time.November, 1, 0,
		0, 0, 0, time.UTC)); err != nil {
		t.Fatal(err)
	}
	want := []string{fmt.Sprint(nanos(2020, time.February, 29), " p2020_02")}
	if got := balancePartitions(t, conn); !slices.Equal(got, want) {
		t.Errorf("rows are in %q, want %q", got, want)
	}
}

func TestTimePartitionsOfOneTable(t *testing.T) {
	t.Parallel()
	conn := connect(t, empty.Fresh(t))
	exec(t, conn,
		"set heliograph.now = '2026-12-01T00:00:00Z'",
		"call create_time_partition_for_table('token_balance')")
	got := query[string](t, conn, "select name::text from mirror_node_time_partitions where from_timestamp >= $1",
		nanos(2027, time.January, 1))
	if !slices.Equal(got, []string{"token_balance_p2027_01"}) {
		t.Errorf("new partitions: %q", got)
	}
	for _, table := range []string{"transaction_hash", "entity"} {
		_, err := conn.Exec(t.Context(), "call create_time_partition_for_table('"+table+"')")
		if err == nil || !strings.Contains(err.Error(), table+" is not partitioned by the range of one column") {
			t.Errorf("partitions of %s: %v", table, err)
		}
	}
}
