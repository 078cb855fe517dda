package scalar

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"heliograph/graph/fault"
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

// appendStatusName appends an enum value of status pages: in upper case in GraphQL, and in lower case in REST. The empty value is null.
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

// AppendDateTime appends a time with milliseconds, in UTC. In the documents of a status page it keeps the zone of the time.
func AppendDateTime(dst []byte, v time.Time, style Style) []byte {
	if style != Status {
		v = v.UTC()
	}
	return append(status.AppendTime(append(dst, '"'), v), '"')
}

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

// AppendDate appends a date.
func AppendDate(dst []byte, v status.Date, style Style) []byte {
	return AppendString(dst, string(v), style)
}

// UnmarshalDate parses a date.
func UnmarshalDate(_ context.Context, v any) (status.Date, error) {
	return parsed(v, status.ParseDate)
}

// AppendID appends an ID.
func AppendID(dst []byte, v string, style Style) []byte { return AppendString(dst, v, style) }

// UnmarshalID parses an ID: a string or a number. Null is the empty ID.
func UnmarshalID(_ context.Context, v any) (string, error) {
	if v == nil {
		return "", nil
	}
	return inputText(v)
}
