package server

import (
	"context"

	"github.com/vektah/gqlparser/v2/gqlerror"

	"heliograph/graph/fault"
	"heliograph/internal/base/values"
)

// Client is the client of a request. Limits apply to all requests of a client together.
type Client struct {
	Name string
	// Charge counts points towards the rate limit of the client. It reports false if the limit is exceeded. Nil means no limit.
	Charge func(points int) bool
}

var clientKey = values.NewKey[Client]()

// Value returns the context value of the client.
func (c Client) Value() values.Value { return clientKey.Is(c) }

func clientOf(ctx context.Context) Client {
	c, _ := clientKey.Of(ctx)
	return c
}

// costPerPoint is the cost of an operation that counts as one point towards the rate limit.
const costPerPoint = 100

// charge counts points towards the rate limit of the client. It fails if the limit is exceeded.
func charge(ctx context.Context, points int) *gqlerror.Error {
	if c := clientOf(ctx); c.Charge != nil && points > 0 && !c.Charge(points) {
		return coded(fault.RateLimited, "too many requests, or too expensive ones: retry after a minute")
	}
	return nil
}
