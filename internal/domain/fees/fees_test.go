package fees_test

import (
	"bytes"
	"encoding/hex"
	"errors"
	"slices"
	"testing"

	"github.com/hiero-ledger/hiero-sdk-go/v2/proto/services"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"heliograph/internal/domain/fees"
	"heliograph/internal/domain/ledger"
	"heliograph/internal/domain/ledger/codes"
)

func schedule(tb testing.TB) *fees.Schedule {
	tb.Helper()
	s, err := fees.Default()
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

func marshal(tb testing.TB, m proto.Message) []byte {
	tb.Helper()
	b, err := proto.Marshal(m)
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

// signed returns a serialized transaction with a body and a number of signatures.
func signed(tb testing.TB, body *services.TransactionBody, signatures int) []byte {
	tb.Helper()
	s := &services.SignedTransaction{BodyBytes: marshal(tb, body), SigMap: &services.SignatureMap{}}
	for range signatures {
		s.SigMap.SigPair = append(s.SigMap.SigPair, &services.SignaturePair{})
	}
	return marshal(tb, &services.Transaction{SignedTransactionBytes: marshal(tb, s)})
}

func parse(tb testing.TB, b []byte) *fees.Transaction {
	tb.Helper()
	t, err := fees.Parse(b)
	if err != nil {
		tb.Fatal(err)
	}
	return t
}

func estimate(tb testing.TB, b []byte, o fees.Options) *fees.Estimate {
	tb.Helper()
	e, err := schedule(tb).Estimate(parse(tb, b), o)
	if err != nil {
		tb.Fatal(err)
	}
	return e
}

func ed(n byte) *services.Key {
	return &services.Key{Key: &services.Key_Ed25519{Ed25519: bytes.Repeat([]byte{n}, 32)}}
}

func keyList(n int) *services.KeyList {
	l := &services.KeyList{}
	for i := range n {
		l.Keys = append(l.Keys, ed(byte(i)))
	}
	return l
}

func listKey(n int) *services.Key {
	return &services.Key{Key: &services.Key_KeyList{KeyList: keyList(n)}}
}

func accountID(n int64) *services.AccountID {
	return &services.AccountID{Account: &services.AccountID_AccountNum{AccountNum: n}}
}

func aliasID(alias []byte) *services.AccountID {
	return &services.AccountID{Account: &services.AccountID_Alias{Alias: alias}}
}

func amount(id *services.AccountID, v int64) *services.AccountAmount {
	return &services.AccountAmount{AccountID: id, Amount: v}
}

func token(n int64) *services.TokenID { return &services.TokenID{TokenNum: n} }

func tokenEntity(tb testing.TB, n int64) ledger.EntityID {
	tb.Helper()
	id, err := ledger.NewEntityID(0, 0, n)
	if err != nil {
		tb.Fatal(err)
	}
	return id
}

func hooks(n int) []*services.HookCreationDetails {
	out := make([]*services.HookCreationDetails, n)
	for i := range out {
		out[i] = &services.HookCreationDetails{HookId: int64(i)}
	}
	return out
}

func transfer(hbar []*services.AccountAmount, tokens ...*services.TokenTransferList) *services.TransactionBody {
	t := &services.CryptoTransferTransactionBody{TokenTransfers: tokens}
	if hbar != nil {
		t.Transfers = &services.TransferList{AccountAmounts: hbar}
	}
	return &services.TransactionBody{Data: &services.TransactionBody_CryptoTransfer{CryptoTransfer: t}}
}

// fungible returns a transfer of token n between two accounts.
func fungible(n int64) *services.TokenTransferList {
	return &services.TokenTransferList{
		Token: token(n), Transfers: []*services.AccountAmount{amount(accountID(1), -5), amount(accountID(2), 5)},
	}
}

func message(length int) *services.TransactionBody {
	return &services.TransactionBody{Data: &services.TransactionBody_ConsensusSubmitMessage{
		ConsensusSubmitMessage: &services.ConsensusSubmitMessageTransactionBody{
			TopicID: &services.TopicID{TopicNum: 7}, Message: make([]byte, length),
		},
	}}
}

func cryptoCreate(key *services.Key, hookCount int) *services.TransactionBody {
	return &services.TransactionBody{
		Data: &services.TransactionBody_CryptoCreateAccount{CryptoCreateAccount: &services.CryptoCreateTransactionBody{
			Key: key, HookCreationDetails: hooks(hookCount),
		}},
	}
}

func createTopic(admin, fee, submit *services.Key, customFees int) *services.TransactionBody {
	t := &services.ConsensusCreateTopicTransactionBody{AdminKey: admin, FeeScheduleKey: fee, SubmitKey: submit}
	for range customFees {
		t.CustomFees = append(t.CustomFees, &services.FixedCustomFee{})
	}
	return &services.TransactionBody{Data: &services.TransactionBody_ConsensusCreateTopic{ConsensusCreateTopic: t}}
}

func highVolume(b *services.TransactionBody) *services.TransactionBody {
	b.HighVolume = true
	return b
}

// TestWorkedExamples compares estimates with known totals.
func TestWorkedExamples(t *testing.T) {
	t.Parallel()
	customToken := &ledger.FeeFacts{
		Tokens: map[ledger.EntityID]ledger.TokenFeeFacts{tokenEntity(t, 9): {HasCustomFees: true}},
	}
	for name, c := range map[string]struct {
		body       *services.TransactionBody
		signatures int
		options    fees.Options
		total      int64
		multiplier int64
	}{
		"transfer without signature": {body: transfer(nil), total: 1000000},
		"transfer with 1 signature":  {body: transfer(nil), signatures: 1, total: 1000000},
		"transfer with 2 signatures": {body: transfer(nil), signatures: 2, total: 2000000},
		"contract call": {body: &services.TransactionBody{Data: &services.TransactionBody_ContractCall{
			ContractCall: &services.ContractCallTransactionBody{Gas: 1},
		}}, signatures: 5, total: 0},
		"ethereum": {body: &services.TransactionBody{
			Data: &services.TransactionBody_EthereumTransaction{},
		}, total: 1000000},
		"message of 128 bytes": {body: message(128), total: 1890400},
		"message to a topic with fees": {body: message(
			128,
		), options: fees.Options{Mode: fees.State, Facts: &ledger.FeeFacts{TopicHasFees: true}}, total: 500000000},
		"create topic, 3 keys and custom fees": {body: createTopic(ed(1), ed(2), ed(3), 1), total: 20300000000},
		"create account, 1 key and 1 hook":     {body: cryptoCreate(ed(1), 1), total: 10500000000},
		"create account, 1 key":                {body: cryptoCreate(ed(1), 0), total: 500000000},
		"fungible token":                       {body: transfer(nil, fungible(8)), total: 2000000},
		"fungible token, state": {body: transfer(
			nil, fungible(8),
		), options: fees.Options{Mode: fees.State}, total: 10000000},
		"fungible token with fees, state": {body: transfer(
			nil, fungible(9),
		), options: fees.Options{Mode: fees.State, Facts: customToken}, total: 20000000},
		"create account, high volume": {body: highVolume(
			cryptoCreate(ed(1), 0),
		), options: fees.Options{Mode: fees.State}, total: 2000000000, multiplier: 4},
		"create account, high volume at 50 %": {
			body: highVolume(cryptoCreate(listKey(3), 0)), signatures: 2,
			options: fees.Options{Mode: fees.State, HighVolumeThrottle: 5000}, total: 140200000000, multiplier: 200,
		},
		"create topic, high volume": {
			body:    highVolume(createTopic(nil, nil, nil, 0)),
			options: fees.Options{Mode: fees.State, HighVolumeThrottle: 35}, total: 5000000000, multiplier: 50,
		},
		"high volume, intrinsic": {body: highVolume(
			cryptoCreate(ed(1), 0),
		), options: fees.Options{Mode: fees.Intrinsic, HighVolumeThrottle: 10000}, total: 500000000},
		"no high volume, state": {body: cryptoCreate(
			ed(1), 0,
		), options: fees.Options{Mode: fees.State, HighVolumeThrottle: 10000}, total: 500000000},
		"high volume of what cannot be, state": {body: highVolume(
			transfer(nil),
		), options: fees.Options{Mode: fees.State, HighVolumeThrottle: 10000}, total: 1000000},
		"pre-post hook in a transfer of hbar": {body: transfer(
			[]*services.AccountAmount{amount(accountID(1), -1), prePost(amount(accountID(2), 1), 25000)},
		), total: 143600000},
		"update topic, 5 keys":                 {body: updateTopic(), total: 402200000},
		"update account, 1 hook more, 1 less":  {body: cryptoUpdate(), total: 20002200000},
		"create contract, 1 key and 1 hook":    {body: contractCreate(), total: 20000000000},
		"update contract, 1 hook more, 1 less": {body: contractUpdate(), total: 20260000000},
		"delete topic": {body: &services.TransactionBody{
			Data: &services.TransactionBody_ConsensusDeleteTopic{},
		}, total: 50000000},
		"delete account": {body: &services.TransactionBody{
			Data: &services.TransactionBody_CryptoDelete{},
		}, total: 50000000},
		"delete contract": {body: &services.TransactionBody{
			Data: &services.TransactionBody_ContractDeleteInstance{},
		}, total: 70000000},
		"delete file": {body: &services.TransactionBody{
			Data: &services.TransactionBody_FileDelete{},
		}, total: 70000000},
		"create file":    {body: fileCreate(1, 1000), total: 500000000},
		"update file":    {body: fileUpdate(1001, 1, 10), total: 500000000},
		"append to file": {body: fileAppend(10), total: 500000000},
		"schedule":       {body: schedules(false), total: 100000000},
		"sign schedule": {body: &services.TransactionBody{
			Data: &services.TransactionBody_ScheduleSign{},
		}, total: 10000000},
		"associate": {body: associate(1), total: 500000000},
		"dissociate": {body: &services.TransactionBody{
			Data: &services.TransactionBody_TokenDissociate{},
		}, total: 500000000},
		"create token, 8 keys, custom fees":    {body: tokenCreate(true), total: 20700000000},
		"create token, 8 keys, no custom fees": {body: tokenCreate(false), total: 20700000000},
		"update token, 8 keys":                 {body: tokenUpdate(), total: 710000000},
		"mint 2 NFTs":                          {body: mint(0, 2), total: 400000000},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if c.options.Mode == "" {
				c.options.Mode = fees.Intrinsic
			}
			e := estimate(t, signed(t, c.body, c.signatures), c.options)
			if e.Total != c.total || e.HighVolumeMultiplier != max(1, c.multiplier) {
				t.Errorf("total %d with multiplier %d, want %d with %d: %+v", e.Total, e.HighVolumeMultiplier,
					c.total, max(1, c.multiplier), e)
			}
			sound(t, e)
		})
	}
}

// sound checks the invariants of estimates without a high-volume multiplier.
func sound(t *testing.T, e *fees.Estimate) {
	t.Helper()
	if e.HighVolumeMultiplier != 1 {
		return
	}
	for _, p := range []fees.Part{e.Node, e.Service} {
		sum := p.Base
		for _, c := range p.Extras {
			if c.Charged != c.Count-c.Included || c.Charged < 1 || c.Subtotal != c.FeePerUnit*c.Charged ||
				c.Explanation() == "" {
				t.Errorf("%+v does not add up", c)
			}
			sum += c.Subtotal
		}
		if p.Subtotal != sum {
			t.Errorf("base and extras are %d, the subtotal is %d", sum, p.Subtotal)
		}
	}
	if e.Network.Subtotal != e.Node.Subtotal*int64(
		e.Network.Multiplier,
	) || e.Total != e.Node.Subtotal+e.Network.Subtotal+e.Service.Subtotal {
		t.Errorf("the parts are not the total: %+v", e)
	}
}

// TestOlderForm estimates a transaction without signedTransactionBytes.
func TestOlderForm(t *testing.T) {
	t.Parallel()
	b := marshal(t, &services.Transaction{
		BodyBytes: marshal(
			t, transfer(nil),
		), SigMap: &services.SignatureMap{SigPair: []*services.SignaturePair{{}, {}, {}}},
	})
	if e := estimate(
		t, b, fees.Options{Mode: fees.Intrinsic},
	); e.Total != 3000000 || e.Node.Extras[0].Name() != "SIGNATURES" {
		t.Errorf("%+v", e)
	}
	for signatures, want := range []int64{1000000, 1000000, 2000000} {
		pairs := make([]*services.SignaturePair, signatures)
		for i := range pairs {
			pairs[i] = &services.SignaturePair{}
		}
		older := &services.Transaction{
			BodyBytes: marshal(t, transfer(nil)), SigMap: &services.SignatureMap{SigPair: pairs},
		}
		if e := estimate(t, marshal(t, older), fees.Options{Mode: fees.Intrinsic}); e.Total != want {
			t.Errorf("%d signatures: %+v, want %d", signatures, e, want)
		}
	}
	// signedTransactionBytes take precedence, including their signatures.
	both := slices.Concat(b, signed(t, cryptoCreate(ed(1), 0), 1))
	if e := estimate(t, both, fees.Options{Mode: fees.Intrinsic}); e.Total != 500000000 {
		t.Errorf("%+v", e)
	}
}

// TestProcessingBytes checks the price of the size of a transaction.
func TestProcessingBytes(t *testing.T) {
	t.Parallel()
	b := signed(t, message(2000), 1)
	want := 10*(100000+10000*int64(len(b)-1350)) + 13620000
	if e := estimate(t, b, fees.Options{Mode: fees.Intrinsic}); e.Total != want ||
		e.Node.Extras[0].Count != int64(len(b)) ||
		e.Node.Extras[0].Name() != "PROCESSING_BYTES" {
		t.Errorf("%+v, want %d", e, want)
	}
	// 2200 bytes in total.
	for n := 1900; ; n++ {
		body := message(2000)
		body.Memo = string(make([]byte, n-1900))
		if b := signed(t, body, 1); len(b) == 2200 {
			if e := estimate(t, b, fees.Options{Mode: fees.Intrinsic}); e.Total != 99620000 {
				t.Errorf("%+v", e)
			}
			break
		}
	}
}

// TestRefusals tests bytes that cannot be estimated.
func TestRefusals(t *testing.T) {
	t.Parallel()
	good := signed(t, transfer([]*services.AccountAmount{amount(accountID(1), -1), amount(accountID(2), 1)}), 1)
	field := func(num protowire.Number, content []byte) []byte {
		return protowire.AppendBytes(protowire.AppendTag(nil, num, protowire.BytesType), content)
	}
	varint := func(num protowire.Number, v uint64) []byte {
		return protowire.AppendVarint(protowire.AppendTag(nil, num, protowire.VarintType), v)
	}
	ofBody := func(body []byte) []byte { return field(5, field(1, body)) }
	deep := []byte(nil)
	for range 3000 {
		deep = field(6, field(1, deep)) // a key in nested lists
	}
	for name, c := range map[string]struct {
		b    []byte
		want error
	}{
		"nothing":                   {nil, fees.ErrEmpty},
		"garbage":                   {[]byte("not a transaction"), fees.ErrUnreadable},
		"truncated":                 {good[:len(good)-1], fees.ErrUnreadable},
		"only signatures":           {field(3, nil), fees.ErrEmpty},
		"inline body":               {field(1, marshal(t, transfer(nil))), fees.ErrEmpty},
		"invalid inline body":       {field(1, []byte{0xff}), fees.ErrUnreadable},
		"signed bytes are a number": {varint(5, 7), fees.ErrUnreadable},
		"signed bytes are garbage":  {field(5, []byte{0xff}), fees.ErrUnreadable},
		"body bytes are a number":   {field(5, varint(1, 7)), fees.ErrUnreadable},
		"body is garbage":           {ofBody([]byte{0xff}), fees.ErrUnreadable},
		"transfer is a number":      {ofBody(varint(14, 7)), fees.ErrUnreadable},
		"account number is bytes": {ofBody(
			field(14, field(1, field(1, field(1, field(3, []byte{1}))))),
		), fees.ErrUnreadable},
		"memo is no UTF-8":             {ofBody(field(6, []byte{0xff})), fees.ErrUnreadable},
		"list of numbers packed badly": {ofBody(field(53, field(2, []byte{0x80}))), fees.ErrUnreadable},
		"keys nested too deep":         {ofBody(field(11, field(1, deep))), fees.ErrUnreadable},
		"empty body":                   {ofBody(nil), fees.ErrUnknownType},
		"nothing to do":                {signed(t, &services.TransactionBody{Memo: "x"}, 0), fees.ErrUnknownType},
		"without account": {signed(
			t, transfer([]*services.AccountAmount{{Amount: 1}}), 0,
		), fees.ErrUnknownType},
		"NFT without receiver": {signed(t, transfer(nil, &services.TokenTransferList{
			Token:        token(1),
			NftTransfers: []*services.NftTransfer{{SenderAccountID: accountID(1)}},
		}), 0), fees.ErrUnknownType},
		"schedule of nothing": {
			signed(t,
				&services.TransactionBody{Data: &services.TransactionBody_ScheduleCreate{
					ScheduleCreate: &services.ScheduleCreateTransactionBody{},
				}}, 0),
			fees.ErrUnknownType,
		},
		"field number 0":            {[]byte{0x00, 0x00}, fees.ErrUnreadable},
		"a group that does not end": {[]byte{0x3b}, fees.ErrUnreadable},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tx, err := fees.Parse(c.b)
			if err == nil {
				_, err = schedule(t).Estimate(tx, fees.Options{Mode: fees.Intrinsic})
			}
			if err != c.want { //nolint:errorlint // must be the same value
				t.Errorf("%v, want %v", err, c.want)
			}
		})
	}
	// Numbers may be packed or not.
	body := field(53, append(varint(2, 1), field(2, []byte{2, 3})...))
	if e := estimate(t, ofBody(body), fees.Options{Mode: fees.Intrinsic}); e.Total != 10000000+2*10000000 {
		t.Errorf("%+v", e)
	}
	// Unknown fields, including groups, are refused at all levels. A type that has no fee is found before.
	group := append(protowire.AppendTag(nil, 900, protowire.StartGroupType),
		protowire.AppendTag(nil, 900, protowire.EndGroupType)...)
	for name, c := range map[string]struct {
		b    []byte
		want error
	}{
		"in the transaction": {append(ofBody(body), group...), fees.ErrUnreadable},
		"in the body":        {ofBody(append(varint(901, 1), body...)), fees.ErrUnreadable},
		"in a key":           {ofBody(field(11, field(1, varint(99, 1)))), fees.ErrUnreadable},
		"redaction":          {ofBody(append(varint(901, 1), field(87, nil)...)), fees.ErrUnknownType},
		"publication":        {ofBody(field(91, nil)), fees.ErrUnknownType},
		"the field after":    {ofBody(field(92, nil)), fees.ErrUnreadable},
	} {
		if _, err := fees.Parse(c.b); err != c.want { //nolint:errorlint // must be the same value
			t.Errorf("unknown field %s: %v, want %v", name, err, c.want)
		}
	}
}

// TestLimits tests the limits of the network: equal is allowed, one more is not.
func TestLimits(t *testing.T) {
	t.Parallel()
	nfts := func(n, more int) *services.TransactionBody {
		return transfer(nil, nftList(n), nftList(more))
	}
	amounts := func(n int) []*services.AccountAmount {
		return slices.Repeat([]*services.AccountAmount{amount(accountID(1), 1)}, n)
	}
	tokens := func(n int) []*services.TokenTransferList {
		return slices.Repeat([]*services.TokenTransferList{{Token: token(1)}}, n)
	}
	airdrops := func(n int) *services.TransactionBody {
		return &services.TransactionBody{
			Data: &services.TransactionBody_TokenClaimAirdrop{
				TokenClaimAirdrop: &services.TokenClaimAirdropTransactionBody{
					PendingAirdrops: slices.Repeat([]*services.PendingAirdropId{{}}, n),
				},
			},
		}
	}
	sized := func(n int, body func(int) *services.TransactionBody) []byte {
		b := signed(t, body(n), 0)
		return signed(t, body(n-(len(b)-n)), 0)
	}
	ethereum := func(n int) *services.TransactionBody {
		return &services.TransactionBody{
			Data: &services.TransactionBody_EthereumTransaction{EthereumTransaction: &services.EthereumTransactionBody{
				EthereumData: make([]byte, n),
			}},
		}
	}
	for name, c := range map[string]struct {
		good, bad []byte
		code      ledger.ResponseCode
	}{
		"size":       {sized(6144, message), sized(6145, message), codes.TransactionOversize},
		"Ethereum":   {sized(133_120, ethereum), sized(133_121, ethereum), codes.TransactionOversize},
		"signatures": {signed(t, message(1), 100), signed(t, message(1), 101), codes.TransactionOversize},
		"amounts": {
			signed(t, transfer(amounts(10)), 0), signed(t, transfer(amounts(11)), 0),
			codes.TransferListSizeLimitExceeded,
		},
		"tokens": {
			signed(t, transfer(nil, tokens(10)...), 0), signed(t, transfer(nil, tokens(11)...), 0),
			codes.TokenTransferListSizeLimitExceeded,
		},
		"NFTs":            {signed(t, nfts(4, 6), 0), signed(t, nfts(4, 7), 0), codes.BatchSizeLimitExceeded},
		"airdrops":        {signed(t, airdrops(10), 0), signed(t, airdrops(11), 0), codes.PendingAirdropIDListTooLong},
		"size before all": {signed(t, message(1), 0), signed(t, transfer(amounts(800)), 0), codes.TransactionOversize},
	} {
		good, err := fees.Parse(c.good)
		bad, err2 := fees.Parse(c.bad)
		if err != nil || err2 != nil {
			t.Errorf("%s: %v, %v", name, err, err2)
			continue
		}
		if err := good.CheckLimits(); err != nil {
			t.Errorf("%s: %d bytes: %v", name, len(c.good), err)
		}
		var limit *fees.LimitError
		if err := bad.CheckLimits(); !errors.As(err, &limit) || limit.Code != c.code {
			t.Errorf("%s: %d bytes: %v, want %s", name, len(c.bad), err, c.code)
		}
	}
}

func nftList(n int) *services.TokenTransferList {
	return &services.TokenTransferList{Token: token(1), NftTransfers: slices.Repeat([]*services.NftTransfer{{}}, n)}
}

// TestStateRefusals tests errors that only occur in mode State.
func TestStateRefusals(t *testing.T) {
	t.Parallel()
	noTopic := message(1)
	noTopic.GetConsensusSubmitMessage().TopicID = nil
	noPayer := fileUpdate(1001, 1, 1)
	noPayer.TransactionID = nil
	noFile := fileUpdate(1001, 1, 1)
	noFile.GetFileUpdate().FileID = nil
	for name, body := range map[string]*services.TransactionBody{
		"message without topic": noTopic, "file update without payer": noPayer, "file update without file": noFile,
		"transfer without token": transfer(
			nil, &services.TokenTransferList{Transfers: []*services.AccountAmount{amount(accountID(1), 1)}},
		),
	} {
		tx := parse(t, signed(t, body, 1))
		if _, err := schedule(t).Estimate(tx, fees.Options{Mode: fees.Intrinsic}); err != nil {
			t.Errorf("%s, intrinsic: %v", name, err)
		}
		if _, err := schedule(t).Estimate(tx,
			fees.Options{Mode: fees.State}); err != fees.ErrUnknownType { //nolint:errorlint // must be the same value
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestKeys counts nested keys.
func TestKeys(t *testing.T) {
	t.Parallel()
	threshold := func(of uint32, list *services.KeyList) *services.Key {
		return &services.Key{
			Key: &services.Key_ThresholdKey{ThresholdKey: &services.ThresholdKey{Threshold: of, Keys: list}},
		}
	}
	contract := &services.Key{Key: &services.Key_ContractID{ContractID: &services.ContractID{}}}
	for name, c := range map[string]struct {
		key   *services.Key
		count int64
	}{
		"ed25519": {ed(1), 1},
		"secp256k1": {&services.Key{
			Key: &services.Key_ECDSASecp256K1{ECDSASecp256K1: make([]byte, 33)},
		}, 1},
		"secp384":  {&services.Key{Key: &services.Key_ECDSA_384{}}, 1},
		"RSA":      {&services.Key{Key: &services.Key_RSA_3072{RSA_3072: []byte{1}}}, 0},
		"contract": {contract, 0},
		"delegatable contract": {&services.Key{
			Key: &services.Key_DelegatableContractId{DelegatableContractId: &services.ContractID{}},
		}, 0},
		"unset":                  {&services.Key{}, 0},
		"list":                   {listKey(4), 4},
		"empty list":             {listKey(0), 0},
		"1 of 5":                 {threshold(1, keyList(5)), 5},
		"threshold without list": {threshold(1, nil), 0},
		"lists in thresholds": {threshold(
			2, &services.KeyList{Keys: []*services.Key{listKey(2), threshold(3, keyList(3)), contract, ed(9)}},
		), 6},
	} {
		e := estimate(t, signed(t, cryptoCreate(c.key, 0), 1), fees.Options{Mode: fees.Intrinsic})
		want := int64(500000000) + max(0, c.count-1)*100000000
		if e.Total != want {
			t.Errorf("%s: %d, want %d", name, e.Total, want)
		}
	}
}

// Transactions as SDKs serialize them: a transfer of 5 hbars for two nodes with a signature (JavaScript, 2.87), its
// first transaction, and the same transfer neither frozen nor signed.
const (
	sdkList = "0ac1012abe010a540a150a080880e2cfaa06100012070800100018e907180012060800100018031880c2d72f22020878" +
		"320072280a260a110a070800100018e90710ff93ebdc0318000a" +
		"110a070800100018ea07108094ebdc03180012660a640a20e0c8ec2758a5879ffac226a13c0c516b799e72e35141a0dd" +
		"828f94d37988a4b71a40b179787200d728ebbe62bc32e559c9eb05" +
		"220a8c91c5b47cecf0db202dc2f5ac106938b7367af9b3d854e5e262b7b6805762e1e0bb6b0c3a01024187439ec70e0a" +
		"c1012abe010a540a150a080880e2cfaa06100012070800100018e907" +
		"180012060800100018041880c2d72f22020878320072280a260a110a070800100018e90710ff93ebdc0318000a110a07" +
		"0800100018ea07108094ebdc03180012660a640a20e0c8ec2758a587" +
		"9ffac226a13c0c516b799e72e35141a0dd828f94d37988a4b71a40b50b954806d15975b8d3ff3a3a2fd5512f4f764daa" +
		"93ef762cc111e5d6713c5daef911abee6cfbf1d437cee3a47d01a5d9" +
		"a60a45f781188e374c9bc744eb1301"
	sdkOne = "2abe010a540a150a080880e2cfaa06100012070800100018e907180012060800100018031880c2d72f22020878320072" +
		"280a260a110a070800100018e90710ff93ebdc0318000a110a07" +
		"0800100018ea07108094ebdc03180012660a640a20e0c8ec2758a5879ffac226a13c0c516b799e72e35141a0dd828f94" +
		"d37988a4b71a40b179787200d728ebbe62bc32e559c9eb05220a8c91" +
		"c5b47cecf0db202dc2f5ac106938b7367af9b3d854e5e262b7b6805762e1e0bb6b0c3a01024187439ec70e"
	sdkUnfrozen = "0a531a00224f0a150a080880e2cfaa06100012070800100018e9071800120608001000180322020878320072280a260a" +
		"110a070800100018e90710ff93ebdc0318000a110a" +
		"070800100018ea07108094ebdc031800"
)

// TestParseAny decodes a transaction and the lists of SDKs, and returns the error of [fees.Parse] for anything else.
func TestParseAny(t *testing.T) {
	t.Parallel()
	unhex := func(text string) []byte {
		b, err := hex.DecodeString(text)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	one, list, unfrozen := unhex(sdkOne), unhex(sdkList), unhex(sdkUnfrozen)
	want, err := fees.Parse(one)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		bytes []byte
		list  bool
		err   error
	}{
		"transaction":          {one, false, nil},
		"list":                 {list, true, nil},
		"list of one":          {list[:len(list)/2], true, nil},
		"not frozen":           {unfrozen, true, nil},
		"list of lists":        {append([]byte{0x0a, byte(len(unfrozen))}, unfrozen...), false, fees.ErrUnreadable},
		"list of nothing":      {[]byte{0x0a, 0}, false, fees.ErrEmpty},
		"nothing":              {nil, false, fees.ErrEmpty},
		"list that is cut off": {list[:100], false, fees.ErrUnreadable},
		"text":                 {[]byte("0x0a"), false, fees.ErrUnreadable}, // a field that is unknown
	} {
		got, err := fees.ParseAny(c.bytes)
		if !errors.Is(err, c.err) || fees.IsList(c.bytes) != c.list || err == nil &&
			got.Function() != want.Function() {
			t.Errorf("%s: %v, list %t: %v", name, got, fees.IsList(c.bytes), err)
		}
		if name != "not frozen" && err == nil && totalOf(t, got) != totalOf(t, want) {
			t.Errorf("%s: got %d, want %d", name, totalOf(t, got), totalOf(t, want))
		}
		if _, strict := fees.Parse(c.bytes); c.list && !errors.Is(strict, fees.ErrUnreadable) {
			t.Errorf("%s: without lists the error is %v", name, strict)
		}
	}
}

// totalOf returns the estimate of a transaction.
func totalOf(t *testing.T, tx *fees.Transaction) int64 {
	t.Helper()
	e, err := schedule(t).Estimate(tx, fees.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return e.Total
}
