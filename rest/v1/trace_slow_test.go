//go:build slow

package v1_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"net/http"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"heliograph/app/testing/testenv"
	"heliograph/storage/demo"
	"heliograph/storage/pgtest"
)

// longHash is the hash of a transaction with many steps.
const longHash = "fefefefefefefefefefefefefefefefefefefefefefefefefefefefefefefefe"

// manySteps is the demo network with a transaction that counts to a hundred thousand.
var manySteps = &pgtest.Template{
	Name: "manysteps", From: testenv.Filled,
	Prepare: func(ctx context.Context, url string) error {
		conn, err := pgx.Connect(ctx, url)
		if err != nil {
			return err
		}
		defer func() { _ = conn.Close(ctx) }() // all statements were committed
		counts := "dc715d1b" + strings.Repeat("0", 59) + "186a0"
		for _, sql := range []string{
			"create temp table result as select * from contract_result where contract_id = " +
				strconv.Itoa(demo.Furnace) +
				" order by consensus_timestamp desc limit 1",
			"update result set consensus_timestamp = consensus_timestamp + 1, gas_limit = 15000000, " +
				"function_parameters = '\\x" + counts + "'",
			"insert into contract_result select * from result",
			"insert into contract_transaction_hash (consensus_timestamp, hash, payer_account_id, entity_id, " +
				"transaction_result) select consensus_timestamp, '\\x" +
				longHash + "', payer_account_id, contract_id, 22 from result",
		} {
			if _, err := conn.Exec(ctx, sql); err != nil {
				return err
			}
		}
		return nil
	},
}

// TestLongResponse reads a trace of a million steps over HTTP. Neither the server nor the client, which share a
// process, may buffer it.
func TestLongResponse(t *testing.T) {
	g := testenv.Over(t, manySteps.Shared(t), func(o *testenv.Options) { o.RequestTimeout = 5 * time.Minute },
		func(o *testenv.Options) {
			o.EVM.Timeout = 5 * time.Minute
		})
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet,
		g.URL+"/api/v1/contracts/results/0x"+longHash+"/opcodes?memory=true&storage=true", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Accept-Encoding", "gzip")
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }() // it was read to its end
	if resp.StatusCode != http.StatusOK {
		t.Fatal(resp.Status)
	}
	zip, err := gzip.NewReader(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	var (
		stats       runtime.MemStats
		first, most uint64
		steps       int
		buf         = make([]byte, 1<<20)
		tail        []byte
	)
	for n := 0; ; n++ {
		read, err := io.ReadFull(zip, buf)
		steps += bytes.Count(append(tail, buf[:read]...), []byte(`{"depth":`))
		tail = append([]byte{}, buf[max(0, read-len(`{"depth":`)+1):read]...)
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if n%50 == 10 {
			runtime.GC()
			runtime.ReadMemStats(&stats)
			if first == 0 {
				first = stats.HeapAlloc
			}
			most = max(most, stats.HeapAlloc)
		}
	}
	t.Logf("%d steps, the heap grew from %d to %d bytes", steps, first, most)
	if steps < 1_000_000 {
		t.Errorf("only %d steps", steps)
	}
	if most > first+2<<20 {
		t.Errorf("the heap grew from %d to %d bytes", first, most)
	}
}

// TestPointEvaluation checks that the first point evaluation of a process holds no connection during the set-up, which
// takes seconds.
func TestPointEvaluation(t *testing.T) {
	t.Parallel()
	g := testenv.Demo(t, func(o *testenv.Options) {
		o.RequestTimeout, o.EVM.Timeout, o.Storage.MaxConnections = 5*time.Minute, 5*time.Minute, 1
	})
	commitment := "c0" + strings.Repeat("0", 94)
	data := "010657f37554c781402a22917dee2f75def7ab966d7b770905398eba3c444014" + strings.Repeat("0", 128) +
		commitment + commitment
	done := make(chan *testenv.Response)
	go func() { done <- call(t, g, `{"to":"000000000000000000000000000000000000000a","data":"`+data+`"}`) }()
	queries := 0
	for {
		select {
		case got := <-done:
			if want := `{"result":"0x` + strings.Repeat("0", 60) + "1000" +
				"73eda753299d7d483339d80809a1d80553bda402fffe5bfeffffffff00000001" + `"}`; got.Body != want {
				t.Errorf("status %d, %s", got.Status, got.Body)
			}
			if queries < 100 {
				t.Errorf("only %d queries ran during the set-up", queries)
			}
			return
		default:
			if err := g.DB.Pool().Ping(t.Context()); err != nil {
				t.Fatal(err)
			}
			queries++
		}
		time.Sleep(time.Millisecond)
	}
}
