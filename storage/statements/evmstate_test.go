package statements

import (
	"context"

	"heliograph/internal/domain/evm/worldstate"
	"heliograph/internal/domain/ledger"
	"heliograph/storage"
	"heliograph/storage/entities"
	"heliograph/storage/evmstate"
)

// stateReads are the reads of package evmstate: of the current state, and of that at the end of a block.
func stateReads() reads {
	state := func(past worldstate.BlockRef) func(context.Context, *storage.Batch) error {
		return func(ctx context.Context, b *storage.Batch) error {
			r := evmstate.NewReader(b.DB(), entities.NewCallPrices(nil), 0)
			s, err := r.Open(ctx, evmstate.Request{Block: past})
			if err != nil {
				return err
			}
			defer s.Close()
			if _, err := s.Entities(ctx, []ledger.EVMAddress{{1}, ids[0].LongZero()}); err != nil {
				return err
			}
			if _, err := s.Slots(ctx, 1001, [][32]byte{{1}, {2}}); err != nil {
				return err
			}
			keys := []worldstate.AllowanceKey{{Owner: 1001, Spender: 1002, Token: 1009}}
			if _, err := s.TokenFacts(ctx, &worldstate.TokenReads{
				Tokens: ids, Relations: []worldstate.RelationKey{{Account: 1001, Token: 1009}}, NFTs: serial,
				Allowances: keys, Operators: keys, Slots: ids, Serials: ids,
			}); err != nil {
				return err
			}
			_, err = s.PendingAirdrops(ctx, []*ledger.Airdrop{{SenderID: 1001, ReceiverID: 1002, TokenID: 1009}})
			return err
		}
	}
	return reads{
		"current state": state(worldstate.BlockRef{}),
		"former state":  state(worldstate.BlockRef{Number: ledger.Of(int64(5))}),
		"input of a transaction": queued(func(b *storage.Batch) {
			evmstate.QueueInput(b, at, 1001)
		}),
	}
}
