package server

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/gqlerror"
	"github.com/vektah/gqlparser/v2/validator/rules"

	"heliograph/graph/fault"
)

// DocumentID returns the id of a document: the SHA-256 of its text in hexadecimal.
func DocumentID(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// trust validates the trusted documents and pins them.
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

// resolveID sets the query of a request that has the id of a document: in documentId, or in extensions.persistedQuery.sha256Hash for automatic persisted
// queries. An id can end with "#" and the name of the operation. The caller calls store when the document is valid: it registers the text of an automatic
// persisted query.
//
// gqlgen's extension.AutomaticPersistedQuery is not used: it registers texts before they are validated, and has neither trusted documents nor our error codes.
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
			return nil, coded(fault.PersistedQueryNotFound, "PersistedQueryNotFound") // clients compare this text and retry with the query
		}
		if !ok {
			return nil, coded(fault.BadUserInput, fmt.Sprintf("no trusted or stored document has the documentId %q: send its text in query", id))
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
