// Package assets serves the files of pages that are embedded in the binary. Every file is held in gzip form only, and goes to most clients
// as it is held.
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

// What Cache-Control says.
const (
	// Forever is for files whose names carry a hash of their content.
	Forever = "public, max-age=31536000, immutable"
	// Checked makes the browser ask each time, which an entity tag answers cheaply.
	Checked = "no-cache"
)

// File is one answer: its content in gzip form and the headers that go with it.
type File struct {
	packed       []byte
	size         int // bytes when unpacked
	tag          string
	contentType  string
	cacheControl string
}

// Load reads a folder of packed files. Names are those of the files without ".gz", below the folder and with a slash in front; index.html is
// for [Checked] use, all others are for [Forever].
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
			return fmt.Errorf("no content type is known for the embedded file %s", name)
		}
		if files[key], err = newFile(packed, contentType, cacheControl); err != nil {
			return fmt.Errorf("reading the embedded file %s: %w", name, err)
		}
		return nil
	})
	return files, err
}

// Pack makes a file of content that is not packed.
func Pack(content []byte, contentType, cacheControl string) (*File, error) {
	var packed bytes.Buffer
	writer := gzip.NewWriter(&packed)
	if _, err := writer.Write(content); err != nil {
		return nil, fmt.Errorf("packing a file: %w", err)
	}
	if err := writer.Close(); err != nil {
		return nil, fmt.Errorf("packing a file: %w", err)
	}
	return newFile(packed.Bytes(), contentType, cacheControl)
}

// Unpack returns the content of a file.
func (f *File) Unpack() ([]byte, error) {
	reader, err := gzip.NewReader(bytes.NewReader(f.packed))
	if err != nil {
		return nil, fmt.Errorf("unpacking a file: %w", err)
	}
	content, err := io.ReadAll(reader)
	if err != nil {
		return nil, fmt.Errorf("unpacking a file: %w", err)
	}
	return content, nil
}

// contentTypeOf knows every kind of file that pages are made of. A table of our own keeps the answer independent of what the host's MIME
// database says.
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
		return nil, fmt.Errorf("reading a packed file: %w", err)
	}
	sum := sha256.Sum256(packed)
	return &File{
		packed: packed,
		// A gzip file ends with its size when unpacked.
		size:         int(binary.LittleEndian.Uint32(packed[len(packed)-4:])),
		tag:          base64.RawURLEncoding.EncodeToString(sum[:12]),
		contentType:  contentType,
		cacheControl: cacheControl,
	}, nil
}

// Guard sets the headers that all answers of a page have, and refuses methods other than GET and HEAD: ok is false when it has answered.
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

// ServeHTTP answers with the file as it is stored when the client takes gzip, and unpacks it otherwise.
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
	// A failed write means that the client has gone: there is nobody left to tell.
	_, _ = io.Copy(w, content)
}
