package v1

import (
	"net/http"
	"strings"

	"heliograph/graph/relay"
	"heliograph/internal/domain/ledger"
	"heliograph/rest"
)

var accountsParams = []rest.Param{
	{Name: "account.id", Kind: rest.EntityID, Bind: rest.IDs("filter.id"), Doc: "Filters by account."},
	{
		Name: "account.balance", Kind: rest.Long(0), Bind: rest.Longs("filter.balance"),
		Doc: "Filters by balance in tinybars.",
	},
	{
		Name: "account.publickey", Kind: rest.PublicKey, Bind: rest.PublicKeys("filter.publicKey"),
		Doc: "Filters by public key.",
	},
	{
		Name: "balance", Kind: rest.Boolean, Doc: "Whether to include balances (else null). Default: true.",
		Bind: func(r *rest.Request, values []rest.Value) error {
			// With an operator, even "true" hides the balance.
			last := values[len(values)-1]
			r.Set("balance", !last.Given && strings.EqualFold(last.Text, "true"))
			return nil
		},
	},
	limit, order,
}

// finishAccounts sets the variables of GET /accounts that depend on several parameters or on the configuration.
// Without balances, a filter by balance does not apply. It never fails.
func finishAccounts(r *rest.Request) error {
	v := r.Variables
	if _, given := v["balance"]; !given {
		v["balance"] = true
	}
	if filter, ok := v["filter"].(map[string]any); ok && v["balance"] == false {
		delete(filter, "balance")
	}
	v["tokens"], v["tokenOrder"], v["delegation"] = r.Config.TokensInList, r.Order(), r.Config.DelegationAddress
	return nil
}

var accountParams = []rest.Param{
	{
		Name: "timestamp", Kind: rest.Timestamp,
		Doc: "Returns the historical version of the account, and filters transactions by consensus timestamp.",
	},
	{
		Name: "transactions", Kind: rest.Boolean, Doc: "Whether to include transactions. Default: true.",
		Bind: rest.LastBoolean("withTransactions"),
	},
	{
		Name: "transactiontype", Kind: rest.TransactionType, Bind: rest.Enums("filter.types"),
		Doc: "Filters by transaction type.",
	},
	limit, order,
}

// badAccount is the problem of an invalid account in the path.
var badAccount = rest.InvalidParameter("idOrAliasOrEvmAddress")

// bindAccount sets the variables of the account in the path of GET /accounts/{idOrAliasOrEvmAddress}, also as the
// filter of its transactions. Another text is a 400.
func bindAccount(r *rest.Request) error {
	ref, err := ledger.ParseAccountRef(r.Path("idOrAliasOrEvmAddress"), r.Config.Base)
	if err != nil {
		return badAccount
	}
	r.Set("id", ref.String())
	r.Set("filter.account", ref.String())
	return nil
}

// finishAccount sets the moment of the account's balance, and the page of its transactions or none. An empty range of
// timestamps is a 404. Before that, it reads whether the account exists, and reports an unknown alias or address
// instead. It may close an open range of the transactions with the first transaction, which it reads for that, and the
// current time; see [boundRange]. If reading fails, the error is returned.
func finishAccount(r *rest.Request) error {
	v := r.Variables
	v["balance"], v["tokens"], v["tokenOrder"], v["delegation"] = true, r.Config.TokensOfAccount, string(relay.Asc),
		r.Config.DelegationAddress
	at, err := r.TimestampFilter("timestamp")
	if err != nil {
		return err
	}
	if at.Empty() {
		// An unknown alias or address is reported first.
		if data, err := r.RunOperation("Exists", map[string]any{"id": v["id"]}); err == nil &&
			string(data) == `{"account":null}` && isName(r) {
			return missingAccount(r, nil)
		}
		return rest.NotFound("Timestamp range is empty")
	}
	r.Set("at", at.AsOf())
	if v["withTransactions"] == false {
		v["limit"] = 0
	} else if err := boundTransactions(r, at); err != nil {
		return err
	}
	delete(v, "withTransactions")
	return nil
}

// isName reports whether the path identifies the account by alias or address.
func isName(r *rest.Request) bool {
	ref, err := ledger.ParseAccountRef(r.Path("idOrAliasOrEvmAddress"), r.Config.Base)
	return err == nil && (ref.Alias != nil || ref.Address.Valid)
}

// missingAccount returns the 404 of GET /accounts/{idOrAliasOrEvmAddress}. An alias has another text than an ID, but
// only if no account has it, or if that cannot be read: it runs an operation for this.
func missingAccount(r *rest.Request, _ *relay.Outcome) *rest.Problem {
	ref, err := ledger.ParseAccountRef(r.Path("idOrAliasOrEvmAddress"), r.Config.Base)
	if err == nil && ref.Alias != nil {
		if data, err := r.RunOperation("Exists", map[string]any{"id": r.Variables["id"]}); err != nil ||
			string(data) == `{"account":null}` {
			return rest.NotFound("No account with a matching alias found")
		}
	}
	return rest.NotFound("Not found")
}

var balancesParams = []rest.Param{
	{Name: "account.id", Kind: balanceAccount, Bind: bindBalanceAccounts, Doc: "Filters by account."},
	{
		Name: "account.balance", Kind: rest.Long(0), Bind: rest.Longs("filter.balance"),
		Doc: "Filters by balance in tinybars.",
	},
	{
		Name: "account.publickey", Kind: rest.PublicKey, Bind: rest.PublicKeys("filter.publicKey"),
		Doc: "Filters by public key.",
	},
	{
		Name: "timestamp", Kind: rest.Timestamp, Bind: rest.AsOf("at"),
		Doc: "Returns the balances of the newest matching snapshot instead of the current balances.",
	},
	limit, order,
}

// balanceAccount accepts any text. bindBalanceAccounts reports errors in detail.
var balanceAccount = rest.Kind{
	Parse: rest.Accepting(func(*rest.Config, string) bool { return true }), // texts are never empty
	Doc: "An entity ID `shard.realm.num`; shard and realm are optional. Or, once and without an " +
		"operator, an EVM address or an alias.",
	Ops: rest.Operators(),
}

// bindBalanceAccounts sets the filters of GET /balances from account.id: ids, and one alias or EVM address. An invalid
// text is a 400. Two aliases or addresses are a 400, and so is an operator on one or on an ID after it.
func bindBalanceAccounts(r *rest.Request, values []rest.Value) error {
	var ids []rest.Value
	name := ""
	for _, v := range values {
		ref, isName, err := balanceRef(v.Text)
		if err == nil && !isName {
			_, err = rest.ExpandID(r.Config, v.Text)
		}
		switch {
		case err != nil:
			return err
		case v.Op != rest.Eq && (isName || name != ""):
			return balanceProblem("EVM address or alias only supports equals operator")
		case isName && name != "":
			return balanceProblem("Only one EVM address or alias is allowed.")
		case isName:
			name = ref
		default:
			ids = append(ids, v)
		}
	}
	if name != "" {
		r.Set("filter.account", name)
	}
	if ids == nil {
		return nil
	}
	return rest.IDs("filter.accountId")(r, ids)
}

// balanceRef returns the alias or EVM address in a value of account.id of GET /balances. isName is false for an
// entity id, which is not parsed. Other texts are a 400.
func balanceRef(text string) (ref string, isName bool, err error) {
	if rest.IsEntityID(text) {
		return "", false, nil
	}
	digits := ledger.TrimHexPrefix(text)
	if len(digits) == 40 && ledger.IsHex(digits) {
		return "0x" + strings.ToLower(digits), true, nil
	}
	if text == "" || strings.Trim(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567") != "" { // no base32
		return "", false, rest.InvalidParameter("account.id")
	}
	if _, err := ledger.ParseAlias(text); err != nil {
		return "", false, rest.Bad("Invalid accountAlias string " + text)
	}
	return text, true, nil
}

// balanceProblem returns the 400 for account.id in GET /balances with the given detail.
func balanceProblem(detail string) *rest.Problem {
	return &rest.Problem{
		Status: http.StatusBadRequest,
		Items:  []rest.Item{{Message: "Invalid parameter: account.id", Detail: &detail}},
	}
}

// finishBalances is the Finish of GET /balances. It sets the number of tokens in each balance, and sets the filter of
// public keys again, without their operators, if a snapshot is requested. An invalid key is a 400. It reads nothing.
func finishBalances(r *rest.Request) error {
	r.Variables["tokens"] = r.Config.TokensInList
	if r.Variables["at"] == nil {
		return nil
	}
	values := r.Values("account.publickey")
	if values == nil {
		return nil
	}
	for i := range values {
		values[i].Op = rest.Eq
	}
	return rest.PublicKeys("filter.publicKey")(r, values)
}

// bySpender is the sort key of hbar allowances.
var bySpender = []rest.Cursor{rest.EntityIDCursor("spender.id")}

// The sort keys with two columns.
var (
	byTokenAndSerial = rest.TwoColumns{
		Primary: rest.IDColumn("token.id", "tokenId", "Filters by token ID: one value, or a range.",
			rest.EntityIDOrLongZero),
		Secondary: rest.NumberColumn("serialnumber", "serialNumber",
			"Filters by serial number: one value, or a range. A bound applies to the first or last token. Requires "+
				"`token.id`.", rest.Long(1)),
		Filter: "filter",
	}
	bySpenderAndToken = rest.TwoColumns{
		Primary: rest.IDColumn("spender.id", "spenderId", "Filters by spender: one value, or a range.", rest.EntityID),
		Secondary: rest.IDColumn("token.id", "tokenId",
			"Filters by token ID: one value, or a range. A bound applies to the first or last spender. Requires "+
				"`spender.id`.", rest.EntityIDOrLongZero),
		Filter: "filter",
	}
)

// accountListEndpoints returns the descriptions of the endpoints of lists below an account that belong to the classic
// family.
func accountListEndpoints() []rest.Endpoint {
	of := func(path, document string, params []rest.Param, e rest.Endpoint) rest.Endpoint {
		e.Path, e.Document, e.Params = "/accounts/{idOrAliasOrEvmAddress}"+path, document, params
		e.Grammar, e.PathFirst, e.BindPath, e.ExistsFirst, e.NotFound = rest.ByGroup, true, bindAccountOfList, true,
			missingAccountOfList
		return e
	}
	return []rest.Endpoint{
		of("/nfts", "account_nfts.graphql", accountNFTsParams, rest.Endpoint{
			Desc: true, Next: byTokenAndSerial.Next(),
			Finish: finishAccountNFTs, MaxAge: shortAge,
		}),
		of("/rewards", "account_rewards.graphql", accountRewardsParams,
			rest.Endpoint{Desc: true, Next: byTimestamp, MaxAge: 60}),
		of("/tokens", "account_tokens.graphql", accountTokensParams,
			rest.Endpoint{Next: byTokenID, MaxAge: shortAge}),
		of("/allowances/crypto", "crypto_allowances.graphql", cryptoAllowancesParams,
			rest.Endpoint{Desc: true, Next: bySpender, MaxAge: shortAge}),
		of("/allowances/tokens", "token_allowances.graphql", tokenAllowancesParams,
			rest.Endpoint{
				Finish: bySpenderAndToken.Finish, Next: bySpenderAndToken.Next(),
				MaxAge: shortAge,
			}),
	}
}

// bindAccountOfList sets the variable account from the path of a list below it. Another text is a 400.
func bindAccountOfList(r *rest.Request) error {
	ref, err := ledger.ParseAccountRef(r.Path("idOrAliasOrEvmAddress"), r.Config.Base)
	if err != nil {
		return badAccount
	}
	r.Set("account", ref.String())
	return nil
}

// missingAccountOfList returns the 404 of a list whose account was not found. An alias has another text than an ID or
// an address. It reads nothing.
func missingAccountOfList(r *rest.Request, _ *relay.Outcome) *rest.Problem {
	if ref, err := ledger.ParseAccountRef(r.Path("idOrAliasOrEvmAddress"), r.Config.Base); err == nil &&
		ref.Alias != nil {
		return rest.NotFound("No account with a matching alias found")
	}
	return rest.NotFound("Not found")
}

var accountNFTsParams = append(byTokenAndSerial.Params(),
	rest.Param{
		Name: "spender.id", Kind: rest.EntityID, Bind: rest.IDs("filter.spenderId"),
		Doc: "Filters by approved spender.",
	}, limit, order)

// finishAccountNFTs is the Finish of GET /accounts/{idOrAliasOrEvmAddress}/nfts. It validates the conditions on token
// and serial number and sets their filters. The account becomes the owner in the filter. It then validates the
// conditions on the spender, whose filter has been set before: ne, or several bounds on one side, are a 400.
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
		Bind: rest.AnyTimestamps("filter.timestamp").Without(rest.Ne,
			"Not equals (ne) operator is not supported for timestamp"),
	},
	limit, order,
}

var accountTokensParams = []rest.Param{
	{
		Name: "token.id", Kind: rest.EntityIDOrLongZero, Doc: "Filters by token ID.",
		Bind: rest.IDs("filter.tokenId").Without(rest.Ne,
			"Not equal (ne) comparison operator is not supported for token.id"),
	},
	limit, order,
}

var cryptoAllowancesParams = []rest.Param{
	{
		Name: "spender.id", Kind: rest.EntityID, Doc: "Filters by spender.",
		Bind: rest.IDs("filter.spenderId").Without(rest.Ne,
			"Not equal (ne) comparison operator is not supported for spender.id"),
	},
	limit, order,
}

var tokenAllowancesParams = append(bySpenderAndToken.Params(), limit, order)
