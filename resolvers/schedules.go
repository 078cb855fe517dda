package resolvers

import (
	"cmp"
	"context"
	"slices"

	"heliograph/graph"
	"heliograph/graph/fault"
	"heliograph/graph/relay"
	"heliograph/graph/rowplan"
	"heliograph/internal/base/list"
	"heliograph/internal/domain/ledger"
	"heliograph/internal/domain/ledger/codes"
	"heliograph/resolvers/loading"
	"heliograph/storage"
	"heliograph/storage/transactions"
)

var scheduleList = ofNumber("schedules", func(s *ledger.Schedule) int64 { return int64(s.EntityID) })

// ScheduleState resolves Schedule.state: the state of a schedule now, or at the moment of the state that is read. It
// reads only the row and the clock.
func (f fields) ScheduleState(s *ledger.Schedule) ledger.ScheduleState {
	return s.StateAt(cmp.Or(s.At, f.timestamp()))
}

// AccountSchedules resolves Account.schedules. It queues a read in the batch of q: a page of the schedules that each
// account created, ordered by id. A state in the filter is that of now, or of the moment of ctx. Invalid page
// arguments are BAD_USER_INPUT.
func (f fields) AccountSchedules(
	ctx context.Context, q rowplan.Request, of []*ledger.Account, args graph.AccountSchedulesArgs,
) (
	rowplan.Results[*relay.ScheduleConnection], error,
) {
	return scheduleList.below(ctx, q, args.Order, args.Args,
		true /* countable */, func(b *storage.Batch, p storage.Page) (storage.Result[[][]*ledger.Schedule], error) {
			return transactions.QueueAccountSchedules(b, accountIDs(of), args.Filter, f.moment(ctx), p), nil
		})
}

// Schedule resolves Query.schedule. It reads a schedule, and its signatures in the same round trip; nil if it does not
// exist. While it is pending, the error beside it is a [relay.Note], which says that the response may change soon.
func (r queries) Schedule(ctx context.Context, args graph.QueryScheduleArgs) (*ledger.Schedule, error) {
	s, err := loading.LoadAhead(ctx, r.db, r.tables, scheduleType, args.ID, &ledger.Schedule{EntityID: args.ID},
		[]string{"signatures"}, transactions.QueueSchedules)
	if err == nil && s != nil && s.StateAt(r.timestamp()) == ledger.SchedulePending {
		err = &relay.Note{Volatile: true}
	}
	return s, err
}

// Schedules resolves Query.schedules. It reads a page of schedules, ordered by id. A state in the filter is that of
// now, and needs creators: otherwise it is BAD_USER_INPUT, as are invalid page arguments. Unfiltered lists have an
// estimated totalCount.
func (r queries) Schedules(ctx context.Context, args graph.QuerySchedulesArgs) (*relay.ScheduleConnection, error) {
	if f := args.Filter; f.State != nil && !selects(f.CreatorAccountID) {
		return nil, fault.Input("state requires creatorAccountId with eq or in")
	}
	c, err := scheduleList.root(ctx, args.Order, args.Args, func(p storage.Page) ([]*ledger.Schedule, error) {
		return transactions.Schedules(ctx, r.db, args.Filter, r.timestamp(), p)
	})
	return estimated(r.Resolver, c, unfiltered(args.Filter), transactions.CountSchedules), err
}

// keyOf returns a key of an entity, or nil if it has no such key.
type keyOf func(relay.Entity) *ledger.KeyInfo

// ownKey returns the key that controls an account, contract or schedule, or nil if it has none, does not exist or is
// of another type. It is part of finding who must sign a scheduled transaction.
func ownKey(e relay.Entity) *ledger.KeyInfo {
	switch e := e.(type) {
	case *ledger.Account:
		return e.Key
	case *ledger.Contract:
		return e.AdminKey
	case *ledger.Schedule:
		return e.AdminKey
	default:
		return nil
	}
}

// keyIn returns the function that returns a key of entities of one type with get, and nil for entities of other types.
func keyIn[T relay.Entity](get func(T) *ledger.KeyInfo) keyOf {
	return func(e relay.Entity) *ledger.KeyInfo {
		if t, ok := e.(T); ok {
			return get(t)
		}
		return nil
	}
}

// targetKeys are the keys that must sign a change of an entity, in addition to payer and senders. Other types have
// signers that are not in the database.
var targetKeys = map[ledger.TransactionType]keyOf{
	codes.TypeCryptoTransfer:             func(relay.Entity) *ledger.KeyInfo { return nil },
	codes.TypeContractCall:               func(relay.Entity) *ledger.KeyInfo { return nil },
	codes.TypeContractUpdate:             ownKey,
	codes.TypeContractDelete:             ownKey,
	codes.TypeCryptoUpdate:               ownKey,
	codes.TypeCryptoDelete:               ownKey,
	codes.TypeScheduleDelete:             ownKey,
	codes.TypeTokenAssociateToAccount:    ownKey,
	codes.TypeTokenDissociateFromAccount: ownKey,
	codes.TypeConsensusUpdateTopic:       keyIn(func(t *ledger.Topic) *ledger.KeyInfo { return t.AdminKey }),
	codes.TypeConsensusDeleteTopic:       keyIn(func(t *ledger.Topic) *ledger.KeyInfo { return t.AdminKey }),
	codes.TypeConsensusSubmitMessage:     keyIn(func(t *ledger.Topic) *ledger.KeyInfo { return t.SubmitKey }),
	codes.TypeTokenDelete:                keyIn(func(t *ledger.Token) *ledger.KeyInfo { return t.AdminKey }),
	codes.TypeTokenUpdate:                keyIn(func(t *ledger.Token) *ledger.KeyInfo { return t.AdminKey }),
	codes.TypeTokenFeeScheduleUpdate:     keyIn(func(t *ledger.Token) *ledger.KeyInfo { return t.FeeScheduleKey }),
	codes.TypeTokenFreezeAccount:         keyIn(func(t *ledger.Token) *ledger.KeyInfo { return t.FreezeKey }),
	codes.TypeTokenUnfreezeAccount:       keyIn(func(t *ledger.Token) *ledger.KeyInfo { return t.FreezeKey }),
	codes.TypeTokenGrantKycToAccount:     keyIn(func(t *ledger.Token) *ledger.KeyInfo { return t.KYCKey }),
	codes.TypeTokenRevokeKycFromAccount:  keyIn(func(t *ledger.Token) *ledger.KeyInfo { return t.KYCKey }),
	codes.TypeTokenPause:                 keyIn(func(t *ledger.Token) *ledger.KeyInfo { return t.PauseKey }),
	codes.TypeTokenUnpause:               keyIn(func(t *ledger.Token) *ledger.KeyInfo { return t.PauseKey }),
	codes.TypeTokenMint:                  keyIn(func(t *ledger.Token) *ledger.KeyInfo { return t.SupplyKey }),
	codes.TypeTokenBurn:                  keyIn(func(t *ledger.Token) *ledger.KeyInfo { return t.SupplyKey }),
	codes.TypeTokenAccountWipe:           keyIn(func(t *ledger.Token) *ledger.KeyInfo { return t.WipeKey }),
}

// signers queues in the batch of q reading the entities and signatures of scheduled transactions. If present, it
// returns the signers of each that have signed, otherwise those that have not: payer, senders, the entity that
// changes, and receivers that must sign. Those that do not exist or have no key are omitted. A list is nil if the
// signers of the type of transaction are unknown.
func signers(
	q rowplan.Request, of []*ledger.ScheduledTransaction, present bool,
) (rowplan.Results[[]*ledger.ScheduleSigner], error) {
	type signer struct {
		id       ledger.EntityID
		key      keyOf
		receives bool
	}
	var ids []ledger.EntityID
	roles := list.Map(of, func(t *ledger.ScheduledTransaction) (out []signer) {
		target, known := targetKeys[t.Type]
		if !known {
			return nil
		}
		add := func(key keyOf, receives bool, accounts ...ledger.EntityID) {
			for _, id := range accounts {
				if !id.IsNone() && !slices.ContainsFunc(out, func(s signer) bool {
					return s.id == id && s.receives == receives
				}) {
					out, ids = append(out, signer{id, key, receives}), append(ids, id)
				}
			}
		}
		add(ownKey, false, slices.Concat(t.Senders, []ledger.EntityID{t.Schedule.PayerAccountID})...)
		add(target, false, t.EntityID)
		add(ownKey, true, t.Receivers...)
		return out
	})
	read := queueEntities(loading.BatchOf(q), ids)
	signed := transactions.QueueScheduleSignatures(loading.BatchOf(q),
		list.Map(of, func(t *ledger.ScheduledTransaction) ledger.EntityID { return t.Schedule.EntityID }))
	return func() ([][]*ledger.ScheduleSigner, error) {
		rest, err := read()
		if err != nil {
			return nil, err
		}
		signatures, err := signed()
		if err != nil {
			return nil, err
		}
		out := make([][]*ledger.ScheduleSigner, len(of))
		for i, signers := range roles {
			if signers != nil {
				out[i] = []*ledger.ScheduleSigner{}
			}
			for j, s := range signers {
				account, _ := rest[j].(*ledger.Account)
				key := s.key(rest[j])
				if key == nil || s.receives && (account == nil || !account.ReceiverSigRequired.V) {
					continue
				}
				if missing := key.Missing(signatures[i]); (len(missing) == 0) == present {
					out[i] = append(out[i], &ledger.ScheduleSigner{EntityID: s.id, Key: key, MissingKeys: missing})
				}
			}
			rest = rest[len(signers):]
		}
		return out, nil
	}, nil
}

// ScheduleSignatures resolves Schedule.signatures. It queues a read in the batch of q: the signatures of each schedule,
// oldest first.
func (fields) ScheduleSignatures(_ context.Context, q rowplan.Request, of []*ledger.Schedule) (
	rowplan.Results[[]*ledger.ScheduleSignature], error,
) {
	ids := list.Map(of, func(s *ledger.Schedule) ledger.EntityID { return s.EntityID })
	return transactions.QueueScheduleSignatures(loading.BatchOf(q), ids), nil
}

// ScheduledTransactionSignaturesPresent resolves ScheduledTransaction.signaturesPresent. It queues reads in the batch
// of q: the signers of each scheduled transaction that have signed, nil for types whose signers are unknown.
func (fields) ScheduledTransactionSignaturesPresent(
	_ context.Context, q rowplan.Request, of []*ledger.ScheduledTransaction,
) (rowplan.Results[[]*ledger.ScheduleSigner], error) {
	return signers(q, of, true)
}

// ScheduledTransactionSignaturesMissing resolves ScheduledTransaction.signaturesMissing. It queues reads in the batch
// of q: the signers of each scheduled transaction that have not signed, nil for types whose signers are unknown.
func (fields) ScheduledTransactionSignaturesMissing(
	_ context.Context, q rowplan.Request, of []*ledger.ScheduledTransaction,
) (rowplan.Results[[]*ledger.ScheduleSigner], error) {
	return signers(q, of, false)
}

// TransactionSchedule resolves Transaction.schedule. It queues a read in the batch of q: the schedule that each
// transaction created, signed, deleted or executed, nil for others.
func (fields) TransactionSchedule(_ context.Context, q rowplan.Request, of []*ledger.Transaction) (
	rowplan.Results[*ledger.Schedule], error,
) {
	return transactions.QueueTransactionSchedules(loading.BatchOf(q), of), nil
}
