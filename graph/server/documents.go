package server

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/99designs/gqlgen/graphql"
	"github.com/maypok86/otter/v2"
	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
	"github.com/vektah/gqlparser/v2/parser"
	"github.com/vektah/gqlparser/v2/validator"
	"github.com/vektah/gqlparser/v2/validator/rules"

	"heliograph/graph/fault"
	"heliograph/graph/incremental"
	"heliograph/graph/limits"
	"heliograph/graph/relay"
	"heliograph/graph/rowplan"
)

// entry is a validated document with what is computed from it once.
type entry struct {
	doc   *ast.QueryDocument
	costs map[*ast.OperationDefinition]*limits.Cost
	ages  map[*ast.OperationDefinition]int
	// deferred are the operations with @defer. doc itself has none.
	deferred map[*ast.OperationDefinition]*incremental.Operation
}

// newEntry returns the cache entry of a validated document with what does not depend on variables: cost, cache
// lifetime and deferred parts of each operation. It removes @defer from doc. pages limits the page sizes in the
// cost.
func newEntry(doc *ast.QueryDocument, pages relay.Limits) *entry {
	n := len(doc.Operations)
	e := &entry{
		doc: doc, costs: make(map[*ast.OperationDefinition]*limits.Cost, n),
		ages: make(map[*ast.OperationDefinition]int, n),
	}
	for _, op := range doc.Operations {
		e.costs[op], e.ages[op] = limits.Price(op, pages), limits.Age(op)
	}
	e.deferred = incremental.Extract(doc)
	return e
}

// weight returns the size of the entry in the cache in bytes: that of its text, or a multiple of it if parts are
// deferred.
func (e *entry) weight(text string) int {
	if e.deferred != nil {
		return incremental.WeightFactor * len(text)
	}
	return len(text)
}

// documents caches validated documents and their plans. Documents of the REST side and trusted documents are never
// evicted.
type documents struct {
	pinned map[string]*entry // by text; written before the first request only
	recent *otter.Cache[string, *entry]
	plans  *rowplan.Plans
	pages  relay.Limits

	ids       map[string]string            // texts of pinned documents by id
	persisted *otter.Cache[string, string] // texts of automatic persisted queries by id
}

// minWeight is what the text of a cached document counts at least, in bytes. It bounds the number of documents.
const minWeight = 8 << 10

// newDocuments returns a cache of documents of clients with texts of at most the given total length in bytes, which
// must be positive. Their plans take about ten times as much; they are removed from plans, in the background, with
// their document. The texts of persisted documents may have the same length once more, and pinned ones do not count.
func newDocuments(bytes int, plans *rowplan.Plans, pages relay.Limits) *documents {
	return &documents{
		pinned: map[string]*entry{}, plans: plans, pages: pages, ids: map[string]string{},
		recent: otter.Must(&otter.Options[string, *entry]{
			MaximumWeight: uint64(bytes),
			Weigher:       func(text string, e *entry) uint32 { return uint32(max(e.weight(text), minWeight)) },
			OnDeletion:    func(e otter.DeletionEvent[string, *entry]) { plans.Remove(e.Value.doc) },
		}),
		persisted: otter.Must(&otter.Options[string, string]{
			MaximumWeight: uint64(bytes),
			Weigher:       func(_, text string) uint32 { return uint32(max(len(text), minWeight)) },
		}),
	}
}

// pin adds a trusted or own document that is never evicted, also under its ID, and makes its plans be cached. It
// must not be called while requests are served.
func (d *documents) pin(text string, doc *ast.QueryDocument) {
	d.pinned[text] = newEntry(doc, d.pages)
	d.ids[DocumentID(text)] = text
	d.plans.Add(doc)
}

// lookup returns the entry of a validated document by its text, and false if it is not cached.
func (d *documents) lookup(text string) (*entry, bool) {
	if e, ok := d.pinned[text]; ok {
		return e, true
	}
	return d.recent.GetIfPresent(text)
}

// add caches a document of a client, unless another request has added the same text. It returns the cached entry.
func (d *documents) add(text string, doc *ast.QueryDocument) *entry {
	e := newEntry(doc, d.pages)
	d.plans.Add(doc)
	cached, added := d.recent.SetIfAbsent(text, e)
	if !added {
		d.plans.Remove(doc)
	}
	return cached
}

// byID returns the text of a trusted or persisted document by its ID, and false if it is unknown.
func (d *documents) byID(id string) (string, bool) {
	if text, ok := d.ids[id]; ok {
		return text, true
	}
	return d.persisted.GetIfPresent(id)
}

// DocumentID returns the ID of a persisted document: the SHA-256 of its text in hexadecimal.
func DocumentID(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// trust, for [New], validates the trusted documents of the options and pins them under their IDs. It fails if one is
// invalid or has no operation.
func (s *Server) trust() error {
	for _, id := range slices.Sorted(maps.Keys(s.o.Trusted)) { // sorted, so that the same error is reported each time
		text := s.o.Trusted[id]
		doc, errs := gqlparser.LoadQueryWithRules(s.Schema(), text, rules.NewDefaultRules())
		if errs != nil {
			return fmt.Errorf("checking the trusted document %q: %w", id, errs)
		}
		if len(doc.Operations) == 0 {
			return fmt.Errorf("the trusted document %q has no operation", id)
		}
		s.docs.pin(text, doc)
		s.docs.ids[id] = text
	}
	return nil
}

// resolveID sets the query of a request that has the id of a document: in documentId, or in
// extensions.persistedQuery.sha256Hash for automatic persisted queries. An id can end with "#" and the name of the
// operation, which it sets in p unless p has one. If the id is unknown or does not match the query, it returns the
// error and no store. The caller calls store when the document is valid: it registers the text of an automatic
// persisted query. If the request also has a query, that is executed, and sha256Hash must be its hash.
//
// gqlgen's extension.AutomaticPersistedQuery is not used: it registers texts before they are validated, and has
// neither trusted documents nor our error codes.
func (s *Server) resolveID(p *graphql.RawParams, documentID string) (store func(), failed *gqlerror.Error) {
	store = func() {}
	id, automatic := strings.TrimPrefix(documentID, "sha256:"), false
	if ext, ok := p.Extensions["persistedQuery"].(map[string]any); ok && id == "" {
		if id, automatic = ext["sha256Hash"].(string); !automatic {
			return nil, coded(fault.BadUserInput, "extensions.persistedQuery.sha256Hash must be a string")
		}
	}
	switch {
	case id == "":
		return store, nil
	case p.Query == "":
		text, ok := s.docs.byID(id)
		if name, operation, found := strings.Cut(id, "#"); !ok && found {
			text, ok = s.docs.byID(name)
			p.OperationName = cmp.Or(p.OperationName, operation)
		}
		if !ok && automatic && !s.o.OnlyTrusted {
			// clients compare this text and retry with the query
			return nil, coded(fault.PersistedQueryNotFound, "PersistedQueryNotFound")
		}
		if !ok {
			return nil,
				coded(fault.BadUserInput,
					fmt.Sprintf("no trusted or stored document has the documentId %q: send its text, if it is "+
						"permitted", id))
		}
		p.Query = text
		return store, nil
	case automatic && DocumentID(p.Query) != id:
		return nil, coded(fault.BadUserInput, "extensions.persistedQuery.sha256Hash is not the SHA-256 of the query")
	case automatic && !s.o.OnlyTrusted:
		text := p.Query
		return func() { s.docs.persisted.Set(id, text) }, nil
	default:
		return store, nil
	}
}

// maxErrors is the maximum number of validation errors in a response.
const maxErrors = 20

// document returns the validated document with the given text, from the cache or after checks, or the errors for the
// client: BAD_USER_INPUT, QUERY_TOO_COMPLEX or FORBIDDEN. It checks the size of the document before it validates the
// document against the schema, because validation takes more than linear time. It caches a valid document, and rejects
// unknown ones if only trusted documents are permitted.
func (s *Server) document(text string) (*entry, gqlerror.List) {
	if e, ok := s.docs.lookup(text); ok {
		return e, nil
	}
	if s.o.OnlyTrusted {
		return nil,
			oneError(fault.Forbidden, "this server executes trusted documents only; send the id of one")
	}
	if len(text) > s.o.Bounds.Bytes {
		return nil,
			oneError(fault.TooComplex,
				fmt.Sprintf("the document is longer than %d bytes; send long values as variables", s.o.Bounds.Bytes))
	}
	doc, err := parser.ParseQueryWithTokenLimit(&ast.Source{Input: text}, s.o.Bounds.Tokens)
	if err != nil {
		return nil, gqlerror.List{s.syntaxError(err)}
	}
	if len(doc.Operations) == 0 {
		return nil, oneError(fault.BadUserInput, "the document has no operation")
	}
	if exceeded := s.o.Bounds.Check(doc); exceeded != nil {
		return nil, oneError(exceeded.Code, exceeded.Message)
	}
	errs := validator.ValidateWithRules(s.Schema(), doc, rulesWithoutSuggestions())
	if len(errs) > 0 && !s.o.SuggestionsOff && !s.o.IntrospectionOff && canSuggest(errs) {
		errs = validator.ValidateWithRules(s.Schema(), doc, rules.NewDefaultRules())
	}
	if len(errs) == 0 {
		errs = checkNumbers(s.Schema(), doc)
	}
	if len(errs) > 0 {
		return nil, badInput(errs[:min(len(errs), maxErrors)])
	}
	if s.o.IntrospectionOff && slices.ContainsFunc(doc.Operations, func(op *ast.OperationDefinition) bool {
		return limits.Selects(op.SelectionSet, func(f *ast.Field) bool {
			return f.Name == "__schema" || f.Name == "__type"
		})
	}) {
		return nil, oneError(fault.Forbidden, "introspection is disabled on this server")
	}
	return s.docs.add(text, doc), nil
}

// syntaxError returns the error for clients of a document that cannot be parsed (BAD_USER_INPUT) or has too many
// tokens (QUERY_TOO_COMPLEX).
func (s *Server) syntaxError(err error) *gqlerror.Error {
	var e *gqlerror.Error
	if !errors.As(err, &e) {
		return coded(fault.BadUserInput, "the document cannot be parsed")
	}
	if strings.HasPrefix(e.Message, "exceeded token limit") {
		return coded(fault.TooComplex, fmt.Sprintf("the document has more than %d tokens", s.o.Bounds.Tokens))
	}
	return badInput(gqlerror.List{e})[0]
}

// canSuggest reports whether validation errors are few and short. Computing suggestions for many or long names
// takes too long.
func canSuggest(errs gqlerror.List) bool {
	return len(errs) <= maxErrors && !slices.ContainsFunc(errs, func(e *gqlerror.Error) bool {
		return len(e.Message) > maxMessage
	})
}

// rulesWithoutSuggestions returns a new set of the validation rules of the specification, in variants that compute no
// suggestions.
func rulesWithoutSuggestions() *rules.Rules {
	r := rules.NewDefaultRules()
	for _, rule := range []validator.Rule{
		rules.FieldsOnCorrectTypeRuleWithoutSuggestions, rules.KnownArgumentNamesRuleWithoutSuggestions,
		rules.KnownTypeNamesRuleWithoutSuggestions, rules.ScalarLeafsRuleWithoutSuggestions,
		rules.ValuesOfCorrectTypeRuleWithoutSuggestions,
	} {
		r.ReplaceRule(strings.TrimSuffix(rule.Name, "WithoutSuggestions"), rule.RuleFunc)
	}
	return r
}

// onlyIntrospects reports whether the response to an operation depends on the schema only. It returns false for
// operations with variables or with fragments at the root.
func onlyIntrospects(op *ast.OperationDefinition) bool {
	return len(op.VariableDefinitions) == 0 &&
		!slices.ContainsFunc(op.SelectionSet, func(selection ast.Selection) bool {
			f, ok := selection.(*ast.Field)
			return !ok || !strings.HasPrefix(f.Name, "__")
		})
}
