package relay

import (
	"cmp"
	"context"
	"errors"
	"sync"

	"heliograph/internal/base/values"
	"heliograph/internal/domain/evm/calls"
	"heliograph/internal/domain/ledger"
)

// Outcome describes a response beyond its data. The executor collects the notes of resolvers in it, and package rest
// renders it as a status, a problem, a link or a header. Responses to GraphQL clients do not include it.
type Outcome struct {
	Note

	// Rows is the number of rows in the field with the alias [PageAlias], and Last is the position of the last one.
	Rows int
	Last Key

	mu sync.Mutex
}

// Note is what a resolver found out besides its value. The resolver returns it as the error beside the value, and the
// field has no error.
type Note struct {
	// Missing identifies something that was requested and does not exist. It is nil if the data is complete.
	Missing *Missing
	// Failure is the failure of a contract call. It is nil if no call failed.
	Failure *calls.ContractCallFailure
	// Partial reports that the database has a part of the requested history only.
	Partial bool
	// Volatile reports that the response may change soon although it shows the past.
	Volatile bool
}

// Error implements error, because resolvers return notes beside their values. No client sees the text.
func (*Note) Error() string { return "the value has a note" }

// Found reports whether everything that was requested exists, and no contract call failed.
func (n *Note) Found() bool { return n.Missing == nil && n.Failure == nil }

// Lacking returns the note that something does not exist.
func Lacking(m Missing) *Note { return &Note{Missing: &m} }

// WithoutNote returns the value and the error of a resolver. An error that is a [Note] becomes nil.
func WithoutNote[T any](v T, err error) (T, error) {
	if _, ok := errors.AsType[*Note](err); ok {
		err = nil
	}
	return v, err
}

// Missing identifies something that does not exist. Kind determines which other fields are set.
type Missing struct {
	Kind MissingKind
	// ID is the id of the file, or of the contract without results.
	ID ledger.EntityID
	// Contract is the requested contract.
	Contract ledger.ContractRef
	// Hash and TransactionID are the hash or the id of the requested transaction.
	Hash          []byte
	TransactionID *ledger.TransactionID
	// At is the consensus timestamp of the requested contract result.
	At ledger.Timestamp
}

// MissingKind is the kind of something that does not exist.
type MissingKind uint8

// The kinds, with the fields of [Missing] that identify the object.
const (
	_                          MissingKind = iota
	MissingAccount                         // the account that a list belongs to
	MissingTopic                           // the topic
	MissingTopicEntity                     // the entity row of a topic
	MissingTopicFees                       // the custom fee row of a topic
	MissingTokenFees                       // the custom fee row of a token
	MissingFile                            // a readable version of a system file: ID
	MissingContract                        // a contract: Contract
	MissingContractResults                 // any result of a contract: ID
	MissingContractResult                  // a contract result: At
	MissingContractTransaction             // the transaction of a contract call: Hash or TransactionID
)

var outcomeKey = values.NewKey[*Outcome]()

// Value returns a context value that makes the executor write the notes and the end of the page of an operation
// into o.
func (o *Outcome) Value() values.Value { return outcomeKey.Is(o) }

// Collect adds the note in an error to the outcome of the context's operation, and drops the note if that has none.
// Of several notes, the last missing object and the last failure apply. It returns the error if it is not a note. It
// can be called at the same time for several fields.
func Collect(ctx context.Context, err error) error {
	n, ok := errors.AsType[*Note](err)
	if !ok {
		return err
	}
	if o, ok := outcomeKey.Of(ctx); ok {
		o.mu.Lock()
		defer o.mu.Unlock()
		o.Missing, o.Failure = cmp.Or(n.Missing, o.Missing), cmp.Or(n.Failure, o.Failure)
		o.Partial, o.Volatile = o.Partial || n.Partial, o.Volatile || n.Volatile
	}
	return nil
}

// SetPage records the number of rows of a page and the sort key of the last one in the outcome of the context's
// operation. Without an outcome it does nothing. It takes no lock, because an operation has one such page.
func SetPage(ctx context.Context, rows int, last Key) {
	if o, ok := outcomeKey.Of(ctx); ok {
		o.Rows, o.Last = rows, last
	}
}

// The aliases of root fields that have a meaning in REST documents. Any other root field is a member of the body,
// under its alias.
const (
	// PageAlias marks the list that links.next continues. Its members are members of the body.
	PageAlias = "page"
	// BodyAlias marks an object whose members are members of the body.
	BodyAlias = "body"
	// InsideAlias marks the only root field of a document. Its fields are used instead of root fields.
	InsideAlias = "inside"
)

// Ending is the reason why the server ended a subscription.
type Ending struct {
	mu  sync.Mutex
	err error
}

// Set records the error for which a subscription ends. A later call replaces it.
func (e *Ending) Set(err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.err = err
}

// Err returns the error for which the subscription ended, or nil.
func (e *Ending) Err() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.err
}

var endingKey = values.NewKey[*Ending]()

// Value returns a context value that makes e the ending of a subscription, which its resolver sets and the server
// reads.
func (e *Ending) Value() values.Value { return endingKey.Is(e) }

// EndingOf returns the ending of the context's subscription, in which its resolver records why it ends. Without one,
// it returns a new ending that is not read.
func EndingOf(ctx context.Context) *Ending {
	if e, ok := endingKey.Of(ctx); ok {
		return e
	}
	return &Ending{}
}

// TraceSink receives a trace while it is recorded, so that the caller need not store all of it.
type TraceSink interface {
	// Head is called once before the first step, with the trace without its steps.
	Head(t *calls.OpcodeTrace) error
	// Step is called for each step. The step is overwritten after the call.
	Step(s *calls.OpcodeStep) error
}

var admittedKey = values.NewKey[bool]()

// WithAdmission returns a context of a request that the rate limits of its endpoint have admitted, so that its
// resolver does not count it again; see [Admitted].
func WithAdmission(ctx context.Context) context.Context {
	return values.Context(ctx, admittedKey.Is(true))
}

// Admitted reports whether the rate limits have admitted the request of the context, so that it must not be counted
// again.
func Admitted(ctx context.Context) bool {
	admitted, _ := admittedKey.Of(ctx)
	return admitted
}

var traceSinkKey = values.NewKey[TraceSink]()

// WithTraceSink returns a context in which traces are passed to s instead of stored.
func WithTraceSink(ctx context.Context, s TraceSink) context.Context {
	return values.Context(ctx, traceSinkKey.Is(s))
}

// TraceSinkOf returns the context's sink, or nil if steps are to be stored.
func TraceSinkOf(ctx context.Context) TraceSink {
	s, _ := traceSinkKey.Of(ctx)
	return s
}
