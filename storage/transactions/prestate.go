package transactions

import (
	"context"
	"fmt"
	"slices"

	"github.com/hiero-ledger/hiero-sdk-go/v2/proto/services"
	"google.golang.org/protobuf/proto"

	"heliograph/internal/domain/ledger"
	"heliograph/storage"
)

// Touched has the recorded parts of a transaction from which the state that it touched is derived.
type Touched struct {
	Actions []*TouchingAction
	// Created are the accounts and contracts that the transaction created, and Nonces those whose nonce the record
	// has.
	Created []ledger.EntityID
	Nonces  map[ledger.EntityID]int64
	// Slots are the storage slots that were read or written.
	Slots []*ledger.ContractStateChange
}

// TouchingAction is an action with the parties and the value of a call. IDs are 0 if they are unknown.
type TouchingAction struct {
	Caller, Account, Contract ledger.EntityID
	Depth                     int32
	Operation                 ledger.CallOperationType
	Value                     int64
	// Moved reports whether the call transferred its value: it did not fail, and runs with a value of its own.
	Moved bool
}

// finishTouching sets the members of an action that are computed from columns, and whether it has moved value. The
// error is always nil.
func finishTouching(a *touchingRow) error {
	a.Caller, a.Account, a.Contract = a.caller.V, a.account.V, a.contract.V
	a.Operation = ledger.CallOperationTypeOf(a.operation.V)
	switch ledger.ResultDataTypeOf(a.dataType) {
	case ledger.ResultRevertReason, ledger.ResultError:
	default:
		inherits := a.Operation == ledger.OperationDelegatecall || a.Operation == ledger.OperationStaticcall
		a.Moved = a.Value > 0 && !inherits
	}
	return nil
}

// createAccount is the type of transactions that create accounts.
const createAccount = 11

// Limits of the rows that [ReadTouched] reads.
const (
	maxTouchingActions = 100_000
	maxTouchedSlots    = 50_000
)

// ReadTouched reads the recorded parts of the transaction of a result, from which traces of the state before it
// start: actions, created entities and nonces. slots also reads the storage slots. It takes one round trip. It omits,
// without an error, actions and slots beyond maxTouchingActions and maxTouchedSlots, and the nonces of a malformed
// record. It does not change r, and the result shares no memory with it.
func ReadTouched(ctx context.Context, db *storage.DB, r *ledger.ContractResult, slots bool) (*Touched, error) {
	b := db.NewBatch()
	at, payer := int64(r.ConsensusTimestamp), int64(r.PayerAccountID)
	actions := touchingRows.Queue(b, `select `+touchingColumns+`
from contract_action where consensus_timestamp = $1 and payer_account_id = $2 order by index limit $3`,
		[]any{at, payer, maxTouchingActions})
	// Accounts are created by transactions with the same ID, just before or after.
	created := storage.Values[ledger.EntityID]().Queue(b, `select c.entity_id from transaction t
join transaction c on c.payer_account_id = t.payer_account_id and c.valid_start_ns = t.valid_start_ns
where t.consensus_timestamp = $1 and t.payer_account_id = $2 and c.nonce > t.nonce and c.type = $3 and c.result = any($4)
  and c.entity_id is not null and coalesce(c.parent_consensus_timestamp, $1) = $1
order by c.consensus_timestamp`, []any{at, payer, int16(createAccount), codes(ledger.SuccessCodes())})
	records := storage.Values[[]byte]().Queue(b, `select function_result from contract_result
where consensus_timestamp = $1 and contract_id = $2`,
		[]any{at, int64(r.ContractID)})
	changes := storage.Known[[]*ledger.ContractStateChange](nil)
	if slots {
		changes = stateChangeRows.Queue(b, `select s.contract_id, s.slot, s.value_read, s.value_written, null::bytea
from contract_state_change s
where s.consensus_timestamp = $1 and not s.migration order by s.contract_id, s.slot limit $2`,
			[]any{at, maxTouchedSlots})
	}
	if err := b.Run(ctx); err != nil {
		return nil, fmt.Errorf("reading what a transaction touched: %w", err)
	}
	t := &Touched{Created: slices.Clone(r.CreatedContractIDs), Nonces: map[ledger.EntityID]int64{}}
	var err error
	t.Actions, err = actions()
	if err != nil {
		return nil, err
	}
	t.Slots, err = changes()
	if err != nil {
		return nil, err
	}
	ids, err := created()
	if err != nil {
		return nil, err
	}
	for _, id := range ids {
		t.Created = append(t.Created, *id)
	}
	record, err := storage.First(records)()
	if err != nil {
		return nil, err
	}
	var result services.ContractFunctionResult
	if record != nil && proto.Unmarshal(*record, &result) == nil { // a malformed record has no nonces
		for _, n := range result.GetContractNonces() {
			id := n.GetContractId()
			if entity, err := ledger.NewEntityID(id.GetShardNum(), id.GetRealmNum(), id.GetContractNum()); err == nil {
				t.Nonces[entity] = n.GetNonce()
			}
		}
	}
	return t, nil
}

// TouchedEntity is the current version of an account or contract.
type TouchedEntity struct {
	ID      ledger.EntityID
	Type    ledger.EntityType
	Deleted bool
	Since   ledger.Timestamp
	Address []byte // assigned, or a 20-byte alias, or nil
	Code    []byte
}

// TouchedEntities reads the current versions of the accounts and contracts with the given ids, in no order, for traces
// of the state before a transaction. Those that do not exist are missing. Without code, the code of contracts is nil.
func TouchedEntities(ctx context.Context, db *storage.DB, ids []ledger.EntityID, code bool) ([]*TouchedEntity, error) {
	return touchedEntityRows.List(ctx, db, "touched entities", `select `+touchedEntityColumns+`
from entity e left join contract c on c.id = e.id
where e.id = any($1) and e.type in ('ACCOUNT', 'CONTRACT')`, storage.Int64s(ids), code)
}
