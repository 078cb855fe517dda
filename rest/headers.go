package rest

import (
	"net/http"
	"strconv"
)

// Values of headers that many answers have. They are shared, and a header that gets another value gets a list of its own.
var (
	anyOrigin          = []string{"*"}
	classicContentType = []string{"application/json; charset=utf-8"}
	modernContentType  = []string{"application/json;charset=UTF-8"}
	byEncoding         = []string{"Accept-Encoding"}
)

// allowAnyOrigin lets the scripts of all pages read the answer.
func allowAnyOrigin(h http.Header) { h["Access-Control-Allow-Origin"] = anyOrigin }

// variesByEncoding tells caches that the answer depends on the encodings that the client takes.
func variesByEncoding(h http.Header) {
	if h["Vary"] == nil {
		h["Vary"] = byEncoding
		return
	}
	h.Add("Vary", byEncoding[0])
}

// maxAges are the values of Cache-Control for ages of up to a minute; nearly all answers have one of them.
var maxAges = func() (all [61][]string) {
	for age := range all {
		all[age] = maxAge(age)
	}
	return all
}()

func maxAge(seconds int) []string { return []string{"public, max-age=" + strconv.Itoa(seconds)} }

// cacheFor lets everybody keep an answer for some seconds.
func cacheFor(h http.Header, seconds int) {
	if seconds < len(maxAges) {
		h["Cache-Control"] = maxAges[seconds]
		return
	}
	h["Cache-Control"] = maxAge(seconds)
}
