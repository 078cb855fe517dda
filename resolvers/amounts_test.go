package resolvers_test

import (
	"fmt"
	"math/big"
	"regexp"
	"strings"
	"testing"

	"github.com/hiero-ledger/hiero-sdk-go/v2/proto/services"
	"google.golang.org/protobuf/proto"

	"heliograph/app/testing/testenv"
	"heliograph/internal/domain/ledger"
)

const amountsQuery = `{
  account(id: "1001") {
    balance balanceValue { ...A } pendingReward pendingRewardValue { ...A }
    holdings { balance balanceValue { ...A } tokens { tokenId balance balanceValue { ...A } } }
    transfers(first: 25) { nodes { consensusTimestamp tokenId amount amountValue { ...A } fee feeValue { ...A } counterparties { tokenId consensusTimestamp amount amountValue { ...A } } } }
    rewards(first: 30) { nodes { transaction { consensusTimestamp } amount amountValue { ...A } } }
    tokens { nodes { tokenId balance balanceValue { ...A } } }
    allowances { crypto { nodes { amount amountValue { ...A } } } tokens { nodes { tokenId amount amountValue { ...A } } } }
    outstandingAirdrops { nodes { tokenId amount amountValue { ...A } } }
  }
  token(id: "2001") { holders { nodes { tokenId balance balanceValue { ...A } } } }
  transactions(first: 20) { nodes {
    consensusTimestamp chargedFee chargedFeeValue { ...A } transfers { amount amountValue { ...A } } tokenTransfers { tokenId amount amountValue { ...A } }
    assessedCustomFees { tokenId amount amountValue { ...A } } stakingRewardTransfers { amount amountValue { ...A } }
  } }
  token2001: token(id: "2001") { volumes: stats(range: {from: "1776000000", to: "1784500000"}, by: MONTH) { consensusTimestamp: to volume volumeValue { ...A } } }
  tokens(first: 100) { nodes {
    tokenId: entityId initialSupply initialSupplyValue { ...A } maxSupply maxSupplyValue { ...A } totalSupply totalSupplyValue { ...A }
    customFees {
      fixedFees { tokenId: denominatingTokenId amount amountValue { ...A } }
      fractionalFees { tokenId: denominatingTokenId minimum minimumValue { ...A } maximum maximumValue { ...A } }
      royaltyFees { fallbackFee { tokenId: denominatingTokenId amount amountValue { ...A } } }
    }
  } }
  topic(id: "4003") {
    customFees { fixedFees { tokenId: denominatingTokenId amount amountValue { ...A } } }
    transactions(first: 100, order: ASC) { nodes {
      consensusTimestamp maxFee maxFeeValue { ...A } maxCustomFees { tokenId: denominatingTokenId amount amountValue { ...A } }
    } }
  }
  stats: account(id: "1001") {
    stats(range: {from: "1776000000", to: "1784500000"}, by: MONTH) {
      consensusTimestamp: to received receivedValue { ...A } sent sentValue { ...A } rewards rewardsValue { ...A }
    }
    fees: stats(range: {from: "1776000000"}, by: MONTH) { consensusTimestamp: to rewards rewardsValue { ...A } }
    allowances {
      crypto { nodes { amountGranted amountGrantedValue { ...A } } } tokens { nodes { tokenId amountGranted amountGrantedValue { ...A } } }
    }
  }
  schedules { nodes { body: transaction { maxFee maxFeeValue { ...A } } } }
  contractResults(first: 50) { nodes { consensusTimestamp amount amountValue { ...A } } }
  network {
    supply { consensusTimestamp: timestamp releasedSupply releasedSupplyValue { ...A } totalSupply totalSupplyValue { ...A } }
    nodes { nodes {
      maxStake maxStakeValue { ...A } minStake minStakeValue { ...A } rewardRateStart rewardRateStartValue { ...A } stake stakeValue { ...A }
      stakeNotRewarded stakeNotRewardedValue { ...A } stakeRewarded stakeRewardedValue { ...A }
    } }
    stake {
      consensusTimestamp maxStakeRewarded maxStakeRewardedValue { ...A } maxStakingRewardRatePerHbar maxStakingRewardRatePerHbarValue { ...A }
      maxTotalReward maxTotalRewardValue { ...A } reservedStakingRewards reservedStakingRewardsValue { ...A }
      rewardBalanceThreshold rewardBalanceThresholdValue { ...A } stakeTotal stakeTotalValue { ...A } stakingRewardRate stakingRewardRateValue { ...A }
      stakingStartThreshold stakingStartThresholdValue { ...A } unreservedStakingRewardBalance unreservedStakingRewardBalanceValue { ...A }
    }
  }
  old: transactions(first: 20, order: ASC) { nodes { consensusTimestamp transfers { amount amountValue { ...A } } assessedCustomFees { tokenId amount amountValue { ...A } } } }
} fragment A on Amount { raw display usd }`

// expectation computes the texts of amounts from the rows of the tables.
type expectation struct {
	decimals map[string]int64
	since    []int64 // of the versions of the exchange rates
	rates    []*services.ExchangeRateSet
	seen     map[string]int
}

func expectAmounts(t *testing.T, g *testenv.Gateway) *expectation {
	t.Helper()
	x := &expectation{decimals: map[string]int64{}, seen: map[string]int{}}
	rows, err := g.DB.Pool().Query(t.Context(), `select '0.0.' || token_id, decimals from token`)
	for err == nil && rows.Next() {
		var id string
		var n int64
		err = rows.Scan(&id, &n)
		x.decimals[id] = n
	}
	if err != nil {
		t.Fatal(err)
	}
	rows, err = g.DB.Pool().Query(t.Context(),
		`select consensus_timestamp, file_data from file_data where entity_id = 112 order by 1`)
	for err == nil && rows.Next() {
		var at int64
		var content []byte
		set := &services.ExchangeRateSet{}
		if err = rows.Scan(&at, &content); err == nil {
			err = proto.Unmarshal(content, set)
		}
		x.since, x.rates = append(x.since, at), append(x.rates, set)
	}
	if err != nil || len(x.rates) < 10 {
		t.Fatalf("%d exchange rates, error %v", len(x.rates), err)
	}
	return x
}

// shorten removes zeros from the end of a fraction, but keeps some digits.
func shorten(text string, keep int) string {
	for strings.HasSuffix(text, "0") && len(text)-1-strings.Index(text, ".") > keep {
		text = text[:len(text)-1]
	}
	return strings.TrimSuffix(text, ".")
}

// of returns the expected amount. at is empty for the present.
func (x *expectation) of(t *testing.T, raw string, token any, at string) map[string]any {
	t.Helper()
	n, ok := new(big.Int).SetString(raw, 10)
	if !ok {
		t.Fatalf("%q is no number", raw)
	}
	decimals, unit := int64(8), " ℏ"
	if token != nil {
		decimals, unit = x.decimals[token.(string)], ""
	}
	power := new(big.Int).Exp(big.NewInt(10), big.NewInt(decimals), nil)
	display := new(big.Rat).SetFrac(n, power).FloatString(int(decimals))
	if strings.Contains(display, ".") {
		display = shorten(display, 0)
	}
	want := map[string]any{"raw": raw, "display": display + unit, "usd": nil}
	if token != nil {
		x.seen["token"]++
		return want
	}
	when := ledger.TimestampOf(testenv.Now().Truncate(60e9))
	if at != "" {
		var err error
		if when, err = ledger.ParseTimestamp(at); err != nil {
			t.Fatal(err)
		}
		when = min(when, ledger.TimestampOf(testenv.Now()))
	}
	i := len(x.since) - 1
	for i >= 0 && x.since[i] > int64(when) {
		i--
	}
	if i < 0 {
		t.Fatalf("no rate at %s", when)
	}
	rate := x.rates[i].GetCurrentRate()
	if int64(when) > rate.GetExpirationTime().GetSeconds()*1e9 {
		rate = x.rates[i].GetNextRate()
	}
	x.seen[fmt.Sprint("rate ", rate.GetCentEquiv())]++
	usd := new(big.Rat).SetFrac(new(big.Int).Mul(n, big.NewInt(int64(rate.GetCentEquiv()))),
		big.NewInt(int64(rate.GetHbarEquiv())*1e10))
	if want["usd"] = shorten(usd.FloatString(6), 2); want["usd"] == "-0.00" {
		want["usd"] = "0.00"
	}
	return want
}

// check compares all amounts below v. at is the consensus time of the objects around it.
func (x *expectation) check(t *testing.T, v any, at string) {
	t.Helper()
	switch v := v.(type) {
	case []any:
		for _, below := range v {
			x.check(t, below, at)
		}
	case map[string]any:
		if tx, ok := v["transaction"].(map[string]any); ok {
			at = tx["consensusTimestamp"].(string)
		} else if own, ok := v["consensusTimestamp"].(string); ok {
			at = own
		}
		for key, below := range v {
			of, isAmount := strings.CutSuffix(key, "Value")
			switch {
			case !isAmount:
				x.check(t, below, at)
			case v[of] == nil:
				if below != nil {
					t.Errorf("%s is %v, but %s is null", key, below, of)
				}
			default:
				x.seen[key]++
				token := v["tokenId"]
				switch of {
				case "fee":
					token = nil
				case "volume":
					token = "0.0.2001"
				}
				if want := x.of(t, v[of].(string), token, at); fmt.Sprint(below) != fmt.Sprint(want) {
					t.Errorf("%s of %v at %s: %v, want %v", key, v["tokenId"], at, below, want)
				}
			}
		}
	}
}

// TestAmounts compares amounts with the rows of the tables: with rates from the database and from the cache.
func TestAmounts(t *testing.T) {
	t.Parallel()
	cached := func(o *testenv.Options) { o.Storage.Cache = true }
	for name, g := range map[string]*testenv.Gateway{"plain": testenv.Shared(t), "cached": testenv.Demo(t, cached)} {
		x := expectAmounts(t, g)
		for range 2 {
			var data any
			g.Data(t, amountsQuery, nil, &data)
			x.check(t, data, "")
		}
		rates := 0
		for what := range x.seen {
			if strings.HasPrefix(what, "rate ") {
				rates++
			}
		}
		for _, kind := range append(regexp.MustCompile(`\w+Value\b`).FindAllString(amountsQuery, -1), "token") {
			if x.seen[kind] == 0 || rates < 3 {
				t.Errorf("%s: %d rates, no %s: %v", name, rates, kind, x.seen)
			}
		}
	}
}

// TestAmountStatements checks that amounts cost one statement for the rates of a list, none if they are cached, and
// nothing if only raw is selected.
func TestAmountStatements(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		selection     string
		cache         bool
		rates, tokens int
	}{
		{"raw", false, 0, 0},
		{"raw display", false, 0, 1},
		{"usd", false, 1, 0},
		{"usd", true, 0, 0},
		{"raw display usd", false, 1, 1},
	} {
		got := counting(t, func(g *testenv.Gateway) {
			g.Data(t, `{ account(id: "1001") { transfers(first: 100) { nodes { amountValue { `+c.selection+
				` } } } } }`, nil, new(any))
		}, func(o *testenv.Options) { o.Storage.Cache = c.cache })
		text := strings.Join(got.statements, "\n---\n")
		if rates, tokens := strings.Count(text, "string_agg(d.file_data"),
			strings.Count(text, "from token where"); rates != c.rates || tokens != c.tokens {
			t.Errorf("%s, cache %v: %d statements for rates and %d for tokens, want %d and %d:\n%s", c.selection,
				c.cache, rates, tokens, c.rates, c.tokens, text)
		}
	}
}
