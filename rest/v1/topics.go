package v1

import (
	"strconv"
	"strings"

	"heliograph/rest"
)

var topicPath = []rest.Param{{Name: "id", Kind: rest.PathID, Bind: rest.Texts("id")}}

var topicMessagesParams = []rest.Param{
	{
		Name: "encoding", Kind: rest.OneOf("base64", "utf-8", "utf8"),
		Doc: "The encoding of messages: base64 or text. Default: base64.",
	},
	limit, order,
	{Name: "sequencenumber", Kind: rest.Long(1), Bind: withoutNe(rest.Longs("filter.sequenceNumber"),
		"sequencenumber"), Doc: "Filters by sequence number."},
	{
		Name: "timestamp", Kind: rest.Timestamp, Bind: withoutNe(rest.Timestamps("filter.timestamp"), "timestamp"),
		Doc: "Filters by consensus timestamp.",
	},
}

// withoutNe returns bind, which rejects ne with a 400 if messages are found through their lookup table, because that
// supports ranges only. name is the parameter in the text of the 400.
func withoutNe(bind rest.Bind, name string) rest.Bind {
	without := bind.Without(rest.Ne, "Not equal (ne) operator is not supported for "+name)
	return func(r *rest.Request, values []rest.Value) error {
		if r.Config.TopicMessageLookup {
			return without(r, values)
		}
		return bind(r, values)
	}
}

// messageOperation returns the operation of GET /topics/{id}/messages with the requested encoding of messages: text
// only if the last encoding requests it without an operator.
func messageOperation(r *rest.Request) string {
	if all := r.Query.Get("encoding"); len(all) > 0 {
		if last := strings.ToLower(all[len(all)-1]); last == "utf-8" || last == "utf8" {
			return "TopicMessagesText"
		}
	}
	return "TopicMessages"
}

// bindTopic checks the topic ID in the path of GET /topics/{id}/messages, then sets the variable of the topic. Another
// text is a 400.
func bindTopic(r *rest.Request) error {
	if !rest.IsEntityID(r.Path("id")) {
		return rest.InvalidParameter("topic.id")
	}
	return bindTopicOf(r)
}

// bindTopicOf sets the variable topic from the id in the path, whose syntax was validated. An ID that cannot exist is
// a 400.
func bindTopicOf(r *rest.Request) error {
	id, err := rest.ExpandID(r.Config, r.Path("id"))
	if err != nil {
		return err
	}
	r.Set("topic", id.String())
	return nil
}

// bindMessage sets the variable topic and either sequenceNumber or at, a consensus timestamp, which has a point, from
// the path of GET /topics/{id}/messages/{sequenceNumber}. Another text is a 400, which has the errors of both.
func bindMessage(r *rest.Request) error {
	number := r.Path("sequenceNumber")
	if strings.Contains(number, ".") && rest.IsEntityID(r.Path("id")) {
		if at, _, err := rest.ParseTimestamp(number); err == nil {
			r.Set("at", at.String())
			return bindTopicOf(r)
		}
	}
	var bad []string
	if !rest.IsEntityID(r.Path("id")) {
		bad = append(bad, "Invalid parameter: topic.id")
	}
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil || n < 1 || !rest.IsDigits(number) {
		bad = append(bad, "Invalid parameter: sequencenumber")
	}
	if bad != nil {
		return rest.Bad(bad...)
	}
	r.Set("sequenceNumber", strconv.FormatInt(n, 10))
	return bindTopicOf(r)
}

// bindMessageTime sets the variable at to the consensus timestamp in the path of GET
// /topics/messages/{consensusTimestamp}. Another text is a 400.
func bindMessageTime(r *rest.Request) error {
	at, _, err := rest.ParseTimestamp(r.Path("consensusTimestamp"))
	if err != nil {
		return rest.InvalidParameter("consensus_timestamp")
	}
	r.Set("at", at.String())
	return nil
}
