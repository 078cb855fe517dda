package server

import (
	"context"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// The media type of answers in parts, and the form of the parts that is spoken: of the proposal of 2022-08-24, which clients ask for by that name.
const (
	mediaParts = "multipart/mixed"
	partsForm  = "20220824"
)

// The delimiters of parts (RFC 2046, §5.1.1). Each is sent with the part before it, since clients take a part for ended when they see it.
const (
	partsBoundary = "-"
	delimiter     = "\r\n--" + partsBoundary
	lastDelimiter = delimiter + "--\r\n"
	partHead      = "\r\nContent-Type: application/json; charset=utf-8\r\n\r\n"
)

// wantsParts tells whether a client can read an answer in parts: one that names no form of them, or ours. GET is answered whole, as caches like it.
func wantsParts(r *http.Request) bool {
	if r.Method != http.MethodPost {
		return false
	}
	for _, header := range r.Header.Values("Accept") {
		for item := range strings.SplitSeq(header, ",") {
			if media, params, err := mime.ParseMediaType(strings.TrimSpace(item)); err == nil && media == mediaParts && ourParts(params) {
				return true
			}
		}
	}
	return false
}

// ourParts tells whether the parameters of an accepted media type fit the parts that there are.
func ourParts(params map[string]string) bool {
	if q, ok := params["q"]; ok {
		if weight, err := strconv.ParseFloat(q, 64); err != nil || weight <= 0 {
			return false
		}
	}
	if form, ok := params["deferspec"]; ok && form != partsForm {
		return false
	}
	_, later := params["incrementalspec"]
	_, subscription := params["subscriptionspec"]
	return !later && !subscription
}

// writeParts answers an operation in parts.
func (s *Server) writeParts(ctx context.Context, w http.ResponseWriter, op *operation, sp *split, extensions map[string]any) {
	p := &partWriter{w: w, c: http.NewResponseController(w), timeout: s.o.Streams.WriteTimeout}
	switch err := s.deliver(ctx, op, sp, extensions, p.write); {
	case err == nil || ctx.Err() != nil: // that is told in the parts, or the client has gone
	case !p.begun:
		s.unwritten(ctx, w, err)
	default:
		s.o.Logger.InfoContext(ctx, "a part of an answer could not be written", "error", err)
	}
}

// partWriter writes parts to one client.
type partWriter struct {
	w       http.ResponseWriter
	c       *http.ResponseController
	timeout time.Duration
	begun   bool
}

// write sends the JSON of a part; more tells whether others follow.
func (p *partWriter) write(more bool, json ...[]byte) error {
	var out []byte
	if !p.begun {
		h := p.w.Header()
		h.Set("Content-Type", mediaParts+`; boundary="`+partsBoundary+`"; deferSpec=`+partsForm)
		h.Set("Cache-Control", "no-store, no-transform") // who packs it might hold parts back
		h.Set("X-Accel-Buffering", "no")                 // nor are proxies to wait for the end
		out = append(out, delimiter...)
		p.begun = true
	}
	out = append(out, partHead...)
	for _, b := range json {
		out = append(out, b...)
	}
	if more {
		out = append(out, delimiter...)
	} else {
		out = append(out, lastDelimiter...)
	}
	_ = p.c.SetWriteDeadline(time.Now().Add(p.timeout)) //nolint:forbidigo // the network's clock; a writer without deadlines is a test's
	if _, err := p.w.Write(out); err != nil {
		return err //nolint:wrapcheck // only whether there is one matters
	}
	return p.c.Flush() //nolint:wrapcheck // as above
}
