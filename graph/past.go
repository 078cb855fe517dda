package graph

import (
	"context"
	_ "embed"
	"strings"

	"heliograph/graph/rowplan"
	"heliograph/internal/domain/ledger"
)

// PastFields read fields at a past moment that the present reads from the rows: they write into the rows.
type PastFields interface {
	FillAccounts(context.Context, rowplan.Request, []*ledger.Account) (rowplan.Results[struct{}], error)
	FillAirdrops(context.Context, rowplan.Request, []*ledger.Account) (rowplan.Results[struct{}], error)
	FillHooks(context.Context, rowplan.Request, []*ledger.Account) (rowplan.Results[struct{}], error)
	FillPendingRewards(context.Context, rowplan.Request, []*ledger.Account) (rowplan.Results[struct{}], error)
	FillRelationships(context.Context, rowplan.Request, []*ledger.TokenRelationship) (rowplan.Results[struct{}], error)
	FillSchedules(context.Context, rowplan.Request, []*ledger.Schedule) (rowplan.Results[struct{}], error)
	FillSupplies(context.Context, rowplan.Request, []*ledger.Token) (rowplan.Results[struct{}], error)
	FillTokenBalances(context.Context, rowplan.Request, []*ledger.TokenBalance) (rowplan.Results[struct{}], error)
}

// PastSources is the table of the fields below LedgerState: each line has a field, its source, and what there is to say
// about it. A field without a line, and one with the source "unknown", has an error.
//
//go:embed past.csv
var PastSources string

// pastOf parses a table with the lines "Type.field,source,remark" and returns which fields can be read at a past
// moment, and for others the remark as the reason why not.
func pastOf(table string) *rowplan.Past {
	p := &rowplan.Past{Known: map[string]bool{}, Unknown: map[string]string{}}
	for line := range strings.Lines(table) {
		field, rest, _ := strings.Cut(strings.TrimSpace(line), ",")
		source, remark, _ := strings.Cut(rest, ",")
		if source == "unknown" {
			p.Unknown[field] = remark
		} else {
			p.Known[field] = true
		}
	}
	return p
}

// setPast prepares the tables of o for states at past moments: which fields are known, and which functions of the
// resolvers fill columns. NewTables calls it once. Resolvers that do not implement [PastFields], as in tests, fill
// none.
func (o *objects) setPast() {
	o.LedgerState.Begin(pastOf(PastSources))
	fields, ok := o.fields.(PastFields)
	if !ok { // of tests
		return
	}
	o.Account.Fill(fields.FillAccounts, "balance", "balanceValue", "holdings")
	o.Account.Fill(fields.FillAirdrops, "outstandingAirdrops", "pendingAirdrops")
	o.Account.Fill(fields.FillHooks, "hooks")
	o.Account.Fill(fields.FillPendingRewards, "pendingReward", "pendingRewardValue")
	o.Schedule.Fill(fields.FillSchedules, "state")
	o.Token.Fill(fields.FillSupplies, "totalSupply", "totalSupplyValue")
	o.TokenBalance.Fill(fields.FillTokenBalances, "balance", "balanceValue")
	o.TokenRelationship.Fill(fields.FillRelationships, "balance", "balanceValue")
}
