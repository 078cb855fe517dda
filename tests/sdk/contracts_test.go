package sdk

import (
	"encoding/json"
	"fmt"
	"math/big"
	"net/http"
	"os"
	"strings"
	"testing"

	hiero "github.com/hiero-ledger/hiero-sdk-go/v2/sdk"
)

// Contracts of the demo network.
var (
	coin       = hiero.ContractID{Contract: 3001} // an ERC-20
	breakwater = hiero.ContractID{Contract: 3022} // has functions for all kinds of failures
)

// addressOf returns the EVM address of an account.
func addressOf(t *testing.T, account hiero.AccountID) string {
	t.Helper()
	resp, err := http.Get(fmt.Sprintf("%s/api/v1/accounts/%s?transactions=false", os.Getenv("HELIOGRAPH_URL"),
		account))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }() // the body has been read completely
	var body struct {
		Address string `json:"evm_address"`
	}
	if err := json.NewDecoder(resp.Body).Decode(&body); err != nil || body.Address == "" {
		t.Fatal(err, resp.Status)
	}
	return body.Address
}

func word(v uint64) string { return fmt.Sprintf("%064x", v) }

// TestMirrorNodeContractCallQuery calls functions of contracts.
func TestMirrorNodeContractCallQuery(t *testing.T) {
	client := client(t)
	call := func() *hiero.MirrorNodeContractCallQuery { return hiero.NewMirrorNodeContractCallQuery() }
	holder := addressOf(t, alice)
	to, err := hiero.NewContractFunctionParameters().AddAddress(addressOf(t, bob))
	if err != nil {
		t.Fatal(err)
	}
	spender, err := hiero.NewContractFunctionParameters().AddAddress(holder)
	if err != nil {
		t.Fatal(err)
	}
	if spender, err = spender.AddAddress(addressOf(t, bob)); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		query  *hiero.MirrorNodeContractCallQuery
		want   string
		failed string
	}{
		"a number": {
			query: call().SetContractID(coin).SetFunction("totalSupply", nil),
			want:  word(100_000_000),
		},
		"with arguments": {query: call().SetContractID(coin).SetFunction("allowance", spender), want: word(50_000)},
		"by its address": {
			query: call().SetContractEvmAddress(coin.ToEvmAddress()).SetFunction("decimals", nil),
			want:  word(2),
		},
		"one that changes": {query: call().SetContractID(coin).SetSenderEvmAddress(holder).SetGasLimit(100_000).
			SetFunction("transfer", to.AddUint256BigInt(big.NewInt(5))), want: word(1)},
		"a token": {
			query: call().SetContractEvmAddress(dearer.ToEvmAddress()).SetFunction("decimals", nil),
			want:  word(6),
		},
		"one that fails": {
			query:  call().SetContractID(breakwater).SetFunction("withNothing", nil),
			failed: "CONTRACT_REVERT_EXECUTED",
		},
		"a reason": {query: call().SetContractID(breakwater).SetFunction("withText",
			hiero.NewContractFunctionParameters().AddString("swell")), failed: `"detail":"swell"`},
		"without gas": {
			query:  call().SetContractID(coin).SetGasLimit(1).SetFunction("totalSupply", nil),
			failed: "gas field must be greater than or equal to 21000",
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := c.query.Execute(client)
			if c.failed != "" {
				if err == nil || !strings.Contains(err.Error(), c.failed) {
					t.Fatalf("got %q and error %v, want error %s", got, err, c.failed)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got != "0x"+c.want {
				t.Errorf("got %s, want 0x%s", got, c.want)
			}
		})
	}
}

// TestMirrorNodeContractEstimateGasQuery estimates calls and runs them with the estimated gas.
func TestMirrorNodeContractEstimateGasQuery(t *testing.T) {
	client := client(t)
	to, err := hiero.NewContractFunctionParameters().AddAddress(addressOf(t, bob))
	if err != nil {
		t.Fatal(err)
	}
	to = to.AddUint256BigInt(big.NewInt(5))
	holder := addressOf(t, alice)
	gas, err := hiero.NewMirrorNodeContractEstimateGasQuery().SetContractID(coin).SetSenderEvmAddress(holder).
		SetFunction("transfer", to).Execute(client)
	if err != nil {
		t.Fatal(err)
	}
	if gas <= 21_000 || gas > 100_000 {
		t.Fatalf("estimate of a transfer: %d", gas)
	}
	run := func(limit int64) error {
		_, err := hiero.NewMirrorNodeContractCallQuery().SetContractID(coin).SetSenderEvmAddress(holder).SetGasLimit(
			limit).SetFunction("transfer", to).Execute(client)
		return err
	}
	if err := run(int64(gas)); err != nil {
		t.Errorf("call with the estimated gas: %v", err)
	}
	if err := run(22_000); err == nil || !strings.Contains(err.Error(), "INSUFFICIENT_GAS") {
		t.Errorf("call with too little gas: error %v", err)
	}
	if _, err := hiero.NewMirrorNodeContractEstimateGasQuery().SetContractID(breakwater).SetFunction("withError",
		nil).Execute(client); err == nil ||
		!strings.Contains(err.Error(), "CONTRACT_REVERT_EXECUTED") {
		t.Errorf("estimate of a failing call: error %v", err)
	}
}
