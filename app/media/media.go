// Package media serves the files that are inscribed in topics (HCS-1), and reads metadata of NFTs outside of the
// ledger.
package media

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"

	"heliograph/app/web/assets"
	"heliograph/internal/base/values"
	"heliograph/internal/domain/ledger"
	"heliograph/internal/domain/media"
	"heliograph/resolvers"
	read "heliograph/resolvers/media"
	"heliograph/rest"
	"heliograph/storage"
)

// Pattern is the pattern of the route of files.
const Pattern = media.FilePath + "{topic}"

// policy is the content security policy of files. As documents they have an origin of their own and run no scripts.
const policy = "default-src 'none'; style-src 'unsafe-inline'; font-src data:; img-src 'self' data:; " +
	"media-src 'self'; sandbox"

// shown are the beginnings of the MIME types that browsers show. Files of other types, such as HTML, scripts and style
// sheets, are downloads without a type, so that no page can be made to run them.
var shown = []string{"image/", "audio/", "video/", "font/", "model/", "application/json", "text/plain"}

// Files serves the files that are inscribed in topics.
type Files struct {
	DB *storage.DB
	// Base has the default shard and realm of topics.
	Base ledger.EntityID
	Log  *slog.Logger
	// Cache keeps files in memory. If nil, each request reads from the database.
	Cache *Cache
}

// ServeHTTP responds with the file that is inscribed in the topic of the path parameter "topic", from the cache or the
// ledger's database, in which it needs neither expensive lists nor the newest events (false, false). A file never
// changes, so clients may keep it. Types that browsers could execute are sent as attachments. It responds with 400,
// 404, 422 or 503 if the topic is invalid, or the file is missing, invalid or cannot be read, and with 405 to other
// methods than GET and HEAD.
func (f Files) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !assets.Guard(w, r, policy) {
		return
	}
	topic, err := ledger.ParseEntityID(chi.URLParam(r, "topic"), f.Base)
	if err != nil {
		rest.Reject(w, r, http.StatusBadRequest, err.Error())
		return
	}
	ctx := values.Context(r.Context(), resolvers.Work(r.Context(), false, false))
	file, err := cached(ctx, f.Cache, topic.String(), func(ctx context.Context) (*media.File, error) {
		return read.Inscribed(ctx, f.DB, topic)
	})
	refusal, refused := errors.AsType[*media.Refusal](err)
	switch h := w.Header(); {
	case refused && refusal.Missing:
		rest.Reject(w, r, http.StatusNotFound, refusal.Reason)
	case refused:
		rest.Reject(w, r, http.StatusUnprocessableEntity, refusal.Reason)
	case err != nil:
		f.Log.Log(ctx, storage.LevelOf(err), "reading a file failed", "topic", topic, "error", err)
		rest.Reject(w, r, http.StatusServiceUnavailable, resolvers.Classify(err).Message)
	default:
		h.Set("Content-Type", file.Type)
		if !slices.ContainsFunc(shown, func(kind string) bool { return strings.HasPrefix(file.Type, kind) }) {
			h.Set("Content-Type", "application/octet-stream")
			h.Set("Content-Disposition", "attachment")
		}
		h.Set("Cache-Control", "public, max-age=31536000, immutable")
		h.Set("ETag", `"`+file.Hash+`"`)
		h.Set("Cross-Origin-Resource-Policy", "cross-origin")
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(file.Content))
	}
}
