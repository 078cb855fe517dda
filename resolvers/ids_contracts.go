package resolvers

import (
	"context"
	"strconv"
	"strings"

	"heliograph/graph/fault"
	"heliograph/graph/relay"
	"heliograph/graph/rowplan"
	"heliograph/internal/domain/ledger"
	"heliograph/storage/transactions"
)

// The types of contracts and their logs in global ids.
const (
	contractType = "Contract"
	logType      = "ContractLog"
)

// The names of their lists in cursors.
const (
	contractKind = "contracts"
	logKind      = "contract logs"
	slotKind     = "slots"
	slotAtKind   = "slots at a time"
)

func contractID(c *ledger.Contract) string { return relay.ID(contractType, c.EntityID.String()) }

func logID(l *ledger.ContractLog) string {
	return relay.ID(logType, l.ConsensusTimestamp.String()+"/"+strconv.Itoa(int(l.Index)))
}

func addContractIDs(t *rowplan.Tables) {
	t.Contract.Add("id", idField(contractID))
	t.ContractLog.Add("id", idField(logID))
}

// logByID reads the log that a global id names.
func (r *Resolver) logByID(ctx context.Context, name string) (relay.Node, error) {
	when, place, _ := strings.Cut(name, "/")
	at, err := ledger.ParseTimestamp(when)
	if err != nil {
		return nil, fault.Input("%v", err)
	}
	index, err := strconv.ParseInt(place, 10, 32)
	if err != nil {
		return nil, fault.Input("%q names no log", name)
	}
	return present(transactions.ContractLog(ctx, r.db, at, index))
}
