package lists

// list is a list of the REST API.
type list struct {
	path string
	// SQL for the objects in the path, with their numbers of rows; each {} in the path stands for a word
	parents string
	filters []filter
	// times is the meaning of the parameter timestamp.
	times times
	// depth is the number of filters that are combined. Default 1.
	depth int
}

// times is the meaning of the parameter timestamp.
type times int

const (
	untimed times = iota // the list has no such parameter
	ranges               // the rows are in the range
	asOf                 // the rows are those of that time
)

// filter is a parameter and the values that it is measured with.
type filter struct {
	name string
	// values is SQL for values with their numbers of rows. The rarest, the median and the most frequent value are
	// used.
	values string
	absent string // a value that no row has
	ops    string // prefixes of values, separated by spaces; "=" is none. Default "="
	fixed  string // values that are used instead, separated by spaces
	timed  bool   // the parameter requires a range of timestamps
}

// by counts the rows of a table by a column.
func by(table, column string) string {
	return `select ` + column + ` as v, count(*) as n from ` + table + ` where ` + column + ` is not null group by 1`
}

// key has the values of a unique column, which all have one row.
func key(table, column string) string { return `select ` + column + ` as v, 1 as n from ` + table }

// hex is by with the values in hex.
func hex(table, column string) string { return by(table, `encode(`+column+`, 'hex')`) }

const (
	noID   = "4999999999"
	bounds = "= gt: lt:"
	noWord = "00000000000000000000000000000000000000000000000000000000000000ab"
)

// transactionTypes has the numbers of transaction types. [values] replaces them by names.
const transactionTypes = `select type as v, count(*) as n from transaction group by 1`

func accountFilters() []filter {
	return []filter{
		{name: "account.id", values: key("entity where type = 'ACCOUNT'", "id"), absent: noID, ops: bounds},
		{name: "account.balance", values: by("entity", "balance"), absent: "7", ops: bounds},
		{name: "account.publickey", values: by("entity", "public_key"), absent: noWord},
	}
}

func logFilters() []filter {
	var f []filter
	for _, n := range []string{"0", "1", "2", "3"} {
		f = append(f, filter{name: "topic" + n, values: hex("contract_log", "topic"+n), absent: noWord, timed: true})
	}
	return append(f, filter{name: "index", fixed: "0 1 90", timed: true})
}

func resultFilters() []filter {
	return []filter{
		{name: "from", values: by("contract_result", "sender_id"), absent: noID, ops: bounds},
		{name: "block.number", values: key("record_file", "index"), absent: "999999999"},
		{name: "block.hash", values: key("record_file", "hash"), absent: noWord + noWord[:32]},
		{name: "internal", fixed: "true"},
		{name: "hbar", fixed: "false"},
	}
}

// allLists are the lists with their filters.
func allLists() []list {
	withHash := append(logFilters(), filter{
		name: "transaction.hash", values: hex("contract_transaction_hash", "hash"),
		absent: noWord,
	})
	return []list{
		{path: "/accounts", filters: append(accountFilters(), filter{name: "balance", fixed: "false"})},
		{
			path: "/accounts/{}", parents: by("crypto_transfer", "entity_id"), times: ranges,
			filters: []filter{
				{name: "transactiontype", values: transactionTypes, absent: "HISTORYPROOFVOTE"},
				{name: "transactions", fixed: "false"},
			},
		},
		{path: "/balances", filters: accountFilters(), times: asOf},
		{
			path: "/blocks",
			filters: []filter{{
				name: "block.number", values: key("record_file", "index"), absent: "999999999",
				ops: bounds,
			}}, times: ranges,
		},
		{
			path: "/topics/{}/messages", parents: by("topic_message", "topic_id"), times: ranges,
			filters: []filter{{
				name: "sequencenumber", values: by("topic_message", "sequence_number"),
				absent: "999999999", ops: bounds,
			}, {name: "encoding", fixed: "utf-8"}},
		},
		{
			path: "/transactions", times: ranges, depth: 3, filters: []filter{
				{name: "account.id", values: by("crypto_transfer", "entity_id"), absent: noID, ops: "= lte: gt:"},
				{name: "result", fixed: "success fail"},
				{name: "type", fixed: "credit debit"},
				{name: "transactiontype", values: transactionTypes, absent: "HISTORYPROOFVOTE"},
			},
		},
		{path: "/network/nodes", filters: []filter{
			{name: "file.id", fixed: "101 102"},
			{name: "node.id", fixed: "0 gt:3 99"},
		}},
		{path: "/network/registered-nodes", filters: []filter{
			{name: "registerednode.id", fixed: "1 gt:3 99"},
			{name: "type", fixed: "BLOCK_NODE"},
		}},
		{path: "/schedules", depth: 2, filters: []filter{
			{name: "account.id", values: by("schedule", "creator_account_id"), absent: noID, ops: bounds},
			{name: "schedule.id", values: key("schedule", "schedule_id"), absent: noID, ops: bounds},
		}},
		{
			path:    "/contracts",
			filters: []filter{{name: "contract.id", values: key("contract", "id"), absent: noID, ops: bounds}},
		},
		{
			path: "/contracts/{}/state", parents: by("contract_state", "contract_id"), times: asOf,
			filters: []filter{{name: "slot", values: hex("contract_state", "slot"), absent: noWord, ops: bounds}},
		},
		{
			path: "/contracts/{}/results/logs", parents: by("contract_log", "contract_id"), filters: logFilters(),
			times: ranges, depth: 2,
		},
		{path: "/contracts/results/logs", filters: withHash, times: ranges, depth: 2},
		{path: "/contracts/results", filters: resultFilters(), times: ranges, depth: 2},
		{
			path: "/contracts/{}/results", parents: by("contract_result", "contract_id"), filters: resultFilters(),
			times: ranges, depth: 2,
		},
		{
			path: "/contracts/results/{}/actions", filters: []filter{{name: "index", fixed: "0 gt:3 99"}},
			parents: `select '0x' || encode(h.hash, 'hex') as v, a.n from (select consensus_timestamp, count(*) as ` +
				`n from contract_action group by 1) a join contract_transaction_hash h using (consensus_timestamp)`,
		},
		{path: "/accounts/{}/allowances/crypto", parents: by("crypto_allowance", "owner"), filters: []filter{
			{name: "spender.id", values: by("crypto_allowance", "spender"), absent: noID, ops: bounds},
		}},
		{path: "/accounts/{}/allowances/tokens", parents: by("token_allowance", "owner"), depth: 2, filters: []filter{
			{name: "spender.id", values: by("token_allowance", "spender"), absent: noID, ops: bounds},
			{name: "token.id", values: by("token_allowance", "token_id"), absent: noID, ops: bounds},
		}},
		{path: "/accounts/{}/allowances/nfts", parents: `select v, sum(n) as n from (` + by("nft_allowance", "owner") +
			` union all ` + by("nft_allowance", "spender") + `) a group by 1`, depth: 2, filters: []filter{
			{name: "account.id", values: by("nft_allowance", "spender"), absent: noID, ops: bounds},
			{name: "token.id", values: by("nft_allowance", "token_id"), absent: noID, ops: bounds},
			{name: "owner", fixed: "false"},
		}},
		{
			path: "/accounts/{}/airdrops/outstanding", parents: by("token_airdrop", "sender_account_id"), depth: 2,
			filters: airdropFilters("receiver"),
		},
		{
			path: "/accounts/{}/airdrops/pending", parents: by("token_airdrop", "receiver_account_id"), depth: 2,
			filters: airdropFilters("sender"),
		},
		{
			path: "/accounts/{}/hooks", parents: by("hook", "owner_id"),
			filters: []filter{{name: "hook.id", values: by("hook", "hook_id"), absent: "999999", ops: bounds}},
		},
		{
			path: "/accounts/{}/hooks/{}/storage", parents: by("hook_storage", "owner_id || ' ' || hook_id"),
			times:   asOf,
			filters: []filter{{name: "key", values: hex("hook_storage", "key"), absent: noWord, ops: bounds}},
		},
		{path: "/tokens", depth: 2, filters: []filter{
			{name: "account.id", values: by("token_account", "account_id"), absent: noID},
			{name: "name", values: by("token", "split_part(name, ' ', 1)"), absent: "qqqq"},
			{
				name: "publickey", values: by("(select * from entity where type = 'TOKEN') e", "public_key"),
				absent: noWord,
			},
			{name: "token.id", values: key("token", "token_id"), absent: noID, ops: bounds},
			{name: "type", fixed: "FUNGIBLE_COMMON NON_FUNGIBLE_UNIQUE"},
		}},
		{
			path: "/tokens/{}/balances", parents: by("token_account", "token_id"), filters: accountFilters(),
			times: asOf,
		},
		{path: "/tokens/{}/nfts", parents: by("nft", "token_id"), depth: 2, filters: []filter{
			{name: "account.id", values: by("nft", "account_id"), absent: noID},
			{name: "serialnumber", values: by("nft", "serial_number"), absent: "999999999", ops: bounds},
		}},
		{
			path: "/tokens/{}/nfts/{}/transactions", parents: by("nft_history", "token_id || ' ' || serial_number"),
			times: ranges,
		},
		{path: "/accounts/{}/nfts", parents: by("nft", "account_id"), depth: 2, filters: []filter{
			{name: "token.id", values: by("nft", "token_id"), absent: noID, ops: bounds},
			{name: "serialnumber", values: by("nft", "serial_number"), absent: "999999999", ops: bounds},
			{name: "spender.id", values: by("nft", "spender"), absent: noID},
		}},
		{path: "/accounts/{}/rewards", parents: by("staking_reward_transfer", "account_id"), times: ranges},
		{path: "/accounts/{}/tokens", parents: by("token_account", "account_id"), filters: []filter{
			{name: "token.id", values: by("token_account", "token_id"), absent: noID, ops: bounds},
		}},
	}
}

func airdropFilters(other string) []filter {
	return []filter{
		{name: other + ".id", values: by("token_airdrop", other+"_account_id"), absent: noID, ops: bounds},
		{name: "token.id", values: by("token_airdrop", "token_id"), absent: noID, ops: bounds},
		{name: "serialnumber", fixed: "1 gt:1 999999999"},
	}
}
