package keys_test

import (
	"bytes"
	"crypto/ed25519"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"
	"google.golang.org/protobuf/encoding/protowire"

	"heliograph/internal/domain/evm/system/keys"
	"heliograph/internal/domain/ledger"
)

func field(n protowire.Number, b []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(nil, n, protowire.BytesType), b)
}

// list returns a KeyList.
func list(members ...ledger.Key) (b []byte) {
	for _, m := range members {
		b = append(b, field(1, m)...)
	}
	return b
}

func threshold(n uint64, members ...ledger.Key) ledger.Key {
	b := protowire.AppendVarint(protowire.AppendTag(nil, 1, protowire.VarintType), n)
	return keys.New(keys.Threshold, append(b, field(2, list(members...))...))
}

func TestSigned(t *testing.T) {
	t.Parallel()
	message := []byte("message")
	private := ed25519.NewKeyFromSeed(make([]byte, 32))
	ed := keys.New(keys.ED25519, private.Public().(ed25519.PublicKey))
	secret, err := crypto.ToECDSA(bytes.Repeat([]byte{1}, 32))
	if err != nil {
		t.Fatal(err)
	}
	compressed := crypto.CompressPubkey(&secret.PublicKey)
	secp := keys.New(keys.Secp256k1, compressed)
	signature, err := crypto.Sign(crypto.Keccak256(message), secret)
	if err != nil {
		t.Fatal(err)
	}
	other := keys.New(keys.ED25519, bytes.Repeat([]byte{9}, 32))
	pairs := append(field(1, append(field(1, compressed[:4]), field(6, signature[:64])...)),
		field(1, append(field(1, nil), field(3, ed25519.Sign(private, message))...))...)
	signatures, ok := keys.ParseSignatures(pairs)
	if !ok || len(signatures) != 2 {
		t.Fatal(signatures, ok)
	}
	deep := ed
	for range 20 {
		deep = keys.New(keys.List, list(deep))
	}
	for _, test := range []struct {
		name string
		key  ledger.Key
		want bool
	}{
		{"ed25519", ed, true},
		{"secp256k1", secp, true},
		{"key that did not sign", other, false},
		{"list", keys.New(keys.List, list(ed, secp)), true},
		{"list with a key that did not sign", keys.New(keys.List, list(ed, other)), false},
		{"empty list", keys.New(keys.List, nil), false},
		{"threshold reached", threshold(2, ed, other, secp), true},
		{"threshold not reached", threshold(3, ed, other, secp), false},
		{"threshold of zero", threshold(0, ed), false},
		{"nested too deeply", deep, false},
		{"contract", keys.OfContract(keys.Contract, 1001), false},
		{"not a message", []byte{0xff}, false},
	} {
		if got := keys.Signed(test.key, message, signatures); got != test.want {
			t.Errorf("%s: %t", test.name, got)
		}
	}
	if keys.Signed(ed, []byte("other"), signatures) {
		t.Error("the signature of another message is valid")
	}
	if _, ok := keys.ParseSignatures(pairs[:len(pairs)-1]); ok {
		t.Error("a truncated map is valid")
	}
}

func TestPrimitives(t *testing.T) {
	t.Parallel()
	a, b := keys.New(keys.ED25519, []byte("a")), keys.New(keys.Secp256k1, []byte("b"))
	got := keys.Primitives(keys.New(keys.List, list(a, threshold(1, b))))
	if len(got) != 2 || string(got[0]) != "a" || string(got[1]) != "b" {
		t.Errorf("%q", got)
	}
}

func TestContractAddress(t *testing.T) {
	t.Parallel()
	at := common.HexToAddress("0x1234567890123456789012345678901234567890")
	for _, test := range []struct {
		name string
		key  ledger.Key
		want common.Address
	}{
		{"number", keys.OfContract(keys.Contract, 1001), common.HexToAddress("0x3e9")},
		{"address", keys.OfContractAddress(keys.Delegatable, at), at},
		{"nothing", keys.New(keys.Contract, nil), common.Address{}},
		{"short address", keys.New(keys.Contract, field(4, at[:5])), common.Address{}},
		{"truncated", keys.New(keys.Contract, []byte{0x18}), common.Address{}},
	} {
		_, message := keys.Split(test.key)
		if got := keys.ContractAddress(message); got != test.want {
			t.Errorf("%s: %s", test.name, got)
		}
	}
}
