// Package accept parses the request headers Accept and Accept-Encoding (RFC 9110 §12.5).
package accept

import (
	"iter"
	"strconv"
	"strings"
)

// Element is an element of a header.
type Element struct {
	// Value is a media range or a content coding. Case is preserved.
	Value string
	// Quality is the weight, 1 by default. The client does not accept elements with weight 0.
	Quality float64

	params string
}

// Elements returns the elements of the values of a header. Empty elements and those with a malformed weight are
// skipped. A comma ends an element also within quotes.
func Elements(values []string) iter.Seq[Element] {
	return func(yield func(Element) bool) {
		for _, value := range values {
			for text := range strings.SplitSeq(value, ",") {
				name, params, _ := strings.Cut(text, ";")
				e := Element{Value: strings.TrimSpace(name), Quality: 1, params: params}
				if e.Value == "" {
					continue
				}
				if q, ok := e.Param("q"); ok {
					var err error
					if e.Quality, err = strconv.ParseFloat(q, 64); err != nil {
						continue
					}
				}
				if !yield(e) {
					return
				}
			}
		}
	}
}

// Param returns the value of a parameter, without quotes, and reports whether the element has it. Names are
// case-insensitive.
func (e Element) Param(name string) (value string, ok bool) {
	for param := range strings.SplitSeq(e.params, ";") {
		key, value, _ := strings.Cut(param, "=")
		if strings.EqualFold(strings.TrimSpace(key), name) {
			return strings.Trim(strings.TrimSpace(value), `"`), true
		}
	}
	return "", false
}

// Best returns the media type among offers with the highest weight, or "" if the client accepts none or values has no
// element. The weight of a media type is that of the most specific element that matches it. Of several with the same
// weight it is the one whose element is the first, or else the first offer.
func Best(values []string, offers ...string) (best string) {
	quality, first := 0.0, 0
	for _, offer := range offers {
		q, at := Media(values, offer)
		if q > quality || q == quality && q > 0 && at < first {
			best, quality, first = offer, q, at
		}
	}
	return best
}

// Media returns the weight of a media type in the values of Accept, 0 if the client does not accept it, and the
// position, from 0 in [Elements], of the most specific element that matches it; it is 0 too if none matches. Of
// several such elements the one with the highest weight counts.
func Media(values []string, media string) (quality float64, at int) {
	group, _, _ := strings.Cut(media, "/")
	specific, i := 0, 0
	for e := range Elements(values) {
		rank := 0
		switch {
		case strings.EqualFold(e.Value, media):
			rank = 3
		case strings.EqualFold(e.Value, group+"/*"):
			rank = 2
		case e.Value == "*/*":
			rank = 1
		}
		if rank > specific || rank == specific && rank > 0 && e.Quality > quality {
			quality, at, specific = e.Quality, i, rank
		}
		i++
	}
	return quality, at
}

// Coding returns the content coding among offers with the highest weight in the values of Accept-Encoding, the first
// of several. It returns "" if the client accepts none or prefers the plain content.
func Coding(values []string, offers ...string) (best string) {
	quality := 0.0
	for _, offer := range offers {
		if q, _ := Encoding(values, offer); q > quality {
			best, quality = offer, q
		}
	}
	if plain, named := Encoding(values, "identity"); named && plain > quality {
		return ""
	}
	return best
}

// Encoding returns the weight of a content coding in the values of Accept-Encoding, 0 if the client does not accept
// it. It reports whether the header names the coding. If it does not, the weight is that of the last "*", or 0 without
// one.
func Encoding(values []string, coding string) (quality float64, named bool) {
	for e := range Elements(values) {
		switch {
		case strings.EqualFold(e.Value, coding):
			return e.Quality, true
		case e.Value == "*":
			quality = e.Quality
		}
	}
	return quality, false
}
