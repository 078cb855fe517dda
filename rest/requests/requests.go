// Package requests generates requests that cover the endpoints of a REST API: each path, parameter, operator and kind
// of error. Their values are from the responses of a service, so they select rows of its database.
package requests

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"heliograph/rest"
)

// Request is a GET request.
type Request struct {
	// Path is the path with its query string.
	Path string
	// Pages is the maximum number of pages to request: the first one, and those that follow through links.next.
	Pages int
}

// Get returns the status and the body of a path with its query string.
type Get func(ctx context.Context, path string) (status int, body []byte, err error)

// Most is the usual maximum number of generated requests.
const Most = 3000

// Pages is the number of pages that generated requests of lists follow.
const Pages = 3

const (
	maxCandidates = 40 // values that are tried for a path parameter
	maxPaths      = 2  // paths of an endpoint with the same kind of value
)

// Generate returns at most most requests for the documented GET endpoints of an API. Those of following pages count
// too, unless most is too small for the paths and lists alone. get reads values from the service; it is called several
// hundred times. The same responses give the same requests. If there are more than most, queries are omitted. The
// first error of get ends the reading, and the requests that are returned with it are incomplete.
func Generate(ctx context.Context, api *rest.API, get Get, most int) ([]Request, error) {
	g := &generator{
		ctx: ctx, api: api, get: get, bodies: map[string]*body{}, paths: map[string][]string{},
		seen: map[string]bool{},
	}
	for i := range api.Endpoints {
		if e := &api.Endpoints[i]; e.Body == nil && !e.Undocumented {
			g.endpoint(e)
		}
	}
	g.add("/unknown", 1)
	return g.selected(most), g.err
}

// body is the response to a request for values. The value of a failed request is nil.
type body struct {
	size  int
	value any
}

type generator struct {
	ctx    context.Context // of the call of Generate
	api    *rest.API
	get    Get
	bodies map[string]*body
	order  []*body             // in the order of the requests
	paths  map[string][]string // paths with values, by the endpoint's path
	all    []Request
	seen   map[string]bool
	err    error
}

// selected returns at most most requests, where those of following pages count too. It omits queries with a single
// page first: those with the smallest hashes, so that a new endpoint replaces as few requests of others as possible.
// If that is not enough, it omits any, and following pages do not count. It removes requests from g.all in place, so
// call it once.
func (g *generator) selected(most int) []Request {
	total := 0
	var queries, all []string
	for _, r := range g.all {
		total += r.Pages
		all = append(all, r.Path)
		if r.Pages == 1 && strings.Contains(r.Path, "?") {
			queries = append(queries, r.Path)
		}
	}
	excess := max(total-most, 0)
	if excess > len(queries) { // most is so small that any request is omitted
		queries, excess = all, len(all)-min(most, len(all))
	}
	slices.SortFunc(queries, func(a, b string) int {
		x, y := sha256.Sum256([]byte(a)), sha256.Sum256([]byte(b))
		return bytes.Compare(x[:], y[:])
	})
	return slices.DeleteFunc(g.all, func(r Request) bool { return slices.Contains(queries[:excess], r.Path) })
}

// add adds a request to g.all, unless it was added before. The path is relative to the API's prefix. pages is the
// number of pages to request.
func (g *generator) add(path string, pages int) {
	if !g.seen[path] {
		g.seen[path] = true
		g.all = append(g.all, Request{g.api.Prefix + path, pages})
	}
}

// read returns the body of a path, which it requests once with g.get. The body of a response with another status than
// 200, or without JSON, is empty. An error is recorded in g.err and ends the generation: read then returns empty
// bodies.
func (g *generator) read(path string) *body {
	if b, ok := g.bodies[path]; ok {
		return b
	}
	b := &body{}
	g.bodies[path], g.order = b, append(g.order, b)
	if g.err != nil {
		return b
	}
	status, text, err := g.get(g.ctx, g.api.Prefix+path)
	if err != nil {
		g.err = fmt.Errorf("reading values for requests: %w", err)
		return b
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if status == http.StatusOK && d.Decode(&b.value) == nil {
		b.size = len(text)
	}
	return b
}

// source describes where values of a path parameter are: in members of the items of a list.
type source struct {
	// list is the path of the list. By default it is the path before the parameter.
	list string
	// members are the names of members, separated by spaces. The first one is used for the paths below.
	members string
}

// sources are the sources of path parameters by the path before the parameter, in which * is another parameter.
var sources = map[string]source{
	"/accounts":            {"/accounts?limit=100", "account evm_address alias"},
	"/accounts/*/hooks":    {"", "hook_id"},
	"/blocks":              {"", "number hash"},
	"/contracts":           {"", "contract_id evm_address"},
	"/contracts/*/results": {"", "timestamp"},
	"/contracts/results":   {"", "hash"},
	"/schedules":           {"", "schedule_id"},
	"/tokens":              {"/tokens?limit=100", "token_id"},
	"/tokens/*/nfts":       {"", "serial_number"},
	"/topics":              {"/transactions?transactiontype=CONSENSUSSUBMITMESSAGE&limit=100", "entity_id"},
	"/topics/*/messages":   {"", "sequence_number"},
	"/topics/messages":     {"/topics/{id}/messages", "consensus_timestamp"},
	"/transactions":        {"", "transaction_id transaction_hash"},
}

var parameterSyntax = regexp.MustCompile(`{[^}]*}`)

// fill returns paths of an endpoint with values for its parameters, which it reads from the service. Those with the
// largest responses are first. If the service has no values, it returns a single path with 1 for each parameter. It
// keeps the paths in g.paths. An error of the service is kept in g.err; see [generator.read].
func (g *generator) fill(pattern string) []string {
	at := strings.LastIndex(pattern, "/{")
	if at < 0 {
		return []string{pattern}
	}
	if known, ok := g.paths[pattern]; ok {
		return known
	}
	before, after := pattern[:at], pattern[at+strings.IndexByte(pattern[at:], '}')+1:]
	from := sources[parameterSyntax.ReplaceAllString(before, "*")]
	var best, forms []string
	for _, prefix := range g.fill(before) {
		list := prefix
		if from.list != "" {
			list = g.fill(from.list)[0]
		}
		for i, member := range strings.Fields(from.members) {
			values := collect(g.read(list).value, member, nil)
			if i > 0 {
				values = values[:min(len(values), 1)]
			}
			tried := maxCandidates
			if strings.HasSuffix(after, "/opcodes") { // traces are slow, and services limit their rate
				tried = maxPaths
			}
			for _, v := range spread(values, tried) {
				path := prefix + "/" + url.PathEscape(v) + after
				if i == 0 {
					best = append(best, path)
				} else {
					forms = append(forms, path)
				}
			}
		}
	}
	slices.SortStableFunc(best, func(a, b string) int { return g.read(b).size - g.read(a).size })
	found := slices.Concat(best[:min(len(best), maxPaths)], forms)
	if found == nil { // the database has no such object
		found = []string{parameterSyntax.ReplaceAllString(pattern, "1")}
	}
	g.paths[pattern] = found
	return found
}

// collect appends the distinct texts and numbers of members with the given name, and of lists with this name, at any
// depth of v, a decoded JSON response, to found: they become values of parameters in generated requests. Empty texts
// and "0x" are left out. Members of an object are visited in the order of their names.
func collect(v any, name string, found []string) []string {
	scalar := func(v any) {
		text := ""
		switch v := v.(type) {
		case string:
			text = v
		case json.Number:
			text = v.String()
		}
		if text != "" && text != "0x" && !slices.Contains(found, text) {
			found = append(found, text)
		}
	}
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			found = collect(item, name, found)
		}
	case map[string]any:
		for _, member := range slices.Sorted(maps.Keys(v)) {
			if member == name {
				scalar(v[member])
				if list, ok := v[member].([]any); ok {
					for _, item := range list {
						scalar(item)
					}
				}
			}
			found = collect(v[member], name, found)
		}
	}
	return found
}

// spread returns at most n elements of a list, the values of a path parameter to try, evenly distributed. It returns
// list itself if that has no more.
func spread(list []string, n int) []string {
	if len(list) <= n {
		return list
	}
	var out []string
	for i := range n {
		out = append(out, list[i*len(list)/n])
	}
	return out
}

// endpoint adds requests of an endpoint to g: each path, both orders with pages, each parameter with its values
// and operators, neighbouring parameters together, and errors. It reads responses from the service to take values
// from.
func (g *generator) endpoint(e *rest.Endpoint) {
	paths := g.fill(e.Path)
	for _, path := range paths {
		g.add(path, 1)
	}
	base := paths[0]
	if len(e.Next) > 0 {
		other := "desc"
		if e.Desc {
			other = "asc"
		}
		g.add(base+"?limit=2", Pages)
		g.add(base+"?limit=2&order="+other, Pages)
	}
	g.add(base+"?unknown=1", 1)
	g.pathErrors(e.Path, base)
	own := g.read(base).value
	var queries []string // one valid query per parameter
	for i := range e.Params {
		p := &e.Params[i]
		form, ops, _ := e.ValuesOf(p)
		values := g.values(own, p.Name, form)
		for _, query := range variants(p.Name, values, form, ops) {
			g.add(base+"?"+query, 1)
		}
		queries = append(queries, p.Name+"="+url.QueryEscape(values[0]))
	}
	for i := 1; i < len(queries); i++ {
		g.add(base+"?"+queries[i-1]+"&"+queries[i], 1)
	}
}

// pathErrors adds requests to g with other spellings of IDs, IDs of missing objects, and invalid values of each path
// parameter. base is a path of the pattern with valid values.
func (g *generator) pathErrors(pattern, base string) {
	segments := strings.Split(base, "/")
	for i, s := range strings.Split(pattern, "/") {
		if !strings.HasPrefix(s, "{") {
			continue
		}
		for _, v := range append(spellings(segments[i]), "0.0.999999999", "x", "99999999999999999999", "%00") {
			changed := slices.Clone(segments)
			changed[i] = v
			g.add(strings.Join(changed, "/"), 1)
		}
	}
}

// spellings returns other spellings of an entity ID and the same number in another shard, or nil for other values.
func spellings(id string) []string {
	num, ok := strings.CutPrefix(id, "0.0.")
	n, err := strconv.ParseInt(num, 10, 64)
	if !ok || err != nil {
		return nil
	}
	return []string{num, "0." + num, "9.0." + num, fmt.Sprintf("0x%040x", n)}
}

// members are the names of members with values of a query parameter, separated by spaces, best first. Other parameters
// are named like their members, with an underscore in place of the point.
var members = map[string]string{
	"account.id":        "account account_id owner creator_account_id payer_account_id",
	"account.balance":   "balance",
	"account.publickey": "key",
	"block.hash":        "block_hash hash",
	"block.number":      "number block_number",
	"publickey":         "key",
	"registerednode.id": "registered_node_id",
	"sequencenumber":    "sequence_number",
	"serialnumber":      "serial_number",
	"spender.id":        "spender spender_id",
	"timestamp":         "consensus_timestamp timestamp created_timestamp from",
	"topic0":            "topics",
	"topic1":            "topics",
	"topic2":            "topics",
	"topic3":            "topics",
	"transaction.hash":  "hash",
	"transactiontype":   "name",
}

// values returns values of a parameter, at least one: the words of its form, or else those in own, the decoded
// response of the endpoint, or else those of another response that was read, or else 1. The first one is from the
// middle of the response, so that both less and more select rows. The words must not be changed.
func (g *generator) values(own any, name string, form *rest.Kind) []string {
	if form.Enum != nil {
		return form.Enum
	}
	names := strings.Fields(cmp.Or(members[name], strings.ReplaceAll(name, ".", "_")))
	all := []any{own}
	for _, b := range g.order {
		all = append(all, b.value)
	}
	for _, v := range all {
		for _, n := range names {
			if found := collect(v, n, nil); found != nil {
				return slices.Concat(found[len(found)/2:], found[:len(found)/2])
			}
		}
	}
	return []string{"1"}
}

// variants returns queries with one parameter, from at least one value: each operator and one that is not supported,
// words, spellings, repetitions, ranges and errors. ops are the operators that it supports.
func variants(name string, values []string, form *rest.Kind, ops []rest.Op) []string {
	var out []string
	add := func(texts ...string) {
		for i, t := range texts {
			texts[i] = name + "=" + t
		}
		out = append(out, strings.Join(texts, "&"))
	}
	first, second := url.QueryEscape(values[0]), url.QueryEscape(values[len(values)-1])
	invalid := []string{"", "x", "is:" + first}
	switch {
	case form.Enum != nil:
		for _, word := range form.Enum {
			add(url.QueryEscape(word))
		}
		add(strings.ToUpper(first))
	case form.Max > 0:
		add(first)
		invalid = append(invalid, "-1", "0", "99999999999999999999")
	default:
		add(first)
		invalid = append(invalid, "-1", "99999999999999999999", "9999999999", "%00", "%20"+first)
	}
	unsupported := false
	for _, op := range rest.Operators() {
		if supported := slices.Contains(ops, op); supported || !unsupported {
			add(string(op) + ":" + first)
			unsupported = unsupported || !supported
		}
	}
	for _, s := range spellings(first) {
		add(s)
	}
	add(first, second)
	if slices.Contains(ops, rest.Lte) {
		add("gte:"+first, "lte:"+second)
		add("gt:"+second, "lt:"+first)
	}
	for _, text := range invalid {
		add(text)
	}
	return out
}

// Before returns a path with a further parameter that restricts it to rows with a consensus timestamp of at most at,
// such as 1700000000.000000001. ok is false if its endpoint does not support this.
func Before(api *rest.API, path, at string) (bounded string, ok bool) {
	r, err := http.NewRequest(http.MethodGet, path, http.NoBody) //nolint:noctx // only its path is used
	if err != nil {
		return "", false
	}
	pattern := api.Pattern(r)
	for i := range api.Endpoints {
		e := &api.Endpoints[i]
		if e.Body != nil || api.Prefix+e.Path != pattern {
			continue
		}
		for j := range e.Params {
			if _, ops, _ := e.ValuesOf(&e.Params[j]); e.Params[j].Name == "timestamp" &&
				slices.Contains(ops, rest.Lte) {
				separator := "?"
				if r.URL.RawQuery != "" {
					separator = "&"
				}
				return path + separator + "timestamp=lte:" + at, true
			}
		}
	}
	return "", false
}
