package doccache_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"heliograph/internal/domain/status"
	"heliograph/rest/doccache"
)

var errDown = errors.New("the database is down")

// source has one page. Tests change its revision and presence.
type source struct {
	revision atomic.Int64
	down     atomic.Bool
	writes   chan struct{}
}

func (s *source) Pages(context.Context) (status.Pages, error) {
	return status.Pages{{Code: "p", Slug: "p", Revision: s.revision.Load()}}, nil
}

func (s *source) Snapshot(ctx context.Context) (context.Context, func(), error) {
	if s.down.Load() {
		return nil, nil, errDown
	}
	return ctx, func() {}, nil
}

func (s *source) Listen(ctx context.Context, notify func()) error {
	for {
		notify()
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-s.writes:
		}
	}
}

// newCache returns a cache over a source, and a function that gets its only part, which counts how often it was
// rendered.
func newCache(expiresAt func() time.Time) (*source, *doccache.Cache, func() (string, int)) {
	s := &source{writes: make(chan struct{}, 1)}
	c := doccache.New(doccache.Options{Source: s, Logger: slog.New(slog.DiscardHandler), Now: time.Now})
	n := 0
	part := doccache.Register(c, "a text", func(_ context.Context, p *status.Page) (string, time.Time, error) {
		n++
		return fmt.Sprintf("rendering %d of revision %d", n, p.Revision), expiresAt(), nil
	})
	return s, c, func() (string, int) {
		text, _, code := part.Get(httptest.NewRequest(http.MethodGet, "/", http.NoBody))
		return text, code
	}
}

// TestCache checks that parts are rendered again only after a write or when they expire, and served for an hour
// without a database.
func TestCache(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var expiresAt atomic.Pointer[time.Time]
		expiresAt.Store(&time.Time{})
		s, c, get := newCache(func() time.Time { return *expiresAt.Load() })
		expect := func(text string, code int) {
			t.Helper()
			synctest.Wait()
			if got, gotCode := get(); got != text || gotCode != code {
				t.Errorf("%q, %d instead of %q, %d", got, gotCode, text, code)
			}
		}
		expect("rendering 1 of revision 0", 200)
		ctx, stop := context.WithCancel(t.Context())
		go c.Run(ctx)
		time.Sleep(time.Hour)
		expect("rendering 1 of revision 0", 200)

		s.revision.Store(1)
		soon := time.Now().Add(30 * time.Minute)
		expiresAt.Store(&soon)
		s.writes <- struct{}{}
		expect("rendering 2 of revision 1", 200)
		time.Sleep(29 * time.Minute)
		expect("rendering 2 of revision 1", 200)
		expiresAt.Store(&time.Time{})
		time.Sleep(2 * time.Minute)
		expect("rendering 3 of revision 1", 200)

		s.revision.Store(2) // without a notification
		time.Sleep(11 * time.Second)
		expect("rendering 4 of revision 2", 200)

		s.down.Store(true)
		s.revision.Store(3)
		time.Sleep(59 * time.Minute)
		expect("rendering 4 of revision 2", 200)
		if got := c.Stats(); got.Stale < 58*time.Minute || got.Failures == 0 || got.Pages != 1 {
			t.Errorf("%+v", got)
		}
		time.Sleep(2 * time.Minute)
		expect("", 503)
		s.down.Store(false)
		time.Sleep(11 * time.Second)
		expect("rendering 5 of revision 3", 200)
		if got := c.Stats(); got.Stale != 0 || got.Renders != 5 {
			t.Errorf("%+v", got)
		}
		stop()
	})
}

// TestDocument sends a document plain, compressed, and to a client that has it.
func TestDocument(t *testing.T) {
	t.Parallel()
	d, err := doccache.NewDocument([]byte(strings.Repeat("text ", 200)))
	if err != nil {
		t.Fatal(err)
	}
	headers := doccache.NewHeaders("Accept-Encoding")
	send := func(method string, header ...string) *httptest.ResponseRecorder {
		r, w := httptest.NewRequest(method, "/", http.NoBody), httptest.NewRecorder()
		for i := 0; i < len(header); i += 2 {
			r.Header.Set(header[i], header[i+1])
		}
		headers.Send(w, r, d, []string{"text/plain"})
		return w
	}
	plain, packed, head := send(http.MethodGet), send(http.MethodGet, "Accept-Encoding",
		"br, gzip;q=0.5"), send(http.MethodHead)
	if plain.Body.Len() != 1000 || plain.Header().Get("Content-Encoding") != "" ||
		plain.Header().Get("Content-Type") != "text/plain" {
		t.Errorf("plain: %d bytes, %v", plain.Body.Len(), plain.Header())
	}
	if packed.Body.Len() > 100 || packed.Header().Get("Content-Encoding") != "gzip" ||
		packed.Header().Get("Etag") != plain.Header().Get("Etag") {
		t.Errorf("packed: %d bytes, %v", packed.Body.Len(), packed.Header())
	}
	if head.Body.Len() != 0 || head.Header().Get("Content-Length") != "1000" {
		t.Errorf("head: %d bytes, %v", head.Body.Len(), head.Header())
	}
	if known := send(http.MethodGet, "If-None-Match",
		`"x", `+plain.Header().Get("Etag")); known.Code != http.StatusNotModified || known.Body.Len() != 0 {
		t.Errorf("known: %d", known.Code)
	}
	if not := send(http.MethodGet, "Accept-Encoding", "gzip;q=0"); not.Header().Get("Content-Encoding") != "" {
		t.Error("gzip is sent to a client that does not accept it")
	}
}
