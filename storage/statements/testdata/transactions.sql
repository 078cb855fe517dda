-- actions of transactions
select p.ord, a.*
from unnest((select $1::bigint[]), (select $2::bigint[])) with ordinality p(at, payer, ord) cross join lateral (
  select a.consensus_timestamp, a.call_depth, a.call_operation_type, a.call_type, a.caller,
  a.caller_type::text, a.gas, a.gas_used, a.index, a.input, a.recipient_account, a.recipient_contract,
  a.recipient_address, a.result_data, a.result_data_type, a.value, a.payer_account_id from contract_action a where a.consensus_timestamp = p.at and a.payer_account_id = p.payer and (a.index) < ($3) order by a.index desc limit 25) a order by p.ord, a.index desc;

-- actions of transactions, distributed
select p.ord, a.*
from (select $1::bigint as at, $2::bigint as payer, 1::bigint as ord) p cross join lateral (
  select a.consensus_timestamp, a.call_depth, a.call_operation_type, a.call_type, a.caller,
  a.caller_type::text, a.gas, a.gas_used, a.index, a.input, a.recipient_account, a.recipient_contract,
  a.recipient_address, a.result_data, a.result_data_type, a.value, a.payer_account_id from contract_action a where a.consensus_timestamp = $1::bigint and a.payer_account_id = $2::bigint and (a.index) < ($3) order by a.index desc limit 25) a order by p.ord, a.index desc;

-- blocks at times
select p.ord, r.*
from unnest((select $1::bigint[])) with ordinality p(at, ord) cross join lateral (
  select index, '0x' || hash, '0x' || prev_hash, name, count,
  hapi_version_major || '.' || hapi_version_minor || '.' || hapi_version_patch,
  coalesce(size, length(bytes)), nullif(gas_used, -1), logs_bloom, receipts_root, consensus_start,
  consensus_end from record_file where consensus_end >= p.at order by record_file.consensus_end limit 1) r where r.consensus_start <= p.at;

-- blocks at times, distributed
select p.ord, r.*
from (select $1::bigint as at, 1::bigint as ord) p cross join lateral (
  select index, '0x' || hash, '0x' || prev_hash, name, count,
  hapi_version_major || '.' || hapi_version_minor || '.' || hapi_version_patch,
  coalesce(size, length(bytes)), nullif(gas_used, -1), logs_bloom, receipts_root, consensus_start,
  consensus_end from record_file where consensus_end >= $1::bigint order by record_file.consensus_end limit 1) r where r.consensus_start <= $1::bigint;

-- blocks by number
select index, '0x' || hash, '0x' || prev_hash, name, count,
  hapi_version_major || '.' || hapi_version_minor || '.' || hapi_version_patch,
  coalesce(size, length(bytes)), nullif(gas_used, -1), logs_bloom, receipts_root, consensus_start,
  consensus_end from record_file where index = any((select $1::bigint[])::bigint[]);

-- blocks by number, distributed
select index, '0x' || hash, '0x' || prev_hash, name, count,
  hapi_version_major || '.' || hapi_version_minor || '.' || hapi_version_patch,
  coalesce(size, length(bytes)), nullif(gas_used, -1), logs_bloom, receipts_root, consensus_start,
  consensus_end from record_file where index = any($1::bigint[]::bigint[]);

-- blocks in a range of two columns
/* enable_bitmapscan = off */ select index, '0x' || hash, '0x' || prev_hash, name, count,
  hapi_version_major || '.' || hapi_version_minor || '.' || hapi_version_patch,
  coalesce(size, length(bytes)), nullif(gas_used, -1), logs_bloom, receipts_root, consensus_start,
  consensus_end
from record_file where true and index > $1 and consensus_end <= $2 and (index) < ($3) order by index desc limit 25;

-- blocks in a range of two columns, distributed
/* enable_bitmapscan = off */ select index, '0x' || hash, '0x' || prev_hash, name, count,
  hapi_version_major || '.' || hapi_version_minor || '.' || hapi_version_patch,
  coalesce(size, length(bytes)), nullif(gas_used, -1), logs_bloom, receipts_root, consensus_start,
  consensus_end
from record_file where true and index > $1 and consensus_end <= $2 and (index) < ($3) order by index desc limit 25;

-- call data
select x.*, case when coalesce(x.call_data, '') = '' then (
  select string_agg(file_data, '' order by consensus_timestamp) from file_data where entity_id = x.call_data_id
    and x.call_data_id & 274877906943 > 1000 and consensus_timestamp >= (
    select max(consensus_timestamp) from file_data where entity_id = x.call_data_id and transaction_type in (17, 19))) end
from (select p.place, et.call_data, et.call_data_id
from unnest((select $1::bigint[]), (select $2::bigint[]), (select $3::bigint[])) with ordinality p(at, payer, place, ord) join ethereum_transaction et on et.consensus_timestamp = p.at and et.payer_account_id = p.payer) x;

-- call data, distributed
with page as materialized (with ethereum_transaction as materialized (select * from ethereum_transaction where consensus_timestamp = $1::bigint and payer_account_id = $2::bigint)
select p.place, et.call_data, et.call_data_id
from (select $1::bigint as at, $2::bigint as payer, $3::bigint as place, 1::bigint as ord) p join ethereum_transaction et on et.consensus_timestamp = $1::bigint and et.payer_account_id = $2::bigint),
file_data as materialized (select * from file_data where entity_id in (select call_data_id from page))
select x.*, case when coalesce(x.call_data, '') = '' then (
  select string_agg(file_data, '' order by consensus_timestamp) from file_data where entity_id = x.call_data_id
    and x.call_data_id & 274877906943 > 1000 and consensus_timestamp >= (
    select max(consensus_timestamp) from file_data where entity_id = x.call_data_id and transaction_type in (17, 19))) end
from page x;

-- children by hash
select p.ord, t.parent_consensus_timestamp is not null
from (select at, party, 0 as asked, 0 as synthetic, 1::bigint as ord from (select consensus_timestamp as at, entity_id as party, payer_account_id as payer from contract_transaction_hash
where hash = $1 order by (transaction_result = 22) desc, consensus_timestamp desc limit 1) found) p join transaction t on t.consensus_timestamp = p.at order by p.ord, 2 desc;

-- children by hash, distributed
with page as materialized (select at, party, 0 as asked, 0 as synthetic, 1::bigint as ord from (select consensus_timestamp as at, entity_id as party, payer_account_id as payer from contract_transaction_hash
where hash = $1 order by (transaction_result = 22) desc, consensus_timestamp desc limit 1) found),
transaction as materialized (select * from transaction where consensus_timestamp in (select at from page))
select p.ord, t.parent_consensus_timestamp is not null
from page p join transaction t on t.consensus_timestamp = p.at order by p.ord, 2 desc;

-- counterparties
/* enable_bitmapscan = off */ select p.ord, n.*, t.payer_account_id, t.charged_tx_fee
from unnest((select $1::bigint[]), (select $2::bigint[]), (select $3::bigint[])) with ordinality p(at, token, account, ord) cross join lateral ((select s.consensus_timestamp, 0::bigint as token_id, s.entity_id as account_id, sum(s.amount)::bigint as amount from crypto_transfer s
    where p.token = 0 and s.consensus_timestamp = p.at and s.entity_id <> p.account group by s.consensus_timestamp, 0::bigint, s.entity_id) union all (select s.consensus_timestamp, s.token_id as token_id, s.account_id as account_id, sum(s.amount)::bigint as amount from token_transfer s
    where s.consensus_timestamp = p.at and s.token_id = p.token and s.account_id <> p.account group by s.consensus_timestamp, s.token_id, s.account_id)) n left join transaction t on t.consensus_timestamp = n.consensus_timestamp where not (n.token_id = 0 and n.amount > 0 and (n.account_id = any($4) or n.account_id = coalesce(t.node_account_id, 0))) order by p.ord, n.account_id;

-- counterparties, distributed
/* enable_bitmapscan = off */ with page as materialized ((select s.consensus_timestamp, 0::bigint as token_id, s.entity_id as account_id, sum(s.amount)::bigint as amount from crypto_transfer s
    where $2::bigint = 0 and s.consensus_timestamp = $1::bigint and s.entity_id <> $3::bigint group by s.consensus_timestamp, 0::bigint, s.entity_id) union all (select s.consensus_timestamp, s.token_id as token_id, s.account_id as account_id, sum(s.amount)::bigint as amount from token_transfer s
    where s.consensus_timestamp = $1::bigint and s.token_id = $2::bigint and s.account_id <> $3::bigint group by s.consensus_timestamp, s.token_id, s.account_id)),
transaction as materialized (select * from transaction where consensus_timestamp in (select consensus_timestamp from page))
select p.ord, n.*, t.payer_account_id, t.charged_tx_fee
from (select $1::bigint as at, $2::bigint as token, $3::bigint as account, 1::bigint as ord) p cross join page n left join transaction t on t.consensus_timestamp = n.consensus_timestamp where not (n.token_id = 0 and n.amount > 0 and (n.account_id = any($4) or n.account_id = coalesce(t.node_account_id, 0))) order by p.ord, n.account_id;

-- custom fees of transactions
select consensus_timestamp, payer_account_id, amount, collector_account_id, token_id, effective_payer_account_ids
from assessed_custom_fee where consensus_timestamp = any((select $1::bigint[])::bigint[]) and payer_account_id = any((select $2::bigint[])::bigint[]) order by consensus_timestamp, collector_account_id, amount;

-- custom fees of transactions, distributed
select consensus_timestamp, payer_account_id, amount, collector_account_id, token_id, effective_payer_account_ids
from assessed_custom_fee where consensus_timestamp = any($1::bigint[]::bigint[]) and payer_account_id = any($2::bigint[]::bigint[]) order by consensus_timestamp, collector_account_id, amount;

-- inner transactions
select p.parent, t.consensus_timestamp, t.payer_account_id, t.valid_start_ns, t.type, t.result, t.batch_key,
  t.transaction_bytes, t.charged_tx_fee, t.entity_id, t.high_volume,
  t.high_volume_pricing_multiplier, t.index, t.inner_transactions, t.max_custom_fees, t.max_fee,
  t.memo, t.nft_transfer, t.node_account_id, t.nonce, t.parent_consensus_timestamp, t.scheduled,
  t.transaction_hash, t.valid_duration_seconds
from unnest((select $1::bigint[]), (select $2::bigint[]), (select $3::bigint[])) with ordinality p(parent, payer, start, ord) join transaction t on t.payer_account_id = p.payer
and t.valid_start_ns = p.start and t.consensus_timestamp between p.start - $4 and p.start + $5 where true order by p.parent, t.consensus_timestamp;

-- inner transactions, distributed
with transaction as materialized (select * from transaction where payer_account_id = $2::bigint
and valid_start_ns = $3::bigint and consensus_timestamp between $3::bigint - $4 and $3::bigint + $5)
select p.parent, t.consensus_timestamp, t.payer_account_id, t.valid_start_ns, t.type, t.result, t.batch_key,
  t.transaction_bytes, t.charged_tx_fee, t.entity_id, t.high_volume,
  t.high_volume_pricing_multiplier, t.index, t.inner_transactions, t.max_custom_fees, t.max_fee,
  t.memo, t.nft_transfer, t.node_account_id, t.nonce, t.parent_consensus_timestamp, t.scheduled,
  t.transaction_hash, t.valid_duration_seconds
from (select $1::bigint as parent, $2::bigint as payer, $3::bigint as start, 1::bigint as ord) p join transaction t on t.payer_account_id = $2::bigint
and t.valid_start_ns = $3::bigint and t.consensus_timestamp between $3::bigint - $4 and $3::bigint + $5 where true order by p.parent, t.consensus_timestamp;

-- logs
with page as (select l.* from contract_log l where true and l.consensus_timestamp = (select t.consensus_timestamp from get_transaction_info_by_hash($1) t where true and t.hash = $2 and t.consensus_timestamp <= $3 order by t.consensus_timestamp asc limit 1) and not (l.synthetic is true
  and l.topic0 = '\xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'
  and l.topic3 = '\xffffffffffffffff') is true and (l.consensus_timestamp, l.index) < ($4, $5) order by l.consensus_timestamp asc, l.index asc limit 25)
select l.consensus_timestamp, l.index, e.evm_address, l.bloom, l.contract_id, l.data, l.payer_account_id,
  l.root_contract_id, coalesce(l.synthetic, false), l.topic0, l.topic1, l.topic2, l.topic3,
  coalesce(l.transaction_hash, ''), l.transaction_index, '0x' || r.hash, r.index
from page l left join entity e on e.id = l.contract_id
left join lateral (
  select hash, index, consensus_start from record_file where consensus_end >= l.consensus_timestamp
    and consensus_end <= (select max(consensus_timestamp) from page) + 10000000000
  order by consensus_end limit 1) r on r.consensus_start <= l.consensus_timestamp order by l.consensus_timestamp asc, l.index asc;

-- logs of a result by hash
with page as (select p.ord, l.*
from (select at, party, 0 as asked, 0 as synthetic, 1::bigint as ord from (select consensus_timestamp as at, entity_id as party, payer_account_id as payer from contract_transaction_hash
where hash = $1 order by (transaction_result = 22) desc, consensus_timestamp desc limit 1) found) p join contract_log l on l.consensus_timestamp = p.at left join contract_transaction ct on ct.consensus_timestamp = p.at and ct.entity_id = p.party
  where case p.synthetic when 1 then l.synthetic is true and p.asked in (0, l.contract_id)
    else coalesce(cardinality(ct.contract_ids), 0) = 0 or l.contract_id = any(ct.contract_ids) end
    and not (l.synthetic is true
  and l.topic0 = '\xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'
  and l.topic3 = '\xffffffffffffffff') is true limit $2)
select l.ord, l.consensus_timestamp, l.index, e.evm_address, l.bloom, l.contract_id, l.data, l.payer_account_id,
  l.root_contract_id, coalesce(l.synthetic, false), l.topic0, l.topic1, l.topic2, l.topic3,
  coalesce(l.transaction_hash, ''), l.transaction_index, null::text, null::bigint
from page l left join entity e on e.id = l.contract_id order by l.ord, l.consensus_timestamp, l.index;

-- logs of a result by hash, distributed
with page as (with page as materialized (select at, party, 0 as asked, 0 as synthetic, 1::bigint as ord from (select consensus_timestamp as at, entity_id as party, payer_account_id as payer from contract_transaction_hash
where hash = $1 order by (transaction_result = 22) desc, consensus_timestamp desc limit 1) found),
contract_log as materialized (select * from contract_log where consensus_timestamp in (select at from page)),
contract_transaction as materialized (select * from contract_transaction where consensus_timestamp in (select at from page) and entity_id in (select party from page))
select p.ord, l.*
from page p join contract_log l on l.consensus_timestamp = p.at left join contract_transaction ct on ct.consensus_timestamp = p.at and ct.entity_id = p.party
  where case p.synthetic when 1 then l.synthetic is true and p.asked in (0, l.contract_id)
    else coalesce(cardinality(ct.contract_ids), 0) = 0 or l.contract_id = any(ct.contract_ids) end
    and not (l.synthetic is true
  and l.topic0 = '\xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'
  and l.topic3 = '\xffffffffffffffff') is true limit $2),
entity as materialized (select * from entity where id in (select contract_id from page))
select l.ord, l.consensus_timestamp, l.index, e.evm_address, l.bloom, l.contract_id, l.data, l.payer_account_id,
  l.root_contract_id, coalesce(l.synthetic, false), l.topic0, l.topic1, l.topic2, l.topic3,
  coalesce(l.transaction_hash, ''), l.transaction_index, null::text, null::bigint
from page l left join entity e on e.id = l.contract_id order by l.ord, l.consensus_timestamp, l.index;

-- logs of contracts
with page as (select p.ord, l.* from unnest((select $1::bigint[])) with ordinality p(id, ord) cross join lateral (select l.* from contract_log l where l.contract_id = p.id and not (l.synthetic is true
  and l.topic0 = '\xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'
  and l.topic3 = '\xffffffffffffffff') is true and (l.consensus_timestamp, l.index) < ($2, $3) order by l.consensus_timestamp asc, l.index asc limit 25) l)
select l.ord, l.consensus_timestamp, l.index, e.evm_address, l.bloom, l.contract_id, l.data, l.payer_account_id,
  l.root_contract_id, coalesce(l.synthetic, false), l.topic0, l.topic1, l.topic2, l.topic3,
  coalesce(l.transaction_hash, ''), l.transaction_index, '0x' || r.hash, r.index
from page l left join entity e on e.id = l.contract_id
left join lateral (
  select hash, index, consensus_start from record_file where consensus_end >= l.consensus_timestamp
    and consensus_end <= (select max(consensus_timestamp) from page) + 10000000000
  order by consensus_end limit 1) r on r.consensus_start <= l.consensus_timestamp order by l.ord, l.consensus_timestamp asc, l.index asc;

-- logs of contracts, distributed
with page as (select p.ord, l.* from (select $1::bigint as id, 1::bigint as ord) p cross join lateral (select l.* from contract_log l where l.contract_id = $1::bigint and not (l.synthetic is true
  and l.topic0 = '\xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'
  and l.topic3 = '\xffffffffffffffff') is true and (l.consensus_timestamp, l.index) < ($2, $3) order by l.consensus_timestamp asc, l.index asc limit 25) l),
entity as materialized (select * from entity where id in (select contract_id from page))
select l.ord, l.consensus_timestamp, l.index, e.evm_address, l.bloom, l.contract_id, l.data, l.payer_account_id,
  l.root_contract_id, coalesce(l.synthetic, false), l.topic0, l.topic1, l.topic2, l.topic3,
  coalesce(l.transaction_hash, ''), l.transaction_index, '0x' || r.hash, r.index
from page l left join entity e on e.id = l.contract_id
left join lateral (
  select hash, index, consensus_start from record_file where consensus_end >= l.consensus_timestamp
    and consensus_end <= (select max(consensus_timestamp) from page) + 10000000000
  order by consensus_end limit 1) r on r.consensus_start <= l.consensus_timestamp order by l.ord, l.consensus_timestamp asc, l.index asc;

-- logs of results
with page as (select p.ord, l.*
from unnest((select $1::bigint[]), (select $2::bigint[]), (select $3::bigint[]), (select $4::bigint[])) with ordinality p(at, party, asked, synthetic, ord) join contract_log l on l.consensus_timestamp = p.at left join contract_transaction ct on ct.consensus_timestamp = p.at and ct.entity_id = p.party
  where case p.synthetic when 1 then l.synthetic is true and p.asked in (0, l.contract_id)
    else coalesce(cardinality(ct.contract_ids), 0) = 0 or l.contract_id = any(ct.contract_ids) end
    and not (l.synthetic is true
  and l.topic0 = '\xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'
  and l.topic3 = '\xffffffffffffffff') is true limit $5)
select l.ord, l.consensus_timestamp, l.index, e.evm_address, l.bloom, l.contract_id, l.data, l.payer_account_id,
  l.root_contract_id, coalesce(l.synthetic, false), l.topic0, l.topic1, l.topic2, l.topic3,
  coalesce(l.transaction_hash, ''), l.transaction_index, '0x' || r.hash, r.index
from page l left join entity e on e.id = l.contract_id
left join lateral (
  select hash, index, consensus_start from record_file where consensus_end >= l.consensus_timestamp
    and consensus_end <= (select max(consensus_timestamp) from page) + 10000000000
  order by consensus_end limit 1) r on r.consensus_start <= l.consensus_timestamp order by l.ord, l.consensus_timestamp, l.index;

-- logs of results, distributed
with page as (with contract_log as materialized (select * from contract_log where consensus_timestamp = $1::bigint),
contract_transaction as materialized (select * from contract_transaction where consensus_timestamp = $1::bigint and entity_id = $2::bigint)
select p.ord, l.*
from (select $1::bigint as at, $2::bigint as party, $3::bigint as asked, $4::bigint as synthetic, 1::bigint as ord) p join contract_log l on l.consensus_timestamp = $1::bigint left join contract_transaction ct on ct.consensus_timestamp = $1::bigint and ct.entity_id = $2::bigint
  where case $4::bigint when 1 then l.synthetic is true and $3::bigint in (0, l.contract_id)
    else coalesce(cardinality(ct.contract_ids), 0) = 0 or l.contract_id = any(ct.contract_ids) end
    and not (l.synthetic is true
  and l.topic0 = '\xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'
  and l.topic3 = '\xffffffffffffffff') is true limit $5),
entity as materialized (select * from entity where id in (select contract_id from page))
select l.ord, l.consensus_timestamp, l.index, e.evm_address, l.bloom, l.contract_id, l.data, l.payer_account_id,
  l.root_contract_id, coalesce(l.synthetic, false), l.topic0, l.topic1, l.topic2, l.topic3,
  coalesce(l.transaction_hash, ''), l.transaction_index, '0x' || r.hash, r.index
from page l left join entity e on e.id = l.contract_id
left join lateral (
  select hash, index, consensus_start from record_file where consensus_end >= l.consensus_timestamp
    and consensus_end <= (select max(consensus_timestamp) from page) + 10000000000
  order by consensus_end limit 1) r on r.consensus_start <= l.consensus_timestamp order by l.ord, l.consensus_timestamp, l.index;

-- logs with a topic
/* enable_bitmapscan = off */ with page as (select l.* from contract_log l where true and not (l.synthetic is true
  and l.topic0 = '\xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'
  and l.topic3 = '\xffffffffffffffff') is true and l.consensus_timestamp <= (select $1::bigint) and l.topic1 = any($2) and (l.consensus_timestamp, l.index) < ($3, $4) order by l.consensus_timestamp asc, l.index asc limit 25)
select l.consensus_timestamp, l.index, e.evm_address, l.bloom, l.contract_id, l.data, l.payer_account_id,
  l.root_contract_id, coalesce(l.synthetic, false), l.topic0, l.topic1, l.topic2, l.topic3,
  coalesce(l.transaction_hash, ''), l.transaction_index, '0x' || r.hash, r.index
from page l left join entity e on e.id = l.contract_id
left join lateral (
  select hash, index, consensus_start from record_file where consensus_end >= l.consensus_timestamp
    and consensus_end <= (select max(consensus_timestamp) from page) + 10000000000
  order by consensus_end limit 1) r on r.consensus_start <= l.consensus_timestamp order by l.consensus_timestamp asc, l.index asc;

-- logs with a topic, distributed
/* enable_bitmapscan = off */ with page as (select l.* from contract_log l where true and not (l.synthetic is true
  and l.topic0 = '\xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'
  and l.topic3 = '\xffffffffffffffff') is true and l.consensus_timestamp <= $1::bigint and l.topic1 = any($2) and (l.consensus_timestamp, l.index) < ($3, $4) order by l.consensus_timestamp asc, l.index asc limit 25),
entity as materialized (select * from entity where id in (select contract_id from page))
select l.consensus_timestamp, l.index, e.evm_address, l.bloom, l.contract_id, l.data, l.payer_account_id,
  l.root_contract_id, coalesce(l.synthetic, false), l.topic0, l.topic1, l.topic2, l.topic3,
  coalesce(l.transaction_hash, ''), l.transaction_index, '0x' || r.hash, r.index
from page l left join entity e on e.id = l.contract_id
left join lateral (
  select hash, index, consensus_start from record_file where consensus_end >= l.consensus_timestamp
    and consensus_end <= (select max(consensus_timestamp) from page) + 10000000000
  order by consensus_end limit 1) r on r.consensus_start <= l.consensus_timestamp order by l.consensus_timestamp asc, l.index asc;

-- logs, distributed
with page as (select l.* from contract_log l where true and l.consensus_timestamp = (select t.consensus_timestamp from (select consensus_timestamp, hash || coalesce(hash_suffix, '') as hash, payer_account_id
  from transaction_hash where hash = $1) t where true and t.hash = $2 and t.consensus_timestamp <= $3 order by t.consensus_timestamp asc limit 1) and not (l.synthetic is true
  and l.topic0 = '\xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'
  and l.topic3 = '\xffffffffffffffff') is true and (l.consensus_timestamp, l.index) < ($4, $5) order by l.consensus_timestamp asc, l.index asc limit 25),
entity as materialized (select * from entity where id in (select contract_id from page))
select l.consensus_timestamp, l.index, e.evm_address, l.bloom, l.contract_id, l.data, l.payer_account_id,
  l.root_contract_id, coalesce(l.synthetic, false), l.topic0, l.topic1, l.topic2, l.topic3,
  coalesce(l.transaction_hash, ''), l.transaction_index, '0x' || r.hash, r.index
from page l left join entity e on e.id = l.contract_id
left join lateral (
  select hash, index, consensus_start from record_file where consensus_end >= l.consensus_timestamp
    and consensus_end <= (select max(consensus_timestamp) from page) + 10000000000
  order by consensus_end limit 1) r on r.consensus_start <= l.consensus_timestamp order by l.consensus_timestamp asc, l.index asc;

-- parties
select consensus_timestamp, account_id, bool_or(amount > 0), bool_or(amount < 0) from (
  select consensus_timestamp, entity_id as account_id, amount from crypto_transfer where consensus_timestamp = any((select $1::bigint[])::bigint[]) and payer_account_id = any((select $2::bigint[])::bigint[])
  union all select consensus_timestamp, account_id, amount from token_transfer where consensus_timestamp = any((select $1::bigint[])::bigint[]) and payer_account_id = any((select $2::bigint[])::bigint[])
  union all select consensus_timestamp, entity_id, 0 from entity_transaction
    where entity_id = any((select $3::bigint[])::bigint[]) and consensus_timestamp = any((select $1::bigint[])::bigint[])
  union all select consensus_timestamp, payer_account_id, 0 from transaction where consensus_timestamp = any((select $1::bigint[])::bigint[]) and payer_account_id = any((select $2::bigint[])::bigint[])
    and (nonce = 0 or parent_consensus_timestamp is not null or type in (11, 15))) party
group by consensus_timestamp, account_id order by consensus_timestamp;

-- parties, distributed
select consensus_timestamp, account_id, bool_or(amount > 0), bool_or(amount < 0) from (
  select consensus_timestamp, entity_id as account_id, amount from crypto_transfer where consensus_timestamp = any($1::bigint[]::bigint[]) and payer_account_id = any($2::bigint[]::bigint[])
  union all select consensus_timestamp, account_id, amount from token_transfer where consensus_timestamp = any($1::bigint[]::bigint[]) and payer_account_id = any($2::bigint[]::bigint[])
  union all select consensus_timestamp, entity_id, 0 from entity_transaction
    where entity_id = any($3::bigint[]::bigint[]) and consensus_timestamp = any($1::bigint[]::bigint[])
  union all select consensus_timestamp, payer_account_id, 0 from transaction where consensus_timestamp = any($1::bigint[]::bigint[]) and payer_account_id = any($2::bigint[]::bigint[])
    and (nonce = 0 or parent_consensus_timestamp is not null or type in (11, 15))) party
group by consensus_timestamp, account_id order by consensus_timestamp;

-- results
select cr.consensus_timestamp, e.evm_address, cr.amount, cr.bloom, cr.call_result, cr.contract_id,
  cr.created_contract_ids, cr.error_message, cr.failed_initcode, cr.function_parameters,
  case when cr.sender_id is null then cr.function_result end, cr.gas_consumed, cr.gas_limit,
  cr.gas_used, cr.payer_account_id, cr.sender_id, cr.transaction_hash, cr.transaction_index,
  cr.transaction_nonce, cr.transaction_result, '0x' || r.hash, r.index, nullif(r.gas_used, -1), et.payer_account_id, et.access_list,
  et.authorization_list, et.chain_id, et.gas_limit, et.gas_price, et.max_fee_per_gas,
  et.max_priority_fee_per_gas, et.nonce, et.recovery_id, et.signature_r, et.signature_s,
  et.signature_v, et.to_address, et.type, et.value, cr.synthetic, t.parent_consensus_timestamp is not null
from (select * from (select distinct on (consensus_timestamp) * from (
  (select cr.consensus_timestamp, cr.contract_id, cr.payer_account_id, cr.sender_id, cr.amount, cr.bloom,
  cr.call_result, cr.created_contract_ids, cr.error_message, cr.failed_initcode, cr.function_parameters,
  cr.function_result, cr.gas_consumed, cr.gas_limit, cr.gas_used, cr.transaction_hash, cr.transaction_index,
  cr.transaction_nonce, cr.transaction_result, false as synthetic from contract_result cr where true and cr.transaction_result <> 312 and cr.transaction_nonce = 0 and (cr.consensus_timestamp) < ($1) order by cr.consensus_timestamp desc limit 25)
  union all (select distinct on (l.consensus_timestamp) l.consensus_timestamp, coalesce(nullif(l.root_contract_id, 0), l.contract_id) as contract_id,
  l.payer_account_id, l.payer_account_id as sender_id, null::bigint as amount, null::bytea as bloom,
  null::bytea as call_result, '{}'::bigint[] as created_contract_ids, null::text as error_message,
  null::bytea as failed_initcode, ''::bytea as function_parameters, null::bytea as function_result,
  null::bigint as gas_consumed, 0::bigint as gas_limit, null::bigint as gas_used, l.transaction_hash,
  l.transaction_index, 0::integer as transaction_nonce, 22::smallint as transaction_result, true as synthetic from contract_log l
where l.synthetic is true and not (l.synthetic is true
  and l.topic0 = '\xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'
  and l.topic3 = '\xffffffffffffffff') is true and (l.consensus_timestamp) < ($2) order by l.consensus_timestamp desc, l.index desc limit 25)) cr order by consensus_timestamp desc, synthetic) cr order by consensus_timestamp desc limit 25) cr left join entity e on e.id = cr.contract_id left join lateral (select hash, index, gas_used, consensus_start from record_file where consensus_end >= cr.consensus_timestamp
  order by consensus_end limit 1) r on r.consensus_start <= cr.consensus_timestamp left join ethereum_transaction et on et.consensus_timestamp = cr.consensus_timestamp and et.payer_account_id = cr.payer_account_id left join transaction t on t.consensus_timestamp = cr.consensus_timestamp order by cr.consensus_timestamp desc;

-- results between times
/* enable_bitmapscan = off */ select p.ord, cr.consensus_timestamp, e.evm_address, cr.amount, cr.bloom, cr.call_result, cr.contract_id,
  cr.created_contract_ids, cr.error_message, cr.failed_initcode, cr.function_parameters,
  case when cr.sender_id is null then cr.function_result end, cr.gas_consumed, cr.gas_limit,
  cr.gas_used, cr.payer_account_id, cr.sender_id, cr.transaction_hash, cr.transaction_index,
  cr.transaction_nonce, cr.transaction_result, '0x' || r.hash, r.index, nullif(r.gas_used, -1), et.payer_account_id, et.access_list,
  et.authorization_list, et.chain_id, et.gas_limit, et.gas_price, et.max_fee_per_gas,
  et.max_priority_fee_per_gas, et.nonce, et.recovery_id, et.signature_r, et.signature_s,
  et.signature_v, et.to_address, et.type, et.value
from unnest((select $1::bigint[]), (select $2::bigint[])) with ordinality p(since, until, ord) cross join lateral (
  select * from contract_result cr where cr.consensus_timestamp between p.since and p.until and cr.transaction_result <> 312 and cr.transaction_nonce = 0 and (cr.consensus_timestamp) < ($3) order by cr.consensus_timestamp desc limit 25) cr left join entity e on e.id = cr.contract_id left join lateral (select hash, index, gas_used, consensus_start from record_file where consensus_end >= cr.consensus_timestamp
  order by consensus_end limit 1) r on r.consensus_start <= cr.consensus_timestamp left join ethereum_transaction et on et.consensus_timestamp = cr.consensus_timestamp and et.payer_account_id = cr.payer_account_id order by p.ord, cr.consensus_timestamp desc;

-- results between times, distributed
/* enable_bitmapscan = off */ with page as materialized (
  select * from contract_result cr where cr.consensus_timestamp between $1::bigint and $2::bigint and cr.transaction_result <> 312 and cr.transaction_nonce = 0 and (cr.consensus_timestamp) < ($3) order by cr.consensus_timestamp desc limit 25),
entity as materialized (select * from entity where id in (select contract_id from page)),
ethereum_transaction as materialized (select * from ethereum_transaction where consensus_timestamp in (select consensus_timestamp from page) and payer_account_id in (select payer_account_id from page))
select p.ord, cr.consensus_timestamp, e.evm_address, cr.amount, cr.bloom, cr.call_result, cr.contract_id,
  cr.created_contract_ids, cr.error_message, cr.failed_initcode, cr.function_parameters,
  case when cr.sender_id is null then cr.function_result end, cr.gas_consumed, cr.gas_limit,
  cr.gas_used, cr.payer_account_id, cr.sender_id, cr.transaction_hash, cr.transaction_index,
  cr.transaction_nonce, cr.transaction_result, '0x' || r.hash, r.index, nullif(r.gas_used, -1), et.payer_account_id, et.access_list,
  et.authorization_list, et.chain_id, et.gas_limit, et.gas_price, et.max_fee_per_gas,
  et.max_priority_fee_per_gas, et.nonce, et.recovery_id, et.signature_r, et.signature_s,
  et.signature_v, et.to_address, et.type, et.value
from (select $1::bigint as since, $2::bigint as until, 1::bigint as ord) p cross join page cr left join entity e on e.id = cr.contract_id left join lateral (select hash, index, gas_used, consensus_start from record_file where consensus_end >= cr.consensus_timestamp
  order by consensus_end limit 1) r on r.consensus_start <= cr.consensus_timestamp left join ethereum_transaction et on et.consensus_timestamp = cr.consensus_timestamp and et.payer_account_id = cr.payer_account_id order by p.ord, cr.consensus_timestamp desc;

-- results by hashes
with found as (select distinct on (hash) hash, consensus_timestamp as at, entity_id as party, payer_account_id as payer
from contract_transaction_hash where hash = any((select $1::bytea[])::bytea[])
order by hash, (transaction_result = 22) desc, consensus_timestamp desc)
select array_position($1::bytea[], found.hash)::bigint, found.party, null::bytea, null::bigint, cr.consensus_timestamp, e.evm_address, cr.amount, cr.bloom, cr.call_result, cr.contract_id,
  cr.created_contract_ids, cr.error_message, cr.failed_initcode, cr.function_parameters,
  case when cr.sender_id is null then cr.function_result end, cr.gas_consumed, cr.gas_limit,
  cr.gas_used, cr.payer_account_id, cr.sender_id, cr.transaction_hash, cr.transaction_index,
  cr.transaction_nonce, cr.transaction_result, '0x' || r.hash, r.index, nullif(r.gas_used, -1), et.payer_account_id, et.access_list,
  et.authorization_list, et.chain_id, et.gas_limit, et.gas_price, et.max_fee_per_gas,
  et.max_priority_fee_per_gas, et.nonce, et.recovery_id, et.signature_r, et.signature_s,
  et.signature_v, et.to_address, et.type, et.value, null::bytea
from found  join contract_transaction ct on ct.consensus_timestamp = found.at
and ct.entity_id = found.party join contract_result cr on cr.consensus_timestamp = found.at
and (cr.contract_id = any(ct.contract_ids) or cardinality(ct.contract_ids) = 0) left join entity e on e.id = cr.contract_id left join lateral (select hash, index, gas_used, consensus_start from record_file where consensus_end >= cr.consensus_timestamp
  order by consensus_end limit 1) r on true left join ethereum_transaction et on et.consensus_timestamp = found.at
and et.payer_account_id = ct.payer_account_id order by 1, cr.contract_id;

-- results by hashes, distributed
with found as (select distinct on (hash) hash, consensus_timestamp as at, entity_id as party, payer_account_id as payer
from contract_transaction_hash where hash = any($1::bytea[]::bytea[])
order by hash, (transaction_result = 22) desc, consensus_timestamp desc),
contract_transaction as materialized (select * from contract_transaction where consensus_timestamp in (select at from found) and entity_id in (select party from found)),
contract_result as materialized (select * from contract_result where consensus_timestamp in (select at from found)),
entity as materialized (select * from entity where id in (select contract_id from contract_result)),
ethereum_transaction as materialized (select * from ethereum_transaction where consensus_timestamp in (select at from found) and payer_account_id in (select payer_account_id
from contract_transaction))
select array_position($1::bytea[], found.hash)::bigint, found.party, null::bytea, null::bigint, cr.consensus_timestamp, e.evm_address, cr.amount, cr.bloom, cr.call_result, cr.contract_id,
  cr.created_contract_ids, cr.error_message, cr.failed_initcode, cr.function_parameters,
  case when cr.sender_id is null then cr.function_result end, cr.gas_consumed, cr.gas_limit,
  cr.gas_used, cr.payer_account_id, cr.sender_id, cr.transaction_hash, cr.transaction_index,
  cr.transaction_nonce, cr.transaction_result, '0x' || r.hash, r.index, nullif(r.gas_used, -1), et.payer_account_id, et.access_list,
  et.authorization_list, et.chain_id, et.gas_limit, et.gas_price, et.max_fee_per_gas,
  et.max_priority_fee_per_gas, et.nonce, et.recovery_id, et.signature_r, et.signature_s,
  et.signature_v, et.to_address, et.type, et.value, null::bytea
from found  join contract_transaction ct on ct.consensus_timestamp = found.at
and ct.entity_id = found.party join contract_result cr on cr.consensus_timestamp = found.at
and (cr.contract_id = any(ct.contract_ids) or cardinality(ct.contract_ids) = 0) left join entity e on e.id = cr.contract_id left join lateral (select hash, index, gas_used, consensus_start from record_file where consensus_end >= cr.consensus_timestamp
  order by consensus_end limit 1) r on true left join ethereum_transaction et on et.consensus_timestamp = found.at
and et.payer_account_id = ct.payer_account_id order by 1, cr.contract_id;

-- results by time
select cr.consensus_timestamp, e.evm_address, cr.amount, cr.bloom, cr.call_result, cr.contract_id,
  cr.created_contract_ids, cr.error_message, cr.failed_initcode, cr.function_parameters,
  case when cr.sender_id is null then cr.function_result end, cr.gas_consumed, cr.gas_limit,
  cr.gas_used, cr.payer_account_id, cr.sender_id, cr.transaction_hash, cr.transaction_index,
  cr.transaction_nonce, cr.transaction_result, '0x' || r.hash, r.index, nullif(r.gas_used, -1), et.payer_account_id, et.access_list,
  et.authorization_list, et.chain_id, et.gas_limit, et.gas_price, et.max_fee_per_gas,
  et.max_priority_fee_per_gas, et.nonce, et.recovery_id, et.signature_r, et.signature_s,
  et.signature_v, et.to_address, et.type, et.value
from (
select * from contract_result where consensus_timestamp = any((select $1::bigint[])::bigint[])) cr left join entity e on e.id = cr.contract_id left join lateral (select hash, index, gas_used, consensus_start from record_file where consensus_end >= cr.consensus_timestamp
  order by consensus_end limit 1) r on r.consensus_start <= cr.consensus_timestamp left join ethereum_transaction et on et.consensus_timestamp = cr.consensus_timestamp and et.payer_account_id = cr.payer_account_id;

-- results by time, distributed
with page as materialized (
select * from contract_result where consensus_timestamp = any($1::bigint[]::bigint[])),
entity as materialized (select * from entity where id in (select contract_id from page)),
ethereum_transaction as materialized (select * from ethereum_transaction where consensus_timestamp in (select consensus_timestamp from page) and payer_account_id in (select payer_account_id from page))
select cr.consensus_timestamp, e.evm_address, cr.amount, cr.bloom, cr.call_result, cr.contract_id,
  cr.created_contract_ids, cr.error_message, cr.failed_initcode, cr.function_parameters,
  case when cr.sender_id is null then cr.function_result end, cr.gas_consumed, cr.gas_limit,
  cr.gas_used, cr.payer_account_id, cr.sender_id, cr.transaction_hash, cr.transaction_index,
  cr.transaction_nonce, cr.transaction_result, '0x' || r.hash, r.index, nullif(r.gas_used, -1), et.payer_account_id, et.access_list,
  et.authorization_list, et.chain_id, et.gas_limit, et.gas_price, et.max_fee_per_gas,
  et.max_priority_fee_per_gas, et.nonce, et.recovery_id, et.signature_r, et.signature_s,
  et.signature_v, et.to_address, et.type, et.value
from page cr left join entity e on e.id = cr.contract_id left join lateral (select hash, index, gas_used, consensus_start from record_file where consensus_end >= cr.consensus_timestamp
  order by consensus_end limit 1) r on r.consensus_start <= cr.consensus_timestamp left join ethereum_transaction et on et.consensus_timestamp = cr.consensus_timestamp and et.payer_account_id = cr.payer_account_id;

-- results of contracts
/* enable_bitmapscan = off */ select p.ord, cr.consensus_timestamp, e.evm_address, cr.amount, cr.bloom, cr.call_result, cr.contract_id,
  cr.created_contract_ids, cr.error_message, cr.failed_initcode, cr.function_parameters,
  case when cr.sender_id is null then cr.function_result end, cr.gas_consumed, cr.gas_limit,
  cr.gas_used, cr.payer_account_id, cr.sender_id, cr.transaction_hash, cr.transaction_index,
  cr.transaction_nonce, cr.transaction_result, '0x' || r.hash, r.index, nullif(r.gas_used, -1), et.payer_account_id, et.access_list,
  et.authorization_list, et.chain_id, et.gas_limit, et.gas_price, et.max_fee_per_gas,
  et.max_priority_fee_per_gas, et.nonce, et.recovery_id, et.signature_r, et.signature_s,
  et.signature_v, et.to_address, et.type, et.value
from unnest((select $1::bigint[])) with ordinality p(id, ord) cross join lateral (
  select * from contract_result cr where cr.contract_id = p.id and cr.transaction_result <> 312 and cr.transaction_nonce = 0 and (cr.consensus_timestamp) < ($2) order by cr.consensus_timestamp desc limit 25) cr left join entity e on e.id = cr.contract_id left join lateral (select hash, index, gas_used, consensus_start from record_file where consensus_end >= cr.consensus_timestamp
  order by consensus_end limit 1) r on r.consensus_start <= cr.consensus_timestamp left join ethereum_transaction et on et.consensus_timestamp = cr.consensus_timestamp and et.payer_account_id = cr.payer_account_id order by p.ord, cr.consensus_timestamp desc;

-- results of contracts, distributed
/* enable_bitmapscan = off */ with page as materialized (
  select * from contract_result cr where cr.contract_id = $1::bigint and cr.transaction_result <> 312 and cr.transaction_nonce = 0 and (cr.consensus_timestamp) < ($2) order by cr.consensus_timestamp desc limit 25),
entity as materialized (select * from entity where id in (select contract_id from page)),
ethereum_transaction as materialized (select * from ethereum_transaction where consensus_timestamp in (select consensus_timestamp from page) and payer_account_id in (select payer_account_id from page))
select p.ord, cr.consensus_timestamp, e.evm_address, cr.amount, cr.bloom, cr.call_result, cr.contract_id,
  cr.created_contract_ids, cr.error_message, cr.failed_initcode, cr.function_parameters,
  case when cr.sender_id is null then cr.function_result end, cr.gas_consumed, cr.gas_limit,
  cr.gas_used, cr.payer_account_id, cr.sender_id, cr.transaction_hash, cr.transaction_index,
  cr.transaction_nonce, cr.transaction_result, '0x' || r.hash, r.index, nullif(r.gas_used, -1), et.payer_account_id, et.access_list,
  et.authorization_list, et.chain_id, et.gas_limit, et.gas_price, et.max_fee_per_gas,
  et.max_priority_fee_per_gas, et.nonce, et.recovery_id, et.signature_r, et.signature_s,
  et.signature_v, et.to_address, et.type, et.value
from (select $1::bigint as id, 1::bigint as ord) p cross join page cr left join entity e on e.id = cr.contract_id left join lateral (select hash, index, gas_used, consensus_start from record_file where consensus_end >= cr.consensus_timestamp
  order by consensus_end limit 1) r on r.consensus_start <= cr.consensus_timestamp left join ethereum_transaction et on et.consensus_timestamp = cr.consensus_timestamp and et.payer_account_id = cr.payer_account_id order by p.ord, cr.consensus_timestamp desc;

-- results of one contract
select cr.consensus_timestamp, e.evm_address, cr.amount, cr.bloom, cr.call_result, cr.contract_id,
  cr.created_contract_ids, cr.error_message, cr.failed_initcode, cr.function_parameters,
  case when cr.sender_id is null then cr.function_result end, cr.gas_consumed, cr.gas_limit,
  cr.gas_used, cr.payer_account_id, cr.sender_id, cr.transaction_hash, cr.transaction_index,
  cr.transaction_nonce, cr.transaction_result, cr.synthetic, t.parent_consensus_timestamp is not null
from (select * from (select distinct on (consensus_timestamp) * from (
  (select cr.consensus_timestamp, cr.contract_id, cr.payer_account_id, cr.sender_id, cr.amount, cr.bloom,
  cr.call_result, cr.created_contract_ids, cr.error_message, cr.failed_initcode, cr.function_parameters,
  cr.function_result, cr.gas_consumed, cr.gas_limit, cr.gas_used, cr.transaction_hash, cr.transaction_index,
  cr.transaction_nonce, cr.transaction_result, false as synthetic from contract_result cr where true and cr.transaction_result <> 312 and cr.transaction_nonce = 0 and cr.contract_id >= (select $1::bigint) and cr.contract_id <= (select $2::bigint) order by cr.contract_id desc, cr.consensus_timestamp desc limit 26)
  union all (select distinct on (l.consensus_timestamp) l.consensus_timestamp, coalesce(nullif(l.root_contract_id, 0), l.contract_id) as contract_id,
  l.payer_account_id, l.payer_account_id as sender_id, null::bigint as amount, null::bytea as bloom,
  null::bytea as call_result, '{}'::bigint[] as created_contract_ids, null::text as error_message,
  null::bytea as failed_initcode, ''::bytea as function_parameters, null::bytea as function_result,
  null::bigint as gas_consumed, 0::bigint as gas_limit, null::bigint as gas_used, l.transaction_hash,
  l.transaction_index, 0::integer as transaction_nonce, 22::smallint as transaction_result, true as synthetic from (select l.* from contract_log l where true and l.contract_id = $3
  order by l.contract_id, l.consensus_timestamp desc
  limit (select 100 from contract
    where id = $4)) l
where l.synthetic is true and not (l.synthetic is true
  and l.topic0 = '\xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'
  and l.topic3 = '\xffffffffffffffff') is true and l.contract_id = $3 order by l.consensus_timestamp desc, l.index desc limit 26)) cr order by consensus_timestamp desc, synthetic) cr order by consensus_timestamp desc limit 26) cr left join entity e on e.id = cr.contract_id left join transaction t on t.consensus_timestamp = cr.consensus_timestamp order by cr.consensus_timestamp desc;

-- results of one contract, distributed
/* enable_bitmapscan = off */ with page as materialized (select * from (select distinct on (consensus_timestamp) * from (
  (select cr.consensus_timestamp, cr.contract_id, cr.payer_account_id, cr.sender_id, cr.amount, cr.bloom,
  cr.call_result, cr.created_contract_ids, cr.error_message, cr.failed_initcode, cr.function_parameters,
  cr.function_result, cr.gas_consumed, cr.gas_limit, cr.gas_used, cr.transaction_hash, cr.transaction_index,
  cr.transaction_nonce, cr.transaction_result, false as synthetic from contract_result cr where true and cr.transaction_result <> 312 and cr.transaction_nonce = 0 and cr.contract_id = $1::bigint order by cr.consensus_timestamp desc limit 26)
  union all (select distinct on (l.consensus_timestamp) l.consensus_timestamp, coalesce(nullif(l.root_contract_id, 0), l.contract_id) as contract_id,
  l.payer_account_id, l.payer_account_id as sender_id, null::bigint as amount, null::bytea as bloom,
  null::bytea as call_result, '{}'::bigint[] as created_contract_ids, null::text as error_message,
  null::bytea as failed_initcode, ''::bytea as function_parameters, null::bytea as function_result,
  null::bigint as gas_consumed, 0::bigint as gas_limit, null::bigint as gas_used, l.transaction_hash,
  l.transaction_index, 0::integer as transaction_nonce, 22::smallint as transaction_result, true as synthetic from contract_log l
where l.synthetic is true and not (l.synthetic is true
  and l.topic0 = '\xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'
  and l.topic3 = '\xffffffffffffffff') is true and l.contract_id = $2 order by l.consensus_timestamp desc, l.index desc limit 26)) cr order by consensus_timestamp desc, synthetic) cr order by consensus_timestamp desc limit 26),
entity as materialized (select * from entity where id in (select contract_id from page)),
transaction as materialized (select * from transaction where consensus_timestamp in (select consensus_timestamp from page))
select cr.consensus_timestamp, e.evm_address, cr.amount, cr.bloom, cr.call_result, cr.contract_id,
  cr.created_contract_ids, cr.error_message, cr.failed_initcode, cr.function_parameters,
  case when cr.sender_id is null then cr.function_result end, cr.gas_consumed, cr.gas_limit,
  cr.gas_used, cr.payer_account_id, cr.sender_id, cr.transaction_hash, cr.transaction_index,
  cr.transaction_nonce, cr.transaction_result, cr.synthetic, t.parent_consensus_timestamp is not null
from page cr left join entity e on e.id = cr.contract_id left join transaction t on t.consensus_timestamp = cr.consensus_timestamp order by cr.consensus_timestamp desc;

-- results with their files
select x.*, case when coalesce(x.call_data, '') = '' then (
  select string_agg(file_data, '' order by consensus_timestamp) from file_data where entity_id = x.call_data_id
    and x.call_data_id & 274877906943 > 1000 and consensus_timestamp >= (
    select max(consensus_timestamp) from file_data where entity_id = x.call_data_id and transaction_type in (17, 19))) end
from (with found as (select consensus_timestamp as at, entity_id as party, payer_account_id as payer from contract_transaction_hash
where hash = $1 order by (transaction_result = 22) desc, consensus_timestamp desc limit 1)
select found.party, et.call_data, et.call_data_id, cr.consensus_timestamp, e.evm_address, cr.amount, cr.bloom, cr.call_result, cr.contract_id,
  cr.created_contract_ids, cr.error_message, cr.failed_initcode, cr.function_parameters,
  case when cr.sender_id is null then cr.function_result end, cr.gas_consumed, cr.gas_limit,
  cr.gas_used, cr.payer_account_id, cr.sender_id, cr.transaction_hash, cr.transaction_index,
  cr.transaction_nonce, cr.transaction_result, '0x' || r.hash, r.index, nullif(r.gas_used, -1), et.payer_account_id, et.access_list,
  et.authorization_list, et.chain_id, et.gas_limit, et.gas_price, et.max_fee_per_gas,
  et.max_priority_fee_per_gas, et.nonce, et.recovery_id, et.signature_r, et.signature_s,
  et.signature_v, et.to_address, et.type, et.value
from found  join contract_transaction ct on ct.consensus_timestamp = found.at
and ct.entity_id = found.party join contract_result cr on cr.consensus_timestamp = found.at
and (cr.contract_id = any(ct.contract_ids) or cardinality(ct.contract_ids) = 0) left join entity e on e.id = cr.contract_id left join lateral (select hash, index, gas_used, consensus_start from record_file where consensus_end >= cr.consensus_timestamp
  order by consensus_end limit 1) r on true left join ethereum_transaction et on et.consensus_timestamp = found.at
and et.payer_account_id = ct.payer_account_id order by cr.contract_id limit 1) x;
with found as (select consensus_timestamp as at, payer_account_id as party, payer_account_id as payer from transaction
where payer_account_id = $2 and valid_start_ns = $3
  and consensus_timestamp >= $4 and (consensus_timestamp <= $1) and nonce = $5
order by (result = any($6)) desc, consensus_timestamp desc limit 1)
select found.party, null::bytea, null::bigint, cr.consensus_timestamp, e.evm_address, cr.amount, cr.bloom, cr.call_result, cr.contract_id,
  cr.created_contract_ids, cr.error_message, cr.failed_initcode, cr.function_parameters,
  case when cr.sender_id is null then cr.function_result end, cr.gas_consumed, cr.gas_limit,
  cr.gas_used, cr.payer_account_id, cr.sender_id, cr.transaction_hash, cr.transaction_index,
  cr.transaction_nonce, cr.transaction_result, '0x' || r.hash, r.index, nullif(r.gas_used, -1), et.payer_account_id, et.access_list,
  et.authorization_list, et.chain_id, et.gas_limit, et.gas_price, et.max_fee_per_gas,
  et.max_priority_fee_per_gas, et.nonce, et.recovery_id, et.signature_r, et.signature_s,
  et.signature_v, et.to_address, et.type, et.value, null::bytea
from found  join contract_transaction ct on ct.consensus_timestamp = found.at
and ct.entity_id = found.party join contract_result cr on cr.consensus_timestamp = found.at
and (cr.contract_id = any(ct.contract_ids) or cardinality(ct.contract_ids) = 0) left join entity e on e.id = cr.contract_id left join lateral (select hash, index, gas_used, consensus_start from record_file where consensus_end >= cr.consensus_timestamp
  order by consensus_end limit 1) r on true left join ethereum_transaction et on et.consensus_timestamp = found.at
and et.payer_account_id = ct.payer_account_id order by cr.contract_id limit 1;
with found as (select $1::bigint as at, $2::bigint as party, null::bigint as payer)
select found.party, null::bytea, null::bigint, cr.consensus_timestamp, e.evm_address, cr.amount, cr.bloom, cr.call_result, cr.contract_id,
  cr.created_contract_ids, cr.error_message, cr.failed_initcode, cr.function_parameters,
  case when cr.sender_id is null then cr.function_result end, cr.gas_consumed, cr.gas_limit,
  cr.gas_used, cr.payer_account_id, cr.sender_id, cr.transaction_hash, cr.transaction_index,
  cr.transaction_nonce, cr.transaction_result, '0x' || r.hash, r.index, nullif(r.gas_used, -1), et.payer_account_id, et.access_list,
  et.authorization_list, et.chain_id, et.gas_limit, et.gas_price, et.max_fee_per_gas,
  et.max_priority_fee_per_gas, et.nonce, et.recovery_id, et.signature_r, et.signature_s,
  et.signature_v, et.to_address, et.type, et.value, null::bytea
from found  join contract_transaction ct on ct.consensus_timestamp = found.at
and ct.entity_id = found.party join contract_result cr on cr.consensus_timestamp = found.at
and (cr.contract_id = any(ct.contract_ids) or cardinality(ct.contract_ids) = 0) left join entity e on e.id = cr.contract_id left join lateral (select hash, index, gas_used, consensus_start from record_file where consensus_end >= cr.consensus_timestamp
  order by consensus_end limit 1) r on true left join ethereum_transaction et on et.consensus_timestamp = found.at
and et.payer_account_id = ct.payer_account_id order by cr.contract_id limit 1;

-- results with their files, distributed
with page as materialized (with found as (select consensus_timestamp as at, entity_id as party, payer_account_id as payer from contract_transaction_hash
where hash = $1 order by (transaction_result = 22) desc, consensus_timestamp desc limit 1),
contract_transaction as materialized (select * from contract_transaction where consensus_timestamp in (select at from found) and entity_id in (select party from found)),
contract_result as materialized (select * from contract_result where consensus_timestamp in (select at from found)),
entity as materialized (select * from entity where id in (select contract_id from contract_result)),
ethereum_transaction as materialized (select * from ethereum_transaction where consensus_timestamp in (select at from found) and payer_account_id in (select payer_account_id
from contract_transaction))
select found.party, et.call_data, et.call_data_id, cr.consensus_timestamp, e.evm_address, cr.amount, cr.bloom, cr.call_result, cr.contract_id,
  cr.created_contract_ids, cr.error_message, cr.failed_initcode, cr.function_parameters,
  case when cr.sender_id is null then cr.function_result end, cr.gas_consumed, cr.gas_limit,
  cr.gas_used, cr.payer_account_id, cr.sender_id, cr.transaction_hash, cr.transaction_index,
  cr.transaction_nonce, cr.transaction_result, '0x' || r.hash, r.index, nullif(r.gas_used, -1), et.payer_account_id, et.access_list,
  et.authorization_list, et.chain_id, et.gas_limit, et.gas_price, et.max_fee_per_gas,
  et.max_priority_fee_per_gas, et.nonce, et.recovery_id, et.signature_r, et.signature_s,
  et.signature_v, et.to_address, et.type, et.value
from found  join contract_transaction ct on ct.consensus_timestamp = found.at
and ct.entity_id = found.party join contract_result cr on cr.consensus_timestamp = found.at
and (cr.contract_id = any(ct.contract_ids) or cardinality(ct.contract_ids) = 0) left join entity e on e.id = cr.contract_id left join lateral (select hash, index, gas_used, consensus_start from record_file where consensus_end >= cr.consensus_timestamp
  order by consensus_end limit 1) r on true left join ethereum_transaction et on et.consensus_timestamp = found.at
and et.payer_account_id = ct.payer_account_id order by cr.contract_id limit 1),
file_data as materialized (select * from file_data where entity_id in (select call_data_id from page))
select x.*, case when coalesce(x.call_data, '') = '' then (
  select string_agg(file_data, '' order by consensus_timestamp) from file_data where entity_id = x.call_data_id
    and x.call_data_id & 274877906943 > 1000 and consensus_timestamp >= (
    select max(consensus_timestamp) from file_data where entity_id = x.call_data_id and transaction_type in (17, 19))) end
from page x;
with found as (select consensus_timestamp as at, payer_account_id as party, payer_account_id as payer from transaction
where payer_account_id = $2 and valid_start_ns = $3
  and consensus_timestamp >= $4 and (consensus_timestamp <= $1) and nonce = $5
order by (result = any($6)) desc, consensus_timestamp desc limit 1),
contract_transaction as materialized (select * from contract_transaction where consensus_timestamp in (select at from found) and entity_id in (select party from found)),
contract_result as materialized (select * from contract_result where consensus_timestamp in (select at from found)),
entity as materialized (select * from entity where id in (select contract_id from contract_result)),
ethereum_transaction as materialized (select * from ethereum_transaction where consensus_timestamp in (select at from found) and payer_account_id in (select payer_account_id
from contract_transaction))
select found.party, null::bytea, null::bigint, cr.consensus_timestamp, e.evm_address, cr.amount, cr.bloom, cr.call_result, cr.contract_id,
  cr.created_contract_ids, cr.error_message, cr.failed_initcode, cr.function_parameters,
  case when cr.sender_id is null then cr.function_result end, cr.gas_consumed, cr.gas_limit,
  cr.gas_used, cr.payer_account_id, cr.sender_id, cr.transaction_hash, cr.transaction_index,
  cr.transaction_nonce, cr.transaction_result, '0x' || r.hash, r.index, nullif(r.gas_used, -1), et.payer_account_id, et.access_list,
  et.authorization_list, et.chain_id, et.gas_limit, et.gas_price, et.max_fee_per_gas,
  et.max_priority_fee_per_gas, et.nonce, et.recovery_id, et.signature_r, et.signature_s,
  et.signature_v, et.to_address, et.type, et.value, null::bytea
from found  join contract_transaction ct on ct.consensus_timestamp = found.at
and ct.entity_id = found.party join contract_result cr on cr.consensus_timestamp = found.at
and (cr.contract_id = any(ct.contract_ids) or cardinality(ct.contract_ids) = 0) left join entity e on e.id = cr.contract_id left join lateral (select hash, index, gas_used, consensus_start from record_file where consensus_end >= cr.consensus_timestamp
  order by consensus_end limit 1) r on true left join ethereum_transaction et on et.consensus_timestamp = found.at
and et.payer_account_id = ct.payer_account_id order by cr.contract_id limit 1;
with found as (select $1::bigint as at, $2::bigint as party, null::bigint as payer),
contract_transaction as materialized (select * from contract_transaction where consensus_timestamp in (select at from found) and entity_id in (select party from found)),
contract_result as materialized (select * from contract_result where consensus_timestamp in (select at from found)),
entity as materialized (select * from entity where id in (select contract_id from contract_result)),
ethereum_transaction as materialized (select * from ethereum_transaction where consensus_timestamp in (select at from found) and payer_account_id in (select payer_account_id
from contract_transaction))
select found.party, null::bytea, null::bigint, cr.consensus_timestamp, e.evm_address, cr.amount, cr.bloom, cr.call_result, cr.contract_id,
  cr.created_contract_ids, cr.error_message, cr.failed_initcode, cr.function_parameters,
  case when cr.sender_id is null then cr.function_result end, cr.gas_consumed, cr.gas_limit,
  cr.gas_used, cr.payer_account_id, cr.sender_id, cr.transaction_hash, cr.transaction_index,
  cr.transaction_nonce, cr.transaction_result, '0x' || r.hash, r.index, nullif(r.gas_used, -1), et.payer_account_id, et.access_list,
  et.authorization_list, et.chain_id, et.gas_limit, et.gas_price, et.max_fee_per_gas,
  et.max_priority_fee_per_gas, et.nonce, et.recovery_id, et.signature_r, et.signature_s,
  et.signature_v, et.to_address, et.type, et.value, null::bytea
from found  join contract_transaction ct on ct.consensus_timestamp = found.at
and ct.entity_id = found.party join contract_result cr on cr.consensus_timestamp = found.at
and (cr.contract_id = any(ct.contract_ids) or cardinality(ct.contract_ids) = 0) left join entity e on e.id = cr.contract_id left join lateral (select hash, index, gas_used, consensus_start from record_file where consensus_end >= cr.consensus_timestamp
  order by consensus_end limit 1) r on true left join ethereum_transaction et on et.consensus_timestamp = found.at
and et.payer_account_id = ct.payer_account_id order by cr.contract_id limit 1;

-- results, distributed
with page as materialized (select * from (select distinct on (consensus_timestamp) * from (
  (select cr.consensus_timestamp, cr.contract_id, cr.payer_account_id, cr.sender_id, cr.amount, cr.bloom,
  cr.call_result, cr.created_contract_ids, cr.error_message, cr.failed_initcode, cr.function_parameters,
  cr.function_result, cr.gas_consumed, cr.gas_limit, cr.gas_used, cr.transaction_hash, cr.transaction_index,
  cr.transaction_nonce, cr.transaction_result, false as synthetic from contract_result cr where true and cr.transaction_result <> 312 and cr.transaction_nonce = 0 and (cr.consensus_timestamp) < ($1) order by cr.consensus_timestamp desc limit 25)
  union all (select distinct on (l.consensus_timestamp) l.consensus_timestamp, coalesce(nullif(l.root_contract_id, 0), l.contract_id) as contract_id,
  l.payer_account_id, l.payer_account_id as sender_id, null::bigint as amount, null::bytea as bloom,
  null::bytea as call_result, '{}'::bigint[] as created_contract_ids, null::text as error_message,
  null::bytea as failed_initcode, ''::bytea as function_parameters, null::bytea as function_result,
  null::bigint as gas_consumed, 0::bigint as gas_limit, null::bigint as gas_used, l.transaction_hash,
  l.transaction_index, 0::integer as transaction_nonce, 22::smallint as transaction_result, true as synthetic from contract_log l
where l.synthetic is true and not (l.synthetic is true
  and l.topic0 = '\xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'
  and l.topic3 = '\xffffffffffffffff') is true and (l.consensus_timestamp) < ($2) order by l.consensus_timestamp desc, l.index desc limit 25)) cr order by consensus_timestamp desc, synthetic) cr order by consensus_timestamp desc limit 25),
entity as materialized (select * from entity where id in (select contract_id from page)),
ethereum_transaction as materialized (select * from ethereum_transaction where consensus_timestamp in (select consensus_timestamp from page) and payer_account_id in (select payer_account_id from page)),
transaction as materialized (select * from transaction where consensus_timestamp in (select consensus_timestamp from page))
select cr.consensus_timestamp, e.evm_address, cr.amount, cr.bloom, cr.call_result, cr.contract_id,
  cr.created_contract_ids, cr.error_message, cr.failed_initcode, cr.function_parameters,
  case when cr.sender_id is null then cr.function_result end, cr.gas_consumed, cr.gas_limit,
  cr.gas_used, cr.payer_account_id, cr.sender_id, cr.transaction_hash, cr.transaction_index,
  cr.transaction_nonce, cr.transaction_result, '0x' || r.hash, r.index, nullif(r.gas_used, -1), et.payer_account_id, et.access_list,
  et.authorization_list, et.chain_id, et.gas_limit, et.gas_price, et.max_fee_per_gas,
  et.max_priority_fee_per_gas, et.nonce, et.recovery_id, et.signature_r, et.signature_s,
  et.signature_v, et.to_address, et.type, et.value, cr.synthetic, t.parent_consensus_timestamp is not null
from page cr left join entity e on e.id = cr.contract_id left join lateral (select hash, index, gas_used, consensus_start from record_file where consensus_end >= cr.consensus_timestamp
  order by consensus_end limit 1) r on r.consensus_start <= cr.consensus_timestamp left join ethereum_transaction et on et.consensus_timestamp = cr.consensus_timestamp and et.payer_account_id = cr.payer_account_id left join transaction t on t.consensus_timestamp = cr.consensus_timestamp order by cr.consensus_timestamp desc;

-- schedules
/* enable_bitmapscan = off, plan_cache_mode = force_custom_plan */ select s.schedule_id, s.consensus_timestamp, s.creator_account_id, s.executed_timestamp,
  s.expiration_time, s.payer_account_id, s.transaction_body, s.wait_for_expiry, e.key, e.deleted, e.memo,
  lower(e.timestamp_range), upper(e.timestamp_range)
from (select * from schedule s where true and s.creator_account_id > $1 and (s.schedule_id) < ($2) order by s.schedule_id desc limit 25) s left join entity e on e.id = s.schedule_id order by s.schedule_id desc;

-- schedules by id
select s.schedule_id, s.consensus_timestamp, s.creator_account_id, s.executed_timestamp,
  s.expiration_time, s.payer_account_id, s.transaction_body, s.wait_for_expiry, e.key, e.deleted, e.memo,
  lower(e.timestamp_range), upper(e.timestamp_range) from schedule s left join entity e on e.id = s.schedule_id
where s.schedule_id = any((select $1::bigint[])::bigint[]);

-- schedules by id, distributed
select s.schedule_id, s.consensus_timestamp, s.creator_account_id, s.executed_timestamp,
  s.expiration_time, s.payer_account_id, s.transaction_body, s.wait_for_expiry, e.key, e.deleted, e.memo,
  lower(e.timestamp_range), upper(e.timestamp_range) from schedule s left join entity e on e.id = s.schedule_id
where s.schedule_id = any($1::bigint[]::bigint[]);

-- schedules of accounts
/* enable_bitmapscan = off */ select s.ord, s.schedule_id, s.consensus_timestamp, s.creator_account_id, s.executed_timestamp,
  s.expiration_time, s.payer_account_id, s.transaction_body, s.wait_for_expiry, e.key, e.deleted, e.memo,
  lower(e.timestamp_range), upper(e.timestamp_range)
from (
  select p.ord, found.* from unnest((select $1::bigint[])) with ordinality p(id, ord) cross join lateral (
    select * from schedule s where s.creator_account_id = p.id and (s.schedule_id) < ($2) order by s.schedule_id desc limit 25) found) s left join entity e on e.id = s.schedule_id order by s.ord, s.schedule_id desc;

-- schedules of accounts, distributed
/* enable_bitmapscan = off */ with page as materialized (
  select p.ord, found.* from (select $1::bigint as id, 1::bigint as ord) p cross join lateral (
    select * from schedule s where s.creator_account_id = $1::bigint and (s.schedule_id) < ($2) order by s.schedule_id desc limit 25) found),
entity as materialized (select * from entity where id in (select schedule_id from page))
select s.ord, s.schedule_id, s.consensus_timestamp, s.creator_account_id, s.executed_timestamp,
  s.expiration_time, s.payer_account_id, s.transaction_body, s.wait_for_expiry, e.key, e.deleted, e.memo,
  lower(e.timestamp_range), upper(e.timestamp_range)
from page s left join entity e on e.id = s.schedule_id order by s.ord, s.schedule_id desc;

-- schedules of transactions
select p.ord, s.schedule_id, s.consensus_timestamp, s.creator_account_id, s.executed_timestamp,
  s.expiration_time, s.payer_account_id, s.transaction_body, s.wait_for_expiry, e.key, e.deleted, e.memo,
  lower(e.timestamp_range), upper(e.timestamp_range)
from unnest((select $1::bigint[]), (select $2::bigint[]), (select $3::bigint[]), (select $4::bigint[]), (select $5::bigint[])) with ordinality p(id, payer, start, since, until, ord) cross join lateral (select coalesce((
  select entity_id from transaction
  where payer_account_id = p.payer and valid_start_ns = p.start and consensus_timestamp between p.since and p.until and type = 42 and p.payer <> 0
    and result = any($6)
  order by consensus_timestamp limit 1), p.id) as id) c join schedule s on s.schedule_id = c.id left join entity e on e.id = s.schedule_id;

-- schedules of transactions, distributed
with page as materialized (select coalesce((
  select entity_id from transaction
  where payer_account_id = $2::bigint and valid_start_ns = $3::bigint and consensus_timestamp between $4::bigint and $5::bigint and type = 42 and $2::bigint <> 0
    and result = any($6)
  order by consensus_timestamp limit 1), $1::bigint) as id),
schedule as materialized (select * from schedule where schedule_id in (select id from page)),
entity as materialized (select * from entity where id in (select schedule_id
from schedule))
select p.ord, s.schedule_id, s.consensus_timestamp, s.creator_account_id, s.executed_timestamp,
  s.expiration_time, s.payer_account_id, s.transaction_body, s.wait_for_expiry, e.key, e.deleted, e.memo,
  lower(e.timestamp_range), upper(e.timestamp_range)
from (select $1::bigint as id, $2::bigint as payer, $3::bigint as start, $4::bigint as since, $5::bigint as until, 1::bigint as ord) p cross join page c join schedule s on s.schedule_id = c.id left join entity e on e.id = s.schedule_id;

-- schedules, distributed
/* enable_bitmapscan = off, plan_cache_mode = force_custom_plan */ with page as materialized (select * from schedule s where true and s.creator_account_id > $1 and (s.schedule_id) < ($2) order by s.schedule_id desc limit 25),
entity as materialized (select * from entity where id in (select schedule_id from page))
select s.schedule_id, s.consensus_timestamp, s.creator_account_id, s.executed_timestamp,
  s.expiration_time, s.payer_account_id, s.transaction_body, s.wait_for_expiry, e.key, e.deleted, e.memo,
  lower(e.timestamp_range), upper(e.timestamp_range)
from page s left join entity e on e.id = s.schedule_id order by s.schedule_id desc;

-- signatures of schedules
select entity_id, consensus_timestamp, public_key_prefix, signature, type from transaction_signature
where entity_id = any((select $1::bigint[])::bigint[]);

-- signatures of schedules, distributed
select entity_id, consensus_timestamp, public_key_prefix, signature, type from transaction_signature
where entity_id = any($1::bigint[]::bigint[]);

-- staking rewards of transactions
select distinct r.consensus_timestamp, c.payer_account_id, r.account_id, r.amount from (
  select * from staking_reward_transfer where consensus_timestamp = any((select $1::bigint[])::bigint[])) r
join crypto_transfer c on c.consensus_timestamp = r.consensus_timestamp and c.payer_account_id = any((select $2::bigint[])::bigint[]) and c.entity_id = $3
order by r.consensus_timestamp, r.account_id;

-- staking rewards of transactions, distributed
select distinct r.consensus_timestamp, c.payer_account_id, r.account_id, r.amount from (
  select * from staking_reward_transfer where consensus_timestamp = any($1::bigint[]::bigint[])) r
join crypto_transfer c on c.consensus_timestamp = r.consensus_timestamp and c.payer_account_id = any($2::bigint[]::bigint[]) and c.entity_id = $3
order by r.consensus_timestamp, r.account_id;

-- state changes
select p.ord, s.contract_id, s.slot, s.value_read, s.value_written, e.evm_address
from unnest((select $1::bigint[]), (select $2::bigint[]), (select $3::bigint[]), (select $4::bigint[])) with ordinality p(at, party, asked, synthetic, ord) join contract_transaction ct on ct.consensus_timestamp = p.at and ct.entity_id = p.party join contract_state_change s on s.consensus_timestamp = p.at and case when s.migration then s.contract_id = p.asked else s.contract_id = any(ct.contract_ids || p.asked) end left join entity e on e.id = s.contract_id order by p.ord, s.contract_id, s.slot;

-- state changes by hash
select p.ord, s.contract_id, s.slot, s.value_read, s.value_written, e.evm_address
from (select at, party, 0 as asked, 0 as synthetic, 1::bigint as ord from (select consensus_timestamp as at, entity_id as party, payer_account_id as payer from contract_transaction_hash
where hash = $1 order by (transaction_result = 22) desc, consensus_timestamp desc limit 1) found) p join contract_transaction ct on ct.consensus_timestamp = p.at and ct.entity_id = p.party join contract_state_change s on s.consensus_timestamp = p.at and case when s.migration then s.contract_id = p.asked else s.contract_id = any(ct.contract_ids || p.asked) end left join entity e on e.id = s.contract_id order by p.ord, s.contract_id, s.slot;

-- state changes by hash, distributed
with page as materialized (select at, party, 0 as asked, 0 as synthetic, 1::bigint as ord from (select consensus_timestamp as at, entity_id as party, payer_account_id as payer from contract_transaction_hash
where hash = $1 order by (transaction_result = 22) desc, consensus_timestamp desc limit 1) found),
contract_transaction as materialized (select * from contract_transaction where consensus_timestamp in (select at from page) and entity_id in (select party from page)),
contract_state_change as materialized (select * from contract_state_change where consensus_timestamp in (select at from page)),
entity as materialized (select * from entity where id in (select contract_id from contract_state_change))
select p.ord, s.contract_id, s.slot, s.value_read, s.value_written, e.evm_address
from page p join contract_transaction ct on ct.consensus_timestamp = p.at and ct.entity_id = p.party join contract_state_change s on s.consensus_timestamp = p.at and case when s.migration then s.contract_id = p.asked else s.contract_id = any(ct.contract_ids || p.asked) end left join entity e on e.id = s.contract_id order by p.ord, s.contract_id, s.slot;

-- state changes, distributed
with contract_transaction as materialized (select * from contract_transaction where consensus_timestamp = $1::bigint and entity_id = $2::bigint),
contract_state_change as materialized (select * from contract_state_change where consensus_timestamp = $1::bigint),
entity as materialized (select * from entity where id in (select contract_id from contract_state_change))
select p.ord, s.contract_id, s.slot, s.value_read, s.value_written, e.evm_address
from (select $1::bigint as at, $2::bigint as party, $3::bigint as asked, $4::bigint as synthetic, 1::bigint as ord) p join contract_transaction ct on ct.consensus_timestamp = $1::bigint and ct.entity_id = $2::bigint join contract_state_change s on s.consensus_timestamp = $1::bigint and case when s.migration then s.contract_id = $3::bigint else s.contract_id = any(ct.contract_ids || $3::bigint) end left join entity e on e.id = s.contract_id order by p.ord, s.contract_id, s.slot;

-- states of contracts
select p.ord, p.id, e.evm_address, s.key, s.value, s.at
from unnest((select $1::bigint[])) with ordinality p(id, ord) left join entity e on e.id = p.id cross join lateral (select s.slot as key, s.value, s.modified_timestamp as at
from contract_state s where s.contract_id = p.id order by s.slot asc limit 25) s order by p.ord, s.key asc;

-- states of contracts at a time
select p.ord, p.id, e.evm_address, s.key, s.value, s.at
from unnest((select $1::bigint[])) with ordinality p(id, ord) left join entity e on e.id = p.id cross join lateral (select k.key, c.value, c.at from (select distinct s.slot as key from contract_state_change s where s.contract_id = p.id and s.consensus_timestamp <= $2 order by s.slot asc limit 25) k
  cross join lateral (select coalesce(s.value_written, s.value_read) as value, s.consensus_timestamp as at from contract_state_change s where s.contract_id = p.id and s.slot = k.key and s.consensus_timestamp <= $2
    order by s.consensus_timestamp desc limit 1) c) s order by p.ord, s.key asc;

-- states of contracts at a time, distributed
with entity as materialized (select * from entity where id = $1::bigint)
select p.ord, p.id, e.evm_address, s.key, s.value, s.at
from (select $1::bigint as id, 1::bigint as ord) p left join entity e on e.id = $1::bigint cross join lateral (select k.key, c.value, c.at from (select distinct s.slot as key from contract_state_change s where s.contract_id = $1::bigint and s.consensus_timestamp <= $2 order by s.slot asc limit 25) k
  cross join lateral (select coalesce(s.value_written, s.value_read) as value, s.consensus_timestamp as at from contract_state_change s where s.contract_id = $1::bigint and s.slot = k.key and s.consensus_timestamp <= $2
    order by s.consensus_timestamp desc limit 1) c) s order by p.ord, s.key asc;

-- states of contracts, distributed
with entity as materialized (select * from entity where id = $1::bigint)
select p.ord, p.id, e.evm_address, s.key, s.value, s.at
from (select $1::bigint as id, 1::bigint as ord) p left join entity e on e.id = $1::bigint cross join lateral (select s.slot as key, s.value, s.modified_timestamp as at
from contract_state s where s.contract_id = $1::bigint order by s.slot asc limit 25) s order by p.ord, s.key asc;

-- synthetic result
select exists (select 1 from contract_transaction_hash where hash = $1);
select (select at from (select consensus_timestamp as at from get_transaction_info_by_hash($1) t
order by consensus_timestamp limit 1) f);

-- synthetic result, distributed
select exists (select 1 from contract_transaction_hash where hash = $1);
select (select at from (select consensus_timestamp as at from (select consensus_timestamp, hash || coalesce(hash_suffix, '') as hash, payer_account_id
  from transaction_hash where hash = $1) t
order by consensus_timestamp limit 1) f);

-- transaction by ID
select t.consensus_timestamp, t.payer_account_id, t.valid_start_ns, t.type, t.result, t.batch_key,
  t.transaction_bytes, t.charged_tx_fee, t.entity_id, t.high_volume,
  t.high_volume_pricing_multiplier, t.index, t.inner_transactions, t.max_custom_fees, t.max_fee,
  t.memo, t.nft_transfer, t.node_account_id, t.nonce, t.parent_consensus_timestamp, t.scheduled,
  t.transaction_hash, t.valid_duration_seconds,
  array(select array[entity_id, amount, coalesce(is_approval, false)::int] from crypto_transfer
    where consensus_timestamp = t.consensus_timestamp and payer_account_id = t.payer_account_id),
  array(select array[token_id, account_id, amount, coalesce(is_approval, false)::int] from token_transfer
    where consensus_timestamp = t.consensus_timestamp and payer_account_id = t.payer_account_id
    order by token_id, account_id),
  array(select array[account_id, amount] from staking_reward_transfer
    where consensus_timestamp = t.consensus_timestamp order by account_id),
  exists (select true from assessed_custom_fee
    where consensus_timestamp = t.consensus_timestamp and payer_account_id = t.payer_account_id) from transaction t
where t.payer_account_id = $1 and t.valid_start_ns = $2 and t.consensus_timestamp between $3 and $4 and t.nonce = $5 order by t.consensus_timestamp;

-- transaction by ID, distributed
select t.consensus_timestamp, t.payer_account_id, t.valid_start_ns, t.type, t.result, t.batch_key,
  t.transaction_bytes, t.charged_tx_fee, t.entity_id, t.high_volume,
  t.high_volume_pricing_multiplier, t.index, t.inner_transactions, t.max_custom_fees, t.max_fee,
  t.memo, t.nft_transfer, t.node_account_id, t.nonce, t.parent_consensus_timestamp, t.scheduled,
  t.transaction_hash, t.valid_duration_seconds from transaction t
where t.payer_account_id = $1 and t.valid_start_ns = $2 and t.consensus_timestamp between $3 and $4 and t.nonce = $5 order by t.consensus_timestamp;

-- transactions at times
select t.consensus_timestamp, t.payer_account_id, t.valid_start_ns, t.type, t.result, t.batch_key,
  t.transaction_bytes, t.charged_tx_fee, t.entity_id, t.high_volume,
  t.high_volume_pricing_multiplier, t.index, t.inner_transactions, t.max_custom_fees, t.max_fee,
  t.memo, t.nft_transfer, t.node_account_id, t.nonce, t.parent_consensus_timestamp, t.scheduled,
  t.transaction_hash, t.valid_duration_seconds from transaction t where t.consensus_timestamp = any((select $1::bigint[])::bigint[]);

-- transactions at times, distributed
select t.consensus_timestamp, t.payer_account_id, t.valid_start_ns, t.type, t.result, t.batch_key,
  t.transaction_bytes, t.charged_tx_fee, t.entity_id, t.high_volume,
  t.high_volume_pricing_multiplier, t.index, t.inner_transactions, t.max_custom_fees, t.max_fee,
  t.memo, t.nft_transfer, t.node_account_id, t.nonce, t.parent_consensus_timestamp, t.scheduled,
  t.transaction_hash, t.valid_duration_seconds from transaction t where t.consensus_timestamp = any($1::bigint[]::bigint[]);

-- transactions between times
select p.ord, t.consensus_timestamp, t.payer_account_id, t.valid_start_ns, t.type, t.result, t.batch_key,
  t.transaction_bytes, t.charged_tx_fee, t.entity_id, t.high_volume,
  t.high_volume_pricing_multiplier, t.index, t.inner_transactions, t.max_custom_fees, t.max_fee,
  t.memo, t.nft_transfer, t.node_account_id, t.nonce, t.parent_consensus_timestamp, t.scheduled,
  t.transaction_hash, t.valid_duration_seconds
from unnest((select $1::bigint[]), (select $2::bigint[])) with ordinality p(since, until, ord) cross join lateral (
  select * from transaction where consensus_timestamp between p.since and p.until and (consensus_timestamp) < ($3) order by consensus_timestamp desc limit 25) t order by p.ord, t.consensus_timestamp desc;

-- transactions between times, distributed
select p.ord, t.consensus_timestamp, t.payer_account_id, t.valid_start_ns, t.type, t.result, t.batch_key,
  t.transaction_bytes, t.charged_tx_fee, t.entity_id, t.high_volume,
  t.high_volume_pricing_multiplier, t.index, t.inner_transactions, t.max_custom_fees, t.max_fee,
  t.memo, t.nft_transfer, t.node_account_id, t.nonce, t.parent_consensus_timestamp, t.scheduled,
  t.transaction_hash, t.valid_duration_seconds
from (select $1::bigint as since, $2::bigint as until, 1::bigint as ord) p cross join lateral (
  select * from transaction where consensus_timestamp between $1::bigint and $2::bigint and (consensus_timestamp) < ($3) order by consensus_timestamp desc limit 25) t order by p.ord, t.consensus_timestamp desc;

-- transactions by hashes
select array_position($1::bytea[], substring(h.hash from 1 for 32))::bigint, t.consensus_timestamp, t.payer_account_id, t.valid_start_ns, t.type, t.result, t.batch_key,
  t.transaction_bytes, t.charged_tx_fee, t.entity_id, t.high_volume,
  t.high_volume_pricing_multiplier, t.index, t.inner_transactions, t.max_custom_fees, t.max_fee,
  t.memo, t.nft_transfer, t.node_account_id, t.nonce, t.parent_consensus_timestamp, t.scheduled,
  t.transaction_hash, t.valid_duration_seconds
from (select * from (select f.* from unnest((select $1::bytea[])) k cross join get_transaction_info_by_hash(k) f) t order by consensus_timestamp limit 2500) h join transaction t on t.consensus_timestamp = h.consensus_timestamp and t.payer_account_id = coalesce(h.payer_account_id, t.payer_account_id) order by 1, t.consensus_timestamp;

-- transactions by hashes, distributed
with page as materialized (select * from (select consensus_timestamp, hash || coalesce(hash_suffix, '') as hash, payer_account_id
  from transaction_hash where hash = any($1)) t order by consensus_timestamp limit 2500),
transaction as materialized (select * from transaction where consensus_timestamp in (select consensus_timestamp from page))
select array_position($1::bytea[], substring(h.hash from 1 for 32))::bigint, t.consensus_timestamp, t.payer_account_id, t.valid_start_ns, t.type, t.result, t.batch_key,
  t.transaction_bytes, t.charged_tx_fee, t.entity_id, t.high_volume,
  t.high_volume_pricing_multiplier, t.index, t.inner_transactions, t.max_custom_fees, t.max_fee,
  t.memo, t.nft_transfer, t.node_account_id, t.nonce, t.parent_consensus_timestamp, t.scheduled,
  t.transaction_hash, t.valid_duration_seconds
from page h join transaction t on t.consensus_timestamp = h.consensus_timestamp and t.payer_account_id = coalesce(h.payer_account_id, t.payer_account_id) order by 1, t.consensus_timestamp;

-- transactions of a type
select t.consensus_timestamp, t.payer_account_id, t.valid_start_ns, t.type, t.result, t.batch_key,
  t.transaction_bytes, t.charged_tx_fee, t.entity_id, t.high_volume,
  t.high_volume_pricing_multiplier, t.index, t.inner_transactions, t.max_custom_fees, t.max_fee,
  t.memo, t.nft_transfer, t.node_account_id, t.nonce, t.parent_consensus_timestamp, t.scheduled,
  t.transaction_hash, t.valid_duration_seconds from transaction t where true and t.type = 37::smallint and (t.consensus_timestamp) < ($1) order by t.consensus_timestamp desc limit 25;

-- transactions of a type, distributed
select t.consensus_timestamp, t.payer_account_id, t.valid_start_ns, t.type, t.result, t.batch_key,
  t.transaction_bytes, t.charged_tx_fee, t.entity_id, t.high_volume,
  t.high_volume_pricing_multiplier, t.index, t.inner_transactions, t.max_custom_fees, t.max_fee,
  t.memo, t.nft_transfer, t.node_account_id, t.nonce, t.parent_consensus_timestamp, t.scheduled,
  t.transaction_hash, t.valid_duration_seconds from transaction t where true and t.type = 37::smallint and (t.consensus_timestamp) < ($1) order by t.consensus_timestamp desc limit 25;

-- transactions of accounts
/* enable_bitmapscan = off */ select page.ord, t.consensus_timestamp, t.payer_account_id, t.valid_start_ns, t.type, t.result, t.batch_key,
  t.transaction_bytes, t.charged_tx_fee, t.entity_id, t.high_volume,
  t.high_volume_pricing_multiplier, t.index, t.inner_transactions, t.max_custom_fees, t.max_fee,
  t.memo, t.nft_transfer, t.node_account_id, t.nonce, t.parent_consensus_timestamp, t.scheduled,
  t.transaction_hash, t.valid_duration_seconds
from (
  select p.ord, found.* from unnest((select $1::bigint[])) with ordinality p(id, ord) cross join lateral (select distinct on (consensus_timestamp) consensus_timestamp from (
  (select s.consensus_timestamp from transaction s where true and s.payer_account_id = p.id and (s.nonce = 0 or s.parent_consensus_timestamp is not null or s.type in (11, 15)) and (s.consensus_timestamp) < ($2) order by s.consensus_timestamp desc limit 25)
  union all (select s.consensus_timestamp from entity_transaction s where true and s.entity_id = p.id and (s.consensus_timestamp) < ($3) order by s.consensus_timestamp desc limit 25)
  union all (select distinct on (s.consensus_timestamp) s.consensus_timestamp from crypto_transfer s where true and s.entity_id = p.id and s.entity_id <> 98 and (s.consensus_timestamp) < ($4) order by s.consensus_timestamp desc limit 25)
  union all (select distinct on (s.consensus_timestamp) s.consensus_timestamp from crypto_transfer s where true and s.entity_id = p.id and s.entity_id = 98 and p.id = 98 and (s.consensus_timestamp) < ($5) order by s.consensus_timestamp desc limit 25)
  union all (select distinct on (s.consensus_timestamp) s.consensus_timestamp from token_transfer s where true and s.account_id = p.id and (s.consensus_timestamp) < ($6) order by s.consensus_timestamp desc limit 25)) found order by consensus_timestamp desc limit 25) found) page join transaction t on t.consensus_timestamp = page.consensus_timestamp order by page.ord, t.consensus_timestamp desc;

-- transactions of accounts, distributed
/* enable_bitmapscan = off */ with page as materialized (
  select p.ord, found.* from (select $1::bigint as id, 1::bigint as ord) p cross join lateral (select distinct on (consensus_timestamp) consensus_timestamp, payer_account_id from (
  (select s.consensus_timestamp, s.payer_account_id from transaction s where true and s.payer_account_id = $1::bigint and (s.nonce = 0 or s.parent_consensus_timestamp is not null or s.type in (11, 15)) and (s.consensus_timestamp) < ($2) order by s.consensus_timestamp desc limit 25)
  union all (select s.consensus_timestamp, s.payer_account_id from entity_transaction s where true and s.entity_id = $1::bigint and (s.consensus_timestamp) < ($3) order by s.consensus_timestamp desc limit 25)
  union all (select distinct on (s.consensus_timestamp) s.consensus_timestamp, s.payer_account_id from crypto_transfer s where true and s.entity_id = $1::bigint and s.entity_id <> 98 and (s.consensus_timestamp) < ($4) order by s.consensus_timestamp desc limit 25)
  union all (select distinct on (s.consensus_timestamp) s.consensus_timestamp, s.payer_account_id from crypto_transfer s where true and s.entity_id = $1::bigint and s.entity_id = 98 and $1::bigint = 98 and (s.consensus_timestamp) < ($5) order by s.consensus_timestamp desc limit 25)
  union all (select distinct on (s.consensus_timestamp) s.consensus_timestamp, s.payer_account_id from token_transfer s where true and s.account_id = $1::bigint and (s.consensus_timestamp) < ($6) order by s.consensus_timestamp desc limit 25)) found order by consensus_timestamp desc limit 25) found),
transaction as materialized (select * from transaction where consensus_timestamp in (select consensus_timestamp from page) and payer_account_id in (select payer_account_id from page))
select page.ord, t.consensus_timestamp, t.payer_account_id, t.valid_start_ns, t.type, t.result, t.batch_key,
  t.transaction_bytes, t.charged_tx_fee, t.entity_id, t.high_volume,
  t.high_volume_pricing_multiplier, t.index, t.inner_transactions, t.max_custom_fees, t.max_fee,
  t.memo, t.nft_transfer, t.node_account_id, t.nonce, t.parent_consensus_timestamp, t.scheduled,
  t.transaction_hash, t.valid_duration_seconds
from page page join transaction t on t.consensus_timestamp = page.consensus_timestamp and t.payer_account_id = page.payer_account_id order by page.ord, t.consensus_timestamp desc;

-- transactions of an account
/* enable_bitmapscan = off */ select t.consensus_timestamp, t.payer_account_id, t.valid_start_ns, t.type, t.result, t.batch_key,
  t.transaction_bytes, t.charged_tx_fee, t.entity_id, t.high_volume,
  t.high_volume_pricing_multiplier, t.index, t.inner_transactions, t.max_custom_fees, t.max_fee,
  t.memo, t.nft_transfer, t.node_account_id, t.nonce, t.parent_consensus_timestamp, t.scheduled,
  t.transaction_hash, t.valid_duration_seconds
from (select distinct on (consensus_timestamp) consensus_timestamp from (
  (select s.consensus_timestamp from transaction s where true and s.payer_account_id = (select $1::bigint) and (s.nonce = 0 or s.parent_consensus_timestamp is not null or s.type in (11, 15)) and (s.consensus_timestamp) < ($2) order by s.consensus_timestamp desc limit 25)
  union all (select s.consensus_timestamp from entity_transaction s where true and s.entity_id = (select $1::bigint) and (s.consensus_timestamp) < ($3) order by s.consensus_timestamp desc limit 25)
  union all (select distinct on (s.consensus_timestamp) s.consensus_timestamp from crypto_transfer s where true and s.entity_id = (select $1::bigint) and s.entity_id <> 98 and (s.consensus_timestamp) < ($4) order by s.consensus_timestamp desc limit 25)
  union all (select distinct on (s.consensus_timestamp) s.consensus_timestamp from token_transfer s where true and s.account_id = (select $1::bigint) and (s.consensus_timestamp) < ($5) order by s.consensus_timestamp desc limit 25)) found order by consensus_timestamp desc limit 25) page join transaction t on t.consensus_timestamp = page.consensus_timestamp order by t.consensus_timestamp desc limit 25;

-- transactions of an account, distributed
/* enable_bitmapscan = off */ with page as materialized (select distinct on (consensus_timestamp) consensus_timestamp, payer_account_id from (
  (select s.consensus_timestamp, s.payer_account_id from transaction s where true and s.payer_account_id = $1::bigint and (s.nonce = 0 or s.parent_consensus_timestamp is not null or s.type in (11, 15)) and (s.consensus_timestamp) < ($2) order by s.consensus_timestamp desc limit 25)
  union all (select s.consensus_timestamp, s.payer_account_id from entity_transaction s where true and s.entity_id = $1::bigint and (s.consensus_timestamp) < ($3) order by s.consensus_timestamp desc limit 25)
  union all (select distinct on (s.consensus_timestamp) s.consensus_timestamp, s.payer_account_id from crypto_transfer s where true and s.entity_id = $1::bigint and s.entity_id <> 98 and (s.consensus_timestamp) < ($4) order by s.consensus_timestamp desc limit 25)
  union all (select distinct on (s.consensus_timestamp) s.consensus_timestamp, s.payer_account_id from token_transfer s where true and s.account_id = $1::bigint and (s.consensus_timestamp) < ($5) order by s.consensus_timestamp desc limit 25)) found order by consensus_timestamp desc limit 25),
transaction as materialized (select * from transaction where consensus_timestamp in (select consensus_timestamp from page) and payer_account_id in (select payer_account_id from page))
select t.consensus_timestamp, t.payer_account_id, t.valid_start_ns, t.type, t.result, t.batch_key,
  t.transaction_bytes, t.charged_tx_fee, t.entity_id, t.high_volume,
  t.high_volume_pricing_multiplier, t.index, t.inner_transactions, t.max_custom_fees, t.max_fee,
  t.memo, t.nft_transfer, t.node_account_id, t.nonce, t.parent_consensus_timestamp, t.scheduled,
  t.transaction_hash, t.valid_duration_seconds
from page page join transaction t on t.consensus_timestamp = page.consensus_timestamp and t.payer_account_id = page.payer_account_id order by t.consensus_timestamp desc limit 25;

-- transactions of topics
/* enable_bitmapscan = off */ select v.ord, t.consensus_timestamp, t.payer_account_id, t.valid_start_ns, t.type, t.result, t.batch_key,
  t.transaction_bytes, t.charged_tx_fee, t.entity_id, t.high_volume,
  t.high_volume_pricing_multiplier, t.index, t.inner_transactions, t.max_custom_fees, t.max_fee,
  t.memo, t.nft_transfer, t.node_account_id, t.nonce, t.parent_consensus_timestamp, t.scheduled,
  t.transaction_hash, t.valid_duration_seconds
from (
  select p.ord, v.at from unnest((select $1::bigint[])) with ordinality p(id, ord) cross join lateral (select at from ((select lower(timestamp_range) as at from entity where id = p.id and (lower(timestamp_range)) < ($2) order by lower(timestamp_range) desc limit 25) union (select lower(timestamp_range) as at from entity_history where id = p.id and (lower(timestamp_range)) < ($3) order by lower(timestamp_range) desc limit 25) union (select lower(timestamp_range) as at from topic where id = p.id and (lower(timestamp_range)) < ($4) order by lower(timestamp_range) desc limit 25) union (select lower(timestamp_range) as at from topic_history where id = p.id and (lower(timestamp_range)) < ($5) order by lower(timestamp_range) desc limit 25) union (select consensus_timestamp as at from topic_message where topic_id = p.id and (consensus_timestamp) < ($6) order by consensus_timestamp desc limit 25) union (select lower(timestamp_range) as at from custom_fee where entity_id = p.id and (lower(timestamp_range)) < ($7) order by lower(timestamp_range) desc limit 25) union (select lower(timestamp_range) as at from custom_fee_history where entity_id = p.id and (lower(timestamp_range)) < ($8) order by lower(timestamp_range) desc limit 25)) v order by at desc limit 25) v) v join transaction t on t.consensus_timestamp = v.at order by v.ord, t.consensus_timestamp desc;

-- transactions of topics, distributed
/* enable_bitmapscan = off */ with page as materialized (
  select p.ord, v.at from (select $1::bigint as id, 1::bigint as ord) p cross join lateral (select at from ((select lower(timestamp_range) as at from entity where id = $1::bigint and (lower(timestamp_range)) < ($2) order by lower(timestamp_range) desc limit 25) union (select lower(timestamp_range) as at from entity_history where id = $1::bigint and (lower(timestamp_range)) < ($3) order by lower(timestamp_range) desc limit 25) union (select lower(timestamp_range) as at from topic where id = $1::bigint and (lower(timestamp_range)) < ($4) order by lower(timestamp_range) desc limit 25) union (select lower(timestamp_range) as at from topic_history where id = $1::bigint and (lower(timestamp_range)) < ($5) order by lower(timestamp_range) desc limit 25) union (select consensus_timestamp as at from topic_message where topic_id = $1::bigint and (consensus_timestamp) < ($6) order by consensus_timestamp desc limit 25) union (select lower(timestamp_range) as at from custom_fee where entity_id = $1::bigint and (lower(timestamp_range)) < ($7) order by lower(timestamp_range) desc limit 25) union (select lower(timestamp_range) as at from custom_fee_history where entity_id = $1::bigint and (lower(timestamp_range)) < ($8) order by lower(timestamp_range) desc limit 25)) v order by at desc limit 25) v),
transaction as materialized (select * from transaction where consensus_timestamp in (select at from page))
select v.ord, t.consensus_timestamp, t.payer_account_id, t.valid_start_ns, t.type, t.result, t.batch_key,
  t.transaction_bytes, t.charged_tx_fee, t.entity_id, t.high_volume,
  t.high_volume_pricing_multiplier, t.index, t.inner_transactions, t.max_custom_fees, t.max_fee,
  t.memo, t.nft_transfer, t.node_account_id, t.nonce, t.parent_consensus_timestamp, t.scheduled,
  t.transaction_hash, t.valid_duration_seconds
from page v join transaction t on t.consensus_timestamp = v.at order by v.ord, t.consensus_timestamp desc;

-- transactions of users
select p.parent, t.consensus_timestamp, t.payer_account_id, t.valid_start_ns, t.type, t.result, t.batch_key,
  t.transaction_bytes, t.charged_tx_fee, t.entity_id, t.high_volume,
  t.high_volume_pricing_multiplier, t.index, t.inner_transactions, t.max_custom_fees, t.max_fee,
  t.memo, t.nft_transfer, t.node_account_id, t.nonce, t.parent_consensus_timestamp, t.scheduled,
  t.transaction_hash, t.valid_duration_seconds
from unnest((select $1::bigint[]), (select $2::bigint[]), (select $3::bigint[])) with ordinality p(parent, payer, start, ord) join transaction t on t.payer_account_id = p.payer
and t.valid_start_ns = p.start and t.consensus_timestamp between p.start - $4 and p.start + $5 where true and t.nonce = $6 and t.scheduled = $7 order by p.parent, t.consensus_timestamp;

-- transactions of users, distributed
with transaction as materialized (select * from transaction where payer_account_id = $2::bigint
and valid_start_ns = $3::bigint and consensus_timestamp between $3::bigint - $4 and $3::bigint + $5)
select p.parent, t.consensus_timestamp, t.payer_account_id, t.valid_start_ns, t.type, t.result, t.batch_key,
  t.transaction_bytes, t.charged_tx_fee, t.entity_id, t.high_volume,
  t.high_volume_pricing_multiplier, t.index, t.inner_transactions, t.max_custom_fees, t.max_fee,
  t.memo, t.nft_transfer, t.node_account_id, t.nonce, t.parent_consensus_timestamp, t.scheduled,
  t.transaction_hash, t.valid_duration_seconds
from (select $1::bigint as parent, $2::bigint as payer, $3::bigint as start, 1::bigint as ord) p join transaction t on t.payer_account_id = $2::bigint
and t.valid_start_ns = $3::bigint and t.consensus_timestamp between $3::bigint - $4 and $3::bigint + $5 where true and t.nonce = $6 and t.scheduled = $7 order by p.parent, t.consensus_timestamp;

-- transactions with a hash
select t.consensus_timestamp, t.payer_account_id, t.valid_start_ns, t.type, t.result, t.batch_key,
  t.transaction_bytes, t.charged_tx_fee, t.entity_id, t.high_volume,
  t.high_volume_pricing_multiplier, t.index, t.inner_transactions, t.max_custom_fees, t.max_fee,
  t.memo, t.nft_transfer, t.node_account_id, t.nonce, t.parent_consensus_timestamp, t.scheduled,
  t.transaction_hash, t.valid_duration_seconds
from (select * from get_transaction_info_by_hash($1) t order by consensus_timestamp limit 25) h join transaction t on t.consensus_timestamp = h.consensus_timestamp and t.payer_account_id = coalesce(h.payer_account_id, t.payer_account_id) where true and h.hash = $2 order by t.consensus_timestamp;

-- transactions with a hash, distributed
with page as materialized (select * from (select consensus_timestamp, hash || coalesce(hash_suffix, '') as hash, payer_account_id
  from transaction_hash where hash = $1) t order by consensus_timestamp limit 25),
transaction as materialized (select * from transaction where consensus_timestamp in (select consensus_timestamp from page))
select t.consensus_timestamp, t.payer_account_id, t.valid_start_ns, t.type, t.result, t.batch_key,
  t.transaction_bytes, t.charged_tx_fee, t.entity_id, t.high_volume,
  t.high_volume_pricing_multiplier, t.index, t.inner_transactions, t.max_custom_fees, t.max_fee,
  t.memo, t.nft_transfer, t.node_account_id, t.nonce, t.parent_consensus_timestamp, t.scheduled,
  t.transaction_hash, t.valid_duration_seconds
from page h join transaction t on t.consensus_timestamp = h.consensus_timestamp and t.payer_account_id = coalesce(h.payer_account_id, t.payer_account_id) where true and h.hash = $2 order by t.consensus_timestamp;

-- transfers of accounts
/* enable_bitmapscan = off */ select p.ord, n.*, t.payer_account_id, t.charged_tx_fee
from unnest((select $1::bigint[])) with ordinality p(id, ord) cross join lateral (select * from ((select s.consensus_timestamp, 0::bigint as token_id, s.entity_id as account_id, sum(s.amount)::bigint as amount from crypto_transfer s
    where s.entity_id = p.id and s.entity_id <> 98 and (s.consensus_timestamp, 0::bigint) < ($2, $3) group by s.consensus_timestamp, 0::bigint, s.entity_id order by s.consensus_timestamp asc, 0::bigint asc limit 25) union all (select s.consensus_timestamp, s.token_id as token_id, s.account_id as account_id, sum(s.amount)::bigint as amount from token_transfer s
    where s.account_id = p.id and (s.consensus_timestamp, s.token_id) < ($4, $5) group by s.consensus_timestamp, s.token_id, s.account_id order by s.consensus_timestamp asc, s.token_id asc limit 25)) n order by consensus_timestamp asc, token_id asc limit 25) n left join transaction t on t.consensus_timestamp = n.consensus_timestamp where true order by p.ord, n.consensus_timestamp asc, n.token_id asc;

-- transfers of accounts, distributed
/* enable_bitmapscan = off */ with page as materialized (select * from ((select s.consensus_timestamp, 0::bigint as token_id, s.entity_id as account_id, sum(s.amount)::bigint as amount from crypto_transfer s
    where s.entity_id = $1::bigint and s.entity_id <> 98 and (s.consensus_timestamp, 0::bigint) < ($2, $3) group by s.consensus_timestamp, 0::bigint, s.entity_id order by s.consensus_timestamp asc, 0::bigint asc limit 25) union all (select s.consensus_timestamp, s.token_id as token_id, s.account_id as account_id, sum(s.amount)::bigint as amount from token_transfer s
    where s.account_id = $1::bigint and (s.consensus_timestamp, s.token_id) < ($4, $5) group by s.consensus_timestamp, s.token_id, s.account_id order by s.consensus_timestamp asc, s.token_id asc limit 25)) n order by consensus_timestamp asc, token_id asc limit 25),
transaction as materialized (select * from transaction where consensus_timestamp in (select consensus_timestamp from page))
select p.ord, n.*, t.payer_account_id, t.charged_tx_fee
from (select $1::bigint as id, 1::bigint as ord) p cross join page n left join transaction t on t.consensus_timestamp = n.consensus_timestamp where true order by p.ord, n.consensus_timestamp asc, n.token_id asc;

-- transfers of one transaction
select consensus_timestamp, payer_account_id, entity_id, amount, coalesce(is_approval, false)
from crypto_transfer where consensus_timestamp = $1 and payer_account_id = $2 order by consensus_timestamp, entity_id, amount;

-- transfers of one transaction, distributed
select consensus_timestamp, payer_account_id, entity_id, amount, coalesce(is_approval, false)
from crypto_transfer where consensus_timestamp = $1 and payer_account_id = $2 order by consensus_timestamp, entity_id, amount;

-- transfers of tokens
/* enable_bitmapscan = off */ select p.ord, n.*, t.payer_account_id, t.charged_tx_fee
from unnest((select $1::bigint[])) with ordinality p(id, ord) cross join lateral ((select s.consensus_timestamp, s.token_id as token_id, s.account_id as account_id, sum(s.amount)::bigint as amount from token_transfer s
    where s.token_id = p.id and (s.consensus_timestamp, s.account_id) < ($2, $3) group by s.consensus_timestamp, s.token_id, s.account_id order by s.consensus_timestamp asc, s.account_id asc limit 25)) n left join transaction t on t.consensus_timestamp = n.consensus_timestamp where true order by p.ord, n.consensus_timestamp asc, n.account_id asc;

-- transfers of tokens, distributed
/* enable_bitmapscan = off */ with page as materialized ((select s.consensus_timestamp, s.token_id as token_id, s.account_id as account_id, sum(s.amount)::bigint as amount from token_transfer s
    where s.token_id = $1::bigint and (s.consensus_timestamp, s.account_id) < ($2, $3) group by s.consensus_timestamp, s.token_id, s.account_id order by s.consensus_timestamp asc, s.account_id asc limit 25)),
transaction as materialized (select * from transaction where consensus_timestamp in (select consensus_timestamp from page))
select p.ord, n.*, t.payer_account_id, t.charged_tx_fee
from (select $1::bigint as id, 1::bigint as ord) p cross join page n left join transaction t on t.consensus_timestamp = n.consensus_timestamp where true order by p.ord, n.consensus_timestamp asc, n.account_id asc;

-- transfers of transactions
select consensus_timestamp, payer_account_id, entity_id, amount, coalesce(is_approval, false)
from crypto_transfer where consensus_timestamp = any((select $1::bigint[])::bigint[]) and payer_account_id = any((select $2::bigint[])::bigint[]) order by consensus_timestamp, entity_id, amount;

-- transfers of transactions, distributed
select consensus_timestamp, payer_account_id, entity_id, amount, coalesce(is_approval, false)
from crypto_transfer where consensus_timestamp = any($1::bigint[]::bigint[]) and payer_account_id = any($2::bigint[]::bigint[]) order by consensus_timestamp, entity_id, amount;

