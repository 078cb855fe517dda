package contractcalls_test

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/sha256"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/vm"
	"github.com/ethereum/go-ethereum/crypto"
	"google.golang.org/protobuf/encoding/protowire"

	"heliograph/app/testing/testenv"
	"heliograph/internal/domain/evm"
	"heliograph/internal/domain/ledger"
	"heliograph/internal/domain/ledger/codes"
	"heliograph/storage/demo"
	"heliograph/storage/evmstate"
)

// The keys of the demo network are derived from the names of their holders.
func edPrivate(name string) ed25519.PrivateKey {
	seed := sha256.Sum256([]byte("heliograph demo network, ed25519, " + name))
	return ed25519.NewKeyFromSeed(seed[:])
}

func ecPrivate(t *testing.T, name string) *ecdsa.PrivateKey {
	t.Helper()
	seed := sha256.Sum256([]byte("heliograph demo network, secp256k1, " + name))
	key, err := crypto.ToECDSA(seed[:])
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func sign(t *testing.T, hash []byte, key *ecdsa.PrivateKey) []byte {
	t.Helper()
	signature, err := crypto.Sign(hash, key)
	if err != nil {
		t.Fatal(err)
	}
	return signature
}

func TestIsAuthorizedRaw(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	bob, alice := b.addressOf(t, demo.Bob), lz(demo.Alice)
	hash := crypto.Keccak256([]byte("a message"))
	byBob, byAlice := sign(t, hash, ecPrivate(t, "Bob")), ed25519.Sign(edPrivate("Alice"), hash)
	parity := func(v ...byte) []byte { return append(append([]byte{}, byBob[:64]...), v...) }
	for name, c := range map[string]struct {
		who             common.Address
		hash, signature []byte
		want            string
		gas             uint64
	}{
		"secp256k1":               {bob, hash, byBob, "true", 3000},
		"parity of 27":            {bob, hash, parity(byBob[64] + 27), "true", 3000},
		"parity with a chain":     {bob, hash, parity(0, byBob[64]+35+2*20), "true", 3000},
		"the other key":           {bob, hash, parity(1 - byBob[64]), "false", 3000},
		"no parity":               {bob, hash, parity(5), "revert 50", 0},
		"another's":               {b.addressOf(t, demo.Heidi), hash, byBob, "false", 3000},
		"number of an account":    {lz(demo.Bob), hash, byBob, "revert 15", 0},
		"short hash":              {bob, hash[:31], byBob, "revert 50", 0},
		"long signature":          {bob, hash, make([]byte, 73), "revert 50", 0},
		"short signature":         {bob, hash, make([]byte, 63), "revert 50", 0},
		"ed25519":                 {alice, hash, byAlice, "true", 1_500_000},
		"ed25519 of another hash": {alice, hash[1:], byAlice, "false", 1_500_000},
		"ed25519 and another key": {bob, hash, byAlice, "revert 51", 0},
		"a list of keys":          {lz(demo.Carol), hash, byAlice, "revert 51", 0},
		"missing":                 {lz(missing), hash, byAlice, "revert 15", 0},
	} {
		data := input(t, "isAuthorizedRaw(address,bytes,bytes)", c.who, c.hash, c.signature)
		r := b.call(t, now(), alice, lz(system16a), data)
		if r.Code != codes.Success {
			if text := "revert " + strconv.FormatInt(revertCode(r.Output), 10); text != c.want {
				t.Errorf("%s: got %s, want %s", name, text, c.want)
			}
			continue
		}
		if got := output(t, "bool", r.Output); got != c.want {
			t.Errorf("%s: got %s, want %s", name, got, c.want)
		}
		if want := max(intrinsic(data)+c.gas, dataFloor(data)); r.GasUsed != want {
			t.Errorf("%s: %d gas, want %d", name, r.GasUsed, want)
		}
	}
}

// pair is a serialized SignaturePair in a SignatureMap.
func pair(prefix []byte, field protowire.Number, signature []byte) []byte {
	p := protowire.AppendBytes(protowire.AppendTag(nil, 1, protowire.BytesType), prefix)
	p = protowire.AppendBytes(protowire.AppendTag(p, field, protowire.BytesType), signature)
	return protowire.AppendBytes(protowire.AppendTag(nil, 1, protowire.BytesType), p)
}

func TestIsAuthorized(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	message := []byte("anything")
	ed := func(name string) []byte {
		key := edPrivate(name)
		return pair(key.Public().(ed25519.PublicKey)[:4], 3, ed25519.Sign(key, message))
	}
	ec := func(name string) []byte {
		key := ecPrivate(t, name)
		return pair(crypto.CompressPubkey(&key.PublicKey), 6, sign(t, crypto.Keccak256(message), key)[:64])
	}
	for name, c := range map[string]struct {
		who        common.Address
		signatures []byte
		want       string
	}{
		"one key":              {lz(demo.Alice), ed("Alice"), "22 true"},
		"another's":            {lz(demo.Alice), ed("Frank"), "22 false"},
		"secp256k1":            {b.addressOf(t, demo.Bob), ec("Bob"), "22 true"},
		"a list, all of it":    {lz(demo.Carol), append(ed("Carol"), ec("Carol's sister")...), "22 true"},
		"a list, half of it":   {lz(demo.Carol), ed("Carol"), "22 false"},
		"a threshold of one":   {lz(demo.Frank), ec("Frank"), "22 true"},
		"a threshold, nothing": {lz(demo.Frank), nil, "22 false"},
		"missing":              {lz(missing), ed("Alice"), "15 false"},
		"no signatures":        {lz(demo.Alice), []byte{0xff}, "50 false"},
	} {
		r := b.call(t, now(), lz(demo.Alice), lz(system16a),
			input(t, "isAuthorized(address,bytes,bytes)", c.who, message, c.signatures))
		if got := output(t, "int64,bool", r.Output); r.Code != codes.Success || got != c.want {
			t.Errorf("%s: got %s %s, want %s", name, r.Code, got, c.want)
		}
	}
}

// TestDestruct calls SELFDESTRUCT in a contract that holds tokens, and in one that holds none.
func TestDestruct(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	code := append(append([]byte{byte(vm.PUSH20)}, make([]byte, 20)...), byte(vm.SELFDESTRUCT))
	copy(code[1:], lz(demo.Alice).Bytes())
	for num, want := range map[int64]ledger.ResponseCode{
		demo.Fund: codes.ContractExecutionException, demo.Carol: codes.ContractExecutionException,
		demo.Judy: codes.Success,
	} {
		s, err := b.reader.Open(t.Context(), evmstate.Request{})
		if err != nil {
			t.Fatal(err)
		}
		sim := b.machine.Begin(t.Context(), s, s.Block())
		if err := sim.Override([]evm.Override{{Address: ledger.EVMAddress(lz(num)), Code: code}}); err != nil {
			t.Fatal(err)
		}
		r, err := sim.Call(evm.Message{To: ledger.Of(ledger.EVMAddress(lz(num))), Gas: 1_000_000})
		s.Close()
		if err != nil || r.Code != want {
			t.Errorf("0.0.%d: %v %v, want %s", num, r, err, want)
		}
	}
}

// TestHTTP calls system contracts through a gateway.
func TestHTTP(t *testing.T) {
	t.Parallel()
	g := testenv.Shared(t)
	for body, want := range map[string]struct {
		status int
		text   string
	}{
		`{"to":"0x00000000000000000000000000000000000007d1","data":"0x313ce567"}`: {http.StatusOK, `06"}`},
		`{"to":"0x00000000000000000000000000000000000007d1","data":"0x313ce567","block":"earliest"}`: {
			http.StatusOK, `"0x"`,
		},
		`{"to":"0x00000000000000000000000000000000000007d7","data":"0x313ce567"}`: {http.StatusBadRequest, `00a7"`},
		`{"to":"0x0000000000000000000000000000000000000167",` +
			`"data":"0x7c41ad2c00000000000000000000000000000000000000000000000000000000000007d1","estimate":true}`: {
			http.StatusOK, `"0x0000`,
		},
		`{"to":"0x000000000000000000000000000000000000016b",` +
			`"data":"0xdfb4a999000000000000000000000000000000000000000000000000000000000000000100000000000000000000` +
			`000000000000000000000000000000000000000f4240"}`: {
			http.StatusOK, `0000"`,
		},
	} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, g.URL+"/api/v1/contracts/call",
			strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		status, text := send(t, r)
		if status != want.status || !strings.Contains(text, want.text) {
			t.Errorf("%s: %d %s", body, status, text)
		}
	}
}

// TestEstimate runs calls of system contracts with their estimates as gas limits.
func TestEstimate(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for _, data := range [][]byte{
		input(t, "pauseToken(address)", lz(demo.Sunlight)),
		input(t, "mintToken(address,int64,bytes[])", lz(demo.Postcard), 0, []any{[]byte("x")}),
		input(t, "getTokenInfo(address)", lz(demo.Tide)),
	} {
		s, err := b.reader.Open(t.Context(), evmstate.Request{})
		if err != nil {
			t.Fatal(err)
		}
		msg := evm.Message{To: ledger.Of(ledger.EVMAddress(lz(system167))), Data: data, Gas: 15_000_000}
		estimate, err := b.machine.Begin(t.Context(), s, s.Block()).Estimate(msg)
		s.Close()
		if err != nil {
			t.Fatal(err)
		}
		if r := b.callWith(t, estimate.GasUsed, lz(demo.Alice), lz(system167), data); r.Code != codes.Success ||
			revertCode(r.Output[:32]) != 22 {
			t.Errorf("%x with %d gas: %s", data[:4], estimate.GasUsed, r.Code)
		}
	}
}
