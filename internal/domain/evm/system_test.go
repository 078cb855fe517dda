package evm_test

import (
	"bytes"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/vm"

	"heliograph/internal/domain/evm"
	"heliograph/internal/domain/evm/worldstate"
	"heliograph/internal/domain/ledger"
	"heliograph/internal/domain/ledger/codes"
)

// counter is a system contract that counts its calls in an overlay. Its argument selects how it fails.
type counter struct{ calls chan evm.SystemCall }

type counted struct{ n int64 }

type counterKey struct{}

// The functions of the counter.
const (
	count    = 0x01
	refuse   = 0x02
	halt     = 0x03
	expected = 1_000
)

func (c *counter) Call(call *evm.SystemCall) evm.Outcome {
	seen := *call
	seen.Args = bytes.Clone(call.Args) // the input must not be retained
	c.calls <- seen
	kept := evm.Overlay(call.State, counterKey{}, func() *counted { return &counted{} })
	evm.Set(call.State, &kept.n, kept.n+1)
	switch call.Selector {
	case count:
		return evm.Return(expected, word(kept.n))
	case refuse:
		call.ChildFailed(codes.InvalidSignature)
		return evm.Revert(expected, word(7))
	case halt:
		return evm.Halt(codes.InvalidSignature)
	default:
		return evm.Unknown()
	}
}

func (c *counter) Payable(selector uint32) bool { return selector == count }

func selector(v byte) []byte { return []byte{0, 0, 0, v} }

func TestOverlay(t *testing.T) {
	t.Parallel()
	c := &counter{calls: make(chan evm.SystemCall, 100)}
	m := evm.New(evm.Config{
		SystemContracts: map[int64]evm.SystemContract{0x167: c},
		MinimumBalance:  evm.DefaultMinimumBalance,
	})
	at := word(0x167)
	src := world(t, callCode)
	// The outer contract first calls a contract that calls the counter and reverts, so that call of the counter must
	// be undone.
	inner := assemble(t, `0x01 0x00 MSTORE 0x20 0x20 0x04 0x1c 0x00 0x0167 GAS CALL POP 0x00 0x00 REVERT`)
	src.entities = append(src.entities, &worldstate.Entity{ID: 2001, Type: ledger.EntityContract, Code: inner})
	twice := `0x00 0x00 0x00 0x00 0x00 0x07d1 GAS CALL POP 0x01 0x00 MSTORE 0x20 0x20 0x04 0x1c 0x00 0x0167 GAS ` +
		`CALL 0x00 MSTORE 0x40 0x00 RETURN`
	src.entities[4].Code = assemble(t, twice)
	sim := begin(t, m, src)
	for range 2 { // each run starts with the same overlay
		r, err := sim.Call(to(target))
		if err != nil {
			t.Fatal(err)
		}
		if got := words(r.Output); r.Failed() || got[0].Big().Int64() != 1 || got[1].Big().Int64() != 1 {
			t.Errorf("got %s %v", r.Code, got)
		}
	}
	src.entities[4].Code = assemble(t, callCode)
	cases := []struct {
		name  string
		msg   evm.Message
		code  ledger.ResponseCode
		words []int64
	}{
		{"return", to(0x167, selector(count)), codes.Success, []int64{1}},
		{"value that is taken", to(target, at, word(3), selector(count)), codes.Success, []int64{1, 1, 32}},
		{"value that is not", to(target, at, word(3), selector(refuse)), codes.InvalidContractID, nil},
		{"revert", to(0x167, selector(refuse)), codes.ContractRevertExecuted, []int64{7}},
		{"revert below", to(target, at, word(0), selector(refuse)), codes.Success, []int64{7, 0, 32}},
		{"halt", to(0x167, selector(halt)), codes.InvalidSignature, nil},
		{"halt below", to(target, at, word(0), selector(halt)), codes.Success, []int64{0, 0, 0}},
		{"unknown below", to(target, at, word(0), selector(9)), codes.Success, []int64{0, 1, 0}},
		{"through a token", to(token, selector(count)), codes.Success, []int64{}},
	}
	for _, x := range cases {
		r := run(t, m, src, x.msg)
		if r.Code != x.code {
			t.Errorf("%s: got %s", x.name, r.Code)
			continue
		}
		got := words(r.Output)
		for i, w := range x.words {
			if i >= len(got) || got[i].Big().Int64() != w {
				t.Errorf("%s: got %v, want %v", x.name, got, x.words)
				break
			}
		}
	}
	if r := run(t, m, src, to(0x167, selector(refuse))); len(r.Children) != 1 ||
		r.Children[0] != codes.InvalidSignature {
		t.Errorf("children %v", r.Children)
	}
	short := to(0x167, selector(count))
	short.Gas = 21_000 + 4*3 + 16 + expected - 1
	if r := run(t, m, src, short); r.Code != codes.InsufficientGas {
		t.Errorf("too little gas: got %s", r.Code)
	}
}

// TestSystemCall checks the SystemCall of direct calls, calls by contracts, static calls, and calls through the proxy
// of a token.
func TestSystemCall(t *testing.T) {
	t.Parallel()
	c := &counter{calls: make(chan evm.SystemCall, 1)}
	m := evm.New(evm.Config{SystemContracts: map[int64]evm.SystemContract{0x167: c}})
	last := func(src evm.Source, msg evm.Message) evm.SystemCall {
		run(t, m, src, msg)
		return <-c.calls
	}
	got := last(world(t, ""), to(0x167, selector(count), word(5)))
	if v, ok := got.Word(0); got.Op != vm.CALL || got.Caller != common.Address(lz(payer)) || got.Static ||
		got.Depth != 0 || got.Selector != count ||
		!ok || v != [32]byte(word(5)) {
		t.Errorf("direct: %+v", got)
	}
	if _, ok := got.Word(1); ok {
		t.Error("there is one argument")
	}
	got = last(world(t, callCode), to(target, word(0x167), word(0), selector(count)))
	if got.Caller != common.Address(lz(target)) || got.Self != common.Address(lz(0x167)) || got.Depth != 1 {
		t.Errorf("by a contract: %+v", got)
	}
	static := `0x01 0x00 MSTORE 0x20 0x20 0x04 0x1c 0x0167 GAS STATICCALL STOP`
	got = last(world(t, static), to(target))
	if got.Op != vm.STATICCALL || !got.Static {
		t.Errorf("static: %+v", got)
	}
	// Through a token: the proxy delegates, so Caller is the caller of the token.
	got = last(world(t, callCode), to(target, word(token), word(0), common.FromHex("70a08231"), word(5)))
	if !got.Proxied(common.Address(lz(token))) || got.Caller != common.Address(lz(target)) ||
		got.Selector != 0x618dc65e || got.Depth != 2 ||
		common.BytesToAddress(got.Args[:20]) != common.Address(lz(token)) ||
		common.Bytes2Hex(got.Args[20:24]) != "70a08231" {
		t.Errorf("through a token: %+v", got)
	}
	service := &counter{calls: make(chan evm.SystemCall, 1)}
	m = evm.New(evm.Config{SystemContracts: map[int64]evm.SystemContract{0x16a: service}})
	run(t, m, world(t, ""), to(payer, common.FromHex("bbee989e"), word(5)))
	if got := <-service.calls; got.Self != common.Address(lz(payer)) || got.Selector != 0xe4cbd3a7 ||
		got.Caller != common.Address(lz(payer)) {
		t.Errorf("through an account: %+v", got)
	}
	if r := run(t, m, world(t, ""), to(payer, common.FromHex("01020304"))); r.Failed() || len(r.Output) != 0 {
		t.Errorf("an account that is called with anything: %s", r.Code)
	}
}
