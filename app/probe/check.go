// Package probe checks the components of status pages regularly. It sends only the requests that an operator has
// configured and does not follow redirects.
package probe

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"strings"
	"time"

	"heliograph/internal/base/outbound"
	"heliograph/internal/domain/status"
	"heliograph/storage"
)

// maxBody is the maximum number of bytes to read of a response body.
const maxBody = 1 << 20

// maxDetail is the maximum length of what a result says, in bytes.
const maxDetail = 1000

// Checker runs probes.
type Checker struct {
	// Now is the clock for lags and intervals.
	Now func() time.Time
	// Ledger reads the health of the ledger. Nil if there is no ledger database.
	Ledger func(ctx context.Context) (*storage.LedgerHealth, error)

	transport http.RoundTripper
}

// NewChecker returns a checker that sends requests from this process. now returns the time of results. health
// reads the ledger for probes of it and may be nil: their result is then unknown.
func NewChecker(now func() time.Time, health func(ctx context.Context) (*storage.LedgerHealth, error)) *Checker {
	return &Checker{
		Now: now, Ledger: health,
		// Each check opens a new connection, without a proxy, to the configured address.
		transport: &http.Transport{
			DisableKeepAlives: true,
			TLSClientConfig:   &tls.Config{MinVersion: tls.VersionTLS12},
		},
	}
}

// Check runs a probe once. It respects the timeout of the probe. It never fails: errors become part of the result. A
// result without a measured duration has the duration -1.
func (c *Checker) Check(ctx context.Context, p *status.Probe) status.ProbeResult {
	ctx, cancel := context.WithTimeout(ctx, p.Spec.Timeout())
	defer cancel()
	r := status.ProbeResult{At: c.Now(), Took: -1}
	var err error
	switch p.Kind {
	case status.HTTPProbe, status.GraphQLProbe:
		err = c.http(ctx, p, &r)
	case status.TCPProbe:
		err = c.tcp(ctx, p, &r)
	case status.LagProbe, status.NodeProbe:
		c.ledger(ctx, p, &r)
	case status.HeartbeatProbe:
		heartbeat(p, &r)
	default:
		r.Detail = "probes of the kind " + string(p.Kind) + " are not supported"
	}
	if err != nil {
		r.Level, r.Detail = status.Bad, outbound.Reason(err, p.Spec.Timeout()).Error()
	}
	r.Detail = outbound.Text(r.Detail, maxDetail)
	return r
}

// tcp opens and closes a connection to the address of the probe, and writes level, detail and duration to r. It
// returns an error of the network, which [Checker.Check] makes the result.
func (c *Checker) tcp(ctx context.Context, p *status.Probe, r *status.ProbeResult) error {
	start := time.Now() //nolint:forbidigo // durations are measured with the real clock
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", p.Spec.Address)
	if err != nil {
		return err //nolint:wrapcheck // its text is the result
	}
	_ = conn.Close()           // only the connection itself matters
	r.Took = time.Since(start) //nolint:forbidigo // as above
	r.Level, r.Detail = p.Spec.LevelAt(r.Took), "connected"
	return nil
}

// http sends the request of an HTTP or GraphQL probe and writes level, detail and duration to r. It follows no
// redirects. It reads at most maxBody bytes, checks the expected response, then the days until the certificate
// expires. Headers with the value env:NAME are read from the environment. It returns an error only if there is no
// complete response.
func (c *Checker) http(ctx context.Context, p *status.Probe, r *status.ProbeResult) error {
	s := &p.Spec
	method, body := http.MethodGet, io.Reader(http.NoBody)
	if p.Kind == status.GraphQLProbe {
		text, err := json.Marshal(map[string]string{"query": s.Query})
		if err != nil {
			return err //nolint:wrapcheck // as below
		}
		method, body = http.MethodPost, bytes.NewReader(text)
	}
	req, err := http.NewRequestWithContext(ctx, method, s.URL, body)
	if err != nil {
		return err //nolint:wrapcheck // its text is the result
	}
	req.Header.Set("User-Agent", "heliograph")
	if method == http.MethodPost {
		req.Header.Set("Content-Type", "application/json")
	}
	for name, value := range s.Headers {
		if variable, secret := strings.CutPrefix(value, "env:"); secret {
			value = os.Getenv(variable)
		}
		req.Header.Set(name, value)
	}
	start := time.Now()                     //nolint:forbidigo // durations are measured with the real clock
	resp, err := c.transport.RoundTrip(req) // does not follow redirects
	if err != nil {
		return err //nolint:wrapcheck // its text is the result
	}
	defer func() { _ = resp.Body.Close() }() // the rest of the body is not needed
	received, err := io.ReadAll(io.LimitReader(resp.Body, maxBody))
	if err != nil {
		return err //nolint:wrapcheck // its text is the result
	}
	r.Took = time.Since(start) //nolint:forbidigo // as above
	r.Level, r.Detail = s.LevelAt(r.Took), resp.Status
	if problem := unexpected(p, resp, received); problem != "" {
		r.Level, r.Detail = status.Bad, problem
	} else if s.TLSDays > 0 && resp.TLS != nil && r.Level == status.Good {
		left := resp.TLS.PeerCertificates[0].NotAfter.Sub(r.At)
		if left < time.Duration(s.TLSDays)*24*time.Hour {
			r.Level, r.Detail = status.Slow, fmt.Sprintf("the certificate expires in %d days", int(left.Hours()/24))
		}
	}
	return nil
}

// unexpected returns what is wrong with the status or body of a response, or an empty string if it is as the probe
// expects: the status, the pattern of the body, and the value at a path. A GraphQL response must have data and no
// errors. An invalid pattern matches no body.
func unexpected(p *status.Probe, resp *http.Response, body []byte) string {
	s := &p.Spec
	if s.Status != 0 && resp.StatusCode != s.Status || s.Status == 0 &&
		(resp.StatusCode < 200 || resp.StatusCode > 299) {
		return "the status is " + resp.Status
	}
	if s.Body != "" {
		pattern, err := regexp.Compile(s.Body)
		if err != nil || !pattern.Match(body) {
			return fmt.Sprintf("the body does not match %q", s.Body)
		}
	}
	isGraphQL := p.Kind == status.GraphQLProbe
	if s.Path == "" && !isGraphQL {
		return ""
	}
	var v any
	if json.Unmarshal(body, &v) != nil {
		return "the response is not JSON"
	}
	if isGraphQL {
		problem := lookUp(v, "errors.0")
		v = lookUp(v, "data")
		switch {
		case problem != nil:
			return fmt.Sprintf("the response has an error: %.200v", lookUp(problem, "message"))
		case v == nil:
			return "the response has no data"
		}
	}
	if s.Path != "" && lookUp(v, s.Path) == nil {
		return "the response has no value at " + s.Path
	}
	return ""
}

// lookUp returns the value at a path in decoded JSON, or nil if it does not exist or is null. The path consists of
// names and indexes, joined by dots, such as errors.0.message.
func lookUp(v any, path string) any {
	for step := range strings.SplitSeq(path, ".") {
		switch in := v.(type) {
		case map[string]any:
			v = in[step]
		case []any:
			i, err := strconv.Atoi(step)
			if err != nil || i < 0 || i >= len(in) {
				return nil
			}
			v = in[i]
		default:
			return nil
		}
	}
	return v
}

// ledger writes the result of a probe of the ledger or of one of its nodes to r, from the health of the ledger that
// c.Ledger reads. Without c.Ledger the level remains unknown. If reading fails, it is bad for the ledger and unknown
// for a node.
func (c *Checker) ledger(ctx context.Context, p *status.Probe, r *status.ProbeResult) {
	if c.Ledger == nil {
		r.Detail = "no ledger database is configured" // unknown: the component may be healthy
		return
	}
	h, err := c.Ledger(ctx)
	switch {
	case err != nil && p.Kind == status.NodeProbe: // unknown: the database is unavailable, the node may be healthy
		r.Detail = "the ledger cannot be read"
	case err != nil:
		r.Level, r.Detail = status.Bad, "the ledger cannot be read"
	case p.Kind == status.LagProbe:
		lag(p, h, r)
	default:
		node(p, h, r)
	}
}

// lag sets level and detail of a result from the age of the newest block, which becomes its duration, and from blocks
// that are missing. Without any block, or if some are missing, the level is bad.
func lag(p *status.Probe, h *storage.LedgerHealth, r *status.ProbeResult) {
	if h.At == 0 {
		r.Level, r.Detail = status.Bad, "there are no blocks"
		return
	}
	r.Took = h.At.Age(r.At)
	r.Level, r.Detail = p.Spec.LevelAt(r.Took), fmt.Sprintf("block %d is %s old", h.Block, r.Took.Round(time.Second))
	if h.Missing > 0 {
		r.Level, r.Detail = status.Bad, fmt.Sprintf("%d blocks are missing before block %d", h.Missing, h.Block)
	}
}

// standstill is the age of the newest block from which the ledger stands still. Nothing is known of its nodes then.
const standstill = 5 * time.Minute

// minPerNode is the average number of transactions per node from which a node without any transaction counts as
// inactive.
const minPerNode = 50

// node sets level and detail of r, the result of a probe of a consensus node, from the state h of the ledger: the
// address book, the newest transactions and the stake. With too few transactions the level remains unknown. The node
// is that of the specification of p, or p.NodeID if that is 0 and p has one.
func node(p *status.Probe, h *storage.LedgerHealth, r *status.ProbeResult) {
	id := p.Spec.Node
	if id == 0 && p.NodeID >= 0 {
		id = p.NodeID
	}
	n := h.Nodes[id]
	switch {
	case n == nil:
		r.Level, r.Detail = status.Bad, fmt.Sprintf("node %d is not in the address book", id)
	case h.At.Age(r.At) >= standstill:
		r.Level = status.Bad
		r.Detail = fmt.Sprintf("the ledger stands still: the newest block is %s old",
			h.At.Age(r.At).Round(time.Second))
	case n.Deleted:
		r.Level, r.Detail = status.Bad, fmt.Sprintf("node %d was deleted", id)
	case n.Transactions == 0 && h.Transactions >= minPerNode*int64(len(h.Nodes)):
		r.Level, r.Detail = status.Bad, fmt.Sprintf("none of the newest %d transactions was sent to node %d",
			h.Transactions, id)
	case n.Stake.Valid && (n.Stake.V == 0 || n.MinStake.Valid && n.Stake.V < n.MinStake.V):
		r.Level, r.Detail = status.Slow, fmt.Sprintf("node %d has too little stake to have weight", id)
	case n.Transactions == 0: // too few transactions to decide
		r.Detail = fmt.Sprintf("%d transactions are too few to decide whether node %d is active", h.Transactions, id)
	default:
		r.Level, r.Detail = status.Good, fmt.Sprintf("%d of the newest %d transactions were sent to node %d",
			n.Transactions, h.Transactions, id)
	}
}

// heartbeat sets level, detail and duration of r from the time since the last heartbeat of the probe. Without any
// heartbeat the result is unknown, because the job may not have run yet.
func heartbeat(p *status.Probe, r *status.ProbeResult) {
	if p.BeatAt.IsZero() {
		r.Detail = "no heartbeat has been received yet"
		return
	}
	r.Took = max(0, r.At.Sub(p.BeatAt))
	r.Level, r.Detail = p.Spec.LevelAt(r.Took), fmt.Sprintf("the last heartbeat was %s ago", r.Took.Round(time.Second))
}
