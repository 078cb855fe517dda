package system

import (
	"github.com/ethereum/go-ethereum/common"
	"github.com/hiero-ledger/hiero-sdk-go/v2/proto/services"
	"google.golang.org/protobuf/proto"

	"heliograph/internal/domain/evm"
	"heliograph/internal/domain/evm/worldstate"
	"heliograph/internal/domain/ledger"
	"heliograph/internal/domain/ledger/codes"
)

// readingScheduled returns a read-only function of the token of a type that a schedule would create.
func readingScheduled(kind ledger.TokenType, value func(c *call, t *token) []any) func(*call, []any) evm.Outcome {
	return func(c *call, in []any) evm.Outcome {
		switch s := c.schedule(in[0].(common.Address)); {
		case s == nil || s.deleted:
			return c.reverts(codes.RecordNotFound)
		case s.token == nil || s.token.Type != kind:
			return c.reverts(codes.InvalidScheduleID)
		default:
			return c.answers(value(c, s.token))
		}
	}
}

// scheduledCreation returns the token that a scheduled transaction would create, or nil if it does not create one.
func (c *call) scheduledCreation(body []byte) *token {
	var b services.SchedulableTransactionBody
	if err := proto.Unmarshal(body, &b); err != nil {
		return nil
	}
	m := b.GetTokenCreation()
	if m == nil {
		return nil
	}
	id := func(a *services.AccountID) ledger.EntityID { return c.s.cfg.Base.WithNum(a.GetAccountNum()) }
	t := &token{made: true}
	t.Type, t.SupplyType, t.PauseStatus = ledger.TokenFungibleCommon, infinite, pauseless
	if m.GetTokenType() == services.TokenType_NON_FUNGIBLE_UNIQUE {
		t.Type = ledger.TokenNonFungibleUnique
	}
	if m.GetSupplyType() == services.TokenSupplyType_FINITE {
		t.SupplyType = finite
	}
	t.Name, t.Symbol, t.Memo, t.Metadata = m.GetName(), m.GetSymbol(), m.GetMemo(), m.GetMetadata()
	t.Decimals, t.InitialSupply, t.TotalSupply, t.MaxSupply = int64(m.GetDecimals()), int64(m.GetInitialSupply()), int64(m.GetInitialSupply()), m.GetMaxSupply()
	t.TreasuryAccountID, t.AutoRenewAccountID, t.FreezeDefault = id(m.GetTreasury()), id(m.GetAutoRenewAccount()), m.GetFreezeDefault()
	if p := m.GetAutoRenewPeriod(); p != nil {
		t.AutoRenewPeriod = ledger.Of(p.GetSeconds())
	}
	if x := m.GetExpiry(); x != nil {
		t.ExpirationTimestamp = ledger.Of(ledger.Timestamp(x.GetSeconds() * nanoseconds))
	}
	for kind, key := range map[worldstate.KeyKind]*services.Key{
		worldstate.AdminKey: m.GetAdminKey(), worldstate.KYCKey: m.GetKycKey(), worldstate.FreezeKey: m.GetFreezeKey(), worldstate.WipeKey: m.GetWipeKey(),
		worldstate.SupplyKey: m.GetSupplyKey(), worldstate.FeeScheduleKey: m.GetFeeScheduleKey(), worldstate.PauseKey: m.GetPauseKey(),
		worldstate.MetadataKey: m.GetMetadataKey(),
	} {
		if key != nil {
			t.Keys[kind], _ = proto.Marshal(key) // a decoded message can be encoded
		}
	}
	t.Fees = ledger.Of(c.scheduledFees(m.GetCustomFees()))
	return t
}

// scheduledFees returns the custom fees of a token that a scheduled transaction would create.
func (c *call) scheduledFees(list []*services.CustomFee) *ledger.TokenCustomFees {
	base := c.s.cfg.Base
	fees := &ledger.TokenCustomFees{}
	part := func(f *services.Fraction) *ledger.Fraction {
		return &ledger.Fraction{Numerator: f.GetNumerator(), Denominator: f.GetDenominator()}
	}
	for _, f := range list {
		collector, exempt := base.WithNum(f.GetFeeCollectorAccountId().GetAccountNum()), f.GetAllCollectorsAreExempt()
		switch {
		case f.GetFixedFee() != nil:
			x := &ledger.FixedFee{Amount: f.GetFixedFee().GetAmount(), CollectorAccountID: collector, AllCollectorsAreExempt: exempt}
			x.DenominatingTokenID = c.denominationOf(f.GetFixedFee())
			fees.FixedFees = append(fees.FixedFees, x)
		case f.GetFractionalFee() != nil:
			g := f.GetFractionalFee()
			x := &ledger.FractionalFee{Amount: part(g.GetFractionalAmount()), CollectorAccountID: collector, AllCollectorsAreExempt: exempt}
			x.Minimum, x.Maximum, x.NetOfTransfers = g.GetMinimumAmount(), ledger.Of(g.GetMaximumAmount()), g.GetNetOfTransfers()
			fees.FractionalFees = append(fees.FractionalFees, x)
		case f.GetRoyaltyFee() != nil:
			g := f.GetRoyaltyFee()
			x := &ledger.RoyaltyFee{Amount: part(g.GetExchangeValueFraction()), CollectorAccountID: collector, AllCollectorsAreExempt: exempt}
			if g.GetFallbackFee() != nil {
				x.FallbackFee = &ledger.FallbackFee{Amount: g.GetFallbackFee().GetAmount(), DenominatingTokenID: c.denominationOf(g.GetFallbackFee())}
			}
			fees.RoyaltyFees = append(fees.RoyaltyFees, x)
		}
	}
	return fees
}

// denominationOf returns the token that a fee is paid in, or 0 for hbars.
func (c *call) denominationOf(f *services.FixedFee) ledger.EntityID {
	if f.GetDenominatingTokenId() == nil {
		return 0
	}
	return c.s.cfg.Base.WithNum(f.GetDenominatingTokenId().GetTokenNum())
}
