package server

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"heliograph/graph/incremental"
	"heliograph/graph/relay"
	"heliograph/graph/rowplan"
	"heliograph/internal/base/accept"
	"heliograph/internal/base/values"
)

// maxConcurrentGroups is the number of deferred fragments of one operation that are executed concurrently.
const maxConcurrentGroups = 4

// delivery executes an operation with deferred fragments and sends its response in parts.
type delivery struct {
	server *Server
	oc     *graphql.OperationContext
	split  *incremental.Split
	memo   memo
	send   sendPart

	ctx     context.Context //nolint:containedctx // of this one response
	running sync.WaitGroup
	slots   chan struct{} // one for each group that is executed
	done    chan groupResult
	pending int                    // groups that have started and not been sent
	base    [][]incremental.Object // the objects that the fragment of each started group belongs to
}

// sendPart sends the JSON of a part. hasNext reports whether more parts follow.
type sendPart func(hasNext bool, json ...[]byte) error

// groupResult is the result of a group. The response is nil if the operation ended before the group was executed.
type groupResult struct {
	group    int
	response *graphql.Response
}

// payload is the result of a deferred fragment for one object.
type payload struct {
	path   ast.Path
	data   []byte // nil for null
	errors gqlerror.List
}

// deliver executes an operation and sends its response in parts, in the format of 2022-08-24: first the initial
// response with the extensions, then each deferred fragment when its data is available. An error of send ends the
// delivery. If ctx ends, the remaining fragments fail with its cause. Before it returns, it cancels the fragments
// that still run and waits for them.
//
// gqlgen's deferral is not used: it resolves a deferred fragment separately for each object, with a statement for
// each.
func (s *Server) deliver(
	ctx context.Context, op *operation, split *incremental.Split, extensions map[string]any, send sendPart,
) error {
	ctx, cancel := context.WithCancel(values.Context(ctx, rowplan.NewPartsStore().Value()))
	n := len(split.Groups)
	d := &delivery{
		server: s, oc: op.oc, split: split, memo: memo{results: map[string]result{}}, send: send,
		ctx: ctx, slots: make(chan struct{}, maxConcurrentGroups),
		done: make(chan groupResult, n), base: make([][]incremental.Object, n),
	}
	defer d.running.Wait()
	defer cancel()
	if err := d.initial(extensions); err != nil {
		return err
	}
	for d.pending > 0 {
		r := <-d.done
		d.pending--
		if err := d.finish(r); err != nil {
			return err
		}
	}
	return nil
}

// initial executes what is not deferred, sends it with the extensions, and starts the groups whose objects it has. It
// fails if the context ends, the response cannot be encoded, or send fails.
func (d *delivery) initial(extensions map[string]any) error {
	resp := d.execute(d.split.Initial)
	if resp == nil {
		return fmt.Errorf("executing the initial part: %w", d.ctx.Err())
	}
	resp.Extensions = extensions
	ready, err := d.ready(incremental.Initial, []incremental.Object{{JSON: orNull(resp.Data)}})
	if err != nil {
		return err
	}
	tail, err := responseTail(resp)
	if err != nil {
		return err
	}
	hasNext := len(ready) > 0
	if err := d.send(hasNext, dataMember, orNull(resp.Data), tail[:len(tail)-1], partTail(hasNext)); err != nil {
		return err
	}
	d.start(ready)
	return nil
}

// partTail returns the end of the JSON of a part: a comma, the member hasNext and the closing brace.
func partTail(hasNext bool) []byte { return fmt.Appendf(nil, `,"hasNext":%t}`, hasNext) }

// execute executes one part of the operation and returns its response, in which fields of earlier parts are not read
// again. It returns nil if the context has ended. Groups call it concurrently.
func (d *delivery) execute(op *ast.OperationDefinition) *graphql.Response {
	of := d.oc
	doc := of.Doc
	if !d.split.Cached { // plans are cached by document, so use another one
		once := *doc
		doc = &once
	}
	oc := &graphql.OperationContext{
		RawQuery: of.RawQuery, Variables: of.Variables, OperationName: of.OperationName, Doc: doc,
		Extensions: of.Extensions, Headers: of.Headers, Operation: op,
		RecoverFunc: of.RecoverFunc, RootResolverMiddleware: of.RootResolverMiddleware,
		ResolverMiddleware: d.memo.middleware(of.ResolverMiddleware),
	}
	resp := d.server.run(d.ctx, oc)
	if resp != nil {
		d.server.bound(resp)
	}
	return resp
}

// ready returns the groups nested directly in parent for which objects has at least one object that is not null, and
// records the objects of all nested groups in d.base. It fails if the JSON of an object is malformed.
func (d *delivery) ready(parent int, objects []incremental.Object) ([]int, error) {
	var ready []int
	for i, g := range d.split.Groups {
		if g.Parent != parent {
			continue
		}
		var err error
		if d.base[i], err = incremental.Descend(objects, g.Path[g.Base:]); err != nil {
			return nil, err
		}
		if slices.ContainsFunc(d.base[i], func(o incremental.Object) bool { return o.JSON != nil }) {
			ready = append(ready, i)
		}
	}
	return ready, nil
}

// start executes groups of deferred fields in the background, as many at once as d.slots has places, and counts them
// in d.pending. Each sends its result to d.done, also after a panic. start does not wait for them.
func (d *delivery) start(groups []int) {
	for _, i := range groups {
		d.pending++
		d.running.Go(func() {
			r := groupResult{group: i}
			defer func() {
				if p := recover(); p != nil {
					r.response = &graphql.Response{Errors: gqlerror.List{d.server.presenter(d.ctx,
						recovered(d.ctx, p))}}
				}
				d.done <- r
			}()
			d.slots <- struct{}{}
			defer func() { <-d.slots }()
			r.response = d.execute(d.split.Groups[i].Operation)
		})
	}
}

// finish sends the result of a group, with the error of the context if it has none, and starts the groups nested in
// it. A group without objects is not sent, unless it is the last one. It fails if the result cannot be read or
// encoded, or if send fails.
func (d *delivery) finish(r groupResult) error {
	g, resp := d.split.Groups[r.group], r.response
	if resp == nil {
		resp = &graphql.Response{Errors: gqlerror.List{d.server.presenter(d.ctx, context.Cause(d.ctx))}}
	}
	objects, err := incremental.Find(nil, orNull(resp.Data), g.Path)
	if err != nil {
		return err
	}
	var payloads []payload
	found := incremental.Match(d.base[r.group], objects)
	for _, o := range found {
		if string(o.JSON) != emptyObject {
			payloads = append(payloads, payload{path: o.Path, data: o.JSON})
		}
	}
	ready, err := d.ready(r.group, found)
	if err != nil {
		return err
	}
	hasNext := d.pending+len(ready) > 0
	if len(payloads) > 0 || !hasNext {
		assignErrors(payloads, resp.Errors)
		part, err := d.part(g, payloads, hasNext)
		if err != nil {
			return err
		}
		if err := d.send(hasNext, part); err != nil {
			return err
		}
	}
	d.start(ready)
	return nil
}

// emptyObject is the result of a fragment that has nothing to deliver: its type condition does not match the object,
// or all of its fields are deferred further or skipped.
const emptyObject = "{}"

// assignErrors adds each error of an operation with @defer to the payload of the object that it belongs to. An error
// above the objects, which made them null, is added to the first of these, with its path changed in errs to that of
// the object. Each further null without an error gets a copy of the first error. Errors of objects that the client did
// not receive are dropped.
func assignErrors(payloads []payload, errs gqlerror.List) {
	for _, e := range errs {
		at := slices.IndexFunc(payloads, func(p payload) bool { return rowplan.HasPrefix(e.Path, p.path) })
		if at < 0 {
			if at = slices.IndexFunc(payloads, func(p payload) bool {
				return p.data == nil && rowplan.HasPrefix(p.path, e.Path)
			}); at < 0 {
				continue
			}
			e.Path = payloads[at].path
		}
		payloads[at].errors = append(payloads[at].errors, e)
	}
	for i := range payloads {
		if p := &payloads[i]; p.data == nil && p.errors == nil && len(errs) > 0 {
			e := *errs[0]
			e.Path = p.path
			p.errors = gqlerror.List{&e}
		}
	}
}

// part returns the JSON of the result of a group: its payloads as incremental results, and whether more parts
// follow.
func (d *delivery) part(g *incremental.Group, payloads []payload, hasNext bool) ([]byte, error) {
	if len(payloads) == 0 {
		return fmt.Appendf(nil, `{"hasNext":%t}`, hasNext), nil
	}
	out := []byte(`{"incremental":[`)
	for i, p := range payloads {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(append(out, dataMember...), orNull(p.data)...)
		rest, err := json.Marshal(struct {
			Path   ast.Path      `json:"path"`
			Label  string        `json:"label,omitempty"`
			Errors gqlerror.List `json:"errors,omitempty"`
		}{append(ast.Path{}, p.path...), d.label(g), p.errors})
		if err != nil {
			return nil, fmt.Errorf("encoding the result of a deferred fragment: %w", err)
		}
		rest[0] = ',' // in place of the opening brace
		out = append(out, rest...)
	}
	return append(append(out, ']'), partTail(hasNext)...), nil
}

// label returns the label of a group for clients, from a literal or a variable, or an empty string if it has none or
// its variable is null.
func (d *delivery) label(g *incremental.Group) string {
	if g.Label == nil {
		return ""
	}
	v, err := g.Label.Value(d.oc.Variables)
	if err != nil {
		return ""
	}
	text, _ := v.(string)
	return text
}

// memo caches the results of resolvers by response path while an operation is delivered in parts. The fields on the
// path to a deferred fragment are the same in every part, and are resolved once.
type memo struct {
	mu      sync.Mutex
	results map[string]result
}

type result struct {
	value any
	err   error
}

// errReported replaces an error that an earlier part has reported.
var errReported = errors.New("the error was reported in an earlier part")

// middleware returns a field middleware around inner that calls a resolver only if the memo has no result of an
// earlier part at its path. Fields without a resolver are not kept.
func (m *memo) middleware(inner graphql.FieldMiddleware) graphql.FieldMiddleware {
	return func(ctx context.Context, next graphql.Resolver) (any, error) {
		fc := graphql.GetFieldContext(ctx)
		if !fc.IsResolver {
			return inner(ctx, next)
		}
		return inner(ctx, func(ctx context.Context) (any, error) { return m.resolve(ctx, fc.Path().String(), next) })
	}
}

// resolve returns the result that an earlier part of the operation has read at path, or calls next and keeps its
// result. An error is reported once only: later calls return errReported. Parts that run at the same time can both
// call next. A note of the resolver is dropped.
func (m *memo) resolve(ctx context.Context, path string, next graphql.Resolver) (any, error) {
	m.mu.Lock()
	earlier, found := m.results[path]
	m.mu.Unlock()
	if found {
		if earlier.err != nil {
			return nil, errReported
		}
		return earlier.value, nil
	}
	v, err := relay.WithoutNote(next(ctx))
	m.mu.Lock()
	defer m.mu.Unlock()
	m.results[path] = result{v, err}
	return v, err
}

// deferSpec is the version of incremental delivery that the server implements: the proposal of 2022-08-24.
const deferSpec = "20220824"

// boundary is the boundary of parts. It is random, because some clients search for it inside of texts too.
var boundary = rand.Text()

// Delimiters of parts (RFC 2046, §5.1.1). Each is sent with the part before it, because clients process a part when
// they receive its delimiter.
var (
	delimiter     = "\r\n--" + boundary
	lastDelimiter = delimiter + "--\r\n"
)

const partHeader = "\r\nContent-Type: application/json; charset=utf-8\r\n\r\n"

// acceptsParts reports whether a client accepts a response in parts, in the version of the server or in any version,
// and does not prefer a single response. Responses to GET are not split, so that HTTP caches can store them.
func acceptsParts(r *http.Request) bool {
	if r.Method != http.MethodPost {
		return false
	}
	single, _ := accept.Media(r.Header["Accept"], jsonMedia(r.Header))
	for e := range accept.Elements(r.Header["Accept"]) {
		if e.Quality <= 0 || e.Quality < single || !strings.EqualFold(e.Value, mediaParts) {
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

// serveParts executes an operation with deferred fragments and writes its response in parts to w. An error before the
// first part is a response with status 500, and later ones are logged. After the end of ctx it does neither. gqlgen's
// transport.MultipartMixed is not used: it polls for parts with a timer, has no write deadline, and delivers gqlgen's
// deferred fields only, which are read separately for each object.
func (s *Server) serveParts(
	ctx context.Context, w http.ResponseWriter, op *operation, split *incremental.Split, extensions map[string]any,
) {
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

// write sends the JSON of a part with its delimiters. The first call sets the headers of the response. hasNext
// reports whether more parts follow. It fails if the client has disconnected, or does not read the part within the
// write timeout.
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
