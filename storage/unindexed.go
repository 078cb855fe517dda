package storage

import "slices"

// Unindexed are filters of a list that no index serves together.
type Unindexed struct {
	// List is a field of the query type, and Filters are members of its filter. They can be combined with others.
	List    string
	Filters []string
	// Except is a filter that an index serves together with Filters, or "".
	Except string
	// Bound is what limits the number of rows that a statement reads.
	Bound string
	// Scan reports that this number is usually large. Statements with these filters are admitted as scans.
	Scan bool
}

// ofType and newer are bounds of several lists.
const (
	ofType = "the transactions of the type"
	newer  = "the number of entities, most of which can be newer than the accounts"
)

// unindexed has the scans first.
var unindexed = []Unindexed{
	{"transactions", []string{"direction", "outcome"}, "", "all transactions or all transfers", true},
	{"transactions", []string{"direction", "types"}, "", ofType, true},
	{"transactions", []string{"entityId"}, "", "the entries of the account", true},
	{"transactions", []string{"tokenId"}, "", "the transfers of tokens of the account", true},
	{"transactions", []string{"outcome", "types"}, "accountId", ofType, true},
	{"transactions", []string{"accountId"}, "", "the entries of the account, or the transactions of the result and type, which are fewer", false},
	{"transactions", []string{"account"}, "", "as above; all newer transactions for the fee account, which the index of transfers leaves out", false},
	{"accounts", nil, "", newer, false},
	{"balances", nil, "", newer + "; all rows of the snapshot", false},
	{"tokenBalances", []string{"balance"}, "", "the number of holders", false},
	{"nfts", []string{"deleted"}, "", "the NFTs of the token or of the account", false},
	{"tokens", []string{"types"}, "", "all tokens", false},
	{"blocks", []string{"number", "timestamp"}, "", "the blocks of the range of time, or between its end and the number", false},
	{"topicMessages", []string{"sequenceNumber", "timestamp"}, "", "the messages of the range of time, or between its end and the number", false},
	{"contractLogs", []string{"topics"}, "contract", "the logs of a week", false},
	{"contractResults", []string{"from"}, "", "the results of the contract, or those up to the end of the page for a range of senders", false},
}

// FindUnindexed returns the filters of a list that no index serves together, or nil. given reports whether a filter is given.
func FindUnindexed(list string, given func(filter string) bool) *Unindexed {
	i := slices.IndexFunc(unindexed, func(u Unindexed) bool {
		missing := func(filter string) bool { return !given(filter) }
		return u.List == list && !slices.ContainsFunc(u.Filters, missing) && (u.Except == "" || missing(u.Except))
	})
	if i < 0 {
		return nil
	}
	return &unindexed[i]
}
