package v1

import (
	"strconv"
	"strings"

	"heliograph/rest"
)

// The common validations: the grammar of the query string, and whether the path is validated first.
var (
	grammarV1   = rest.Validation{Grammar: rest.V1}
	grammarV2   = rest.Validation{Grammar: rest.V2}
	pathFirstV1 = rest.Validation{Grammar: rest.V1, PathFirst: true}
	pathFirstV2 = rest.Validation{Grammar: rest.V2, PathFirst: true}
)

// The sort keys of lists, by which links.next continues.
var (
	byAccount     = []rest.Cursor{rest.EntityIDCursor("account.id")}
	byTimestamp   = []rest.Cursor{rest.TimestampCursor("timestamp")}
	byBlockNumber = []rest.Cursor{rest.NumberCursor("block.number")}
)

// limit and order are parameters of every list.
var (
	limit = rest.Param{
		Name: "limit", Kind: rest.Long(1), Bind: bindLimit,
		Doc: "The maximum number of items. Values above the maximum page size are reduced to it.", Single: true,
	}
	order = rest.Param{Name: "order", Kind: rest.OneOf("asc", "desc"), Bind: bindOrder, Doc: "Sort direction: ascending or descending."}
)

// always returns a function that selects the given operation.
func always(operation string) func(*rest.Request) string {
	return func(*rest.Request) string { return operation }
}

// bindLimit binds the last value, reduced to the maximum. The maximum does not apply to the default.
func bindLimit(r *rest.Request, values []rest.Value) error {
	v := values[len(values)-1]
	if r.Endpoint.Grammar == rest.V1 && v.Given {
		return rest.InvalidParameter("limit")
	}
	n, err := strconv.ParseInt(v.Text, 10, 64)
	if err != nil {
		return rest.InvalidParameter("limit")
	}
	r.Limit = int(min(n, int64(r.MaxLimit())))
	return nil
}

// bindOrder binds the last value. V1 ignores values with an operator and repeated values: the default applies.
func bindOrder(r *rest.Request, values []rest.Value) error {
	if r.Endpoint.Grammar == rest.V1 && (len(values) > 1 || values[0].Given) {
		return nil
	}
	r.Desc = strings.EqualFold(values[len(values)-1].Text, "desc")
	return nil
}

// withPath returns a copy of the endpoint with another path.
func withPath(e rest.Endpoint, path string) rest.Endpoint {
	e.Path = path
	return e
}

// undocumented returns a copy of the endpoint that the OpenAPI document omits.
func undocumented(e rest.Endpoint) rest.Endpoint {
	e.Undocumented = true
	return e
}
