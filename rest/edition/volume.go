package edition

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/klauspost/compress/gzip"

	"heliograph/rest"
)

// Volume is a rendered body with its header values. The header values are shared between responses: do not change them.
type Volume struct {
	plain, zipped             []byte
	etag, length, zippedCount []string
	tag                       string // the ETag without the weak prefix
}

// zipFrom is the minimum size, in bytes, of a body to compress.
const zipFrom = 512

// NewVolume prepares a body for sending.
func NewVolume(body []byte) (*Volume, error) {
	sum := sha256.Sum256(body)
	tag := `"` + hex.EncodeToString(sum[:16]) + `"`
	v := &Volume{plain: body, tag: tag, etag: []string{"W/" + tag}, length: []string{strconv.Itoa(len(body))}}
	if len(body) < zipFrom {
		return v, nil
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
		return nil, fmt.Errorf("compressing what is kept: %w", err)
	}
	v.zipped, v.zippedCount = b.Bytes(), []string{strconv.Itoa(b.Len())}
	return v, nil
}

// Size returns the size of the body in bytes.
func (v *Volume) Size() int { return len(v.plain) }

// Headers are header values that are shared between responses: do not change them.
type Headers struct {
	cache, vary, gzip []string
}

// NewHeaders returns new headers. vary is the value of Vary.
func NewHeaders(vary string) *Headers {
	return &Headers{
		cache: []string{"max-age=10, public, s-maxage=10, stale-while-revalidate=20, stale-if-error=3600"},
		vary:  []string{vary}, gzip: []string{"gzip"},
	}
}

// Send responds with the volume and its media type, or with 304 if the client has the same version.
func (f *Headers) Send(w http.ResponseWriter, r *http.Request, v *Volume, media []string) {
	h := w.Header()
	h["Cache-Control"] = f.cache
	h["Etag"] = v.etag
	h["Vary"] = f.vary
	if given := r.Header["If-None-Match"]; given != nil && matches(given, v.tag) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	h["Content-Type"] = media
	body, length := v.plain, v.length
	if v.zipped != nil && accepts(r.Header["Accept-Encoding"]) {
		h["Content-Encoding"] = f.gzip
		body, length = v.zipped, v.zippedCount
	}
	h["Content-Length"] = length
	w.WriteHeader(http.StatusOK)
	if r.Method != http.MethodHead {
		_, _ = w.Write(body) // the client may have disconnected
	}
}

// matches reports whether If-None-Match contains the tag or *. It compares weakly.
func matches(given []string, tag string) bool {
	for _, line := range given {
		for item := range strings.SplitSeq(line, ",") {
			item = strings.TrimSpace(item)
			if item == "*" || strings.TrimPrefix(item, "W/") == tag {
				return true
			}
		}
	}
	return false
}

// accepts reports whether a client accepts gzip.
func accepts(given []string) bool {
	switch {
	case len(given) == 0:
		return false
	case len(given) == 1 && (given[0] == "gzip" || given[0] == "gzip, deflate" || given[0] == "gzip, deflate, br"):
		return true
	default:
		return rest.Accepts(given, "gzip")
	}
}

// Refuse responds with the volume as an error that must not be cached.
func (v *Volume) Refuse(w http.ResponseWriter, r *http.Request, code int, media string) {
	h := w.Header()
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Type", media)
	h["Content-Length"] = v.length
	w.WriteHeader(code)
	if r.Method != http.MethodHead {
		_, _ = w.Write(v.plain) // the client may have disconnected
	}
}
