package rest

import (
	"bytes"
	"io"
	"net/http"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zlib"

	"heliograph/internal/base/accept"
)

// compressFrom is the minimum size, in bytes, of a body to compress.
const compressFrom = 1024

// Levels with low CPU cost and most of the savings.
const (
	brotliLevel = 4
	gzipLevel   = 5
)

// encoders are the content encodings in order of preference.
var encoders = []struct {
	name string
	open func(io.Writer) (io.WriteCloser, error)
}{
	{"br", func(w io.Writer) (io.WriteCloser, error) { return brotli.NewWriterLevel(w, brotliLevel), nil }},
	{"gzip", func(w io.Writer) (io.WriteCloser, error) { return gzip.NewWriterLevel(w, gzipLevel) }},
	{"deflate", func(w io.Writer) (io.WriteCloser, error) { return zlib.NewWriterLevel(w, gzipLevel) }}, // zlib format, RFC 9110 §8.4.1.2
}

// compress encodes a body with the client's preferred encoding and sets the response headers.
func compress(h http.Header, r *http.Request, body []byte) []byte {
	if len(body) < compressFrom {
		return body
	}
	variesByEncoding(h)
	given := r.Header["Accept-Encoding"]
	if len(given) == 0 {
		return body
	}
	best, quality := -1, 0.0
	for i, e := range encoders {
		if q, _ := accept.Encoding(given, e.name); q > quality {
			best, quality = i, q
		}
	}
	if plain, named := accept.Encoding(given, "identity"); best < 0 || named && plain > quality {
		return body
	}
	var out bytes.Buffer
	enc, err := encoders[best].open(&out)
	if err != nil {
		return body
	}
	if _, err := enc.Write(body); err != nil {
		return body
	}
	if err := enc.Close(); err != nil {
		return body
	}
	h.Set("Content-Encoding", encoders[best].name)
	return out.Bytes()
}

// Accepts reports whether a client with the given Accept-Encoding accepts an encoding and does not prefer the plain body.
func Accepts(given []string, encoding string) bool {
	quality, _ := accept.Encoding(given, encoding)
	plain, named := accept.Encoding(given, "identity")
	return quality > 0 && (!named || quality >= plain)
}
