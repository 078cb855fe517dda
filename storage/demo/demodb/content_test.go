package demodb

import (
	"fmt"
	"testing"

	"heliograph/storage/demo"
	"heliograph/storage/pgtest"
)

// present lists queries that find what the demo has to show.
var present = map[string]string{
	"account with an ed25519 key": "select from entity where type = 'ACCOUNT' and key::text like " +
		"'\\\\x1220%' and public_key is not null",
	"account with a secp256k1 key": "select from entity where type = 'ACCOUNT' and key::text like " +
		"'\\\\x3a21%' and public_key is not null",
	"account with a key list": "select from entity where type = 'ACCOUNT' and key::text like " +
		"'\\\\x32%' and public_key is null and length(key) > 2",
	"account with a list of one key": "select from entity where type = 'ACCOUNT' and key::text like " +
		"'\\\\x32240a221220%' and public_key is not null",
	"account with a threshold key": "select from entity where type = 'ACCOUNT' and key::text like " +
		"'\\\\x2a%0802%'",
	"account with a threshold of one": "select from entity where type = 'ACCOUNT' and key::text like " +
		"'\\\\x2a29080112250a233a21%'",
	"account guarded by a contract": "select from entity where type = 'ACCOUNT' and key::text like '\\\\x0a%'",
	"hollow account": "select from entity where type = 'ACCOUNT' and key = '\\x3200' and " +
		"length(alias) = 20",
	"account without key":              "select from entity where type = 'ACCOUNT' and key is null",
	"account with a key alias":         "select from entity where type = 'ACCOUNT' and length(alias) in (34, 35)",
	"account with a long-zero address": "select from entity where type = 'ACCOUNT' and evm_address is null",
	"account staked to a node": "select from entity where staked_node_id >= 0 and stake_period_start > " +
		"0 and not decline_reward",
	"account staked to an account":  "select from entity where staked_account_id > 0",
	"account that declines rewards": "select from entity where staked_node_id >= 0 and decline_reward",
	"account with a pending reward": "select from entity e join entity_stake s using (id) where " +
		"s.pending_reward > 0 and not e.decline_reward and e.stake_period_start < s.end_stake_period",
	"deleted account":                     "select from entity where type = 'ACCOUNT' and deleted and obtainer_id > 0",
	"account renewed by another":          "select from entity where type = 'ACCOUNT' and auto_renew_account_id > 0",
	"account that signs to receive":       "select from entity where receiver_sig_required",
	"account with unlimited associations": "select from entity where max_automatic_token_associations = -1",
	"account that delegates its code":     "select from entity where length(delegation_address) = 20",
	"account with three versions": "select from entity_history where type = 'ACCOUNT' group by id having " +
		"count(*) >= 2",
	"deleted contract": "select from entity where type = 'CONTRACT' and deleted and not " +
		"permanent_removal",
	"removed contract": "select from entity where type = 'CONTRACT' and permanent_removal",
	"contract with a file": "select from contract c join file_data f on f.entity_id = c.file_id " +
		"and f.transaction_type = 16",
	"contract with initcode": "select from contract where length(initcode) > 100",
	"contract with hbars":    "select from entity where type = 'CONTRACT' and balance > 0",
	"contract made by a contract": "select from contract_result where transaction_nonce > 0 and " +
		"contract_id = any (created_contract_ids)",
	"fixed fee in hbars": "select from custom_fee where fixed_fees @> " +
		"'[{\"denominating_token_id\": null}]' and entity_id in (select token_id from token)",
	"fixed fee in a token": "select from custom_fee where fixed_fees->0->>'denominating_token_id' " +
		"is not null",
	"fractional fee": "select from custom_fee where fractional_fees @> " +
		"'[{\"net_of_transfers\": true}]' and fractional_fees @> '[{\"net_of_transfers\": false}]'",
	"royalty with fallback": "select from custom_fee where " +
		"royalty_fees->0->'fallback_fee'->>'amount' is not null",
	"royalty without fallback": "select from custom_fee where royalty_fees->0->>'fallback_fee' is null " +
		"and royalty_fees is not null",
	"fees that were charged, hbars":  "select from assessed_custom_fee where token_id is null",
	"fees that were charged, tokens": "select from assessed_custom_fee where token_id is not null",
	"older fees":                     "select from custom_fee_history",
	"paused token":                   "select from token where pause_status = 'PAUSED'",
	"token that is not paused":       "select from token where pause_status = 'UNPAUSED'",
	"finite token": "select from token where supply_type = 'FINITE' and type = " +
		"'FUNGIBLE_COMMON'",
	"finite collection": "select from token where supply_type = 'FINITE' and type = " +
		"'NON_FUNGIBLE_UNIQUE'",
	"deleted token":       "select from entity where type = 'TOKEN' and deleted",
	"token with metadata": "select from token where length(metadata) > 0 and metadata_key is not null",
	"token with older names": "select from token_history h join token t using (token_id) where " +
		"h.name <> t.name",
	"frozen relationship": "select from token_account where freeze_status = 1",
	"relationship frozen by default": "select from token_account a join token t using (token_id) where " +
		"a.freeze_status is null and t.freeze_status = 1",
	"granted and revoked KYC": "select from token_account a where kyc_status = 1 and exists (select " +
		"from token_account where kyc_status = 2)",
	"ended relationship":               "select from token_account where not associated",
	"automatic relationship":           "select from token_account where automatic_association",
	"serial with a spender":            "select from nft where spender is not null and delegating_spender is null",
	"serial with a delegating spender": "select from nft where delegating_spender is not null",
	"burned serial":                    "select from nft where deleted and account_id is null",
	"serial that was resold": "select from nft_history group by token_id, serial_number having " +
		"count(*) >= 3",
	"change of treasury":             "select from transaction where nft_transfer @> '[{\"serial_number\": -1}]'",
	"serial moved by approval":       "select from transaction where nft_transfer @> '[{\"is_approval\": true}]'",
	"serial of a deleted collection": "select from nft n join entity e on e.id = n.token_id where e.deleted",
	"hbar allowance that was used": "select from crypto_allowance where amount > 0 and amount < " +
		"amount_granted",
	"revoked hbar allowance": "select from crypto_allowance a join crypto_allowance_history h using " +
		"(owner, spender) where a.amount = 0 and h.amount > 0",
	"token allowance that was used":      "select from token_allowance where amount > 0 and amount < amount_granted",
	"revoked token allowance":            "select from token_allowance where amount = 0",
	"allowance for a collection":         "select from nft_allowance where approved_for_all",
	"revoked allowance for a collection": "select from nft_allowance where not approved_for_all",
	"hbars moved by approval":            "select from crypto_transfer where is_approval",
	"tokens moved by approval":           "select from token_transfer where is_approval",
	"airdrops in every state": "select from token_airdrop group by serial_number > 0 having " +
		"count(distinct state) = 3",
	"staking reward": "select from staking_reward_transfer",
	"reverted call with a reason": "select from contract_result where transaction_result = 33 and " +
		"error_message like '0x08c379a0%'",
	"reverted call with an error type": "select from contract_result where transaction_result = 33 and " +
		"length(call_result) > 4 and error_message not like '0x08c379a0%'",
	"call that ran out of gas": "select from contract_result where transaction_result = 30",
	"call that failed early": "select from contract_result where contract_id = 0 and call_result is " +
		"null and bloom is null",
	"creation that failed": "select from contract_result where length(failed_initcode) > 0",
	"wrong nonce":          "select from contract_result where transaction_result = 312",
	"sender known as an address only": "select from contract_result where sender_id is null and " +
		"length(function_result) > 0",
	"call of the token system contract": "select from contract_result where contract_id = 359 and " +
		"transaction_nonce > 0",
	"legacy ethereum transaction": "select from ethereum_transaction where type = 0 and signature_v is not null",
	"ethereum transaction with access list": "select from ethereum_transaction where type = 1 and " +
		"jsonb_array_length(access_list) > 0",
	"ethereum transaction with fees": "select from ethereum_transaction where type = 2 and max_fee_per_gas " +
		"is not null",
	"ethereum transaction that sets code": "select from ethereum_transaction where type = 4 and " +
		"jsonb_array_length(authorization_list) > 0",
	"ethereum transaction that creates": "select from ethereum_transaction where to_address = ''",
	"ethereum transaction with a data file": "select from ethereum_transaction e join contract_result c using " +
		"(consensus_timestamp) where call_data_id > 1000 and call_data = '' and function_parameters = ''",
	"log with four topics": "select from contract_log where topic3 is not null and length(bloom) = 256",
	"synthetic log":        "select from contract_log where synthetic and bloom = ''",
	"synthetic log of a serial": "select from contract_log l join token t on t.token_id = l.contract_id " +
		"where synthetic and topic3 between '\\x01' and '\\xff'",
	"synthetic approval": "select from contract_log l join token t on t.token_id = l.contract_id " +
		"where synthetic and substring(topic0 for 2) = '\\x8c5b'",
	"calls, creations and precompiles": "select from contract_action having count(distinct call_type) = 4 and " +
		"count(distinct call_operation_type) >= 5 and count(distinct result_data_type) = 3",
	"exported storage": "select from contract_state_change where migration",
	"slots that were only read": "select from contract_state_change where value_written is null and not " +
		"migration",
	"chunked message": "select from topic_message where chunk_total > 3 and " +
		"initial_transaction_id is not null",
	"chunked message of an older writer": "select from topic_message where chunk_num = 2 and " +
		"initial_transaction_id is null and running_hash_version is null",
	"topic with a submit key": "select from topic where submit_key is not null",
	"topic without keys":      "select from topic where submit_key is null and admin_key is null",
	"topic with fees and exempt keys": "select from topic t join custom_fee f on f.entity_id = t.id where " +
		"fixed_fees is not null and length(fee_exempt_key_list) > 40 and fee_schedule_key is not null",
	"deleted topic":   "select from entity where type = 'TOPIC' and deleted",
	"refused message": "select from transaction where type = 27 and result <> 22",
	"message with a limit on fees": "select from transaction where type = 27 and " +
		"cardinality(max_custom_fees) > 0",
	"schedule that waits for signatures": "select from schedule s join entity e on e.id = s.schedule_id where " +
		"executed_timestamp is null and not e.deleted and expiration_time > (select max(consensus_end) from " +
		"record_file)",
	"executed schedule": "select from schedule where executed_timestamp is not null and not " +
		"wait_for_expiry",
	"schedule executed when it expired": "select from schedule where executed_timestamp >= expiration_time - " +
		"60000000000 and wait_for_expiry",
	"deleted schedule": "select from schedule s join entity e on e.id = s.schedule_id where " +
		"e.deleted",
	"expired schedule": "select from schedule s join entity e on e.id = s.schedule_id where " +
		"executed_timestamp is null and not e.deleted and expiration_time is null and consensus_timestamp < (select " +
		"max(consensus_end) - 1860000000000 from record_file)",
	"schedule that waits for its expiry": "select from schedule where executed_timestamp is null and " +
		"wait_for_expiry",
	"signatures of every kind": "select from transaction_signature having count(distinct type) = 3",
	"children": "select from transaction where nonce > 0 and " +
		"parent_consensus_timestamp is not null",
	"preceding children": "select from transaction where nonce > 0 and " +
		"parent_consensus_timestamp is null",
	"duplicate": "select from transaction a join transaction b using (payer_account_id, " +
		"valid_start_ns, transaction_hash) where a.result = 22 and b.result = 11",
	"atomic batch": "select from transaction where cardinality(inner_transactions) = 6",
	"high volume": "select from transaction where high_volume and " +
		"high_volume_pricing_multiplier = 4000",
	"scheduled execution":             "select from transaction where scheduled",
	"random bytes and random numbers": "select from prng having count(prng_bytes) > 0 and count(prng_number) > 0",
	"freeze":                          "select from network_freeze",
	"live hash":                       "select from live_hash",
	"ledger id":                       "select from ledger",
	"node that was deleted":           "select from node where deleted",
	"node with a proxy":               "select from node where grpc_proxy_endpoint is not null",
	"node that was changed":           "select from node_history",
	"every type of registered node": "select from (select distinct unnest(type) from registered_node where " +
		"not deleted) x having count(*) = 4",
	"deleted registered node":          "select from registered_node where deleted",
	"two versions of the address book": "select from address_book where file_id = 102 having count(*) = 2",
	"endpoint with a name": "select from address_book_service_endpoint where domain_name <> '' and " +
		"ip_address_v4 = ''",
	"stakes of many days":             "select from network_stake having count(*) > 360",
	"fee schedule in two pieces":      "select from file_data where entity_id = 111 and transaction_type = 16",
	"exchange rates of several hours": "select from file_data where entity_id = 112 having count(*) > 100",
	"simple fee schedule, two versions": "select from file_data where entity_id = 113 group by entity_id having " +
		"count(distinct file_data) = 2",
	"empty update of a file": "select from file_data where transaction_type = 19 and file_data = ''",
	"deleted file":           "select from entity where type = 'FILE' and deleted",
	"hook":                   "select from hook where not deleted",
	"deleted hook":           "select from hook where deleted",
	"hook storage":           "select from hook_storage where not deleted",
	"deleted hook storage":   "select from hook_storage where deleted",
	"log for all serials": "select from contract_log where synthetic and topic3 = " +
		"'\\xffffffffffffffff'",
	"block before Prague": "select from record_file where hapi_version_minor < 77 and " +
		"receipts_root is null",
	"block since Prague, with receipts": "select from record_file where hapi_version_minor >= 77 and " +
		"receipts_root <> '\\x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421'",
	"block since Prague, without receipts": "select from record_file where hapi_version_minor >= 77 and " +
		"receipts_root = '\\x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421'",
	"result of a child": "select from contract_result r join transaction t using " +
		"(consensus_timestamp) where t.parent_consensus_timestamp is not null",
	"block with gas and bloom": "select from record_file where gas_used > 0 and length(logs_bloom) = 256",
	"sidecars":                 "select from sidecar_file",
	"snapshots of several months": "select from account_balance_file having count(distinct " +
		"to_char(to_timestamp(consensus_timestamp / 1e9), 'YYYY-MM')) >= 6",
}

func TestEverythingIsThere(t *testing.T) {
	t.Parallel()
	conn := pgtest.Connect(t, filled.Shared(t))
	for name, query := range present {
		if one(t, conn, "select count(*) from ("+query+") x") == 0 {
			t.Errorf("nothing to show: %s", name)
		}
	}
	for query, least := range map[string]int64{
		"select count(*) from entity where type = 'ACCOUNT' and id > 1000": 200,
		"select count(*) from contract":                                    20,
		"select count(*) from record_file":                                 300,
		"select count(*) from record_file where consensus_end > (select max(consensus_end) - 600e9 from " +
			"record_file)": 299,
		"select count(distinct type) from transaction":                                                            55,
		"select count(distinct result) from transaction":                                                          15,
		"select count(distinct consensus_timestamp / 86400000000000) from transaction where type not in (19, 51)": 360,
		"select max(n) from (select count(*) n from transaction where payer_account_id > 1021 group by " +
			"payer_account_id) x": 50,
		"select count(*) from (select from transaction where payer_account_id > 1021 group by payer_account_id " +
			"having count(*) < 6) x": 30,
		"select count(*) from (select from transaction group by consensus_timestamp / 86400000000000 having " +
			"count(*) > 60) x": 4,
		"select count(*) from (select from transaction group by consensus_timestamp / 86400000000000 having " +
			"count(*) between 1 and 12) x": 40,
	} {
		if n := one(t, conn, query); n < least {
			t.Errorf("%s: %d, want at least %d", query, n, least)
		}
	}
}

// TestEveryTableHasRows leaves nothing of the ledger out.
func TestEveryTableHasRows(t *testing.T) {
	t.Parallel()
	conn := pgtest.Connect(t, filled.Shared(t))
	for _, table := range tables {
		if one(t, conn, "select count(*) from "+table) == 0 {
			t.Errorf("%s is empty", table)
		}
	}
}

// TestCast finds those with constants where the constants say.
func TestCast(t *testing.T) {
	t.Parallel()
	conn := pgtest.Connect(t, filled.Shared(t))
	for id, memo := range map[int64]string{
		demo.Alice: "Alice''s wallet", demo.Heidi: "Heidi''s studio", demo.Fund: "Lantern Bay community fund",
		demo.Relay: "Harbour relay", demo.HarbourCoin: "Harbour Coin",
		demo.Signpost: "Logbook of the west light", demo.TokenDesk: "Token desk",
		demo.KeepersChat: "Lighthouse keepers'' chat", demo.PhotoAlbum: "Photo album",
	} {
		if one(t, conn, fmt.Sprintf("select count(*) from entity where id = %d and memo = '%s'", id, memo)) != 1 {
			t.Errorf("0.0.%d is not %q", id, memo)
		}
	}
	for id, name := range map[int64]string{
		demo.Sunlight: "Sunlight", demo.Tide: "Tide",
		demo.Lighthouse: "Lighthouses", demo.Seashell: "Seashells", demo.Ration: "Ration cards",
	} {
		if one(t, conn, fmt.Sprintf("select count(*) from token where token_id = %d and name = '%s'", id, name)) != 1 {
			t.Errorf("token 0.0.%d is not %q", id, name)
		}
	}
}
