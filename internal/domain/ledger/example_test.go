package ledger_test

import (
	"errors"
	"fmt"

	"heliograph/internal/domain/ledger"
)

func ExampleParseEntityID() {
	home, _ := ledger.NewEntityID(0, 5, 0) // the ledger's own shard and realm
	for _, s := range []string{"1234", "7.1234", "1.2.3", "0.0.x", "0.65536.1"} {
		id, err := ledger.ParseEntityID(s, home)
		switch {
		case errors.Is(err, ledger.ErrSyntax), errors.Is(err, ledger.ErrRange):
			fmt.Println(err)
		default:
			fmt.Println(id, int64(id))
		}
	}
	// Output:
	// 0.5.1234 1374389535954
	// 0.7.1234 1924145349842
	// 1.2.3 18014948265295875
	// entity id "0.0.x": number: "x" is not a number: malformed
	// invalid entity id "0.65536.1": realm 65536 is not between 0 and 65535: out of range
}

func ExampleEntityID_LongZero() {
	fmt.Println(ledger.EntityID(1234).LongZero())
	// Output: 0x00000000000000000000000000000000000004d2
}

func ExampleParseTimestamp() {
	t, _ := ledger.ParseTimestamp("1700000001.5")
	fmt.Println(t, int64(t), t.Time())
	// Output: 1700000001.500000000 1700000001500000000 2023-11-14 22:13:21.5 +0000 UTC
}

func ExampleParseTransactionID() {
	id, _ := ledger.ParseTransactionID("0.0.1234-1700000001-5")
	fmt.Println(id)
	fmt.Println(id.Payer, id.ValidStart)
	// Output:
	// 0.0.1234-1700000001-000000005
	// 0.0.1234 1700000001.000000005
}

func ExampleEVMAddress_Num() {
	for _, s := range []string{
		"0x00000000000000000000000000000000000004D2", "00000000000000000000000000000000075bcd15",
		"0xabcdefabcdef0123456789abcdefabcdef012345",
	} {
		a, _ := ledger.ParseEVMAddress(s)
		num, ok := a.Num()
		fmt.Println(a, num, ok)
	}
	// Output:
	// 0x00000000000000000000000000000000000004d2 1234 true
	// 0x00000000000000000000000000000000075bcd15 123456789 true
	// 0xabcdefabcdef0123456789abcdefabcdef012345 0 false
}

func ExampleParseAlias() {
	alias, err := ledger.ParseAlias("AEBAGBAF")
	fmt.Printf("%s %x %v\n", alias, []byte(alias), err)
	_, err = ledger.ParseAlias("75")
	fmt.Println(err)
	// Output:
	// AEBAGBAF 0102030405 <nil>
	// alias "75" has bits set that belong to no byte: malformed
}

func ExampleParseTransactionHash() {
	hash, _ := ledger.ParseTransactionHash("AQIDBAUGBwgJCgsMDQ4PEBESExQVFhcYGRobHB0eHyAhIiMkJSYnKCkqKywtLi8w")
	fmt.Println(hash)
	// Output: 0x0102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f202122232425262728292a2b2c2d2e2f30
}

func ExampleKey_Info() {
	ed25519 := ledger.Key(append([]byte{0x12, 0x20}, make([]byte, 32)...))
	contract := ledger.Key{0x0a, 0x03, 0x18, 0xd2, 0x09}
	emptyList := ledger.Key{0x32, 0x00}
	fmt.Println(ed25519.Info().Type, ed25519.Info().Value())
	fmt.Println(contract.Info().Type, contract.Info().Value())
	fmt.Println(emptyList.Info() == nil)
	// Output:
	// ED25519 0000000000000000000000000000000000000000000000000000000000000000
	// PROTOBUF_ENCODED 0a0318d209
	// true
}

func ExampleParseAccountRef() {
	for _, s := range []string{
		"1234", "0x00000000000000000000000000000000000004d2",
		"0.0.abcdefabcdef0123456789abcdefabcdef012345", "0.0.AEBAGBAF",
	} {
		ref, _ := ledger.ParseAccountRef(s, 0)
		switch {
		case ref.Address.Valid:
			fmt.Println("address", ref)
		case ref.Alias != nil:
			fmt.Println("alias", ref)
		default:
			fmt.Println("id", ref)
		}
	}
	// Output:
	// id 0.0.1234
	// id 0.0.1234
	// address 0xabcdefabcdef0123456789abcdefabcdef012345
	// alias AEBAGBAF
}

func ExampleDecodeTransactionID() {
	b := []byte("\x0a\x08\x08\x81\xe2\xcf\xaa\x06\x10\x07\x12\x03\x18\xe1\x21\x20\x02")
	id, _ := ledger.DecodeTransactionID(b)
	fmt.Println(id.AccountID, id.TransactionValidStart.V, id.Nonce.V, id.Scheduled.V)
	// Output: 0.0.4321 1700000001.000000007 2 false
}

func ExampleParseTransactionType() {
	t, _ := ledger.ParseTransactionType("cryptotransfer")
	fmt.Println(t, int(t), ledger.TransactionType(30), ledger.ResponseCode(22))
	// Output: CRYPTOTRANSFER 14 UNKNOWN SUCCESS
}

func ExampleNull() {
	seconds := ledger.Of(int64(7776000))
	var unknown ledger.Null[int64]
	fmt.Println(seconds.Or(-1), unknown.Or(-1))
	// Output: 7776000 -1
}

func ExampleFilter() {
	from, to := ledger.Timestamp(1), ledger.Timestamp(2)
	both := ledger.TimestampFilter{Gte: &from, Lt: &to} // a row must satisfy both
	fmt.Println(*both.Gte, *both.Lt, both.Eq == nil)
	// Output: 0.000000001 0.000000002 true
}
