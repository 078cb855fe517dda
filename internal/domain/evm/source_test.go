package evm_test

import (
	"context"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/vm"
	"github.com/ethereum/go-ethereum/crypto"

	"heliograph/internal/domain/evm"
	"heliograph/internal/domain/evm/worldstate"
	"heliograph/internal/domain/ledger"
)

// memory is a ledger in memory.
type memory struct {
	entities []*worldstate.Entity
	slots    map[int64]map[common.Hash]common.Hash
	rates    *ledger.ExchangeRateSet
	price    int64
	blocks   int64
	err      error
	reads    atomic.Int64 // calls of methods that read the ledger
}

func (m *memory) Entities(_ context.Context, addresses []ledger.EVMAddress) ([]*worldstate.Entity, error) {
	m.reads.Add(1)
	out := make([]*worldstate.Entity, len(addresses))
	for i, a := range addresses {
		num, longZero := a.Num()
		for _, e := range m.entities {
			if longZero && e.ID.Num() == num || !longZero && e.Alias.Valid && e.Alias.V == a {
				out[i] = e
			}
		}
	}
	return out, m.err
}

func (m *memory) HighestEntity(context.Context) (int64, error) {
	m.reads.Add(1)
	return 5000, m.err
}

func (m *memory) Slots(_ context.Context, contract ledger.EntityID, slots [][32]byte) ([][32]byte, error) {
	m.reads.Add(1)
	out := make([][32]byte, len(slots))
	for i, s := range slots {
		out[i] = m.slots[contract.Num()][s]
	}
	return out, m.err
}

func (m *memory) BlockHash(_ context.Context, number int64) ([32]byte, error) {
	m.reads.Add(1)
	if number >= m.blocks {
		return [32]byte{}, m.err
	}
	return hashOf(number), m.err
}

func (m *memory) ExchangeRates(context.Context) (*ledger.ExchangeRateSet, error) {
	return m.rates, m.err
}
func (m *memory) GasPrice(context.Context) (int64, error) { return m.price, m.err }

func hashOf(number int64) [32]byte {
	return crypto.Keccak256Hash([]byte(strconv.FormatInt(number, 10)))
}

func lz(num int64) ledger.EVMAddress { return ledger.EntityID(num).LongZero() }

// Entity numbers in the ledger in memory.
const (
	treasury = 2
	payer    = 1002
	aliased  = 1003
	signer   = 1004
	hollow   = 1005
	target   = 2000
	token    = 3000
	schedule = 3001
)

var alias = ledger.EVMAddress(common.HexToAddress("0xa94f5374fce5edbc8e2a8697c15331677e6ebf0b"))

const block = 85_000_000

// world returns a ledger with some accounts, and a contract with code at target.
func world(t testing.TB, code string) *memory {
	t.Helper()
	return &memory{
		entities: []*worldstate.Entity{
			{ID: treasury, Type: ledger.EntityAccount, Balance: ledger.Of[int64](1 << 40)},
			{ID: payer, Type: ledger.EntityAccount, Balance: ledger.Of[int64](1_000_000)},
			{ID: aliased, Type: ledger.EntityAccount, Balance: ledger.Of[int64](42), Alias: ledger.Of(alias)},
			{ID: signer, Type: ledger.EntityAccount, ReceiverSigRequired: true},
			{
				ID: target, Type: ledger.EntityContract, Balance: ledger.Of[int64](77),
				Nonce: 1, Code: assemble(t, code),
			},
			{ID: token, Type: ledger.EntityToken},
			{ID: schedule, Type: ledger.EntitySchedule},
		},
		slots: map[int64]map[common.Hash]common.Hash{target: {
			{}:      common.BytesToHash([]byte{41}),
			{31: 7}: common.BytesToHash([]byte{9}),
		}},
		rates: &ledger.ExchangeRateSet{
			CurrentRate: &ledger.ExchangeRate{
				HbarEquivalent: 1, CentEquivalent: 12,
				ExpirationTime: ledger.Of[int64](1_800_000_000),
			},
			NextRate: &ledger.ExchangeRate{
				HbarEquivalent: 1, CentEquivalent: 15,
				ExpirationTime: ledger.Of[int64](1_900_000_000),
			},
		},
		price: 71, blocks: block,
	}
}

// assemble returns the bytecode of mnemonics. Hex numbers are pushed, :name declares a jump destination, @name pushes
// it.
func assemble(t testing.TB, text string) []byte {
	t.Helper()
	var code []byte
	places := map[string]int{}
	type use struct {
		at   int
		name string
	}
	var uses []use
	for word := range strings.FieldsSeq(text) {
		switch {
		case word[0] == ':':
			places[word[1:]] = len(code)
			code = append(code, byte(vm.JUMPDEST))
		case word[0] == '@':
			uses = append(uses, use{len(code) + 1, word[1:]})
			code = append(code, byte(vm.PUSH2), 0, 0)
		case strings.HasPrefix(word, "0x"):
			b := common.FromHex(word)
			code = append(append(code, byte(vm.PUSH1)+byte(len(b)-1)), b...)
		default:
			op := vm.StringToOp(word)
			if op == 0 && word != "STOP" {
				t.Fatalf("no opcode %q", word)
			}
			code = append(code, byte(op))
		}
	}
	for _, u := range uses {
		code[u.at], code[u.at+1] = byte(places[u.name]>>8), byte(places[u.name])
	}
	return code
}

// run calls target in a new simulation.
func run(t testing.TB, m *evm.Machine, src evm.Source, msg evm.Message) *evm.Result {
	t.Helper()
	r, err := begin(t, m, src).Call(msg)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func begin(t testing.TB, m *evm.Machine, src evm.Source) *evm.Simulation {
	t.Helper()
	return m.Begin(t.Context(), src, evm.Block{
		Number: block, Hash: hashOf(block), Start: 1_700_000_000_000_000_000,
		End: 1_700_000_002_000_000_000,
	})
}

// to returns a call of an entity.
func to(num int64, data ...[]byte) evm.Message {
	m := evm.Message{From: ledger.Of(lz(payer)), To: ledger.Of(lz(num)), Gas: 15_000_000}
	for _, d := range data {
		m.Data = append(m.Data, d...)
	}
	return m
}

func word(v int64) []byte { return common.LeftPadBytes(common.FromHex(strconv.FormatInt(v, 16)), 32) }

// words splits output into 32-byte words.
func words(b []byte) (out []common.Hash) {
	for ; len(b) >= 32; b = b[32:] {
		out = append(out, common.Hash(b[:32]))
	}
	return out
}

const returnWord = ` 0x00 MSTORE 0x20 0x00 RETURN`

func newMachine() *evm.Machine {
	return evm.New(evm.Config{MinimumBalance: evm.DefaultMinimumBalance, CacheBytes: 1 << 20})
}
