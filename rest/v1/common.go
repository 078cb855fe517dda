package v1

import (
	"strconv"
	"strings"

	"heliograph/rest"
)

// The keys by which pages go on.
var (
	byAccount     = []rest.Cursor{rest.EntityIDCursor("account.id")}
	byTimestamp   = []rest.Cursor{rest.TimestampCursor("timestamp")}
	byBlockNumber = []rest.Cursor{rest.NumberCursor("block.number")}
)

// limit and order are taken by every list.
var (
	limit = rest.Param{Name: "limit", Kind: rest.Long(1), Bind: bindLimit, Doc: "How many items the answer has at most. More than the greatest page size count as that.", Single: true}
	order = rest.Param{Name: "order", Kind: rest.OneOf("asc", "desc"), Bind: bindOrder, Doc: "The order of the items: ascending or descending."}
)

// always chooses one operation.
func always(operation string) func(*rest.Request) string {
	return func(*rest.Request) string { return operation }
}

// bindLimit takes the last value; larger ones than the greatest allowed are cut later.
func bindLimit(r *rest.Request, values []rest.Value) error {
	v := values[len(values)-1]
	if r.Endpoint.Grammar == rest.V1 && v.Given {
		return rest.InvalidParameter("limit")
	}
	n, err := strconv.ParseInt(v.Text, 10, 64)
	if err != nil {
		return rest.InvalidParameter("limit")
	}
	r.Limit = int(min(n, maxLimit))
	return nil
}

// maxLimit is more than any page size that can be configured.
const maxLimit = 1 << 30

// bindOrder takes the last value. V1 reads neither an operator nor a repeated value: the default stays.
func bindOrder(r *rest.Request, values []rest.Value) error {
	if r.Endpoint.Grammar == rest.V1 && (len(values) > 1 || values[0].Given) {
		return nil
	}
	r.Desc = strings.EqualFold(values[len(values)-1].Text, "desc")
	return nil
}
