package resolvers_test

import (
	"encoding/hex"
	"encoding/json"
	"strings"
	"testing"

	"github.com/hiero-ledger/hiero-sdk-go/v2/proto/services"
	"google.golang.org/protobuf/proto"

	"heliograph/app/testing/testenv"
	"heliograph/graph/server"
	"heliograph/internal/domain/fees"
)

// unsigned returns a transaction with an unsigned body, in hex.
func unsigned(t *testing.T, body *services.TransactionBody) string {
	t.Helper()
	b, err := proto.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	if b, err = proto.Marshal(&services.Transaction{BodyBytes: b}); err != nil {
		t.Fatal(err)
	}
	return hex.EncodeToString(b)
}

// everything returns a transfer of hbars, tokens and to an alias, whose estimate depends on all state.
func everything() *services.TransactionBody {
	id := func(n int64) *services.AccountID {
		return &services.AccountID{Account: &services.AccountID_AccountNum{AccountNum: n}}
	}
	return &services.TransactionBody{
		Data: &services.TransactionBody_CryptoTransfer{CryptoTransfer: &services.CryptoTransferTransactionBody{
			TokenTransfers: []*services.TokenTransferList{{
				Token: &services.TokenID{TokenNum: 2001},
				Transfers: []*services.AccountAmount{
					{AccountID: id(1001), Amount: -1},
					{AccountID: &services.AccountID{
						Account: &services.AccountID_Alias{Alias: []byte(strings.Repeat("\xfe",
							20))},
					}, Amount: 1},
				},
			}},
		}},
	}
}

const estimateQuery = `query ($t: Bytes!, $mode: FeeEstimateMode) {
  estimateFee(transaction: $t, mode: $mode) {
    mode function highVolumeMultiplier network { multiplier subtotal } node { base extras { name } subtotal }
    service { base extras { charged count feePerUnit included name subtotal explanation } subtotal } total notes
  }
}`

// TestEstimateFee selects every field of an estimate.
func TestEstimateFee(t *testing.T) {
	t.Parallel()
	variables := map[string]any{"t": unsigned(t, everything()), "mode": "STATE"}
	document := strings.Replace(estimateQuery, "total notes",
		"total notes usCents tinybars exchangeRate { centEquivalent hbarEquivalent } scheduleTimestamp", 1)
	g := testenv.Shared(t)
	got := g.Query(t, document, variables)
	var answer struct {
		Data struct {
			EstimateFee struct {
				Mode, Function, HighVolumeMultiplier, Total, USCents, Tinybars, ScheduleTimestamp string

				Network struct {
					Multiplier int64
					Subtotal   string
				}
				Node, Service struct {
					Base, Subtotal string
					Extras         []map[string]string
				}
				Notes        []string
				ExchangeRate struct{ CentEquivalent, HbarEquivalent int64 }
			}
		}
	}
	if err := json.Unmarshal([]byte(got.Body), &answer); err != nil {
		t.Fatalf("%v in %s", err, got.Body)
	}
	e := answer.Data.EstimateFee
	if e.Mode != "STATE" || e.Function != "CryptoTransfer" || e.HighVolumeMultiplier != "1" ||
		e.Total != "519000000" || e.USCents != "5.19000000" || len(e.Notes) != 1 {
		t.Errorf("%s", got.Body)
	}
	if e.Network.Multiplier != 9 || e.Network.Subtotal != "900000" || e.Node.Subtotal != "100000" ||
		e.Service.Subtotal != "518000000" || len(e.Service.Extras) != 2 {
		t.Errorf("%s", got.Body)
	}
	if x := e.Service.Extras[0]; x["name"] != "TOKEN_TRANSFER_BASE_CUSTOM_FEES" ||
		x["explanation"] != "1 × transfer of tokens with custom fees; 1 charged at 19000000 tinycents each." {
		t.Errorf("%v", x)
	}
	want := 519000000 * e.ExchangeRate.HbarEquivalent / e.ExchangeRate.CentEquivalent
	if e.Tinybars != jsonNumber(want) || e.ScheduleTimestamp == "" {
		t.Errorf("%s tinybars, want %d, by the schedule of %q", e.Tinybars, want, e.ScheduleTimestamp)
	}
}

func jsonNumber(n int64) string {
	b, err := json.Marshal(n)
	if err != nil {
		return err.Error()
	}
	return string(b)
}

// TestEstimateFeeOfNothing tests estimates without exchange rates and fee schedules, and invalid input.
func TestEstimateFeeOfNothing(t *testing.T) {
	t.Parallel()
	g := testenv.Over(t, testenv.Empty.Fresh(t))
	tx := unsigned(t, &services.TransactionBody{Data: &services.TransactionBody_UtilPrng{}})
	const query = `query ($t: Bytes!, $throttle: Int! = 0) { estimateFee(transaction: $t, highVolumeThrottle: ` +
		`$throttle) { total tinybars exchangeRate { hbarEquivalent } scheduleTimestamp notes node { extras { name ` +
		`} } } }`
	got := g.Query(t, query, map[string]any{"t": tx})
	if want := `{"data":{"estimateFee":{"total":"10000000","tinybars":null,"exchangeRate":null,` +
		`"scheduleTimestamp":null,"notes":[],"node":{"extras":[]}}}}`; strings.TrimSpace(got.Body) != want {
		t.Errorf("%s", got.Body)
	}
	for want, variables := range map[string]map[string]any{
		"highVolumeThrottle is negative: -1":                             {"t": tx, "throttle": -1},
		"highVolumeThrottle is more than 10000: 10001":                   {"t": tx, "throttle": 10001},
		"the transaction is malformed":                                   {"t": "ff"},
		"the transaction has no bodyBytes and no signedTransactionBytes": {"t": "0x"},
	} {
		if got := g.Query(t, query, variables); !strings.Contains(got.Body, want) ||
			!strings.Contains(got.Body, "BAD_USER_INPUT") {
			t.Errorf("%s: %s", want, got.Body)
		}
	}
}

// TestEstimateFeeTooLong tests a transaction that exceeds the limits of REST and of GraphQL clients.
func TestEstimateFeeTooLong(t *testing.T) {
	t.Parallel()
	srv := testenv.Demo(t).Graph()
	doc, err := srv.Prepare(`query Long($t: Bytes!) { estimateFee(transaction: $t) { total } }`)
	if err != nil {
		t.Fatal(err)
	}
	res := srv.Run(t.Context(), server.Call{
		Document: doc, Operation: "Long",
		Variables: map[string]any{"t": strings.Repeat("00", fees.MaxBytes+1)},
	})
	if len(res.Errors) != 1 || res.Errors[0].Message != "a transaction has 262144 bytes at most" {
		t.Errorf("%v", res.Errors)
	}
}

// TestEstimateFeeStatements checks that reading the state takes one round trip, or none if no state is needed, and
// that a cached schedule is read once.
func TestEstimateFeeStatements(t *testing.T) {
	t.Parallel()
	kept := func(o *testenv.Options) { o.REST.Cache = true }
	message := &services.TransactionBody{Data: &services.TransactionBody_ConsensusSubmitMessage{
		ConsensusSubmitMessage: &services.ConsensusSubmitMessageTransactionBody{
			TopicID: &services.TopicID{TopicNum: 4003},
		},
	}}
	for name, c := range map[string]struct {
		body              *services.TransactionBody
		mode              string
		options           []testenv.Option
		statements, trips int
	}{
		"intrinsic": {everything(), "INTRINSIC", []testenv.Option{kept}, 0, 0},
		"state":     {everything(), "STATE", []testenv.Option{kept}, 2, 1},
		"message":   {message, "STATE", []testenv.Option{kept}, 1, 1},
		"nothing to ask": {
			&services.TransactionBody{Data: &services.TransactionBody_UtilPrng{}}, "STATE",
			[]testenv.Option{kept},
			0, 0,
		},
		"intrinsic, nothing kept": {everything(), "INTRINSIC", nil, 1, 1},
		"state, nothing kept":     {everything(), "STATE", nil, 3, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			count := &counter{}
			g := testenv.Demo(t, append(c.options, func(o *testenv.Options) {
				o.Storage.Tracer, o.Storage.MaxConnections = count, 1
			})...)
			variables := map[string]any{"t": unsigned(t, c.body), "mode": c.mode}
			var data map[string]any
			g.Data(t, estimateQuery, variables, &data)
			count.mu.Lock()
			count.statements, count.trips = nil, 0
			count.mu.Unlock()
			g.Data(t, estimateQuery, variables, &data)
			g.DB.Close() // stop counting
			if len(count.statements) != c.statements || count.trips != c.trips {
				t.Errorf("%d statements in %d round trips, want %d in %d:\n%s", len(count.statements), count.trips,
					c.statements, c.trips, strings.Join(count.statements, "\n---\n"))
			}
		})
	}
}
