package rest

import (
	"bytes"
	"io"
	"net/http"
	"strconv"
	"strings"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zlib"
)

// compressFrom is the size of a body, in bytes, from which compressing it is worth while.
const compressFrom = 1024

// Levels that cost little and save most.
const (
	brotliLevel = 4
	gzipLevel   = 5
)

// encoders are the content encodings, best first.
var encoders = []struct {
	name string
	open func(io.Writer) (io.WriteCloser, error)
}{
	{"br", func(w io.Writer) (io.WriteCloser, error) { return brotli.NewWriterLevel(w, brotliLevel), nil }},
	{"gzip", func(w io.Writer) (io.WriteCloser, error) { return gzip.NewWriterLevel(w, gzipLevel) }},
	{"deflate", func(w io.Writer) (io.WriteCloser, error) { return zlib.NewWriterLevel(w, gzipLevel) }}, // zlib's format, RFC 9110 §8.4.1.2
}

// compress encodes a body as the client likes it best, and sets the headers that say so.
func compress(h http.Header, r *http.Request, body []byte) []byte {
	if len(body) < compressFrom {
		return body
	}
	variesByEncoding(h)
	wanted := r.Header.Get("Accept-Encoding")
	if wanted == "" {
		return body
	}
	best, quality := -1, 0.0
	for i, e := range encoders {
		if q, _ := qualityOf(wanted, e.name); q > quality {
			best, quality = i, q
		}
	}
	if asItIs, named := qualityOf(wanted, "identity"); best < 0 || named && asItIs > quality {
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

// Accepts tells whether a client that sends accept as Accept-Encoding takes an encoding, and likes it no less than the plain body.
func Accepts(accept, encoding string) bool {
	quality, _ := qualityOf(accept, encoding)
	asItIs, named := qualityOf(accept, "identity")
	return quality > 0 && (!named || quality >= asItIs)
}

// qualityOf is how much a client wants an encoding, 0 when it does not take it (RFC 9110 §12.5.3), and whether it names the encoding.
func qualityOf(accept, name string) (quality float64, named bool) {
	others := 0.0
	for item := range strings.SplitSeq(accept, ",") {
		encoding, params, _ := strings.Cut(strings.TrimSpace(item), ";")
		q := 1.0
		if text, ok := strings.CutPrefix(strings.ReplaceAll(params, " ", ""), "q="); ok {
			v, err := strconv.ParseFloat(text, 64)
			if err != nil {
				continue
			}
			q = v
		}
		switch encoding = strings.TrimSpace(encoding); {
		case strings.EqualFold(encoding, name):
			return q, true
		case encoding == "*":
			others = q
		}
	}
	return others, false
}
