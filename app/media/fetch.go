package media

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"time"

	"heliograph/internal/base/outbound"
	"heliograph/internal/domain/media"
)

// Limits of requests for metadata outside of the ledger.
const (
	fetchTimeout  = 5 * time.Second // including the time until other requests have ended
	maxConcurrent = 16
)

// Fetcher reads metadata outside of the ledger.
type Fetcher struct {
	client *http.Client
	cache  *Cache
	slots  chan struct{}
}

// NewFetcher returns a new fetcher of NFT metadata over HTTP with a cache of its own. It connects only to public
// addresses and to those in the allowed networks.
func NewFetcher(allowed []netip.Prefix) *Fetcher {
	return &Fetcher{
		client: outbound.New(outbound.Options{Timeout: fetchTimeout, Allowed: allowed, Setting: "media-networks"}),
		cache:  NewCache(),
		slots:  make(chan struct{}, maxConcurrent),
	}
}

// unread is the reason without details, which could be those of a network that the client cannot reach.
var unread = &media.Refusal{Reason: "the metadata outside of the ledger cannot be read now"}

// Fetch returns the file with the metadata of an NFT at a URL from the cache of f, or requests it and keeps it there,
// at most maxConcurrent at a time and within fetchTimeout, which includes the wait for others. Refusals are kept too.
// All errors are of type [media.Refusal].
func (f *Fetcher) Fetch(ctx context.Context, url string) (*media.File, error) {
	file, err := cached(ctx, f.cache, url, func(ctx context.Context) (*media.File, error) {
		ctx, cancel := context.WithTimeout(ctx, fetchTimeout)
		defer cancel()
		select {
		case f.slots <- struct{}{}:
			defer func() { <-f.slots }()
		case <-ctx.Done():
			return nil, ctx.Err() // replaced below, and not kept
		}
		return f.request(ctx, url)
	})
	if _, refused := errors.AsType[*media.Refusal](err); err != nil && !refused {
		err = unread
	}
	return file, err
}

// request sends a GET request for the metadata of an NFT, for [Fetcher.Fetch]. It reads the content, up to
// [media.MaxMetadata] bytes, only if its type can be metadata; otherwise Content is nil. All errors are of type
// [media.Refusal].
func (f *Fetcher) request(ctx context.Context, url string) (*media.File, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return nil, unread
	}
	req.Header.Set("Accept", "application/json, */*;q=0.5")
	req.Header.Set("User-Agent", "heliograph")
	resp, err := f.client.Do(req)
	if err != nil {
		return nil, unread
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, &media.Refusal{Reason: fmt.Sprintf("the server of the metadata responds with status %d",
			resp.StatusCode)}
	}
	file := &media.File{Type: media.TypeOf(resp.Header.Get("Content-Type"))}
	if !file.IsMetadata() {
		return file, nil
	}
	file.Content, err = io.ReadAll(io.LimitReader(resp.Body, media.MaxMetadata+1))
	switch {
	case err != nil:
		return nil, unread
	case len(file.Content) > media.MaxMetadata:
		return nil, &media.Refusal{Reason: fmt.Sprintf("the metadata has more than %d bytes", media.MaxMetadata)}
	}
	return file, nil
}
