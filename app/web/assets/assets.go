// Package assets serves embedded files of web pages. Files are stored compressed with gzip, and served compressed to clients that accept it.
package assets

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"path"
	"strconv"
	"strings"

	"heliograph/internal/base/accept"
	"heliograph/internal/base/etag"
)

// Values of Cache-Control.
const (
	// Forever is for files whose names contain a hash of their content.
	Forever = "public, max-age=31536000, immutable"
	// Checked makes the browser revalidate the file on each use.
	Checked = "no-cache"
)

// File is a compressed file with its response headers.
type File struct {
	packed       []byte
	size         int // uncompressed size in bytes
	tag          string
	contentType  string
	cacheControl string
}

// Load reads a folder of gzip files. The keys are file names relative to the folder, with a leading slash and without ".gz". Cache-Control is [Checked]
// for index.html and [Forever] for all other files.
func Load(from fs.FS, folder string) (map[string]*File, error) {
	files := map[string]*File{}
	err := fs.WalkDir(from, folder, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		packed, err := fs.ReadFile(from, name)
		if err != nil {
			return err
		}
		key := strings.TrimSuffix(strings.TrimPrefix(name, folder), ".gz")
		cacheControl := Forever
		if key == "/index.html" {
			cacheControl = Checked
		}
		contentType := contentTypeOf(path.Ext(key))
		if contentType == "" {
			return fmt.Errorf("unknown content type of the embedded file %s", name)
		}
		if files[key], err = newFile(packed, contentType, cacheControl); err != nil {
			return fmt.Errorf("read the embedded file %s: %w", name, err)
		}
		return nil
	})
	return files, err
}

// Pack returns a file with the given uncompressed content.
func Pack(content []byte, contentType, cacheControl string) (*File, error) {
	var packed bytes.Buffer
	writer := gzip.NewWriter(&packed)
	if _, err := writer.Write(content); err != nil {
		return nil, fmt.Errorf("compress a file: %w", err)
	}
	if err := writer.Close(); err != nil {
		return nil, fmt.Errorf("compress a file: %w", err)
	}
	return newFile(packed.Bytes(), contentType, cacheControl)
}

// Unpack returns the uncompressed content of a file.
func (f *File) Unpack() ([]byte, error) {
	reader, err := gzip.NewReader(bytes.NewReader(f.packed))
	if err != nil {
		return nil, fmt.Errorf("decompress a file: %w", err)
	}
	content, err := io.ReadAll(reader)
	if err != nil {
		return nil, fmt.Errorf("decompress a file: %w", err)
	}
	return content, nil
}

// contentTypeOf returns the content type of a file name extension, or an empty string. Unlike package mime, it does not depend on the MIME database
// of the host.
func contentTypeOf(extension string) string {
	switch extension {
	case ".css":
		return "text/css; charset=utf-8"
	case ".html":
		return "text/html; charset=utf-8"
	case ".js":
		return "text/javascript; charset=utf-8"
	case ".svg":
		return "image/svg+xml"
	case ".ttf":
		return "font/ttf"
	default:
		return ""
	}
}

func newFile(packed []byte, contentType, cacheControl string) (*File, error) {
	if _, err := gzip.NewReader(bytes.NewReader(packed)); err != nil {
		return nil, fmt.Errorf("read a gzip file: %w", err)
	}
	sum := sha256.Sum256(packed)
	return &File{
		packed: packed,
		// A gzip file ends with its uncompressed size.
		size:         int(binary.LittleEndian.Uint32(packed[len(packed)-4:])),
		tag:          base64.RawURLEncoding.EncodeToString(sum[:12]),
		contentType:  contentType,
		cacheControl: cacheControl,
	}, nil
}

// Guard sets the security headers of a page and rejects methods other than GET and HEAD. If ok is false, it has written the response.
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

// ServeHTTP responds with the compressed file if the client accepts gzip, and with the uncompressed file otherwise.
func (f *File) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var content io.Reader = bytes.NewReader(f.packed)
	size, tag, encoding := len(f.packed), `"`+f.tag+`-gzip"`, "gzip"
	if quality, _ := accept.Encoding(r.Header["Accept-Encoding"], "gzip"); quality <= 0 {
		unpacked, err := gzip.NewReader(content)
		if err != nil {
			http.Error(w, "internal error", http.StatusInternalServerError)
			return
		}
		content, size, tag, encoding = unpacked, f.size, `"`+f.tag+`"`, ""
	}
	header := w.Header()
	header.Set("Vary", "Accept-Encoding")
	header.Set("Cache-Control", f.cacheControl)
	header.Set("ETag", tag)
	if etag.Matches(strings.Join(r.Header["If-None-Match"], ","), tag) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	header.Set("Content-Type", f.contentType)
	header.Set("Content-Length", strconv.Itoa(size))
	if encoding != "" {
		header.Set("Content-Encoding", encoding)
	}
	if r.Method == http.MethodHead {
		return
	}
	// Writing fails only if the client has disconnected.
	_, _ = io.Copy(w, content)
}
