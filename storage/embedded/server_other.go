//go:build !unix

package embedded

import (
	"context"
	"errors"
	"runtime"
)

// Server is a running PostgreSQL server. It is not supported on this system.
type Server struct{}

// Start returns an error: the embedded server needs Unix sockets, signals and file locks.
func Start(context.Context, Options) (*Server, error) {
	return nil, errors.New("the embedded PostgreSQL does not run on " + runtime.GOOS +
		": set HELIOGRAPH_DATABASE_URL to a database that runs elsewhere")
}

// URL returns "".
func (s *Server) URL(string) string { return "" }

// Major returns 0.
func (s *Server) Major() int { return 0 }

// DataDir returns "".
func (s *Server) DataDir() string { return "" }

// Done returns nil.
func (s *Server) Done() <-chan struct{} { return nil }

// Err returns nil.
func (s *Server) Err() error { return nil }

// Stop returns nil.
func (s *Server) Stop(context.Context) error { return nil }

func processName(int) string { return "" }
