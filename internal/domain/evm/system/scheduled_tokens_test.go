package system

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/hiero-ledger/hiero-sdk-go/v2/proto/services"
	"google.golang.org/protobuf/proto"

	"heliograph/internal/domain/evm/worldstate"
	"heliograph/internal/domain/ledger"
)

// TestScheduledCreation reads tokens from the bodies of scheduled transactions.
func TestScheduledCreation(t *testing.T) {
	t.Parallel()
	base, err := ledger.NewEntityID(1, 2, 0)
	if err != nil {
		t.Fatal(err)
	}
	c := &call{s: &service{cfg: Config{Base: base}}}
	account := func(num int64) *services.AccountID {
		return &services.AccountID{ShardNum: 1, RealmNum: 2, Account: &services.AccountID_AccountNum{AccountNum: num}}
	}
	key := func(b byte) *services.Key {
		return &services.Key{Key: &services.Key_Ed25519{Ed25519: bytes.Repeat([]byte{b}, 32)}}
	}
	fraction := &services.Fraction{Numerator: 1, Denominator: 10}
	fixed := &services.FixedFee{Amount: 5, DenominatingTokenId: &services.TokenID{
		ShardNum: 1, RealmNum: 2,
		TokenNum: 77,
	}}
	body := func(m *services.TokenCreateTransactionBody) []byte {
		b, err := proto.Marshal(&services.SchedulableTransactionBody{
			Data: &services.SchedulableTransactionBody_TokenCreation{TokenCreation: m},
		})
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	units := c.scheduledCreation(body(&services.TokenCreateTransactionBody{
		Name: "Gull", Symbol: "GULL", Decimals: 2, InitialSupply: 500, Treasury: account(3), AdminKey: key(1),
		PauseKey: key(2), FreezeDefault: true,
		Expiry: &services.Timestamp{Seconds: 4_000_000_000}, AutoRenewAccount: account(4),
		AutoRenewPeriod: &services.Duration{Seconds: 7_776_000}, Memo: "a bird",
		SupplyType: services.TokenSupplyType_FINITE, MaxSupply: 1000,
		CustomFees: []*services.CustomFee{
			{Fee: &services.CustomFee_FixedFee{FixedFee: fixed}, FeeCollectorAccountId: account(5)},
			{
				Fee:                   &services.CustomFee_FixedFee{FixedFee: &services.FixedFee{Amount: 6}},
				FeeCollectorAccountId: account(5),
			},
			{Fee: &services.CustomFee_FractionalFee{FractionalFee: &services.FractionalFee{
				FractionalAmount: fraction, MinimumAmount: 1, MaximumAmount: 9,
				NetOfTransfers: true,
			}}, FeeCollectorAccountId: account(6)},
		},
	}))
	if units == nil {
		t.Fatal("no token")
	}
	got := fmt.Sprint(
		units.Type, units.Name, units.Symbol, units.Decimals, units.InitialSupply, units.TotalSupply, units.MaxSupply,
		units.SupplyType, units.TreasuryAccountID,
		units.FreezeDefault,
		units.ExpirationTimestamp.V, units.AutoRenewAccountID, units.AutoRenewPeriod.V, units.Memo,
		units.HasKey(worldstate.PauseKey),
		units.HasKey(worldstate.KYCKey),
	)
	if k := units.Keys[worldstate.AdminKey]; !bytes.Equal(k[:3], []byte{0x12, 0x20, 1}) {
		t.Errorf("the admin key is %x", k)
	}
	if want := "FUNGIBLE_COMMONGullGULL2 500 500 1000FINITE1.2.3 true 4000000000.000000000 1.2.4 7776000a birdtrue " +
		"false"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	f := units.Fees.V
	if len(f.FixedFees) != 2 || f.FixedFees[0].DenominatingTokenID != base.WithNum(77) ||
		!f.FixedFees[1].DenominatingTokenID.IsNone() ||
		f.FixedFees[1].Amount != 6 {
		t.Errorf("fixed fees %+v", f.FixedFees)
	}
	if len(f.FractionalFees) != 1 || *f.FractionalFees[0].Amount != (ledger.Fraction{Numerator: 1, Denominator: 10}) ||
		f.FractionalFees[0].Maximum.V != 9 ||
		f.FractionalFees[0].CollectorAccountID != base.WithNum(6) || !f.FractionalFees[0].NetOfTransfers {
		t.Errorf("fractional fees %+v", f.FractionalFees)
	}
	serials := c.scheduledCreation(body(&services.TokenCreateTransactionBody{
		TokenType: services.TokenType_NON_FUNGIBLE_UNIQUE,
		CustomFees: []*services.CustomFee{
			{
				Fee: &services.CustomFee_RoyaltyFee{
					RoyaltyFee: &services.RoyaltyFee{ExchangeValueFraction: fraction, FallbackFee: fixed},
				},
				FeeCollectorAccountId: account(5), AllCollectorsAreExempt: true,
			},
			{
				Fee: &services.CustomFee_RoyaltyFee{
					RoyaltyFee: &services.RoyaltyFee{ExchangeValueFraction: fraction},
				},
				FeeCollectorAccountId: account(5),
			},
		},
	}))
	if serials == nil || serials.Type != ledger.TokenNonFungibleUnique ||
		serials.SupplyType != ledger.SupplyInfinite || len(serials.Fees.V.RoyaltyFees) != 2 {
		t.Fatalf("got %+v", serials)
	}
	if r := serials.Fees.V.RoyaltyFees; r[0].FallbackFee == nil ||
		r[0].FallbackFee.DenominatingTokenID != base.WithNum(77) ||
		!r[0].AllCollectorsAreExempt || r[1].FallbackFee != nil {
		t.Errorf("royalties %+v %+v", r[0], r[1])
	}
	other,
		err := proto.Marshal(&services.SchedulableTransactionBody{
		Data: &services.SchedulableTransactionBody_TokenDeletion{
			TokenDeletion: &services.TokenDeleteTransactionBody{},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range [][]byte{nil, other, {0xff}} {
		if c.scheduledCreation(b) != nil {
			t.Errorf("a token from %x", b)
		}
	}
}
