package ledger_test

import (
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"heliograph/internal/domain/ledger"
)

func fromHex(t *testing.T, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// num and msg append a field to a message.
func num(b []byte, field protowire.Number, v uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(b, field, protowire.VarintType), v)
}

func msg(b []byte, field protowire.Number, v []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(b, field, protowire.BytesType), v)
}

// TestTinybars converts small amounts, and amounts that exceed 64 bits in an intermediate or final result.
func TestTinybars(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		rate      ledger.ExchangeRate
		tinycents int64
		want      ledger.Null[int64]
	}{
		{ledger.ExchangeRate{HbarEquivalent: 30000, CentEquivalent: 450041}, 500000000, ledger.Of(int64(33330296))},
		{ledger.ExchangeRate{HbarEquivalent: 30000, CentEquivalent: 450041}, 0, ledger.Of(int64(0))},
		{ledger.ExchangeRate{HbarEquivalent: 1, CentEquivalent: 3}, 5, ledger.Of(int64(1))},
		{
			ledger.ExchangeRate{HbarEquivalent: math.MaxInt32, CentEquivalent: math.MaxInt32},
			math.MaxInt64,
			ledger.Of(int64(math.MaxInt64)),
		},
		{ledger.ExchangeRate{HbarEquivalent: 2, CentEquivalent: 1}, math.MaxInt64, ledger.Null[int64]{}},
		{ledger.ExchangeRate{HbarEquivalent: math.MaxInt32, CentEquivalent: 1}, math.MaxInt64, ledger.Null[int64]{}},
		{ledger.ExchangeRate{HbarEquivalent: 1}, 1, ledger.Null[int64]{}},
		{ledger.ExchangeRate{HbarEquivalent: -1, CentEquivalent: 1}, 1, ledger.Null[int64]{}},
		{ledger.ExchangeRate{HbarEquivalent: 1, CentEquivalent: 1}, -1, ledger.Null[int64]{}},
	} {
		if got := c.rate.Tinybars(c.tinycents); got != c.want {
			t.Errorf("%d tinycents at %+v: %+v, want %+v", c.tinycents, c.rate, got, c.want)
		}
	}
}

func TestDecodeExchangeRates(t *testing.T) {
	t.Parallel()
	set, err := ledger.DecodeExchangeRates(fromHex(t,
		"0a1008b0ea0110f9bb1b1a0608f0cccf9306121008b0ea0110e9c81a1a060880e9cf9306"))
	if err != nil {
		t.Fatal(err)
	}
	if want := (ledger.ExchangeRate{
		CentEquivalent: 450041, HbarEquivalent: 30000,
		ExpirationTime: ledger.Of(int64(1651762800)),
	}); *set.CurrentRate != want {
		t.Errorf("the current rate is %+v, want %+v", *set.CurrentRate, want)
	}
	if want := (ledger.ExchangeRate{
		CentEquivalent: 435305, HbarEquivalent: 30000,
		ExpirationTime: ledger.Of(int64(1651766400)),
	}); *set.NextRate != want {
		t.Errorf("the next rate is %+v, want %+v", *set.NextRate, want)
	}
	for text, want := range map[string]string{
		"":                             "<nil> <nil>",
		"0a00":                         "&{0 {0 false} 0} <nil>",
		"0a0208030a02100b":             "&{11 {0 false} 3} <nil>", // parts of one message
		"12021a00":                     "<nil> &{0 {0 true} 0}",
		"12091080ffffffffffffffff0100": "",            // the length is truncated
		"0805ba060100":                 "<nil> <nil>", // unknown fields, and a known field with another wire type
		"0a0c10ffffffffffffffffff011a": "",
		"0a":                           "",
		"0a0510":                       "",
		"0b":                           "", // a group without an end
		"0b0c":                         "<nil> <nil>",
		"0c":                           "",
		"0a021a05":                     "",
		"07":                           "",
		"00":                           "",
	} {
		set, err := ledger.DecodeExchangeRates(fromHex(t, text))
		if (err != nil) != (want == "") || err != nil && !errors.Is(err, ledger.ErrSyntax) {
			t.Errorf("%s: error %v", text, err)
		}
		if err == nil {
			if got := fmt.Sprint(set.CurrentRate, " ", set.NextRate); got != want {
				t.Errorf("%s: %s, want %s", text, got, want)
			}
		}
	}
}

// function returns a serialized entry of a fee schedule. Without a price the entry has no service fee.
func function(number uint64, gas ...uint64) []byte {
	b := num(nil, 1, number)
	for _, g := range gas {
		b = msg(b, 3, msg(msg(nil, 1, num(nil, 3, 7)), 3, num(nil, 8, g)))
	}
	return b
}

// schedule returns a serialized fee schedule with an expiry in seconds.
func schedule(expires uint64, functions ...[]byte) []byte {
	var b []byte
	for _, f := range functions {
		b = msg(b, 1, f)
	}
	return msg(b, 2, num(nil, 1, expires))
}

func TestGasFees(t *testing.T) {
	t.Parallel()
	rate := func(hbar, cent int32, until int64) *ledger.ExchangeRate {
		return &ledger.ExchangeRate{HbarEquivalent: hbar, CentEquivalent: cent, ExpirationTime: ledger.Of(until)}
	}
	calls := func(gas uint64) []byte { return schedule(100, function(6, gas)) }
	const expiry = ledger.Timestamp(100e9)
	for name, c := range map[string]struct {
		current, next []byte
		rates         ledger.ExchangeRateSet
		at            ledger.Timestamp
		want          string
	}{
		"truncates": {
			calls(345678), nil,
			ledger.ExchangeRateSet{CurrentRate: rate(3, 11, 100)},
			0, "ContractCall 94",
		},
		"divides first": {
			calls(1500999), nil,
			ledger.ExchangeRateSet{CurrentRate: rate(1, 7, 100)},
			0, "ContractCall 214",
		},
		"real rates": {
			calls(2000000), nil,
			ledger.ExchangeRateSet{CurrentRate: rate(30000, 400000, 100)},
			0, "ContractCall 150",
		},
		"one at least": {
			calls(999), nil,
			ledger.ExchangeRateSet{CurrentRate: rate(9, 1, 100)},
			0, "ContractCall 1",
		},
		"no cents":    {calls(345678), nil, ledger.ExchangeRateSet{CurrentRate: rate(3, 0, 100)}, 0, ""},
		"no rate":     {calls(345678), nil, ledger.ExchangeRateSet{}, 0, ""},
		"no schedule": {nil, nil, ledger.ExchangeRateSet{CurrentRate: rate(1, 1, 100)}, 0, ""},
		"until the expiry": {
			calls(2000), calls(3000),
			ledger.ExchangeRateSet{CurrentRate: rate(1, 1, 100), NextRate: rate(5, 1, 200)},
			expiry, "ContractCall 2",
		},
		"after the expiry": {calls(2000), calls(3000), ledger.ExchangeRateSet{
			CurrentRate: rate(1, 1, 100),
			NextRate:    rate(5, 1, 200),
		}, expiry + 1, "ContractCall 15"},
		"rate lasts longer": {calls(2000), calls(3000), ledger.ExchangeRateSet{
			CurrentRate: rate(1, 1, 101),
			NextRate:    rate(5, 1, 200),
		}, expiry + 1, "ContractCall 3"},
		"empty next": {
			calls(2000), schedule(200),
			ledger.ExchangeRateSet{CurrentRate: rate(1, 1, 200)},
			expiry + 1, "ContractCall 2",
		},
		"no next rate": {calls(2000), nil, ledger.ExchangeRateSet{CurrentRate: rate(1, 1, 100)}, expiry + 1, ""},
		"expiry is missing": {
			msg(nil, 1, function(6, 2000)), calls(3000),
			ledger.ExchangeRateSet{CurrentRate: rate(1, 1, 100)},
			1, "ContractCall 3",
		},
		"the first function": {
			schedule(100, function(8, 9000), function(84, 1000), function(7, 2000), function(6, 3000)), nil,
			ledger.ExchangeRateSet{CurrentRate: rate(1, 1, 100)},
			0, "ContractCall 1",
		},
		"the first variant": {
			schedule(100, function(6, 1000, 2000)), nil,
			ledger.ExchangeRateSet{CurrentRate: rate(1, 1, 100)},
			0, "ContractCall 1",
		},
		"without fees": {
			schedule(100, function(6), function(7, 1000)),
			nil,
			ledger.ExchangeRateSet{CurrentRate: rate(1, 1, 100)},
			0, "ContractCall 1",
		},
		"without a service": {
			schedule(100, msg(num(nil, 1, 6), 3, nil)),
			nil,
			ledger.ExchangeRateSet{CurrentRate: rate(1, 1, 100)},
			0, "",
		},
		"the old form alone": {
			schedule(100, msg(num(nil, 1, 6), 2, msg(nil, 3, num(nil, 8, 5000)))),
			nil,
			ledger.ExchangeRateSet{CurrentRate: rate(1, 1, 100)},
			0, "",
		},
	} {
		file := []byte{}
		if c.current != nil {
			file = msg(file, 1, c.current)
		}
		if c.next != nil {
			file = msg(file, 2, c.next)
		}
		schedules, err := ledger.DecodeFeeSchedules(file)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var got []string
		for _, f := range ledger.GasFees(schedules.Tinycents(c.at), c.rates.At(c.at)) {
			got = append(got, fmt.Sprintf("%s %d", f.TransactionType, f.Gas))
		}
		want := c.want
		if gas, found := strings.CutPrefix(want, "ContractCall"); found { // all functions have the same price
			want += ", ContractCreate" + gas + ", EthereumTransaction" + gas
		}
		if text := strings.Join(got, ", "); text != want {
			t.Errorf("%s: %q, want %q", name, text, want)
		}
	}
}

// TestSimpleGas tests prices of the simple fee schedule.
func TestSimpleGas(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		tinycents  int64
		hbar, cent int32
		want       int64
	}{
		{852, 1, 12, 71},
		{852, 1, 15, 56},
		{852, 30_000, 851_000, 30},
		{1_701_999, 30_000, 851_000, 59_999},
		{1, 30_000, 851_000, 1},
		{-5, 1, 1, 1},
		{852, 1, 0, 0},
	} {
		rate := ledger.ExchangeRate{
			HbarEquivalent: c.hbar, CentEquivalent: c.cent,
			ExpirationTime: ledger.Of(int64(9e9)),
		}
		got := ledger.GasFees(ledger.Of(c.tinycents), rate)
		price := ledger.SimpleGas(ledger.Of(c.tinycents)).GasPrice(&ledger.ExchangeRateSet{CurrentRate: &rate}, 5)
		if c.want == 0 {
			if len(got) != 0 || price.Valid {
				t.Errorf("%+v: %v, %v", c, got, price)
			}
			continue
		}
		if len(got) != 3 || got[0].Gas != c.want || got[2].Gas != c.want || price != ledger.Of(c.want) {
			t.Errorf("%+v: %v, %v", c, got, price)
		}
	}
	if got := ledger.GasFees(ledger.Null[int64]{},
		ledger.ExchangeRate{HbarEquivalent: 1, CentEquivalent: 1}); len(got) != 0 {
		t.Error(got)
	}
}

// TestFeeFiles tests which file has the price of gas.
func TestFeeFiles(t *testing.T) {
	t.Parallel()
	const mainnet = 1779296400389248896
	for _, c := range []struct {
		name        string
		chain       ledger.Quantity
		at          ledger.Timestamp
		file, other int64
	}{
		{"MAINNET", "", mainnet - 1, 111, 0},
		{"mainnet", "0x128", mainnet, 113, 0},
		{"Testnet", "", 1777482002529719509, 111, 0},
		{"TESTNET", "", 1777482002529719510, 113, 0},
		{"DEMO", "", 0, 113, 0},
		{"PREVIEWNET", "", 0, 113, 0},
		{"OTHER", "0x127", 0, 113, 0},
		{"", "0x127", mainnet - 1, 111, 113},
		{"", "0x127", mainnet, 113, 111},
		{"", "0x128", 1, 111, 113},
		{"", "0x129", 1, 113, 111},
		{"", "0x1", 1, 113, 111},
	} {
		files, err := ledger.FeeFilesOf(c.name, c.chain)
		if file, other := files.At(c.at); err != nil || file != c.file || other != c.other {
			t.Errorf("%+v: %d, %d, %v", c, file, other, err)
		}
	}
	if _, err := ledger.FeeFilesOf("moonnet", "0x127"); err == nil {
		t.Error("an unknown network has files")
	}
}

// TestGasPrice checks the selection of current and next prices.
func TestGasPrice(t *testing.T) {
	t.Parallel()
	const hour = 3600
	at := func(seconds int64) ledger.Timestamp { return ledger.Timestamp(seconds * 1e9) }
	calls := func(expires, gas uint64) []byte {
		return schedule(expires, function(8, 99), function(6, gas), function(6, 5))
	}
	rate := func(cents int32, until int64) *ledger.ExchangeRate {
		return &ledger.ExchangeRate{HbarEquivalent: 30_000, CentEquivalent: cents, ExpirationTime: ledger.Of(until)}
	}
	both := msg(msg(nil, 1, calls(10*hour, 852_000)), 2, calls(99*hour, 900_000))
	rates := ledger.ExchangeRateSet{CurrentRate: rate(360_000, 12*hour), NextRate: rate(720_000, 13*hour)}
	for _, c := range []struct {
		name  string
		file  []byte
		rates ledger.ExchangeRateSet
		at    ledger.Timestamp
		want  ledger.Null[int64]
	}{
		{"current", both, rates, at(9 * hour), ledger.Of(int64(71))},
		{"the hour of expiry", both, rates, at(11*hour - 1), ledger.Of(int64(71))},
		{"next schedule", both, rates, at(11 * hour), ledger.Of(int64(75))},
		{"the rate's hour of expiry", both, rates, at(13*hour - 1), ledger.Of(int64(75))},
		{"next rate", both, rates, at(13 * hour), ledger.Of(int64(37))},
		{"no next schedule", msg(nil, 1, calls(10*hour, 852_000)), rates, at(11 * hour), ledger.Null[int64]{}},
		{
			"a schedule without expiry", msg(msg(nil, 1, msg(nil, 1, function(6, 852_000))), 2, calls(99*hour, 1)),
			rates, at(11 * hour), ledger.Of(int64(71)),
		},
		{"at least one", msg(nil, 1, calls(10*hour, 1)), rates, at(hour), ledger.Of(int64(1))},
		{
			"the first variant", msg(nil, 1, schedule(10*hour, function(6, 852_000, 1))), rates, at(hour),
			ledger.Of(int64(71)),
		},
		{
			"without a service", msg(nil, 1, schedule(10*hour, msg(num(nil, 1, 6), 3, nil))), rates,
			at(hour), ledger.Of(int64(1)),
		},
		{
			"no contract call", msg(nil, 1, schedule(10*hour, function(7, 1), function(6))), rates,
			at(hour),
			ledger.Null[int64]{},
		},
		{"no schedule", nil, rates, at(hour), ledger.Null[int64]{}},
		{"no cents", both, ledger.ExchangeRateSet{CurrentRate: rate(0, 12*hour)}, at(hour), ledger.Null[int64]{}},
		{"no next rate", both, ledger.ExchangeRateSet{CurrentRate: rate(1, 1)}, at(hour), ledger.Null[int64]{}},
	} {
		schedules, err := ledger.DecodeFeeSchedules(c.file)
		if err != nil {
			t.Fatal(c.name, err)
		}
		if got := schedules.GasPrice(&c.rates, c.at); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// TestDecodeFeeSchedulesMalformed tests malformed schedules at every depth.
func TestDecodeFeeSchedulesMalformed(t *testing.T) {
	t.Parallel()
	broken := []byte{0x08}
	for name, b := range map[string][]byte{
		"the file":             broken,
		"the current schedule": msg(nil, 1, broken),
		"the next schedule":    msg(nil, 2, broken),
		"the expiry":           msg(nil, 1, msg(nil, 2, broken)),
		"a function":           msg(nil, 1, msg(nil, 1, broken)),
		"its old form":         msg(nil, 1, msg(nil, 1, msg(nil, 2, broken))),
		"its fee":              msg(nil, 1, msg(nil, 1, msg(nil, 3, broken))),
		"the node's part":      msg(nil, 1, msg(nil, 1, msg(nil, 3, msg(nil, 1, broken)))),
		"the network's part":   msg(nil, 1, msg(nil, 1, msg(nil, 3, msg(nil, 2, broken)))),
		"the service's part":   msg(nil, 1, msg(nil, 1, msg(nil, 3, msg(nil, 3, broken)))),
	} {
		if _, err := ledger.DecodeFeeSchedules(b); !errors.Is(err, ledger.ErrSyntax) {
			t.Errorf("%s is broken: error %v", name, err)
		}
	}
}
