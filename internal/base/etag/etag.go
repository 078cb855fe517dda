// Package etag computes and compares entity tags (RFC 9110 §8.8.3).
package etag

import (
	"strconv"
	"strings"

	"github.com/zeebo/xxh3"
)

// Of returns the strong tag of a body: its XXH3 hash.
func Of(body []byte) string {
	return string(appendHash(append(make([]byte, 0, 20), '"'), body))
}

// Weak returns the weak tag of a body, which also applies to its compressed forms: its length and its XXH3 hash.
func Weak(body []byte) string {
	tag := strconv.AppendInt(append(make([]byte, 0, 40), `W/"`...), int64(len(body)), 16)
	return string(appendHash(append(tag, '-'), body))
}

// appendHash appends the hash of a body and the closing quote.
func appendHash(tag, body []byte) []byte {
	return append(strconv.AppendUint(tag, xxh3.Hash(body), 16), '"')
}

// Matches reports whether the value of If-None-Match matches a tag. The comparison ignores weakness (RFC 9110 §13.1.2).
func Matches(header, tag string) bool {
	if header == "" {
		return false
	}
	for item := range strings.SplitSeq(header, ",") {
		item = strings.TrimSpace(item)
		if item == "*" || strings.TrimPrefix(item, "W/") == strings.TrimPrefix(tag, "W/") {
			return true
		}
	}
	return false
}
