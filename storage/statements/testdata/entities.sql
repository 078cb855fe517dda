-- NFT allowances
select p.ord, a.approved_for_all, a.owner, a.spender, a.token_id, lower(a.timestamp_range),
  upper(a.timestamp_range)
from unnest((select $1::bigint[])) with ordinality p(id, ord) cross join lateral (
  select * from nft_allowance where spender = p.id and approved_for_all and (owner, token_id) < ($2, $3) order by owner asc, token_id asc limit 25) a order by p.ord, a.owner asc, a.token_id asc;

-- NFT allowances, distributed
select p.ord, a.approved_for_all, a.owner, a.spender, a.token_id, lower(a.timestamp_range),
  upper(a.timestamp_range)
from (select $1::bigint as id, 1::bigint as ord) p cross join lateral (
  select * from nft_allowance where spender = $1::bigint and approved_for_all and (owner, token_id) < ($2, $3) order by owner asc, token_id asc limit 25) a order by p.ord, a.owner asc, a.token_id asc;

-- NFTs by key
select p.ord, n.token_id, n.serial_number, n.account_id, n.created_timestamp, n.delegating_spender,
  n.deleted or coalesce(e.deleted, false), n.metadata, n.spender, lower(n.timestamp_range),
  upper(n.timestamp_range)
from unnest((select $1::bigint[]), (select $2::bigint[])) with ordinality p(token_id, serial, ord) join nft n on n.token_id = p.token_id and n.serial_number = p.serial left join entity e on e.id = n.token_id;

-- NFTs by key, distributed
with nft as materialized (select * from nft where token_id = $1::bigint and serial_number = $2::bigint),
entity as materialized (select * from entity where id in (select token_id from nft))
select p.ord, n.token_id, n.serial_number, n.account_id, n.created_timestamp, n.delegating_spender,
  n.deleted or coalesce(e.deleted, false), n.metadata, n.spender, lower(n.timestamp_range),
  upper(n.timestamp_range)
from (select $1::bigint as token_id, $2::bigint as serial, 1::bigint as ord) p join nft n on n.token_id = $1::bigint and n.serial_number = $2::bigint left join entity e on e.id = n.token_id;

-- NFTs of an account, and of tokens
select n.ord, n.token_id, n.serial_number, n.account_id, n.created_timestamp, n.delegating_spender,
  n.deleted or coalesce(e.deleted, false), n.metadata, n.spender, lower(n.timestamp_range),
  upper(n.timestamp_range)
from (select p.ord, n.* from (select $1::bigint as id, 1::bigint as ord) p cross join lateral (select n.token_id, n.serial_number, n.account_id, n.created_timestamp, n.delegating_spender, n.deleted, n.metadata, n.spender, n.timestamp_range
  from nft n where n.account_id between (select $1::bigint) and (select $1::bigint) and (n.account_id, n.token_id, n.serial_number) < ($1, $2, $3) order by n.account_id asc, n.token_id asc, n.serial_number asc limit 25) n) n left join entity e on e.id = n.token_id order by n.ord, n.account_id asc, n.token_id asc, n.serial_number asc;
/* enable_bitmapscan = off */ select n.ord, n.token_id, n.serial_number, n.account_id, n.created_timestamp, n.delegating_spender,
  n.deleted or coalesce(e.deleted, false), n.metadata, n.spender, lower(n.timestamp_range),
  upper(n.timestamp_range)
from (select p.ord, n.* from unnest((select $1::bigint[])) with ordinality p(id, ord) cross join lateral (select n.token_id, n.serial_number, n.account_id, n.created_timestamp, n.delegating_spender, n.deleted, n.metadata, n.spender, n.timestamp_range
  from nft n where n.token_id = p.id and (n.token_id, n.serial_number) < ($2, $3) order by n.token_id asc, n.serial_number asc limit 25) n) n left join entity e on e.id = n.token_id order by n.ord, n.token_id asc, n.serial_number asc;

-- NFTs of an account, and of tokens, distributed
/* enable_bitmapscan = off */ with page as materialized (select p.ord, n.* from (select $1::bigint as id, 1::bigint as ord) p cross join lateral (select n.token_id, n.serial_number, n.account_id, n.created_timestamp, n.delegating_spender, n.deleted, n.metadata, n.spender, n.timestamp_range
  from nft n where n.account_id = $1::bigint and (n.token_id, n.serial_number) < ($2, $3) order by n.token_id asc, n.serial_number asc limit 25) n),
entity as materialized (select * from entity where id in (select token_id from page))
select n.ord, n.token_id, n.serial_number, n.account_id, n.created_timestamp, n.delegating_spender,
  n.deleted or coalesce(e.deleted, false), n.metadata, n.spender, lower(n.timestamp_range),
  upper(n.timestamp_range)
from page n left join entity e on e.id = n.token_id order by n.ord, n.token_id asc, n.serial_number asc;
/* enable_bitmapscan = off */ with page as materialized (select p.ord, n.* from (select $1::bigint as id, 1::bigint as ord) p cross join lateral (select n.token_id, n.serial_number, n.account_id, n.created_timestamp, n.delegating_spender, n.deleted, n.metadata, n.spender, n.timestamp_range
  from nft n where n.token_id = $1::bigint and (n.token_id, n.serial_number) < ($2, $3) order by n.token_id asc, n.serial_number asc limit 25) n),
entity as materialized (select * from entity where id in (select token_id from page))
select n.ord, n.token_id, n.serial_number, n.account_id, n.created_timestamp, n.delegating_spender,
  n.deleted or coalesce(e.deleted, false), n.metadata, n.spender, lower(n.timestamp_range),
  upper(n.timestamp_range)
from page n left join entity e on e.id = n.token_id order by n.ord, n.token_id asc, n.serial_number asc;

-- NFTs that are deleted
/* enable_bitmapscan = off */ select n.ord, n.token_id, n.serial_number, n.account_id, n.created_timestamp, n.delegating_spender,
  n.deleted or coalesce(e.deleted, false), n.metadata, n.spender, lower(n.timestamp_range),
  upper(n.timestamp_range)
from (select p.ord, n.* from (values (1::bigint)) p(ord) cross join lateral (select n.token_id, n.serial_number, n.account_id, n.created_timestamp, n.delegating_spender, n.deleted, n.metadata, n.spender, n.timestamp_range
  from nft n where true and (coalesce(n.deleted, false) or coalesce((select deleted from entity where id = n.token_id), false)) = $1 and (n.token_id, n.serial_number) < ($2, $3) order by n.token_id asc, n.serial_number asc limit 25) n) n left join entity e on e.id = n.token_id order by n.ord, n.token_id asc, n.serial_number asc;

-- NFTs that are deleted, distributed
/* enable_bitmapscan = off */ with page as materialized (select p.ord, n.* from (values (1::bigint)) p(ord) cross join lateral (select n.token_id, n.serial_number, n.account_id, n.created_timestamp, n.delegating_spender, n.deleted, n.metadata, n.spender, n.timestamp_range
  from nft n where true and (coalesce(n.deleted, false) or coalesce((select deleted from entity where id = n.token_id), false)) = $1 and (n.token_id, n.serial_number) < ($2, $3) order by n.token_id asc, n.serial_number asc limit 25) n),
entity as materialized (select * from entity where id in (select token_id from page))
select n.ord, n.token_id, n.serial_number, n.account_id, n.created_timestamp, n.delegating_spender,
  n.deleted or coalesce(e.deleted, false), n.metadata, n.spender, lower(n.timestamp_range),
  upper(n.timestamp_range)
from page n left join entity e on e.id = n.token_id order by n.ord, n.token_id asc, n.serial_number asc;

-- account at a time
select e.id, e.type, e.alias, e.auto_renew_account_id, e.auto_renew_period, e.created_timestamp,
  e.decline_reward, e.delegation_address, e.deleted, e.ethereum_nonce, e.evm_address,
  e.expiration_timestamp, e.key, e.max_automatic_token_associations, e.memo, e.obtainer_id,
  e.receiver_sig_required, e.staked_account_id, e.staked_node_id, e.stake_period_start,
  lower(e.timestamp_range), upper(e.timestamp_range), e.balance, e.balance_timestamp,
  s.pending_reward, s.end_stake_period from (select * from ((select * from entity where id = $1 and lower(timestamp_range) <= $2 order by timestamp_range desc limit 1) union all (select * from entity_history where id = $1 and lower(timestamp_range) <= $2 order by timestamp_range desc limit 1)) v order by timestamp_range desc limit 1) e left join (select * from ((select * from entity_stake where id = $1 and lower(timestamp_range) <= $2 order by timestamp_range desc limit 1) union all (select * from entity_stake_history where id = $1 and lower(timestamp_range) <= $2 order by timestamp_range desc limit 1)) v order by timestamp_range desc limit 1) s on s.id = e.id
where e.type in ('ACCOUNT', 'CONTRACT') and not (e.num = 2 and e.memo = 'Mirror node created synthetic treasury account');

-- account at a time, distributed
select e.id, e.type, e.alias, e.auto_renew_account_id, e.auto_renew_period, e.created_timestamp,
  e.decline_reward, e.delegation_address, e.deleted, e.ethereum_nonce, e.evm_address,
  e.expiration_timestamp, e.key, e.max_automatic_token_associations, e.memo, e.obtainer_id,
  e.receiver_sig_required, e.staked_account_id, e.staked_node_id, e.stake_period_start,
  lower(e.timestamp_range), upper(e.timestamp_range), e.balance, e.balance_timestamp,
  s.pending_reward, s.end_stake_period from (select * from ((select * from entity where id = $1 and lower(timestamp_range) <= $2 order by timestamp_range desc limit 1) union all (select * from entity_history where id = $1 and lower(timestamp_range) <= $2 order by timestamp_range desc limit 1)) v order by timestamp_range desc limit 1) e left join (select * from ((select * from entity_stake where id = $1 and lower(timestamp_range) <= $2 order by timestamp_range desc limit 1) union all (select * from entity_stake_history where id = $1 and lower(timestamp_range) <= $2 order by timestamp_range desc limit 1)) v order by timestamp_range desc limit 1) s on s.id = e.id
where e.type in ('ACCOUNT', 'CONTRACT') and not (e.num = 2 and e.memo = 'Mirror node created synthetic treasury account');

-- account by address, and the treasury
select e.id, e.type, e.alias, e.auto_renew_account_id, e.auto_renew_period, e.created_timestamp,
  e.decline_reward, e.delegation_address, e.deleted, e.ethereum_nonce, e.evm_address,
  e.expiration_timestamp, e.key, e.max_automatic_token_associations, e.memo, e.obtainer_id,
  e.receiver_sig_required, e.staked_account_id, e.staked_node_id, e.stake_period_start,
  lower(e.timestamp_range), upper(e.timestamp_range), e.balance, e.balance_timestamp,
  s.pending_reward, s.end_stake_period from entity e left join entity_stake s on s.id = e.id
where e.evm_address = $1 and e.deleted <> true limit 2;
select e.id, e.type, e.alias, e.auto_renew_account_id, e.auto_renew_period, e.created_timestamp,
  e.decline_reward, e.delegation_address, e.deleted, e.ethereum_nonce, e.evm_address,
  e.expiration_timestamp, e.key, e.max_automatic_token_associations, e.memo, e.obtainer_id,
  e.receiver_sig_required, e.staked_account_id, e.staked_node_id, e.stake_period_start,
  lower(e.timestamp_range), upper(e.timestamp_range), e.balance, e.balance_timestamp,
  s.pending_reward, s.end_stake_period from entity e left join entity_stake s on s.id = e.id
where e.id = any((select $1::bigint[])::bigint[]) and e.type in ('ACCOUNT', 'CONTRACT') and not (e.num = 2 and e.memo = 'Mirror node created synthetic treasury account');

-- account by address, and the treasury, distributed
select e.id, e.type, e.alias, e.auto_renew_account_id, e.auto_renew_period, e.created_timestamp,
  e.decline_reward, e.delegation_address, e.deleted, e.ethereum_nonce, e.evm_address,
  e.expiration_timestamp, e.key, e.max_automatic_token_associations, e.memo, e.obtainer_id,
  e.receiver_sig_required, e.staked_account_id, e.staked_node_id, e.stake_period_start,
  lower(e.timestamp_range), upper(e.timestamp_range), e.balance, e.balance_timestamp,
  s.pending_reward, s.end_stake_period from entity e left join entity_stake s on s.id = e.id
where e.evm_address = $1 and e.deleted <> true limit 2;
select e.id, e.type, e.alias, e.auto_renew_account_id, e.auto_renew_period, e.created_timestamp,
  e.decline_reward, e.delegation_address, e.deleted, e.ethereum_nonce, e.evm_address,
  e.expiration_timestamp, e.key, e.max_automatic_token_associations, e.memo, e.obtainer_id,
  e.receiver_sig_required, e.staked_account_id, e.staked_node_id, e.stake_period_start,
  lower(e.timestamp_range), upper(e.timestamp_range), e.balance, e.balance_timestamp,
  s.pending_reward, s.end_stake_period from entity e left join entity_stake s on s.id = e.id
where e.id = any($1::bigint[]::bigint[]) and e.type in ('ACCOUNT', 'CONTRACT') and not (e.num = 2 and e.memo = 'Mirror node created synthetic treasury account');

-- account by id
select e.id, e.type, e.alias, e.auto_renew_account_id, e.auto_renew_period, e.created_timestamp,
  e.decline_reward, e.delegation_address, e.deleted, e.ethereum_nonce, e.evm_address,
  e.expiration_timestamp, e.key, e.max_automatic_token_associations, e.memo, e.obtainer_id,
  e.receiver_sig_required, e.staked_account_id, e.staked_node_id, e.stake_period_start,
  lower(e.timestamp_range), upper(e.timestamp_range), e.balance, e.balance_timestamp,
  s.pending_reward, s.end_stake_period from entity e left join entity_stake s on s.id = e.id
where e.id = $1 and e.type in ('ACCOUNT', 'CONTRACT');

-- account by id, distributed
select e.id, e.type, e.alias, e.auto_renew_account_id, e.auto_renew_period, e.created_timestamp,
  e.decline_reward, e.delegation_address, e.deleted, e.ethereum_nonce, e.evm_address,
  e.expiration_timestamp, e.key, e.max_automatic_token_associations, e.memo, e.obtainer_id,
  e.receiver_sig_required, e.staked_account_id, e.staked_node_id, e.stake_period_start,
  lower(e.timestamp_range), upper(e.timestamp_range), e.balance, e.balance_timestamp,
  s.pending_reward, s.end_stake_period from entity e left join entity_stake s on s.id = e.id
where e.id = $1 and e.type in ('ACCOUNT', 'CONTRACT');

-- accounts by id
select e.id, e.type, e.alias, e.auto_renew_account_id, e.auto_renew_period, e.created_timestamp,
  e.decline_reward, e.delegation_address, e.deleted, e.ethereum_nonce, e.evm_address,
  e.expiration_timestamp, e.key, e.max_automatic_token_associations, e.memo, e.obtainer_id,
  e.receiver_sig_required, e.staked_account_id, e.staked_node_id, e.stake_period_start,
  lower(e.timestamp_range), upper(e.timestamp_range), e.balance, e.balance_timestamp,
  s.pending_reward, s.end_stake_period from entity e left join entity_stake s on s.id = e.id
where e.id = any((select $1::bigint[])::bigint[]) and e.type in ('ACCOUNT', 'CONTRACT');

-- accounts by id, distributed
select e.id, e.type, e.alias, e.auto_renew_account_id, e.auto_renew_period, e.created_timestamp,
  e.decline_reward, e.delegation_address, e.deleted, e.ethereum_nonce, e.evm_address,
  e.expiration_timestamp, e.key, e.max_automatic_token_associations, e.memo, e.obtainer_id,
  e.receiver_sig_required, e.staked_account_id, e.staked_node_id, e.stake_period_start,
  lower(e.timestamp_range), upper(e.timestamp_range), e.balance, e.balance_timestamp,
  s.pending_reward, s.end_stake_period from entity e left join entity_stake s on s.id = e.id
where e.id = any($1::bigint[]::bigint[]) and e.type in ('ACCOUNT', 'CONTRACT');

-- accounts with a name
select e.id, e.type, e.alias, e.auto_renew_account_id, e.auto_renew_period, e.created_timestamp,
  e.decline_reward, e.delegation_address, e.deleted, e.ethereum_nonce, e.evm_address,
  e.expiration_timestamp, e.key, e.max_automatic_token_associations, e.memo, e.obtainer_id,
  e.receiver_sig_required, e.staked_account_id, e.staked_node_id, e.stake_period_start,
  lower(e.timestamp_range), upper(e.timestamp_range), e.balance, e.balance_timestamp,
  s.pending_reward, s.end_stake_period
from (select * from entity e where e.evm_address = $1 and e.deleted <> true and e.type in ('ACCOUNT', 'CONTRACT') limit 100) e left join entity_stake s on s.id = e.id order by e.id;

-- accounts with a name, distributed
with page as materialized (select * from entity e where e.evm_address = $1 and e.deleted <> true and e.type in ('ACCOUNT', 'CONTRACT') limit 100),
entity_stake as materialized (select * from entity_stake where id in (select id from page))
select e.id, e.type, e.alias, e.auto_renew_account_id, e.auto_renew_period, e.created_timestamp,
  e.decline_reward, e.delegation_address, e.deleted, e.ethereum_nonce, e.evm_address,
  e.expiration_timestamp, e.key, e.max_automatic_token_associations, e.memo, e.obtainer_id,
  e.receiver_sig_required, e.staked_account_id, e.staked_node_id, e.stake_period_start,
  lower(e.timestamp_range), upper(e.timestamp_range), e.balance, e.balance_timestamp,
  s.pending_reward, s.end_stake_period
from page e left join entity_stake s on s.id = e.id order by e.id;

-- accounts with all filters
select e.id, e.type, e.alias, e.auto_renew_account_id, e.auto_renew_period, e.created_timestamp,
  e.decline_reward, e.delegation_address, e.deleted, e.ethereum_nonce, e.evm_address,
  e.expiration_timestamp, e.key, e.max_automatic_token_associations, e.memo, e.obtainer_id,
  e.receiver_sig_required, e.staked_account_id, e.staked_node_id, e.stake_period_start,
  lower(e.timestamp_range), upper(e.timestamp_range), e.balance, e.balance_timestamp,
  s.pending_reward, s.end_stake_period
from (select * from ((select * from entity e where e.type between 'ACCOUNT' and 'ACCOUNT' and e.id = $1 and e.balance > $2 and e.public_key = $3 and not (e.num = 2 and e.memo = 'Mirror node created synthetic treasury account') and (e.id) < ($4) order by e.type desc, e.id desc limit 25) union all (select * from entity e where e.type between 'CONTRACT' and 'CONTRACT' and e.id = $1 and e.balance > $2 and e.public_key = $3 and not (e.num = 2 and e.memo = 'Mirror node created synthetic treasury account') and (e.id) < ($4) order by e.type desc, e.id desc limit 25)) e order by e.id desc limit 25) e left join entity_stake s on s.id = e.id order by e.id desc limit 25;

-- accounts with all filters, distributed
with page as materialized (select * from entity e where e.type in ('ACCOUNT', 'CONTRACT') and e.id = $1 and e.balance > $2 and e.public_key = $3 and not (e.num = 2 and e.memo = 'Mirror node created synthetic treasury account') and (e.id) < ($4) order by e.id desc limit 25),
entity_stake as materialized (select * from entity_stake where id in (select id from page))
select e.id, e.type, e.alias, e.auto_renew_account_id, e.auto_renew_period, e.created_timestamp,
  e.decline_reward, e.delegation_address, e.deleted, e.ethereum_nonce, e.evm_address,
  e.expiration_timestamp, e.key, e.max_automatic_token_associations, e.memo, e.obtainer_id,
  e.receiver_sig_required, e.staked_account_id, e.staked_node_id, e.stake_period_start,
  lower(e.timestamp_range), upper(e.timestamp_range), e.balance, e.balance_timestamp,
  s.pending_reward, s.end_stake_period
from page e left join entity_stake s on s.id = e.id order by e.id desc limit 25;

-- airdrops
select p.ord, a.amount, a.receiver_account_id, a.sender_account_id, nullif(a.serial_number, 0), a.token_id,
  lower(a.timestamp_range), upper(a.timestamp_range)
from unnest((select $1::bigint[])) with ordinality p(id, ord) cross join lateral (
  select * from token_airdrop where receiver_account_id = p.id and state = 'PENDING' order by sender_account_id asc, token_id asc, serial_number asc limit 25) a order by p.ord, a.sender_account_id asc, a.token_id asc, a.serial_number asc;

-- airdrops, distributed
select p.ord, a.amount, a.receiver_account_id, a.sender_account_id, nullif(a.serial_number, 0), a.token_id,
  lower(a.timestamp_range), upper(a.timestamp_range)
from (select $1::bigint as id, 1::bigint as ord) p cross join lateral (
  select * from token_airdrop where receiver_account_id = $1::bigint and state = 'PENDING' order by sender_account_id asc, token_id asc, serial_number asc limit 25) a order by p.ord, a.sender_account_id asc, a.token_id asc, a.serial_number asc;

-- balances
select e.id, e.balance, e.balance_timestamp from ((select * from entity e where e.type between 'ACCOUNT' and 'ACCOUNT' and (e.id) < ($1) order by e.type desc, e.id desc limit 25) union all (select * from entity e where e.type between 'CONTRACT' and 'CONTRACT' and (e.id) < ($1) order by e.type desc, e.id desc limit 25)) e order by e.id desc limit 25;

-- balances of a snapshot
select distinct on (account_id) account_id, balance, $2::bigint from account_balance
where consensus_timestamp between $1 and $2 and (account_id) < ($3) order by account_id desc, consensus_timestamp desc limit $4;

-- balances of a snapshot, distributed
select distinct on (account_id) account_id, balance, $2::bigint from account_balance
where consensus_timestamp between $1 and $2 and (account_id) < ($3) order by account_id desc, consensus_timestamp desc limit $4;

-- balances, distributed
select e.id, e.balance, e.balance_timestamp from entity e where e.type in ('ACCOUNT', 'CONTRACT') and (e.id) < ($1) order by e.id desc limit 25;

-- codes
select p.ord, coalesce(c.runtime_bytecode, '')
from unnest((select $1::bigint[])) with ordinality p(id, ord) join contract c on c.id = p.id;

-- codes, distributed
with contract as materialized (select * from contract where id = $1::bigint)
select p.ord, coalesce(c.runtime_bytecode, '')
from (select $1::bigint as id, 1::bigint as ord) p join contract c on c.id = $1::bigint;

-- contract at a time
select e.id, e.key, e.auto_renew_account_id, e.auto_renew_period, e.created_timestamp, e.deleted,
  e.evm_address, e.expiration_timestamp, c.file_id, e.max_automatic_token_associations, e.memo,
  e.ethereum_nonce, e.obtainer_id, e.permanent_removal, e.proxy_account_id, lower(e.timestamp_range),
  upper(e.timestamp_range)
from (select * from (select * from entity e where e.type = 'CONTRACT' and e.id = $1 and lower(e.timestamp_range) <= $2 union all select * from entity_history e where e.type = 'CONTRACT' and e.id = $1 and lower(e.timestamp_range) <= $2) v order by timestamp_range desc limit 1) e left join contract c on c.id = e.id;

-- contract at a time, distributed
with page as materialized (select * from (select * from entity e where e.type = 'CONTRACT' and e.id = $1 and lower(e.timestamp_range) <= $2 union all select * from entity_history e where e.type = 'CONTRACT' and e.id = $1 and lower(e.timestamp_range) <= $2) v order by timestamp_range desc limit 1),
contract as materialized (select * from contract where id in (select id from page))
select e.id, e.key, e.auto_renew_account_id, e.auto_renew_period, e.created_timestamp, e.deleted,
  e.evm_address, e.expiration_timestamp, c.file_id, e.max_automatic_token_associations, e.memo,
  e.ethereum_nonce, e.obtainer_id, e.permanent_removal, e.proxy_account_id, lower(e.timestamp_range),
  upper(e.timestamp_range)
from page e left join contract c on c.id = e.id;

-- contracts
select e.id, e.key, e.auto_renew_account_id, e.auto_renew_period, e.created_timestamp, e.deleted,
  e.evm_address, e.expiration_timestamp, c.file_id, e.max_automatic_token_associations, e.memo,
  e.ethereum_nonce, e.obtainer_id, e.permanent_removal, e.proxy_account_id, lower(e.timestamp_range),
  upper(e.timestamp_range)
from (select * from entity e where e.type = 'CONTRACT' and (e.id) < ($1) order by e.id desc limit 25) e left join contract c on c.id = e.id order by e.id desc;

-- contracts by id
select e.id, e.key, e.auto_renew_account_id, e.auto_renew_period, e.created_timestamp, e.deleted,
  e.evm_address, e.expiration_timestamp, c.file_id, e.max_automatic_token_associations, e.memo,
  e.ethereum_nonce, e.obtainer_id, e.permanent_removal, e.proxy_account_id, lower(e.timestamp_range),
  upper(e.timestamp_range) from entity e left join contract c on c.id = e.id where e.id = any((select $1::bigint[])::bigint[]) and e.type = 'CONTRACT';

-- contracts by id, distributed
select e.id, e.key, e.auto_renew_account_id, e.auto_renew_period, e.created_timestamp, e.deleted,
  e.evm_address, e.expiration_timestamp, c.file_id, e.max_automatic_token_associations, e.memo,
  e.ethereum_nonce, e.obtainer_id, e.permanent_removal, e.proxy_account_id, lower(e.timestamp_range),
  upper(e.timestamp_range) from entity e left join contract c on c.id = e.id where e.id = any($1::bigint[]::bigint[]) and e.type = 'CONTRACT';

-- contracts with a name
select e.id, e.key, e.auto_renew_account_id, e.auto_renew_period, e.created_timestamp, e.deleted,
  e.evm_address, e.expiration_timestamp, c.file_id, e.max_automatic_token_associations, e.memo,
  e.ethereum_nonce, e.obtainer_id, e.permanent_removal, e.proxy_account_id, lower(e.timestamp_range),
  upper(e.timestamp_range)
from (select * from entity e where e.evm_address = $1 and e.deleted <> true and e.type in ('CONTRACT') limit 100) e left join contract c on c.id = e.id order by e.id;

-- contracts with a name, distributed
with page as materialized (select * from entity e where e.evm_address = $1 and e.deleted <> true and e.type in ('CONTRACT') limit 100),
contract as materialized (select * from contract where id in (select id from page))
select e.id, e.key, e.auto_renew_account_id, e.auto_renew_period, e.created_timestamp, e.deleted,
  e.evm_address, e.expiration_timestamp, c.file_id, e.max_automatic_token_associations, e.memo,
  e.ethereum_nonce, e.obtainer_id, e.permanent_removal, e.proxy_account_id, lower(e.timestamp_range),
  upper(e.timestamp_range)
from page e left join contract c on c.id = e.id order by e.id;

-- contracts, distributed
with page as materialized (select * from entity e where e.type = 'CONTRACT' and (e.id) < ($1) order by e.id desc limit 25),
contract as materialized (select * from contract where id in (select id from page))
select e.id, e.key, e.auto_renew_account_id, e.auto_renew_period, e.created_timestamp, e.deleted,
  e.evm_address, e.expiration_timestamp, c.file_id, e.max_automatic_token_associations, e.memo,
  e.ethereum_nonce, e.obtainer_id, e.permanent_removal, e.proxy_account_id, lower(e.timestamp_range),
  upper(e.timestamp_range)
from page e left join contract c on c.id = e.id order by e.id desc;

-- files by id
select e.id, e.type, e.alias, e.auto_renew_account_id, e.auto_renew_period, e.created_timestamp,
  e.decline_reward, e.delegation_address, e.deleted, e.ethereum_nonce, e.evm_address,
  e.expiration_timestamp, e.key, e.max_automatic_token_associations, e.memo, e.obtainer_id,
  e.receiver_sig_required, e.staked_account_id, e.staked_node_id, e.stake_period_start,
  lower(e.timestamp_range), upper(e.timestamp_range), e.balance, e.balance_timestamp,
  s.pending_reward, s.end_stake_period from entity e left join entity_stake s on s.id = e.id where e.type = 'FILE' and e.id = any((select $1::bigint[])::bigint[]);

-- files by id, distributed
select e.id, e.type, e.alias, e.auto_renew_account_id, e.auto_renew_period, e.created_timestamp,
  e.decline_reward, e.delegation_address, e.deleted, e.ethereum_nonce, e.evm_address,
  e.expiration_timestamp, e.key, e.max_automatic_token_associations, e.memo, e.obtainer_id,
  e.receiver_sig_required, e.staked_account_id, e.staked_node_id, e.stake_period_start,
  lower(e.timestamp_range), upper(e.timestamp_range), e.balance, e.balance_timestamp,
  s.pending_reward, s.end_stake_period from entity e left join entity_stake s on s.id = e.id where e.type = 'FILE' and e.id = any($1::bigint[]::bigint[]);

-- first NFTs of an account
select n.ord, n.token_id, n.serial_number, n.account_id, n.created_timestamp, n.delegating_spender,
  n.deleted or coalesce(e.deleted, false), n.metadata, n.spender, lower(n.timestamp_range),
  upper(n.timestamp_range)
from (select p.ord, n.* from (select $1::bigint as id, 1::bigint as ord) p cross join lateral (select n.token_id, n.serial_number, n.account_id, n.created_timestamp, n.delegating_spender, n.deleted, n.metadata, n.spender, n.timestamp_range
  from nft n where n.account_id between (select $1::bigint) and (select $1::bigint) order by n.account_id asc, n.token_id asc, n.serial_number asc limit 26) n) n left join entity e on e.id = n.token_id order by n.ord, n.account_id asc, n.token_id asc, n.serial_number asc;

-- first NFTs of an account, distributed
/* enable_bitmapscan = off */ with page as materialized (select p.ord, n.* from (select $1::bigint as id, 1::bigint as ord) p cross join lateral (select n.token_id, n.serial_number, n.account_id, n.created_timestamp, n.delegating_spender, n.deleted, n.metadata, n.spender, n.timestamp_range
  from nft n where n.account_id = $1::bigint order by n.token_id asc, n.serial_number asc limit 26) n),
entity as materialized (select * from entity where id in (select token_id from page))
select n.ord, n.token_id, n.serial_number, n.account_id, n.created_timestamp, n.delegating_spender,
  n.deleted or coalesce(e.deleted, false), n.metadata, n.spender, lower(n.timestamp_range),
  upper(n.timestamp_range)
from page n left join entity e on e.id = n.token_id order by n.ord, n.token_id asc, n.serial_number asc;

-- hbar allowances, granted and received
select p.ord, a.owner, a.spender, a.amount, a.amount_granted, lower(a.timestamp_range), upper(a.timestamp_range)
from unnest((select $1::bigint[])) with ordinality p(id, ord) cross join lateral (select * from crypto_allowance a where a.owner = p.id and a.amount > 0 and (a.spender) < ($2) order by a.spender desc limit 25) a order by p.ord, a.spender desc;
select p.ord, a.owner, a.spender, a.amount, a.amount_granted, lower(a.timestamp_range), upper(a.timestamp_range)
from unnest((select $1::bigint[])) with ordinality p(id, ord) join (
  select a.*, row_number() over (partition by a.spender order by a.owner desc) as place from crypto_allowance a
  where a.spender = any($1) and a.amount > 0 and (a.owner) < ($2)) a on a.spender = p.id where a.place <= $3 order by p.ord, a.owner desc;

-- hbar allowances, granted and received, distributed
select p.ord, a.owner, a.spender, a.amount, a.amount_granted, lower(a.timestamp_range), upper(a.timestamp_range)
from (select $1::bigint as id, 1::bigint as ord) p cross join lateral (select * from crypto_allowance a where a.owner = $1::bigint and a.amount > 0 and (a.spender) < ($2) order by a.spender desc limit 25) a order by p.ord, a.spender desc;
select p.ord, a.owner, a.spender, a.amount, a.amount_granted, lower(a.timestamp_range), upper(a.timestamp_range)
from (select $1::bigint as id, 1::bigint as ord) p join (
  select a.*, row_number() over (partition by a.spender order by a.owner desc) as place from crypto_allowance a
  where a.spender = $1 and a.amount > 0 and (a.owner) < ($2)) a on a.spender = $1::bigint where a.place <= $3 order by p.ord, a.owner desc;

-- histories of NFTs
select p.ord, p.token_id, p.serial, v.at, t.consensus_timestamp is not null, t.nonce, t.payer_account_id,
  coalesce(t.type, 0), t.valid_start_ns, t.nft_transfer
from unnest((select $1::bigint[]), (select $2::bigint[])) with ordinality p(token_id, serial, ord) cross join lateral (
  select at from (
    (select lower(x.timestamp_range) as at from nft x where x.token_id = p.token_id and x.serial_number = p.serial and (lower(x.timestamp_range)) < ($3) order by at desc limit 25)
    union all (select lower(x.timestamp_range) as at from nft_history x where x.token_id = p.token_id and x.serial_number = p.serial and (lower(x.timestamp_range)) < ($3) order by at desc limit 25)
    union all (select lower(x.timestamp_range) as at from entity x where x.id = p.token_id and x.deleted and (lower(x.timestamp_range)) < ($3) order by at desc limit 25)) v order by at desc limit 25) v left join transaction t on t.consensus_timestamp = v.at order by p.ord, v.at desc;
select p.ord, n.created_timestamp is not null
from unnest((select $1::bigint[]), (select $2::bigint[])) with ordinality p(token_id, serial, ord) left join nft n on n.token_id = p.token_id and n.serial_number = p.serial;

-- histories of NFTs, distributed
with page as materialized (
  select at from (
    (select lower(x.timestamp_range) as at from nft x where x.token_id = $1::bigint and x.serial_number = $2::bigint and (lower(x.timestamp_range)) < ($3) order by at desc limit 25)
    union all (select lower(x.timestamp_range) as at from nft_history x where x.token_id = $1::bigint and x.serial_number = $2::bigint and (lower(x.timestamp_range)) < ($3) order by at desc limit 25)
    union all (select lower(x.timestamp_range) as at from entity x where x.id = $1::bigint and x.deleted and (lower(x.timestamp_range)) < ($3) order by at desc limit 25)) v order by at desc limit 25),
transaction as materialized (select * from transaction where consensus_timestamp in (select at from page))
select p.ord, p.token_id, p.serial, v.at, t.consensus_timestamp is not null, t.nonce, t.payer_account_id,
  coalesce(t.type, 0), t.valid_start_ns, t.nft_transfer
from (select $1::bigint as token_id, $2::bigint as serial, 1::bigint as ord) p cross join page v left join transaction t on t.consensus_timestamp = v.at order by p.ord, v.at desc;
with nft as materialized (select * from nft where token_id = $1::bigint and serial_number = $2::bigint)
select p.ord, n.created_timestamp is not null
from (select $1::bigint as token_id, $2::bigint as serial, 1::bigint as ord) p left join nft n on n.token_id = $1::bigint and n.serial_number = $2::bigint;

-- holders at a time
select consensus_timestamp
from account_balance where account_id = $1 and consensus_timestamp between $2 and $3 order by consensus_timestamp desc limit 1;
/* enable_bitmapscan = off, plan_cache_mode = force_custom_plan */ select p.ord, h.*, $3::bigint, 0::bigint, (select decimals from token where token_id = p.id)
from (select $1::bigint as id, 1::bigint as ord) p cross join lateral (select h.* from (select distinct h.account_id from token_balance h where h.token_id = p.id and h.consensus_timestamp between $2 and $3 and (h.account_id) < ($4) order by h.account_id desc) a cross join lateral (
    select h.token_id, h.account_id, h.balance from token_balance h where h.token_id = p.id and h.consensus_timestamp between $2 and $3 and h.account_id = a.account_id
    order by h.consensus_timestamp desc limit 1) h where true order by a.account_id desc limit 25) h order by p.ord, h.account_id desc;

-- holders at a time, distributed
select consensus_timestamp
from account_balance where account_id = $1 and consensus_timestamp between $2 and $3 order by consensus_timestamp desc limit 1;
/* enable_bitmapscan = off, plan_cache_mode = force_custom_plan */ select p.ord, h.*, $3::bigint, 0::bigint, (select decimals from token where token_id = $1::bigint)
from (select $1::bigint as id, 1::bigint as ord) p cross join lateral (select * from (select distinct on (h.account_id) h.token_id, h.account_id, h.balance from token_balance h where h.token_id = $1::bigint and h.consensus_timestamp between $2 and $3 and (h.account_id) < ($4)
    order by h.account_id desc, h.consensus_timestamp desc) h where true order by h.account_id desc limit 25) h order by p.ord, h.account_id desc;

-- holders by balance
select p.ord, h.*, (select decimals from token where token_id = p.id)
from unnest((select $1::bigint[])) with ordinality p(id, ord) cross join lateral (
  select h.* from (select h.token_id, h.account_id, h.balance, h.balance_timestamp, count(*) over () from token_account h
    where h.token_id = p.id and h.associated and h.balance > 0
      and not exists (select 1 from token_account n where n.token_id = p.id order by n.account_id offset $2 limit 1)) h
  where true and (h.balance, h.account_id) < ($3, $4) order by h.balance asc, h.account_id asc limit 25) h order by p.ord, h.balance asc, h.account_id asc;

-- holders by balance, distributed
select p.ord, h.*, (select decimals from token where token_id = $1::bigint)
from (select $1::bigint as id, 1::bigint as ord) p cross join lateral (
  select h.* from (select h.token_id, h.account_id, h.balance, h.balance_timestamp, count(*) over () from token_account h
    where h.token_id = $1::bigint and h.associated and h.balance > 0
      and not exists (select 1 from token_account n where n.token_id = $1::bigint order by n.account_id offset $2 limit 1)) h
  where true and (h.balance, h.account_id) < ($3, $4) order by h.balance asc, h.account_id asc limit 25) h order by p.ord, h.balance asc, h.account_id asc;

-- holders of tokens
select p.ord, h.*, (select decimals from token where token_id = p.id)
from unnest((select $1::bigint[])) with ordinality p(id, ord) cross join lateral (
  select h.token_id, h.account_id, h.balance, h.balance_timestamp, 0::bigint from token_account h
  where h.token_id = p.id and h.associated and (h.account_id) < ($2) order by h.account_id desc limit 25) h order by p.ord, h.account_id desc;

-- holders of tokens, distributed
select p.ord, h.*, (select decimals from token where token_id = $1::bigint)
from (select $1::bigint as id, 1::bigint as ord) p cross join lateral (
  select h.token_id, h.account_id, h.balance, h.balance_timestamp, 0::bigint from token_account h
  where h.token_id = $1::bigint and h.associated and (h.account_id) < ($2) order by h.account_id desc limit 25) h order by p.ord, h.account_id desc;

-- hooks
select p.ord, h.admin_key, h.contract_id, h.created_timestamp, h.deleted, h.extension_point::text, h.hook_id,
  h.owner_id, h.timestamp_range is not null, lower(h.timestamp_range), upper(h.timestamp_range),
  h.type::text
from unnest((select $1::bigint[])) with ordinality p(id, ord) cross join lateral (
  select * from hook where owner_id = p.id and (hook_id) < ($2) order by hook_id desc limit 25) h order by p.ord, h.hook_id desc;

-- hooks by id
select p.ord, h.admin_key, h.contract_id, h.created_timestamp, h.deleted, h.extension_point::text, h.hook_id,
  h.owner_id, h.timestamp_range is not null, lower(h.timestamp_range), upper(h.timestamp_range),
  h.type::text
from unnest((select $1::bigint[]), (select $2::bigint[])) with ordinality p(owner, id, ord) join hook h on h.owner_id = p.owner and h.hook_id = p.id;

-- hooks by id, distributed
with hook as materialized (select * from hook where owner_id = $1::bigint and hook_id = $2::bigint)
select p.ord, h.admin_key, h.contract_id, h.created_timestamp, h.deleted, h.extension_point::text, h.hook_id,
  h.owner_id, h.timestamp_range is not null, lower(h.timestamp_range), upper(h.timestamp_range),
  h.type::text
from (select $1::bigint as owner, $2::bigint as id, 1::bigint as ord) p join hook h on h.owner_id = $1::bigint and h.hook_id = $2::bigint;

-- hooks, distributed
select p.ord, h.admin_key, h.contract_id, h.created_timestamp, h.deleted, h.extension_point::text, h.hook_id,
  h.owner_id, h.timestamp_range is not null, lower(h.timestamp_range), upper(h.timestamp_range),
  h.type::text
from (select $1::bigint as id, 1::bigint as ord) p cross join lateral (
  select * from hook where owner_id = $1::bigint and (hook_id) < ($2) order by hook_id desc limit 25) h order by p.ord, h.hook_id desc;

-- init codes
select ord, string_agg(file_data, '' order by at) filter (where at = since or at > since and transaction_type = 16),
  initcode
from (
  select p.ord, case when c.file_id & $3 > $4 then null else c.initcode end as initcode, d.file_data, d.transaction_type, d.consensus_timestamp as at,
    max(d.consensus_timestamp) filter (where (transaction_type = 17 or transaction_type = 19 and length(file_data) > 0)) over (partition by p.ord) as since
  from unnest((select $1::bigint[]), (select $2::bigint[])) with ordinality p(id, created, ord) join contract c on c.id = p.id
  left join file_data d on d.entity_id = c.file_id and d.consensus_timestamp <= p.created and c.file_id & $3 > $4) f group by ord, initcode;

-- init codes, distributed
with contract as materialized (select * from contract where id = $1::bigint),
file_data as materialized (select * from file_data where entity_id in (select file_id
from contract) and consensus_timestamp <= $2::bigint)
select ord, string_agg(file_data, '' order by at) filter (where at = since or at > since and transaction_type = 16),
  initcode
from (
  select p.ord, case when c.file_id & $3 > $4 then null else c.initcode end as initcode, d.file_data, d.transaction_type, d.consensus_timestamp as at,
    max(d.consensus_timestamp) filter (where (transaction_type = 17 or transaction_type = 19 and length(file_data) > 0)) over (partition by p.ord) as since
  from (select $1::bigint as id, $2::bigint as created, 1::bigint as ord) p join contract c on c.id = $1::bigint
  left join file_data d on d.entity_id = c.file_id and d.consensus_timestamp <= $2::bigint and c.file_id & $3 > $4) f group by ord, initcode;

-- joined messages of topics
select p.ord, m.*
from unnest((select $1::bigint[])) with ordinality p(id, ord) cross join lateral (select consensus_timestamp, topic_id, sequence_number, message, payer_account_id, running_hash,
  coalesce(running_hash_version, 3) as running_hash_version, chunk_num, chunk_total,
  valid_start_timestamp, initial_transaction_id, case when f.n = m.chunk_total - 1 then m.message || f.rest when g.n > 1 then g.whole end,
  case when f.n = m.chunk_total - 1 then m.chunk_total when g.n > 1 then g.n end
from (select consensus_timestamp, topic_id, sequence_number, message, payer_account_id, running_hash,
  coalesce(running_hash_version, 3) as running_hash_version, chunk_num, chunk_total,
  valid_start_timestamp, initial_transaction_id
from topic_message where topic_id = p.id and (coalesce(chunk_num, 1) <= 1 or chunk_total is null or chunk_total > 100
  or chunk_num > chunk_total or case
  when exists (select 1 from topic_message c where c.topic_id = p.id
    and c.sequence_number = topic_message.sequence_number + 1 - topic_message.chunk_num and c.chunk_num = 1
    and c.payer_account_id = topic_message.payer_account_id and c.chunk_total = topic_message.chunk_total
      and c.chunk_num between 1 and c.chunk_total
      and c.valid_start_timestamp is not distinct from topic_message.valid_start_timestamp
      and c.initial_transaction_id is not distinct from topic_message.initial_transaction_id) then false
  else not exists (select 1 from topic_message c where c.topic_id = p.id
    and c.sequence_number between topic_message.sequence_number - 256 and topic_message.sequence_number + 256 and c.payer_account_id = topic_message.payer_account_id and c.chunk_total = topic_message.chunk_total
      and c.chunk_num between 1 and c.chunk_total
      and c.valid_start_timestamp is not distinct from topic_message.valid_start_timestamp
      and c.initial_transaction_id is not distinct from topic_message.initial_transaction_id
    and (c.chunk_num = 1 or c.sequence_number < topic_message.sequence_number
      and not exists (select 1 from topic_message d where d.topic_id = p.id
        and d.sequence_number between c.sequence_number - 256 and c.sequence_number + 256 and d.payer_account_id = c.payer_account_id and d.chunk_total = c.chunk_total
      and d.chunk_num between 1 and d.chunk_total
      and d.valid_start_timestamp is not distinct from c.valid_start_timestamp
      and d.initial_transaction_id is not distinct from c.initial_transaction_id
        and (d.chunk_num = 1 or d.sequence_number < c.sequence_number)))) end) and (consensus_timestamp) < ($2) order by consensus_timestamp desc limit 25) m left join lateral (
  select count(distinct c.chunk_num) as n, string_agg(c.message, '' order by c.chunk_num) as rest
  from (select c.chunk_num, c.message from topic_message c
    where c.topic_id = p.id
      and c.sequence_number > m.sequence_number and c.sequence_number <= m.sequence_number + 256
      and m.chunk_num = 1 and m.chunk_total <= 100 and c.chunk_num > 1 and c.payer_account_id = m.payer_account_id and c.chunk_total = m.chunk_total
      and c.chunk_num between 1 and c.chunk_total
      and c.valid_start_timestamp is not distinct from m.valid_start_timestamp
      and c.initial_transaction_id is not distinct from m.initial_transaction_id
    order by c.sequence_number limit greatest(m.chunk_total, 1) - 1) c) f on true left join lateral (
  select count(*)::int as n, string_agg(c.message, '' order by c.chunk_num) as whole
  from (select distinct on (c.chunk_num) c.chunk_num, c.message from topic_message c
    where c.topic_id = p.id and c.sequence_number <= m.sequence_number + 256
      and c.sequence_number >= case when m.chunk_num = 1 then m.sequence_number - 256 else m.sequence_number end
      and m.chunk_num between 1 and m.chunk_total and m.chunk_total between 2 and 100 and f.n < m.chunk_total - 1
      and (c.chunk_num <> m.chunk_num or c.sequence_number = m.sequence_number) and c.payer_account_id = m.payer_account_id and c.chunk_total = m.chunk_total
      and c.chunk_num between 1 and c.chunk_total
      and c.valid_start_timestamp is not distinct from m.valid_start_timestamp
      and c.initial_transaction_id is not distinct from m.initial_transaction_id
      and (m.chunk_num = 1 or not exists (select 1 from topic_message d where d.topic_id = p.id and d.chunk_num = 1
        and d.sequence_number between c.sequence_number - 256 and c.sequence_number + 256 and d.payer_account_id = c.payer_account_id and d.chunk_total = c.chunk_total
      and d.chunk_num between 1 and d.chunk_total
      and d.valid_start_timestamp is not distinct from c.valid_start_timestamp
      and d.initial_transaction_id is not distinct from c.initial_transaction_id))
    order by c.chunk_num, c.sequence_number) c) g on true
order by consensus_timestamp desc) m order by p.ord, m.consensus_timestamp desc;

-- joined messages of topics, distributed
select p.ord, m.*
from (select $1::bigint as id, 1::bigint as ord) p cross join lateral (select consensus_timestamp, topic_id, sequence_number, message, payer_account_id, running_hash,
  coalesce(running_hash_version, 3) as running_hash_version, chunk_num, chunk_total,
  valid_start_timestamp, initial_transaction_id, case when f.n = m.chunk_total - 1 then m.message || f.rest when g.n > 1 then g.whole end,
  case when f.n = m.chunk_total - 1 then m.chunk_total when g.n > 1 then g.n end
from (select consensus_timestamp, topic_id, sequence_number, message, payer_account_id, running_hash,
  coalesce(running_hash_version, 3) as running_hash_version, chunk_num, chunk_total,
  valid_start_timestamp, initial_transaction_id
from topic_message where topic_id = $1::bigint and (coalesce(chunk_num, 1) <= 1 or chunk_total is null or chunk_total > 100
  or chunk_num > chunk_total or case
  when exists (select 1 from topic_message c where c.topic_id = $1::bigint
    and c.sequence_number = topic_message.sequence_number + 1 - topic_message.chunk_num and c.chunk_num = 1
    and c.payer_account_id = topic_message.payer_account_id and c.chunk_total = topic_message.chunk_total
      and c.chunk_num between 1 and c.chunk_total
      and c.valid_start_timestamp is not distinct from topic_message.valid_start_timestamp
      and c.initial_transaction_id is not distinct from topic_message.initial_transaction_id) then false
  else not exists (select 1 from topic_message c where c.topic_id = $1::bigint
    and c.sequence_number between topic_message.sequence_number - 256 and topic_message.sequence_number + 256 and c.payer_account_id = topic_message.payer_account_id and c.chunk_total = topic_message.chunk_total
      and c.chunk_num between 1 and c.chunk_total
      and c.valid_start_timestamp is not distinct from topic_message.valid_start_timestamp
      and c.initial_transaction_id is not distinct from topic_message.initial_transaction_id
    and (c.chunk_num = 1 or c.sequence_number < topic_message.sequence_number
      and not exists (select 1 from topic_message d where d.topic_id = $1::bigint
        and d.sequence_number between c.sequence_number - 256 and c.sequence_number + 256 and d.payer_account_id = c.payer_account_id and d.chunk_total = c.chunk_total
      and d.chunk_num between 1 and d.chunk_total
      and d.valid_start_timestamp is not distinct from c.valid_start_timestamp
      and d.initial_transaction_id is not distinct from c.initial_transaction_id
        and (d.chunk_num = 1 or d.sequence_number < c.sequence_number)))) end) and (consensus_timestamp) < ($2) order by consensus_timestamp desc limit 25) m left join lateral (
  select count(distinct c.chunk_num) as n, string_agg(c.message, '' order by c.chunk_num) as rest
  from (select c.chunk_num, c.message from topic_message c
    where c.topic_id = $1::bigint
      and c.sequence_number > m.sequence_number and c.sequence_number <= m.sequence_number + 256
      and m.chunk_num = 1 and m.chunk_total <= 100 and c.chunk_num > 1 and c.payer_account_id = m.payer_account_id and c.chunk_total = m.chunk_total
      and c.chunk_num between 1 and c.chunk_total
      and c.valid_start_timestamp is not distinct from m.valid_start_timestamp
      and c.initial_transaction_id is not distinct from m.initial_transaction_id
    order by c.sequence_number limit greatest(m.chunk_total, 1) - 1) c) f on true left join lateral (
  select count(*)::int as n, string_agg(c.message, '' order by c.chunk_num) as whole
  from (select distinct on (c.chunk_num) c.chunk_num, c.message from topic_message c
    where c.topic_id = $1::bigint and c.sequence_number <= m.sequence_number + 256
      and c.sequence_number >= case when m.chunk_num = 1 then m.sequence_number - 256 else m.sequence_number end
      and m.chunk_num between 1 and m.chunk_total and m.chunk_total between 2 and 100 and f.n < m.chunk_total - 1
      and (c.chunk_num <> m.chunk_num or c.sequence_number = m.sequence_number) and c.payer_account_id = m.payer_account_id and c.chunk_total = m.chunk_total
      and c.chunk_num between 1 and c.chunk_total
      and c.valid_start_timestamp is not distinct from m.valid_start_timestamp
      and c.initial_transaction_id is not distinct from m.initial_transaction_id
      and (m.chunk_num = 1 or not exists (select 1 from topic_message d where d.topic_id = $1::bigint and d.chunk_num = 1
        and d.sequence_number between c.sequence_number - 256 and c.sequence_number + 256 and d.payer_account_id = c.payer_account_id and d.chunk_total = c.chunk_total
      and d.chunk_num between 1 and d.chunk_total
      and d.valid_start_timestamp is not distinct from c.valid_start_timestamp
      and d.initial_transaction_id is not distinct from c.initial_transaction_id))
    order by c.chunk_num, c.sequence_number) c) g on true
order by consensus_timestamp desc) m order by p.ord, m.consensus_timestamp desc;

-- messages by key
select p.ord, consensus_timestamp, topic_id, sequence_number, message, payer_account_id, running_hash,
  coalesce(running_hash_version, 3) as running_hash_version, chunk_num, chunk_total,
  valid_start_timestamp, initial_transaction_id
from unnest((select $1::bigint[]), (select $2::bigint[])) with ordinality p(topic, number, ord) join topic_message on topic_id = p.topic and sequence_number = p.number;

-- messages by key, distributed
with topic_message as materialized (select * from topic_message where topic_id = $1::bigint and sequence_number = $2::bigint)
select p.ord, consensus_timestamp, topic_id, sequence_number, message, payer_account_id, running_hash,
  coalesce(running_hash_version, 3) as running_hash_version, chunk_num, chunk_total,
  valid_start_timestamp, initial_transaction_id
from (select $1::bigint as topic, $2::bigint as number, 1::bigint as ord) p join topic_message on topic_id = $1::bigint and sequence_number = $2::bigint;

-- messages of topics
select p.ord, m.*
from unnest((select $1::bigint[])) with ordinality p(id, ord) cross join lateral (select consensus_timestamp, topic_id, sequence_number, message, payer_account_id, running_hash,
  coalesce(running_hash_version, 3) as running_hash_version, chunk_num, chunk_total,
  valid_start_timestamp, initial_transaction_id
from topic_message where topic_id = p.id and (consensus_timestamp) < ($2) order by consensus_timestamp desc limit 25) m order by p.ord, m.consensus_timestamp desc;

-- messages of topics, distributed
select p.ord, m.*
from (select $1::bigint as id, 1::bigint as ord) p cross join lateral (select consensus_timestamp, topic_id, sequence_number, message, payer_account_id, running_hash,
  coalesce(running_hash_version, 3) as running_hash_version, chunk_num, chunk_total,
  valid_start_timestamp, initial_transaction_id
from topic_message where topic_id = $1::bigint and (consensus_timestamp) < ($2) order by consensus_timestamp desc limit 25) m order by p.ord, m.consensus_timestamp desc;

-- new messages
select consensus_timestamp, topic_id, sequence_number, message, payer_account_id, running_hash,
  coalesce(running_hash_version, 3) as running_hash_version, chunk_num, chunk_total,
  valid_start_timestamp, initial_transaction_id
from (select type, consensus_timestamp as at, entity_id from transaction where (type, consensus_timestamp) > (27, $1)
and (type, consensus_timestamp) < (28, 0) and result = 22) t join topic_message m on m.topic_id = t.entity_id and m.consensus_timestamp = t.at order by type, at limit $2;

-- new messages, distributed
with page as materialized (select type, consensus_timestamp as at, entity_id from transaction where (type, consensus_timestamp) > (27, $1)
and (type, consensus_timestamp) < (28, 0) and result = 22),
topic_message as materialized (select * from topic_message where topic_id in (select entity_id from page) and consensus_timestamp in (select at from page))
select consensus_timestamp, topic_id, sequence_number, message, payer_account_id, running_hash,
  coalesce(running_hash_version, 3) as running_hash_version, chunk_num, chunk_total,
  valid_start_timestamp, initial_transaction_id
from page t join topic_message m on m.topic_id = t.entity_id and m.consensus_timestamp = t.at order by type, at limit $2;

-- nodes
select p.ord, e.node_id, b.file_id, b.start_consensus_timestamp, b.end_consensus_timestamp, n.admin_key,
  n.associated_registered_nodes, e.node_cert_hash, n.created_timestamp, n.decline_reward, n.deleted,
  e.description, n.grpc_proxy_endpoint, nullif(s.max_stake, -1), nullif(s.min_stake, -1),
  s.reward_rate, s.stake, nullif(s.stake_not_rewarded, -1), s.stake_rewarded, s.staking_period, e.memo,
  coalesce(n.account_id, e.node_account_id), e.public_key
from (select * from address_book where file_id = $1 order by start_consensus_timestamp desc limit 1) b
join address_book_entry e on e.consensus_timestamp = b.start_consensus_timestamp
left join node n on n.node_id = e.node_id
left join node_stake s on s.consensus_timestamp = (select max(consensus_timestamp) from node_stake) and s.node_id = e.node_id
join unnest((select $2::bigint[])) with ordinality p(key, ord) on e.node_id = p.key order by p.ord, e.node_id;
select p.ord, coalesce(e.domain_name, ''), coalesce(e.ip_address_v4, ''), e.port
from unnest((select $1::bigint[]), (select $2::bigint[])) with ordinality p(book, node, ord) join address_book_service_endpoint e on e.consensus_timestamp = p.book
and e.node_id = p.node order by p.ord, e.ip_address_v4, e.port;
select p.owner, r.registered_node_id, r.admin_key, r.created_timestamp, r.deleted, r.description,
  r.service_endpoints, lower(r.timestamp_range), upper(r.timestamp_range), r.type
from (select distinct * from unnest((select $1::bigint[]), (select $2::bigint[])) as p(owner, id)) p join registered_node r on r.registered_node_id = p.id where r.deleted is false order by p.owner, p.id;

-- nodes, distributed
select p.ord, e.node_id, b.file_id, b.start_consensus_timestamp, b.end_consensus_timestamp, n.admin_key,
  n.associated_registered_nodes, e.node_cert_hash, n.created_timestamp, n.decline_reward, n.deleted,
  e.description, n.grpc_proxy_endpoint, nullif(s.max_stake, -1), nullif(s.min_stake, -1),
  s.reward_rate, s.stake, nullif(s.stake_not_rewarded, -1), s.stake_rewarded, s.staking_period, e.memo,
  coalesce(n.account_id, e.node_account_id), e.public_key
from (select * from address_book where file_id = $1 order by start_consensus_timestamp desc limit 1) b
join address_book_entry e on e.consensus_timestamp = b.start_consensus_timestamp
left join node n on n.node_id = e.node_id
left join node_stake s on s.consensus_timestamp = (select max(consensus_timestamp) from node_stake) and s.node_id = e.node_id
join unnest((select $2::bigint[])) with ordinality p(key, ord) on e.node_id = p.key order by p.ord, e.node_id;
select p.ord, coalesce(e.domain_name, ''), coalesce(e.ip_address_v4, ''), e.port
from (select $1::bigint as book, $2::bigint as node, 1::bigint as ord) p join address_book_service_endpoint e on e.consensus_timestamp = p.book
and e.node_id = p.node order by p.ord, e.ip_address_v4, e.port;
select p.owner, r.registered_node_id, r.admin_key, r.created_timestamp, r.deleted, r.description,
  r.service_endpoints, lower(r.timestamp_range), upper(r.timestamp_range), r.type
from (select distinct * from unnest((select $1::bigint[]), (select $2::bigint[])) as p(owner, id)) p join registered_node r on r.registered_node_id = p.id where r.deleted is false order by p.owner, p.id;

-- numbers of NFTs that are not deleted
/* enable_bitmapscan = off */ select c.ord, count(*) from (select n.ord, n.token_id, n.serial_number, n.account_id, n.created_timestamp, n.delegating_spender,
  n.deleted or coalesce(e.deleted, false), n.metadata, n.spender, lower(n.timestamp_range),
  upper(n.timestamp_range)
from (select p.ord, n.* from unnest((select $1::bigint[])) with ordinality p(id, ord) cross join lateral (select array(select e.id from (select distinct token_id from nft n where n.account_id = p.id) n
  join entity e on e.id = n.token_id and e.deleted) as tokens offset 0) gone cross join lateral (select n.token_id, n.serial_number, n.account_id, n.created_timestamp, n.delegating_spender, n.deleted, n.metadata, n.spender, n.timestamp_range
  from nft n where n.account_id = p.id and (coalesce(n.deleted, false) or n.token_id = any(gone.tokens)) = $2 order by n.token_id asc, n.serial_number asc limit $3) n) n left join entity e on e.id = n.token_id order by n.ord, n.token_id asc, n.serial_number asc) c group by c.ord;

-- numbers of NFTs that are not deleted, distributed
/* enable_bitmapscan = off */ select c.ord, count(*) from (with page as materialized (select p.ord, n.* from (select $1::bigint as id, 1::bigint as ord) p cross join lateral (select n.token_id, n.serial_number, n.account_id, n.created_timestamp, n.delegating_spender, n.deleted, n.metadata, n.spender, n.timestamp_range
  from nft n where n.account_id = $1::bigint and (coalesce(n.deleted, false) or coalesce((select deleted from entity where id = n.token_id), false)) = $2 order by n.token_id asc, n.serial_number asc limit $3) n),
entity as materialized (select * from entity where id in (select token_id from page))
select n.ord, n.token_id, n.serial_number, n.account_id, n.created_timestamp, n.delegating_spender,
  n.deleted or coalesce(e.deleted, false), n.metadata, n.spender, lower(n.timestamp_range),
  upper(n.timestamp_range)
from page n left join entity e on e.id = n.token_id order by n.ord, n.token_id asc, n.serial_number asc) c group by c.ord;

-- numbers of holders
select p.ord, n.*
from unnest((select $1::bigint[])) with ordinality p(id, ord) cross join lateral (
  select count(*), count(*) filter (where associated
and balance > 0) from (select * from token_account where token_id = p.id limit $2 + 1) h) n;
select p.ord, n.*
from unnest((select $1::bigint[])) with ordinality p(id, ord) cross join lateral (
  select count(*) from (select 1 from token_account where token_id = p.id limit $2 + 1) h) n;

-- numbers of holders, distributed
select p.ord, n.*
from (select $1::bigint as id, 1::bigint as ord) p cross join lateral (
  select count(*), count(*) filter (where associated
and balance > 0) from (select * from token_account where token_id = $1::bigint limit $2 + 1) h) n;
select p.ord, n.*
from (select $1::bigint as id, 1::bigint as ord) p cross join lateral (
  select count(*) from (select 1 from token_account where token_id = $1::bigint limit $2 + 1) h) n;

-- numbers of messages
select p.ord, coalesce((select sequence_number from topic_message
where topic_id = p.id order by consensus_timestamp desc limit 1) - (select sequence_number from topic_message
where topic_id = p.id order by consensus_timestamp limit 1) + 1, 0)
from unnest((select $1::bigint[])) with ordinality p(id, ord) order by p.ord;

-- numbers of messages, distributed
select p.ord, coalesce((select sequence_number from topic_message
where topic_id = $1::bigint order by consensus_timestamp desc limit 1) - (select sequence_number from topic_message
where topic_id = $1::bigint order by consensus_timestamp limit 1) + 1, 0)
from (select $1::bigint as id, 1::bigint as ord) p order by p.ord;

-- prices of gas
select v.since, v.last, string_agg(d.file_data, '' order by d.consensus_timestamp), v.ords
from (
  select s.since, l.last, array_agg(w.ord) as ords from unnest((select $2::bigint[])) with ordinality w(until, ord)
  cross join lateral (select consensus_timestamp as since from file_data where entity_id = $1 and consensus_timestamp <= w.until
    and transaction_type in (17, 19) order by consensus_timestamp desc limit 1) s
  cross join lateral (select consensus_timestamp as last from file_data where entity_id = $1 and consensus_timestamp between s.since and w.until
    order by consensus_timestamp desc limit 1) l
  group by s.since, l.last) v join file_data d on d.entity_id = $1 and d.consensus_timestamp between v.since and v.last group by v.since, v.last, v.ords;

-- prices of gas, distributed
with page as materialized (
  select s.since, l.last, array_agg(w.ord) as ords from unnest($2::bigint[]) with ordinality w(until, ord)
  cross join lateral (select consensus_timestamp as since from file_data where entity_id = $1 and consensus_timestamp <= w.until
    and transaction_type in (17, 19) order by consensus_timestamp desc limit 1) s
  cross join lateral (select consensus_timestamp as last from file_data where entity_id = $1 and consensus_timestamp between s.since and w.until
    order by consensus_timestamp desc limit 1) l
  group by s.since, l.last),
file_data as materialized (select * from file_data where entity_id = $1)
select v.since, v.last, string_agg(d.file_data, '' order by d.consensus_timestamp), v.ords
from page v join file_data d on d.entity_id = $1 and d.consensus_timestamp between v.since and v.last group by v.since, v.last, v.ords;

-- relationships of accounts
select r.ord, r.account_id, r.token_id, r.automatic_association, r.balance, r.created_timestamp,
  lower(r.timestamp_range), upper(r.timestamp_range), t.decimals,
  coalesce(r.freeze_status, t.freeze_status), coalesce(r.kyc_status, t.kyc_status)
from (select p.ord, r.* from unnest((select $1::bigint[])) with ordinality p(id, ord) cross join lateral (
  select * from token_account r where r.account_id = p.id and r.associated and (r.token_id) < ($2) order by r.token_id desc limit 25) r) r left join token t on t.token_id = r.token_id order by r.ord, r.token_id desc;

-- relationships of accounts, distributed
with page as materialized (select p.ord, r.* from (select $1::bigint as id, 1::bigint as ord) p cross join lateral (
  select * from token_account r where r.account_id = $1::bigint and r.associated and (r.token_id) < ($2) order by r.token_id desc limit 25) r),
token as materialized (select * from token where token_id in (select token_id from page))
select r.ord, r.account_id, r.token_id, r.automatic_association, r.balance, r.created_timestamp,
  lower(r.timestamp_range), upper(r.timestamp_range), t.decimals,
  coalesce(r.freeze_status, t.freeze_status), coalesce(r.kyc_status, t.kyc_status)
from page r left join token t on t.token_id = r.token_id order by r.ord, r.token_id desc;

-- slots of hooks
select p.ord, p.owner, p.id, s.key, s.value, s.at
from unnest((select $1::bigint[]), (select $2::bigint[])) with ordinality p(owner, id, ord) cross join lateral (select s.key, s.value, s.modified_timestamp as at from hook_storage s where s.owner_id = p.owner and s.hook_id = p.id and not s.deleted order by s.key asc limit 25) s order by p.ord, s.key asc;

-- slots of hooks at a time
select p.ord, p.owner, p.id, s.key, s.value, s.at
from unnest((select $1::bigint[]), (select $2::bigint[])) with ordinality p(owner, id, ord) cross join lateral (select k.key, c.value, c.at from (select distinct s.key as key from hook_storage_change s where s.owner_id = p.owner and s.hook_id = p.id and s.consensus_timestamp between $3 and $4 order by s.key asc limit 25) k
  cross join lateral (select s.value_written as value, s.consensus_timestamp as at from hook_storage_change s where s.owner_id = p.owner and s.hook_id = p.id and s.key = k.key and s.consensus_timestamp between $3 and $4
    order by s.consensus_timestamp desc limit 1) c) s order by p.ord, s.key asc;

-- slots of hooks at a time, distributed
select p.ord, p.owner, p.id, s.key, s.value, s.at
from (select $1::bigint as owner, $2::bigint as id, 1::bigint as ord) p cross join lateral (select k.key, c.value, c.at from (select distinct s.key as key from hook_storage_change s where s.owner_id = $1::bigint and s.hook_id = $2::bigint and s.consensus_timestamp between $3 and $4 order by s.key asc limit 25) k
  cross join lateral (select s.value_written as value, s.consensus_timestamp as at from hook_storage_change s where s.owner_id = $1::bigint and s.hook_id = $2::bigint and s.key = k.key and s.consensus_timestamp between $3 and $4
    order by s.consensus_timestamp desc limit 1) c) s order by p.ord, s.key asc;

-- slots of hooks, distributed
select p.ord, p.owner, p.id, s.key, s.value, s.at
from (select $1::bigint as owner, $2::bigint as id, 1::bigint as ord) p cross join lateral (select s.key, s.value, s.modified_timestamp as at from hook_storage s where s.owner_id = $1::bigint and s.hook_id = $2::bigint and not s.deleted order by s.key asc limit 25) s order by p.ord, s.key asc;

-- staking rewards
/* enable_bitmapscan = off */ select p.ord, r.account_id, r.amount, r.consensus_timestamp
from unnest((select $1::bigint[])) with ordinality p(id, ord) cross join lateral (
  select * from staking_reward_transfer r where r.account_id = p.id and (r.consensus_timestamp) < ($2) order by r.consensus_timestamp desc limit 25) r order by p.ord, r.consensus_timestamp desc;

-- staking rewards, distributed
/* enable_bitmapscan = off */ select p.ord, r.account_id, r.amount, r.consensus_timestamp
from (select $1::bigint as id, 1::bigint as ord) p cross join lateral (
  select * from staking_reward_transfer r where r.account_id = $1::bigint and (r.consensus_timestamp) < ($2) order by r.consensus_timestamp desc limit 25) r order by p.ord, r.consensus_timestamp desc;

-- supply, now and at a time
select coalesce(sum(balance), 0)::bigint, coalesce(max(balance_timestamp), 0)
from entity where id between 2 and 2 or id between 42 and 42 or id between 44 and 71 or id between 73 and 87 or id between 99 and 100 or id between 200 and 349 or id between 400 and 750;
select coalesce(sum(held.balance), 0)::bigint, coalesce(max(held.consensus_timestamp), 0)
from unnest((select $1::bigint[])) a(id) cross join lateral (
  select balance, consensus_timestamp from account_balance
  where account_id = a.id and consensus_timestamp between $2 and $3 order by consensus_timestamp desc limit 1) held;

-- supply, now and at a time, distributed
select coalesce(sum(balance), 0)::bigint, coalesce(max(balance_timestamp), 0)
from entity where id between 2 and 2 or id between 42 and 42 or id between 44 and 71 or id between 73 and 87 or id between 99 and 100 or id between 200 and 349 or id between 400 and 750;
select coalesce(sum(held.balance), 0)::bigint, coalesce(max(held.consensus_timestamp), 0)
from unnest($1::bigint[]) a(id) cross join lateral (
  select balance, consensus_timestamp from account_balance
  where account_id = a.id and consensus_timestamp between $2 and $3 order by consensus_timestamp desc limit 1) held;

-- token allowances, granted and received
select p.ord, a.owner, a.spender, a.token_id, a.amount, a.amount_granted, lower(a.timestamp_range),
  upper(a.timestamp_range)
from unnest((select $1::bigint[])) with ordinality p(id, ord) cross join lateral (select * from token_allowance a where a.owner = p.id and a.amount > 0 and (a.spender, a.token_id) < ($2, $3) order by a.spender asc, a.token_id asc limit 25) a order by p.ord, a.spender asc, a.token_id asc;
select p.ord, a.owner, a.spender, a.token_id, a.amount, a.amount_granted, lower(a.timestamp_range),
  upper(a.timestamp_range)
from unnest((select $1::bigint[])) with ordinality p(id, ord) join (
  select a.*, row_number() over (partition by a.spender order by a.owner asc, a.token_id asc) as place from token_allowance a
  where a.spender = any($1) and a.amount > 0 and (a.owner, a.token_id) < ($2, $3)) a on a.spender = p.id where a.place <= $4 order by p.ord, a.owner asc, a.token_id asc;

-- token allowances, granted and received, distributed
select p.ord, a.owner, a.spender, a.token_id, a.amount, a.amount_granted, lower(a.timestamp_range),
  upper(a.timestamp_range)
from (select $1::bigint as id, 1::bigint as ord) p cross join lateral (select * from token_allowance a where a.owner = $1::bigint and a.amount > 0 and (a.spender, a.token_id) < ($2, $3) order by a.spender asc, a.token_id asc limit 25) a order by p.ord, a.spender asc, a.token_id asc;
select p.ord, a.owner, a.spender, a.token_id, a.amount, a.amount_granted, lower(a.timestamp_range),
  upper(a.timestamp_range)
from (select $1::bigint as id, 1::bigint as ord) p join (
  select a.*, row_number() over (partition by a.spender order by a.owner asc, a.token_id asc) as place from token_allowance a
  where a.spender = $1 and a.amount > 0 and (a.owner, a.token_id) < ($2, $3)) a on a.spender = $1::bigint where a.place <= $4 order by p.ord, a.owner asc, a.token_id asc;

-- token balances, now and of a snapshot
select p.ord, t.token_id, t.balance
from unnest((select $1::bigint[])) with ordinality p(id, ord) cross join lateral (select token_id, balance from token_account where account_id = p.id and associated order by token_id asc limit $2) t order by p.ord, t.token_id asc;
select p.ord, t.token_id, t.balance
from (select $1::bigint as id, 1::bigint as ord) p cross join lateral (select distinct on (token_id) token_id, balance from token_balance
  where account_id = p.id and consensus_timestamp between $3 and $4
  order by token_id asc, consensus_timestamp desc limit $2) t order by p.ord, t.token_id asc;

-- token balances, now and of a snapshot, distributed
select p.ord, t.token_id, t.balance
from (select $1::bigint as id, 1::bigint as ord) p cross join lateral (select token_id, balance from token_account where account_id = $1::bigint and associated order by token_id asc limit $2) t order by p.ord, t.token_id asc;
select p.ord, t.token_id, t.balance
from (select $1::bigint as id, 1::bigint as ord) p cross join lateral (select distinct on (token_id) token_id, balance from token_balance
  where account_id = $1::bigint and consensus_timestamp between $3 and $4
  order by token_id asc, consensus_timestamp desc limit $2) t order by p.ord, t.token_id asc;

-- token, now and at a time
select t.token_id, t.type, e.key, e.auto_renew_account_id, e.auto_renew_period, t.created_timestamp,
  t.decimals, e.deleted, e.expiration_timestamp, t.fee_schedule_key, t.freeze_default, t.freeze_key,
  t.initial_supply, t.kyc_key, t.max_supply, e.memo, t.metadata, t.metadata_key, t.name, t.pause_key,
  t.pause_status, t.supply_key, t.supply_type, t.symbol,
  greatest(lower(t.timestamp_range), lower(e.timestamp_range)),
  least(upper(t.timestamp_range), upper(e.timestamp_range)), t.total_supply,
  t.treasury_account_id, t.wipe_key, f.entity_id is not null, f.fixed_fees, f.fractional_fees, f.royalty_fees, lower(f.timestamp_range) from (select * from token where token_id = $1) t join (select * from entity where id = $1) e on e.id = t.token_id
left join (select * from custom_fee where entity_id = $1) f on f.entity_id = t.token_id;
select t.token_id, t.type, e.key, e.auto_renew_account_id, e.auto_renew_period, t.created_timestamp,
  t.decimals, e.deleted, e.expiration_timestamp, t.fee_schedule_key, t.freeze_default, t.freeze_key,
  t.initial_supply, t.kyc_key, t.max_supply, e.memo, t.metadata, t.metadata_key, t.name, t.pause_key,
  t.pause_status, t.supply_key, t.supply_type, t.symbol,
  greatest(lower(t.timestamp_range), lower(e.timestamp_range)),
  least(upper(t.timestamp_range), upper(e.timestamp_range)), t.total_supply,
  t.treasury_account_id, t.wipe_key, f.entity_id is not null, f.fixed_fees, f.fractional_fees, f.royalty_fees, lower(f.timestamp_range) from (select * from ((select * from token where token_id = $1 and lower(timestamp_range) <= $2 order by lower(timestamp_range) desc limit 1) union all (select * from token_history where token_id = $1 and lower(timestamp_range) <= $2 order by lower(timestamp_range) desc limit 1)) v order by lower(timestamp_range) desc limit 1) t join (select * from ((select * from entity where id = $1 and lower(timestamp_range) <= $2 order by lower(timestamp_range) desc limit 1) union all (select * from entity_history where id = $1 and lower(timestamp_range) <= $2 order by lower(timestamp_range) desc limit 1)) v order by lower(timestamp_range) desc limit 1) e on e.id = t.token_id
left join (select * from ((select * from custom_fee where entity_id = $1 and lower(timestamp_range) <= $2 order by lower(timestamp_range) desc limit 1) union all (select * from custom_fee_history where entity_id = $1 and lower(timestamp_range) <= $2 order by lower(timestamp_range) desc limit 1)) v order by lower(timestamp_range) desc limit 1) f on f.entity_id = t.token_id;

-- token, now and at a time, distributed
select t.token_id, t.type, e.key, e.auto_renew_account_id, e.auto_renew_period, t.created_timestamp,
  t.decimals, e.deleted, e.expiration_timestamp, t.fee_schedule_key, t.freeze_default, t.freeze_key,
  t.initial_supply, t.kyc_key, t.max_supply, e.memo, t.metadata, t.metadata_key, t.name, t.pause_key,
  t.pause_status, t.supply_key, t.supply_type, t.symbol,
  greatest(lower(t.timestamp_range), lower(e.timestamp_range)),
  least(upper(t.timestamp_range), upper(e.timestamp_range)), t.total_supply,
  t.treasury_account_id, t.wipe_key, f.entity_id is not null, f.fixed_fees, f.fractional_fees, f.royalty_fees, lower(f.timestamp_range) from (select * from token where token_id = $1) t join (select * from entity where id = $1) e on e.id = t.token_id
left join (select * from custom_fee where entity_id = $1) f on f.entity_id = t.token_id;
select t.token_id, t.type, e.key, e.auto_renew_account_id, e.auto_renew_period, t.created_timestamp,
  t.decimals, e.deleted, e.expiration_timestamp, t.fee_schedule_key, t.freeze_default, t.freeze_key,
  t.initial_supply, t.kyc_key, t.max_supply, e.memo, t.metadata, t.metadata_key, t.name, t.pause_key,
  t.pause_status, t.supply_key, t.supply_type, t.symbol,
  greatest(lower(t.timestamp_range), lower(e.timestamp_range)),
  least(upper(t.timestamp_range), upper(e.timestamp_range)), t.total_supply,
  t.treasury_account_id, t.wipe_key, f.entity_id is not null, f.fixed_fees, f.fractional_fees, f.royalty_fees, lower(f.timestamp_range) from (select * from ((select * from token where token_id = $1 and lower(timestamp_range) <= $2 order by lower(timestamp_range) desc limit 1) union all (select * from token_history where token_id = $1 and lower(timestamp_range) <= $2 order by lower(timestamp_range) desc limit 1)) v order by lower(timestamp_range) desc limit 1) t join (select * from ((select * from entity where id = $1 and lower(timestamp_range) <= $2 order by lower(timestamp_range) desc limit 1) union all (select * from entity_history where id = $1 and lower(timestamp_range) <= $2 order by lower(timestamp_range) desc limit 1)) v order by lower(timestamp_range) desc limit 1) e on e.id = t.token_id
left join (select * from ((select * from custom_fee where entity_id = $1 and lower(timestamp_range) <= $2 order by lower(timestamp_range) desc limit 1) union all (select * from custom_fee_history where entity_id = $1 and lower(timestamp_range) <= $2 order by lower(timestamp_range) desc limit 1)) v order by lower(timestamp_range) desc limit 1) f on f.entity_id = t.token_id;

-- tokens by id, their decimals and their fees
select t.token_id, t.type, e.key, e.auto_renew_account_id, e.auto_renew_period, t.created_timestamp,
  t.decimals, e.deleted, e.expiration_timestamp, t.fee_schedule_key, t.freeze_default, t.freeze_key,
  t.initial_supply, t.kyc_key, t.max_supply, e.memo, t.metadata, t.metadata_key, t.name, t.pause_key,
  t.pause_status, t.supply_key, t.supply_type, t.symbol,
  greatest(lower(t.timestamp_range), lower(e.timestamp_range)),
  least(upper(t.timestamp_range), upper(e.timestamp_range)), t.total_supply,
  t.treasury_account_id, t.wipe_key from token t join entity e on e.id = t.token_id where t.token_id = any((select $1::bigint[])::bigint[]);
select token_id, decimals from token where token_id = any((select $1::bigint[])::bigint[]);
select f.entity_id, f.entity_id is not null, f.fixed_fees, f.fractional_fees, f.royalty_fees, lower(f.timestamp_range) from custom_fee f where f.entity_id = any((select $1::bigint[])::bigint[]);

-- tokens by id, their decimals and their fees, distributed
select t.token_id, t.type, e.key, e.auto_renew_account_id, e.auto_renew_period, t.created_timestamp,
  t.decimals, e.deleted, e.expiration_timestamp, t.fee_schedule_key, t.freeze_default, t.freeze_key,
  t.initial_supply, t.kyc_key, t.max_supply, e.memo, t.metadata, t.metadata_key, t.name, t.pause_key,
  t.pause_status, t.supply_key, t.supply_type, t.symbol,
  greatest(lower(t.timestamp_range), lower(e.timestamp_range)),
  least(upper(t.timestamp_range), upper(e.timestamp_range)), t.total_supply,
  t.treasury_account_id, t.wipe_key from token t join entity e on e.id = t.token_id where t.token_id = any($1::bigint[]::bigint[]);
select token_id, decimals from token where token_id = any($1::bigint[]::bigint[]);
select f.entity_id, f.entity_id is not null, f.fixed_fees, f.fractional_fees, f.royalty_fees, lower(f.timestamp_range) from custom_fee f where f.entity_id = any($1::bigint[]::bigint[]);

-- tokens of an account and a treasury
select t.token_id, t.type, e.key, e.auto_renew_account_id, e.auto_renew_period, t.created_timestamp,
  t.decimals, e.deleted, e.expiration_timestamp, t.fee_schedule_key, t.freeze_default, t.freeze_key,
  t.initial_supply, t.kyc_key, t.max_supply, e.memo, t.metadata, t.metadata_key, t.name, t.pause_key,
  t.pause_status, t.supply_key, t.supply_type, t.symbol,
  greatest(lower(t.timestamp_range), lower(e.timestamp_range)),
  least(upper(t.timestamp_range), upper(e.timestamp_range)), t.total_supply,
  t.treasury_account_id, t.wipe_key
from token t join entity e on e.id = t.token_id join token_account a on a.token_id = t.token_id and a.associated and a.account_id = $1 join token_account o on o.token_id = t.token_id and o.account_id = $2 and t.treasury_account_id = $2 where true and (t.token_id) < ($3) order by t.token_id desc limit 25;

-- tokens of an account and a treasury, distributed
with token_account as materialized (select * from token_account where account_id in ($1, $2))
select t.token_id, t.type, e.key, e.auto_renew_account_id, e.auto_renew_period, t.created_timestamp,
  t.decimals, e.deleted, e.expiration_timestamp, t.fee_schedule_key, t.freeze_default, t.freeze_key,
  t.initial_supply, t.kyc_key, t.max_supply, e.memo, t.metadata, t.metadata_key, t.name, t.pause_key,
  t.pause_status, t.supply_key, t.supply_type, t.symbol,
  greatest(lower(t.timestamp_range), lower(e.timestamp_range)),
  least(upper(t.timestamp_range), upper(e.timestamp_range)), t.total_supply,
  t.treasury_account_id, t.wipe_key
from token t join entity e on e.id = t.token_id join token_account a on a.token_id = t.token_id and a.associated and a.account_id = $1 join token_account o on o.token_id = t.token_id and o.account_id = $2 and t.treasury_account_id = $2 where true and (t.token_id) < ($3) order by t.token_id desc limit 25;

-- tokens with a name
select t.token_id, t.type, e.key, e.auto_renew_account_id, e.auto_renew_period, t.created_timestamp,
  t.decimals, e.deleted, e.expiration_timestamp, t.fee_schedule_key, t.freeze_default, t.freeze_key,
  t.initial_supply, t.kyc_key, t.max_supply, e.memo, t.metadata, t.metadata_key, t.name, t.pause_key,
  t.pause_status, t.supply_key, t.supply_type, t.symbol,
  greatest(lower(t.timestamp_range), lower(e.timestamp_range)),
  least(upper(t.timestamp_range), upper(e.timestamp_range)), t.total_supply,
  t.treasury_account_id, t.wipe_key
from (select * from token where name ilike $1 order by length(name), token_id limit $2) t join entity e on e.id = t.token_id order by length(t.name), t.token_id;

-- tokens with a name, distributed
with page as materialized (select * from token where name ilike $1 order by length(name), token_id limit $2),
entity as materialized (select * from entity where id in (select token_id from page))
select t.token_id, t.type, e.key, e.auto_renew_account_id, e.auto_renew_period, t.created_timestamp,
  t.decimals, e.deleted, e.expiration_timestamp, t.fee_schedule_key, t.freeze_default, t.freeze_key,
  t.initial_supply, t.kyc_key, t.max_supply, e.memo, t.metadata, t.metadata_key, t.name, t.pause_key,
  t.pause_status, t.supply_key, t.supply_type, t.symbol,
  greatest(lower(t.timestamp_range), lower(e.timestamp_range)),
  least(upper(t.timestamp_range), upper(e.timestamp_range)), t.total_supply,
  t.treasury_account_id, t.wipe_key
from page t join entity e on e.id = t.token_id order by length(t.name), t.token_id;

-- topics by id
select t.id, t.admin_key, t.fee_exempt_key_list, t.fee_schedule_key, t.submit_key, e.id is not null,
  e.auto_renew_account_id, e.auto_renew_period, e.created_timestamp, e.deleted,
  e.expiration_timestamp, e.memo, lower(e.timestamp_range), upper(e.timestamp_range),
  f.entity_id is not null, f.fixed_fees, lower(f.timestamp_range)
from topic t left join entity e on e.id = t.id left join custom_fee f on f.entity_id = t.id where t.id = any((select $1::bigint[])::bigint[]);

-- topics by id, distributed
select t.id, t.admin_key, t.fee_exempt_key_list, t.fee_schedule_key, t.submit_key, e.id is not null,
  e.auto_renew_account_id, e.auto_renew_period, e.created_timestamp, e.deleted,
  e.expiration_timestamp, e.memo, lower(e.timestamp_range), upper(e.timestamp_range),
  f.entity_id is not null, f.fixed_fees, lower(f.timestamp_range)
from topic t left join entity e on e.id = t.id left join custom_fee f on f.entity_id = t.id where t.id = any($1::bigint[]::bigint[]);

-- versions
/* enable_bitmapscan = off */ select v.ord, v.at, n0.row, b0.row, n1.row, b1.row, n2.row, b2.row
from (
  select p.*, t.at from unnest((select $1::bigint[])) with ordinality p(a, ord) cross join lateral (
    select at from ((select lower(timestamp_range) as at from entity where id = p.a and (lower(timestamp_range)) < ($2) order by lower(timestamp_range) desc limit 25) union (select lower(timestamp_range) as at from entity_history where id = p.a and (lower(timestamp_range)) < ($3) order by lower(timestamp_range) desc limit 25) union (select lower(timestamp_range) as at from token where token_id = p.a and (lower(timestamp_range)) < ($4) order by lower(timestamp_range) desc limit 25) union (select lower(timestamp_range) as at from token_history where token_id = p.a and (lower(timestamp_range)) < ($5) order by lower(timestamp_range) desc limit 25) union (select lower(timestamp_range) as at from custom_fee where entity_id = p.a and (lower(timestamp_range)) < ($6) order by lower(timestamp_range) desc limit 25) union (select lower(timestamp_range) as at from custom_fee_history where entity_id = p.a and (lower(timestamp_range)) < ($7) order by lower(timestamp_range) desc limit 25)) t order by at desc limit 25) t) v
left join lateral (select jsonb_build_array(key, auto_renew_account_id, auto_renew_period, deleted, expiration_timestamp, memo)::text as row from entity where id = v.a and lower(timestamp_range) = v.at union all select jsonb_build_array(key, auto_renew_account_id, auto_renew_period, deleted, expiration_timestamp, memo)::text as row from entity_history where id = v.a and lower(timestamp_range) = v.at limit 1) n0 on true
left join lateral (select jsonb_build_array(key, auto_renew_account_id, auto_renew_period, deleted, expiration_timestamp, memo)::text as row from entity_history where id = v.a and lower(timestamp_range) < v.at order by lower(timestamp_range) desc limit 1) b0 on true
left join lateral (select jsonb_build_array(fee_schedule_key, freeze_key, kyc_key, metadata, metadata_key, name, pause_key, pause_status, supply_key, symbol, total_supply, treasury_account_id, wipe_key)::text as row from token where token_id = v.a and lower(timestamp_range) = v.at union all select jsonb_build_array(fee_schedule_key, freeze_key, kyc_key, metadata, metadata_key, name, pause_key, pause_status, supply_key, symbol, total_supply, treasury_account_id, wipe_key)::text as row from token_history where token_id = v.a and lower(timestamp_range) = v.at limit 1) n1 on true
left join lateral (select jsonb_build_array(fee_schedule_key, freeze_key, kyc_key, metadata, metadata_key, name, pause_key, pause_status, supply_key, symbol, total_supply, treasury_account_id, wipe_key)::text as row from token_history where token_id = v.a and lower(timestamp_range) < v.at order by lower(timestamp_range) desc limit 1) b1 on true
left join lateral (select jsonb_build_array(fixed_fees, fractional_fees, royalty_fees)::text as row from custom_fee where entity_id = v.a and lower(timestamp_range) = v.at union all select jsonb_build_array(fixed_fees, fractional_fees, royalty_fees)::text as row from custom_fee_history where entity_id = v.a and lower(timestamp_range) = v.at limit 1) n2 on true
left join lateral (select jsonb_build_array(fixed_fees, fractional_fees, royalty_fees)::text as row from custom_fee_history where entity_id = v.a and lower(timestamp_range) < v.at order by lower(timestamp_range) desc limit 1) b2 on true
order by v.ord, v.at desc;
/* enable_bitmapscan = off */ select v.ord, v.at, n0.row, b0.row
from (
  select p.*, t.at from unnest((select $1::bigint[]), (select $2::bigint[])) with ordinality p(a, b, ord) cross join lateral (
    select at from ((select lower(timestamp_range) as at from nft where token_id = p.a and serial_number = p.b and (lower(timestamp_range)) < ($3) order by lower(timestamp_range) desc limit 25) union (select lower(timestamp_range) as at from nft_history where token_id = p.a and serial_number = p.b and (lower(timestamp_range)) < ($4) order by lower(timestamp_range) desc limit 25)) t order by at desc limit 25) t) v
left join lateral (select jsonb_build_array(account_id, delegating_spender, deleted, metadata, spender)::text as row from nft where token_id = v.a and serial_number = v.b and lower(timestamp_range) = v.at union all select jsonb_build_array(account_id, delegating_spender, deleted, metadata, spender)::text as row from nft_history where token_id = v.a and serial_number = v.b and lower(timestamp_range) = v.at limit 1) n0 on true
left join lateral (select jsonb_build_array(account_id, delegating_spender, deleted, metadata, spender)::text as row from nft_history where token_id = v.a and serial_number = v.b and lower(timestamp_range) < v.at order by lower(timestamp_range) desc limit 1) b0 on true
order by v.ord, v.at desc;

-- versions, distributed
/* enable_bitmapscan = off */ select v.ord, v.at, n0.row, b0.row, n1.row, b1.row, n2.row, b2.row
from (
  select p.*, t.at from (select $1::bigint as a, 1::bigint as ord) p cross join lateral (
    select at from ((select lower(timestamp_range) as at from entity where id = $1::bigint and (lower(timestamp_range)) < ($2) order by lower(timestamp_range) desc limit 25) union (select lower(timestamp_range) as at from entity_history where id = $1::bigint and (lower(timestamp_range)) < ($3) order by lower(timestamp_range) desc limit 25) union (select lower(timestamp_range) as at from token where token_id = $1::bigint and (lower(timestamp_range)) < ($4) order by lower(timestamp_range) desc limit 25) union (select lower(timestamp_range) as at from token_history where token_id = $1::bigint and (lower(timestamp_range)) < ($5) order by lower(timestamp_range) desc limit 25) union (select lower(timestamp_range) as at from custom_fee where entity_id = $1::bigint and (lower(timestamp_range)) < ($6) order by lower(timestamp_range) desc limit 25) union (select lower(timestamp_range) as at from custom_fee_history where entity_id = $1::bigint and (lower(timestamp_range)) < ($7) order by lower(timestamp_range) desc limit 25)) t order by at desc limit 25) t) v
left join lateral (select jsonb_build_array(key, auto_renew_account_id, auto_renew_period, deleted, expiration_timestamp, memo)::text as row from entity where id = v.a and lower(timestamp_range) = v.at union all select jsonb_build_array(key, auto_renew_account_id, auto_renew_period, deleted, expiration_timestamp, memo)::text as row from entity_history where id = v.a and lower(timestamp_range) = v.at limit 1) n0 on true
left join lateral (select jsonb_build_array(key, auto_renew_account_id, auto_renew_period, deleted, expiration_timestamp, memo)::text as row from entity_history where id = v.a and lower(timestamp_range) < v.at order by lower(timestamp_range) desc limit 1) b0 on true
left join lateral (select jsonb_build_array(fee_schedule_key, freeze_key, kyc_key, metadata, metadata_key, name, pause_key, pause_status, supply_key, symbol, total_supply, treasury_account_id, wipe_key)::text as row from token where token_id = v.a and lower(timestamp_range) = v.at union all select jsonb_build_array(fee_schedule_key, freeze_key, kyc_key, metadata, metadata_key, name, pause_key, pause_status, supply_key, symbol, total_supply, treasury_account_id, wipe_key)::text as row from token_history where token_id = v.a and lower(timestamp_range) = v.at limit 1) n1 on true
left join lateral (select jsonb_build_array(fee_schedule_key, freeze_key, kyc_key, metadata, metadata_key, name, pause_key, pause_status, supply_key, symbol, total_supply, treasury_account_id, wipe_key)::text as row from token_history where token_id = v.a and lower(timestamp_range) < v.at order by lower(timestamp_range) desc limit 1) b1 on true
left join lateral (select jsonb_build_array(fixed_fees, fractional_fees, royalty_fees)::text as row from custom_fee where entity_id = v.a and lower(timestamp_range) = v.at union all select jsonb_build_array(fixed_fees, fractional_fees, royalty_fees)::text as row from custom_fee_history where entity_id = v.a and lower(timestamp_range) = v.at limit 1) n2 on true
left join lateral (select jsonb_build_array(fixed_fees, fractional_fees, royalty_fees)::text as row from custom_fee_history where entity_id = v.a and lower(timestamp_range) < v.at order by lower(timestamp_range) desc limit 1) b2 on true
order by v.ord, v.at desc;
/* enable_bitmapscan = off */ select v.ord, v.at, n0.row, b0.row
from (
  select p.*, t.at from (select $1::bigint as a, $2::bigint as b, 1::bigint as ord) p cross join lateral (
    select at from ((select lower(timestamp_range) as at from nft where token_id = $1::bigint and serial_number = $2::bigint and (lower(timestamp_range)) < ($3) order by lower(timestamp_range) desc limit 25) union (select lower(timestamp_range) as at from nft_history where token_id = $1::bigint and serial_number = $2::bigint and (lower(timestamp_range)) < ($4) order by lower(timestamp_range) desc limit 25)) t order by at desc limit 25) t) v
left join lateral (select jsonb_build_array(account_id, delegating_spender, deleted, metadata, spender)::text as row from nft where token_id = v.a and serial_number = v.b and lower(timestamp_range) = v.at union all select jsonb_build_array(account_id, delegating_spender, deleted, metadata, spender)::text as row from nft_history where token_id = v.a and serial_number = v.b and lower(timestamp_range) = v.at limit 1) n0 on true
left join lateral (select jsonb_build_array(account_id, delegating_spender, deleted, metadata, spender)::text as row from nft_history where token_id = v.a and serial_number = v.b and lower(timestamp_range) < v.at order by lower(timestamp_range) desc limit 1) b0 on true
order by v.ord, v.at desc;

-- what a fee depends on
select t.id from topic t join custom_fee f on f.entity_id = t.id where t.id = $1 and coalesce(f.fixed_fees, '[]') not in ('[]', 'null');
select t.token_id, t.type = 'NON_FUNGIBLE_UNIQUE', coalesce(f.fixed_fees, '[]') not in ('[]', 'null') or coalesce(f.fractional_fees, '[]') not in ('[]', 'null')
or coalesce(f.royalty_fees, '[]') not in ('[]', 'null')
from token t left join custom_fee f on f.entity_id = t.token_id where t.token_id = any((select $1::bigint[])::bigint[]);

-- what a fee depends on, distributed
select t.id from topic t join custom_fee f on f.entity_id = t.id where t.id = $1 and coalesce(f.fixed_fees, '[]') not in ('[]', 'null');
select t.token_id, t.type = 'NON_FUNGIBLE_UNIQUE', coalesce(f.fixed_fees, '[]') not in ('[]', 'null') or coalesce(f.fractional_fees, '[]') not in ('[]', 'null')
or coalesce(f.royalty_fees, '[]') not in ('[]', 'null')
from token t left join custom_fee f on f.entity_id = t.token_id where t.token_id = any($1::bigint[]::bigint[]);

