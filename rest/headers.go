package rest

import (
	"net/http"
	"strconv"
)

// Values of common headers. They are shared between responses: replace them, do not change them.
var (
	anyOrigin          = []string{"*"}
	classicContentType = []string{"application/json; charset=utf-8"}
	modernContentType  = []string{"application/json;charset=UTF-8"}
)

// allowAnyOrigin allows scripts of all origins to read the response.
func allowAnyOrigin(h http.Header) { h["Access-Control-Allow-Origin"] = anyOrigin }

// maxAges are the values of Cache-Control for ages up to a minute, which nearly all responses use.
var maxAges = func() (all [61][]string) {
	for age := range all {
		all[age] = maxAge(age)
	}
	return all
}()

func maxAge(seconds int) []string { return []string{"public, max-age=" + strconv.Itoa(seconds)} }

// cacheFor sets Cache-Control: clients and proxies may cache the response for the given seconds.
func cacheFor(h http.Header, seconds int) {
	if seconds < len(maxAges) {
		h["Cache-Control"] = maxAges[seconds]
		return
	}
	h["Cache-Control"] = maxAge(seconds)
}
