package v1

import (
	"slices"
	"strings"

	"heliograph/graph/relay"
	"heliograph/internal/domain/ledger"
	"heliograph/rest"
)

// allowanceEndpoints returns the descriptions of the endpoints of allowances and airdrops below an account that belong
// to the modern family.
func allowanceEndpoints() []rest.Endpoint {
	return []rest.Endpoint{
		{
			Path: "/accounts/{id}/allowances/nfts", Family: rest.Modern, PathParams: modernAccount("id"),
			Params:   nftAllowancesParams,
			Document: "nft_allowances.graphql", Finish: finishNftAllowances,
			Next:     []rest.Cursor{rest.EntityIDCursor("account.id"), byToken},
			NotFound: missingOwner, MaxAge: shortAge,
		},
		{
			Path: "/accounts/{id}/airdrops/outstanding", Family: rest.Modern, PathParams: modernAccount("id"),
			Params:   airdropsParams("receiver.id", "receiverIds"),
			Document: "airdrops.graphql", Finish: finishAirdrops("receiver.id", "sender"),
			Next:     []rest.Cursor{rest.EntityIDCursor("receiver.id"), byToken, bySerial},
			NotFound: missingOwner, MaxAge: shortAge,
		},
		{
			Path: "/accounts/{id}/airdrops/pending", Family: rest.Modern, PathParams: modernAccount("id"),
			Params:   airdropsParams("sender.id", "senderIds"),
			Document: "airdrops.graphql", Finish: finishAirdrops("sender.id", "receiver"),
			Next:     []rest.Cursor{rest.EntityIDCursor("sender.id"), byToken, bySerial},
			NotFound: missingOwner, MaxAge: shortAge,
		},
	}
}

// modernAccount returns the account parameter of a path. The endpoint's Finish binds it.
func modernAccount(name string) []rest.Param {
	return []rest.Param{{Name: name, Kind: rest.PathAccount}}
}

// missingOwner returns the 404 of a list of hooks, allowances or airdrops below an alias or address that no live
// account has.
func missingOwner(*rest.Request, *relay.Outcome) *rest.Problem {
	return rest.ModernNotFound("No account found for the given ID")
}

var (
	byToken  = rest.EntityIDCursor("token.id")
	bySerial = optional(rest.NumberCursor("serialnumber"))
)

// optional returns a copy of a cursor for a key that some rows lack: their value is 0, and links.next omits the
// parameter.
func optional(c rest.Cursor) rest.Cursor {
	c.Optional = true
	return c
}

// maxBounds is the maximum number of values of an id: one bound per side.
const maxBounds = 2

// boundsParam returns a parameter with an upper and a lower bound that become one filter of the document, in variable.
// listName is its name in the error for too many values, and doc its description.
func boundsParam(name, listName, variable string, kind rest.Kind, doc string) rest.Param {
	return rest.Param{
		Name: name, Doc: doc, Kind: kind, MaxValues: maxBounds, ListName: listName,
		Bind: rest.Bounds(variable),
	}
}

var nftAllowancesParams = []rest.Param{
	boundsParam("account.id", "accountIds", "filter.accountId", rest.ModernEntityID,
		"Filters by the other account of the allowance."),
	rest.Limit(),
	rest.ModernOrder(),
	{
		Name: "owner", Kind: rest.Switch,
		Doc: "True returns allowances that the account has granted, false those that it has received. Default: true.",
	},
	boundsParam("token.id", "tokenIds", "filter.tokenId", rest.ModernEntityID, "Filters by token ID."),
}

// finishNftAllowances is the Finish of GET /accounts/{id}/allowances/nfts. It rejects bounds that do not form a range
// of the list with a 400, and sets the variable owner, or spender if the client requests it, to the account of the
// path. The bounds become positions in list order; see [ledger.BoundsInOrder].
func finishNftAllowances(r *rest.Request) error {
	if err := checkBounds(r.Values("account.id"), r.Values("token.id")); err != nil {
		return err
	}
	side := "owner"
	if owner := r.Values("owner"); len(owner) > 0 && owner[0].Number == 0 {
		side = "spender"
	}
	r.Set(side, r.Values("id")[0].Text)
	r.Set("filter.bounds", string(ledger.BoundsInOrder))
	return nil
}

// checkBounds returns a 400 if the bounds on the account and the token of an allowance do not form a range, else
// nil.
func checkBounds(account, token []rest.Value) error {
	accounts, tokens := rest.LastRange(account, rest.Gte), rest.LastRange(token, rest.Gte)
	if accounts.Contradicts() {
		return rest.ModernBad("Invalid range provided for account.id")
	}
	if (tokens.HasLower || tokens.HasUpper) && !accounts.HasLower && !accounts.HasUpper {
		return rest.ModernBad("token.id parameter must have account.id present")
	}
	if err := checkOperators("account.id", account); err != nil {
		return err
	}
	if err := checkOperators("token.id", token); err != nil {
		return err
	}
	has := func(values []rest.Value, ops ...rest.Op) bool {
		return slices.ContainsFunc(values, func(v rest.Value) bool { return slices.Contains(ops, v.Op) })
	}
	switch {
	case (!accounts.HasLower || !accounts.HasUpper) && tokens.Contradicts():
		return rest.ModernBad("Invalid range provided for token.id")
	case has(token, rest.Lt, rest.Lte) && !has(account, rest.Eq, rest.Lte):
		return rest.ModernBad("Requires the presence of an lte or eq account.id parameter")
	case has(token, rest.Gt, rest.Gte) && !has(account, rest.Eq, rest.Gte):
		return rest.ModernBad("Requires the presence of an gte or eq account.id parameter")
	default:
		return nil
	}
}

// checkOperators returns a 400 if one of the operators on a parameter is ne, or if they cannot be combined, else nil.
// Permitted are one eq alone, or at most one bound on each side.
func checkOperators(name string, values []rest.Value) error {
	if slices.ContainsFunc(values, func(v rest.Value) bool { return v.Op == rest.Ne }) {
		return rest.ModernBad("Unsupported range operator ne for " + name)
	}
	counts := map[rest.Op]int{}
	for _, v := range values {
		counts[v.Op]++
	}
	for _, group := range [][]string{{"eq"}, {"gt", "gte"}, {"lt", "lte"}} {
		n := 0
		for _, op := range group {
			n += counts[rest.Op(op)]
		}
		if n > 1 {
			return rest.ModernBad("Only one range operator from [" + strings.Join(group, ", ") +
				"] is allowed for the given parameter for " + name)
		}
	}
	if counts[rest.Eq] > 0 && len(values) > 1 {
		return rest.ModernBad("Can't support both range and equal for " + name)
	}
	return nil
}

// airdropsParams returns the parameters of airdrops. primary is the parameter of the account on the other side, and
// listName its name in the error for too many values.
func airdropsParams(primary, listName string) []rest.Param {
	return []rest.Param{
		boundsParam(primary, listName, "filter.accountId", rest.ModernEntityID,
			"Filters by the other account of the airdrop."),
		boundsParam("token.id", "tokenIds", "filter.tokenId", rest.ModernEntityID, "Filters by token ID."),
		boundsParam("serialnumber", "serialNumbers", "filter.serialNumber", rest.ModernLong,
			"Filters by serial number."),
		rest.Limit(),
		rest.ModernOrder(),
	}
}

// finishAirdrops returns the Finish of an airdrop list: it rejects an empty range of accounts in the parameter primary
// with a 400, and sets the variable that side names to the path's account. The bounds become positions in list order;
// see [ledger.BoundsInOrder].
func finishAirdrops(primary, side string) func(*rest.Request) error {
	return func(r *rest.Request) error {
		if rest.LastRange(r.Values(primary), rest.Gte).Contradicts() {
			return rest.ModernBad("Invalid range provided for account.id") // for either name of the parameter
		}
		r.Set(side, r.Values("id")[0].Text)
		r.Set("filter.bounds", string(ledger.BoundsInOrder))
		return nil
	}
}
