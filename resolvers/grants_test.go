package resolvers_test

import (
	"testing"

	"heliograph/app/testing/testenv"
)

// TestArrowsOfGrants checks the relations of NFT allowances, airdrops and hooks to their tokens, serials and
// contracts.
func TestArrowsOfGrants(t *testing.T) {
	t.Parallel()
	type named struct{ EntityID string }
	for name, g := range map[string]*testenv.Gateway{"demo": testenv.Shared(t)} {
		var data struct {
			Accounts struct {
				Nodes []struct {
					NftAllowances struct {
						Nodes []struct {
							TokenID string
							Token   *named
						}
					}
					OutstandingAirdrops struct {
						Nodes []struct {
							TokenID      string
							Token        *named
							SerialNumber *string
							Nft          *struct{ TokenID, SerialNumber string }
						}
					}
					Hooks struct {
						Nodes []struct {
							ContractID *string
							Contract   *named
						}
					}
				}
			}
		}
		g.Data(t, `{ accounts(first: 100, filter: {id: {gte: "1000"}}) { nodes {
  nftAllowances { nodes { tokenId token { entityId } } }
  outstandingAirdrops { nodes { tokenId token { entityId } serialNumber nft { tokenId serialNumber } } }
  hooks { nodes { contractId contract { entityId } } }
} } }`, nil, &data)
		allowances, fungible, serials, hooks := 0, 0, 0, 0
		for _, account := range data.Accounts.Nodes {
			for _, a := range account.NftAllowances.Nodes {
				allowances++
				if a.Token == nil || a.Token.EntityID != a.TokenID {
					t.Errorf("%s: an allowance of %s leads to the token %v", name, a.TokenID, a.Token)
				}
			}
			for _, a := range account.OutstandingAirdrops.Nodes {
				if a.Token == nil || a.Token.EntityID != a.TokenID {
					t.Errorf("%s: an airdrop of %s leads to the token %v", name, a.TokenID, a.Token)
				}
				switch {
				case a.SerialNumber == nil && a.Nft != nil:
					t.Errorf("%s: an airdrop of a fungible token leads to the serial %v", name, a.Nft)
				case a.SerialNumber == nil:
					fungible++
				case a.Nft == nil || a.Nft.TokenID != a.TokenID || a.Nft.SerialNumber != *a.SerialNumber:
					t.Errorf("%s: an airdrop of serial %s of %s leads to %v", name, *a.SerialNumber, a.TokenID, a.Nft)
				default:
					serials++
				}
			}
			for _, h := range account.Hooks.Nodes {
				hooks++
				if h.ContractID == nil || h.Contract == nil || h.Contract.EntityID != *h.ContractID {
					t.Errorf("%s: a hook of %v leads to the contract %v", name, h.ContractID, h.Contract)
				}
			}
		}
		if allowances == 0 || fungible == 0 || serials == 0 || hooks == 0 {
			t.Errorf("%s: %d allowances, %d and %d airdrops, %d hooks: nothing is tested", name, allowances,
				fungible, serials, hooks)
		}
	}
}

// TestNoRowsWanted checks that a list with first: 0 still reports whether it has rows.
func TestNoRowsWanted(t *testing.T) {
	t.Parallel()
	g := testenv.Shared(t)
	for query, want := range map[string]bool{
		`{ list: transactions(first: 0) { nodes { result } pageInfo { hasNextPage } } }`: true,
		`{ list: transactions(first: 0, filter: {timestamp: {lt: "1"}}) { pageInfo { hasNextPage } nodes { result ` +
			`} } }`: false,
		`query { ...T } fragment T on Query { list: transactions(first: 0) { ... on TransactionConnection { ` +
			`pageInfo { hasNextPage } } } }`: true,
	} {
		var data struct {
			List struct {
				Nodes    []any
				PageInfo struct{ HasNextPage bool }
			}
		}
		g.Data(t, query, nil, &data)
		if data.List.PageInfo.HasNextPage != want || len(data.List.Nodes) != 0 {
			t.Errorf("%s is answered %+v", query, data)
		}
	}
}
