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

// appendEscaped appends a JSON string with escaped HTML characters, like encoding/json.
func appendEscaped(dst []byte, s string) []byte {
	b, err := json.Marshal(s)
	if err != nil { // cannot happen for a string
		return append(dst, `""`...)
	}
	return append(dst, b...)
}

// appendStatusName appends the name of a value of a status page: in capitals, as enums of the graph are, but over REST as the pages themselves have it. None is
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

// readStatusName parses an enum value of status pages. Validation has checked that the value exists.
func readStatusName[T ~string](v any) (T, error) {
	text, err := inputText(v)
	return T(strings.ToLower(text)), err
}

// AppendComponentStatus appends a component status.
func AppendComponentStatus(dst []byte, v status.ComponentStatus, style Style) []byte {
	return appendStatusName(dst, v, style)
}

// MarshalComponentStatus is [AppendComponentStatus] for gqlgen.
func MarshalComponentStatus(v status.ComponentStatus) graphql.ContextMarshaler {
	return with(v, AppendComponentStatus)
}

// UnmarshalComponentStatus parses a component status.
func UnmarshalComponentStatus(_ context.Context, v any) (status.ComponentStatus, error) {
	return readStatusName[status.ComponentStatus](v)
}

// AppendNoticeStatus appends the status of a notice.
func AppendNoticeStatus(dst []byte, v status.State, style Style) []byte {
	return appendStatusName(dst, v, style)
}

// MarshalNoticeStatus is [AppendNoticeStatus] for gqlgen.
func MarshalNoticeStatus(v status.State) graphql.ContextMarshaler {
	return with(v, AppendNoticeStatus)
}

// UnmarshalNoticeStatus parses the status of a notice.
func UnmarshalNoticeStatus(_ context.Context, v any) (status.State, error) {
	return readStatusName[status.State](v)
}

// AppendStatusIndicator appends a status indicator.
func AppendStatusIndicator(dst []byte, v status.Impact, style Style) []byte {
	return appendStatusName(dst, v, style)
}

// MarshalStatusIndicator is [AppendStatusIndicator] for gqlgen.
func MarshalStatusIndicator(v status.Impact) graphql.ContextMarshaler {
	return with(v, AppendStatusIndicator)
}

// UnmarshalStatusIndicator parses a status indicator.
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

// UnmarshalNullImpact is [UnmarshalStatusIndicator]. Null is unknown.
func UnmarshalNullImpact(ctx context.Context, v any) (ledger.Null[status.Impact], error) {
	return readNullable(ctx, v, UnmarshalStatusIndicator)
}

// AppendStatusVocabulary appends a status vocabulary.
func AppendStatusVocabulary(dst []byte, v status.Vocabulary, style Style) []byte {
	return appendStatusName(dst, v, style)
}

// MarshalStatusVocabulary is [AppendStatusVocabulary] for gqlgen.
func MarshalStatusVocabulary(v status.Vocabulary) graphql.ContextMarshaler {
	return with(v, AppendStatusVocabulary)
}

// UnmarshalStatusVocabulary parses a status vocabulary.
func UnmarshalStatusVocabulary(_ context.Context, v any) (status.Vocabulary, error) {
	return readStatusName[status.Vocabulary](v)
}

// AppendStatusPageMode appends the mode of a status page.
func AppendStatusPageMode(dst []byte, v status.Mode, style Style) []byte {
	return appendStatusName(dst, v, style)
}

// MarshalStatusPageMode is [AppendStatusPageMode] for gqlgen.
func MarshalStatusPageMode(v status.Mode) graphql.ContextMarshaler {
	return with(v, AppendStatusPageMode)
}

// UnmarshalStatusPageMode parses the mode of a status page.
func UnmarshalStatusPageMode(_ context.Context, v any) (status.Mode, error) {
	return readStatusName[status.Mode](v)
}

// AppendDateTime appends a time with milliseconds, in UTC. In the documents of a status page it keeps the zone of the time.
func AppendDateTime(dst []byte, v time.Time, style Style) []byte {
	if style != Status {
		v = v.UTC()
	}
	return append(status.AppendTime(append(dst, '"'), v), '"')
}

// MarshalDateTime is [AppendDateTime] for gqlgen.
func MarshalDateTime(v time.Time) graphql.ContextMarshaler { return with(v, AppendDateTime) }

// UnmarshalDateTime parses an RFC 3339 time and truncates it to milliseconds.
func UnmarshalDateTime(_ context.Context, v any) (time.Time, error) {
	text, err := inputText(v)
	if err != nil {
		return time.Time{}, err
	}
	t, err := time.Parse(time.RFC3339Nano, text)
	if err != nil || t.Year() < 1970 {
		return time.Time{}, fault.Input("%q is not an RFC 3339 time such as 2026-01-31T12:00:00Z, in 1970 or later", text)
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

// UnmarshalNullDateTime is [UnmarshalDateTime]. Null is unknown.
func UnmarshalNullDateTime(ctx context.Context, v any) (ledger.Null[time.Time], error) {
	return readNullable(ctx, v, UnmarshalDateTime)
}

// AppendDate appends a date.
func AppendDate(dst []byte, v status.Date, style Style) []byte {
	return AppendString(dst, string(v), style)
}

// MarshalDate is [AppendDate] for gqlgen.
func MarshalDate(v status.Date) graphql.ContextMarshaler { return with(v, AppendDate) }

// UnmarshalDate parses a date.
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

// UnmarshalNullDate is [UnmarshalDate]. Null is unknown.
func UnmarshalNullDate(ctx context.Context, v any) (ledger.Null[status.Date], error) {
	return readNullable(ctx, v, UnmarshalDate)
}

// AppendDouble appends a number with the smallest number of digits that represents it exactly.
func AppendDouble(dst []byte, v float64, _ Style) []byte {
	return strconv.AppendFloat(dst, v, 'f', -1, 64)
}

// MarshalDouble is [AppendDouble] for gqlgen.
func MarshalDouble(v float64) graphql.ContextMarshaler { return with(v, AppendDouble) }

// UnmarshalDouble parses a number.
func UnmarshalDouble(_ context.Context, v any) (float64, error) {
	text, err := inputText(v)
	if err != nil {
		return 0, err
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return 0, fault.Input("%q is not a number", text)
	}
	return f, nil
}
