package server

import (
	"context"
	"net/http"
	"strings"

	"heliograph/graph/incremental"
	"heliograph/internal/base/accept"
)

// deferSpec is the version of incremental delivery that the server implements: the proposal of 2022-08-24.
const deferSpec = "20220824"

// Delimiters of parts (RFC 2046, §5.1.1). Each is sent with the part before it, because clients process a part when they receive its delimiter.
const (
	boundary      = "-"
	delimiter     = "\r\n--" + boundary
	lastDelimiter = delimiter + "--\r\n"
	partHeader    = "\r\nContent-Type: application/json; charset=utf-8\r\n\r\n"
)

// acceptsParts reports whether a client accepts a response in parts, in the version of the server or in any version. Responses to GET are not split, so that
// HTTP caches can store them.
func acceptsParts(r *http.Request) bool {
	if r.Method != http.MethodPost {
		return false
	}
	for e := range accept.Elements(r.Header["Accept"]) {
		if e.Quality <= 0 || !strings.EqualFold(e.Value, mediaParts) {
			continue
		}
		spec, hasSpec := e.Param("deferSpec")
		_, newer := e.Param("incrementalSpec")
		_, subscription := e.Param("subscriptionSpec")
		if !newer && !subscription && (!hasSpec || spec == deferSpec) {
			return true
		}
	}
	return false
}

// serveParts executes an operation with deferred fragments and writes its response in parts.
//
// gqlgen's transport.MultipartMixed is not used: it polls for parts with a timer, has no write deadline, and delivers gqlgen's deferred fields only, which are
// read separately for each object.
func (s *Server) serveParts(ctx context.Context, w http.ResponseWriter, op *operation, split *incremental.Split, extensions map[string]any) {
	p := &partWriter{out: s.streamWriter(w)}
	switch err := s.deliver(ctx, op, split, extensions, p.write); {
	case err == nil || ctx.Err() != nil: // the parts report a timeout; otherwise the client has disconnected
	case !p.started:
		s.writeInternalError(ctx, w, err)
	default:
		s.o.Logger.InfoContext(ctx, "writing a part of a response failed", "error", err)
	}
}

type partWriter struct {
	out     streamWriter
	started bool
}

// write writes the JSON of a part. hasNext reports whether more parts follow.
func (p *partWriter) write(hasNext bool, json ...[]byte) error {
	before, after := partHeader, lastDelimiter
	if !p.started {
		p.out.setHeaders(mediaParts + `; boundary="` + boundary + `"; deferSpec=` + deferSpec)
		before = delimiter + partHeader
		p.started = true
	}
	if hasNext {
		after = delimiter
	}
	return p.out.write(before, json, after)
}
