package ledger_test

import (
	"encoding/hex"
	"errors"
	"math"
	"math/big"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"

	"heliograph/internal/domain/ledger"
)

// malformedMessages are not valid protobuf, regardless of their fields.
var malformedMessages = []struct{ name, in, errText string }{
	{"truncated tag", "80", "protobuf tag"},
	{"field number 0", "0001", "protobuf tag"},
	{"field number above the greatest", "808080801001", "protobuf field number 536870912 is too great"},
	{"wire type 6", "0e", "protobuf field 1"},
	{"wire type 7", "0f", "protobuf field 1"},
	{"truncated varint", "0880", "protobuf field 1"},
	{"missing varint", "08", "protobuf field 1"},
	{"varint of eleven bytes", "08ffffffffffffffffffff01", "protobuf field 1"},
	{"varint beyond 64 bits", "08ffffffffffffffffff02", "protobuf field 1"},
	{"bytes without a length", "0a", "protobuf field 1"},
	{"fewer bytes than the length", "7a03aabb", "protobuf field 15"},
	{"length beyond the memory", "0affffffffffffffff7f", "protobuf field 1"},
	{"truncated 32 bits", "0d010203", "protobuf field 1"},
	{"truncated 64 bits", "0901020304050607", "protobuf field 1"},
	{"end of a group that never began", "0c", "protobuf field 1"},
	{"group without an end", "0b0805", "protobuf field 1"},
	{"group that ends as another", "0b14", "protobuf field 1"},
	{"text", hex.EncodeToString([]byte("garbage")), "protobuf"},
}

// message joins fields into a serialized message.
func message(fields ...[]byte) []byte {
	var b []byte
	for _, f := range fields {
		b = append(b, f...)
	}
	return b
}

func varint(num protowire.Number, v int64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(nil, num, protowire.VarintType), uint64(v))
}

func sub(num protowire.Number, fields ...[]byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(nil, num, protowire.BytesType), message(fields...))
}

func TestDecodeTransactionID(t *testing.T) {
	type want struct {
		account   ledger.EntityID
		start     string // empty if unknown
		scheduled bool
		nonce     int32
	}
	account := sub(2, varint(3, 4321))
	for _, tc := range []struct {
		name string
		in   []byte
		want want
	}{
		{
			"valid start, account and nonce", unhex(t, "0a080881e2cfaa061007120318e1212002"),
			want{4321, "1700000001.000000007", false, 2},
		},
		{"no fields", nil, want{}},
		{"scheduled", message(account, varint(3, 1)), want{4321, "", true, 0}},
		{"scheduled as any number but 0", varint(3, 256), want{scheduled: true}},
		{"negative nonce", varint(4, -1), want{nonce: -1}},
		{"nonce is cut to 32 bits", varint(4, 1<<32+7), want{nonce: 7}},
		{
			"shard and realm of the message", sub(2, varint(1, 1023), varint(2, 65535), varint(3, 9)),
			want{account: entity(t, 1023, 65535, 9)},
		},
		{"alias instead of a number", sub(2, varint(1, 5000), sub(4, []byte{1, 2})), want{}},
		{"alias after a number takes its place", sub(2, varint(3, 9), sub(4, []byte{1})), want{}},
		{"number after an alias takes its place", sub(2, sub(4, []byte{1}), varint(3, 9)), want{account: 9}},
		{"account without fields", sub(2), want{}},
		{"empty valid start is the epoch", sub(1), want{start: "0.000000000"}},
		{"seconds only", sub(1, varint(1, 5)), want{start: "5.000000000"}},
		{
			"latest valid start", sub(1, varint(1, 9223372036), varint(2, 854775807)),
			want{start: "9223372036.854775807"},
		},
		{
			"valid start that does not fit is unknown",
			message(account, sub(1, varint(1, 9223372036), varint(2, 854775808))),
			want{account: 4321},
		},
		{"seconds that would wrap are unknown", sub(1, varint(1, math.MaxInt64), varint(2, 1)), want{}},
		{"seconds that would wrap to a good instant are unknown", sub(1, varint(1, 1<<55)), want{}},
		{"negative seconds are unknown", sub(1, varint(1, -1)), want{}},
		{"negative nanoseconds are unknown", sub(1, varint(1, 5), varint(2, -1)), want{}},
		{"nanoseconds are cut to 32 bits", sub(1, varint(1, 5), varint(2, 1<<32+7)), want{start: "5.000000007"}},
		{"a second of nanoseconds is unknown", sub(1, varint(1, 5), varint(2, 1_000_000_000)), want{}},
		{"the last of a repeated number counts", message(varint(4, 1), varint(4, 2)), want{nonce: 2}},
		{
			"a repeated message is merged", message(sub(2, varint(1, 1), varint(3, 5)), sub(2, varint(2, 2)),
				sub(1, varint(1, 5)), sub(1, varint(2, 6))),
			want{entity(t, 1, 2, 5), "5.000000006", false, 0},
		},
		{"unknown fields", message(varint(15, 1), sub(16, []byte{1}),
			unhex(t, "2d01020304"+"290102030405060708"+"2b08052c"), account), want{account: 4321}},
		{
			"known numbers of another type do not count",
			message(account, varint(3, 1), varint(4, 2), sub(1, varint(1, 5)),
				varint(1, 9), varint(2, 9), sub(3, []byte{0}), sub(4, []byte{0})),
			want{4321, "5.000000000", true, 2},
		},
		{
			"parts of another type do not count", message(sub(1, varint(1, 5), sub(1), sub(2)),
				sub(2, varint(3, 9), sub(1), sub(2), sub(3), varint(4, 1))),
			want{9, "5.000000000", false, 0},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := ledger.DecodeTransactionID(tc.in)
			if err != nil {
				t.Fatal(err)
			}
			start := ""
			if got.TransactionValidStart.Valid {
				start = got.TransactionValidStart.V.String()
			}
			if (want{got.AccountID, start, got.Scheduled.V, got.Nonce.V}) != tc.want {
				t.Errorf("got %+v, want %+v", got, tc.want)
			}
			if !got.Scheduled.Valid || !got.Nonce.Valid {
				t.Errorf("scheduled or nonce is unknown: %+v", got)
			}
		})
	}
}

func TestDecodeTransactionIDRejects(t *testing.T) {
	for _, tc := range malformedMessages {
		bad := unhex(t, tc.in)
		for place, in := range map[string][]byte{"": bad, "valid start: ": sub(1, bad), "account: ": sub(2, bad)} {
			// A later valid part must not hide an error.
			if place != "" {
				in = message(in, sub(1, varint(1, 5)), sub(2, varint(3, 5)))
			}
			t.Run(place+tc.name, func(t *testing.T) {
				_, err := ledger.DecodeTransactionID(in)
				wantError(t, err, ledger.ErrSyntax, "reading a transaction id: ")
			})
		}
	}
	for name, in := range map[string][]byte{
		"account of a shard that cannot exist": sub(2, varint(1, 1024), varint(3, 1)),
		"account of a negative number":         sub(2, varint(3, -1)),
	} {
		t.Run(name, func(t *testing.T) {
			_, err := ledger.DecodeTransactionID(in)
			wantError(t, err, ledger.ErrRange, "reading a transaction id: invalid entity id")
		})
	}
}

func TestDecodeCustomFeeLimit(t *testing.T) {
	account := sub(1, varint(1, 1), varint(2, 2), varint(3, 1001))
	payer := entity(t, 1, 2, 1001)
	for _, tc := range []struct {
		name string
		in   []byte
		want []ledger.CustomFeeLimit
	}{
		{"no fields", nil, nil},
		{"account without fees", account, nil},
		{
			"fee in hbar", message(account, sub(2, varint(1, 100))),
			[]ledger.CustomFeeLimit{{AccountID: payer, Amount: 100}},
		},
		{
			"fee in a token", message(account, sub(2, varint(1, 100), sub(2, varint(3, 77)))),
			[]ledger.CustomFeeLimit{{AccountID: payer, Amount: 100, DenominatingTokenID: 77}},
		},
		{
			"token of another shard and realm", sub(2, sub(2, varint(1, 3), varint(2, 4), varint(3, 5))),
			[]ledger.CustomFeeLimit{{DenominatingTokenID: entity(t, 3, 4, 5)}},
		},
		{
			"fees keep their order and share the account",
			message(account, sub(2, varint(1, 2)), sub(2, varint(1, 1))),
			[]ledger.CustomFeeLimit{{AccountID: payer, Amount: 2}, {AccountID: payer, Amount: 1}},
		},
		{
			"account after the fees", message(sub(2, varint(1, 2)), account),
			[]ledger.CustomFeeLimit{{AccountID: payer, Amount: 2}},
		},
		{
			"account by alias is ignored", message(sub(1, varint(1, 1), sub(4, []byte{1})), sub(2, varint(1, 2))),
			[]ledger.CustomFeeLimit{{Amount: 2}},
		},
		{"missing account is ignored", sub(2, varint(1, 2)), []ledger.CustomFeeLimit{{Amount: 2}}},
		{"fee without fields", sub(2), []ledger.CustomFeeLimit{{}}},
		{"token without fields is ignored", sub(2, varint(1, 2), sub(2)), []ledger.CustomFeeLimit{{Amount: 2}}},
		{"greatest amount", sub(2, varint(1, math.MaxInt64)), []ledger.CustomFeeLimit{{Amount: math.MaxInt64}}},
		{"negative amount", sub(2, varint(1, -5)), []ledger.CustomFeeLimit{{Amount: -5}}},
		{
			"unknown fields and known ones of another type",
			message(varint(1, 1), varint(2, 1), sub(3), sub(2, varint(1, 2), sub(1), varint(2, 9), varint(3, 9))),
			[]ledger.CustomFeeLimit{{Amount: 2}},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := ledger.DecodeCustomFeeLimit(tc.in)
			if err != nil || len(got) != len(tc.want) {
				t.Fatalf("got %v, %v", got, err)
			}
			for i := range got {
				if *got[i] != tc.want[i] {
					t.Errorf("limit %d is %+v, want %+v", i, *got[i], tc.want[i])
				}
			}
		})
	}
}

func TestDecodeCustomFeeLimitRejects(t *testing.T) {
	for _, tc := range malformedMessages {
		bad := unhex(t, tc.in)
		for place, in := range map[string][]byte{
			"": bad, "account: ": sub(1, bad), "fee: ": sub(2, bad),
			"fee: token: ": sub(2, sub(2, bad)),
		} {
			if place != "" {
				in = message(in, sub(1, varint(3, 5)), sub(2, varint(1, 5)))
			}
			t.Run(place+tc.name, func(t *testing.T) {
				got, err := ledger.DecodeCustomFeeLimit(in)
				wantError(t, err, ledger.ErrSyntax, "reading a custom fee limit: ")
				if got != nil {
					t.Errorf("limits in spite of the error: %v", got)
				}
			})
		}
	}
	for name, in := range map[string][]byte{
		"account of a realm that cannot exist": sub(1, varint(2, 65536), varint(3, 1)),
		"token of a number that cannot exist":  sub(2, sub(2, varint(3, 1<<38))),
	} {
		t.Run(name, func(t *testing.T) {
			_, err := ledger.DecodeCustomFeeLimit(in)
			wantError(t, err, ledger.ErrRange, "invalid entity id")
		})
	}
}

// messages describes the decoded messages to a general protobuf decoder, which is the oracle.
func messages(tb testing.TB) protoreflect.MessageDescriptors {
	tb.Helper()
	field := func(num int32, name string,
		typ descriptorpb.FieldDescriptorProto_Type,
	) *descriptorpb.FieldDescriptorProto {
		return &descriptorpb.FieldDescriptorProto{
			Name: new(name), Number: new(num), Type: typ.Enum(),
			Label: descriptorpb.FieldDescriptorProto_LABEL_OPTIONAL.Enum(),
		}
	}
	inner := func(num int32, name, typ string) *descriptorpb.FieldDescriptorProto {
		f := field(num, name, descriptorpb.FieldDescriptorProto_TYPE_MESSAGE)
		f.TypeName = new(".test." + typ)
		return f
	}
	repeated := func(f *descriptorpb.FieldDescriptorProto) *descriptorpb.FieldDescriptorProto {
		f.Label = descriptorpb.FieldDescriptorProto_LABEL_REPEATED.Enum()
		return f
	}
	either := func(f *descriptorpb.FieldDescriptorProto) *descriptorpb.FieldDescriptorProto {
		f.OneofIndex = proto.Int32(0)
		return f
	}
	const int64Type, int32Type = descriptorpb.FieldDescriptorProto_TYPE_INT64,
		descriptorpb.FieldDescriptorProto_TYPE_INT32
	const boolType, bytesType = descriptorpb.FieldDescriptorProto_TYPE_BOOL,
		descriptorpb.FieldDescriptorProto_TYPE_BYTES
	msg := func(name string, fields ...*descriptorpb.FieldDescriptorProto) *descriptorpb.DescriptorProto {
		return &descriptorpb.DescriptorProto{Name: new(name), Field: fields}
	}
	entityID := msg("EntityID", field(1, "shard", int64Type), field(2, "realm", int64Type),
		either(field(3, "num", int64Type)), either(field(4, "alias", bytesType)))
	entityID.OneofDecl = []*descriptorpb.OneofDescriptorProto{{Name: new("entity")}}
	file, err := protodesc.NewFile(&descriptorpb.FileDescriptorProto{
		Name: new("test.proto"), Package: new("test"), Syntax: new("proto3"),
		MessageType: []*descriptorpb.DescriptorProto{
			entityID,
			msg("KeyList", repeated(field(1, "keys", bytesType))),
			msg("Timestamp", field(1, "seconds", int64Type), field(2, "nanos", int32Type)),
			msg("TransactionID", inner(1, "start", "Timestamp"), inner(2, "account", "EntityID"),
				field(3, "scheduled", boolType), field(4, "nonce", int32Type)),
			msg("FixedFee", field(1, "amount", int64Type), inner(2, "token", "EntityID")),
			msg("CustomFeeLimit", inner(1, "account", "EntityID"), repeated(inner(2, "fees", "FixedFee"))),
		},
	}, nil)
	if err != nil {
		tb.Fatal(err)
	}
	return file.Messages()
}

// unmarshal decodes b with the oracle.
func unmarshal(d protoreflect.MessageDescriptor, b []byte) (protoreflect.Message, error) {
	m := dynamicpb.NewMessage(d)
	return m, proto.Unmarshal(b, m)
}

func get(m protoreflect.Message, name protoreflect.Name) protoreflect.Value {
	return m.Get(m.Descriptor().Fields().ByName(name))
}

func has(m protoreflect.Message, name protoreflect.Name) bool {
	return m.Has(m.Descriptor().Fields().ByName(name))
}

func list(m protoreflect.Message, name protoreflect.Name) protoreflect.List {
	return get(m, name).List()
}

// entityOf returns the id in a message of the oracle.
func entityOf(m protoreflect.Message) (ledger.EntityID, error) {
	if !has(m, "num") {
		return 0, nil
	}
	return ledger.NewEntityID(get(m, "shard").Int(), get(m, "realm").Int(), get(m, "num").Int())
}

// sameError compares the error of a decoder with the oracle's errors about the form and the ids.
func sameError(t *testing.T, b []byte, err, form error, ids ...error) bool {
	t.Helper()
	switch {
	case form != nil:
		if !errors.Is(err, ledger.ErrSyntax) {
			t.Fatalf("%x: %v, want a syntax error: %v", b, err, form)
		}
		return false
	case errors.Join(ids...) != nil:
		if !errors.Is(err, ledger.ErrRange) {
			t.Fatalf("%x: %v, want %v", b, err, errors.Join(ids...))
		}
		return false
	case err != nil:
		t.Fatalf("%x: %v", b, err)
	}
	return true
}

func FuzzDecodeTransactionID(f *testing.F) {
	descriptors := messages(f)
	f.Add(unhex(f, "0a080881e2cfaa061007120318e1212002"))
	f.Add(sub(1, varint(1, math.MaxInt64), varint(2, -1)))
	f.Add(sub(1, varint(1, math.MaxInt64), varint(2, 5)))
	f.Add(sub(1, varint(1, 9223372036), varint(2, 854775807)))
	f.Add(message(sub(2, varint(1, 1024), varint(3, 1)), sub(2, sub(4, []byte{1})), varint(3, 1)))
	f.Add(message(sub(2, []byte{0x18}), sub(2, []byte{0x05})))
	f.Fuzz(func(t *testing.T, b []byte) {
		got, err := ledger.DecodeTransactionID(b)
		m, form := unmarshal(descriptors.ByName("TransactionID"), b)
		account, idErr := entityOf(get(m, "account").Message())
		if !sameError(t, b, err, form, idErr) {
			return
		}
		want := ledger.MessageTransactionID{
			AccountID: account, Nonce: ledger.Of(int32(get(m, "nonce").Int())),
			Scheduled: ledger.Of(get(m, "scheduled").Bool()),
		}
		start := get(m, "start").Message()
		seconds, nanos := get(start, "seconds").Int(), get(start, "nanos").Int()
		at := new(big.Int).Mul(big.NewInt(seconds), big.NewInt(1e9))
		at.Add(at, big.NewInt(nanos))
		if has(m, "start") && seconds >= 0 && nanos >= 0 && nanos < 1e9 && at.IsInt64() {
			want.TransactionValidStart = ledger.Of(ledger.Timestamp(at.Int64()))
		}
		if got != want {
			t.Fatalf("%x is %+v, want %+v", b, got, want)
		}
	})
}

func FuzzDecodeCustomFeeLimit(f *testing.F) {
	descriptors := messages(f)
	f.Add(message(sub(1, varint(1, 1), varint(2, 2), varint(3, 1001)), sub(2, varint(1, 100), sub(2, varint(3, 77))),
		sub(2)))
	f.Add(message(sub(2, varint(1, -1), sub(2, varint(3, 1<<38))), sub(1, sub(4, []byte{1}))))
	f.Add(message(sub(1, []byte{0x18}), sub(1, []byte{0x05})))
	f.Fuzz(func(t *testing.T, b []byte) {
		got, err := ledger.DecodeCustomFeeLimit(b)
		m, form := unmarshal(descriptors.ByName("CustomFeeLimit"), b)
		account, idErr := entityOf(get(m, "account").Message())
		fees := list(m, "fees")
		want, idErrs := make([]ledger.CustomFeeLimit, fees.Len()), []error{idErr}
		for i := range want {
			fee := fees.Get(i).Message()
			token, err := entityOf(get(fee, "token").Message())
			want[i], idErrs = ledger.CustomFeeLimit{
				AccountID: account, Amount: get(fee, "amount").Int(),
				DenominatingTokenID: token,
			}, append(idErrs, err)
		}
		// A token that cannot exist is reported when it is read, before malformed bytes after it.
		if form != nil && errors.Is(err, ledger.ErrRange) {
			return
		}
		if !sameError(t, b, err, form, idErrs...) {
			return
		}
		if len(got) != len(want) {
			t.Fatalf("%x has %d limits, want %d", b, len(got), len(want))
		}
		for i := range want {
			if *got[i] != want[i] {
				t.Fatalf("%x: limit %d is %+v, want %+v", b, i, *got[i], want[i])
			}
		}
	})
}
