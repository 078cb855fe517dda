package scalar

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/99designs/gqlgen/graphql"

	"heliograph/graph/fault"
	"heliograph/internal/domain/ledger"
	"heliograph/internal/domain/status"
)

// appendEscaped writes a JSON string as the standard library does: what HTML would take for markup is escaped too.
func appendEscaped(dst []byte, s string) []byte {
	b, err := json.Marshal(s)
	if err != nil { // a string can always be written
		return append(dst, `""`...)
	}
	return append(dst, b...)
}

// appendStatusName writes the name of a value of a status page: in capitals, as enums of the graph are, but over REST as the pages themselves have it. None is
// null.
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

// readStatusName reads such a name. The schema has made sure that it is one.
func readStatusName[T ~string](v any) (T, error) {
	text, err := inputText(v)
	return T(strings.ToLower(text)), err
}

// AppendComponentStatus writes the state of a component.
func AppendComponentStatus(dst []byte, v status.ComponentStatus, style Style) []byte {
	return appendStatusName(dst, v, style)
}

// MarshalComponentStatus is [AppendComponentStatus] for gqlgen.
func MarshalComponentStatus(v status.ComponentStatus) graphql.ContextMarshaler {
	return with(v, AppendComponentStatus)
}

// UnmarshalComponentStatus reads the state of a component.
func UnmarshalComponentStatus(_ context.Context, v any) (status.ComponentStatus, error) {
	return readStatusName[status.ComponentStatus](v)
}

// AppendNoticeStatus writes how far a notice is.
func AppendNoticeStatus(dst []byte, v status.State, style Style) []byte {
	return appendStatusName(dst, v, style)
}

// MarshalNoticeStatus is [AppendNoticeStatus] for gqlgen.
func MarshalNoticeStatus(v status.State) graphql.ContextMarshaler {
	return with(v, AppendNoticeStatus)
}

// UnmarshalNoticeStatus reads how far a notice is.
func UnmarshalNoticeStatus(_ context.Context, v any) (status.State, error) {
	return readStatusName[status.State](v)
}

// AppendStatusIndicator writes how bad a notice, or a page, is.
func AppendStatusIndicator(dst []byte, v status.Impact, style Style) []byte {
	return appendStatusName(dst, v, style)
}

// MarshalStatusIndicator is [AppendStatusIndicator] for gqlgen.
func MarshalStatusIndicator(v status.Impact) graphql.ContextMarshaler {
	return with(v, AppendStatusIndicator)
}

// UnmarshalStatusIndicator reads how bad a notice, or a page, is.
func UnmarshalStatusIndicator(_ context.Context, v any) (status.Impact, error) {
	return readStatusName[status.Impact](v)
}

// AppendNullImpact is [AppendStatusIndicator], or null.
func AppendNullImpact(dst []byte, v ledger.Null[status.Impact], style Style) []byte {
	return nullable(dst, v, style, AppendStatusIndicator)
}

// MarshalNullImpact is [AppendNullImpact] for gqlgen.
func MarshalNullImpact(v ledger.Null[status.Impact]) graphql.ContextMarshaler {
	return with(v, AppendNullImpact)
}

// UnmarshalNullImpact is [UnmarshalStatusIndicator], or unknown for null.
func UnmarshalNullImpact(ctx context.Context, v any) (ledger.Null[status.Impact], error) {
	return readNullable(ctx, v, UnmarshalStatusIndicator)
}

// AppendStatusVocabulary writes which words documents use.
func AppendStatusVocabulary(dst []byte, v status.Vocabulary, style Style) []byte {
	return appendStatusName(dst, v, style)
}

// MarshalStatusVocabulary is [AppendStatusVocabulary] for gqlgen.
func MarshalStatusVocabulary(v status.Vocabulary) graphql.ContextMarshaler {
	return with(v, AppendStatusVocabulary)
}

// UnmarshalStatusVocabulary reads which words documents use.
func UnmarshalStatusVocabulary(_ context.Context, v any) (status.Vocabulary, error) {
	return readStatusName[status.Vocabulary](v)
}

// AppendStatusPageMode writes who a page belongs to.
func AppendStatusPageMode(dst []byte, v status.Mode, style Style) []byte {
	return appendStatusName(dst, v, style)
}

// MarshalStatusPageMode is [AppendStatusPageMode] for gqlgen.
func MarshalStatusPageMode(v status.Mode) graphql.ContextMarshaler {
	return with(v, AppendStatusPageMode)
}

// UnmarshalStatusPageMode reads who a page belongs to.
func UnmarshalStatusPageMode(_ context.Context, v any) (status.Mode, error) {
	return readStatusName[status.Mode](v)
}

// AppendDateTime writes an instant with milliseconds: in UTC, but in the documents of a status page in the instant's own zone.
func AppendDateTime(dst []byte, v time.Time, style Style) []byte {
	if style != Status {
		v = v.UTC()
	}
	return append(status.AppendTime(append(dst, '"'), v), '"')
}

// MarshalDateTime is [AppendDateTime] for gqlgen.
func MarshalDateTime(v time.Time) graphql.ContextMarshaler { return with(v, AppendDateTime) }

// UnmarshalDateTime reads an instant by RFC 3339. What is finer than milliseconds is cut off.
func UnmarshalDateTime(_ context.Context, v any) (time.Time, error) {
	text, err := inputText(v)
	if err != nil {
		return time.Time{}, err
	}
	t, err := time.Parse(time.RFC3339Nano, text)
	if err != nil || t.Year() < 1970 {
		return time.Time{}, fault.Input("%q is no instant such as 2026-01-31T12:00:00Z, from 1970 on", text)
	}
	return status.Milliseconds(t), nil
}

// AppendNullDateTime is [AppendDateTime], or null.
func AppendNullDateTime(dst []byte, v ledger.Null[time.Time], style Style) []byte {
	return nullable(dst, v, style, AppendDateTime)
}

// MarshalNullDateTime is [AppendNullDateTime] for gqlgen.
func MarshalNullDateTime(v ledger.Null[time.Time]) graphql.ContextMarshaler {
	return with(v, AppendNullDateTime)
}

// UnmarshalNullDateTime is [UnmarshalDateTime], or unknown for null.
func UnmarshalNullDateTime(ctx context.Context, v any) (ledger.Null[time.Time], error) {
	return readNullable(ctx, v, UnmarshalDateTime)
}

// AppendDate writes a day.
func AppendDate(dst []byte, v status.Date, style Style) []byte {
	return AppendString(dst, string(v), style)
}

// MarshalDate is [AppendDate] for gqlgen.
func MarshalDate(v status.Date) graphql.ContextMarshaler { return with(v, AppendDate) }

// UnmarshalDate reads a day.
func UnmarshalDate(_ context.Context, v any) (status.Date, error) {
	text, err := inputText(v)
	if err != nil {
		return "", err
	}
	return input(status.ParseDate(text))
}

// AppendNullDate is [AppendDate], or null.
func AppendNullDate(dst []byte, v ledger.Null[status.Date], style Style) []byte {
	return nullable(dst, v, style, AppendDate)
}

// MarshalNullDate is [AppendNullDate] for gqlgen.
func MarshalNullDate(v ledger.Null[status.Date]) graphql.ContextMarshaler {
	return with(v, AppendNullDate)
}

// UnmarshalNullDate is [UnmarshalDate], or unknown for null.
func UnmarshalNullDate(ctx context.Context, v any) (ledger.Null[status.Date], error) {
	return readNullable(ctx, v, UnmarshalDate)
}

// AppendDouble writes a number with as few digits as tell it from its neighbours.
func AppendDouble(dst []byte, v float64, _ Style) []byte {
	return strconv.AppendFloat(dst, v, 'f', -1, 64)
}

// MarshalDouble is [AppendDouble] for gqlgen.
func MarshalDouble(v float64) graphql.ContextMarshaler { return with(v, AppendDouble) }

// UnmarshalDouble reads a number.
func UnmarshalDouble(_ context.Context, v any) (float64, error) {
	text, err := inputText(v)
	if err != nil {
		return 0, err
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return 0, fault.Input("%q is no number", text)
	}
	return f, nil
}
