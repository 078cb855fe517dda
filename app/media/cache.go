package media

import (
	"context"
	"errors"
	"time"

	"github.com/maypok86/otter/v2"

	"heliograph/internal/base/wrap"
	"heliograph/internal/domain/media"
)

// A [Cache] keeps files for an hour, because those outside of the ledger can change, and refusals for half a minute.
const (
	cacheBytes = 16 << 20
	entryBytes = 200 // without the key and the content
	fileAge    = time.Hour
	refusalAge = 30 * time.Second
	// loadTimeout is the maximum time of a load, which goes on if the client that has started it disconnects.
	loadTimeout = 10 * time.Second
)

// entry is a file, or the reason why there is none.
type entry struct {
	file *media.File
	err  error
}

// Cache keeps files and the reasons why there are none.
type Cache = otter.Cache[string, *entry]

// NewCache returns an empty cache of files, limited to cacheBytes. Files expire after fileAge and refusals after
// refusalAge.
func NewCache() *Cache {
	return otter.Must(&otter.Options[string, *entry]{
		MaximumWeight: cacheBytes,
		Weigher: func(key string, e *entry) uint32 {
			n := entryBytes + len(key)
			if e.file != nil {
				n += len(e.file.Content)
			}
			return uint32(n)
		},
		ExpiryCalculator: otter.ExpiryWritingFunc(func(e otter.Entry[string, *entry]) time.Duration {
			if e.Value.err != nil {
				return refusalAge
			}
			return fileAge
		}),
	})
}

// cached returns the file with a key, a topic or a URL, from c, or loads it and keeps it. One of several requests at
// the same time loads it, within loadTimeout, even if its client disconnects. Files and errors of type [media.Refusal]
// are kept, other errors are not. A nil cache keeps nothing: each call loads the file in ctx, without loadTimeout.
// With a cache it fails if ctx has ended, even if the file is kept.
func cached(
	ctx context.Context, c *Cache, key string, load func(ctx context.Context) (*media.File, error),
) (*media.File, error) {
	if c == nil {
		return load(ctx)
	}
	if err := ctx.Err(); err != nil {
		return nil, wrap.Error(err, "reading a file")
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), loadTimeout) // others may wait for it
	defer cancel()
	e, err := c.Get(ctx, key, otter.LoaderFunc[string, *entry](
		func(ctx context.Context, _ string) (*entry, error) {
			file, err := load(ctx)
			if _, refused := errors.AsType[*media.Refusal](err); err != nil && !refused {
				return nil, err
			}
			return &entry{file, err}, nil
		}))
	if err != nil {
		return nil, wrap.Error(err, "reading a file")
	}
	return e.file, e.err
}
