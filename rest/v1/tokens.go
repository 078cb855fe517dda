package v1

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"heliograph/internal/domain/ledger"
	"heliograph/rest"
)

// The sort keys of tokens and NFTs.
var (
	byTokenID      = []rest.Cursor{rest.EntityIDCursor("token.id")}
	bySerialNumber = []rest.Cursor{rest.NumberCursor("serialnumber")}
)

// tokenEndpoints returns the descriptions of the endpoints of tokens, their holders and their NFTs.
func tokenEndpoints() []rest.Endpoint {
	return []rest.Endpoint{
		{
			Path: "/tokens", Grammar: rest.ByGroup, Options: pathFirst,
			Params: tokensParams, Document: "tokens.graphql",
			Operation: tokensOperation,
			BindPath:  checkTokenName, Finish: finishTokens, Next: byTokenID, MaxAge: 10,
		},
		{
			Path: "/tokens/{tokenId}", Grammar: rest.ByGroup,
			Options: rest.Options{PathFirst: true, OmitNull: [][]string{{"fractional_fees"}, {"royalty_fees"}}},
			Params:  tokenParams, Document: "token.graphql",
			BindPath: bindToken,
			MaxAge:   5,
		},
		{
			Path: "/tokens/{tokenId}/balances", Grammar: rest.ByGroup, Options: pathFirst,
			Params:   tokenBalancesParams,
			Document: "token_balances.graphql",
			BindPath: bindToken, Desc: true, Next: byAccount, MaxAge: shortAge,
		},
		{
			Path: "/tokens/{tokenId}/nfts", Grammar: rest.ByGroup, Options: pathFirst,
			Params:   tokenNFTsParams,
			Document: "token_nfts.graphql",
			BindPath: bindTokenOfNFTs, Desc: true, Next: bySerialNumber, MaxAge: shortAge,
		},
		{
			Path: "/tokens/{tokenId}/nfts/{serialNumber}", Grammar: rest.InOrder, Document: "nft.graphql",
			BindPath: bindNFT, MaxAge: shortAge,
		},
		{
			Path: "/tokens/{tokenId}/nfts/{serialNumber}/transactions", Grammar: rest.ByGroup,
			Options: rest.Options{PathFirst: true, MayBePartial: true},
			Params:  nftTransactionsParams, Document: "nft_transactions.graphql",
			BindPath: bindNFT, Desc: true, Next: byTimestamp,
			MaxAge: shortAge,
		},
	}
}

var tokensParams = []rest.Param{
	{
		Name: "account.id", Kind: rest.EntityID, Doc: "Filters by associated account.", Single: true,
		Bind: func(r *rest.Request, values []rest.Value) error {
			for _, v := range values {
				if !rest.IsEntityID(v.Text) {
					continue
				}
				if _, err := rest.ExpandID(r.Config, v.Text); err != nil {
					return err
				}
			}
			return nil // finishTokens validates them last
		},
	},
	{
		Name: "name", Kind: tokenName,
		Doc: "Filters by a part of the name, case-insensitive. `%` matches any text and `_` any character. The " +
			"list has " +
			"one page.", Bind: rest.TextList("filter.nameContains"),
	},
	{Name: "publickey", Kind: rest.PublicKey, Bind: rest.PublicKeys("filter.publicKey"), Doc: "Filters by admin key."},
	{Name: "token.id", Kind: rest.EntityIDOrLongZero, Bind: rest.IDs("filter.id"), Doc: "Filters by token ID."},
	{
		Name: "type", Kind: rest.OneOf(anyTokenType, string(ledger.TokenFungibleCommon),
			string(ledger.TokenNonFungibleUnique)), Bind: bindTokenTypes,
		Doc: "Filters by token type.",
	},
	limit, order,
}

// Minimum and maximum size, in bytes, of a part of a token's name.
const (
	minTokenName = 3
	maxTokenName = 100
)

// tokenName accepts parts of names.
var tokenName = rest.Kind{
	Parse: rest.Accepting(func(_ *rest.Config, text string) bool {
		return len(text) >= minTokenName && len(text) <= maxTokenName && !strings.Contains(text, "\x00")
	}),
	Doc: "A part of a name, 3 to 100 bytes long.", Pattern: `[^\x00]{1,100}`,
}

// anyTokenType is the type without a condition.
const anyTokenType = "ALL"

// bindTokenTypes sets the filter of types of GET /tokens to those that match all conditions on the type. Types are
// compared by their position in the database's enum. The type ALL is no condition. If no type matches, the filter is
// an empty list, which matches no token. It never fails.
func bindTokenTypes(r *rest.Request, values []rest.Value) error {
	all := []string{string(ledger.TokenFungibleCommon), string(ledger.TokenNonFungibleUnique)}
	given := false
	left := []any{}
	for place, typ := range all {
		meets := true
		for _, v := range values {
			other := slices.Index(all, strings.ToUpper(v.Text))
			if other < 0 {
				continue
			}
			given = true
			meets = meets && slices.Contains(outcomes[v.Op], cmp.Compare(place, other))
		}
		if meets {
			left = append(left, typ)
		}
	}
	if given {
		r.Set("filter.types", left)
	}
	return nil
}

// outcomes are the results of [cmp.Compare] that make a comparison with an operator true.
var outcomes = map[rest.Op][]int{
	rest.Eq: {0}, rest.Ne: {-1, 1}, rest.Gt: {1}, rest.Gte: {0, 1}, rest.Lt: {-1}, rest.Lte: {-1, 0},
}

// checkTokenName is the BindPath of GET /tokens, which has no parameter in its path. It returns a 400 for a name
// together with a more specific condition, before any other validation, otherwise nil.
func checkTokenName(r *rest.Request) error {
	switch {
	case !isFilled(r, "name"):
	case isFilled(r, "token.id"):
		return rest.Bad("token.id and name can not be used together. Use a more specific name instead.")
	case isFilled(r, "account.id"):
		return rest.Bad("account.id and name cannot be used together")
	}
	return nil
}

// isFilled reports whether a parameter is present in the query string and not empty.
func isFilled(r *rest.Request, name string) bool {
	return slices.ContainsFunc(r.Query.Get(name), func(v string) bool { return v != "" })
}

// tokensOperation returns the operation of GET /tokens: a search by name has no next page, the list has one.
func tokensOperation(r *rest.Request) string {
	if isFilled(r, "name") {
		return "TokensByName"
	}
	return "Tokens"
}

// noTokens is the response for an invalid account.
var noTokens = &rest.Direct{Body: `{"tokens":[],"links":{"next":null}}`}

// finishTokens sets the filter of the associated account from account.id: one value without an operator. Other values
// are a 400. For an EVM address without an entity number, the error is noTokens, a response and no failure.
func finishTokens(r *rest.Request) error {
	at := slices.IndexFunc(r.Query, func(p rest.Parameter) bool { return p.Name == "account.id" })
	if at < 0 {
		return nil
	}
	given := r.Query[at]
	text := given.Values[0]
	switch {
	case given.List:
		return rest.Bad(`Entity ID "` + strings.Join(given.Values, ",") + `" is not a string`)
	case strings.Contains(text, ":"):
		return rest.InvalidParameter("account.id")
	}
	ref, err := ledger.ParseAccountRef(text, r.Config.Base)
	switch {
	case err != nil:
		return rest.InvalidParameter("account.id")
	case ref.Address.Valid:
		return noTokens
	}
	r.Set("filter.associatedTo", ref.ID.String())
	return nil
}

var tokenParams = []rest.Param{
	{
		Name: "timestamp", Kind: rest.Timestamp.Only(rest.Eq, rest.Lt, rest.Lte),
		Doc: "Returns the version of the token at this time. The last value is used.",
		Bind: func(r *rest.Request, values []rest.Value) error {
			return rest.AsOf("at")(r, values[len(values)-1:])
		},
	},
}

// bindToken sets the variable token from the id in the path of GET /tokens/{tokenId} and of the paths below it. It may
// be a long-zero address. Another text is a 400.
func bindToken(r *rest.Request) error {
	ref, err := ledger.ParseAccountRef(r.Path("tokenId"), r.Config.Base)
	if err != nil || ref.Alias != nil || ref.Address.Valid {
		return rest.InvalidParameter("tokenid")
	}
	r.Set("token", ref.ID.String())
	return nil
}

// bindTokenOfNFTs sets the filter of the token of GET /tokens/{tokenId}/nfts from the id in the path. Another text is
// a 400.
func bindTokenOfNFTs(r *rest.Request) error {
	err := bindToken(r)
	r.Set("filter.tokenId.eq", r.Variables["token"])
	delete(r.Variables, "token")
	return err
}

// bindNFT sets the variables token and serialNumber from the path of GET /tokens/{tokenId}/nfts/{serialNumber} and of
// the list of transactions below it. Another text is a 400.
func bindNFT(r *rest.Request) error {
	if err := bindToken(r); err != nil {
		return err
	}
	text := r.Path("serialNumber")
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 1 || !rest.IsDigits(text) {
		return rest.InvalidParameter("serialnumber")
	}
	r.Set("serialNumber", strconv.FormatInt(n, 10))
	return nil
}

var tokenBalancesParams = []rest.Param{
	{
		Name: "account.id", Kind: rest.EntityID, Bind: rest.AllIDs("filter.accountId"),
		Doc: "Filters by account. All conditions must match.",
	},
	{
		Name: "account.balance", Kind: rest.Long(0), Bind: rest.Longs("filter.balance"),
		Doc: "Filters by balance, in the token's smallest unit.",
	},
	{
		Name: "account.publickey", Kind: rest.PublicKey, Bind: rest.LastPublicKey("filter.publicKey"),
		Doc: "Filters by the public key of the account. The last value is used; operators are ignored.",
	},
	{
		Name: "timestamp", Kind: rest.Timestamp, Bind: rest.AsOf("at"),
		Doc: "Returns the balances of the newest matching snapshot instead of the current balances.",
	},
	limit, order,
}

var tokenNFTsParams = []rest.Param{
	{
		Name: "account.id", Kind: rest.EntityID, Bind: rest.AllIDs("filter.ownerId"),
		Doc: "Filters by owner. All conditions must match.",
	},
	{
		Name: "serialnumber", Kind: rest.Long(1), Bind: rest.Longs("filter.serialNumber"),
		Doc: "Filters by serial number. All conditions must match.",
	},
	limit, order,
}

var nftTransactionsParams = []rest.Param{
	{
		Name: "timestamp", Kind: rest.Timestamp, Bind: rest.Timestamps("filter.timestamp"),
		Doc: "Filters by consensus timestamp.",
	},
	limit, order,
}
