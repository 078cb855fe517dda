package v1

import (
	"heliograph/graph/relay"
	"heliograph/internal/domain/ledger"
	"heliograph/rest"
)

// bySpender is the sort key of hbar allowances.
var bySpender = []rest.Cursor{rest.EntityIDCursor("spender.id")}

// The sort keys with two columns.
var (
	byTokenAndSerial = rest.TwoColumns{
		Primary: rest.IDColumn("token.id", "tokenId", "Filters by token ID: one value, or a range.", rest.EntityIDOrLongZero),
		Secondary: rest.NumberColumn("serialnumber", "serialNumber",
			"Filters by serial number: one value, or a range. A bound applies to the first or last token. Requires `token.id`.", rest.Long(1)),
		Filter: "filter",
	}
	bySpenderAndToken = rest.TwoColumns{
		Primary: rest.IDColumn("spender.id", "spenderId", "Filters by spender: one value, or a range.", rest.EntityID),
		Secondary: rest.IDColumn("token.id", "tokenId",
			"Filters by token ID: one value, or a range. A bound applies to the first or last spender. Requires `spender.id`.", rest.EntityIDOrLongZero),
		Filter: "filter",
	}
)

func accountListEndpoints() []rest.Endpoint {
	of := func(path, document string, params []rest.Param, e rest.Endpoint) rest.Endpoint {
		e.Path, e.Document, e.Params = "/accounts/{idOrAliasOrEvmAddress}"+path, document, params
		e.Grammar, e.PathFirst, e.BindPath, e.ExistsFirst, e.NotFound = rest.V2, true, bindAccountOfList, true, missingAccountOfList
		return e
	}
	return []rest.Endpoint{
		of("/nfts", "account_nfts.graphql", accountNFTsParams, rest.Endpoint{
			Paging: rest.Paging{Desc: true, Next: byTokenAndSerial.Next()},
			Finish: finishAccountNFTs, MaxAge: shortAge,
		}),
		of("/rewards", "account_rewards.graphql", accountRewardsParams, rest.Endpoint{Paging: rest.Paging{Desc: true, Next: byTimestamp}, MaxAge: 60}),
		of("/tokens", "account_tokens.graphql", accountTokensParams, rest.Endpoint{Paging: rest.Paging{Next: byTokenID}, MaxAge: shortAge}),
		of("/allowances/crypto", "crypto_allowances.graphql", cryptoAllowancesParams,
			rest.Endpoint{Paging: rest.Paging{Desc: true, Next: bySpender}, MaxAge: shortAge}),
		of("/allowances/tokens", "token_allowances.graphql", tokenAllowancesParams,
			rest.Endpoint{Finish: bySpenderAndToken.Finish, Paging: rest.Paging{Next: bySpenderAndToken.Next()}, MaxAge: shortAge}),
	}
}

func bindAccountOfList(r *rest.Request) error {
	ref, err := ledger.ParseAccountRef(r.Path.Get("idOrAliasOrEvmAddress"), r.Config.Base)
	if err != nil {
		return badAccount
	}
	r.Set("account", ref.String())
	return nil
}

func missingAccountOfList(r *rest.Request, _ *relay.Outcome) *rest.Problem {
	if ref, err := ledger.ParseAccountRef(r.Path.Get("idOrAliasOrEvmAddress"), r.Config.Base); err == nil && ref.Alias != nil {
		return rest.NotFound("No account with a matching alias found")
	}
	return rest.NotFound("Not found")
}

var accountNFTsParams = append(byTokenAndSerial.Params(),
	rest.Param{Name: "spender.id", Kind: rest.EntityID, Bind: rest.IDs("filter.spenderId"), Doc: "Filters by approved spender."}, limit, order)

// finishAccountNFTs validates the conditions on token and serial number, then those on the spender.
func finishAccountNFTs(r *rest.Request) error {
	r.Set("filter.owner", r.Variables["account"])
	delete(r.Variables, "account")
	if err := byTokenAndSerial.Finish(r); err != nil {
		return err
	}
	lowers, uppers, others := 0, 0, 0
	for _, v := range r.Values("spender.id") {
		switch v.Op {
		case rest.Gt, rest.Gte:
			lowers++
		case rest.Lt, rest.Lte:
			uppers++
		case rest.Ne:
			others++
		case rest.Eq:
		}
	}
	switch {
	case lowers > 1 || uppers > 1:
		return rest.Bad("Multiple range params not allowed for spender.id")
	case others > 0:
		return rest.Bad("Not equals (ne) comparison operator is not supported")
	default:
		return nil
	}
}

var accountRewardsParams = []rest.Param{
	{
		Name: "timestamp", Kind: rest.Timestamp, Doc: "Filters by consensus timestamp.",
		Bind: rest.AnyTimestamps("filter.timestamp").Without(rest.Ne, "Not equals (ne) operator is not supported for timestamp"),
	},
	limit, order,
}

var accountTokensParams = []rest.Param{
	{
		Name: "token.id", Kind: rest.EntityIDOrLongZero, Doc: "Filters by token ID.",
		Bind: rest.IDs("filter.tokenId").Without(rest.Ne, "Not equal (ne) comparison operator is not supported for token.id"),
	},
	limit, order,
}

var cryptoAllowancesParams = []rest.Param{
	{
		Name: "spender.id", Kind: rest.EntityID, Doc: "Filters by spender.",
		Bind: rest.IDs("filter.spenderId").Without(rest.Ne, "Not equal (ne) comparison operator is not supported for spender.id"),
	},
	limit, order,
}

var tokenAllowancesParams = append(bySpenderAndToken.Params(), limit, order)
