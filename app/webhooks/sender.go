// Package webhooks sends the messages of the outbox to the webhooks of status pages. Several gateways can do so at the
// same time.
package webhooks

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/netip"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"heliograph/internal/base/outbound"
	"heliograph/internal/base/repeat"
	"heliograph/internal/domain/status"
	"heliograph/storage/statuspages"
)

// Intervals and limits.
const (
	idleInterval = time.Second // at which the outbox is read
	perRound     = 30          // messages that are claimed at once
	// between requests; a crash repeats only those without a recorded result, which are few if there are no bursts
	pace          = 3 * time.Millisecond
	maxConcurrent = 1000             // requests; slow receivers occupy them until the timeout
	timeout       = 10 * time.Second // of a request, with all redirects
	lease         = 30 * time.Second // after which other gateways repeat a request that has not ended
	statsInterval = 10 * time.Second
	recordDelay   = 200 * time.Millisecond // between attempts to record a result
	maxReason     = 300                    // bytes of an error to record
)

// Results of requests.
const (
	Delivered = "delivered"
	Rejected  = "rejected" // the status of the response is not 2xx
	Failed    = "failed"   // there was no response
)

// Results returns all results of requests to webhooks: the label values of their metric, and the arguments of
// [Sender.Count].
func Results() []string { return []string{Delivered, Rejected, Failed} }

// Sender sends messages.
type Sender struct {
	editor *statuspages.Editor
	client *http.Client
	log    *slog.Logger
	now    func() time.Time

	slots   chan struct{}
	sent    chan *status.Delivery // to be recorded
	running sync.WaitGroup
	counts  map[string]*atomic.Int64
	stats   atomic.Pointer[statuspages.OutboxStats]
}

// New returns a new sender, which sends nothing before [Sender.Run]. It connects only to public addresses and to
// those in the allowed networks, and uses no proxy. now returns the time of the signatures.
func New(editor *statuspages.Editor, now func() time.Time, log *slog.Logger, allowed []netip.Prefix) *Sender {
	s := &Sender{
		editor: editor, log: log, now: now, slots: make(chan struct{}, maxConcurrent),
		sent:   make(chan *status.Delivery, maxConcurrent),
		counts: map[string]*atomic.Int64{},
	}
	for _, r := range Results() {
		s.counts[r] = new(atomic.Int64)
	}
	s.stats.Store(&statuspages.OutboxStats{})
	s.client = outbound.New(outbound.Options{Timeout: timeout, Allowed: allowed, Setting: "webhook-networks"})
	return s
}

// Count returns the number of requests since the start with one of the [Results]. It panics for any other result.
func (s *Sender) Count(result string) int64 { return s.counts[result].Load() }

// Stats returns the state of the outbox, at most ten seconds old while the database is available. It is empty until
// [Sender.Run] has read it.
func (s *Sender) Stats() statuspages.OutboxStats { return *s.stats.Load() }

// Run sends the messages in the outbox of the database to webhooks until the context ends, and then waits for those
// that are being sent and for their results to be recorded. It also deletes old messages and refreshes
// [Sender.Stats]. It logs errors and retries while the database is unavailable. Call it once.
func (s *Sender) Run(ctx context.Context) {
	var recording sync.WaitGroup
	recording.Go(func() { s.record(context.WithoutCancel(ctx)) })
	defer recording.Wait()
	defer close(s.sent)
	defer s.running.Wait()
	var measured time.Time
	task := statuspages.TaskLog{Logger: s.log, Task: "sending to webhooks"}
	for {
		more, err := s.round(ctx)
		//nolint:forbidigo // an interval, and the injected clock may be fixed
		if now := time.Now(); err == nil && now.Sub(measured) >= statsInterval {
			var stats statuspages.OutboxStats
			if stats, err = s.editor.PruneMessages(ctx); err == nil {
				s.stats.Store(&stats)
			}
			measured = now
		}
		task.Record(ctx, err)
		wait := idleInterval
		if more {
			wait = pace
		}
		if !repeat.Sleep(ctx, wait) {
			return
		}
	}
}

// round claims messages and starts to send them, [pace] apart, and reports whether there may be more. The requests
// outlive the call and do not end with ctx. It claims no more than it can send at once, so that removed webhooks get
// no message later. If all places are taken, it claims none and reports true.
func (s *Sender) round(ctx context.Context) (more bool, err error) {
	limit := min(perRound, cap(s.slots)-len(s.slots))
	if limit == 0 {
		return true, nil
	}
	list, err := s.editor.ClaimDeliveries(ctx, limit, lease)
	for _, d := range list {
		s.slots <- struct{}{}
		s.running.Go(func() {
			defer func() { <-s.slots }()
			s.send(context.WithoutCancel(ctx), d)
		})
		time.Sleep(pace)
	}
	return len(list) == limit, err
}

// send sends a message once. It passes a delivered one to s.sent, from which it is recorded later, and records a
// failure itself, with the time of the next attempt. After the last failure, or the status 410, the webhook is
// disabled. It does not end when the gateway stops, which waits for open requests.
func (s *Sender) send(ctx context.Context, d *status.Delivery) {
	code, err := s.post(ctx, d)
	if err == nil && code >= 200 && code <= 299 {
		s.counts[Delivered].Add(1)
		s.sent <- d
		return
	}
	reason, result := "status "+strconv.Itoa(code), Rejected
	if err != nil {
		reason, result = outbound.Reason(err, timeout).Error(), Failed
	}
	s.counts[result].Add(1)
	retry, more := status.WebhookDelay(d.Failures + 1)
	if !more || code == http.StatusGone {
		retry = 0
		s.log.WarnContext(ctx, "disabled a webhook", "webhook", d.Webhook, "error", reason)
	}
	retry = time.Duration(float64(retry) * (0.8 + 0.4*rand.Float64()))
	s.persist(ctx, func(ctx context.Context) error {
		return s.editor.RecordFailed(ctx, d, outbound.Text(reason, maxReason), retry)
	})
}

// post sends the body of a delivery to its URL, signed and with the headers of Standard Webhooks, and returns the
// status of the response. It does not read the body of that. An error means that there was no response. It records
// nothing.
func (s *Sender) post(ctx context.Context, d *status.Delivery) (int, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, d.URL, bytes.NewReader(d.Body))
	if err != nil {
		return 0, fmt.Errorf("creating the request: %w", err)
	}
	now := s.now()
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", "heliograph")
	req.Header.Set("Webhook-Id", d.Message)
	req.Header.Set("Webhook-Timestamp", strconv.FormatInt(now.Unix(), 10))
	req.Header.Set("Webhook-Signature", d.Signature(now))
	resp, err := s.client.Do(req)
	if err != nil {
		return 0, err //nolint:wrapcheck // its text is recorded
	}
	_ = resp.Body.Close() // the status is the result, whatever the body
	return resp.StatusCode, nil
}

// record writes sent messages to the database as delivered, together with those that were sent meanwhile. It returns
// when s.sent is closed and each has been written or given up by [Sender.persist]; the latter are sent again.
func (s *Sender) record(ctx context.Context) {
	for d := range s.sent {
		batch := []*status.Delivery{d}
		for range len(s.sent) { // nobody else receives from it
			batch = append(batch, <-s.sent)
		}
		s.persist(ctx, func(ctx context.Context) error { return s.editor.RecordDelivered(ctx, batch) })
	}
}

// persist repeats a write to the database until it succeeds, for the duration of the lease, after which others may
// send the message again. It logs a final failure and returns no error.
func (s *Sender) persist(ctx context.Context, write func(ctx context.Context) error) {
	ctx, cancel := context.WithTimeout(ctx, lease)
	defer cancel()
	err := write(ctx)
	for err != nil && repeat.Sleep(ctx, recordDelay) {
		err = write(ctx)
	}
	if err != nil {
		s.log.WarnContext(ctx,
			"the result of sending to webhooks could not be recorded; messages may be sent again", "error", err)
	}
}
