// Package sdk tests a running gateway with the SDK of the network. It is a separate module, because the gateway does
// not need the complete SDK.
package sdk

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	protos "github.com/hiero-ledger/hiero-sdk-go/v2/proto/sdk"
	hiero "github.com/hiero-ledger/hiero-sdk-go/v2/sdk"
	"google.golang.org/protobuf/proto"
)

// Accounts, tokens and topics of the demo network.
var (
	node    = hiero.AccountID{Account: 3}
	alice   = hiero.AccountID{Account: 1001}
	bob     = hiero.AccountID{Account: 1002}
	dearer  = hiero.TokenID{Token: 2001} // has a custom fee
	chat    = hiero.TopicID{Topic: 4001}
	notices = hiero.TopicID{Topic: 4003} // has a custom fee
)

// TestFeeEstimateQuery estimates fees of transactions that the SDK creates.
func TestFeeEstimateQuery(t *testing.T) {
	client := client(t)
	transfer := func() hiero.TransactionInterface {
		return hiero.NewTransferTransaction().AddTokenTransfer(dearer, alice, -500).AddTokenTransfer(dearer, bob, 500)
	}
	create := func() hiero.TransactionInterface {
		key, err := hiero.PrivateKeyGenerateEd25519()
		if err != nil {
			t.Fatal(err)
		}
		tx := hiero.NewAccountCreateTransaction().SetKeyWithoutAlias(key.PublicKey())
		tx.SetHighVolume(true)
		return tx
	}
	message := func(topic hiero.TopicID, length int) func() hiero.TransactionInterface {
		return func() hiero.TransactionInterface {
			tx, err := hiero.NewTopicMessageSubmitTransaction().SetTopicID(
				topic,
			).SetMessage(strings.Repeat("x", length)).FreezeWith(client)
			if err != nil {
				t.Fatal(err)
			}
			return tx
		}
	}
	for name, c := range map[string]struct {
		tx         func() hiero.TransactionInterface
		mode       hiero.FeeEstimateMode
		throttle   uint16
		total      uint64
		multiplier uint64
		extras     []string
	}{
		"transfer": {transfer, hiero.FeeEstimateModeIntrinsic, 0, 2000000, 1, []string{"TOKEN_TYPES"}},
		"transfer, state": {transfer, hiero.FeeEstimateModeState, 0, 20000000, 1, []string{
			"TOKEN_TRANSFER_BASE_CUSTOM_FEES",
		}},
		"high volume, intrinsic": {create, hiero.FeeEstimateModeIntrinsic, 100, 500000000, 1, nil},
		"high volume":            {create, hiero.FeeEstimateModeState, 100, 500000000 * 80, 80, nil},
		// the SDK adds up the chunks and drops the extras
		"message":               {message(chat, 128), hiero.FeeEstimateModeState, 0, 1890400, 1, nil},
		"message to dear topic": {message(notices, 128), hiero.FeeEstimateModeState, 0, 500000000, 1, nil},
		"message of several chunks": {message(
			chat, 2500,
		), hiero.FeeEstimateModeState, 0, 3*(1000000+700000) + (924+924+352)*6800, 1, nil},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := hiero.NewFeeEstimateQuery().SetMode(
				c.mode,
			).SetTransaction(c.tx()).SetHighVolumeThrottle(c.throttle).Execute(client)
			if err != nil {
				t.Fatal(err)
			}
			if got.Total != c.total || got.HighVolumeMultiplier != c.multiplier || got.NetworkFee.Multiplier != 9 {
				t.Errorf("total %d, multiplier %d, want %d and %d: %+v", got.Total, got.HighVolumeMultiplier,
					c.total, c.multiplier, got)
			}
			if sum := got.NodeFee.Subtotal() + got.NetworkFee.Subtotal + got.ServiceFee.Subtotal(); sum != got.Total {
				t.Errorf("sum of the parts: %d, total: %d", sum, got.Total)
			}
			var names []string
			for _, e := range got.ServiceFee.Extras {
				names = append(names, e.Name)
			}
			if strings.Join(names, " ") != strings.Join(c.extras, " ") {
				t.Errorf("extras %v, want %v", names, c.extras)
			}
		})
	}
}

// TestFeeEstimateRefused requests an estimate that is not supported.
func TestFeeEstimateRefused(t *testing.T) {
	_, err := hiero.NewFeeEstimateQuery().SetTransaction(
		hiero.NewFreezeTransaction(),
	).SetMaxAttempts(1).Execute(client(t))
	if err == nil || !strings.Contains(
		err.Error(), "400",
	) || !strings.Contains(err.Error(), "Unknown transaction type") {
		t.Errorf("%v", err)
	}
}

// TestTransactionList estimates the fee of a transaction for two nodes. The SDK serializes it as a list: REST takes
// the first transaction of it, the graph the list too.
func TestTransactionList(t *testing.T) {
	tx, err := hiero.NewTransferTransaction().AddTokenTransfer(dearer, alice, -500).AddTokenTransfer(dearer, bob, 500).
		SetTransactionID(
			hiero.TransactionIDGenerate(alice),
		).SetNodeAccountIDs([]hiero.AccountID{node, {Account: 4}}).FreezeWith(client(t))
	if err != nil {
		t.Fatal(err)
	}
	list, err := tx.ToBytes()
	if err != nil {
		t.Fatal(err)
	}
	var decoded protos.TransactionList
	if err := proto.Unmarshal(list, &decoded); err != nil {
		t.Fatal(err)
	}
	first, err := proto.Marshal(decoded.GetTransactionList()[0])
	if err != nil {
		t.Fatal(err)
	}
	const fees, media = "/api/v1/network/fees", "application/protobuf"
	if status, body := post(
		t, fees, media, first,
	); status != http.StatusOK || !strings.Contains(body, `"total":2000000`) {
		t.Errorf("REST, first transaction: %d, %s", status, body)
	}
	status, body := post(t, fees, media, list)
	if status != http.StatusBadRequest || !strings.Contains(body, "Unable to parse transaction") {
		t.Errorf("REST, list: %d, %s", status, body)
	}
	for name, transaction := range map[string][]byte{"first": first, "list": list} {
		query := fmt.Sprintf(`{"query":"{ estimateFee(transaction: \"0x%x\") { total } }"}`, transaction)
		status, body := post(t, "/graphql", "application/json", []byte(query))
		if status != http.StatusOK || !strings.Contains(body, `"total":"2000000"`) {
			t.Errorf("graph, %s: %d, %s", name, status, body)
		}
	}
}

// post sends a body and returns the status and body of the response.
func post(t *testing.T, path, media string, content []byte) (int, string) {
	t.Helper()
	r, err := http.Post("http://"+address+path, media, bytes.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Body.Close() }() // the body was read
	body, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return r.StatusCode, string(body)
}
