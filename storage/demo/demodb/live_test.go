package demodb

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"heliograph/storage/demo/world"
	"heliograph/storage/pgtest"
)

// live makes and writes a block every two seconds, from one instant to another.
func live(t *testing.T, n *liveNetwork, conn *pgx.Conn, from, to time.Time) {
	t.Helper()
	for end := from.Truncate(2 * time.Second); !end.After(to); end = end.Add(2 * time.Second) {
		if err := n.addBlock(end.UnixNano()); err != nil {
			t.Fatal(err)
		}
		if err := n.writeBlock(t.Context(), conn); err != nil {
			t.Fatal(err)
		}
	}
}

func resumed(t *testing.T, conn *pgx.Conn) *liveNetwork {
	t.Helper()
	if err := registerTypes(t.Context(), conn); err != nil {
		t.Fatal(err)
	}
	n, err := resume(t.Context(), conn)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// sound checks the rules of a ledger database; those about the newest snapshot only where the network has just made
// one.
func sound(t *testing.T, conn *pgx.Conn, snapshot bool) {
	t.Helper()
	for name, l := range laws {
		if strings.Contains(name, "snapshot is the present") && !snapshot {
			continue
		}
		if n := one(t, conn, l.broken); n != 0 {
			t.Errorf("%s: %d violations", name, n)
		}
	}
	for name, l := range decodedLaws {
		if _, n := l.check(t, conn); n != 0 {
			t.Errorf("%s: %d violations", name, n)
		}
	}
	soundVersions(t, conn)
}

// TestLive lets the network live on, with pauses: for minutes, for a restart of the program, over midnight.
func TestLive(t *testing.T) {
	t.Parallel()
	url := filled.Fresh(t)
	conn := pgtest.Connect(t, url)
	blocks := one(t, conn, "select count(*) from record_file")
	n := resumed(t, conn)
	live(t, n, conn, noon, noon.Add(time.Minute))
	if got := one(t, conn, "select count(*) from record_file") - blocks; got != 31 {
		t.Errorf("%d blocks in a minute", got)
	}
	since := noon.UnixNano() - 2*time.Second.Nanoseconds()
	for what, query := range map[string]string{
		"messages": "select count(*) from topic_message where consensus_timestamp > $1",
		"transfers": "select count(distinct consensus_timestamp) from crypto_transfer where " +
			"consensus_timestamp > $1",
		"results": "select count(*) from contract_result where consensus_timestamp > $1",
		"logs that ran": "select count(distinct l.consensus_timestamp) from contract_log l join " +
			"contract_result using (consensus_timestamp) where consensus_timestamp > $1",
		"ends of two seconds": "select count(*) from record_file where consensus_end > $1 and consensus_end % " +
			"2000000000 = 0",
		"blocks with messages": "select count(*) from record_file where consensus_end > $1 and exists (select from " +
			"topic_message where consensus_timestamp = consensus_end)",
	} {
		var got int
		if err := conn.QueryRow(t.Context(), query, since).Scan(&got); err != nil || got < 28 {
			t.Errorf("%d %s in 31 blocks, %v", got, what, err)
		}
	}
	sound(t, conn, false)
	if is, err := IsDemo(t.Context(), conn); err != nil || !is {
		t.Errorf("IsDemo of a network that lives: %v, %v", is, err)
	}

	hour := noon.Truncate(time.Hour).Add(time.Hour)
	live(t, n, conn, hour.Add(-20*time.Second), hour)
	sound(t, conn, true)

	again := resumed(t, conn)
	for table, rows := range again.stored {
		if len(rows) != len(n.stored[table]) {
			t.Errorf("after a restart %s has %d rows, not %d", table, len(rows), len(n.stored[table]))
		}
	}
	if changes := again.changedRows(); len(changes) != 0 {
		t.Errorf("after a restart %d rows differ", len(changes))
	}
	tomorrow := noon.Add(12 * time.Hour)
	live(t, again, conn, tomorrow, tomorrow.Add(10*time.Second))
	sound(t, conn, false)
	if err := n.addBlock(tomorrow.Add(time.Minute).UnixNano()); err != nil {
		t.Fatal(err)
	}
	if err := n.writeBlock(t.Context(), conn); !errors.Is(err, ErrOtherWriter) {
		t.Errorf("a second writer: %v", err)
	}
	if err := Reload(t.Context(), conn, noon, nil); err != nil {
		t.Errorf("loading a network that lived again: %v", err)
	}
}

// TestLiveBlockIsWrittenOnce loses the answer to a commit, and tries again.
func TestLiveBlockIsWrittenOnce(t *testing.T) {
	t.Parallel()
	url := filled.Fresh(t)
	conn := pgtest.Connect(t, url)
	n := resumed(t, conn)
	if err := n.addBlock(noon.UnixNano() / world.BlockTime * world.BlockTime); err != nil {
		t.Fatal(err)
	}
	before := n.storedHash
	if err := n.writeBlock(t.Context(), conn); err != nil {
		t.Fatal(err)
	}
	blocks := one(t, conn, "select count(*) from record_file")
	n.storedHash = before
	if err := n.writeBlock(t.Context(), conn); err != nil {
		t.Fatal(err)
	}
	if got := one(t, conn, "select count(*) from record_file"); got != blocks || n.storedHash == before {
		t.Errorf("%d blocks became %d", blocks, got)
	}
}

// TestLiveRefuses keeps its hands off what it cannot continue.
func TestLiveRefuses(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		sql  string
		want error
	}{
		"something else": {"update record_file set hash = repeat('b', 96) where index = (select max(index) from " +
			"record_file)", ErrNotDemo},
		"another story": {`
			update record_file set hash = repeat('c', 96) where index = (select max(index) from record_file);
			comment on table record_file is '` + marker + strings.Repeat("c", 96) + `'`, ErrOtherVersion},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url := filled.Fresh(t)
			pgtest.Exec(t, pgtest.Connect(t, url), c.sql)
			if err := KeepAlive(t.Context(), url, time.Now, slog.New(slog.DiscardHandler)); !errors.Is(err, c.want) {
				t.Errorf("it ended with %v", err)
			}
		})
	}
}

// TestKeepAlive checks that blocks are written by the clock until the context ends.
func TestKeepAlive(t *testing.T) {
	t.Parallel()
	url := filled.Fresh(t)
	conn := pgtest.Connect(t, url)
	blocks := one(t, conn, "select count(*) from record_file")
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	start := time.Now()
	go func() {
		ended <- KeepAlive(ctx, url, func() time.Time {
			return noon.Add(time.Since(start))
		}, slog.New(slog.DiscardHandler))
	}()
	for one(t, conn, "select count(*) from record_file") < blocks+2 {
		select {
		case err := <-ended:
			t.Fatalf("it ended early with %v", err)
		case <-time.After(50 * time.Millisecond):
		}
	}
	cancel()
	if err := <-ended; err != nil {
		t.Errorf("it ended with %v", err)
	}
	sound(t, conn, false)
}
