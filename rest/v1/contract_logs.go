package v1

import (
	"slices"
	"strconv"

	"heliograph/internal/domain/ledger"
	"heliograph/rest"
)

// logsParams are the parameters of both lists of logs.
var logsParams = []rest.Param{
	{
		Name: "index", Kind: rest.Index,
		Doc: "Filters by index in the transaction. A bound requires a bound of `timestamp` on the same side, and " +
			"applies only " +
			"at that timestamp.",
	},
	limit, order,
	{Name: "timestamp", Kind: rest.Timestamp, Doc: "Filters by consensus timestamp."},
	topicParam(0), topicParam(1), topicParam(2), topicParam(3),
}

// topicParam returns the parameter of the topic at index n, 0 to 3, for both lists of logs. Several values are
// alternatives. It binds nothing: [logSearch] reads the values.
func topicParam(n int) rest.Param {
	return rest.Param{
		Name: topic(n), Kind: word.Only(rest.Eq),
		Doc: "Filters by the topic at this index. Requires a timestamp, or a range of timestamps of at most 7 days.",
	}
}

// topic returns the name of the parameter of the topic at index n.
func topic(n int) string { return "topic" + strconv.Itoa(n) }

// noLogs is the response if no log can match the conditions.
var noLogs = &rest.Direct{Body: `{"logs":[],"links":{"next":null}}`}

// logTimes returns the values of the parameter timestamp of a list of logs. A range from a timestamp to the same one,
// both included, becomes that timestamp with eq.
func logTimes(r *rest.Request) []rest.Value {
	values := r.Values("timestamp")
	if len(values) != 2 {
		return values
	}
	ops := []rest.Op{values[0].Op, values[1].Op}
	first, _, err1 := rest.ParseTimestamp(values[0].Text)
	second, _, err2 := rest.ParseTimestamp(values[1].Text)
	if err1 == nil && err2 == nil && first == second && slices.Contains(ops, rest.Gte) &&
		slices.Contains(ops, rest.Lte) {
		return []rest.Value{{Op: rest.Eq, Text: values[0].Text}}
	}
	return values
}

// finishLogs checks the parameters of GET /contracts/results/logs together and sets the filters that depend on several
// of them. If conditions exclude each other, the error is noLogs, a response and no failure. Unless the client
// requests the logs of one transaction, it may close an open range of timestamps and cut a long one, for which it may
// read the first transaction; see [boundRange].
func finishLogs(r *rest.Request) error {
	times, set, err := logSearch(r)
	if err != nil {
		return err
	}
	if err := checkLogBounds(r, times); err != nil {
		return err
	}
	hash := r.Values("transaction.hash")
	if hash != nil {
		r.Set("filter.transactionHash", hash[0].Text)
	}
	if set.Empty() {
		return noLogs
	}
	if hash == nil {
		if err := boundRange(r, set); err != nil {
			return err
		}
	}
	return selectLogs(r, set)
}

// finishLogsOfContract checks the parameters of GET /contracts/{id}/results/logs and sets their filters. It looks up
// the contract before it reports contradicting bounds. For an ID with the number 0, an empty range of timestamps, and
// invalid bounds for an unknown address, the error is noLogs, a response and no failure.
func finishLogsOfContract(r *rest.Request) error {
	times, set, err := logSearch(r)
	if err != nil {
		return err
	}
	ref, err := calleeOf(r)
	if err != nil {
		return err
	}
	if !ref.Address.Valid && ref.ID.IsNone() {
		return noLogs
	}
	r.Set("filter.contract", ref.String())
	if err := checkLogBounds(r, times); err != nil {
		return unlessUnknown(r, ref, noLogs, err)
	}
	if set.Empty() {
		return noLogs
	}
	return selectLogs(r, set)
}

// logSearch returns the values of timestamp, also as conditions, and sets the filter of topics. A search by topics
// without a timestamp or a short range is a 400.
func logSearch(r *rest.Request) (times []rest.Value, set *rest.Conditions, err error) {
	times = logTimes(r)
	set, err = rest.TimestampsOf(times)
	if err != nil {
		return nil, nil, err
	}
	var topics []any
	searched := false
	for n := range ledger.MaxTopics {
		wanted := []any{}
		for _, v := range r.Values(topic(n)) {
			wanted, searched = append(wanted, wholeWord(v.Text)), true
		}
		topics = append(topics, wanted)
	}
	if !searched {
		return times, set, nil
	}
	if text := set.CheckInstant(); text != "" {
		return nil, nil, rest.Bad("Cannot search topics without a valid timestamp range: " + text)
	}
	r.Set("filter.topics", topics)
	return times, set, nil
}

// checkLogBounds returns a 400 for timestamps and indexes that do not form a range of the list. It first reports
// excess values in the order of the request.
func checkLogBounds(r *rest.Request, times []rest.Value) error {
	index := r.Values("index")
	for _, p := range r.Query {
		var err error
		switch p.Name {
		case "timestamp":
			err = rest.CheckBounds(p.Name, times)
		case "index":
			err = rest.CheckBounds(p.Name, index)
		case "transaction.hash":
			if len(p.Values) > 1 {
				err = rest.Bad("Only one transaction.hash filter is allowed")
			}
		}
		if err != nil {
			return err
		}
	}
	return rest.CheckPair("timestamp", times, "index", index)
}

// selectLogs sets the variables of timestamps and indexes and selects how the list is continued: within one timestamp
// by index only, and at an exact index not at all. It does not fail: the kind of the parameter index has checked its
// values.
func selectLogs(r *rest.Request, set *rest.Conditions) error {
	r.Set("filter.timestamp", set.Filter())
	index := r.Values("index")
	if index != nil {
		if err := rest.Longs("filter.index")(r, index); err != nil {
			return err
		}
	}
	if set.HasEq() {
		r.Next = byIndex
		if len(index) > 0 && index[0].Op == rest.Eq {
			r.Next = nil
		}
	}
	return nil
}
