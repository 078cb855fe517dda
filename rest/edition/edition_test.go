package edition_test

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
	"heliograph/rest/edition"
)

var errDown = errors.New("the database is down")

// source has one page. Tests change its revision and presence.
type source struct {
	revision atomic.Int64
	down     atomic.Bool
	heard    chan struct{}
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

func (s *source) Listen(ctx context.Context, heard func()) error {
	for {
		heard()
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-s.heard:
		}
	}
}

// kept returns a keeper over a source. Its only part counts how often it was rendered.
func kept(until func() time.Time) (*source, *edition.Keeper, func() (string, int)) {
	s := &source{heard: make(chan struct{}, 1)}
	k := edition.New(edition.Options{Source: s, Logger: slog.New(slog.DiscardHandler), Now: time.Now})
	n := 0
	part := edition.Add(k, "a text", func(_ context.Context, p *status.Page) (string, time.Time, error) {
		n++
		return fmt.Sprintf("%d made of revision %d", n, p.Revision), until(), nil
	})
	return s, k, func() (string, int) {
		text, _, code := part.Find(httptest.NewRequest(http.MethodGet, "/", http.NoBody))
		return text, code
	}
}

// TestKeeper checks that parts are rendered again after a write or after they expire only, and served for an hour without a database.
func TestKeeper(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var until atomic.Pointer[time.Time]
		until.Store(&time.Time{})
		s, k, find := kept(func() time.Time { return *until.Load() })
		expect := func(text string, code int) {
			t.Helper()
			synctest.Wait()
			if got, gotCode := find(); got != text || gotCode != code {
				t.Errorf("%q, %d instead of %q, %d", got, gotCode, text, code)
			}
		}
		expect("1 made of revision 0", 200)
		ctx, stop := context.WithCancel(t.Context())
		go k.Run(ctx)
		time.Sleep(time.Hour)
		expect("1 made of revision 0", 200)

		s.revision.Store(1)
		soon := time.Now().Add(30 * time.Minute)
		until.Store(&soon)
		s.heard <- struct{}{}
		expect("2 made of revision 1", 200)
		time.Sleep(29 * time.Minute)
		expect("2 made of revision 1", 200)
		until.Store(&time.Time{})
		time.Sleep(2 * time.Minute)
		expect("3 made of revision 1", 200)

		s.revision.Store(2) // without a notification
		time.Sleep(11 * time.Second)
		expect("4 made of revision 2", 200)

		s.down.Store(true)
		s.revision.Store(3)
		time.Sleep(59 * time.Minute)
		expect("4 made of revision 2", 200)
		if got := k.Stats(); got.Stale < 58*time.Minute || got.Failures == 0 || got.Pages != 1 {
			t.Errorf("%+v", got)
		}
		time.Sleep(2 * time.Minute)
		expect("", 503)
		s.down.Store(false)
		time.Sleep(11 * time.Second)
		expect("5 made of revision 3", 200)
		if got := k.Stats(); got.Stale != 0 || got.Builds != 5 {
			t.Errorf("%+v", got)
		}
		stop()
	})
}

// TestVolume sends a volume plain, compressed, and to a client that has it.
func TestVolume(t *testing.T) {
	t.Parallel()
	v, err := edition.NewVolume([]byte(strings.Repeat("text ", 200)))
	if err != nil {
		t.Fatal(err)
	}
	headers := edition.NewHeaders("Accept-Encoding")
	send := func(method string, header ...string) *httptest.ResponseRecorder {
		r, w := httptest.NewRequest(method, "/", http.NoBody), httptest.NewRecorder()
		for i := 0; i < len(header); i += 2 {
			r.Header.Set(header[i], header[i+1])
		}
		headers.Send(w, r, v, []string{"text/plain"})
		return w
	}
	plain, packed, head := send(http.MethodGet), send(http.MethodGet, "Accept-Encoding", "br, gzip;q=0.5"), send(http.MethodHead)
	if plain.Body.Len() != 1000 || plain.Header().Get("Content-Encoding") != "" || plain.Header().Get("Content-Type") != "text/plain" {
		t.Errorf("plain: %d bytes, %v", plain.Body.Len(), plain.Header())
	}
	if packed.Body.Len() > 100 || packed.Header().Get("Content-Encoding") != "gzip" || packed.Header().Get("Etag") != plain.Header().Get("Etag") {
		t.Errorf("packed: %d bytes, %v", packed.Body.Len(), packed.Header())
	}
	if head.Body.Len() != 0 || head.Header().Get("Content-Length") != "1000" {
		t.Errorf("head: %d bytes, %v", head.Body.Len(), head.Header())
	}
	if known := send(http.MethodGet, "If-None-Match", `"x", `+plain.Header().Get("Etag")); known.Code != http.StatusNotModified || known.Body.Len() != 0 {
		t.Errorf("known: %d", known.Code)
	}
	if not := send(http.MethodGet, "Accept-Encoding", "gzip;q=0"); not.Header().Get("Content-Encoding") != "" {
		t.Error("packed for one who refuses it")
	}
}
