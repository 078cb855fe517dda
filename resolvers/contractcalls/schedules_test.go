package contractcalls_test

import (
	"crypto/ed25519"
	"encoding/binary"
	"fmt"
	"math"
	"math/big"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/vm"
	"github.com/ethereum/go-ethereum/crypto"

	"heliograph/app/testing/testenv"
	"heliograph/internal/domain/evm/worldstate"
	"heliograph/internal/domain/ledger"
	"heliograph/storage"
	"heliograph/storage/demo"
	"heliograph/storage/evmstate"
	"heliograph/storage/transactions"
)

const (
	scheduleCall = "scheduleCall(address,uint256,uint256,uint64,bytes)"
	paidCall     = "scheduleCallWithPayer(address,address,uint256,uint256,uint64,bytes)"
	signedCall   = "executeCallOnPayerSignature(address,address,uint256,uint256,uint64,bytes)"
	native       = "scheduleNative(address,bytes,address)"
	capacity     = "hasScheduleCapacity(uint256,uint256)"
	system16b    = 0x16b
)

// hss returns a step that calls the schedule service.
func hss(want, signature string, args ...any) updating {
	return updating{to: system16b, signature: signature, args: args, want: want}
}

// scheduleOf returns the number of the demo network's schedule with a memo.
func scheduleOf(t *testing.T, memo string) int64 {
	t.Helper()
	list, err := transactions.Schedules(t.Context(), testenv.Shared(t).DB, ledger.ScheduleFilter{}, 0,
		storage.Page{Limit: 1000})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range list {
		if s.Memo() == memo {
			return s.EntityID.Num()
		}
	}
	t.Fatalf("no schedule is called %q", memo)
	return 0
}

// clock returns the second in which the newest block begins.
func (b *bench) clock(t *testing.T) int {
	t.Helper()
	s, err := b.reader.Open(t.Context(), evmstate.Request{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	return int(s.Block().Start) / 1_000_000_000
}

// TestSchedules schedules calls, and signs and deletes schedules. Each case runs first in a frame that reverts.
func TestSchedules(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	twice(t, b, append(plannedCalls(b.next(t), b.clock(t)), waiting(t)...))
}

func plannedCalls(next int64, start int) []updateCase {
	alice, bill, gauge, none := lz(demo.Alice), lz(demo.Carol), lz(demo.TideGauge), common.Address{}
	soon, data := start+100, []byte{1, 2, 3, 4}
	at := func(want string, num int64, signature string) updating {
		return updating{to: num, signature: signature, want: want}
	}
	second := func(u updating, num int64) updating {
		u.nth, u.want = 1, fmt.Sprint("true ", num)
		return u
	}
	static := func(u updating) updating {
		u.op, u.want = vm.STATICCALL, "false 0"
		return u
	}
	call := hss("true 22", scheduleCall, gauge, soon, 1_000_000, 5, data)
	return []updateCase{
		{"calls", now(), alice, []updating{
			static(call),
			call,
			hss("true 210", scheduleCall, gauge, soon, 1_000_000, 5, data),
			second(hss("", scheduleCall, gauge, soon, 1_000_000, 6, data), next+2),
			hss("true 22", paidCall, gauge, bill, soon, 1_000_000, 5, data),
			hss("true 22", signedCall, gauge, bill, soon, 1_000_000, 5, data),
			second(hss("", signedCall, gauge, bill, soon, 1_000_000, 7, data), next+5),
			hss("true 205", "authorizeSchedule(address)", lz(next+1)), // the creator has already signed
			at("true 205", next+1, "signSchedule()"),
			hss("false 201", "getScheduledCreateFungibleTokenInfo(address)", lz(next+1)),
			hss("false 201", "getScheduledCreateNonFungibleTokenInfo(address)", lz(next+1)),
			static(hss("", "deleteSchedule(address)", lz(next+1))),
			hss("true 22", "deleteSchedule(address)", lz(next+1)),
			hss("true 212", "deleteSchedule(address)", lz(next+1)),
			at("true 212", next+1, "signSchedule()"),
			at("true 22", next+2, "deleteSchedule()"),
			hss("false 19", "getScheduledCreateFungibleTokenInfo(address)", lz(next+1)),
			{to: system167, signature: "isToken(address)", args: []any{lz(next + 3)}, want: "true 0", nth: 1},
			call, // the same call again, after its schedule was deleted
		}},
		{"calls that are not possible", now(), alice, []updating{
			hss("true 16", scheduleCall, none, soon, 1_000_000, 5, data),
			hss("true 96", scheduleCall, gauge, soon, 1_000_000, uint64(math.MaxUint64), data),
			hss("true 307", scheduleCall, gauge, start, 1_000_000, 5, data),
			hss("true 306", scheduleCall, gauge, start+62*86_400+1, 1_000_000, 5, data),
			hss("true 306", scheduleCall, gauge, new(big.Int).Lsh(common.Big1, 200), 1_000_000, 5, data),
			hss("true 370", scheduleCall, gauge, soon, 15_000_001, 5, data),
			hss("true 203", paidCall, gauge, lz(missing), soon, 1_000_000, 5, data),
			hss("true 203", signedCall, gauge, lz(missing), soon, 1_000_000, 5, data),
			static(hss("", paidCall, gauge, bill, soon, 1_000_000, 5, data)),
			static(hss("", signedCall, gauge, bill, soon, 1_000_000, 5, data)),
		}},
		{"capacity", now(), alice, []updating{
			hss("true 1", capacity, soon, 15_000_000),
			hss("true 0", capacity, soon, 15_000_001),
			hss("true 0", capacity, start, 1),
			hss("true 0", capacity, start+62*86_400+1, 1),
			hss("true 1", capacity, start+62*86_400, 1),
			hss("true 0", capacity, new(big.Int).Lsh(common.Big1, 255), 1),
			hss("true 0", capacity, soon, new(big.Int).Lsh(common.Big1, 255)),
			hss("true 22", scheduleCall, gauge, soon, 9_000_000, 5, data),
			hss("true 1", capacity, soon, 6_000_000),
			hss("true 0", capacity, soon, 6_000_001),
			hss("true 1", capacity, soon+1, 6_000_001),
			hss("true 370", scheduleCall, gauge, soon, 9_000_000, 6, data),
		}},
		{"by a contract", now(), lz(demo.Tollgate), []updating{
			call,
			hss("true 205", "authorizeSchedule(address)", lz(next+1)),
			hss("true 22", "deleteSchedule(address)", lz(next+1)),
		}},
		{"of missing accounts", now(), alice, []updating{
			hss("true 201", "authorizeSchedule(address)", lz(missing)),
			hss("true 201", "deleteSchedule(address)", alice),
			hss("true 201", "deleteSchedule(address)", stranger()),
			hss("false 19", "getScheduledCreateFungibleTokenInfo(address)", lz(missing)),
			hss("false 19", "getScheduledCreateNonFungibleTokenInfo(address)", alice),
		}},
	}
}

// waiting returns cases with the pending schedules of the demo network.
func waiting(t *testing.T) []updateCase {
	t.Helper()
	bell, mole := scheduleOf(t, "New bell for the fog signal"), scheduleOf(t, "Painting of the east mole")
	executed, deleted := scheduleOf(t, "Rent of the boat shed"), scheduleOf(t, "A gift that was thought better of")
	expired := scheduleOf(t, "Nobody else signed this")
	alice, dave, tollgate := lz(demo.Alice), lz(demo.Dave), lz(demo.Tollgate)
	bySecp256k1 := ecPrivate(t, "Bob")
	message := func(num int64) []byte {
		return binary.BigEndian.AppendUint64(make([]byte, 16), uint64(num))
	}
	ed := func(name string, num int64) []byte {
		key := edPrivate(name)
		return pair(key.Public().(ed25519.PublicKey), 3, ed25519.Sign(key, message(num)))
	}
	ec := pair(crypto.CompressPubkey(&bySecp256k1.PublicKey),
		6, sign(t, crypto.Keccak256(message(bell)), bySecp256k1)[:64])
	bySignature := func(want string, num int64, signatures []byte) updating {
		return hss(want, "signSchedule(address,bytes)", lz(num), signatures)
	}
	static := bySignature("false 0", bell, ed("Judy", bell))
	static.op = vm.STATICCALL
	own := func(want string, num int64, signature string, op vm.OpCode) updating {
		return updating{to: num, signature: signature, want: want, op: op}
	}
	return []updateCase{
		{"a schedule of the ledger", now(), dave, []updating{
			own("false 0", bell, "signSchedule()", vm.STATICCALL),
			own("false 0", bell, "deleteSchedule()", vm.STATICCALL),
			own("true 22", bell, "signSchedule()", 0),
			hss("true 205", "authorizeSchedule(address)", lz(bell)),
			hss("true 22", "authorizeSchedule(address)", lz(mole)),
			own("true 22", bell, "deleteSchedule()", 0),
			hss("true 212", "authorizeSchedule(address)", lz(bell)),
			hss("true 202", "deleteSchedule(address)", lz(mole)),
			hss("true 213", "authorizeSchedule(address)", lz(executed)),
			hss("true 213", "deleteSchedule(address)", lz(executed)),
			hss("true 212", "deleteSchedule(address)", lz(deleted)),
			hss("true 201", "deleteSchedule(address)", lz(expired)),
			hss("false 201", "getScheduledCreateFungibleTokenInfo(address)", lz(bell+1)),
		}},
		{"signer has signed", now(), alice, []updating{hss("true 205", "authorizeSchedule(address)", lz(bell))}},
		{
			"signer without a key", now(), lz(demo.Judy),
			[]updating{hss("true 205", "authorizeSchedule(address)", lz(bell))},
		},
		{
			"whose key has parts", now(), lz(demo.Carol),
			[]updating{hss("true 22", "authorizeSchedule(address)", lz(bell))},
		},
		{
			"whose key is a threshold", now(), lz(demo.Frank),
			[]updating{hss("true 22", "authorizeSchedule(address)", lz(bell))},
		},
		{"a contract signs", now(), tollgate, []updating{
			hss("true 22", "authorizeSchedule(address)", lz(bell)),
			hss("true 205", "authorizeSchedule(address)", lz(bell)),
		}},
		{"signatures", now(), alice, []updating{
			static,
			bySignature("false 50", bell, nil),
			bySignature("false 50", bell, []byte{0xff}),
			bySignature("false 7", bell, ed("Judy", mole)),
			bySignature("false 7", bell, append(ed("Judy", bell), ed("Frank", mole)...)),
			bySignature("false 7", bell, pair(edPrivate("Judy").Public().(ed25519.PublicKey)[:12],
				3, make([]byte, 64))),
			bySignature("true 22", bell, append(ed("Judy", bell), ec...)),
			bySignature("true 205", bell, ec),
			bySignature("true 205", bell, ed("Alice", bell)),
			bySignature("true 22", bell, append(ed("Alice", bell), ed("Frank", bell)...)),
			bySignature("true 201", missing, ed("Judy", missing)),
		}},
		{"366 days ago", ago(366), dave, []updating{hss("true 201", "authorizeSchedule(address)", lz(executed))}},
	}
}

// TestNative schedules calls of the token service. Each case runs first in a frame that reverts.
func TestNative(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	next := b.next(t)
	alice, none := lz(demo.Alice), common.Address{}
	fee := []any{[]any{5, lz(demo.Sunlight), false, false, lz(demo.Victor)}}
	later := func(want string, signature string, args ...any) updating {
		return hss(want, native, lz(system167), input(t, signature, args...), alice)
	}
	info := func(want string, nth int, kind string, num int64) updating {
		u := hss(want, "getScheduledCreate"+kind+"TokenInfo(address)", lz(num))
		u.nth = nth
		return u
	}
	static := later("false 0", createUnits, gull(), 500, 2)
	static.op = vm.STATICCALL
	address := later(fmt.Sprint("true ", next+3), createUnits, gull(), 600, 2)
	address.nth = 1
	twice(t, b, []updateCase{
		{"creations", now(), alice, []updating{
			static,
			later("true 22", createUnits, gull(), 500, 2),
			later("true 210", createUnits, gull(), 500, 2),
			later("true 22", createNFTFees, gull(), fee, []any{}),
			address,
			info("true 22", 0, "Fungible", next+1),
			info("true 2", 3, "Fungible", next+1),
			info("true 500", 5, "Fungible", next+1),
			info("false 201", 0, "NonFungible", next+1),
			info("true 22", 0, "NonFungible", next+2),
			info("true 0", 3, "NonFungible", next+2),
			info("false 201", 0, "Fungible", next+2),
			{to: system167, signature: "isToken(address)", args: []any{lz(next + 1)}, want: "true 0", nth: 1},
			{to: next + 1, signature: "deleteSchedule()", want: "true 22"},
			info("false 19", 0, "Fungible", next+1),
		}},
		{"updates", now(), alice, []updating{
			later("true 22", updateInfo, lz(demo.Sunlight), aToken("Later", "", none, "", []any{})),
			later("true 22", updateExpiry, lz(demo.Sunlight), []any{4_000_000_000, none, 0}),
			later("true 22", updateKeys, lz(demo.Sunlight), []any{}),
			info("false 201", 0, "Fungible", next+1),
		}},
		{"what cannot be", now(), alice, []updating{
			later("true 207", "deleteToken(address)", lz(demo.Sunlight)),
			hss("true 207", native, lz(system16a), input(t, createUnits, gull(), 500, 2), alice),
			hss("true 207", native, lz(system167), []byte{1, 2, 3, 4}, alice),
			hss("true 207", native, lz(system167), []byte{1, 2, 3}, alice),
			hss("true 203", native, lz(system167), input(t, createUnits, gull(), 500, 2), lz(missing)),
			hss("true 50", native, lz(system167), input(t, createUnits, gull(), 500, 2)[:100], alice),
			later("true 174", createUnits, with(gull(), symbolAt, ""), 500, 2),
			info("false 19", 0, "Fungible", next+1),
		}},
	})
}

// TestScheduleGas compares the gas of schedule functions with the network's prices.
func TestScheduleGas(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	bell := scheduleOf(t, "New bell for the fog signal")
	soon := b.clock(t) + 100
	for _, c := range []struct {
		data []byte
		gas  uint64
	}{
		// 1,000,851,999,000 / 852,000 = 1174708 and 234941
		{input(t, scheduleCall, lz(demo.TideGauge), soon, 1, 0, []byte{}), 1_409_649},
		// 100,851,999,000 / 852,000 = 118370 and 23674
		{input(t, native, lz(system167), input(t, updateKeys, lz(demo.Sunlight), []any{}), lz(demo.Alice)), 142_044},
		{input(t, "authorizeSchedule(address)", lz(bell)), 142_044},
		// 50,851,999,000 / 852,000 = 59685 and 11937
		{input(t, "deleteSchedule(address)", lz(bell)), 71_622},
	} {
		r := b.call(t, now(), lz(demo.Dave), lz(system16b), c.data)
		if got := r.GasUsed - intrinsic(c.data); got != c.gas || revertCode(r.Output[:32]) != 22 {
			t.Errorf("%x costs %d gas, want %d: %x", c.data[:4], got, c.gas, r.Output)
		}
	}
	data := input(t, capacity, soon, 1)
	if r := b.call(t, now(), lz(demo.Judy), lz(system16b), data); r.GasUsed-intrinsic(data) != viewGas ||
		revertCode(r.Output) != 1 {
		t.Errorf("looking for capacity: %d gas, %x", r.GasUsed, r.Output)
	}
}

// TestFormerSchedules reads a schedule before its last signature and before its execution.
func TestFormerSchedules(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	rent := scheduleOf(t, "Rent of the boat shed")
	s, err := b.reader.Open(t.Context(), evmstate.Request{})
	if err != nil {
		t.Fatal(err)
	}
	found, err := s.Schedule(t.Context(), ledger.EntityID(rent))
	s.Close()
	if err != nil || found == nil || len(found.Signatures) < 2 {
		t.Fatalf("%v: %+v", err, found)
	}
	for _, c := range []struct {
		before ledger.Timestamp
		want   string
	}{
		{found.CreatedTimestamp, "201"},
		{found.Signatures[len(found.Signatures)-1].ConsensusTimestamp, "22"},
		{found.ExecutedTimestamp.V, "205"},
	} {
		sign := step{to: lz(system16b), data: input(t, "authorizeSchedule(address)", lz(rent))}
		if got := b.as(t, worldstate.BlockRef{Before: c.before}, lz(demo.Bob), sign); got[0].word.String() != c.want {
			t.Errorf("before %s: got %s, want %s", c.before, got[0].word, c.want)
		}
	}
}
