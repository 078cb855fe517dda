package v1

import (
	"errors"
	"math/big"
	"regexp"
	"strings"

	"heliograph/internal/domain/ledger"
	"heliograph/rest"
	"heliograph/rest/rawjson"
)

// The sort keys of contracts, slots and logs.
var (
	byContract  = []rest.Cursor{rest.EntityIDCursor("contract.id")}
	byStateSlot = []rest.Cursor{{Param: "slot", Print: printSlot, Empty: noSlots}}
	byLog       = []rest.Cursor{rest.TimestampCursor("timestamp").Repeating(), rest.NumberCursor("index")}
)

// contractEndpoints returns the descriptions of the endpoints of contracts, their storage and their logs.
func contractEndpoints() []rest.Endpoint {
	state := rest.Endpoint{
		Path: "/contracts/{id}/state", Grammar: rest.ByGroup, Options: pathFirst,
		Params:   stateParams,
		Document: "contract_state.graphql", Operation: always("ContractState"),
		BindPath: bindCallee, Finish: finishState, Next: byStateSlot, MaxAge: shortAge,
	}
	logs := rest.Endpoint{
		Path: "/contracts/results/logs", Grammar: rest.ByGroup, Params: append([]rest.Param{
			{Name: "transaction.hash", Kind: transactionHash, Doc: "Filters by transaction hash.", Single: true},
		}, logsParams...), Document: "contract_logs.graphql", Operation: always("ContractLogs"),
		Desc: true, Next: byLog, Options: rest.Options{EmptyEnds: true},
		Finish: finishLogs, MaxAge: 10,
	}
	ofContract := rest.Endpoint{
		Path: "/contracts/{id}/results/logs", Grammar: rest.ByGroup, Options: pathFirst,
		Params:   logsParams,
		Document: "contract_logs.graphql", Operation: always("ContractLogs"),
		BindPath: bindCallee, Desc: true, Next: byLog, Finish: finishLogsOfContract,
		MaxAge: shortAge,
	}
	return []rest.Endpoint{
		{
			Path: "/contracts", Grammar: rest.ByGroup, Params: contractsParams, Document: "contracts.graphql",
			Desc: true, Next: byContract, MaxAge: 10,
		},
		{
			Path: "/contracts/{id}", Grammar: rest.ByGroup, Options: pathFirst,
			Params:   contractParams,
			Document: "contract.graphql",
			BindPath: bindCallee, Finish: finishContract, MaxAge: shortAge,
		},
		state,
		undocumented(withPath(state, "/contracts/results/state")), // "results" is never a contract
		ofContract,
		undocumented(withPath(ofContract, "/contracts/results/results/logs")),
		logs,
		withPath(logs, "/contracts/logs"),
	}
}

// badCallee is the problem of an invalid contract in the path, and of an impossible one in contract.id.
var badCallee = rest.InvalidParameter("contractid")

// isCallee reports whether text, the contract in a path, has the form of an entity id or an EVM address.
func isCallee(text string) bool { return rest.IsEntityID(text) || calleeSyntax.MatchString(text) }

// bindCallee returns a 400 if the contract in the path has an invalid form. It sets nothing: Finish of the
// endpoint parses and binds the contract.
func bindCallee(r *rest.Request) error {
	if !isCallee(r.Path("id")) {
		return badCallee
	}
	return nil
}

// calleeOf returns the contract in the path, an id or an address, which it does not look up. Shard and realm before an
// address that is not long-zero are ignored. Another text is a 400.
func calleeOf(r *rest.Request) (ledger.AccountRef, error) {
	text := r.Path("id")
	if calleeSyntax.MatchString(text) {
		a, err := ledger.ParseEVMAddress(text[len(text)-40:])
		if err != nil {
			return ledger.AccountRef{}, badCallee
		}
		if _, longZero := a.Num(); !longZero {
			return ledger.AccountRef{Address: ledger.Of(a)}, nil
		}
	}
	ref, err := ledger.ParseAccountRef(text, r.Config.Base)
	if err != nil || ref.Alias != nil {
		return ledger.AccountRef{}, badCallee
	}
	return ref, nil
}

// entityOf reads the id of the entity with an address, or returns "" if the address is unknown. It fails if the
// operation fails, or does not run because the request is only explained.
func entityOf(r *rest.Request, ref ledger.AccountRef) (string, error) {
	data, err := r.RunOperation("EntityOf", map[string]any{"of": ref.String()})
	if err != nil {
		return "", err
	}
	id, _ := rawjson.Sole(data, "entityId")
	return strings.Trim(strings.TrimPrefix(string(id), "null"), `"`), nil
}

var contractsParams = []rest.Param{
	{Name: "contract.id", Kind: contractID, Bind: bindContractIDs, Doc: "Filters by contract ID or EVM address."},
	limit, order,
}

// The patterns of values.
const (
	contractIDPattern = `(\d{1,4}\.)?\d{1,5}\.\d{1,12}|-?\d{1,19}|(\d{1,4}\.)?(\d{1,5}\.)?[A-Fa-f0-9]{40}`
	wordPattern       = `(0x)?[0-9A-Fa-f]{1,64}`
)

var (
	plainAddressSyntax = regexp.MustCompile(`^(\d{1,4}\.)?(\d{1,5}\.)?[A-Fa-f0-9]{40}$`)
	calleeSyntax       = regexp.MustCompile(`^(0x|(\d{1,4}\.)?\d{1,5}\.)?[A-Fa-f0-9]{40}$`)
)

var (
	// contractID accepts entity ids, and EVM addresses without "0x" with eq only.
	contractID = rest.Kind{
		Parse: func(_ *rest.Config, v rest.Value) (rest.Value, bool) {
			return v, rest.IsEntityID(v.Text) || v.Op == rest.Eq && plainAddressSyntax.MatchString(v.Text)
		},
		Doc: "An entity ID `shard.realm.num`; shard and realm are optional. Or an EVM address without `0x` " +
			"and operator.",
		Pattern: contractIDPattern,
		Ops:     rest.Operators(),
	}
	// word accepts values that fit into a word of the EVM.
	word = rest.Kind{
		Parse: rest.Matching(wordPattern),
		Doc:   "1 to 64 hex digits.", Pattern: wordPattern,
		Ops: rest.Operators(),
	}
	// transactionHash accepts hashes of 32 or 48 bytes.
	transactionHash = rest.Kind{
		Parse: blockHash.Parse,
		Doc: "The hash of a transaction or its first 32 bytes, or the hash of an Ethereum " +
			"transaction, in hex.", Pattern: blockHashPattern,
	}.Only(rest.Eq)
)

// bindContractIDs sets filter.id of GET /contracts from the ids and long-zero addresses in contract.id, and
// filter.contracts from other addresses, which [contractID] accepts with eq only and the graph looks up. Contracts
// match one of the ids with eq or of the addresses, and all conditions with other operators. An id that cannot exist
// is the 400 [badCallee].
func bindContractIDs(r *rest.Request, values []rest.Value) error {
	var ids []rest.Value
	var addresses []any
	for _, v := range values {
		ref, err := ledger.ParseContractRef(v.Text, r.Config.Base)
		switch {
		case err != nil:
			return badCallee
		case ref.Address.Valid:
			addresses = append(addresses, ref.String())
		default:
			v.Text = ref.String()
			ids = append(ids, v)
		}
	}
	if addresses != nil {
		r.Set("filter.contracts", addresses)
	}
	if ids == nil {
		return nil
	}
	return rest.IDs("filter.id")(r, ids)
}

var contractParams = []rest.Param{{
	Name: "timestamp", Kind: rest.Timestamp,
	Doc: "Returns the newest version that matches all conditions. `eq` returns the version at this time.",
}}

// finishContract sets the variables of GET /contracts/{id}: the contract in the path and the time. The 400 for an
// invalid id shows shard and realm.
func finishContract(r *rest.Request) error {
	ref, err := ledger.ParseContractRef(r.Path("id"), r.Config.Base)
	var bad *ledger.EntityIDError
	switch {
	case errors.As(err, &bad):
		return rest.Bad(`Invalid entity ID "` + bad.ID + `"`)
	case err != nil:
		return badCallee
	}
	r.Set("id", ref.String())
	return bindAsOf(r)
}

// bindAsOf sets the variable at, the time of the requested version of a contract or its state, from the parameter
// timestamp. An invalid one is a 400. Without the parameter it sets nothing.
func bindAsOf(r *rest.Request) error {
	return rest.AsOf("at")(r, r.Values("timestamp"))
}

var stateParams = []rest.Param{
	limit, order,
	{Name: "slot", Kind: word.Except(rest.Ne), Doc: "Filters by storage slot."},
	{
		Name: "timestamp", Kind: rest.Timestamp,
		Doc: "Returns the newest change of each slot that matches all conditions. `eq` returns the value at this time.",
	},
}

// wholeWord returns a hexadecimal word of at most 64 digits as "0x" and 64 digits in lower case. The caller has
// checked that it has no more.
func wholeWord(text string) string {
	digits := strings.ToLower(ledger.TrimHexPrefix(text))
	return "0x" + strings.Repeat("0", 64-len(digits)) + digits
}

// noState is the response for an unknown address.
var noState = &rest.Direct{Body: `{"state":[],"links":{"next":null}}`}

// finishState sets the variables of GET /contracts/{id}/state: contract, moment and slots. The operator ne of
// timestamp is a 400, but if the contract is an unknown address, the error is noState, a response and no failure.
func finishState(r *rest.Request) error {
	ref, err := calleeOf(r)
	if err != nil {
		return err
	}
	r.Set("contract", ref.String())
	for _, v := range r.Values("timestamp") {
		if v.Op == rest.Ne {
			return unlessUnknown(r, ref, noState, rest.Bad("Not equals (ne) operator is not supported for timestamp"))
		}
	}
	if err := bindAsOf(r); err != nil {
		return err
	}
	r.Set("filter.slot", slotFilter(r))
	return nil
}

// unlessUnknown returns problem, or empty, which is a response and no failure, if the contract is an address without an
// entity. It looks up the entity of an address in the graph, and returns the error if that fails. For an id it reads
// nothing.
func unlessUnknown(r *rest.Request, ref ledger.AccountRef, empty *rest.Direct, problem error) error {
	if !ref.Address.Valid {
		return problem
	}
	owner, err := entityOf(r, ref)
	switch {
	case err != nil:
		return err
	case owner == "":
		return empty
	default:
		return problem
	}
}

// slotOrder returns the text by which GET /contracts/{id}/state compares a slot, given in hex: all digits in current
// state, or without leading zero bytes in historical state.
func slotOrder(r *rest.Request, text string) string {
	digits := wholeWord(text)[2:]
	for r.Query.Get("timestamp") != nil && strings.HasPrefix(digits, "00") {
		digits = digits[2:]
	}
	return digits
}

// slotFilter returns the graph's filter of slots from the parameter slot of GET /contracts/{id}/state, or nil without
// conditions. Of several bounds with the same operator it has the narrowest one. Values with eq are alternatives.
func slotFilter(r *rest.Request) map[string]any {
	values := r.Values("slot")
	if values == nil {
		return nil
	}
	f := map[string]any{}
	var equal []any
	for _, v := range values {
		text, name := wholeWord(v.Text), string(v.Op)
		if v.Op == rest.Eq {
			equal = append(equal, text)
			continue
		}
		if old, ok := f[name].(string); ok {
			narrower := slotOrder(r, text) > slotOrder(r, old)
			if v.Op == rest.Lt || v.Op == rest.Lte {
				narrower = slotOrder(r, text) < slotOrder(r, old)
			}
			if !narrower {
				continue
			}
		}
		f[name] = text
	}
	if equal != nil {
		f["in"] = equal
	}
	return f
}

// printSlot appends the slot v, at most 32 bytes, to links.next of GET /contracts/{id}/state: as "0x" and 64 digits. A
// v of another type counts as slot 0.
func printSlot(dst []byte, v any) []byte {
	slot, _ := v.([]byte)
	return append(dst, wholeWord(string(ledger.AppendHex(nil, slot)))...)
}

// noSlots reports whether no slot satisfies the bounds of the parameter slot, in the order of [slotOrder], so that the
// list has no next page. It reads r only.
func noSlots(r *rest.Request, bounds []rest.Value) bool {
	lower, below := "", "g" // the first text within the bounds, and the one after the last; "g" is above all
	for _, v := range bounds {
		text := slotOrder(r, v.Text)
		switch v.Op {
		case rest.Gt:
			lower = max(lower, slotAfter(r, text))
		case rest.Gte:
			lower = max(lower, text)
		case rest.Lt:
			below = min(below, text)
		case rest.Lte:
			below = min(below, slotAfter(r, text))
		default:
		}
	}
	return lower >= below
}

// slotAfter returns the text that follows a slot in the order of [slotOrder]. In current state, the text after the
// last slot is "g", which is above all.
func slotAfter(r *rest.Request, text string) string {
	if r.Query.Get("timestamp") != nil {
		if text == "" {
			return "01" // without leading zero bytes
		}
		return text + "00"
	}
	next, _ := new(big.Int).SetString("0"+text, 16)
	if digits := next.Add(next, big.NewInt(1)).Text(16); len(digits) <= len(text) {
		return wholeWord(digits)[2:]
	}
	return "g"
}
