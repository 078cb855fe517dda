package evm_test

import (
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"heliograph/app/testing/testenv"
	"heliograph/internal/domain/evm"
	"heliograph/internal/domain/evm/worldstate"
	"heliograph/internal/domain/ledger"
	"heliograph/storage/entities"
	"heliograph/storage/evmstate"
	"heliograph/storage/pgtest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// coin is the demo network's fungible token, and holder is an account with a balance of it.
const (
	coin   = 3001
	holder = 1017
)

// balanceOf returns a message that reads the coin balance of holder.
func balanceOf() evm.Message {
	msg := to(coin, common.FromHex("70a08231"), word(holder))
	msg.From = ledger.Null[ledger.EVMAddress]{}
	return msg
}

// open starts a simulation on the demo network.
func open(
	t testing.TB, m *evm.Machine, reader *evmstate.Reader, ref worldstate.BlockRef, msg evm.Message,
) (*evm.Simulation, *evmstate.Snapshot) {
	t.Helper()
	r := evmstate.Request{Block: ref, Addresses: []ledger.EVMAddress{lz(treasury), msg.To.V}, Callee: msg.To.V}
	copy(r.Selector[:], msg.Data)
	s, err := reader.Open(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	return m.Begin(t.Context(), s, s.Block()), s
}

// TestTrips counts round trips to the database. Values that one call read one by one are read ahead at once by the
// next call.
func TestTrips(t *testing.T) {
	t.Parallel()
	db := testenv.Shared(t).DB
	for _, c := range []struct {
		name       string
		ref        worldstate.BlockRef
		cache      uint64
		first, own int
	}{
		{"now", worldstate.BlockRef{}, 1 << 20, 2, 1},
		{"now, without memory", worldstate.BlockRef{}, 0, 2, 2},
		{"then", worldstate.BlockRef{Number: ledger.Of[int64](1500)}, 1 << 20, 3, 2},
	} {
		reader, machine := evmstate.NewReader(db, entities.NewCallPrices(db), c.cache), newMachine()
		for i, want := range []int{c.first, c.own} {
			sim, snapshot := open(t, machine, reader, c.ref, balanceOf())
			r, err := sim.Call(balanceOf())
			if err != nil || r.Failed() || len(r.Output) != 32 {
				t.Fatal(err, r)
			}
			if got := snapshot.Trips(); got != want {
				t.Errorf("%s, call %d: %d round trips, want %d", c.name, i+1, got, want)
			}
			snapshot.Close()
		}
	}
}

// BenchmarkBalanceOf compares a call through HTTP with its unavoidable parts: the EVM run and one database round trip.
func BenchmarkBalanceOf(b *testing.B) {
	g := testenv.Demo(b, func(o *testenv.Options) {
		o.REST.Cache = true
	}, func(o *testenv.Options) {
		o.EVM.RequestsPerSecond, o.EVM.GasPerSecond = 1<<40, 1<<60
	})
	reader, machine, msg := evmstate.NewReader(g.DB, entities.NewCallPrices(g.DB), 1<<20), newMachine(), balanceOf()
	warm := func() *evmstate.Snapshot {
		sim, snapshot := open(b, machine, reader, worldstate.BlockRef{}, msg)
		if r, err := sim.Call(msg); err != nil || r.Failed() {
			b.Fatal(err, r)
		}
		return snapshot
	}
	warm().Close()
	running := warm()
	defer running.Close()
	body := fmt.Sprintf(`{"to":"0x%040x","data":"0x%s"}`, coin, hex.EncodeToString(msg.Data))
	client := &http.Client{Timeout: time.Minute}
	ways := []struct {
		name string
		once func()
		took time.Duration
	}{
		{"machine", func() {
			if r, err := machine.Begin(b.Context(), running, running.Block()).Call(msg); err != nil || r.Failed() {
				b.Fatal(err, r)
			}
		}, 0},
		{"batch", func() {
			_, snapshot := open(b, machine, reader, worldstate.BlockRef{}, msg)
			snapshot.Close()
		}, 0},
		{"http", func() {
			//nolint:noctx // the client has a timeout
			resp, err := client.Post(g.URL+"/api/v1/contracts/call", "application/json", strings.NewReader(body))
			if err != nil || resp.StatusCode != http.StatusOK {
				b.Fatal(err, resp)
			}
			if _, err := io.Copy(io.Discard, resp.Body); err != nil { // required for reuse of the connection
				b.Fatal(err)
			}
			if err := resp.Body.Close(); err != nil {
				b.Fatal(err)
			}
		}, 0},
	}
	const perTurn = 10
	rounds := 0
	for b.Loop() {
		for i := range ways {
			w := &ways[(i+rounds)%len(ways)]
			start := time.Now()
			for range perTurn {
				w.once()
			}
			w.took += time.Since(start)
		}
		rounds++
	}
	for _, w := range ways {
		b.ReportMetric(float64(w.took.Microseconds())/float64(rounds*perTurn), w.name+"-µs")
	}
	b.ReportMetric(ways[2].took.Seconds()/(ways[0].took+ways[1].took).Seconds(), "http/(machine+batch)")
}
