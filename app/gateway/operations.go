package gateway

import (
	"context"
	"strings"
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"heliograph/app/tracing"
)

// Limits of the names of operations in metrics, which clients choose freely. Other operations have the name "other".
const (
	maxNames      = 100
	maxNameLength = 64
)

// operations counts the operations of clients by name, and notifies the traces.
type operations struct {
	traces *tracing.Traces // can be nil
	counts *prometheus.CounterVec

	mu    sync.Mutex
	names map[string]bool
}

func newOperations(traces *tracing.Traces) *operations {
	return &operations{traces: traces, names: map[string]bool{}, counts: prometheus.NewCounterVec(prometheus.CounterOpts{
		Namespace: "heliograph", Name: "operations_total",
		Help: "Number of GraphQL operations of clients by kind and name. The first 100 names are counted separately.",
	}, []string{"kind", "name"})}
}

// Received implements [server.Observer].
func (o *operations) Received(ctx context.Context, kind, name string) {
	o.counts.WithLabelValues(kind, o.label(name)).Inc()
	if o.traces != nil {
		o.traces.Received(ctx, kind, name)
	}
}

// Run implements [server.Observer].
func (o *operations) Run(ctx context.Context, kind, name string) (of context.Context, end func()) {
	if o.traces == nil {
		return ctx, func() {}
	}
	return o.traces.Run(ctx, kind, name)
}

func (o *operations) label(name string) string {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case name == "":
		return "anonymous"
	case o.names[name]:
		return name
	case len(name) > maxNameLength || len(o.names) >= maxNames:
		return "other"
	}
	name = strings.Clone(name) // a substring would retain the whole document
	o.names[name] = true
	return name
}
