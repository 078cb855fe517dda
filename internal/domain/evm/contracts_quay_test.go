package evm_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"

	"heliograph/storage/demo"
)

func (b *bay) breakwater(t *testing.T) map[string][]testCall {
	t.Helper()
	parsed := b.compiled["Breakwater"].abi
	custom := func(name string, args ...any) fails {
		e := parsed.Errors[name]
		data, err := e.Inputs.Pack(args...)
		if err != nil {
			t.Fatal(err)
		}
		return reverts(slices.Concat(e.ID[:4], data))
	}
	input := func(method string, args ...any) []byte {
		data, err := parsed.Pack(method, args...)
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	most := common.MaxHash.Big()
	halted := fails{code: "CONTRACT_EXECUTION_EXCEPTION"}
	testCalls := both(demo.Breakwater,
		failing("withNothing", nil, reverts(nil)),
		failing("withText", with("swell from the west"), revertsWith("swell from the west")),
		failing("withText", with(""), revertsWith("")),
		failing("withText", with("☕ \"quoted\"\n"), revertsWith("☕ \"quoted\"\n")),
		failing("withRequire", with(n(10)), revertsWith("Breakwater: the wave is too high")),
		does("withRequire", with(n(9)), n(18)),
		failing("withBareRequire", with(false), reverts(nil)), does("withBareRequire", with(true), true),
		failing("withError", nil, custom("Closed")),
		failing("withRequiredError", with(false), custom("Closed")), does("withRequiredError", with(true), true),
		failing("withArguments", with(n(77)), custom("TooHigh", n(10), n(77))),
		failing("withLists", nil, custom("Damaged", "head", common.FromHex("c0ffee"), []*big.Int{n(7), n(9)})),
		failing("withData", with([]byte{}), reverts(nil)),
		failing("withData", with([]byte{0xff}), reverts([]byte{0xff})),
		// the encoded text is missing
		failing("withData", with(common.FromHex("08c379a0")), reverts(common.FromHex("08c379a0"))),
		failing("withData", with(common.FromHex("08c379a020")), reverts(common.FromHex("08c379a020"))), // as above
		failing("withData", with(slices.Concat(common.FromHex("08c379a0"), word(32), word(1_000_000))),
			reverts(slices.Concat(common.FromHex("08c379a0"), word(32), word(1_000_000)))),
		failing("withData", with(bytes.Repeat([]byte{0xab}, 1000)), reverts(bytes.Repeat([]byte{0xab}, 1000))),
		failing("asserts", with(false), panics(0x01)), does("asserts", with(true), true),
		failing("adds", with(most, n(1)), panics(0x11)), does("adds", with(n(40), n(2)), n(42)),
		failing("divides", with(n(1), n(0)), panics(0x12)), does("divides", with(n(85), n(2)), n(42)),
		failing("names", with(uint8(3)), panics(0x21)), does("names", with(uint8(2)), uint8(2)),
		failing("readsNonsense", nil, panics(0x22)),
		failing("pops", nil, panics(0x31)),
		failing("picks", with(n(0)), panics(0x32)),
		failing("allocates", with(most), panics(0x41)), does("allocates", with(n(3)), n(3)),
		failing("callsNothing", with(n(1)), panics(0x51)),
		failing("runsAground", nil, halted),
		does("hitsStatically", nil, false, []byte{}),
		failing("hitAndTell", nil, reverts(word(1))).when(moment{demo.Breakwater, 0}),
		failing("passesOn", with(input("withText", "from below")), revertsWith("from below")),
		failing("passesOn", with(input("divides", n(1), n(0))), panics(0x12)),
		failing("passesOn", with(input("withError")), custom("Closed")),
		does("passesOn", with(input("adds", n(1), n(2))), word(3)),
		does("catches", with(n(10), n(0), true), n(1), "Breakwater: the wave is too high", n(0)),
		does("catches", with(n(1), n(0), false), n(2), "", n(0x12)),
		does("catches", with(n(8), n(2), false), n(0), "", n(4)),
	)
	// It was hit twice without success.
	then := func(n int) moment { return moment{demo.Breakwater, n} }
	return map[string][]testCall{"Breakwater": append(testCalls,
		does("waves", nil, n(0)).when(then(0)), does("waves", nil, n(1)).when(then(1)), does("waves", nil, n(2)),
		does("hit", nil, n(1)).when(then(0)), does("hit", nil, n(2)).when(then(1)), does("hit", nil, n(3)),
		does("hitsInVain", nil, n(2), n(1)).when(then(1)), does("hitsInVain", nil, n(3), n(2)),
		failing("hitAndTell", nil, reverts(word(3))),
	)}
}

func (b *bay) furnace() map[string][]testCall {
	var hash [32]byte
	for range 100 {
		hash = crypto.Keccak256Hash(hash[:])
	}
	then := func(n int) moment { return moment{demo.Furnace, n} }
	return map[string][]testCall{"Furnace": append(both(demo.Furnace,
		does("hashes", with(n(0)), [32]byte{}), does("hashes", with(n(100)), hash),
		does("counts", with(n(1000)), n(1000)),
		does("stretches", with(n(100)), n(3200)),
		does("hoards", with(n(1_000_000)), true), failing("hoards", with(n(1_000_000)),
			revertsWith("Furnace: there is not enough gas")).with(1_000_000),
		does("dives", with(n(0)), n(0)), does("dives", with(n(20)), n(20)),
		failing("never", nil, fails{code: "INSUFFICIENT_GAS"}).with(100_000),
		failing("stokes", with(n(10)), fails{code: "INSUFFICIENT_GAS"}).with(100_000),
	),
		// Three slots were filled, then one was emptied.
		does("heat", nil, n(0)).when(then(0)), does("heat", nil, n(3)).when(then(1)), does("heat", nil, n(2)),
		does("coal", with(n(2)), n(0)).when(then(0)), does("coal", with(n(2)), n(3)).when(then(1)),
		does("coal", with(n(2)), n(0)), does("coal", with(n(1)), n(2)),
		does("stokes", with(n(2)), n(5)).when(then(1)), does("stokes", with(n(2)), n(4)),
		failing("rakes", with(n(1)), panics(0x11)).when(then(0)), does("rakes", with(n(3)), n(0)).when(then(1)),
		does("rakes", with(n(2)), n(0)),
	)}
}

// slotOf returns the slot of a mapping's key.
func slotOf(key []byte, mapping *big.Int) *big.Int {
	return crypto.Keccak256Hash(key, common.BigToHash(mapping).Bytes()).Big()
}

// listOf returns the slot of the first element of a list, or of long bytes.
func listOf(slot int64) *big.Int { return crypto.Keccak256Hash(word(slot)).Big() }

func plus(v *big.Int, i int64) *big.Int { return new(big.Int).Add(v, n(i)) }

// slotValue returns a test call for the value of a slot, given by its last hex digits.
func slotValue(slot *big.Int, digits string) testCall {
	return does("at", with(slot), [32]byte(common.LeftPadBytes(common.FromHex(digits), 32)))
}

// short returns the slot value of a text or bytes shorter than 32 bytes.
func short(b []byte) string {
	word := common.RightPadBytes(b, 32)
	word[31] = byte(2 * len(b))
	return hex.EncodeToString(word)
}

// crate is a Storehouse.Crate.
type crate struct {
	Weight  *big.Int
	Number  uint64
	Fragile bool
	Fill    uint8
	Mark    [4]byte
}

func (b *bay) storehouse(t *testing.T) map[string][]testCall {
	t.Helper()
	fund, bob := b.address(t, demo.Fund), b.address(t, demo.Bob)
	hexOf := func(a common.Address) string { return hex.EncodeToString(a[:]) }
	padded := func(a common.Address) []byte { return common.LeftPadBytes(a[:], 32) }
	const oldName, newName = "Storehouse at the quay", "Storehouse at the quay, rebuilt after the fire of last winter"
	const newLabel = "a label that is too long to fit into the slot itself"
	oldPlan := common.FromHex("00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff0011223344")
	oats, salt, nets := crate{n(250), 17, true, 2, [4]byte([]byte("oats"))},
		crate{n(251), 18, false, 1, [4]byte([]byte("salt"))}, crate{n(8), 2, false, 0, [4]byte([]byte("nets"))}
	none := crate{Weight: n(0)}
	owned := func(a common.Address) *big.Int { return slotOf(padded(a), slotOf(word(5), n(8))) }
	price := func(of string) *big.Int { return slotOf([]byte(of), n(9)) }
	inner := func(i int64) *big.Int {
		return crypto.Keccak256Hash(common.BigToHash(plus(listOf(5), i)).Bytes()).Big()
	}
	was := []testCall{
		does("rooms", nil, uint8(12)), does("depth", nil, int16(-7)), does("fill", nil, uint8(1)),
		does("area", nil, n(1_000_000_000_000_000_000)),
		does("name", nil, oldName), does("plan", nil, oldPlan), does("prices", with("barley"), n(42)),
		does("prices", with("rye"), n(0)),
		does("last", nil, [32]byte(common.MaxHash)), does("yard", nil, fund, uint64(2)),
		does("flag", with(n(33)), true), does("counts", nil, n(34), n(5), n(2)),
		does("step", with(n(4)), n(500)), does("load", with(n(4)), uint64(5000)),
		failing("load", with(n(5)), panics(0x32)),
		does("entries", with(n(1)), []*big.Int{n(-3), n(4)}), does("crate", with(n(5), fund), oats),
		does("crate", with(n(5), bob), none),
		does("queue", with(uint8(9)), []*big.Int{n(77)}), does("shelves", with(fund), "upper", nets, n(6)),
		slotValue(n(0), "01"+"fff9"+"0c"+"0000000000000002"+hexOf(fund)), slotValue(n(1), "0de0b6b3a7640000"),
		slotValue(n(2), "22"),
		slotValue(listOf(2), flagsWord()), slotValue(plus(listOf(2), 1), "0100"),
		slotValue(n(3), "0001f4"+"000190"+"00012c"+"0000c8"+"000064"), slotValue(n(4), "05"),
		slotValue(listOf(4), "0000000000000fa0"+"0000000000000bb8"+"00000000000007d0"+"00000000000003e8"),
		slotValue(plus(listOf(4), 1), "1388"),
		slotValue(n(5), "02"), slotValue(plus(listOf(5), 1), "02"),
		slotValue(plus(inner(0), 1), strings.Repeat("f", 63)+"e"), slotValue(plus(inner(1), 1), "04"),
		slotValue(n(6), short([]byte(oldName))),
		slotValue(n(7), "4b"), slotValue(listOf(7), hex.EncodeToString(oldPlan[:32])),
		slotValue(plus(listOf(7), 1), "0011223344"+strings.Repeat("00", 27)),
		slotValue(owned(fund), "6f617473"+"02"+"01"+"0000000000000011"+"000000000000000000000000000000fa"),
		slotValue(owned(bob), "00"),
		slotValue(price("barley"), "2a"), slotValue(slotOf(word(9), n(10)), "01"),
		slotValue(n(11), short([]byte("upper"))),
		slotValue(n(13), "6e657473"+"00"+"00"+"0000000000000002"+"00000000000000000000000000000008"),
		slotValue(slotOf(padded(fund), n(14)), "06"), slotValue(n(19), strings.Repeat("ff", 32)),
	}
	is := []testCall{
		does("rooms", nil, uint8(14)), does("depth", nil, int16(9)), does("fill", nil, uint8(2)),
		does("area", nil, n(2_000_000_000_000_000_000)),
		does("name", nil, newName), does("plan", nil, common.FromHex("c0ffee")), does("prices", with("barley"), n(0)),
		does("prices", with("rye"), n(43)),
		does("last", nil, [32]byte{}), does("yard", nil, bob, uint64(3)), failing("flag", with(n(33)), panics(0x32)),
		does("counts", nil, n(33), n(6), n(2)),
		does("flag", with(n(30)), true), does("step", with(n(4)), n(7)), does("load", with(n(5)), uint64(6000)),
		failing("entries", with(n(2)), panics(0x32)),
		does("entries", with(n(1)), []*big.Int{n(-3), n(4), n(5)}), does("crate", with(n(5), fund), none),
		does("crate", with(n(5), bob), salt),
		does("queue", with(uint8(9)), []*big.Int{n(77), n(78)}), does("shelves", with(fund), newLabel, nets, n(6)),
		does("shelves", with(bob), newLabel, nets, n(1)),
		slotValue(n(0), "02"+"0009"+"0e"+"0000000000000003"+hexOf(bob)), slotValue(n(2), "21"),
		slotValue(plus(listOf(2), 1), "00"),
		slotValue(n(3), "000007"+"000190"+"00012c"+"0000c8"+"000064"),
		slotValue(plus(listOf(4), 1), "1770"+"0000000000001388"), slotValue(plus(inner(1), 2), "05"),
		slotValue(n(6), "7b"), slotValue(listOf(6), hex.EncodeToString([]byte(newName[:32]))),
		slotValue(n(7), short(common.FromHex("c0ffee"))), slotValue(listOf(7), "00"),
		slotValue(owned(fund), "00"),
		slotValue(owned(bob), "73616c74"+"01"+"00"+"0000000000000012"+"000000000000000000000000000000fb"),
		slotValue(price("barley"), "00"), slotValue(price("rye"), "2b"),
		slotValue(plus(slotElements(slotOf(word(9), n(10))), 1), "4e"), slotValue(n(11), "69"), slotValue(n(19), "00"),
	}
	testCalls := both(demo.Storehouse, does("FLOORS", nil, n(3)), does("built", nil, n(1841)),
		does("rearrange", with(bob)).by(demo.Alice))
	for _, a := range was {
		testCalls = append(testCalls, a.when(moment{demo.Storehouse, 0}))
	}
	testCalls = append(testCalls, is...)
	for _, a := range is {
		testCalls = append(testCalls, a.when(moment{demo.Storehouse, 1}))
	}
	return map[string][]testCall{"Storehouse": testCalls}
}

// flagsWord returns the first 32 flags as a slot value. Every third flag is set. The first flag is the last byte.
func flagsWord() string {
	var word [32]byte
	for i := 0; i < 32; i += 3 {
		word[31-i] = 1
	}
	return hex.EncodeToString(word[:])
}

// slotElements returns the slot of the first element of the list whose length is in slot.
func slotElements(slot *big.Int) *big.Int {
	return crypto.Keccak256Hash(common.BigToHash(slot).Bytes()).Big()
}

// held returns the token balance of an account at the end of a block: received minus sent amounts.
func (b *bay) held(t *testing.T, token, account, block int64) int64 {
	t.Helper()
	return value[int64](t, b, `select coalesce(sum(amount), 0)::bigint from token_transfer where token_id = $1 and account_id = $2
		and consensus_timestamp <= (select consensus_end from record_file where index = $3)`, token, account, block)
}

// rate returns the exchange rate at a block, as hbars and cents.
func (b *bay) rate(t *testing.T, block int64) (hbars, cents int64) {
	t.Helper()
	r := rowsOf[struct {
		Data  []byte
		Start int64
	}](t, b, `select file_data as data, consensus_start / 1000000000 as start from file_data, record_file where entity_id = 112 and index = $1
		and consensus_timestamp <= consensus_end order by consensus_timestamp desc limit 1`, block)[0]
	current := field(field(r.Data, 1), 0) // the first rate of the set
	next := field(field(r.Data, 2), 0)
	chosen := current
	if expires := number(field(current, 3), 1); r.Start >= expires {
		chosen = next
	}
	return number(chosen, 1), number(chosen, 2)
}

// field returns the content of a length-delimited field of a message. For field 0 it returns the message.
func field(b []byte, want uint64) []byte {
	if want == 0 {
		return b
	}
	for len(b) > 0 {
		tag, n := binary.Uvarint(b)
		b = b[n:]
		v, n := binary.Uvarint(b)
		b = b[n:]
		if tag&7 == 2 {
			if tag>>3 == want {
				return b[:v]
			}
			b = b[v:]
		}
	}
	return nil
}

// number returns the value of a varint field of a message.
func number(b []byte, want uint64) int64 {
	for len(b) > 0 {
		tag, n := binary.Uvarint(b)
		b = b[n:]
		v, n := binary.Uvarint(b)
		b = b[n:]
		if tag&7 == 2 {
			b = b[v:]
		} else if tag>>3 == want {
			return int64(v)
		}
	}
	return 0
}

func (b *bay) switchboard(t *testing.T) map[string][]testCall {
	t.Helper()
	alice, bob, dave, walter, heidi := b.address(t, demo.Alice), b.address(t, demo.Bob), b.address(t, demo.Dave),
		b.address(t, demo.Walter),
		b.address(t, demo.Heidi)
	at := func(num int64) common.Address { return common.Address(lz(num)) }
	key, err := crypto.ToECDSA(word(7))
	if err != nil {
		t.Fatal(err)
	}
	hash := crypto.Keccak256Hash([]byte("signed"))
	signature, err := crypto.Sign(hash[:], key)
	if err != nil {
		t.Fatal(err)
	}
	large := func(text string) *big.Int {
		v, _ := new(big.Int).SetString(text, 0)
		return v
	}
	twice := []any{
		large("1368015179489954701390400359078579693043519447331113978918064868415326638035"),
		large("9918110051302171585080402603319702774565515993150576347155970296011118125764"),
	}
	generator := common.FromHex("198e9393920d483a7260bfb731fb5d25f1aa493335a9e71297e485b7aef312c21800deef121f1e7642" +
		"6a00665e5c4479674322d4f75edadd46debd5cd992f6ed" +
		"090689d0585ff075ec9e99ad690c3395bc4b313370b38ef355acdadcd122975b12c85ea5db8c6deb4aab71808dcb408fe3d1e7690c" +
		"43d37b4ce6cc0166fa7daa")
	prime := large("21888242871839275222246405745257275088696311157297823662689037894645226208583")
	pair := slices.Concat(word(1), word(2), generator)
	opposite := slices.Concat(word(1), common.BigToHash(new(big.Int).Sub(prime, n(2))).Bytes(), generator)
	// The parameters of BLAKE2b for a three-byte text without a key, as in EIP-152.
	blake := common.FromHex("48c9bdf267e6096a3ba7ca8485ae67bb2bf894fe72f36e3cf1361d5f3af54fa5d182e6ad7f520e511f6c3e" +
		"2b8c68059b6bbd41fbabd9831f79217e1319cde05b")
	blake = slices.Concat(blake, common.RightPadBytes([]byte("abc"), 128), []byte{3}, make([]byte, 15), []byte{1})
	const blaked = "ba80a53f981c4d0d6a2797b69f12f6e94c212f14685ac4b74b12bb6fdbffa2d1" +
		"7d87c5392aab792dc252d5de4533cc9518d38aa8dbf1925ab92386edd4009923"
	refused := func(code int64) fails {
		return reverts(slices.Concat(b.compiled["Switchboard"].abi.Errors["Refused"].ID.Bytes()[:4], word(code)))
	}
	testCalls := both(demo.Switchboard,
		does("kindOf", with(at(demo.Sunlight)), true, int32(0)),
		does("kindOf", with(at(demo.Lighthouse)), true, int32(1)), does("kindOf", with(alice), false, int32(0)),
		does("balance", with(at(demo.Ration), dave), n(12)), does("balance", with(at(demo.Kelp), alice), n(1_000_000)),
		does("token", with(at(demo.LampOil)), "Lamp oil", n(21_000_000_00_000_000)),
		does("serial", with(at(demo.Lighthouse), n(1)), heidi, "ipfs://lighthouses/East Mole.json"),
		failing("serial", with(at(demo.Lighthouse), n(999)),
			reverts(word(225)).after("INVALID_TOKEN_NFT_SERIAL_NUMBER")),
		failing("move", with(at(demo.Kelp), alice, bob, int64(1)), refused(265).after("TOKEN_IS_PAUSED")),
		failing("moveInVain", with(at(demo.Ration), alice, bob, int64(1)),
			refused(184).after("TOKEN_NOT_ASSOCIATED_TO_ACCOUNT")),
		failing("moveAndFail", with(at(demo.LampOil), alice, bob, int64(5)),
			revertsWith("Switchboard: changed its mind")),
		does("associate", with(at(demo.LampOil)), int64(22), int64(194)),
		does("allowance", with(alice, bob), int64(22), n(600*hbar)),
		does("addresses", with(at(demo.Bob)), true, int64(22), bob, at(demo.Bob)),
		does("addresses", with(walter), true, int64(15), common.Address{}, common.Address{}),
		does("scheduled", with(at(5001)), false, n(201)), does("scheduled", with(alice), false, n(19)),
		does("recover", with([32]byte(hash), signature[64]+27, [32]byte(signature[:32]), [32]byte(signature[32:64])),
			crypto.PubkeyToAddress(key.PublicKey)),
		does("recover", with([32]byte{}, uint8(9), [32]byte{}, [32]byte{}), common.Address{}),
		does("digests", with([]byte("abc")), sha256.Sum256([]byte("abc")),
			[20]byte(common.FromHex("8eb208f7e05d987a9b044a8e98c6b087f15a0bfc"))),
		does("copy", with([]byte("as it is")), []byte("as it is")), does("power", with(n(3), n(5), n(7)), n(5)),
		does("addPoints", with(n(1), n(2), n(1), n(2)), twice...), does("multiply", with(n(1), n(2), n(2)), twice...),
		failing("addPoints", with(n(1), n(1), n(1), n(2)), revertsWith("Switchboard: it does not answer")),
		does("pairs", with([]byte{}), true), does("pairs", with(pair), false),
		does("pairs", with(slices.Concat(pair, opposite)), true),
		does("compress", with(uint32(12), blake), common.FromHex(blaked)),
		does("people", with(b.address(t, demo.Breakwater)), bob, bob, n(0),
			[32]byte(crypto.Keccak256Hash(b.compiled["Breakwater"].runtime)),
			n(int64(len(b.compiled["Breakwater"].runtime)))).by(demo.Bob),
	)
	for _, m := range []moment{now, {demo.Switchboard, 0}, {demo.Furnace, 1}} {
		testCalls = append(testCalls, b.blockValues(t, m)...)
		block := b.blockOf(t, m)
		from, to := b.held(t, demo.LampOil, demo.Alice, block), b.held(t, demo.LampOil, demo.Bob, block)
		testCalls = append(testCalls,
			does("move", with(at(demo.LampOil), alice, bob, int64(5)), n(from-5), n(to+5)).when(m),
			does("moveInVain", with(at(demo.LampOil), alice, bob, int64(5)), n(to), n(to)).when(m),
		)
	}
	return map[string][]testCall{"Switchboard": testCalls}
}

// blockOf returns the block number of a moment.
func (b *bay) blockOf(t *testing.T, m moment) int64 {
	t.Helper()
	if m.old() {
		return b.blocks[m.contract][m.n]
	}
	return value[int64](t, b, "select max(index) from record_file")
}

// blockValues returns test calls whose results depend on the block.
func (b *bay) blockValues(t *testing.T, m moment) []testCall {
	t.Helper()
	block := b.blockOf(t, m)
	hashAt := func(n int64) [32]byte {
		return [32]byte(common.FromHex(value[string](t, b, "select left(hash, 64) from record_file where index = $1",
			n)))
	}
	start := value[int64](t, b, "select consensus_start / 1000000000 from record_file where index = $1", block)
	hbars, cents := b.rate(t, block)
	list := []testCall{
		does("toTinybars", with(n(1_000_000)), n(1_000_000*hbars/cents)),
		does("toTinycents", with(n(1_000_000)), n(1_000_000*cents/hbars)),
		does("seed", nil, hashAt(block)), does("hashOf", with(n(block)), hashAt(block)),
		does("hashOf", with(n(block-255)), hashAt(block-255)), does("hashOf", with(n(block-256)), [32]byte{}),
		does("hashOf", with(n(block+1)), [32]byte{}),
		does("here", nil, n(block), n(start), n(0x128), hashAt(block), common.Address(lz(98)), n(15_000_000), n(0)),
	}
	for i := range list {
		list[i] = list[i].when(m)
	}
	return list
}
