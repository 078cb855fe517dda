package ledger

import (
	"bytes"
	"encoding/hex"
	"errors"
	"testing"
)

func TestQuantityOf(t *testing.T) {
	t.Parallel()
	for digits, want := range map[string]Quantity{
		"": "0x", "00": "0x0", "0128": "0x128", "000a": "0x00a",
		"28": "0x28", "a0": "0xa0",
	} {
		b, err := hex.DecodeString(digits)
		if err != nil {
			t.Fatal(err)
		}
		if got := QuantityOf(b); got != want {
			t.Errorf("QuantityOf(%s) = %s, want %s", digits, got, want)
		}
	}
	if got := QuantityOfInt(71); got != "0x47" {
		t.Errorf("QuantityOfInt(71) = %s", got)
	}
}

// TestValueOfResult tests the value of a call: weibars are signed, and their conversion to tinybars rounds towards
// zero.
func TestValueOfResult(t *testing.T) {
	t.Parallel()
	of := func(value string) *ContractResult {
		b, err := hex.DecodeString(value)
		if err != nil {
			t.Fatal(err)
		}
		return &ContractResult{Amount: Of(int64(5)), Ethereum: &EthereumTransaction{Value: b}}
	}
	for _, c := range []struct {
		name           string
		r              *ContractResult
		value, weibars Integer
	}{
		{"of the record", &ContractResult{Amount: Of(int64(30))}, "30", "300000000000"},
		{
			"more than 64 bits", &ContractResult{Amount: Of(int64(9223372036854775807))}, "9223372036854775807",
			"92233720368547758070000000000",
		},
		{"unknown", &ContractResult{}, "", ""},
		{"no bytes", of(""), "", ""},
		{"less than a tinybar", of("02540be3ff"), "0", "9999999999"},
		{"one tinybar", of("02540be400"), "1", "10000000000"},
		{"negative", of("fdabf41c00"), "-1", "1089511627776"},
		{"hardly negative", of("ff"), "0", "255"},
		{"sign byte", of("00ff"), "0", "255"},
	} {
		if got := c.r.Value(); got != c.value {
			t.Errorf("%s: %s tinybars, want %s", c.name, got, c.value)
		}
		if got := c.r.ValueWeibar(); got != c.weibars {
			t.Errorf("%s: %s weibars, want %s", c.name, got, c.weibars)
		}
	}
}

func TestSignatureV(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		e    *EthereumTransaction
		want Integer
	}{
		{nil, ""},
		{&EthereumTransaction{Type: 0, SignatureV: []byte{0x02, 0x74}, RecoveryID: Of(int16(1))}, "628"},
		{&EthereumTransaction{Type: 0, RecoveryID: Of(int16(1))}, "1"},
		{&EthereumTransaction{Type: 0, RecoveryID: Of(int16(0)), ChainID: []byte{0x01, 0x28}}, "627"},
		{
			&EthereumTransaction{Type: 0, SignatureV: []byte{}, RecoveryID: Of(int16(1)), ChainID: []byte{0x01, 0x28}},
			"628",
		},
		{
			&EthereumTransaction{Type: 0, SignatureV: []byte{0}, RecoveryID: Of(int16(1)), ChainID: []byte{0x01, 0x28}},
			"0",
		},
		{&EthereumTransaction{Type: 0, ChainID: []byte{0x01, 0x28}}, ""},
		{&EthereumTransaction{Type: 1, RecoveryID: Of(int16(1)), ChainID: []byte{0x01, 0x28}}, "1"},
		{&EthereumTransaction{Type: 2, SignatureV: []byte{27}, RecoveryID: Of(int16(0))}, "0"},
		{&EthereumTransaction{Type: 2, SignatureV: []byte{27}}, ""},
	} {
		r := &ContractResult{Ethereum: c.e}
		if got := r.V(); got != c.want {
			t.Errorf("%+v: v %q, want %q", c.e, got, c.want)
		}
	}
}

// TestWithoutEthereum checks which values of a native transaction are null.
func TestWithoutEthereum(t *testing.T) {
	t.Parallel()
	r := &ContractResult{ContractID: 5001, GasLimit: 9, NetworkChainID: "0x128", Result: 33}
	if r.R() != nil || r.S() != nil || r.V() != "" || r.Nonce().Valid || r.MaxFeePerGas() != "" ||
		r.MaxPriorityFeePerGasWeibar() != "" || r.AuthorizationList() != nil {
		t.Errorf("something of a signature is there: %+v", r)
	}
	if r.ChainID() != "0x128" || r.TransactionGasLimit() != 9 || r.Type() != 0 || r.FailureReason().Valid ||
		r.Status() != "0x0" {
		t.Errorf("chain %s, gas limit %d, type %d, reason %v, status %s", r.ChainID(), r.TransactionGasLimit(),
			r.Type(), r.FailureReason(), r.Status())
	}
	r.Ethereum = &EthereumTransaction{GasLimit: 10, ToAddress: []byte{1, 2}}
	if r.ChainID() != "0x" || r.TransactionGasLimit() != 10 || r.FailureReason().V != "CONTRACT_REVERT_EXECUTED" ||
		r.MaxFeePerGas() != "0x" || r.R() == nil || !bytes.Equal(r.To(), []byte{1, 2}) {
		t.Errorf("with an Ethereum transaction: chain %s, gas limit %d, reason %v, fee %s, r %v, to %x", r.ChainID(),
			r.TransactionGasLimit(), r.FailureReason(), r.MaxFeePerGas(), r.R(), r.To())
	}
}

func TestDecodeSenderAlias(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                         "",
		"6a06220401020304":         "01020304",
		"0a0218056a06220401020304": "01020304",
		"6a021805":                 "",
		"6a082204010203041805":     "",
		"6805":                     "",
	} {
		b, err := hex.DecodeString(text)
		if err != nil {
			t.Fatal(err)
		}
		got, err := DecodeSenderAlias(b)
		if err != nil || hex.EncodeToString(got) != want {
			t.Errorf("%s: %x, %v; want %s", text, got, err, want)
		}
	}
	for _, text := range []string{"\x6a", "\x6a\x05\x22", "\x08"} {
		if got, err := DecodeSenderAlias([]byte(text)); !errors.Is(err, ErrSyntax) {
			t.Errorf("%x: %x, %v; want an error", text, got, err)
		}
	}
}
