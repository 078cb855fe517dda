package statuspages

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/99designs/gqlgen/graphql"

	"heliograph/graph/fault"
	"heliograph/graph/relay"
	"heliograph/internal/base/list"
	"heliograph/internal/domain/status"
	"heliograph/storage/statuspages"
)

// bearer returns the token in the header Authorization of the context's request, or an empty string. Documents
// that run in process have no token.
func bearer(ctx context.Context) string {
	if !graphql.HasOperationContext(ctx) {
		return ""
	}
	scheme, token, _ := strings.Cut(graphql.GetOperationContext(ctx).Headers.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return strings.TrimSpace(token)
}

// operator authenticates the sender of the context's request by its token, and records the use of a stored token in
// the database, also if its role does not suffice. It fails with UNAUTHENTICATED if there is no valid token or no
// database of status pages, and with FORBIDDEN if the sender does not have the needed role.
func (r *Resolver) operator(ctx context.Context, needed status.Role) (*status.Token, error) {
	text := bearer(ctx)
	if text == "" || r.db == nil {
		return nil, &fault.Error{
			Code:    fault.Unauthenticated,
			Message: "an operator token is required: Authorization: Bearer …",
		}
	}
	stored, err := r.db.Tokens(ctx, r.now())
	if err != nil {
		return nil, err
	}
	t := status.FindToken(append(stored, r.tokens...), text)
	if t == nil {
		return nil, &fault.Error{Code: fault.Unauthenticated, Message: "the token is unknown, revoked or expired"}
	}
	if t.ID != 0 {
		if err := r.db.RecordTokenUse(ctx, t.ID, r.now()); err != nil {
			return nil, err
		}
	}
	if !t.Role.May(needed) {
		return nil, &fault.Error{
			Code:    fault.Forbidden,
			Message: "the role " + string(needed) + " is required, but the token has the role " + string(t.Role),
		}
	}
	return t, nil
}

// author authenticates the sender of a mutation and returns it for the audit log. If key is not nil, the result also
// has this idempotency key and a hash of the arguments of the mutation in ctx, so that another input with the same key
// is rejected. It fails with UNAUTHENTICATED without a valid token and with FORBIDDEN without the needed role, and
// records the use of a stored token; see [Resolver.operator]. It does not check whether the token permits the page,
// which the write does.
func (r *Resolver) author(ctx context.Context, needed status.Role, key *string) (statuspages.Author, error) {
	t, err := r.operator(ctx, needed)
	if err != nil {
		return statuspages.Author{}, err
	}
	by := statuspages.Author{Name: t.Name, Page: t.PageCode.V}
	if key != nil {
		by.Key = *key
		input, err := json.Marshal(graphql.GetFieldContext(ctx).Args)
		if err != nil {
			return statuspages.Author{}, fmt.Errorf("encoding the input of a mutation: %w", err)
		}
		hash := sha256.Sum256(input)
		by.Content = hash[:]
	}
	return by, nil
}

// codeOf returns the code of an object from its code or global id. It reads nothing, and fails with BAD_USER_INPUT
// for the id of another type than types and for invalid texts.
func codeOf(id string, types ...string) (string, error) {
	typ, name, err := relay.ParseID(id)
	switch {
	case err != nil:
	case slices.Contains(types, typ):
		return name, nil
	case graphName(typ): // a code can decode as a global id, but with an invalid type name
		return "", fault.Input("%q is the id of a %s", id, typ)
	}
	if !status.ValidCode(id) {
		return "", fault.Input("%q is not a valid id", id)
	}
	return id, nil
}

// graphName reports whether a text can be the name of a type in a global id, for [codeOf]: letters only, and more than
// two.
func graphName(s string) bool {
	return len(s) > 2 && strings.Trim(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz") == ""
}

// pageToEdit reads the page with a short name, or the default page. It fails with NOT_FOUND if it does not exist,
// and does not check permissions.
func (r *Resolver) pageToEdit(ctx context.Context, slug *string) (*status.Page, error) {
	p, err := r.Page(ctx, slug)
	switch {
	case err != nil:
		return nil, err
	case p == nil && slug != nil:
		return nil, fault.Missing("status page %q does not exist", *slug)
	case p == nil:
		return nil, fault.Missing("there is no status page: create one with heliograph status init")
	}
	return p, nil
}

// Classify converts the error of a rejected write to one that clients may see. It returns nil for other errors.
func Classify(err error) *fault.Error {
	var transition *status.TransitionError
	var rejected *status.Error
	var unwritable *statuspages.Unwritable
	switch {
	case errors.As(err, &transition):
		allowed := list.Map(transition.Allowed, func(s status.State) string { return strings.ToUpper(string(s)) })
		return &fault.Error{Code: fault.BadState, Message: transition.Error(), Extra: map[string]any{
			"from": strings.ToUpper(string(transition.From)), "to": strings.ToUpper(string(transition.To)),
			"allowed": allowed,
		}}
	case errors.As(err, &rejected):
		code := map[status.Reason]fault.Code{
			status.BadInput: fault.BadUserInput, status.BadState: fault.BadState, status.Conflict: fault.Conflict,
			status.NotFound: fault.NotFound,
		}[rejected.Reason]
		return &fault.Error{Code: code, Message: rejected.Text}
	case errors.As(err, &unwritable):
		return &fault.Error{Code: fault.Unavailable, Message: unwritable.Text}
	default:
		return nil
	}
}
