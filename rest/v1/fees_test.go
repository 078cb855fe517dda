package v1_test

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/hiero-ledger/hiero-sdk-go/v2/proto/services"
	"google.golang.org/protobuf/proto"

	"heliograph/app/testing/testenv"
	"heliograph/internal/domain/fees"
)

const (
	feesPath = "/api/v1/network/fees"
	asProto  = "Content-Type: application/protobuf"
)

type (
	txBody = services.TransactionBody
	lists  = []*services.TokenTransferList
)

func marshal(t testing.TB, m proto.Message) string {
	t.Helper()
	b, err := proto.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// transaction returns a serialized transaction with the given number of signatures.
func transaction(t testing.TB, body *txBody, signatures int) string {
	t.Helper()
	s := &services.SignedTransaction{BodyBytes: []byte(marshal(t, body)), SigMap: &services.SignatureMap{}}
	for range signatures {
		s.SigMap.SigPair = append(s.SigMap.SigPair, &services.SignaturePair{})
	}
	return marshal(t, &services.Transaction{SignedTransactionBytes: []byte(marshal(t, s))})
}

func accountNumber(n int64) *services.AccountID {
	return &services.AccountID{Account: &services.AccountID_AccountNum{AccountNum: n}}
}

func accountAlias(b []byte) *services.AccountID {
	return &services.AccountID{Account: &services.AccountID_Alias{Alias: b}}
}

func tokenTransfer(token int64, to *services.AccountID) *services.TokenTransferList {
	return &services.TokenTransferList{
		Token:     &services.TokenID{TokenNum: token},
		Transfers: []*services.AccountAmount{{AccountID: accountNumber(1001), Amount: -5}, {AccountID: to, Amount: 5}},
	}
}

func transfers(l ...*services.TokenTransferList) *txBody {
	return &txBody{
		Data: &services.TransactionBody_CryptoTransfer{
			CryptoTransfer: &services.CryptoTransferTransactionBody{TokenTransfers: l},
		},
	}
}

func nfts(token int64, n int) *services.TokenTransferList {
	l := &services.TokenTransferList{Token: &services.TokenID{TokenNum: token}}
	for range n {
		l.NftTransfers = append(l.NftTransfers, &services.NftTransfer{
			SenderAccountID:   accountNumber(1001),
			ReceiverAccountID: accountNumber(1002), SerialNumber: 1,
		})
	}
	return l
}

func submitMessage(topic int64, length int) *txBody {
	return &txBody{
		Data: &services.TransactionBody_ConsensusSubmitMessage{
			ConsensusSubmitMessage: &services.ConsensusSubmitMessageTransactionBody{
				TopicID: &services.TopicID{TopicNum: topic}, Message: make([]byte, length),
			},
		},
	}
}

func createAccount(keys int, highVolume bool) *txBody {
	list := &services.KeyList{}
	for range keys {
		list.Keys = append(list.Keys, &services.Key{Key: &services.Key_Ed25519{Ed25519: make([]byte, 32)}})
	}
	return &txBody{
		HighVolume: highVolume,
		Data: &services.TransactionBody_CryptoCreateAccount{CryptoCreateAccount: &services.CryptoCreateTransactionBody{
			Key: &services.Key{Key: &services.Key_KeyList{KeyList: list}},
		}},
	}
}

// TestFeeEstimate compares complete responses.
func TestFeeEstimate(t *testing.T) {
	t.Parallel()
	g := testenv.Shared(t)
	extra := func(name string, count, included, price int64) string {
		return fmt.Sprintf(`{"charged":%d,"count":%d,"fee_per_unit":%d,"included":%d,"name":%q,"subtotal":%d}`,
			count-included, count, price, included, name, (count-included)*price)
	}
	usual := func(serviceBase, total int64, extras ...string) string {
		return fmt.Sprintf(`{"high_volume_multiplier":1,"network":{"multiplier":9,"subtotal":900000},`+
			`"node":{"base":100000,"extras":[]},"service":{"base":%d,"extras":[%s]},"total":%d}`,
			serviceBase, strings.Join(extras, ","), total)
	}
	var known []byte
	if err := g.DB.Pool().QueryRow(t.Context(),
		`select evm_address from entity where type = 'ACCOUNT' and evm_address is not null and alias is null order `+
			`by id limit 1`).Scan(&known); err != nil {
		t.Fatal(err)
	}
	missing := bytes.Repeat([]byte{0xfe}, 20)
	created := `{"high_volume_multiplier":1,"network":{"multiplier":9,"subtotal":900000},"node":{"base":100000,` +
		`"extras":[]},` +
		`"notes":["The transfer creates 1 account, as nobody has the alias that it names. ACCOUNT_CREATIONS stands ` +
		`for what the network charges for that; it is no part of the fee schedule."],` +
		`"service":{"base":0,"extras":[` + extra("TOKEN_TRANSFER_BASE", 1, 0, 9000000) +
		`,` + extra("ACCOUNT_CREATIONS", 1, 0, 499000000) + `]},"total":509000000}`
	for name, c := range map[string]struct{ query, body, want string }{
		"example": {"", transaction(t, createAccount(2, false), 2), `{"high_volume_multiplier":1,` +
			`"network":{"multiplier":9,"subtotal":1800000},` +
			`"node":{"base":100000,"extras":[{"charged":1,"count":2,"fee_per_unit":100000,"included":1,` +
			`"name":"SIGNATURES","subtotal":100000}]},` +
			`"service":{"base":499000000,"extras":[{"charged":1,"count":2,"fee_per_unit":100000000,"included":1,` +
			`"name":"KEYS","subtotal":100000000}]},` +
			`"total":601000000}`},
		"waived": {
			"", transaction(t, &txBody{Data: &services.TransactionBody_ContractCall{}}, 1),
			`{"high_volume_multiplier":1,"network":{"multiplier":0,"subtotal":0},"node":{"base":0,"extras":[]},` +
				`"service":{"base":0,"extras":[]},"total":0}`,
		},
		"token": {"?mode=", transaction(t, transfers(tokenTransfer(2005, accountNumber(1002))),
			1), usual(0, 2000000, extra("TOKEN_TYPES", 2, 1, 1000000))},
		"token without fees, state": {
			"?mode=STATE",
			transaction(t, transfers(tokenTransfer(999999, accountNumber(1002))), 1),
			usual(0, 10000000, extra("TOKEN_TRANSFER_BASE", 1, 0, 9000000)),
		},
		"token with fixed fee, state": {
			"?mode=state",
			transaction(t, transfers(tokenTransfer(2001, accountNumber(1002))), 1),
			usual(0, 20000000, extra("TOKEN_TRANSFER_BASE_CUSTOM_FEES", 1, 0, 19000000)),
		},
		"token with fractions, state": {
			"?mode=s-t-a-t-e",
			transaction(t, transfers(tokenTransfer(2002, accountNumber(1002))), 1),
			usual(0, 20000000, extra("TOKEN_TRANSFER_BASE_CUSTOM_FEES", 1, 0, 19000000)),
		},
		"NFTs with royalties, state": {
			"?mode=State", transaction(t, transfers(nfts(2007, 3)), 1),
			usual(0, 22000000, extra("TOKEN_TRANSFER_BASE_CUSTOM_FEES", 1, 0, 19000000),
				extra("TOKEN_TYPES", 3, 1, 1000000)),
		},
		"NFTs, intrinsic": {
			"?mode=intrinsic&mode=STATE", transaction(t, transfers(nfts(2007, 3)), 1),
			usual(0, 3000000, extra("TOKEN_TYPES", 3, 1, 1000000)),
		},
		"airdrop, state": {
			"?mode=STATE",
			transaction(t,
				&txBody{
					Data: &services.TransactionBody_TokenAirdrop{
						TokenAirdrop: &services.TokenAirdropTransactionBody{TokenTransfers: lists{tokenTransfer(2001,
							accountNumber(1002))}},
					},
				}, 1), usual(0, 20000000, extra("TOKEN_TRANSFER_BASE_CUSTOM_FEES",
				1, 0, 19000000)),
		},
		"message": {
			"", transaction(t, submitMessage(4003, 128), 1),
			usual(700000, 1890400, extra("CONSENSUS_SUBMIT_MESSAGE_WITHOUT_CUSTOM_FEE_BYTES", 128, 100, 6800)),
		},
		"message to topic with fees": {
			"?mode=STATE", transaction(t, submitMessage(4003, 128), 1),
			usual(700000, 500000000, extra("CONSENSUS_SUBMIT_MESSAGE_WITH_CUSTOM_FEE", 1, 0, 498300000)),
		},
		"message to topic without": {
			"?mode=STATE", transaction(t, submitMessage(4001, 128), 1),
			usual(700000, 1890400, extra("CONSENSUS_SUBMIT_MESSAGE_WITHOUT_CUSTOM_FEE_BYTES", 128, 100, 6800)),
		},
		"message to a token with fees": {
			"?mode=STATE", transaction(t, submitMessage(2001, 128), 1),
			usual(700000, 1890400, extra("CONSENSUS_SUBMIT_MESSAGE_WITHOUT_CUSTOM_FEE_BYTES", 128, 100, 6800)),
		},
		"message to unknown topic": {
			"?mode=STATE", transaction(t, submitMessage(999999, 128), 1),
			usual(700000, 1890400, extra("CONSENSUS_SUBMIT_MESSAGE_WITHOUT_CUSTOM_FEE_BYTES", 128, 100, 6800)),
		},
		"message to impossible topic": {
			"?mode=STATE", transaction(t, submitMessage(-5, 128), 1),
			usual(700000, 1890400, extra("CONSENSUS_SUBMIT_MESSAGE_WITHOUT_CUSTOM_FEE_BYTES", 128, 100, 6800)),
		},
		"to an alias of an account": {
			"?mode=STATE",
			transaction(t, transfers(tokenTransfer(999999, accountAlias(known))), 1),
			usual(0, 10000000, extra("TOKEN_TRANSFER_BASE", 1, 0, 9000000)),
		},
		"to an unknown alias": {
			"?mode=STATE",
			transaction(t, transfers(tokenTransfer(999999, accountAlias(missing))), 1), created,
		},
		"to an alias, intrinsic": {"", transaction(t, transfers(tokenTransfer(999999, accountAlias(missing))),
			1), usual(0, 2000000, extra("TOKEN_TYPES", 2, 1, 1000000))},
		"high volume is not for this": {
			"?mode=STATE&high_volume_throttle=10000",
			transaction(t, createAccount(1, false), 1), usual(499000000, 500000000),
		},
		"high volume is not for the mode": {
			"?high_volume_throttle=10000", transaction(t, createAccount(1, true), 1),
			usual(499000000, 500000000),
		},
		"high volume": {
			"?mode=STATE&high_volume_throttle=5000", transaction(t, createAccount(3, true), 2),
			`{"high_volume_multiplier":200,` +
				`"network":{"multiplier":9,"subtotal":360000000},"node":{"base":20000000,"extras":[{"charged":1,` +
				`"count":2,"fee_per_unit":20000000,"included":1,"name":"SIGNATURES","subtotal":20000000}]},` +
				`"service":{"base":99800000000,"extras":[{"charged":2,"count":3,"fee_per_unit":20000000000,` +
				`"included":1,"name":"KEYS","subtotal":40000000000}]},"total":140200000000}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := g.Do(t, http.MethodPost, feesPath+c.query, c.body, asProto)
			if got.Status != http.StatusOK || got.Body != c.want {
				t.Errorf("status %d:\n%s", got.Status, testenv.Diff(c.want, got.Body))
			}
			if got.Header.Get("Cache-Control") != "public, max-age=60" ||
				got.Header.Get("Content-Type") != "application/json;charset=UTF-8" ||
				!strings.HasPrefix(got.Header.Get("ETag"), `"`) {
				t.Errorf("headers %v", got.Header)
			}
		})
	}
}

// TestFeeEstimateErrors compares the responses of invalid requests, in the order of the validation.
func TestFeeEstimateErrors(t *testing.T) {
	t.Parallel()
	g := testenv.Shared(t)
	good := transaction(t, transfers(), 1)
	problem := func(message, detail string) string {
		return `{"_status":{"messages":[{"message":"` + message + `","detail":"` + detail + `"}]}}`
	}
	const bad = "Bad Request"
	for name, c := range map[string]struct {
		method, query, contentType, body string
		status                           int
		want                             string
	}{
		"JSON": {
			http.MethodPost, "?mode=x", "application/json",
			"", 415, problem("Unsupported Media Type", "Content-Type 'application/json' is not supported"),
		},
		"media type with parameter": {
			http.MethodPost, "", "text/plain; charset=utf-8", good, 415,
			problem("Unsupported Media Type", "Content-Type 'text/plain;charset=utf-8' is not supported"),
		},
		"no media type": {
			http.MethodPost, "", "", good, 415,
			problem("Unsupported Media Type", "Content-Type is not supported"),
		},
		"invalid media type": {
			http.MethodPost, "", ";;", good, 415,
			problem("Unsupported Media Type", "Content-Type ';;' is not supported"),
		},
		"no body": {
			http.MethodPost, "?mode=x", "application/protobuf", "", 400,
			problem(bad, "Failed to read request"),
		},
		"mode": {
			http.MethodPost, "?mode=x&high_volume_throttle=x", "application/x-protobuf",
			"x", 400, problem(bad, "Failed to convert 'mode'"),
		},
		"throttle": {
			http.MethodPost, "?high_volume_throttle=x", "application/protobuf", "x",
			400, problem(bad, "Failed to convert 'high_volume_throttle'"),
		},
		"throttle of 33 bits": {
			http.MethodPost, "?high_volume_throttle=2147483648", "application/protobuf",
			"x", 400, problem(bad, "Failed to convert 'high_volume_throttle'"),
		},
		"throttle below 0": {
			http.MethodPost, "?high_volume_throttle=-1", "application/protobuf", "x",
			400, problem(bad, "highVolumeThrottle must be greater than or equal to 0"),
		},
		"throttle above 100 %": {
			http.MethodPost, "?high_volume_throttle=10001", "application/protobuf",
			"x", 400, problem(bad, "highVolumeThrottle must be less than or equal to 10000"),
		},
		"garbage": {
			http.MethodPost, "", "application/protobuf", "garbage", 400,
			problem(bad, "Unable to parse transaction"),
		},
		"truncated": {
			http.MethodPost, "?mode=STATE", "application/protobuf", good[:len(good)-1],
			400, problem(bad, "Unable to parse transaction"),
		},
		"wrong wire type": {
			http.MethodPost, "", "application/protobuf", "\x28\x01", 400,
			problem(bad, "Unable to parse transaction"),
		},
		"nothing inside": {
			http.MethodPost, "", "application/protobuf", "\x1a\x00", 400,
			problem(bad, "Transaction must contain body bytes or signed transaction bytes"),
		},
		"nothing to do": {
			http.MethodPost, "", "application/protobuf", transaction(t, &txBody{}, 1),
			400, problem(bad, "Unknown transaction type"),
		},
		"freeze": {
			http.MethodPost, "", "application/protobuf; charset=x",
			transaction(t, &txBody{Data: &services.TransactionBody_Freeze{}}, 1), 400,
			problem(bad, "Unknown transaction type"),
		},
		"too long": {
			http.MethodPost, "?mode=x", "application/json", strings.Repeat("x", 7169),
			413, problem("Content Too Large", "Request body 7169 exceeds maximum 7168 bytes"),
		},
		"as long as allowed": {
			http.MethodPost, "", "application/protobuf", strings.Repeat("x", 7168),
			400, problem(bad, "Unable to parse transaction"),
		},
		"too large a transaction": {
			http.MethodPost, "", "application/protobuf",
			transaction(t, submitMessage(1, 6144), 1), 400, problem(bad, "TRANSACTION_OVERSIZE"),
		},
		"too many NFTs": {
			http.MethodPost, "", "application/protobuf",
			transaction(t, transfers(nfts(2007, 11)), 1), 400, problem(bad, "BATCH_SIZE_LIMIT_EXCEEDED"),
		},
		"unknown field": {
			http.MethodPost, "", "application/protobuf", good + "\xa0\x38\x01", 400,
			problem(bad, "Unable to parse transaction"),
		},
		"PUT": {
			http.MethodPut, "", "application/protobuf", good,
			405, problem("Method Not Allowed", "Request method 'PUT' is not supported"),
		},
		"DELETE": {
			http.MethodDelete, "", "", "", 405,
			problem("Method Not Allowed", "Request method 'DELETE' is not supported"),
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var headers []string
			if c.contentType != "" {
				headers = []string{"Content-Type: " + c.contentType}
			}
			got := g.Do(t, c.method, feesPath+c.query, c.body, headers...)
			if got.Status != c.status || got.Body != c.want {
				t.Errorf("%d %s\nwant %d %s", got.Status, got.Body, c.status, c.want)
			}
			if c.status == http.StatusMethodNotAllowed {
				if got.Header.Get("Allow") != "GET, HEAD, POST" {
					t.Errorf("Allow %q", got.Header.Get("Allow"))
				}
			} else if got.Header.Get("Cache-Control") != "public, max-age=60" {
				t.Errorf("Cache-Control %q", got.Header.Get("Cache-Control"))
			}
		})
	}
	if got := g.Do(t, http.MethodPost, "/api/v1/network/stake",
		good, asProto); got.Status != http.StatusMethodNotAllowed || got.Header.Get("Allow") != "GET, HEAD" {
		t.Errorf("another path: %d, allowed is %q", got.Status, got.Header.Get("Allow"))
	}
	if got := g.Do(t, http.MethodPost, "/api/v1/accounts", good, asProto); got.Status != http.StatusNotFound {
		t.Errorf("a path of the classic family: %d", got.Status)
	}
	// GET on the same path still returns the gas fees.
	if got := g.Get(t, feesPath); got.Status != http.StatusOK ||
		!strings.Contains(got.Body, `"transaction_type":"ContractCall"`) {
		t.Errorf("%d %s", got.Status, got.Body)
	}
	// A transaction of the maximum size, and an If-None-Match header that POST ignores.
	long := transaction(t, submitMessage(1, 6000), 1)
	got := g.Do(t, http.MethodPost, feesPath, long, asProto)
	if want := strconv.Itoa(10*(100000+10000*(len(long)-1350)) + 700000 + 5900*6800); got.Status != http.StatusOK ||
		!strings.HasSuffix(got.Body, `"total":`+want+`}`) {
		t.Errorf("%d %s, want a total of %s", got.Status, got.Body, want)
	}
	if again := g.Do(t, http.MethodPost, feesPath, long, asProto,
		"If-None-Match: "+got.Header.Get("ETag")); again.Status != http.StatusOK || again.Body != got.Body {
		t.Errorf("second request: %d", again.Status)
	}
}

// logged records log lines.
type logged struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logged) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

// ignored counts the log lines about ignored schedules.
func (l *logged) ignored() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Count(l.text.String(), "ignoring the invalid newest fee schedule in the database")
}

// scheduleWithPrice returns the default schedule with another price for creating an account.
func scheduleWithPrice(t *testing.T, price int64) string {
	t.Helper()
	file, err := fees.DefaultFile()
	if err != nil {
		t.Fatal(err)
	}
	// A definition in another service is ignored, and one in a service before all others applies.
	definition := protoBytes(2, protoVarint(1, 27)+protoVarint(2, price)+
		protoBytes(3, protoVarint(1, 1)+protoVarint(2, 1)))
	at := bytes.Index(file, []byte("\x0a\x06Crypto"))
	if at < 0 {
		t.Fatal("the schedule has no service Crypto")
	}
	for file[at] != 0x2a { // the start of the service
		at--
	}
	return string(file[:at]) + protoBytes(5, protoBytes(1, "Before")+definition) + string(file[at:])
}

func protoVarint(field int, v int64) string {
	b := []byte{byte(field << 3)}
	for ; v >= 0x80; v >>= 7 {
		b = append(b, byte(v)|0x80)
	}
	return string(append(b, byte(v)))
}

func protoBytes(field int, content string) string {
	length := protoVarint(0, int64(len(content)))[1:]
	return string(rune(field<<3|2)) + length + content
}

// TestFeeSchedule checks the source of the schedule, and when a new version applies.
func TestFeeSchedule(t *testing.T) {
	t.Parallel()
	url := testenv.Empty.Fresh(t)
	log := &logged{}
	logger := func(o *testenv.Options) { o.Logger = slog.New(slog.NewTextHandler(log, nil)) }
	caching := testenv.Over(t, url, logger, func(o *testenv.Options) { o.REST.Cache = true })
	live := testenv.Over(t, url)
	account := transaction(t, createAccount(1, false), 1)
	total := func(g *testenv.Gateway, mode string) string {
		t.Helper()
		got := g.Do(t, http.MethodPost, feesPath+"?mode="+mode, account, asProto)
		_, after, found := strings.Cut(got.Body, `"total":`)
		if !found {
			t.Fatalf("%d %s", got.Status, got.Body)
		}
		return strings.TrimSuffix(after, "}")
	}
	store := func(at int, kind int, content string) {
		t.Helper()
		testenv.Exec(t, url,
			fmt.Sprintf(`insert into file_data (entity_id, consensus_timestamp, file_data, transaction_type) values `+
				`(113, %d, '\x%x', %d)`, at, content, kind))
	}
	const builtIn = "500000000"
	want := func(cached, now string) {
		t.Helper()
		for _, mode := range []string{"INTRINSIC", "STATE"} {
			if got := total(caching, mode); got != cached {
				t.Errorf("%s with a warm cache: %s, want %s", mode, got, cached)
			}
			if got := total(live, mode); got != now {
				t.Errorf("%s with an empty cache: %s, want %s", mode, got, now)
			}
		}
	}
	want(builtIn, builtIn)
	one := scheduleWithPrice(t, 7000000)
	store(10, 17, one)
	want(builtIn, "8000000")
	caching.Refresh(t.Context())
	want("8000000", "8000000")

	// An invalid version is ignored and logged once.
	store(20, 19, "\xff\xff")
	caching.Refresh(t.Context())
	caching.Refresh(t.Context())
	want("8000000", "8000000")
	if n := log.ignored(); n != 1 {
		t.Errorf("logged %d times", n)
	}
	// A version in two parts applies when it is complete.
	two := scheduleWithPrice(t, 3000000)
	store(30, 19, two[:len(two)/2])
	caching.Refresh(t.Context())
	want("8000000", "8000000")
	store(40, 16, two[len(two)/2:])
	store(50, 19, "") // changes a memo, not the content
	caching.Refresh(t.Context())
	want("4000000", "4000000")

	// Another invalid version: no fee can be estimated.
	store(60, 19, protoBytes(1, protoVarint(1, 5)+protoBytes(2, protoVarint(1, 1)))+protoBytes(2, protoVarint(1, 9)))
	caching.Refresh(t.Context())
	want("4000000", "4000000")
	if n := log.ignored(); n < 2 {
		t.Errorf("logged %d times", n)
	}
	var response struct {
		EstimateFee struct{ ScheduleTimestamp string }
	}
	live.Data(t, `query ($b: Bytes!) { estimateFee(transaction: $b) { scheduleTimestamp } }`,
		map[string]any{"b": fmt.Sprintf("%x", account)}, &response)
	if response.EstimateFee.ScheduleTimestamp != "0.000000040" {
		t.Errorf("schedule timestamp %s", response.EstimateFee.ScheduleTimestamp)
	}

	// If the database does not respond, the cached schedule still applies.
	caching.DB.Close()
	caching.Refresh(t.Context())
	if got := total(caching, "INTRINSIC"); got != "4000000" {
		t.Errorf("%s", got)
	}
	live.DB.Close()
	if got := live.Do(t, http.MethodPost, feesPath, account, asProto); got.Status < 500 {
		t.Errorf("without a database: %d %s", got.Status, got.Body)
	}
}

// TestFeeExplained checks that the example of the path runs, also in the graph.
func TestFeeExplained(t *testing.T) {
	t.Parallel()
	g := testenv.Shared(t)
	x, err := g.Explain(t.Context(), "POST "+feesPath+"?mode=STATE&high_volume_throttle=5", nil)
	if err != nil {
		t.Fatal(err)
	}
	apart, inside := g.Query(t, x.Query, x.Variables), g.Query(t, x.Standalone, nil)
	if apart.Body != inside.Body || !strings.Contains(apart.Body, `"total":"20000000"`) {
		t.Errorf("%s\n%s", apart.Body, inside.Body)
	}
	body, err := base64.StdEncoding.DecodeString("Kj8KOQoNCgYIgOLPqgYSAxjpBxICGAMYgMLXLyICCHhyGxIZCgMY0Q8SCAoDGOkHE" +
		"OcHEggKAxjqBxDoBxICCgA=")
	if err != nil {
		t.Fatal(err)
	}
	if got := g.Do(t, http.MethodPost, feesPath+"?mode=STATE", string(body), asProto); !strings.HasSuffix(got.Body,
		`"total":20000000}`) {
		t.Errorf("the example of the documentation: %s", got.Body)
	}
	if _, err := g.Explain(t.Context(), "POST "+feesPath, []byte("x")); err != nil {
		t.Errorf("error of an invalid transaction: %v", err)
	}
	if x, err := g.Explain(t.Context(), feesPath, nil); err != nil || x.OperationName != "Fees" {
		t.Errorf("%+v %v", x, err)
	}
	if _, err := g.Explain(t.Context(), "POST /api/v1/network/stake", nil); err == nil {
		t.Error("a path without a body is explained with one")
	}
}
