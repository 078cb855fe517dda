// Package profile records what an operation takes, if its client requests that: statements, waits and cache hits.
package profile

import (
	"context"
	"sync"
	"time"

	"heliograph/internal/base/values"
)

// maxStatements is the maximum number of statements in a profile. Further ones are only counted.
const maxStatements = 500

// Profile describes the execution of an operation. Times are in milliseconds. It does not contain SQL. [Profile.Begin],
// [Profile.Hit] and [Profile.Trip] record nothing in a nil profile.
type Profile struct {
	// Milliseconds is the time since the request was received, Queue that until it began to run, and Waiting the sum
	// of the times in which statements waited for a connection.
	Milliseconds float64 `json:"milliseconds"`
	Queue        float64 `json:"queue"`
	Waiting      float64 `json:"waiting"`
	// Levels is the number of levels of fields, and RoundTrips that of round trips to databases.
	Levels     int `json:"levels"`
	RoundTrips int `json:"roundTrips"`
	// CacheHits is the number of objects that the operation had read already, for another place or another row.
	CacheHits int `json:"cacheHits"`
	// Bytes is the size of the data.
	Bytes      int          `json:"bytes"`
	Statements []*Statement `json:"statements"`
	// Omitted is the number of statements that are not listed.
	Omitted int `json:"omitted,omitempty"`

	// Field returns the path of the field that a context belongs to.
	Field func(context.Context) string `json:"-"`

	began    time.Time
	mu       sync.Mutex
	finished bool
}

// Place is the field that a statement reads.
type Place struct {
	// Field is the path of the field.
	Field string `json:"field"`
	// Level is its level, from 1. Statements of a level depend on rows of the levels before it.
	Level int `json:"level"`
}

// Statement is a statement that has returned rows.
type Statement struct {
	Place

	// RoundTrip is the number of the round trip, from 1.
	RoundTrip int `json:"roundTrip"`
	// Start is the time from receiving the request to the start of the round trip, and Milliseconds that from there
	// until the rows have been read. PostgreSQL sends the rows of all statements of a round trip together.
	Start        float64 `json:"start"`
	Milliseconds float64 `json:"milliseconds"`
	Rows         int64   `json:"rows"`
	// Server is the time that PostgreSQL takes for the statement. It is known for those of the slowest round trip,
	// which are executed again.
	Server float64 `json:"server,omitempty"`
	// Scans are what the slowest of these reads.
	Scans []Scan `json:"scans,omitempty"`

	explain Explain
}

// Scan is an index that a statement reads, or a table that it reads without an index. The table of an index can be
// empty.
type Scan struct {
	Table string `json:"table"`
	Index string `json:"index"`
}

// Explain executes a statement again. It returns the time that the database takes, in milliseconds, and what it reads.
type Explain func(context.Context) (milliseconds float64, scans []Scan, err error)

// New returns the profile of a request that has been received now. field returns the path of the GraphQL field
// that a context belongs to.
func New(field func(context.Context) string) *Profile {
	return &Profile{Field: field, Statements: []*Statement{}, began: now()}
}

// now returns the system time, to measure durations: the injected clock of the gateway may be fixed.
func now() time.Time { return time.Now() } //nolint:forbidigo // see above

// milliseconds returns a duration in milliseconds, with microseconds as decimals.
func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// record calls change under the lock of the profile, unless the profile is nil or has ended.
func (p *Profile) record(change func()) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.finished {
		change()
	}
}

// Begin starts a wait for a connection and returns the function that adds its duration to the profile. That function
// does nothing after [Profile.Finish]. p can be nil.
func (p *Profile) Begin() (end func()) {
	if p == nil {
		return func() {}
	}
	from := now()
	return func() { p.record(func() { p.Waiting += milliseconds(now().Sub(from)) }) }
}

// Hit adds objects that are in a cache and are not read again to the count. It does nothing after [Profile.Finish], or
// if p is nil.
func (p *Profile) Hit(objects int) { p.record(func() { p.CacheHits += objects }) }

// Trip starts a round trip. It returns the function that records that the rows of a statement have been read, or nil
// if nothing is recorded: p is nil or finished. After [Profile.Finish] that function does nothing. A statement whose
// explain is nil is not executed again.
func (p *Profile) Trip() (read func(at Place, rows int64, explain Explain)) {
	p.record(func() {
		p.RoundTrips++
		number, start := p.RoundTrips, now()
		read = func(at Place, rows int64, explain Explain) {
			p.record(func() {
				if len(p.Statements) == maxStatements {
					p.Omitted++
					return
				}
				p.Statements = append(p.Statements, &Statement{
					Place: at, RoundTrip: number, Rows: rows, Start: milliseconds(start.Sub(p.began)),
					Milliseconds: milliseconds(now().Sub(start)), explain: explain,
				})
			})
		}
	})
	return read
}

// Finish ends the record and sets its totals. It is called once, and p must not be nil. queue is the time until the
// request began to run, and bytes is the size of its data. It executes those statements of the slowest round trip
// again that can be, to read their plans. What fails then, for example because the time of the request is up, is
// unknown.
func (p *Profile) Finish(ctx context.Context, queue time.Duration, bytes int) {
	p.record(func() { p.finished = true })
	p.Milliseconds, p.Queue, p.Bytes = milliseconds(now().Sub(p.began)), milliseconds(queue), bytes
	slowest := &Statement{}
	for _, s := range p.Statements {
		p.Levels = max(p.Levels, s.Level)
		if s.explain != nil && s.Milliseconds >= slowest.Milliseconds {
			slowest = s
		}
	}
	trip := slowest.RoundTrip
	slowest = &Statement{}
	var scans []Scan
	for _, s := range p.Statements {
		if s.RoundTrip != trip || s.explain == nil {
			continue
		}
		took, read, err := s.explain(ctx)
		if s.Server = took; err == nil && took > slowest.Server {
			slowest, scans = s, read
		}
	}
	slowest.Scans = scans
}

var placeKey = values.NewKey[*Place]()

// Context returns a copy of ctx for what is read for the field; [Profile.Place] finds the place in it.
func (at *Place) Context(ctx context.Context) context.Context {
	return values.Context(ctx, placeKey.Is(at))
}

// Place returns the place in the document for which ctx reads: that of [Place.Context], or a root field at level 1 if
// it has none. In the second case p must not be nil.
func (p *Profile) Place(ctx context.Context) *Place {
	at, ok := placeKey.Of(ctx)
	if !ok {
		at = &Place{p.Field(ctx), 1}
	}
	return at
}
