// Package etag makes and compares the tags of answers (RFC 9110 §8.8.3).
package etag

import (
	"strconv"
	"strings"

	"github.com/zeebo/xxh3"
)

// Of is the tag of a body: its XXH3 sum.
func Of(body []byte) string {
	return string(appendSum(append(make([]byte, 0, 20), '"'), body))
}

// Weak is the tag of a body for those who may encode it: its length and its sum.
func Weak(body []byte) string {
	tag := strconv.AppendInt(append(make([]byte, 0, 40), `W/"`...), int64(len(body)), 16)
	return string(appendSum(append(tag, '-'), body))
}

// appendSum appends a body's sum and the closing quote.
func appendSum(tag, body []byte) []byte {
	return append(strconv.AppendUint(tag, xxh3.Hash(body), 16), '"')
}

// Matches tells whether the value of If-None-Match names a tag. Weakness does not matter for it (RFC 9110 §13.1.2).
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
