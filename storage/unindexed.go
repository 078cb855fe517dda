package storage

import (
	"strings"
)

// Unindexed are filters of a list that no index serves together.
type Unindexed struct {
	// List is a field of the query type or a list of an object, and Filters are its arguments or members of its
	// filter, separated by spaces. They can be combined with others.
	List, Filters string
	// Except are filters that an index serves together with Filters, separated by spaces.
	Except string
	// Bound is what limits the number of rows that a statement reads.
	Bound string
	// Scan reports that this number is usually large. Statements with these filters are admitted as scans.
	Scan bool
}

// ofType and newer are bounds of several lists.
const (
	ofType = "the transactions of the type"
	newer  = "in ascending order, the entities that are newer than the accounts; all accounts for a rare balance"
)

// unindexed has the scans first.
var unindexed = []Unindexed{
	{"transactions", "direction outcome", "", "all transactions or all transfers", true},
	{"transactions", "direction types", "", ofType, true},
	{"transactions", "entityId", "", "the entries of the account", true},
	{"transactions", "tokenId", "", "the transfers of tokens of the account", true},
	{"transactions", "outcome types", "accountId", ofType, true},
	{"nfts", "spenderId", "owner ownerId", "all NFTs, or those of the token", true},
	{
		"transactions", "accountId", "",
		"the entries of the account, or the transactions of the result and type, which are fewer", false,
	},
	{
		"transactions", "account", "",
		"as above; all newer transactions for the fee account, which the index of transfers leaves out", false,
	},
	{"accounts", "", "", newer, false},
	{"balances", "", "", newer + "; all rows of the snapshot", false},
	{"tokenBalances", "balance", "", "the number of holders", false},
	{"nfts", "deleted", "", "the NFTs of the token or of the account", false},
	{"schedules", "creatorAccountId", "", "the schedules of the creator, or of a range of creators", false},
	{"tokens", "treasury", "", "the tokens with which the treasury is associated", false},
	{"tokens", "types", "", "all tokens", false},
	{"blocks", "number timestamp", "", "the blocks of the range of time, or between its end and the number", false},
	{
		"topicMessages", "sequenceNumber timestamp", "",
		"the messages of the range of time, or between its end and the number", false,
	},
	{"contractLogs", "topics", "contract contractId", "the logs of a week", false},
	{
		"contractResults", "from", "",
		"the results of the contract, or those up to the end of the page for a range of senders", false,
	},
	{
		"contractResults", "contractId", "internal",
		"the results of the contract, most of which can be those of child transactions", false,
	},
	{"contractResults", "contract", "internal", "as above", false},
	{"contractResults", "transactionIndex", "blockNumber blockHash", "the results of the contract, or all", false},
	{"transfers", "direction", "", "the transfers of the account, or of the token in the range of time", false},
	{"holders", "", "", "the holders of the token, which are sorted by balance", false},
}

// FindUnindexed returns the filters of a list that no index serves together, or nil. Of several it is the first, scans
// before others. It is shared: callers must not change it. given reports whether a filter is given.
func FindUnindexed(list string, given func(filter string) bool) *Unindexed {
	for i := range unindexed {
		if u := &unindexed[i]; u.List == list && u.match(given) {
			return u
		}
	}
	return nil
}

// match reports whether all of the filters of u are given, and none of the exceptions.
func (u *Unindexed) match(given func(filter string) bool) bool {
	for filter := range strings.FieldsSeq(u.Filters) {
		if !given(filter) {
			return false
		}
	}
	for filter := range strings.FieldsSeq(u.Except) {
		if given(filter) {
			return false
		}
	}
	return true
}
