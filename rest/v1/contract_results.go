package v1

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"heliograph/internal/domain/ledger"
	"heliograph/rest"
)

// byIndex is the sort key of actions.
var byIndex = []rest.Cursor{rest.NumberCursor("index")}

// contractResultEndpoints returns the descriptions of the endpoints of contract results and of their actions.
func contractResultEndpoints() []rest.Endpoint {
	ofContract := rest.Endpoint{
		Path: "/contracts/{id}/results", Grammar: rest.ByGroup, Options: pathFirst,
		Params:    contractResultsParams,
		Document:  "results_of_contract.graphql",
		Operation: always("ResultsOfContract"), BindPath: bindCallee,
		Desc: true, Next: byTimestamp, Finish: finishResultsOfContract,
		MaxAge: shortAge,
	}
	atTime := rest.Endpoint{
		Path: "/contracts/{id}/results/{timestamp}", Grammar: rest.InOrder,
		Options:   rest.Options{PathFirst: true, OmitNull: authorizations, MayBePartial: true},
		Params:    hbarParams,
		Document:  "contract_result.graphql",
		Operation: inUnit("ContractResult"), BindPath: bindResultOfContract, Finish: finishResultOfContract,
		MaxAge: immutableAge,
	}
	actions := rest.Endpoint{
		Path: "/contracts/results/{transactionIdOrHash}/actions", Grammar: rest.ByGroup, Params: actionsParams,
		Document: "contract_actions.graphql",
		BindPath: bindActions, Next: byIndex, MaxAge: immutableAge,
	}
	return []rest.Endpoint{
		{
			Path: "/contracts/results", Grammar: rest.ByGroup, Params: contractResultsParams,
			Document: "contract_results.graphql", Operation: inUnit("ContractResults"),
			Desc: true, Next: byTimestamp, Options: rest.Options{EmptyEnds: true, OmitNull: authorizations},
			Finish: finishContractResults,
			MaxAge: 10,
		},
		ofContract,
		undocumented(withPath(ofContract, "/contracts/results/results")), // "results" is never a contract
		atTime,
		undocumented(withPath(atTime, "/contracts/results/results/{timestamp}")),
		undocumented(rest.Endpoint{ // the path of a transaction id too: the form of the value decides
			Path: `/contracts/results/{timestamp:^\d+\.\d+$}`, Grammar: rest.InOrder,
			Options:   rest.Options{PathFirst: true, OmitNull: authorizations, MayBePartial: true},
			Params:    hbarParams,
			Document:  "contract_result.graphql",
			Operation: inUnit("ContractResult"), BindPath: bindResultAt, Finish: finishResult,
			MaxAge: immutableAge,
		}),
		{
			Path: "/contracts/results/{transactionIdOrHash}", Grammar: rest.InOrder, Params: resultParams,
			Document:  "contract_result.graphql",
			Operation: inUnit("ContractResult"), BindPath: bindResult, Finish: finishResult,
			Options: rest.Options{OmitNull: authorizations, MayBePartial: true},
			MaxAge:  immutableAge,
		},
		actions,
		withPath(actions, "/contracts/results/{transactionIdOrHash}/results"),
	}
}

// authorizations are omitted if the result has no Ethereum transaction.
var authorizations = [][]string{{"authorization_list"}}

// contractResultsParams are the parameters of both lists of contract results.
var contractResultsParams = []rest.Param{
	{Name: "from", Kind: sender, Bind: checkSenders, Doc: "Filters by sender."},
	{
		Name: "block.hash", Kind: blockHash, Bind: bindBlockHash,
		Doc: "Filters by block hash or a prefix of it. Cannot be combined with `block.number`.", Single: true,
	},
	{
		Name: "block.number", Kind: rest.BlockNumber.Only(rest.Eq), Bind: bindBlockNumber,
		Doc: "Filters by block number.", Single: true,
	},
	{Name: "hbar", Kind: rest.Boolean, Doc: hbarDoc},
	{
		Name: "internal", Kind: rest.Boolean, Bind: rest.LastBoolean("filter.internal"),
		Doc: "Whether to include internal calls, which are made by other calls.",
	},
	limit, order,
	{
		Name: "timestamp", Kind: rest.Timestamp,
		Doc: "Filters by consensus timestamp. Several `eq` conditions are alternatives.",
	},
	{
		Name: "transaction.index", Kind: rest.Long(0).Only(rest.Eq), Bind: rest.TextList("filter.transactionIndex"),
		Doc: "Filters by index in the block. Requires `block.hash` or `block.number`.",
	},
}

// The patterns of values.
const (
	addressPattern   = `(0x)?[A-Fa-f0-9]{40}`
	blockHashPattern = `(0x)?([A-Fa-f0-9]{64}|[A-Fa-f0-9]{96})`
	senderPattern    = `(\d{1,4}\.)?\d{1,5}\.\d{1,12}|-?\d{1,19}|` + addressPattern
)

var (
	// blockHash accepts hashes of 32 or 48 bytes.
	blockHash = rest.Kind{
		Parse: rest.Matching(blockHashPattern),
		Doc:   "The hash of a block or its first 32 bytes, in hex.", Pattern: blockHashPattern,
	}.Only(rest.Eq)
	// sender accepts entity ids, and EVM addresses without shard and realm.
	sender = rest.Kind{
		Parse:   rest.Matching(senderPattern),
		Doc:     "An entity ID `shard.realm.num`; shard and realm are optional. Or an EVM address.",
		Pattern: senderPattern,
		Ops:     rest.Operators(),
	}
)

// checkSenders returns a 400 for invalid ids in the parameter from of a list of contract results, and sets nothing.
// Addresses are looked up after the rest of the query was validated.
func checkSenders(r *rest.Request, values []rest.Value) error {
	for _, v := range values {
		if _, err := ledger.ParseAccountRef(v.Text, r.Config.Base); err != nil {
			return rest.InvalidParameter("from")
		}
	}
	return nil
}

// bindSenders sets the filter of senders of a list of contract results from the parameter from. It reads the ids of
// addresses; an unknown address is a 404. A failed read is the problem of [rest.Request.RunOperation].
func bindSenders(r *rest.Request) error {
	values := r.Values("from")
	if values == nil {
		return nil
	}
	for i, v := range values {
		ref, err := ledger.ParseAccountRef(v.Text, r.Config.Base)
		if err != nil || !ref.Address.Valid {
			continue
		}
		if values[i].Text, err = entityOf(r, ref); err != nil {
			return err
		}
		if values[i].Text == "" {
			return rest.NotFound("Not found")
		}
	}
	return rest.IDs("filter.from")(r, values)
}

// bindBlockHash sets the filter of the block hash of a list of contract results from the last value. Stored hashes are
// lower case, and the comparison is case-sensitive. It never fails.
func bindBlockHash(r *rest.Request, values []rest.Value) error {
	r.Set("filter.blockHash", values[len(values)-1].Text)
	return nil
}

// bindBlockNumber sets the filter of the block number of a list of contract results, decimal or hexadecimal, from the
// last value of the parameter, which is a valid number: it does not fail.
func bindBlockNumber(r *rest.Request, values []rest.Value) error {
	text, base := values[len(values)-1].Text, 10
	if digits, ok := strings.CutPrefix(text, "0x"); ok {
		text, base = digits, 16
	}
	n, err := strconv.ParseInt(text, base, 64)
	r.Set("filter.blockNumber", strconv.FormatInt(n, 10))
	return err //nolint:wrapcheck // its kind has made sure that it is a number
}

// noResults is the response if no result can match the conditions.
var noResults = &rest.Direct{Body: `{"results":[],"links":{"next":null}}`}

// checkBlock returns a 400 if the parameters about blocks of a list of contract results cannot be combined, else
// nil.
func checkBlock(r *rest.Request) error {
	hash, number := r.Query.Get("block.hash") != nil, r.Query.Get("block.number") != nil
	switch {
	case hash && number:
		return rest.Bad("Invalid parameter usage: block.hash - cannot combine block.number and block.hash")
	case !hash && !number && r.Query.Get("transaction.index") != nil:
		return rest.Bad("Invalid parameter usage: transaction.index - transaction.index requires block.number or " +
			"block.hash filter to be specified")
	default:
		return nil
	}
}

// selectResults sets the filters of senders and timestamps, whose open range it bounds if bound is set, except within
// a block. It may read the entities of senders, and the first transaction if bound is set. A block hash with
// upper-case letters matches no block: the error is then noResults, a response and no failure. A contract in the path
// was looked up before.
func selectResults(r *rest.Request, bound bool) error {
	if err := bindSenders(r); err != nil {
		return err
	}
	hash := r.Query.Get("block.hash")
	if len(hash) > 0 && strings.ToLower(hash[len(hash)-1]) != hash[len(hash)-1] {
		return noResults
	}
	when, err := r.TimestampFilter("timestamp")
	if err != nil {
		return err
	}
	when.AnyOf = true
	// A block is a closed range.
	if inBlock := hash != nil || r.Query.Get("block.number") != nil; bound && !inBlock && !when.Empty() {
		return boundTransactions(r, when)
	}
	r.Set("filter.timestamp", when.Filter())
	return nil
}

// finishContractResults checks the parameters of GET /contracts/results together, and sets the filters that depend on
// several of them. It may read the entities of senders, and the first transaction for an open range of timestamps.
// Invalid conditions are a 400 and unknown senders a 404; the error can also be noResults, a response and no failure.
func finishContractResults(r *rest.Request) error {
	if err := checkBlock(r); err != nil {
		return err
	}
	if err := checkHbar(r); err != nil {
		return err
	}
	r.Variables["delegation"] = r.Config.DelegationAddress
	return selectResults(r, true)
}

// finishResultsOfContract checks the parameters of GET /contracts/{id}/results together and sets the filter of the
// contract. It reads whether an address is known, because the list of an unknown one is empty whatever the other
// parameters are: the error is then noResults, a response and no failure. An ID with the number 0 selects the results
// of all contracts, except synthetic ones.
func finishResultsOfContract(r *rest.Request) error {
	if err := checkBlock(r); err != nil {
		return err
	}
	ref, err := calleeOf(r)
	if err != nil {
		return err
	}
	switch {
	case ref.Address.Valid:
		r.Set("filter.contract", ref.String())
		// If the address is unknown, nothing else is validated.
		owner, err := entityOf(r, ref)
		if err != nil {
			return err
		}
		if owner == "" {
			return noResults
		}
	case !ref.ID.IsNone(): // without a number, the list has the results of all contracts
		r.Set("filter.contract", ref.String())
	default:
		r.Set("filter.synthetic", false)
	}
	return selectResults(r, false)
}

// hbarDoc documents the parameter hbar.
const hbarDoc = "Whether amounts and prices are in tinybars. If false, they are in weibars. Default: true."

var (
	resultHashSyntax = regexp.MustCompile(`^(0x)?[A-Fa-f0-9]{64}$`)
	instantSyntax    = regexp.MustCompile(`^\d{1,10}(\.\d{1,9})?$`)
)

var hbarParams = []rest.Param{{Name: "hbar", Kind: rest.Boolean, Doc: hbarDoc}}

var resultParams = []rest.Param{
	{Name: "hbar", Kind: rest.Boolean, Doc: hbarDoc},
	{
		Name: "nonce", Kind: rest.Int.Only(rest.Eq), Bind: func(r *rest.Request, values []rest.Value) error {
			n, err := strconv.Atoi(values[len(values)-1].Text)
			if r.Variables["transactionId"] != nil { // a hash identifies one transaction
				r.Set("nonce", n)
			}
			return err //nolint:wrapcheck // its kind has made sure that it is a number
		},
		Doc: "The nonce of a transaction ID. The nonce of the transaction that the user sent is 0. Ignored with a " +
			"hash.", Single: true,
	},
}

// checkHbar returns a 400 if the parameter hbar, the unit of amounts, has repeated values or an operator. Otherwise it
// returns nil.
func checkHbar(r *rest.Request) error {
	all := r.Query.Get("hbar")
	if all == nil {
		return nil
	}
	if text := strings.Join(all, ","); !strings.EqualFold(text, "true") && !strings.EqualFold(text, "false") {
		return rest.Bad("Invalid hbar parameter value: " + text + ". Must be 'true' or 'false'")
	}
	return nil
}

// inUnit selects an operation, or the one of the same document whose name ends in Weibar, for amounts in weibars.
// Clients request those with hbar=false.
func inUnit(operation string) func(*rest.Request) string {
	return func(r *rest.Request) string {
		if all := r.Query.Get("hbar"); len(all) > 0 && strings.EqualFold(all[0], "false") {
			return operation + "Weibar"
		}
		return operation
	}
}

// bindResultOfContract is the BindPath of GET /contracts/{id}/results/{timestamp}. It checks the unit of amounts, the
// parameter hbar, first, then the contract and the timestamp of the path together, and sets the variable at. One 400
// has the errors of both. [finishResultOfContract] sets the contract.
func bindResultOfContract(r *rest.Request) error {
	if err := checkHbar(r); err != nil {
		return err
	}
	var bad []string
	if !isCallee(r.Path("id")) {
		bad = append(bad, "Invalid parameter: contractid")
	}
	instant, err := pathInstant(r)
	if err != nil {
		bad = append(bad, "Invalid parameter: timestamp")
	}
	if bad != nil {
		return rest.Bad(bad...)
	}
	r.Set("at", instant.String())
	return nil
}

// pathInstant returns the timestamp in the path of a request for a single contract result. It has no operator. Another
// text is [ledger.ErrSyntax] or an error of the timestamp.
func pathInstant(r *rest.Request) (ledger.Timestamp, error) {
	text := r.Path("timestamp")
	if !instantSyntax.MatchString(text) {
		return 0, ledger.ErrSyntax
	}
	at, _, err := rest.ParseTimestamp(text)
	return at, err
}

// finishResultOfContract sets the contract of GET /contracts/{id}/results/{timestamp}, which it does not look up, then
// the variables of all single results. An invalid id or address is a 400.
func finishResultOfContract(r *rest.Request) error {
	ref, err := calleeOf(r)
	if err != nil {
		return err
	}
	r.Set("contract", ref.String())
	return finishResult(r)
}

// finishResult sets the variable of a single contract result that comes from the configuration: whether to show the
// delegation address. It never fails.
func finishResult(r *rest.Request) error {
	r.Variables["delegation"] = r.Config.DelegationAddress
	return nil
}

// bindResultAt is the BindPath of GET /contracts/results/{timestamp}. It checks the parameter hbar, then sets the
// variable of the consensus timestamp in the path. An invalid one of the two is a 400.
func bindResultAt(r *rest.Request) error {
	if err := checkHbar(r); err != nil {
		return err
	}
	instant, err := pathInstant(r)
	if err != nil {
		return rest.InvalidParameter("timestamp")
	}
	r.Set("at", instant.String())
	return nil
}

// bindResult is the BindPath of GET /contracts/results/{transactionIdOrHash}. It checks the parameter hbar, then sets
// the variables of the transaction in the path. An invalid hbar and an invalid id are a 400; a valid start that is out
// of range is a 404.
func bindResult(r *rest.Request) error {
	if err := checkHbar(r); err != nil {
		return err
	}
	return bindResultTransaction(r)
}

// bindResultTransaction sets the variable hash or transactionId from the path: the hash of an Ethereum transaction or
// a transaction id. An invalid id is a 400, or a 404 if its valid start is out of range.
func bindResultTransaction(r *rest.Request) error {
	text := r.Path("transactionIdOrHash")
	if resultHashSyntax.MatchString(text) {
		r.Set("hash", text)
		return nil
	}
	return bindTransactionID(r, text, "transactionId")
}

// bindActions is the BindPath of GET /contracts/results/{transactionIdOrHash}/actions. It rejects invalid conditions
// on the index, and then sets the variable of the transaction in the path. The operator ne and an invalid id are a
// 400; a transaction ID whose valid start is out of range is a 404.
func bindActions(r *rest.Request) error {
	if slices.ContainsFunc(r.Values("index"), func(v rest.Value) bool { return v.Op == rest.Ne }) {
		return rest.InvalidParameter("index")
	}
	return bindResultTransaction(r)
}

var actionsParams = []rest.Param{
	{
		Name: "index", Kind: rest.Index, Bind: rest.Longs("filter.index"),
		Doc: "Filters by index. The operator `ne` is not supported.",
	},
	limit, order,
}
