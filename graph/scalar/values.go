package scalar

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/emmansun/base64"

	"heliograph/graph/fault"
	"heliograph/internal/domain/fees"
	"heliograph/internal/domain/ledger"
	"heliograph/internal/domain/status"
)

// AppendEntityID appends "shard.realm.num" as a quoted string, or null for the zero id.
func AppendEntityID(dst []byte, v ledger.EntityID, _ Style) []byte {
	if v.IsNone() {
		return append(dst, null...)
	}
	return append(v.Append(append(dst, '"')), '"')
}

// reference parses a reference to an entity with parse. In GraphQL, spaces around it are ignored, and an id can have
// its checksum, which must be correct for the chain id of the context (HIP-15). Other texts with a dash are parsed as
// they are. Errors, also that of null, are BAD_USER_INPUT.
func reference[T any](ctx context.Context, v any, parse func(text string) (T, error)) (T, error) {
	return parsed(v, func(text string) (none T, err error) {
		env := EnvOf(ctx)
		if env.Style != GraphQL {
			return parse(text)
		}
		text = strings.TrimSpace(text)
		name, sum, found := strings.Cut(text, "-")
		if !found || strings.ContainsAny(sum, "-0123456789") {
			return parse(text)
		}
		if id, err := ledger.ParseEntityID(name, env.Base); err == nil {
			if want := id.Checksum(env.ChainID); sum != want || want == "" {
				return none, fmt.Errorf("the checksum of %q is wrong: use %s", text,
					strings.TrimSuffix(id.String()+"-"+want, "-"))
			}
			text = name
		}
		return parse(text)
	})
}

// UnmarshalEntityID returns the id in "shard.realm.num" or an EVM address. Shard and realm default to those of the
// context's [Env]. An address without an entity number is looked up with Env.Find, which can query the database and
// whose errors are returned as they are. Null, other texts, and an address without Find are errors BAD_USER_INPUT.
func UnmarshalEntityID(ctx context.Context, v any) (ledger.EntityID, error) {
	env := EnvOf(ctx)
	ref, err := reference(ctx, v, func(text string) (ledger.ContractRef, error) {
		ref, err := ledger.ParseContractRef(text, env.Base)
		if err == nil && ref.Address.Valid && env.Find == nil {
			err = fmt.Errorf("the EVM address %s does not contain an entity number", ref)
		}
		return ref, err
	})
	if err != nil || !ref.Address.Valid {
		return ref.ID, err
	}
	return env.Find(ctx, ref.Address.V)
}

// AppendTimestamp appends "seconds.nanoseconds" with nine digits as a quoted string. Zero is "0.0" in the style
// RESTCompact.
func AppendTimestamp(dst []byte, v ledger.Timestamp, style Style) []byte {
	if v == 0 && style == RESTCompact {
		return append(dst, `"0.0"`...)
	}
	return append(v.Append(append(dst, '"')), '"')
}

// UnmarshalTimestamp parses seconds with an optional fraction of up to nine digits, or an ISO 8601 time. Errors, also
// that of null, are BAD_USER_INPUT.
func UnmarshalTimestamp(_ context.Context, v any) (ledger.Timestamp, error) {
	return parsed(v, ledger.ParseAnyTimestamp)
}

// AppendInstant appends an RFC 3339 time in UTC with nanoseconds as a quoted string.
func AppendInstant(dst []byte, v ledger.Timestamp, _ Style) []byte {
	return append(v.Time().AppendFormat(append(dst, '"'), "2006-01-02T15:04:05.000000000Z"), '"')
}

// AppendExpiry appends an expiry as "seconds.nanoseconds" with nine digits, quoted, or null if it is unknown.
func AppendExpiry(dst []byte, v ledger.Expiry, _ Style) []byte {
	if !v.Valid {
		return append(dst, null...)
	}
	return append(v.Append(append(dst, '"')), '"')
}

// AppendExpiryInstant appends an expiry as a quoted RFC 3339 time in UTC with nanoseconds. It appends null if it is
// unknown or later than the year 9999.
func AppendExpiryInstant(dst []byte, v ledger.Expiry, _ Style) []byte {
	at, ok := v.Time()
	if !ok {
		return append(dst, null...)
	}
	return append(at.AppendFormat(append(dst, '"'), "2006-01-02T15:04:05.000000000Z"), '"')
}

// AppendDay appends the start of a day as "seconds.nanoseconds" with nine digits, quoted, or null if it is unknown.
func AppendDay(dst []byte, v ledger.Day, _ Style) []byte {
	if !v.Valid {
		return append(dst, null...)
	}
	return append(v.Append(append(dst, '"')), '"')
}

// AppendBytes appends bytes: "0x" and hex in GraphQL, padded base64 in the other styles, null for nil.
func AppendBytes(dst, v []byte, style Style) []byte {
	if style == GraphQL || v == nil {
		return AppendHex(dst, v, style)
	}
	return append(base64.StdEncoding.AppendEncode(append(dst, '"'), v), '"')
}

// UnmarshalBytes parses hex with or without "0x". Errors, also that of null, are BAD_USER_INPUT.
func UnmarshalBytes(_ context.Context, v any) ([]byte, error) {
	return parsed(v, ledger.ParseHex)
}

// AppendHex appends bytes as "0x" and hex in every style, or null for nil.
func AppendHex(dst, v []byte, _ Style) []byte {
	if v == nil {
		return append(dst, null...)
	}
	return append(ledger.AppendHex(append(dst, '"'), v), '"')
}

// UnmarshalHex parses hex with or without "0x", as [UnmarshalBytes] does. Errors are BAD_USER_INPUT.
func UnmarshalHex(ctx context.Context, v any) ([]byte, error) { return UnmarshalBytes(ctx, v) }

// AppendHexDigits appends bytes as a quoted string of hex digits without "0x" in every style. Nil is the empty
// string.
func AppendHexDigits(dst []byte, v ledger.HexDigits, _ Style) []byte {
	return append(ledger.AppendHexDigits(append(dst, '"'), v), '"')
}

// AppendHash appends a hash as a JSON string. v already is its text, "0x" and hex digits, and is not checked.
func AppendHash(dst []byte, v string, style Style) []byte { return AppendString(dst, v, style) }

// UnmarshalHash parses 64 or 96 hex digits with or without "0x", and returns them in lower case with "0x". Errors,
// also that of null, are BAD_USER_INPUT.
func UnmarshalHash(_ context.Context, v any) (string, error) {
	h, err := parsed(v, ledger.ParseHash)
	if err != nil {
		return "", err
	}
	return h.String(), nil
}

// AppendEVMAddress appends "0x" and 40 hex digits as a quoted string.
func AppendEVMAddress(dst []byte, v ledger.EVMAddress, _ Style) []byte {
	return append(v.Append(append(dst, '"')), '"')
}

// AppendAlias appends an alias in base32 as a quoted string, or null for nil.
func AppendAlias(dst []byte, v ledger.Alias, _ Style) []byte {
	if v == nil {
		return append(dst, null...)
	}
	return append(v.Append(append(dst, '"')), '"')
}

// AppendTransactionID appends "shard.realm.num-seconds-nanoseconds" as a quoted string in every style.
func AppendTransactionID(dst []byte, v ledger.TransactionID, _ Style) []byte {
	return append(v.Append(append(dst, '"')), '"')
}

// UnmarshalTransactionID parses "shard.realm.num-seconds-nanoseconds" or "shard.realm.num@seconds.nanoseconds".
// Errors, also that of null, are BAD_USER_INPUT.
func UnmarshalTransactionID(_ context.Context, v any) (ledger.TransactionID, error) {
	return parsed(v, ledger.ParseAnyTransactionID)
}

// AppendAccountRef appends a reference, an entity id, an EVM address or an alias, as a quoted string in the form that
// [UnmarshalAccountRef] parses.
func AppendAccountRef(dst []byte, v ledger.AccountRef, style Style) []byte {
	return AppendString(dst, v.String(), style)
}

// UnmarshalAccountRef parses an entity id, an EVM address or an alias, and looks nothing up. An EVM address or an
// alias can have the prefix "literal:". A transaction id stands for its payer. Shard and realm default to those of
// the context's [Env]. Other texts and null are errors BAD_USER_INPUT.
func UnmarshalAccountRef(ctx context.Context, v any) (ledger.AccountRef, error) {
	return reference(ctx, v, func(text string) (ledger.AccountRef, error) {
		if strings.ContainsAny(text, "@-") {
			id, err := ledger.ParseAnyTransactionID(text)
			return ledger.AccountRef{ID: id.Payer}, err
		}
		return ledger.ParseLiteralAccountRef(text, EnvOf(ctx).Base)
	})
}

// AppendContractRef appends a reference, an entity id or an EVM address, as a quoted string in the form that
// [UnmarshalContractRef] parses.
func AppendContractRef(dst []byte, v ledger.ContractRef, style Style) []byte {
	return AppendString(dst, v.String(), style)
}

// UnmarshalContractRef parses an entity id or an EVM address, and looks nothing up. Shard and realm default to those
// of the context's [Env]. Other texts and null are errors BAD_USER_INPUT.
func UnmarshalContractRef(ctx context.Context, v any) (ledger.ContractRef, error) {
	return reference(ctx, v, func(text string) (ledger.ContractRef, error) {
		return ledger.ParseContractRef(text, EnvOf(ctx).Base)
	})
}

// lineLength is the number of base64 characters in a line of [ledger.LineBytes].
const lineLength = 76

// AppendLineBytes appends bytes: "0x" and hex in GraphQL, padded base64 in lines of 76 characters in the other styles,
// null for nil. Each line except the last ends with an escaped line feed.
func AppendLineBytes(dst []byte, v ledger.LineBytes, style Style) []byte {
	if style == GraphQL || v == nil {
		return AppendHex(dst, v, style)
	}
	text := base64.StdEncoding.EncodeToString(v)
	dst = append(dst, '"')
	for len(text) > lineLength {
		dst = append(append(dst, text[:lineLength]...), '\\', 'n')
		text = text[lineLength:]
	}
	return append(append(dst, text...), '"')
}

// AppendNullEmpty appends an object without members, {}, or null if v is null.
func AppendNullEmpty(dst []byte, v ledger.Null[ledger.Empty], style Style) []byte {
	return nullable(dst, v, style, func(dst []byte, _ ledger.Empty, _ Style) []byte { return append(dst, "{}"...) })
}

// appendName appends the value of an enum as a string.
func appendName[T ~string](dst []byte, v T, style Style) []byte {
	return AppendString(dst, string(v), style)
}

// readName returns an input value as an enum value. It does not check the name, because validation has done so.
// Values other than strings and numbers are errors BAD_USER_INPUT.
func readName[T ~string](v any) (T, error) {
	text, err := inputText(v)
	return T(text), err
}

// AppendKeyType appends the name of a key type as a quoted string. Styles other than GraphQL spell the type of complex
// keys differently.
func AppendKeyType(dst []byte, v ledger.KeyType, style Style) []byte {
	if style != GraphQL && v == ledger.KeyProtobufEncoded {
		return append(dst, `"ProtobufEncoded"`...)
	}
	return appendName(dst, v, style)
}

// AppendTransactionType appends the name of a transaction type, such as CRYPTOTRANSFER, as a quoted string.
func AppendTransactionType(dst []byte, v ledger.TransactionType, style Style) []byte {
	return AppendString(dst, v.String(), style)
}

// UnmarshalTransactionType parses the name of a transaction type. An unknown name, and UNKNOWN itself, are errors
// BAD_USER_INPUT.
func UnmarshalTransactionType(_ context.Context, v any) (ledger.TransactionType, error) {
	return parsed(v, func(name string) (ledger.TransactionType, error) {
		if strings.EqualFold(name, ledger.Unknown) {
			return 0, fmt.Errorf("%s is not a valid transaction type for input", ledger.Unknown)
		}
		return ledger.ParseTransactionType(name)
	})
}

// AppendResponseCode appends the name of a response code of the network, such as SUCCESS, as a quoted string.
func AppendResponseCode(dst []byte, v ledger.ResponseCode, style Style) []byte {
	return AppendString(dst, v.String(), style)
}

// AppendFeeExtraName appends the name of an extra fee in the fee schedule as a quoted string.
func AppendFeeExtraName(dst []byte, v fees.Extra, style Style) []byte {
	return AppendString(dst, v.String(), style)
}

// appendEscaped appends a JSON string with escaped HTML characters, like encoding/json.
func appendEscaped(dst []byte, s string) []byte {
	b, err := json.Marshal(s)
	if err != nil { // cannot happen for a string
		return append(dst, `""`...)
	}
	return append(dst, b...)
}

// appendStatusName appends an enum value of status pages: in upper case in GraphQL, and otherwise as it is, in lower
// case. The empty value is null.
func appendStatusName[T ~string](dst []byte, v T, style Style) []byte {
	switch {
	case v == "":
		return append(dst, null...)
	case style == GraphQL:
		return AppendString(dst, strings.ToUpper(string(v)), style)
	default:
		return AppendString(dst, string(v), style)
	}
}

// readStatusName returns an input value as an enum value of status pages, in lower case. It does not check the name,
// because validation has done so. Values other than strings and numbers are errors BAD_USER_INPUT.
func readStatusName[T ~string](v any) (T, error) {
	text, err := inputText(v)
	return T(strings.ToLower(text)), err
}

// AppendDateTime appends a time with milliseconds, in UTC. In the documents of a status page it keeps the zone of the
// time.
func AppendDateTime(dst []byte, v time.Time, style Style) []byte {
	if style != Status {
		v = v.UTC()
	}
	return append(status.AppendTime(append(dst, '"'), v), '"')
}

// UnmarshalDateTime parses an RFC 3339 time in 1970 or later and truncates it to milliseconds. Errors are
// BAD_USER_INPUT.
func UnmarshalDateTime(_ context.Context, v any) (time.Time, error) {
	text, err := inputText(v)
	if err != nil {
		return time.Time{}, err
	}
	t, err := time.Parse(time.RFC3339Nano, text)
	if err != nil || t.Year() < 1970 {
		return time.Time{}, fault.Input("%q is not an RFC 3339 time such as 2026-01-31T12:00:00Z, in 1970 or later",
			text)
	}
	return status.Milliseconds(t), nil
}

// AppendDate appends a date, which already is text in the form YYYY-MM-DD, as a quoted string.
func AppendDate(dst []byte, v status.Date, style Style) []byte {
	return AppendString(dst, string(v), style)
}

// UnmarshalDate parses a date in the form YYYY-MM-DD. Errors are BAD_USER_INPUT.
func UnmarshalDate(_ context.Context, v any) (status.Date, error) {
	return parsed(v, status.ParseDate)
}

// AppendID appends a GraphQL ID as a quoted string. Package relay makes the global ids.
func AppendID(dst []byte, v string, style Style) []byte { return AppendString(dst, v, style) }

// UnmarshalID parses an ID: a string or a number. Null is the empty ID. Any other type is an error BAD_USER_INPUT.
func UnmarshalID(_ context.Context, v any) (string, error) {
	if v == nil {
		return "", nil
	}
	return inputText(v)
}
