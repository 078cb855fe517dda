package calls_test

import (
	"slices"
	"strings"
	"testing"

	"heliograph/internal/domain/evm/calls"
	"heliograph/internal/domain/evm/worldstate"
	"heliograph/internal/domain/ledger"
)

func TestValidate(t *testing.T) {
	t.Parallel()
	address, word := make([]byte, 20), make([]byte, 32)
	address[19] = 1
	for _, test := range []struct {
		name string
		in   calls.ContractCallInput
		want []string // the fields of the errors
	}{
		{"valid", calls.ContractCallInput{Gas: 21_000, To: address}, nil},
		{"creation with value", calls.ContractCallInput{
			Gas: 21_000, From: address, Value: 1,
			Data: []byte{0x60, 0x80, 0x60, 0x40, 0x39, 0xf3, 0, 0},
		}, nil},
		{"lengths", calls.ContractCallInput{Gas: 21_000, From: address[:19], To: address[:1]}, []string{"from", "to"}},
		{
			"below the minimum",
			calls.ContractCallInput{Gas: 20_999, GasPrice: -1, Value: -1},
			[]string{"gas", "gasPrice", "value"},
		},
		{"value without sender", calls.ContractCallInput{Gas: 21_000, To: address, Value: 1}, []string{"from"}},
		{"value without callee", calls.ContractCallInput{Gas: 21_000, From: address, Value: 1}, []string{"to"}},
		{
			"override",
			calls.ContractCallInput{Gas: 21_000, StateOverrides: []*calls.StateOverrideInput{
				{Address: address}, {
					Address: address[:2], Balance: word,
					State: []*calls.SlotValueInput{{Key: word, Value: word[:1]}},
				},
			}},
			[]string{"stateOverrides[1].address", "stateOverrides[1].balance", "stateOverrides[1].state.value"},
		},
	} {
		var got []string
		for _, e := range test.in.Validate() {
			got = append(got, e.Field)
			if !strings.HasPrefix(e.Error(), e.Field+" ") {
				t.Errorf("%s: the message does not name the field: %s", test.name, e)
			}
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}

func TestParseBlockRef(t *testing.T) {
	t.Parallel()
	number := func(n int64) worldstate.BlockRef { return worldstate.BlockRef{Number: ledger.Of(n)} }
	hash := strings.Repeat("ab", 32)
	for text, want := range map[string]worldstate.BlockRef{
		"": {}, "latest": {}, "Pending": {}, "safe": {}, "finalized": {}, "earliest": {Earliest: true},
		"0": number(0), "17": number(17), "0x11": number(17), "0xFF": number(255),
		"0x" + strings.ToUpper(hash): {Hash: hash},
	} {
		if got, err := calls.ParseBlockRef(text); err != nil || got != want {
			t.Errorf("%q: %+v, %v", text, got, err)
		}
	}
	for _, text := range []string{
		"foo", "-1", "0x", "0xg", "1.5", "0x" + hash[1:], "9223372036854775808",
		"0xffffffffffffffff",
	} {
		if got, err := calls.ParseBlockRef(text); err == nil {
			t.Errorf("%q: %+v", text, got)
		}
	}
}

func TestOverrideNumbers(t *testing.T) {
	t.Parallel()
	o := calls.StateOverrideInput{Balance: []byte{1, 0}, Nonce: []byte{}}
	if got := o.BalanceValue(); got != ledger.Of(uint64(256)) {
		t.Errorf("balance %+v", got)
	}
	if got := o.NonceValue(); got != ledger.Of(uint64(0)) {
		t.Errorf("nonce %+v", got)
	}
	if got := new(calls.StateOverrideInput).NonceValue(); got.Valid {
		t.Errorf("missing nonce %+v", got)
	}
}

func TestGasHex(t *testing.T) {
	t.Parallel()
	if got := (&calls.GasEstimate{Gas: ledger.Of(int64(25_232))}).GasHex(); got != ledger.Of("0x0000000000006290") {
		t.Errorf("%+v", got)
	}
	if got := new(calls.GasEstimate).GasHex(); got.Valid {
		t.Errorf("without an estimate: %+v", got)
	}
}
