package evm_test

import (
	"math/big"
	"testing"

	"github.com/ethereum/go-ethereum/common"

	"heliograph/internal/evm"
	"heliograph/internal/ledger"
	"heliograph/internal/pgtest"
	"heliograph/internal/testenv"
	"heliograph/storage"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// The contracts of the demo network.
const (
	coin = 3001
)

// open begins a simulation on the demo network.
func open(t testing.TB, reader *storage.EVM, ref ledger.EVMBlockRef, msg evm.Message) (*evm.Simulation, *storage.EVMSnapshot) {
	t.Helper()
	r := storage.EVMRequest{Block: ref, Addresses: []ledger.EVMAddress{msg.To.V, lz(2)}, Callee: msg.To.V}
	copy(r.Selector[:], msg.Data)
	s, err := reader.Open(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return newMachine().Begin(t.Context(), s, s.Block()), s
}

func TestSmoke(t *testing.T) {
	t.Parallel()
	reader := testenv.Demo(t).DB.NewEVM(1 << 20)
	for _, ref := range []ledger.EVMBlockRef{{}, {Earliest: true}, {Before: ledger.TimestampOf(testenv.Now().AddDate(0, -1, 0))}} {
		for range 2 {
			msg := to(coin, common.FromHex("18160ddd"))
			msg.From = ledger.Null[ledger.EVMAddress]{}
			sim, snap := open(t, reader, ref, msg)
			r, err := sim.Call(msg)
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("block %d: %s %s, %d gas, %d trips", snap.Block().Number, r.Code, new(big.Int).SetBytes(r.Output), r.GasUsed, snap.Trips())
			snap.Close()
		}
	}
}
