package server

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	lru "github.com/hashicorp/golang-lru/v2"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
	"github.com/vektah/gqlparser/v2/parser"
	"github.com/vektah/gqlparser/v2/validator"
	"github.com/vektah/gqlparser/v2/validator/rules"

	"heliograph/graph/fault"
	"heliograph/graph/limits"
	"heliograph/graph/relay"
	"heliograph/graph/rowplan"
)

// entry is a document that has been parsed and checked, with what is made of it once.
type entry struct {
	doc   *ast.QueryDocument
	costs map[*ast.OperationDefinition]*limits.Cost
	ages  map[*ast.OperationDefinition]int
	// deferrals are the operations that defer something, beside the document, which defers nothing.
	deferrals map[*ast.OperationDefinition]*deferral
}

func newEntry(doc *ast.QueryDocument, pages relay.Limits) *entry {
	e := &entry{doc: doc, costs: make(map[*ast.OperationDefinition]*limits.Cost, len(doc.Operations)), ages: make(map[*ast.OperationDefinition]int, len(doc.Operations))}
	for _, op := range doc.Operations {
		e.costs[op], e.ages[op] = limits.Price(op, pages), limits.Age(op)
	}
	if defers(doc) {
		e.deferrals = deferrals(doc)
		undefer(doc)
	}
	return e
}

// weight is what a document counts for among those that are kept.
func (e *entry) weight(text string) int {
	if e.deferrals != nil {
		return splitWeight * len(text)
	}
	return len(text)
}

// cost is the cost of an operation. One of another copy of the document, which was dropped between being looked up and being run, is priced anew.
func (e *entry) cost(op *ast.OperationDefinition, pages relay.Limits) *limits.Cost {
	if c := e.costs[op]; c != nil {
		return c
	}
	return limits.Price(op, pages)
}

// age is for how long the answer to an operation may be kept, in seconds.
func (e *entry) age(op *ast.OperationDefinition) int {
	if age, ok := e.ages[op]; ok {
		return age
	}
	return limits.Age(op)
}

// documents keeps parsed documents: those of the REST side for good, those of clients while they are used, and with each its plans.
type documents struct {
	pinned map[string]*entry // written before the first request only
	recent *lru.Cache[string, *entry]
	plans  *rowplan.Plans
	pages  relay.Limits

	ids       map[string]string          // of pinned documents, written as they are
	persisted *lru.Cache[string, string] // texts of clients' documents by their ids

	mu   sync.Mutex
	size int // bytes of the recent documents
}

// mostText bounds the texts of clients' documents that are kept, in bytes; what is made of them takes about ten times as much.
const mostText = 8 << 20

func newDocuments(size int, plans *rowplan.Plans, pages relay.Limits) (*documents, error) {
	d := &documents{pinned: map[string]*entry{}, plans: plans, pages: pages, ids: map[string]string{}}
	var err error
	if d.recent, err = lru.NewWithEvict(size, d.dropped); err != nil {
		return nil, fmt.Errorf("making the document cache: %w", err)
	}
	if d.persisted, err = lru.New[string, string](size); err != nil {
		return nil, fmt.Errorf("making the cache of persisted documents: %w", err)
	}
	return d, nil
}

func (d *documents) pin(text string, doc *ast.QueryDocument) {
	d.pinned[text] = newEntry(doc, d.pages)
	d.ids[DocumentID(text)] = text
	d.plans.Keep(doc)
}

// lookup returns a document that is kept.
func (d *documents) lookup(text string) (*entry, bool) {
	if e, ok := d.pinned[text]; ok {
		return e, true
	}
	return d.recent.Get(text)
}

// Get implements gqlgen's cache interface. The executor finds every document here: [Server.document] has put it here before.
func (d *documents) Get(_ context.Context, text string) (*ast.QueryDocument, bool) {
	e, ok := d.lookup(text)
	if !ok {
		return nil, false
	}
	return e.doc, true
}

// Add implements gqlgen's cache interface, for a document that was dropped between being looked up and being run.
func (d *documents) Add(_ context.Context, text string, doc *ast.QueryDocument) { d.add(text, doc) }

func (d *documents) add(text string, doc *ast.QueryDocument) *entry {
	e := newEntry(doc, d.pages)
	d.plans.Keep(doc)
	d.mu.Lock()
	d.size += e.weight(text)
	tooMuch := d.size > mostText
	d.mu.Unlock()
	if had, ok, _ := d.recent.PeekOrAdd(text, e); ok { // somebody else was quicker
		d.dropped(text, e)
		return had
	}
	for tooMuch {
		d.recent.RemoveOldest()
		d.mu.Lock()
		tooMuch = d.size > mostText
		d.mu.Unlock()
	}
	return e
}

// dropped forgets what was made of a document that is kept no longer.
func (d *documents) dropped(text string, e *entry) {
	d.plans.Forget(e.doc)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.size -= e.weight(text)
}

// byID returns the text of a document that is kept under an id.
func (d *documents) byID(id string) (string, bool) {
	if text, ok := d.ids[id]; ok {
		return text, true
	}
	return d.persisted.Get(id)
}

// mostErrors is how many mistakes in a document are told.
const mostErrors = 20

// document returns a client's document, parsed and checked: its size before the schema is looked at, since checking against the schema takes
// time that grows faster than the document.
func (s *Server) document(text string) (*entry, gqlerror.List) {
	if e, ok := s.docs.lookup(text); ok {
		return e, nil
	}
	if s.o.OnlyTrusted {
		return nil, gqlerror.List{coded(fault.Forbidden, "this server answers only documents that it has been given; send the id of one")}
	}
	if len(text) > s.o.Bounds.Bytes {
		return nil, gqlerror.List{coded(fault.TooComplex, fmt.Sprintf("the document has more than %d bytes; long values belong into variables", s.o.Bounds.Bytes))}
	}
	doc, err := parser.ParseQueryWithTokenLimit(&ast.Source{Input: text}, s.o.Bounds.Tokens)
	if err != nil {
		return nil, gqlerror.List{s.syntaxError(err)}
	}
	if len(doc.Operations) == 0 {
		return nil, gqlerror.List{coded(fault.BadUserInput, "the document has no operation")}
	}
	if bad := s.o.Bounds.Check(doc); bad != nil {
		return nil, gqlerror.List{coded(bad.Code, bad.Message)}
	}
	errs := validator.ValidateWithRules(s.Schema(), doc, plainRules())
	if len(errs) > 0 && !s.o.SuggestionsOff && !s.o.IntrospectionOff && forPeople(errs) {
		errs = validator.ValidateWithRules(s.Schema(), doc, rules.NewDefaultRules())
	}
	if len(errs) > 0 {
		return nil, withCodes(errs[:min(len(errs), mostErrors)])
	}
	if s.o.IntrospectionOff && introspects(doc) {
		return nil, gqlerror.List{coded(fault.Forbidden, "introspection is switched off on this server")}
	}
	return s.docs.add(text, doc), nil
}

// syntaxError is what a client learns of a document that cannot be read.
func (s *Server) syntaxError(err error) *gqlerror.Error {
	var e *gqlerror.Error
	if !errors.As(err, &e) {
		return coded(fault.BadUserInput, "the document cannot be read")
	}
	if strings.HasPrefix(e.Message, "exceeded token limit") {
		return coded(fault.TooComplex, fmt.Sprintf("the document has more than %d tokens", s.o.Bounds.Tokens))
	}
	return withCodes(gqlerror.List{e})[0]
}

// forPeople tells whether mistakes are few, and short: looking for names that are similar to wrong ones takes long.
func forPeople(errs gqlerror.List) bool {
	return len(errs) <= mostErrors && !slices.ContainsFunc(errs, func(e *gqlerror.Error) bool { return len(e.Message) > longestMessage })
}

// plainRules are the rules of the specification, in the variants that suggest nothing.
func plainRules() *rules.Rules {
	r := rules.NewDefaultRules()
	for _, plain := range []struct {
		name string
		rule validator.Rule
	}{
		{rules.FieldsOnCorrectTypeRule.Name, rules.FieldsOnCorrectTypeRuleWithoutSuggestions},
		{rules.KnownArgumentNamesRule.Name, rules.KnownArgumentNamesRuleWithoutSuggestions},
		{rules.KnownTypeNamesRule.Name, rules.KnownTypeNamesRuleWithoutSuggestions},
		{rules.ScalarLeafsRule.Name, rules.ScalarLeafsRuleWithoutSuggestions},
		{rules.ValuesOfCorrectTypeRule.Name, rules.ValuesOfCorrectTypeRuleWithoutSuggestions},
	} {
		r.ReplaceRule(plain.name, plain.rule.RuleFunc)
	}
	return r
}

// introspects tells whether a document asks for the schema.
func introspects(doc *ast.QueryDocument) bool {
	var in func(ast.SelectionSet) bool
	in = func(set ast.SelectionSet) bool {
		return slices.ContainsFunc(set, func(one ast.Selection) bool {
			switch one := one.(type) {
			case *ast.Field:
				return one.Name == "__schema" || one.Name == "__type" || in(one.SelectionSet)
			case *ast.InlineFragment:
				return in(one.SelectionSet)
			default: // the fragments themselves are looked at
				return false
			}
		})
	}
	return slices.ContainsFunc(doc.Operations, func(op *ast.OperationDefinition) bool { return in(op.SelectionSet) }) ||
		slices.ContainsFunc(doc.Fragments, func(f *ast.FragmentDefinition) bool { return in(f.SelectionSet) })
}
