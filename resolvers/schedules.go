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

// ScheduleState returns the state of a schedule now, or at the moment of the state that is read.
func (f fields) ScheduleState(s *ledger.Schedule) ledger.ScheduleState {
	return s.StateAt(cmp.Or(s.At, f.timestamp()))
}

// AccountSchedules reads the schedules that accounts created.
func (f fields) AccountSchedules(
	ctx context.Context, q rowplan.Request, of []*ledger.Account, args graph.AccountSchedulesArgs,
) (
	rowplan.Results[*relay.ScheduleConnection], error,
) {
	return scheduleList.below(ctx, q, args.Order, args.Args,
		true, func(b *storage.Batch, p storage.Page) (storage.Result[[][]*ledger.Schedule], error) {
			return transactions.QueueAccountSchedules(b, accountIDs(of), args.Filter, f.moment(ctx), p), nil
		})
}

// Schedule returns a schedule. While it is pending, the response may change soon.
func (r queries) Schedule(ctx context.Context, args graph.QueryScheduleArgs) (*ledger.Schedule, error) {
	s, err := loading.LoadAhead(ctx, r.db, r.tables, scheduleType, args.ID, &ledger.Schedule{EntityID: args.ID},
		[]string{"signatures"}, transactions.QueueSchedules)
	if err == nil && s != nil && s.StateAt(r.timestamp()) == ledger.SchedulePending {
		err = &relay.Note{Volatile: true}
	}
	return s, err
}

// Schedules returns a page of schedules.
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

// ownKey returns the key that controls an entity, or nil if it has none.
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

// keyIn returns a key of entities of one type.
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

// signers reads the signers that have signed, or those that have not. A list is nil if the signers are unknown.
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
		add(ownKey, false, append(t.Senders, t.Schedule.PayerAccountID)...)
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

// ScheduleSignatures reads the signatures of schedules.
func (fields) ScheduleSignatures(_ context.Context, q rowplan.Request, of []*ledger.Schedule) (
	rowplan.Results[[]*ledger.ScheduleSignature], error,
) {
	ids := list.Map(of, func(s *ledger.Schedule) ledger.EntityID { return s.EntityID })
	return transactions.QueueScheduleSignatures(loading.BatchOf(q), ids), nil
}

// ScheduledTransactionSignaturesPresent reads the signers of scheduled transactions that have signed.
func (fields) ScheduledTransactionSignaturesPresent(
	_ context.Context, q rowplan.Request, of []*ledger.ScheduledTransaction,
) (rowplan.Results[[]*ledger.ScheduleSigner], error) {
	return signers(q, of, true)
}

// ScheduledTransactionSignaturesMissing reads the signers of scheduled transactions that have not signed.
func (fields) ScheduledTransactionSignaturesMissing(
	_ context.Context, q rowplan.Request, of []*ledger.ScheduledTransaction,
) (rowplan.Results[[]*ledger.ScheduleSigner], error) {
	return signers(q, of, false)
}

// TransactionSchedule reads the schedules that transactions created or signed.
func (fields) TransactionSchedule(_ context.Context, q rowplan.Request, of []*ledger.Transaction) (
	rowplan.Results[*ledger.Schedule], error,
) {
	return transactions.QueueTransactionSchedules(loading.BatchOf(q), of), nil
}
