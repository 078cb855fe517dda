package doccache

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/klauspost/compress/gzip"

	"heliograph/internal/base/accept"
	"heliograph/internal/base/respond"
)

// Document is a rendered body with its header values. The header values are shared between responses: do not change
// them.
type Document struct {
	plain, zipped             []byte
	etag, length, zippedCount []string
	tag                       string // the ETag without the weak prefix
}

// zipFrom is the minimum size, in bytes, of a body to compress.
const zipFrom = 512

// NewDocument returns a body with its ETag and, if it is large enough, its gzip form, to be sent many times. The
// body must not be changed afterwards.
func NewDocument(body []byte) (*Document, error) {
	sum := sha256.Sum256(body)
	tag := `"` + hex.EncodeToString(sum[:16]) + `"`
	d := &Document{plain: body, tag: tag, etag: []string{"W/" + tag}, length: []string{strconv.Itoa(len(body))}}
	if len(body) < zipFrom {
		return d, nil
	}
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err == nil {
		_, err = w.Write(body)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		return nil, fmt.Errorf("compressing a document: %w", err)
	}
	d.zipped, d.zippedCount = b.Bytes(), []string{strconv.Itoa(b.Len())}
	return d, nil
}

// Body returns the body: do not change it.
func (d *Document) Body() []byte { return d.plain }

// ETag returns the ETag in quotes, without the weak prefix.
func (d *Document) ETag() string { return d.tag }

// Headers are header values that are shared between responses: do not change them.
type Headers struct {
	cache, vary, gzip []string
}

// NewHeaders returns the headers that documents are sent with, in which Cache-Control lasts 10 seconds. vary is
// the value of Vary.
func NewHeaders(vary string) *Headers {
	return &Headers{
		cache: []string{"max-age=10, public, s-maxage=10, stale-while-revalidate=20, stale-if-error=3600"},
		vary:  []string{vary}, gzip: []string{"gzip"},
	}
}

// Send responds with the document and its media type, in gzip if the client accepts it, or with 304 if
// If-None-Match has its ETag. The slices of f and media become values of headers.
func (f *Headers) Send(w http.ResponseWriter, r *http.Request, d *Document, media []string) {
	h := w.Header()
	h["Cache-Control"] = f.cache
	h["Etag"] = d.etag
	h["Vary"] = f.vary
	if given := r.Header["If-None-Match"]; given != nil && respond.Matches(strings.Join(given, ","), d.tag) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	h["Content-Type"] = media
	body, length := d.plain, d.length
	if d.zipped != nil && accepts(r.Header["Accept-Encoding"]) {
		h["Content-Encoding"] = f.gzip
		body, length = d.zipped, d.zippedCount
	}
	h["Content-Length"] = length
	w.WriteHeader(http.StatusOK)
	if r.Method != http.MethodHead {
		_, _ = w.Write(body) // the client may have disconnected
	}
}

// accepts reports whether a client accepts gzip, by the values of its header Accept-Encoding. Without the header it
// does not.
func accepts(given []string) bool {
	switch {
	case len(given) == 0:
		return false
	case len(given) == 1 && (given[0] == "gzip" || given[0] == "gzip, deflate" || given[0] == "gzip, deflate, br"):
		return true
	default:
		return accept.Coding(given, "gzip") != ""
	}
}

// SendError responds with the document, without compression, as an error with the given status that must not be
// cached.
func (d *Document) SendError(w http.ResponseWriter, r *http.Request, code int, media string) {
	h := w.Header()
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Type", media)
	h["Content-Length"] = d.length
	w.WriteHeader(code)
	if r.Method != http.MethodHead {
		_, _ = w.Write(d.plain) // the client may have disconnected
	}
}
