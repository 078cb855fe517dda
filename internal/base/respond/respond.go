// Package respond writes complete HTTP responses: compressed if the client accepts it, and without a body if the
// client has the same version.
package respond

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"
	"github.com/zeebo/xxh3"

	"heliograph/internal/base/accept"
)

// NewID returns a random id for logs and responses: 64 bits in hexadecimal.
func NewID() string {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}

// compressFrom is the minimum size, in bytes, of a body to compress.
const compressFrom = 1024

// Levels with low CPU cost and most of the savings.
const (
	brotliLevel = 4
	gzipLevel   = 5
	zstdWindow  = 1 << 20 // in bytes; bounds the memory of an encoder
)

// encoder is a compressor with its output.
type encoder struct {
	out bytes.Buffer
	w   interface {
		io.WriteCloser
		Reset(w io.Writer)
	}
}

// codings are the content codings in order of preference: brotli has the smallest results at these levels.
var codings = []string{"br", "zstd", "gzip", "deflate"}

// encoders are the unused encoders by coding. With a new one, compressing 50 KB takes 5 times as long as with a used
// one (zstd), 3 times (gzip, deflate) or 1.3 times (br): see BenchmarkEncoders. Errors are those of invalid levels.
var encoders = map[string]*sync.Pool{
	"br": {New: func() any { return &encoder{w: brotli.NewWriterLevel(nil, brotliLevel)} }},
	"zstd": {New: func() any {
		w, _ := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(zstdWindow))
		return &encoder{w: w}
	}},
	"gzip": {New: func() any {
		w, _ := gzip.NewWriterLevel(nil, gzipLevel)
		return &encoder{w: w}
	}},
	"deflate": {New: func() any { // zlib format, RFC 9110 §8.4.1.2
		w, _ := zlib.NewWriterLevel(nil, gzipLevel)
		return &encoder{w: w}
	}},
}

// byEncoding is a value of Vary. Responses share it: replace it, do not change it.
var byEncoding = []string{"Accept-Encoding"}

// variesByEncoding adds Accept-Encoding to the header Vary in h, beside the values that the caller has set. Without
// any, the header shares byEncoding.
func variesByEncoding(h http.Header) {
	if h["Vary"] == nil {
		h["Vary"] = byEncoding
		return
	}
	h.Add("Vary", byEncoding[0])
}

// Write writes a whole response, whose body is the parts in order, which it only reads: it sets ETag, Content-Encoding
// and Content-Length, and compresses bodies of 1 KiB or more as Accept-Encoding allows. For these, and with status
// 304, it sets Vary. The caller has set the other headers. tag is the ETag, or "" for none. If If-None-Match of a GET
// or HEAD request has the tag of a successful response, the status is 304 and there is no body. The response to HEAD
// has the headers of the body, but not the body. Errors of writing to the client are ignored.
func Write(w http.ResponseWriter, r *http.Request, status int, tag string, parts ...[]byte) {
	h := w.Header()
	if tag != "" {
		h["Etag"] = []string{tag} // Set would look for the canonical form of the name
		if status < http.StatusMultipleChoices && r.Method != http.MethodPost &&
			Matches(r.Header.Get("If-None-Match"), tag) {
			variesByEncoding(h)
			h.Del("Content-Type")
			w.WriteHeader(http.StatusNotModified)
			return
		}
	}
	size := 0
	for _, part := range parts {
		size += len(part)
	}
	if size >= compressFrom {
		variesByEncoding(h)
		if coding := accept.Coding(r.Header["Accept-Encoding"], codings...); coding != "" {
			parts = [][]byte{encode(coding, parts)}
			size = len(parts[0])
			h.Set("Content-Encoding", coding)
		}
	}
	h["Content-Length"] = []string{strconv.Itoa(size)}
	w.WriteHeader(status)
	if r.Method == http.MethodHead {
		return
	}
	for _, part := range parts {
		_, _ = w.Write(part) // the client may have disconnected
	}
}

// encode returns a new slice with the parts compressed with a content coding of codings. The encoder is free for
// others before a slow client reads the result.
func encode(coding string, parts [][]byte) []byte {
	e, _ := encoders[coding].Get().(*encoder)
	defer encoders[coding].Put(e)
	e.out.Reset()
	e.w.Reset(&e.out)
	for _, part := range parts {
		_, _ = e.w.Write(part)
	}
	_ = e.w.Close()
	return bytes.Clone(e.out.Bytes())
}

// Tag returns the strong entity tag of a body (RFC 9110 §8.8.3): its XXH3 hash.
func Tag(body []byte) string {
	return string(appendHash(append(make([]byte, 0, 20), '"'), body))
}

// WeakTag returns the weak entity tag of a body, which also applies to its compressed forms: its length and its XXH3
// hash.
func WeakTag(body []byte) string {
	tag := strconv.AppendInt(append(make([]byte, 0, 40), `W/"`...), int64(len(body)), 16)
	return string(appendHash(append(tag, '-'), body))
}

// appendHash appends the XXH3 hash of a body in hex and the closing quote of a tag.
func appendHash(tag, body []byte) []byte {
	return append(strconv.AppendUint(tag, xxh3.Hash(body), 16), '"')
}

// Matches reports whether the value of If-None-Match matches a tag, or any with "*". The comparison ignores weakness
// (RFC 9110 §13.1.2).
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
