package server

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/gqlerror"
	"github.com/vektah/gqlparser/v2/validator/rules"

	"heliograph/graph/fault"
)

// DocumentID is the id under which a document may be asked for: its SHA-256 as hex.
func DocumentID(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// trust keeps the documents of o.Trusted for good.
func (s *Server) trust() error {
	ids := make([]string, 0, len(s.o.Trusted))
	for id := range s.o.Trusted {
		ids = append(ids, id)
	}
	slices.Sort(ids) // the first mistake is the same every time
	for _, id := range ids {
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

// resolve finds the text of a document that a request names by its id, and keeps the id of one that it gives with the text, once that has turned out to be
// good: keep is called then. Ids come as in automatic persisted queries, extensions.persistedQuery.sha256Hash, or as documentId.
func (s *Server) resolve(p *graphql.RawParams, documentID string) (keep func(), bad *gqlerror.Error) {
	keep = func() {}
	id, automatic := strings.TrimPrefix(documentID, "sha256:"), false
	if ext, ok := p.Extensions["persistedQuery"].(map[string]any); ok && id == "" {
		if id, automatic = ext["sha256Hash"].(string); !automatic {
			return nil, coded(fault.BadUserInput, "extensions.persistedQuery.sha256Hash must be a string")
		}
	}
	switch {
	case id == "":
		return keep, nil
	case p.Query == "":
		text, ok := s.docs.byID(id)
		if !ok && automatic && !s.o.OnlyTrusted {
			return nil, coded(fault.PersistedQueryNotFound, "PersistedQueryNotFound") // clients wait for just this text, and send the document
		}
		if !ok {
			return nil, coded(fault.BadUserInput, "there is no document with this id")
		}
		p.Query = text
		return keep, nil
	case automatic && DocumentID(p.Query) != id:
		return nil, coded(fault.BadUserInput, "extensions.persistedQuery.sha256Hash is not the SHA-256 of the query")
	case automatic && !s.o.OnlyTrusted:
		text := p.Query
		return func() { s.docs.persisted.Add(id, text) }, nil
	default:
		return keep, nil
	}
}

// statusOf is the status of an answer without data.
func statusOf(media string) int {
	if media == mediaGraphQL {
		return http.StatusBadRequest
	}
	return http.StatusOK
}
