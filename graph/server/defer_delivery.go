package server

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"heliograph/graph/rowplan"
	"heliograph/internal/base/values"
)

// mostAtOnce is how many deferred fragments of one operation are executed at a time.
const mostAtOnce = 4

// delivery is an answer on its way to a client, part by part.
type delivery struct {
	server *Server
	oc     *graphql.OperationContext
	split  *split
	memo   memo
	send   sendPart

	ctx     context.Context //nolint:containedctx // of this one answer
	running sync.WaitGroup
	turns   chan struct{}
	ended   chan ended
	waiting int
	// base are the places of the groups that have begun, and found those of the ones that have been answered.
	base, found []*places
}

// sendPart sends the JSON of a part; more tells whether others follow.
type sendPart func(more bool, json ...[]byte) error

// ended is a group that has been executed. Without a response its time has ended before it began.
type ended struct {
	group    int
	response *graphql.Response
}

// payload is what one object gets of a deferred fragment.
type payload struct {
	path   ast.Path
	data   []byte // nil for null
	errors gqlerror.List
}

// deliver executes an operation and sends its answer in parts: at first what is not deferred, with the extensions, then each deferred fragment when it
// is there, in the form of 2022-08-24. An error of send ends the delivery. The context's end makes errors of what has not come yet.
func (s *Server) deliver(ctx context.Context, op *operation, sp *split, extensions map[string]any, send sendPart) error {
	ctx, cancel := context.WithCancel(values.Context(ctx, rowplan.NewPartsStore().Value()))
	d := &delivery{
		server: s, oc: op.oc, split: sp, memo: memo{values: map[string]outcome{}}, send: send, ctx: ctx, turns: make(chan struct{}, mostAtOnce),
		ended: make(chan ended, len(sp.groups)), base: make([]*places, len(sp.groups)), found: make([]*places, len(sp.groups)),
	}
	defer d.running.Wait()
	defer cancel()
	resp := d.execute(sp.first)
	if resp == nil {
		return fmt.Errorf("executing what is not deferred: %w", ctx.Err())
	}
	resp.Extensions = extensions
	ready, err := d.ready(whole, &places{object: orNull(resp.Data)})
	if err != nil {
		return err
	}
	tail, err := tailOf(resp)
	if err != nil {
		return err
	}
	if err := send(len(ready) > 0, []byte(dataMember), orNull(resp.Data), tail[:len(tail)-1], hasNext(len(ready) > 0)); err != nil {
		return err
	}
	d.begin(ready)
	for d.waiting > 0 {
		e := <-d.ended
		d.waiting--
		if err := d.end(e); err != nil {
			return err
		}
	}
	return nil
}

// orNull is the JSON of data.
func orNull(data []byte) []byte {
	if data == nil {
		return []byte("null")
	}
	return data
}

// hasNext is the end of a part.
func hasNext(more bool) []byte { return fmt.Appendf(nil, `,"hasNext":%t}`, more) }

// execute runs a part of the operation.
func (d *delivery) execute(op *ast.OperationDefinition) *graphql.Response {
	of := d.oc
	doc := of.Doc
	if !d.split.kept { // nor are plans for it, which are kept with documents
		once := *doc
		doc = &once
	}
	oc := &graphql.OperationContext{
		RawQuery: of.RawQuery, Variables: of.Variables, OperationName: of.OperationName, Doc: doc, Extensions: of.Extensions, Headers: of.Headers, Operation: op,
		DisableIntrospection: of.DisableIntrospection, RecoverFunc: of.RecoverFunc, RootResolverMiddleware: of.RootResolverMiddleware, Stats: of.Stats,
		ResolverMiddleware: d.memo.around(of.ResolverMiddleware),
	}
	next, ctx := d.server.exec.DispatchOperation(d.ctx, oc)
	return next(ctx)
}

// ready are the groups directly within another whose objects are there, of which found are the places.
func (d *delivery) ready(within int, found *places) ([]int, error) {
	var ready []int
	for i, g := range d.split.groups {
		if g.within != within {
			continue
		}
		var err error
		if d.base[i], err = found.on(g.route[g.from:]); err != nil {
			return nil, err
		}
		if d.base[i].any() {
			ready = append(ready, i)
		}
	}
	return ready, nil
}

// begin starts to execute groups.
func (d *delivery) begin(groups []int) {
	for _, i := range groups {
		d.waiting++
		d.running.Go(func() {
			e := ended{group: i}
			defer func() {
				if p := recover(); p != nil {
					e.response = &graphql.Response{Errors: gqlerror.List{d.server.presenter(d.ctx, recovered(d.ctx, p))}}
				}
				d.ended <- e
			}()
			d.turns <- struct{}{}
			defer func() { <-d.turns }()
			e.response = d.execute(d.split.groups[i].operation)
		})
	}
}

// end sends what has come of a group, and starts the groups in it.
func (d *delivery) end(e ended) error {
	g, resp := d.split.groups[e.group], e.response
	if resp == nil {
		resp = &graphql.Response{Errors: gqlerror.List{d.server.presenter(d.ctx, context.Cause(d.ctx))}}
	}
	got, err := placesOf(orNull(resp.Data), g.route)
	if err != nil {
		return err
	}
	var payloads []payload
	d.found[e.group] = d.base[e.group].match(got, nil, func(path ast.Path, data []byte) { payloads = append(payloads, payload{path: path, data: data}) })
	ready, err := d.ready(e.group, d.found[e.group])
	if err != nil {
		return err
	}
	if len(payloads) > 0 || d.waiting+len(ready) == 0 {
		tell(payloads, resp.Errors)
		more := d.waiting+len(ready) > 0
		part, err := d.part(g, payloads, more)
		if err != nil {
			return err
		}
		if err := d.send(more, part); err != nil {
			return err
		}
	}
	d.begin(ready)
	return nil
}

// tell gives each error to the object that it belongs to. One from further up, which has made nulls of them, goes to the first of those. Others are of objects
// that the client has not got.
func tell(payloads []payload, errs gqlerror.List) {
	for _, e := range errs {
		at := slices.IndexFunc(payloads, func(p payload) bool { return leadsTo(p.path, e.Path) })
		if at < 0 {
			if at = slices.IndexFunc(payloads, func(p payload) bool { return p.data == nil && leadsTo(e.Path, p.path) }); at < 0 {
				continue
			}
			e.Path = payloads[at].path
		}
		payloads[at].errors = append(payloads[at].errors, e)
	}
}

// leadsTo tells whether a path is the beginning of another.
func leadsTo(path, to ast.Path) bool {
	return len(path) <= len(to) && slices.Equal(path, to[:len(path)])
}

// part is the JSON of what has come of a group.
func (d *delivery) part(g *group, payloads []payload, more bool) ([]byte, error) {
	if len(payloads) == 0 {
		return fmt.Appendf(nil, `{"hasNext":%t}`, more), nil
	}
	out := []byte(`{"incremental":[`)
	for i, p := range payloads {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(append(out, dataMember...), orNull(p.data)...)
		for _, member := range []struct {
			name string
			v    any
			on   bool
		}{{"path", append(ast.Path{}, p.path...), true}, {"label", d.label(g), d.label(g) != ""}, {"errors", p.errors, len(p.errors) > 0}} {
			if !member.on {
				continue
			}
			b, err := json.Marshal(member.v)
			if err != nil {
				return nil, fmt.Errorf("writing %s: %w", member.name, err)
			}
			out = append(fmt.Appendf(out, `,%q:`, member.name), b...)
		}
		out = append(out, '}')
	}
	return append(append(out, ']'), hasNext(more)...), nil
}

// label is what the client calls a group.
func (d *delivery) label(g *group) string {
	if g.label == nil {
		return ""
	}
	v, err := g.label.Value(d.oc.Variables)
	if err != nil {
		return ""
	}
	text, _ := v.(string)
	return text
}
