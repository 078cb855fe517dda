package contractcalls_test

import (
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"

	"heliograph/storage/demo"
)

// metaTuple is a token with metadata in the second interface of the token service.
const metaTuple = "(string,string,address,string,bool,int64,bool," + keyTuple + "[]," + expiryTuple + ",bytes)"

// TestSecondInterface creates tokens with metadata and reads them through both interfaces. Each case runs first in a
// frame that reverts.
func TestSecondInterface(t *testing.T) {
	t.Parallel()
	const second = 0x16c
	b := newBench(t)
	next := b.next(t)
	one, none, alice := lz(next+1), common.Address{}, lz(demo.Alice)
	meta := func(text string) []any { return append(gull(keyFor(255)), []byte(text)) }
	create := func(want, name, args string, values ...any) updating {
		return updating{
			to: second, signature: name + "(" + metaTuple + args + ")", args: values, want: want,
			value: hbars,
		}
	}
	at := func(to int64, want string, nth int, signature string, args ...any) updating {
		return updating{to: to, signature: signature, args: args, want: want, nth: nth}
	}
	update := func(code int, name, metadata string) updating {
		token := append(aToken(name, "", none, "memo", []any{}), []byte(metadata))
		return at(second, fmt.Sprint("true ", code), 0, "updateTokenInfo(address,"+metaTuple+")", one, token)
	}
	long := strings.Repeat("x", 101)
	fee := []any{[]any{5, lz(demo.Sunlight), false, false, lz(demo.Victor)}}
	twice(t, b, []updateCase{
		{"metadata", now(), alice, []updating{
			create("true 22", "createFungibleToken", ",int64,int32", meta("of gulls"), 500, 2),
			at(next+1, "true 500", 0, "totalSupply()"),
			at(second, "true 1", 1, "isToken(address)", one),
			at(second, "true 22", 0, "getTokenInfo(address)", one),
			at(second, "true 22", 0, "getFungibleTokenInfo(address)", one),
			at(system167, "true 44", 0, "getTokenKey(address,uint256)", one, 128),
			at(second, "true 22", 0, "getTokenKey(address,uint256)", one, 128),
			update(227, "", long),
			update(22, "Tern", "of terns"),
			at(next+1, said("Tern"), 2, "name()"),
			at(second, "true 22", 0, "associateToken(address,address)", alice, one),
			create("true 22", "createFungibleTokenWithCustomFees", ",int64,int32,"+fixedTuple+"[],"+partTuple+"[]",
				meta(""), 500, 2, fee, []any{}),
			create("true 22", "createNonFungibleToken", "", meta("of eggs")),
			create("true 22", "createNonFungibleTokenWithCustomFees", ","+fixedTuple+"[],"+royaltyTuple+"[]",
				meta(""), fee, []any{}),
			at(second, "true 1", 1, "getTokenType(address)", lz(next+4)),
			create("true 227", "createNonFungibleToken", "", meta(long)),
			at(0x16b, "true 22", 0, native, lz(second),
				input(t, "createNonFungibleToken("+metaTuple+")", meta("later")), alice),
		}},
	})
	// Only this interface returns a token's metadata and metadata key.
	data := input(t, "getTokenInfo(address)", lz(demo.Sunlight))
	first := output(t, "int64,"+ti, b.call(t, now(), alice, lz(system167), data).Output)
	all := output(t, "int64,"+strings.Replace(ti, tokenTuple, metaTuple, 1),
		b.call(t, now(), alice, lz(second), data).Output)
	if metadata := " 0x" + hex.EncodeToString([]byte("ipfs://sunlight/token-2.json")); strings.Contains(first,
		metadata) || !strings.Contains(all, metadata) {
		t.Errorf("got %s and %s", first, all)
	}
	if strings.Contains(first, "[128 [") || strings.Count(all, "[128 [") != 1 {
		t.Errorf("got %s and %s", first, all)
	}
}
