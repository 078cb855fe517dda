package v1

import (
	"strconv"

	"heliograph/internal/domain/ledger"
	"heliograph/rest"
)

var blocksParams = []rest.Param{
	{Name: "block.number", Kind: rest.BlockNumber.Except(rest.Ne), Bind: rest.Longs("filter.number"), Doc: "Filters by block number."},
	{Name: "timestamp", Kind: rest.Timestamp, Bind: rest.Timestamps("filter.timestamp"), Doc: "Filters by the consensus timestamp of the last transaction."},
	limit, order,
}

// finishBlocks orders by the parameter that the query has first.
func finishBlocks(r *rest.Request) error {
	r.Variables["orderBy"] = "TIMESTAMP"
	for _, p := range r.Query {
		if p.Name == "block.number" {
			r.Variables["orderBy"] = "NUMBER"
		}
		if p.Name == "block.number" || p.Name == "timestamp" {
			break
		}
	}
	return nil
}

func bindBlock(r *rest.Request) error {
	text := r.Path.Get("hashOrNumber")
	if n, err := strconv.ParseInt(text, 10, 64); err == nil && rest.IsDigits(text) { // shorter than a hash
		r.Set("number", strconv.FormatInt(n, 10))
		return nil
	}
	h, err := ledger.ParseHash(text)
	if err != nil {
		return rest.InvalidParameter("hashOrNumber")
	}
	r.Set("hash", h.String())
	return nil
}
