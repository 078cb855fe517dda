// Package etag compares the tags of answers (RFC 9110 §8.8.3).
package etag

import "strings"

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
