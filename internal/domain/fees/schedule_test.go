package fees_test

import (
	_ "embed"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/crypto"
	"github.com/hiero-ledger/hiero-sdk-go/v2/proto/services"
	"google.golang.org/protobuf/encoding/protowire"

	"heliograph/internal/domain/fees"
	"heliograph/internal/domain/fees/feepb"
	"heliograph/internal/domain/ledger"
)

//go:embed simple_fees.json
var schedulesJSON string

// edited returns the serialized default schedule with parts of its JSON replaced.
func edited(tb testing.TB, oldnew ...string) []byte {
	tb.Helper()
	for i := 0; i < len(oldnew); i += 2 {
		if !strings.Contains(schedulesJSON, oldnew[i]) {
			tb.Fatalf("the schedule has no %s", oldnew[i])
		}
	}
	b, err := fees.EncodeSchedule([]byte(strings.NewReplacer(oldnew...).Replace(schedulesJSON)))
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

// TestValidation tests invalid schedules.
func TestValidation(t *testing.T) {
	t.Parallel()
	good := edited(t)
	if _, err := fees.ParseSchedule(good); err != nil {
		t.Fatal(err)
	}
	field := func(num protowire.Number, typ protowire.Type, content ...byte) []byte {
		return append(protowire.AppendTag(nil, num, typ), content...)
	}
	const network, node = `"network":{"multiplier":9}`, `"node":{"baseFee":100000`
	for name, c := range map[string]struct {
		file []byte
		want string
	}{
		"empty":     {nil, "missing"},
		"garbage":   {[]byte("no schedule at all"), "wire-format"},
		"truncated": {good[:len(good)-1], "wire-format"},
		"unknown field": {
			append(good[:len(good):len(good)], field(9, protowire.VarintType, 1)...),
			"field 9",
		},
		"unknown field inside": {append(good[:len(good):len(good)],
			field(2, protowire.BytesType, 2, 0x10, 1)...), "field 2"},
		"wire type": {
			append(good[:len(good):len(good)], field(2, protowire.VarintType, 1)...),
			"field 2 with wire type 0",
		},
		"no multiplier":             {edited(t, network, `"network":{"multiplier":0}`), "multiplier is 0"},
		"negative multiplier":       {edited(t, network, `"network":{"multiplier":-9}`), "multiplier is -9"},
		"negative base of the node": {edited(t, node, `"node":{"baseFee":-1`), "node: the base fee is -1"},
		"free extra":                {edited(t, `{"name":"GAS","fee":852`, `{"name":"GAS","fee":0`), "GAS costs 0"},
		"negative extra": {
			edited(t, `{"name":"GAS","fee":852`, `{"name":"GAS","fee":-1`),
			"GAS costs -1",
		},
		"extra twice": {edited(t, `{"name":"RECORDS"`, `{"name":"GAS"`), "GAS is priced twice"},
		"unknown extra": {append(good[:len(good):len(good)],
			field(4, protowire.BytesType, 4, 8, 26, 16, 1)...), "extra 26 is not known"},
		"unknown reference": {append(good[:len(good):len(good)],
			field(1, protowire.BytesType, 4, 18, 2, 8, 99)...), "extra 99 is not known"},
		"reference without price": {
			edited(t, `{"name":"NFT_UPDATE","fee":10000000},`, ``),
			"NFT_UPDATE has no price",
		},
		"reference twice": {edited(t, `{"name":"PROCESSING_BYTES","includedCount":1350}`,
			`{"name":"SIGNATURES","includedCount":1350}`), "node: extra SIGNATURES is named twice"},
		"negative count": {
			edited(t, `"includedCount":1350`, `"includedCount":-1`),
			"-1 of extra PROCESSING_BYTES",
		},
		"negative base of a service": {edited(t, `"baseFee":9999000000`, `"baseFee":-1`), "the base fee is -1"},
		"function twice": {
			edited(t, `"name":"CryptoDelete"`, `"name":"CryptoCreate"`),
			"defines CryptoCreate twice",
		},
		"service twice": {
			edited(t, `"name":"Crypto","schedule"`, `"name":"File","schedule"`),
			`service "File" is there twice`,
		},
		"service without definitions": {append(good[:len(good):len(good)],
			field(5, protowire.BytesType, 3, 10, 1, 'x')...), `service "x" defines nothing`},
		"no services": {func() []byte {
			b, err := fees.EncodeSchedule([]byte(`{"node":{},"network":{"multiplier":1}}`))
			if err != nil {
				t.Fatal(err)
			}
			return b
		}(), "no service"},
	} {
		_, err := fees.ParseSchedule(c.file)
		if !errors.Is(err, fees.ErrSchedule) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want something about %q", name, err, c.want)
		}
	}
	for _, bad := range []string{
		`{`, `{"node":{"extras":[{"name":"?"}]}}`, `{"extras":[{"name":"?"}]}`,
		`{"services":[{"schedule":[{"name":"?"}]}]}`,
		`{"services":[{"schedule":[{"name":"GetVersionInfo","extras":[{"name":"?"}]}]}]}`,
	} {
		if _, err := fees.EncodeSchedule([]byte(bad)); !errors.Is(err, fees.ErrSchedule) {
			t.Errorf("%s: %v", bad, err)
		}
	}
	// Two services may have the same function. The first one is used.
	two, err := fees.ParseSchedule(edited(t, `"name":"UtilPrng","baseFee":9000000`,
		`"name":"CryptoCreate","baseFee":1`))
	if err != nil {
		t.Fatal(err)
	}
	if e, err := two.Estimate(parse(t, signed(t, cryptoCreate(ed(1), 0), 1)),
		fees.Options{Mode: fees.Intrinsic}); err != nil || e.Total != 500000000 {
		t.Errorf("%+v %v", e, err)
	}
}

// TestDefaultPrices checks that the names of extras match those of the messages, and that the default schedule prices
// them all.
func TestDefaultPrices(t *testing.T) {
	t.Parallel()
	if len(feepb.Extra_name) != 26 {
		t.Errorf("%d extras", len(feepb.Extra_name))
	}
	for id, name := range feepb.Extra_name {
		if fees.Extra(id).String() != name || !strings.Contains(schedulesJSON, `{"name":"`+name+`","fee":`) {
			t.Errorf("extra %d is %s, not %s, or has no price", id, fees.Extra(id), name)
		}
	}
	if fees.Extra(200).String() != "200" {
		t.Error("an unknown extra has a name")
	}
}

// TestOtherSchedules tests schedules with missing or different definitions.
func TestOtherSchedules(t *testing.T) {
	t.Parallel()
	estimate := func(file []byte, b *body, o fees.Options) (*fees.Estimate, error) {
		s, err := fees.ParseSchedule(file)
		if err != nil {
			t.Fatal(err)
		}
		return s.Estimate(parse(t, signed(t, b, 1)), o)
	}
	intrinsic, state := fees.Options{Mode: fees.Intrinsic}, fees.Options{Mode: fees.State}

	_, err := estimate(edited(t, `{"name":"NFT_UPDATE","includedCount":1}`, `{"name":"KEYS","includedCount":1}`),
		&body{Data: updateNfts(1)}, intrinsic)
	if err == nil || err.Error() != "the fee schedule does not define the extra NFT_UPDATE" {
		t.Errorf("%v", err)
	}
	if _, err := estimate(edited(t, `"name":"UtilPrng"`, `"name":"NONE"`),
		prng(), intrinsic); err != fees.ErrUnknownType { //nolint:errorlint // must be the same value
		t.Errorf("%v", err)
	}
	e, err := estimate(edited(t, `"name":"ContractCall"`, `"name":"NONE"`), call(), intrinsic)
	if err != nil || text(e) != "100000 ×9 | 0" {
		t.Errorf("%+v %v", e, err)
	}
	e, err = estimate(edited(t, `"name":"SystemDelete"`, `"name":"NONE"`), systemDelete(), intrinsic)
	if err != nil || text(e) != "0 ×0 | 0" {
		t.Errorf("%+v %v", e, err)
	}
	e, err = estimate(edited(t, `"nodeNetworkFeeExempt":true`, `"free":true`), call(), intrinsic)
	if err != nil || text(e) != "100000 ×9 | 0" {
		t.Errorf("%+v %v", e, err)
	}
	// Sums and products saturate.
	e, err = estimate(edited(t, `"baseFee":499000000`, `"baseFee":9223372036854775807`, `"multiplier":9}`,
		`"multiplier":2147483647}`), cryptoCreate(listKey(9), 9), intrinsic)
	if err != nil || e.Service.Subtotal != math.MaxInt64 || e.Total != math.MaxInt64 ||
		e.Network.Subtotal != 100000*math.MaxInt32 {
		t.Errorf("%+v %v", e, err)
	}
	e, err = estimate(edited(t, `"baseFee":100000,`, `"baseFee":9223372036854775807,`), prng(), intrinsic)
	if err != nil || e.Network.Subtotal != math.MaxInt64 || e.Total != math.MaxInt64 {
		t.Errorf("%+v %v", e, err)
	}
	// An account creation has the price in the schedule, or none if the schedule does not have it.
	to := transfer(nil, fungible(1))
	to.GetCryptoTransfer().TokenTransfers[0].Transfers[1].AccountID = aliasID([]byte(strings.Repeat("x", 20)))
	e, err = estimate(edited(t, `"name":"CryptoCreate"`, `"name":"NONE"`), to, state)
	if err != nil || e.Total != 10000000 || len(e.Notes) != 1 {
		t.Errorf("%+v %v", e, err)
	}
}

// TestHighVolume tests multipliers with and without curves.
func TestHighVolume(t *testing.T) {
	t.Parallel()
	raw := func(file []byte, b *body, u int64) int64 {
		t.Helper()
		s, err := fees.ParseSchedule(file)
		if err != nil {
			t.Fatal(err)
		}
		e, err := s.Estimate(parse(t, signed(t, highVolume(b), 1)),
			fees.Options{Mode: fees.State, HighVolumeThrottle: u})
		if err != nil {
			t.Fatal(err)
		}
		if e.HighVolumeMultiplier != e.Node.Base/100000 {
			t.Errorf("multiplier %d with a base of %d", e.HighVolumeMultiplier, e.Node.Base)
		}
		return e.Node.Base / 100
	}
	file := edited(t)
	for _, c := range []struct{ u, create, mint, claim, approve, contract int64 }{
		{0, 4000, 4000, 4000, 4000, 4000},
		{3, 8000, 4000, 4000, 4000, 4000},
		{4, 9000, 4000, 4000, 4000, 4000},
		{35, 50000, 4000, 4000, 4000, 4000},
		{100, 80000, 10000, 4000, 4000, 4000},
		{1000, 200000, 60000, 4000, 4000, 20000},
		{5000, 200000, 108333, 8499, 4000, 60000},
		{10000, 200000, 150000, 15000, 4000, 80000},
	} {
		got := []int64{
			raw(file, cryptoCreate(nil, 0), c.u), raw(file, mint(1, 0), c.u), raw(file, claim(), c.u),
			raw(file, allowances(1, 0, 0), c.u),
			raw(file, contractCreate(), c.u),
		}
		for i, want := range []int64{c.create, c.mint, c.claim, c.approve, c.contract} {
			if got[i] != want {
				t.Errorf("at %d, column %d: %d, want %d", c.u, i, got[i], want)
			}
		}
	}
	// ofMint returns a schedule in which minting has other rates.
	ofMint := func(rates string) []byte {
		from := strings.Index(schedulesJSON, `"name":"TokenMint","`)
		from += strings.Index(schedulesJSON[from:], `"highVolumeRates":`)
		to := from + strings.Index(schedulesJSON[from:], `}]}}}`) + len(`}]}}}`)
		return edited(t, schedulesJSON[from:to], rates)
	}
	linear := func(most string, points string) string {
		return `"highVolumeRates":{"maxMultiplier":` + most + `,"pricingCurve":{"piecewiseLinear":{"points":[` +
			points + `]}}}`
	}
	const curve = `{"utilizationBasisPoints":10000,"multiplier":5000},{"utilizationBasisPoints":5000,` +
		`"multiplier":2000},{"multiplier":1000}`
	for name, c := range map[string]struct {
		rates   string
		u, want int64
	}{
		"no rates":            {`"free":false`, 10000, 1000},
		"no curve":            {`"highVolumeRates":{"maxMultiplier":100000}`, 5000, 50500},
		"no curve, all of it": {`"highVolumeRates":{"maxMultiplier":50000}`, 10000, 50000},
		"no points":           {linear("5000", ""), 2500, 2000},
		"most is too little":  {`"highVolumeRates":{"maxMultiplier":500}`, 10000, 1000},
		"most is negative":    {`"highVolumeRates":{"maxMultiplier":-1}`, 10000, 1000},
		"between points":      {linear("9000", curve), 2500, 1500},
		"between others":      {linear("9000", curve), 7500, 3500},
		"at a point":          {linear("9000", curve), 5000, 2000},
		"bounded":             {linear("3000", curve), 10000, 3000},
		"one point":           {linear("9000", `{"utilizationBasisPoints":5000,"multiplier":2000}`), 1, 2000},
		"below the first point": {
			linear("9000",
				`{"utilizationBasisPoints":9000,"multiplier":3000},{"utilizationBasisPoints":5000,"multiplier":2000}`),
			1, 2000,
		},
		"above the last point": {
			linear("9000",
				`{"utilizationBasisPoints":9000,"multiplier":3000},{"utilizationBasisPoints":5000,"multiplier":2000}`),
			9001, 3000,
		},
		"raised point": {
			linear("9000",
				`{"utilizationBasisPoints":10000,"multiplier":2000},{"utilizationBasisPoints":0,"multiplier":1}`),
			5000, 1500,
		},
		"falling": {
			linear("9000",
				`{"utilizationBasisPoints":10000,"multiplier":1000},{"utilizationBasisPoints":0,"multiplier":2001}`),
			1, 2001,
		},
		"two points in a place": {
			linear("9000",
				`{"utilizationBasisPoints":10,"multiplier":2000},{"utilizationBasisPoints":10,"multiplier":3000}`),
			10, 2000,
		},
	} {
		if got := raw(ofMint(c.rates), mint(1, 0), c.u); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
}

// TestScaling checks that each part is multiplied separately.
func TestScaling(t *testing.T) {
	t.Parallel()
	e := estimate(t, signed(t, highVolume(cryptoCreate(listKey(3), 0)), 2),
		fees.Options{Mode: fees.State, HighVolumeThrottle: 5000})
	if e.Node.Base != 20000000 || e.Node.Extras[0].FeePerUnit != 20000000 ||
		e.Service.Extras[0].FeePerUnit != 20000000000 ||
		e.Service.Extras[0].Subtotal != 40000000000 {
		t.Errorf("%+v", e)
	}
	// 8.499 × 900 is rounded down for each of three units, but once for their sum.
	s, err := fees.ParseSchedule(edited(t, `{"name":"SIGNATURES","fee":100000`, `{"name":"SIGNATURES","fee":901`))
	if err != nil {
		t.Fatal(err)
	}
	e, err = s.Estimate(parse(t, signed(t, highVolume(claim()), 4)),
		fees.Options{Mode: fees.State, HighVolumeThrottle: 5000})
	if err != nil || e.Node.Extras[0].FeePerUnit != 7657 || e.Node.Extras[0].Subtotal != 22971 ||
		e.Node.Subtotal != 849900+22972 || e.HighVolumeMultiplier != 8 {
		t.Errorf("%+v %v", e.Node.Extras[0], err)
	}
}

// TestAccountCreation checks for which receivers an account is created, and the notes about it.
func TestAccountCreation(t *testing.T) {
	t.Parallel()
	address := func(n byte) []byte { return []byte(strings.Repeat(string(rune('a'+n)), 20)) }
	key := marshal(t, ed(9))
	private, err := crypto.GenerateKey()
	if err != nil {
		t.Fatal(err)
	}
	ecdsa := marshal(t,
		&services.Key{Key: &services.Key_ECDSASecp256K1{ECDSASecp256K1: crypto.CompressPubkey(&private.PublicKey)}})
	noPoint := marshal(t, &services.Key{Key: &services.Key_ECDSASecp256K1{ECDSASecp256K1: make([]byte, 33)}})
	longZero := append(make([]byte, 12), 1, 2, 3, 4, 5, 6, 7, 8)
	for name, c := range map[string]struct {
		body    *body
		mode    fees.Mode
		owned   []string
		created int64
	}{
		"to an address":     {transfer(pay(address(0))), fees.State, nil, 1},
		"to a key":          {transfer(pay(key)), fees.State, nil, 1},
		"to an ECDSA key":   {transfer(pay(ecdsa)), fees.State, nil, 1},
		"to an ECDSA alias": {transfer(pay(ecdsa)), fees.State, []string{string(ecdsa)}, 0},
		"to a known address": {
			transfer(pay(ecdsa)), fees.State,
			[]string{string(crypto.PubkeyToAddress(private.PublicKey).Bytes())},
			0,
		},
		"to no ECDSA key": {transfer(pay(noPoint)), fees.State, nil, 0},
		"to somebody":     {transfer(pay(address(0))), fees.State, []string{string(address(0))}, 0},
		"intrinsic":       {transfer(pay(address(0))), fees.Intrinsic, nil, 0},
		"from an address": {
			transfer([]*serviceAmount{amount(aliasID(address(0)), -1), amount(accountID(1), 1)}),
			fees.State, nil, 0,
		},
		"to a number's address": {transfer(pay(longZero)), fees.State, nil, 0},
		"to a list of keys":     {transfer(pay(marshal(t, listKey(1)))), fees.State, nil, 0},
		"to nonsense":           {transfer(pay([]byte(strings.Repeat("x", 34)))), fees.State, nil, 0},
		"twice to one": {
			transfer(pay(address(0)), &serviceList{Token: token(1), Transfers: pay(address(0))}),
			fees.State, nil, 1,
		},
		"to two": {
			transfer(pay(address(0)), &serviceList{Token: token(1), Transfers: pay(address(1))}),
			fees.State, nil, 2,
		},
		"an NFT": {
			transfer(nil, &serviceList{Token: token(1), NftTransfers: give(address(1))}),
			fees.State, nil, 1,
		},
		"an airdrop": {
			airdrop(&serviceList{Token: token(1), Transfers: pay(address(1))}), fees.State,
			nil, 1,
		},
	} {
		tx := parse(t, signed(t, c.body, 1))
		facts := &ledger.FeeFacts{Owned: map[string]bool{}}
		for _, a := range c.owned {
			facts.Owned[a] = true
		}
		e, err := schedule(t).Estimate(tx, fees.Options{Mode: c.mode, Facts: facts})
		if err != nil {
			t.Fatal(err)
		}
		var got int64
		for _, x := range e.Service.Extras {
			if x.Extra == fees.AccountCreations {
				if got = x.Charged; x.FeePerUnit != 499000000 || x.Name() != "ACCOUNT_CREATIONS" {
					t.Errorf("%s: %+v", name, x)
				}
			}
		}
		if got != c.created || (len(e.Notes) == 1) != (c.created > 0) {
			t.Errorf("%s: %d accounts, notes %q", name, got, e.Notes)
		}
		sound(t, e)
	}
}

// TestQuestions checks which facts are requested.
func TestQuestions(t *testing.T) {
	t.Parallel()
	if q := parse(t, signed(t, cryptoCreate(ed(1), 0), 1)).Questions(); q.Any() {
		t.Errorf("%+v", q)
	}
	private, err := crypto.GenerateKey()
	if err != nil {
		t.Fatal(err)
	}
	ecdsa := marshal(t,
		&services.Key{Key: &services.Key_ECDSASecp256K1{ECDSASecp256K1: crypto.CompressPubkey(&private.PublicKey)}})
	if q := parse(t, signed(t, transfer(append(pay(ecdsa), pay(ecdsa)...)), 1)).Questions(); len(q.Aliases) != 2 ||
		len(q.Aliases[1]) != 20 {
		t.Errorf("%+v", q)
	}
	var crowd []*serviceAmount
	for i := range 300 {
		crowd = append(crowd, amount(aliasID(fmt.Appendf(nil, "%020d", i)), 1))
	}
	if q := parse(t, signed(t, transfer(crowd), 1)).Questions(); len(q.Aliases) != 100 {
		t.Errorf("%d aliases are looked up", len(q.Aliases))
	}
	if q := parse(t, signed(t, message(1), 1)).Questions(); q.Topic != tokenEntity(t, 7) || !q.Any() {
		t.Errorf("%+v", q)
	}
	b := transfer(nil, fungible(9), fungible(3), fungible(9), &serviceList{Token: token(-1)}, &serviceList{})
	if q := parse(t, signed(t, b, 1)).Questions(); len(q.Tokens) != 2 || q.Tokens[0] != tokenEntity(t, 3) ||
		q.Tokens[1] != tokenEntity(t, 9) {
		t.Errorf("%+v", q)
	}
}
