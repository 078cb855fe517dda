// Package assets serves embedded files of web pages. Files are stored compressed with brotli. Browsers accept it over
// HTTPS and from localhost. Over plain HTTP from other hosts, they accept gzip.
package assets

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"path"
	"strconv"
	"strings"
	"sync"

	"github.com/andybalholm/brotli"

	"heliograph/internal/base/accept"
	"heliograph/internal/base/respond"
	"heliograph/internal/base/wrap"
)

// Values of Cache-Control.
const (
	// Forever is for files whose names contain a hash of their content.
	Forever = "public, max-age=31536000, immutable"
	// Checked makes the browser revalidate the file on each use.
	Checked = "no-cache"
)

// packLevel is the brotli level of files that are computed at startup.
const packLevel = 5

// File is a compressed file with its response headers.
type File struct {
	packed       func() io.Reader // brotli, from the start
	size         int              // of packed, in bytes
	gzip         func() []byte    // the same content in gzip
	tag          string
	contentType  string
	cacheControl string
}

// Load returns the brotli files in a folder, such as embedded ones. The keys are file names relative to the folder,
// with a leading slash and without ".br". Cache-Control is [Checked] for index.html and [Forever] for all other files.
// Files are read again for each request, so that they take no memory. It fails for an extension without a known
// content type.
func Load(from fs.FS, folder string) (map[string]*File, error) {
	files := map[string]*File{}
	err := fs.WalkDir(from, folder, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		key := strings.TrimSuffix(strings.TrimPrefix(name, folder), ".br")
		cacheControl := Forever
		if key == "/index.html" {
			cacheControl = Checked
		}
		contentType := ContentTypes[path.Ext(key)]
		if contentType == "" {
			return fmt.Errorf("unknown content type of the embedded file %s", name)
		}
		files[key] = newFile(func() io.Reader {
			file, err := from.Open(name) // embedded files need not be closed
			if err != nil {
				return strings.NewReader("") // it was there
			}
			return file
		}, contentType, cacheControl)
		return nil
	})
	return files, err
}

// Pack compresses the given content with brotli and returns it as a file to serve, with these values of Content-Type
// and Cache-Control. It never fails.
func Pack(content []byte, contentType, cacheControl string) *File {
	var packed bytes.Buffer
	// Writing to memory does not fail.
	w := brotli.NewWriterLevel(&packed, packLevel)
	_, _ = w.Write(content)
	_ = w.Close()
	return newFile(func() io.Reader { return bytes.NewReader(packed.Bytes()) }, contentType, cacheControl)
}

// Unpack returns the uncompressed content of a file, new at each call. It fails if the embedded file is not valid
// brotli.
func (f *File) Unpack() ([]byte, error) {
	content, err := io.ReadAll(brotli.NewReader(f.packed()))
	return content, wrap.Error(err, "decompressing a file")
}

// ContentTypes are the content types of file name extensions. Unlike those of package mime, they do not depend on the
// MIME database of the host.
var ContentTypes = map[string]string{
	".css":  "text/css; charset=utf-8",
	".html": "text/html; charset=utf-8",
	".js":   "text/javascript; charset=utf-8",
	".svg":  "image/svg+xml",
	".ttf":  "font/ttf",
}

// newFile returns a file that is served from its compressed content, for which packed returns a new reader. The form
// for clients that accept gzip only is made on first use. It is empty if the content is not valid brotli.
func newFile(packed func() io.Reader, contentType, cacheControl string) *File {
	sum := sha256.New()
	size, _ := io.Copy(sum, packed()) // reading memory does not fail
	f := &File{
		packed: packed, size: int(size), tag: base64.RawURLEncoding.EncodeToString(sum.Sum(nil)[:12]),
		contentType: contentType, cacheControl: cacheControl,
	}
	f.gzip = sync.OnceValue(func() []byte {
		content, err := f.Unpack()
		if err != nil {
			return nil
		}
		var out bytes.Buffer
		w := gzip.NewWriter(&out)
		_, _ = w.Write(content)
		_ = w.Close()
		return out.Bytes()
	})
	return f
}

// Guard sets the security headers of a page and responds with 405 to methods other than GET and HEAD. If ok is
// false, it has written the response.
func Guard(w http.ResponseWriter, r *http.Request, contentSecurityPolicy string) (ok bool) {
	header := w.Header()
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Referrer-Policy", "same-origin")
	header.Set("Content-Security-Policy", contentSecurityPolicy)
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		return true
	}
	header.Set("Allow", "GET, HEAD")
	http.Error(w, "method not allowed", http.StatusMethodNotAllowed)
	return false
}

// ServeHTTP responds with the file in brotli, in gzip, which the first such request computes, or uncompressed,
// whichever Accept-Encoding prefers, and with 304 if If-None-Match has its ETag. It does not check the method; see
// [Guard].
func (f *File) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	header.Set("Vary", "Accept-Encoding")
	header.Set("Cache-Control", f.cacheControl)
	coding := accept.Coding(r.Header["Accept-Encoding"], "br", "gzip")
	tag := `"` + strings.TrimSuffix(f.tag+"-"+coding, "-") + `"`
	header.Set("ETag", tag)
	if respond.Matches(strings.Join(r.Header["If-None-Match"], ","), tag) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	content, size := f.packed(), f.size
	switch coding {
	case "gzip":
		all := f.gzip()
		content, size = bytes.NewReader(all), len(all)
	case "":
		all, _ := f.Unpack() // the embedded files are valid: tests read them all
		content, size = bytes.NewReader(all), len(all)
	}
	header.Set("Content-Type", f.contentType)
	header.Set("Content-Length", strconv.Itoa(size))
	if coding != "" {
		header.Set("Content-Encoding", coding)
	}
	if r.Method != http.MethodHead {
		_, _ = io.Copy(w, content) // the client may have disconnected
	}
}
