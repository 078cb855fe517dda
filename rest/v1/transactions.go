package v1

import (
	"encoding/json"
	"errors"
	"strconv"
	"strings"

	"heliograph/internal/domain/ledger"
	"heliograph/rest"
)

var transactionsParams = []rest.Param{
	{
		Name: "account.id", Kind: rest.EntityID, Bind: rest.IDs("filter.accountId"),
		Doc: "Filters by account: the payer, or an account in a transfer.",
	},
	{Name: "timestamp", Kind: rest.Timestamp, Doc: "Filters by consensus timestamp."},
	{
		Name: "result", Kind: rest.OneOf("success", "fail"), Doc: "Filters by result.",
		Bind: func(r *rest.Request, values []rest.Value) error {
			outcome := ledger.OutcomeSuccess
			if strings.EqualFold(values[len(values)-1].Text, "fail") {
				outcome = ledger.OutcomeFailure
			}
			r.Set("filter.outcome", string(outcome))
			return nil
		},
	},
	{
		Name: "type", Kind: rest.OneOf("credit", "debit"),
		Doc: "Filters by direction of the transfer: to or from the accounts in `account.id`.",
		Bind: func(r *rest.Request, values []rest.Value) error {
			r.Set("filter.direction", strings.ToUpper(values[0].Text))
			return nil
		},
	},
	{
		Name: "transactiontype", Kind: rest.TransactionType, Bind: rest.Enums("filter.types"),
		Doc: "Filters by transaction type.",
	},
	limit, order,
}

// noTransactions is the response if the conditions contradict each other.
var noTransactions = &rest.Direct{Body: `{"transactions":[],"links":{"next":null}}`}

// finishTransactions checks the parameters of GET /transactions together and sets the bounds of the time. If
// parameters exclude each other, the error is noTransactions, a response and no failure. An invalid timestamp is a
// 400. For an open range it may read the first transaction; if that fails, the error is returned.
func finishTransactions(r *rest.Request) error {
	directions := r.Values("type")
	for _, v := range directions {
		if !strings.EqualFold(v.Text, directions[0].Text) {
			return noTransactions // a transfer cannot be both
		}
	}
	at, err := r.TimestampFilter("timestamp")
	if err != nil {
		return err
	}
	if at.Empty() || at.Contradicts() {
		return noTransactions
	}
	return boundTransactions(r, at)
}

// boundTransactions sets the variable filter.timestamp to at. If the configuration requires it, it first closes and
// cuts the range in at, for which it may read the first transaction and set r.Cut; see [boundRange]. An error of that
// is returned, and nothing is set.
func boundTransactions(r *rest.Request, at *rest.Conditions) error {
	if err := boundRange(r, at); err != nil {
		return err
	}
	r.Set("filter.timestamp", at.Filter())
	return nil
}

// boundRange changes the range of timestamps in at if the configuration requires it and at has no eq: it closes an
// open range with the first transaction, which it may read through the graph, and the current time, and cuts a range
// that is too long, for which it sets r.Cut. If reading fails, it returns the error and changes nothing.
func boundRange(r *rest.Request, at *rest.Conditions) error {
	if !r.Config.BindTimestampRange || at.HasEq() {
		return nil
	}
	return at.Bound(r, func() (ledger.Timestamp, error) {
		return r.Config.FirstTransaction(func() (ledger.Timestamp, error) { return firstTransaction(r) })
	})
}

// firstTransaction reads the consensus timestamp of the oldest transaction, or returns 0 if there are no transactions.
// It fails if the operation fails, or does not run because the request is only explained.
func firstTransaction(r *rest.Request) (ledger.Timestamp, error) {
	found, err := r.RunOperation("FirstTransaction", map[string]any{})
	if err != nil {
		return 0, err
	}
	var data struct {
		Transactions struct {
			Nodes []struct {
				ConsensusTimestamp string `json:"consensusTimestamp"`
			} `json:"nodes"`
		} `json:"transactions"`
	}
	if err := json.Unmarshal(found, &data); err != nil {
		return 0, err //nolint:wrapcheck // becomes an internal error
	}
	if len(data.Transactions.Nodes) == 0 {
		return 0, nil
	}
	return ledger.ParseTimestamp(data.Transactions.Nodes[0].ConsensusTimestamp)
}

var transactionParams = []rest.Param{
	{
		Name: "nonce", Kind: rest.Int.Only(rest.Eq),
		Doc: "Filters by nonce. The nonce of the transaction that the user sent is 0.",
		Bind: func(r *rest.Request, values []rest.Value) error {
			n, err := strconv.Atoi(values[len(values)-1].Text)
			r.Set("nonce", n)
			return err //nolint:wrapcheck // its kind has made sure that it is a number
		},
	},
	{
		Name: "scheduled", Kind: rest.Boolean,
		Doc:  "True returns only scheduled transactions, false only transactions that were not scheduled.",
		Bind: rest.LastBoolean("scheduled"),
	},
}

// badTransactionID is the problem of a value that is neither a transaction id nor a hash.
var badTransactionID = rest.Bad(`Invalid Transaction id. Please use "shard.realm.num-sss-nnn" format where sss are ` +
	`seconds and nnn are nanoseconds`)

// bindTransaction sets the variable hash or id of the transaction in the path of GET
// /transactions/{transactionIdOrHash}. An invalid id is a 400, or a 404 if its valid start is out of range.
func bindTransaction(r *rest.Request) error {
	text := r.Path("transactionIdOrHash")
	if hash, err := ledger.ParseTransactionHash(text); err == nil {
		r.Set("hash", hash.String())
		return nil
	}
	return bindTransactionID(r, text, "id")
}

// bindTransactionID sets a variable to the transaction ID in a text. Each kind of invalid ID has its own problem: a
// 400, or a 404 if the valid start is out of range.
func bindTransactionID(r *rest.Request, text, variable string) error {
	id, err := ledger.ParseTransactionID(text)
	var badEntity *ledger.EntityIDError
	switch {
	case errors.As(err, &badEntity):
		return rest.Bad(`Invalid entity ID "` + badEntity.ID + `"`)
	case errors.Is(err, ledger.ErrRange):
		return rest.NotFound("Not found") // no transaction has such a valid start
	case err != nil:
		return badTransactionID
	}
	r.Set(variable, id.String())
	return nil
}

// finalScheduleAge is the max-age, in seconds, of responses about schedules that no longer change.
const finalScheduleAge = 3600

// scheduleEndpoints returns the descriptions of the endpoints of schedules.
func scheduleEndpoints() []rest.Endpoint {
	return []rest.Endpoint{
		{
			Path: "/schedules", Grammar: rest.ByGroup, Params: schedulesParams, Document: "schedules.graphql",
			Next:    []rest.Cursor{rest.EntityIDCursor("schedule.id")},
			Options: rest.Options{OmitNull: [][]string{{"deleted", "memo"}}},
			MaxAge:  10,
		},
		{
			Path: "/schedules/{scheduleId}", Grammar: rest.InOrder, Document: "schedule.graphql",
			BindPath: bindSchedule, MaxAge: finalScheduleAge, Options: rest.Options{MaxAgeVolatile: shortAge},
		},
	}
}

var schedulesParams = []rest.Param{
	{
		Name: "account.id", Kind: rest.EntityID, Bind: rest.AllIDs("filter.creatorAccountId"),
		Doc: "Filters by creator account.",
	},
	limit, order,
	{Name: "schedule.id", Kind: rest.EntityID, Bind: rest.AllIDs("filter.id"), Doc: "Filters by schedule ID."},
}

// bindSchedule sets the variable id from the schedule in the path of GET /schedules/{scheduleId}. Another text is a
// 400.
func bindSchedule(r *rest.Request) error {
	text := r.Path("scheduleId")
	id, err := ledger.ParseEntityID(text, r.Config.Base)
	if err != nil || !rest.IsEntityID(text) {
		return rest.InvalidParameter("scheduleid")
	}
	r.Set("id", id.String())
	return nil
}
