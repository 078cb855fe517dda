package evm_test

import (
	"context"
	"encoding/hex"
	"errors"
	"math/big"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"

	"heliograph/internal/domain/evm"
	"heliograph/internal/domain/evm/worldstate"
	"heliograph/internal/domain/ledger"
	"heliograph/internal/domain/ledger/codes"
)

func TestOpcodesByLevel(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name, code string
		since      evm.Level
	}{
		{"BASEFEE", "BASEFEE STOP", evm.Level30},
		{"PUSH0", "PUSH0 STOP", evm.Level38},
		{"TLOAD", "0x00 TLOAD STOP", evm.Level50},
		{"TSTORE", "0x01 0x00 TSTORE STOP", evm.Level50},
		{"MCOPY", "0x20 0x20 0x00 MCOPY STOP", evm.Level50},
		{"BLOBHASH", "0x00 BLOBHASH STOP", evm.Level50},
		{"BLOBBASEFEE", "BLOBBASEFEE STOP", evm.Level50},
		{
			"a point of BLS12-381",
			"0x80 0x00 0x0100 0x00 0x00 0x0b 0xffff CALL RETURNDATASIZE 0x80 EQ @ok JUMPI INVALID :ok STOP",
			evm.Level70,
		},
		{"a code that no level has", "0x00 0x00 CLZ STOP", evm.NewestLevel + 1},
	}
	for _, c := range cases {
		for level := evm.Level30; level <= evm.NewestLevel; level++ {
			m := evm.New(evm.Config{Level: func(evm.Block) evm.Level { return level }})
			r := run(t, m, world(t, c.code), to(target))
			want := codes.Success
			if level < c.since {
				want = codes.ContractExecutionException
			}
			if r.Code != want {
				t.Errorf("%s at level %d: got %s, want %s", c.name, level, r.Code, want)
			}
		}
	}
}

func TestLevelAt(t *testing.T) {
	t.Parallel()
	for block, want := range map[int64]evm.Level{
		0: evm.Level30, 44_029_065: evm.Level30, 44_029_066: evm.Level34, 49_117_794: evm.Level38,
		60_258_041: evm.Level38, 60_258_042: evm.Level46,
		65_435_845: evm.Level50, 66_602_102: evm.Level51, 85_011_472: evm.Level51, 87_129_574: evm.Level51,
		87_129_575: evm.Level67, 1 << 40: evm.Level67,
	} {
		if got := evm.LevelAt(evm.ChainIDMainnet, ledger.Null[int64]{}, evm.Block{Number: block}); got != want {
			t.Errorf("block %d: got level %d, want %d", block, got, want)
		}
	}
	hapi := func(major, minor int32) ledger.Null[worldstate.HAPIVersion] {
		return ledger.Of(worldstate.HAPIVersion{Major: major, Minor: minor})
	}
	for _, c := range []struct {
		name   string
		chain  uint64
		prague ledger.Null[int64]
		block  evm.Block
		want   evm.Level
	}{
		{"another chain", evm.ChainIDTestnet, ledger.Null[int64]{}, evm.Block{}, evm.Level70},
		{
			"another chain with an older API", evm.ChainIDTestnet,
			ledger.Null[int64]{},
			evm.Block{HAPI: hapi(0, 76)},
			evm.Level70,
		},
		{
			"another chain, before its block", evm.ChainIDTestnet, ledger.Of[int64](10),
			evm.Block{Number: 9, HAPI: hapi(0, 77)},
			evm.Level67,
		},
		{"another chain, at its block", evm.ChainIDTestnet, ledger.Of[int64](10), evm.Block{Number: 10}, evm.Level70},
		{
			"mainnet, older API", evm.ChainIDMainnet,
			ledger.Null[int64]{},
			evm.Block{Number: 90_000_000, HAPI: hapi(0, 76)},
			evm.Level67,
		},
		{
			"mainnet, first API", evm.ChainIDMainnet,
			ledger.Null[int64]{},
			evm.Block{Number: 90_000_000, HAPI: hapi(0, 77)},
			evm.Level70,
		},
		{
			"mainnet, later API", evm.ChainIDMainnet,
			ledger.Null[int64]{},
			evm.Block{Number: 90_000_000, HAPI: hapi(1, 0)},
			evm.Level70,
		},
		{
			"mainnet, before the setting", evm.ChainIDMainnet, ledger.Of[int64](95_000_000),
			evm.Block{Number: 94_999_999, HAPI: hapi(0, 77)},
			evm.Level67,
		},
		{
			"mainnet, at the setting", evm.ChainIDMainnet, ledger.Of[int64](95_000_000),
			evm.Block{Number: 95_000_000, HAPI: hapi(0, 76)},
			evm.Level70,
		},
	} {
		if got := evm.LevelAt(c.chain, c.prague, c.block); got != c.want {
			t.Errorf("%s: got level %d, want %d", c.name, got, c.want)
		}
	}
}

func TestEnvironment(t *testing.T) {
	t.Parallel()
	code := `CHAINID 0x00 MSTORE NUMBER 0x20 MSTORE TIMESTAMP 0x40 MSTORE DIFFICULTY 0x60 MSTORE COINBASE 0x80 MSTORE BASEFEE 0xa0 MSTORE
		GASLIMIT 0xc0 MSTORE CALLER 0xe0 MSTORE ADDRESS 0x0100 MSTORE CALLVALUE 0x0120 MSTORE ORIGIN 0x0140 MSTORE GASPRICE 0x0160 MSTORE
		BLOBBASEFEE 0x0180 MSTORE SELFBALANCE 0x01a0 MSTORE 0x01c0 0x00 RETURN`
	msg := to(target)
	msg.Value, msg.From = 3, ledger.Of(alias)
	r := run(t, newMachine(), world(t, code), msg)
	got := words(r.Output)
	want := []common.Hash{
		common.BigToHash(big.NewInt(0x128)), common.BigToHash(big.NewInt(block)),
		common.BigToHash(big.NewInt(1_700_000_000)), hashOf(block),
		common.BigToHash(big.NewInt(98)),
		{},
		common.BigToHash(big.NewInt(15_000_000)), common.BytesToHash(alias[:]),
		common.BigToHash(big.NewInt(target)), common.BigToHash(big.NewInt(3)), common.BytesToHash(alias[:]),
		common.BigToHash(big.NewInt(71)),
		common.BigToHash(big.NewInt(1)), common.BigToHash(big.NewInt(80)),
	}
	if len(got) != len(want) {
		t.Fatalf("got %d words, failure %s", len(got), r.Code)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("word %d: got %s, want %s", i, got[i], want[i])
		}
	}
}

func TestParisDifficulty(t *testing.T) {
	t.Parallel()
	for level, want := range map[evm.Level]common.Hash{evm.Level30: {}, evm.Level34: hashOf(block)} {
		m := evm.New(evm.Config{Level: func(evm.Block) evm.Level { return level }})
		if got := run(t, m, world(t, "DIFFICULTY"+returnWord), to(target)); common.BytesToHash(got.Output) != want {
			t.Errorf("level %d: got %x", level, got.Output)
		}
	}
}

func TestBlockHash(t *testing.T) {
	t.Parallel()
	src := world(t, `0x00 CALLDATALOAD BLOCKHASH 0x00 MSTORE NUMBER 0x20 MSTORE 0x40 0x00 RETURN`)
	for number, want := range map[int64]common.Hash{
		block: hashOf(block), block - 1: hashOf(block - 1), block - 255: hashOf(block - 255), block - 256: {},
		block - 257: {}, 0: {}, block + 1: {}, 1 << 60: {},
	} {
		sim := begin(t, newMachine(), src)
		before := src.reads.Load()
		r, err := sim.Call(to(target, word(number)))
		if err != nil {
			t.Fatal(err)
		}
		got := words(r.Output)
		if len(got) != 2 || got[0] != want || got[1] != common.BigToHash(big.NewInt(block)) {
			t.Errorf("block %d: got %v", number, got)
		}
		if read := src.reads.Load() - before; want == (common.Hash{}) && read > 1 {
			t.Errorf("block %d: %d reads besides that of the accounts", number, read-1)
		}
	}
	// The example of the specification: at block 1000, blocks 745 to 1000 have a hash.
	for number, want := range map[int64]common.Hash{1001: {}, 1000: hashOf(1000), 745: hashOf(745), 744: {}, 0: {}} {
		sim := newMachine().Begin(t.Context(), src, evm.Block{Number: 1000, Hash: hashOf(1000)})
		if r, err := sim.Call(to(target, word(number))); err != nil || words(r.Output)[0] != want {
			t.Errorf("block %d at block 1000: got %v, %v", number, r, err)
		}
	}
	wide := evm.New(evm.Config{BlockHashWindow: 300})
	for number, want := range map[int64]common.Hash{block - 299: hashOf(block - 299), block - 300: {}} {
		if got := words(run(t, wide, src, to(target, word(number))).Output); got[0] != want {
			t.Errorf("block %d of a window of 300: got %v", number, got)
		}
	}
	src.blocks = 3
	if got := words(run(t, newMachine(), src, to(target, word(block-1))).Output); got[0] != (common.Hash{}) {
		t.Errorf("an unknown block has hash %s", got[0])
	}
}

// callCode calls an address from the call data with some input and value. It returns the success flag, the size of the
// return data and its first word.
const callCode = `0x40 CALLDATASIZE SUB 0x40 0x80 CALLDATACOPY
	0x20 0x00 0x40 CALLDATASIZE SUB 0x80 0x20 CALLDATALOAD 0x00 CALLDATALOAD GAS CALL
	0x20 MSTORE RETURNDATASIZE 0x40 MSTORE 0x60 0x00 RETURN`

func TestSystemContracts(t *testing.T) {
	t.Parallel()
	rate := func(selector string, v int64) []byte { return append(common.FromHex(selector), word(v)...) }
	src := world(t, callCode)
	cases := []struct {
		name string
		msg  evm.Message
		code ledger.ResponseCode
		want []int64
	}{
		{"cents to hbars", to(0x168, rate("2e3cff6a", 100)), codes.Success, []int64{8}},
		{"hbars to cents", to(0x168, rate("43a88229", 100)), codes.Success, []int64{1200}},
		{
			"from a contract", to(target, word(0x168), word(0), rate("43a88229", 100)), codes.Success,
			[]int64{1200, 1, 32},
		},
		{"empty data", to(0x168), codes.ContractExecutionException, nil},
		{"half a selector", to(0x168, []byte{1, 2}), codes.ContractExecutionException, nil},
		{"no argument", to(0x168, common.FromHex("43a88229")), codes.ContractExecutionException, nil},
		{"unknown function", to(0x168, rate("01020304", 1)), codes.Success, []int64{}},
		{"halt below", to(target, word(0x168), word(0), common.FromHex("43a88229")), codes.Success, []int64{0, 0, 0}},
		{
			"value from a contract", to(target, word(0x168), word(1), rate("43a88229", 100)), codes.InvalidContractID,
			nil,
		},
		{"value to a system account", to(target, word(0x2e4), word(1)), codes.InvalidContractID, nil},
		{"value to a precompiled contract", to(target, word(4), word(1)), codes.InvalidContractID, nil},
		{"a system account", to(0x2e4), codes.Success, []int64{}},
		{"identity", to(4, word(5)), codes.Success, []int64{5}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := run(t, newMachine(), src, c.msg)
			if r.Code != c.code {
				t.Fatalf("got %s, want %s", r.Code, c.code)
			}
			got := words(r.Output)
			if len(got) != len(c.want) {
				t.Fatalf("got %v", got)
			}
			for i, w := range c.want {
				if got[i].Big().Int64() != w {
					t.Errorf("word %d: got %s, want %d", i, got[i].Big(), w)
				}
			}
		})
	}
	msg := to(0x168, rate("43a88229", 1))
	msg.Value = 5
	if r := run(t, newMachine(), src, msg); r.Code != codes.InvalidContractID || r.GasUsed != msg.Gas {
		t.Errorf("value at the top level: got %s, %d gas", r.Code, r.GasUsed)
	}
	if r := run(t, newMachine(), src, to(0x2e4)); r.GasUsed != 15_000_000 {
		t.Errorf("a system account leaves gas: %d", 15_000_000-r.GasUsed)
	}
}

func TestPRNG(t *testing.T) {
	t.Parallel()
	r := run(t, newMachine(), world(t, ""), to(0x169, common.FromHex("d83bf9a1")))
	if common.BytesToHash(r.Output) != hashOf(block) {
		t.Errorf("got %x", r.Output)
	}
	if want := uint64(21_000+4*16) + evm.OperationGas(10_000_000, 852_000); r.GasUsed != want {
		t.Errorf("got %d gas, want %d", r.GasUsed, want)
	}
	if evm.ViewGas() != 2607 {
		t.Errorf("a view costs %d", evm.ViewGas())
	}
}

// TestHaltedCallerIsNested calls a contract that calls another one, which sends value to a system contract. The second
// contract fails and the first continues.
func TestHaltedCallerIsNested(t *testing.T) {
	t.Parallel()
	src := world(t, callCode)
	src.entities = append(src.entities, &worldstate.Entity{
		ID: 2001, Type: ledger.EntityContract,
		Balance: ledger.Of[int64](5), Code: src.entities[4].Code,
	})
	inner := append(append(word(0x168), word(1)...), common.FromHex("43a88229")...)
	r := run(t, newMachine(), src, to(target, word(2001), word(0), inner))
	if got := words(r.Output); r.Code != codes.Success || len(got) != 3 || got[1] != (common.Hash{}) ||
		got[2] != (common.Hash{}) {
		t.Errorf("got %s %v", r.Code, got)
	}
}

func TestSenders(t *testing.T) {
	t.Parallel()
	src := world(t, "CALLER"+returnWord)
	cases := []struct {
		name string
		from ledger.Null[ledger.EVMAddress]
		want ledger.Null[ledger.EVMAddress]
	}{
		{"missing account", ledger.Null[ledger.EVMAddress]{}, ledger.Of(lz(treasury))},
		{"zero", ledger.Of(ledger.EVMAddress{}), ledger.Of(lz(treasury))},
		{"a number", ledger.Of(lz(payer)), ledger.Of(lz(payer))},
		{"an alias", ledger.Of(alias), ledger.Of(alias)},
		{"the number of an aliased account", ledger.Of(lz(aliased)), ledger.Of(alias)},
		{"a contract", ledger.Of(lz(target)), ledger.Of(lz(treasury))},
		{"an unknown number", ledger.Of(lz(4999)), ledger.Null[ledger.EVMAddress]{}},
		{"an unknown alias", ledger.Of(ledger.EVMAddress{1}), ledger.Null[ledger.EVMAddress]{}},
		{"a token", ledger.Of(lz(token)), ledger.Null[ledger.EVMAddress]{}},
	}
	for _, c := range cases {
		msg := to(target)
		msg.From = c.from
		r := run(t, newMachine(), src, msg)
		if !c.want.Valid {
			if r.Code != codes.PayerAccountNotFound || !r.NoSender {
				t.Errorf("%s: got %s %t", c.name, r.Code, r.NoSender)
			}
			continue
		}
		if got := common.BytesToAddress(r.Output); got != common.Address(c.want.V) || r.Failed() {
			t.Errorf("%s: got %s %s", c.name, r.Code, got)
		}
	}
}

func TestAccountsAsContractsSeeThem(t *testing.T) {
	t.Parallel()
	src := world(t,
		`0x00 CALLDATALOAD BALANCE 0x00 MSTORE 0x00 CALLDATALOAD EXTCODESIZE 0x20 MSTORE 0x00 CALLDATALOAD `+
			`EXTCODEHASH 0x40 MSTORE 0x60 0x00 RETURN`)
	none, empty := common.Hash{}, crypto.Keccak256Hash(nil)
	cases := []struct {
		name    string
		at      []byte
		balance int64
		size    int64
		hash    common.Hash
	}{
		{"an account", word(payer), 1_000_000, 0, empty},
		{"an aliased account", common.LeftPadBytes(alias[:], 32), 42, 0, empty},
		{"the number of an aliased account", word(aliased), 0, 0, none},
		{"an account that owns nothing", word(signer), 0, 0, empty},
		{"missing account", word(4999), 0, 0, none},
		{"the treasury", word(treasury), 0, 0, none},
		{"a system contract", word(0x168), 0, 0, none},
		{"a reserved number", word(900), 0, 0, none},
		{"itself", word(target), 77, int64(len(src.entities[4].Code)), crypto.Keccak256Hash(src.entities[4].Code)},
	}
	for _, c := range cases {
		got := words(run(t, newMachine(), src, to(target, c.at)).Output)
		if len(got) != 3 || got[0].Big().Int64() != c.balance || got[1].Big().Int64() != c.size || got[2] != c.hash {
			t.Errorf("%s: got %v", c.name, got)
		}
	}
	for num, system := range map[int64]string{token: "610167905077618dc65e", schedule: "61016b9050775c3889ca"} {
		r := run(t, newMachine(), world(t, `0xc0 0x00 0x00 0x00 CALLDATALOAD EXTCODECOPY 0xc0 0x00 RETURN`),
			to(target, word(num)))
		address := lz(num)
		want := "6080604052348015600f57600080fd5b506000" + system + hex.EncodeToString(address[:]) +
			"600052366000602037600080366018016008845af4"
		if got := hex.EncodeToString(r.Output); got[:len(want)] != want {
			t.Errorf("the code of %d is %s", num, got)
		}
	}
}

func TestMissingAccounts(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name string
		msg  evm.Message
		code string
		from map[evm.Level]ledger.ResponseCode
	}{
		{"a call", to(4999), "", map[evm.Level]ledger.ResponseCode{
			evm.Level38: codes.InvalidContractID,
			evm.Level46: codes.Success,
		}},
		{
			"its balance", to(target), "0x1387 BALANCE POP STOP",
			map[evm.Level]ledger.ResponseCode{evm.Level38: codes.InvalidSolidityAddress, evm.Level46: codes.Success},
		},
		{
			"its code", to(target), "0x1387 EXTCODESIZE 0x00 SSTORE STOP",
			map[evm.Level]ledger.ResponseCode{evm.Level38: codes.InvalidSolidityAddress, evm.Level46: codes.Success},
		},
		{
			"a call by a contract", to(target, word(4999), word(0)), callCode,
			map[evm.Level]ledger.ResponseCode{evm.Level38: codes.InvalidSolidityAddress, evm.Level46: codes.Success},
		},
	}
	for _, c := range cases {
		for level, want := range c.from {
			m := evm.New(evm.Config{Level: func(evm.Block) evm.Level { return level }})
			if r := run(t, m, world(t, c.code), c.msg); r.Code != want {
				t.Errorf("%s at level %d: got %s, want %s", c.name, level, r.Code, want)
			}
		}
	}
}

func TestValue(t *testing.T) {
	t.Parallel()
	src := world(t, callCode)
	send := func(at ledger.EVMAddress, value int64) evm.Message {
		msg := evm.Message{From: ledger.Of(lz(payer)), To: ledger.Of(at), Gas: 15_000_000, Value: value}
		return msg
	}
	unknown := ledger.EVMAddress{1, 2, 3}
	cases := []struct {
		name string
		msg  evm.Message
		code ledger.ResponseCode
		gas  uint64
	}{
		{"to an account", send(lz(treasury+1000), 5), codes.Success, 21_000},
		{"more than it has, which counts as the minimum", send(alias, 5_000_000), codes.Success, 21_000},
		{"more than the minimum", send(alias, evm.DefaultMinimumBalance+1), codes.InsufficientPayerBalance, 0},
		{"to an unknown alias", send(unknown, 1), codes.Success, 570_000},
		{"to an unknown number", send(lz(4999), 1), codes.InvalidAliasKey, 0},
		{"to an account that requires a signature", send(lz(signer), 1), codes.InvalidSignature, 0},
		{
			"by a contract to an account that requires a signature", to(target, word(signer), word(1)),
			codes.InvalidSignature, 0,
		},
		{"by a contract to an account", to(target, common.LeftPadBytes(alias[:], 32), word(1)), codes.Success, 0},
	}
	for _, c := range cases {
		r := run(t, newMachine(), src, c.msg)
		if r.Code != c.code || c.gas != 0 && r.GasUsed != c.gas {
			t.Errorf("%s: got %s, %d gas", c.name, r.Code, r.GasUsed)
		}
	}
	if got := words(run(t, newMachine(), src, to(target, common.LeftPadBytes(alias[:], 32),
		word(78))).Output); got[1] != (common.Hash{}) {
		t.Error("a contract sent more than it owns")
	}
	m := evm.New(evm.Config{MinimumBalance: evm.DefaultMinimumBalance, ValidatePayer: true})
	if r := run(t, m, src, send(alias, 5_000_000)); r.Code != codes.InsufficientPayerBalance {
		t.Errorf("payer with insufficient balance: got %s", r.Code)
	}
}

// TestValueOfNewContract checks that a contract that requires a signature to receive value can give some to a contract
// that it creates, also in a call of itself.
func TestValueOfNewContract(t *testing.T) {
	t.Parallel()
	const create = `0x00 0x00 0x01 CREATE` + returnWord
	for name, c := range map[string]struct {
		code    string
		created bool
	}{
		"in a call of another": {create, true},
		"in a call of itself": {
			`ADDRESS CALLER EQ @itself JUMPI 0x20 0x00 0x00 0x00 0x00 ADDRESS GAS CALL POP 0x20 0x00 RETURN :itself ` +
				create, true,
		},
		"in a call of itself with value": {
			`ADDRESS CALLER EQ @itself JUMPI 0x20 0x00 0x00 0x00 0x01 ADDRESS GAS CALL POP 0x20 0x00 RETURN :itself ` +
				create, false,
		},
	} {
		src := world(t, c.code)
		src.entities[4].ReceiverSigRequired = true
		r := run(t, newMachine(), src, to(target))
		if created := !r.Failed() && words(r.Output)[0] != (common.Hash{}); created != c.created {
			t.Errorf("%s: got %s, %x", name, r.Code, r.Output)
		}
	}
}

func TestCreation(t *testing.T) {
	t.Parallel()
	// The constructor returns its own address, the size of its code and the received value.
	src := world(t, "")
	msg := evm.Message{From: ledger.Of(lz(payer)), Gas: 15_000_000, Value: 7, Data: assemble(t,
		`ADDRESS 0x00 MSTORE ADDRESS EXTCODESIZE 0x20 MSTORE CALLVALUE 0x40 MSTORE 0x60 0x00 RETURN`)}
	r := run(t, newMachine(), src, msg)
	got := words(r.Output)
	if r.Failed() || len(got) != 3 || got[0].Big().Int64() != 6001 || got[1] != (common.Hash{}) ||
		got[2] != (common.Hash{}) {
		t.Fatalf("got %s %v", r.Code, got)
	}
	if r.Contract != lz(6001) {
		t.Errorf("got address %s", r.Contract)
	}
	for name, c := range map[string]struct {
		init string
		code ledger.ResponseCode
	}{
		"code too large":      {"0x6001 0x00 RETURN", codes.ContractExecutionException},
		"code of a container": {"0xef 0x00 MSTORE8 0x01 0x00 RETURN", codes.ContractExecutionException},
		"revert":              {"0x01 0x00 REVERT", codes.ContractRevertExecuted},
	} {
		msg.Data = assemble(t, c.init)
		if r := run(t, newMachine(), src, msg); r.Code != c.code {
			t.Errorf("%s: got %s, want %s", name, r.Code, c.code)
		}
	}
	msg.Data, msg.Gas = assemble(t, "0x1000 0x00 RETURN"), 100_000
	if r := run(t, newMachine(), src, msg); r.Code != codes.InsufficientGas {
		t.Errorf("no gas for the code: got %s", r.Code)
	}
}

func TestFailures(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name, code string
		want       ledger.ResponseCode
		output     string
	}{
		{"revert without data", "0x00 0x00 REVERT", codes.ContractRevertExecuted, ""},
		{"revert with data", "0xaabb 0x00 MSTORE 0x02 0x1e REVERT", codes.ContractRevertExecuted, "aabb"},
		{"undefined opcode", "INVALID", codes.ContractExecutionException, ""},
		{"stack underflow", "ADD", codes.ContractExecutionException, ""},
		{"bad jump", "0x05 JUMP", codes.ContractExecutionException, ""},
		{"out of gas", "0x05 0xffffffff MSTORE", codes.InsufficientGas, ""},
		{"destroyed to itself", "ADDRESS SELFDESTRUCT", codes.ObtainerSameContractID, ""},
		{"destroyed to a missing account", "0x1387 SELFDESTRUCT", codes.InvalidSolidityAddress, ""},
		{"destroyed to a system account", "0x62 SELFDESTRUCT", codes.InvalidSolidityAddress, ""},
		{"destroyed to an account", "0x03ea SELFDESTRUCT", codes.Success, ""},
	}
	for _, c := range cases {
		if r := run(t, newMachine(), world(t, c.code), to(target)); r.Code != c.want ||
			hex.EncodeToString(r.Output) != c.output {
			t.Errorf("%s: got %s %x", c.name, r.Code, r.Output)
		}
	}
	msg := to(target)
	msg.Gas = 20_999
	if r := run(t, newMachine(), world(t, "STOP"), msg); r.Code != codes.InsufficientGas {
		t.Errorf("less than the intrinsic gas: got %s", r.Code)
	}
	src := world(t, "STOP")
	src.err = errors.New("gone")
	if _, err := begin(t, newMachine(), src).Call(to(target)); !errors.Is(err, src.err) {
		t.Errorf("a source that fails: got %v", err)
	}
	src = world(t, "0x00 SLOAD")
	s := begin(t, newMachine(), src)
	if _, err := s.Call(to(target)); err != nil {
		t.Fatal(err)
	}
	src.err = errors.New("gone")
	if _, err := s.Call(to(target)); err != nil {
		t.Errorf("read twice: %v", err)
	}
}

func TestDeadline(t *testing.T) {
	m := newMachine()
	for name, code := range map[string]string{
		"jumps": ":l @l JUMP",
		"calls": ":l 0x00 0x00 0x00 0x00 0x04 GAS STATICCALL POP @l JUMP",
		"self":  "0x00 0x00 0x00 0x00 0x00 ADDRESS GAS CALL",
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		t.Cleanup(cancel)
		start := time.Now()
		msg := to(target)
		msg.Gas = 1 << 50
		_, err := m.Begin(ctx, world(t, code), evm.Block{Number: block}).Call(msg)
		if took := time.Since(start); took > 5*time.Second {
			t.Errorf("%s: stopped after %s", name, took)
		}
		if name != "self" && !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}
