-- current state
select index, hash, consensus_start, consensus_end, hapi_version_major, hapi_version_minor from record_file  order by index desc limit 1;
select w.address, e.id, e.type::text, e.evm_address, e.alias, e.balance, e.ethereum_nonce, e.delegation_address, e.key,
e.receiver_sig_required, c.runtime_bytecode
from (
  select id, null::bytea as address from entity where id = any((select $1::bigint[])::bigint[])
  union all
  select e.id, a.address from unnest((select $2::bytea[])) a(address) join entity e on e.evm_address = a.address or e.alias = a.address
  where e.deleted is not true) w join entity e on e.id = w.id and e.deleted is not true left join contract c on c.id = e.id and not c.id = any($3);
select w.ord, s.value from unnest((select $1::bigint[]), (select $2::bytea[])) with ordinality w(contract, slot, ord)
join contract_state s on s.contract_id = w.contract
and s.slot = w.slot;
select t.token_id, t.type, e.key, e.auto_renew_account_id, e.auto_renew_period, t.created_timestamp,
  t.decimals, e.deleted, e.expiration_timestamp, t.fee_schedule_key, t.freeze_default, t.freeze_key,
  t.initial_supply, t.kyc_key, t.max_supply, e.memo, t.metadata, t.metadata_key, t.name, t.pause_key,
  t.pause_status, t.supply_key, t.supply_type, t.symbol,
  greatest(lower(t.timestamp_range), lower(e.timestamp_range)),
  least(upper(t.timestamp_range), upper(e.timestamp_range)), t.total_supply,
  t.treasury_account_id, t.wipe_key, t.kyc_status, f.entity_id is not null, f.fixed_fees, f.fractional_fees, f.royalty_fees, lower(f.timestamp_range) from token t join entity e on e.id = t.token_id and e.type = 'TOKEN' and e.deleted is not true
left join custom_fee f on f.entity_id = t.token_id where t.token_id = any($1);
select a.account_id, a.token_id, a.balance, coalesce(a.freeze_status, t.freeze_status), coalesce(a.kyc_status, t.kyc_status), a.automatic_association
from (select distinct * from unnest($1::bigint[], $2::bigint[]) w(account, token)) w
join token_account a on a.account_id = w.account and a.token_id = w.token and a.associated join token t on t.token_id = a.token_id;
select n.token_id, n.serial_number, n.account_id, n.created_timestamp, n.delegating_spender,
  n.deleted or coalesce(e.deleted, false), n.metadata, n.spender, lower(n.timestamp_range),
  upper(n.timestamp_range) from unnest($1::bigint[], $2::bigint[]) w(token, serial)
join nft n on n.token_id = w.token and n.serial_number = w.serial join entity e on e.id = n.token_id
where n.deleted is not true and e.deleted is not true;
select w.owner, w.spender, w.token, coalesce(t.amount, h.amount) from unnest($1::bigint[], $2::bigint[], $3::bigint[]) w(owner, spender, token)
left join token_allowance t on t.owner = w.owner and t.spender = w.spender and t.token_id = w.token and w.token <> 0
left join crypto_allowance h on h.owner = w.owner and h.spender = w.spender and w.token = 0
where coalesce(t.amount, h.amount) is not null;
select w.owner, w.spender, w.token, 1::bigint from unnest($1::bigint[], $2::bigint[], $3::bigint[]) w(owner, spender, token)
join nft_allowance a on a.owner = w.owner and a.spender = w.spender and a.token_id = w.token and a.approved_for_all;
select e.id, coalesce(e.max_automatic_token_associations, 0)::bigint,
  (select count(*) from token_account where account_id = e.id and associated and automatic_association) from entity e where e.id = any($1);
select w.id, coalesce((select max(serial_number) from nft where token_id = w.id), 0), 0::bigint from unnest($1::bigint[]) w(id);
select w.sender, w.receiver, w.token, w.serial, coalesce(a.amount, 0)
from unnest(@senders::bigint[], @receivers::bigint[], @tokens::bigint[], @serials::bigint[]) w(sender, receiver, token, serial)
join token_airdrop a on sender_account_id = w.sender and receiver_account_id = w.receiver and token_id = w.token and serial_number = w.serial and a.state = 'PENDING';

-- current state, distributed
select index, hash, consensus_start, consensus_end, hapi_version_major, hapi_version_minor from record_file  order by index desc limit 1;
with page as materialized (
  select id, null::bytea as address from entity where id = any($1::bigint[]::bigint[])
  union all
  select e.id, a.address from unnest($2::bytea[]) a(address) join entity e on e.evm_address = a.address or e.alias = a.address
  where e.deleted is not true),
entity as materialized (select * from entity where id in (select id from page) and deleted is not true),
contract as materialized (select * from contract where id in (select id from entity) and not id = any($3))
select w.address, e.id, e.type::text, e.evm_address, e.alias, e.balance, e.ethereum_nonce, e.delegation_address, e.key,
e.receiver_sig_required, c.runtime_bytecode
from page w join entity e on e.id = w.id and e.deleted is not true left join contract c on c.id = e.id and not c.id = any($3);
select w.ord, s.value from unnest($1::bigint[], $2::bytea[]) with ordinality w(contract, slot, ord)
join contract_state s on s.contract_id = w.contract
and s.slot = w.slot;
with token as materialized (select * from token where token_id = any($1::bigint[])),
entity as materialized (select * from entity where id = any($1::bigint[])),
custom_fee as materialized (select * from custom_fee where entity_id = any($1::bigint[]))
select t.token_id, t.type, e.key, e.auto_renew_account_id, e.auto_renew_period, t.created_timestamp,
  t.decimals, e.deleted, e.expiration_timestamp, t.fee_schedule_key, t.freeze_default, t.freeze_key,
  t.initial_supply, t.kyc_key, t.max_supply, e.memo, t.metadata, t.metadata_key, t.name, t.pause_key,
  t.pause_status, t.supply_key, t.supply_type, t.symbol,
  greatest(lower(t.timestamp_range), lower(e.timestamp_range)),
  least(upper(t.timestamp_range), upper(e.timestamp_range)), t.total_supply,
  t.treasury_account_id, t.wipe_key, t.kyc_status, f.entity_id is not null, f.fixed_fees, f.fractional_fees, f.royalty_fees, lower(f.timestamp_range) from token t join entity e on e.id = t.token_id and e.type = 'TOKEN' and e.deleted is not true
left join custom_fee f on f.entity_id = t.token_id where t.token_id = any($1);
with token_account as materialized (select * from token_account where account_id = any($1::bigint[]) and token_id = any($2::bigint[])),
token as materialized (select * from token where token_id = any($2::bigint[]))
select a.account_id, a.token_id, a.balance, coalesce(a.freeze_status, t.freeze_status), coalesce(a.kyc_status, t.kyc_status), a.automatic_association
from (select distinct * from unnest($1::bigint[], $2::bigint[]) w(account, token)) w
join token_account a on a.account_id = w.account and a.token_id = w.token and a.associated join token t on t.token_id = a.token_id;
with nft as materialized (select * from nft where token_id = any($1::bigint[]) and serial_number = any($2::bigint[])),
entity as materialized (select * from entity where id = any($1::bigint[]))
select n.token_id, n.serial_number, n.account_id, n.created_timestamp, n.delegating_spender,
  n.deleted or coalesce(e.deleted, false), n.metadata, n.spender, lower(n.timestamp_range),
  upper(n.timestamp_range) from unnest($1::bigint[], $2::bigint[]) w(token, serial)
join nft n on n.token_id = w.token and n.serial_number = w.serial join entity e on e.id = n.token_id
where n.deleted is not true and e.deleted is not true;
with token_allowance as materialized (select * from token_allowance where owner = any($1::bigint[]) and spender = any($2::bigint[]) and token_id = any($3::bigint[])),
crypto_allowance as materialized (select * from crypto_allowance where owner = any($1::bigint[]) and spender = any($2::bigint[]))
select w.owner, w.spender, w.token, coalesce(t.amount, h.amount) from unnest($1::bigint[], $2::bigint[], $3::bigint[]) w(owner, spender, token)
left join token_allowance t on t.owner = w.owner and t.spender = w.spender and t.token_id = w.token and w.token <> 0
left join crypto_allowance h on h.owner = w.owner and h.spender = w.spender and w.token = 0
where coalesce(t.amount, h.amount) is not null;
with nft_allowance as materialized (select * from nft_allowance where owner = any($1::bigint[]) and spender = any($2::bigint[]) and token_id = any($3::bigint[]))
select w.owner, w.spender, w.token, 1::bigint from unnest($1::bigint[], $2::bigint[], $3::bigint[]) w(owner, spender, token)
join nft_allowance a on a.owner = w.owner and a.spender = w.spender and a.token_id = w.token and a.approved_for_all;
with token_account as materialized (select * from token_account where account_id = any($1::bigint[])),
entity as materialized (select * from entity where id = any($1::bigint[]))
select e.id, coalesce(e.max_automatic_token_associations, 0)::bigint,
  (select count(*) from token_account where account_id = e.id and associated and automatic_association) from entity e where e.id = any($1);
with nft as materialized (select token_id, created_timestamp, max(serial_number) as serial_number
  from nft where token_id = any($1::bigint[]) group by token_id, created_timestamp)
select w.id, coalesce((select max(serial_number) from nft where token_id = w.id), 0), 0::bigint from unnest($1::bigint[]) w(id);
with token_airdrop as materialized (select * from token_airdrop where sender_account_id = any(@senders::bigint[]) and receiver_account_id = any(@receivers::bigint[]) and token_id = any(@tokens::bigint[]) and serial_number = any(@serials::bigint[]))
select w.sender, w.receiver, w.token, w.serial, coalesce(a.amount, 0)
from unnest(@senders::bigint[], @receivers::bigint[], @tokens::bigint[], @serials::bigint[]) w(sender, receiver, token, serial)
join token_airdrop a on sender_account_id = w.sender and receiver_account_id = w.receiver and token_id = w.token and serial_number = w.serial and a.state = 'PENDING';

-- former state
select index, hash, consensus_start, consensus_end, hapi_version_major, hapi_version_minor from record_file where index = $1  limit 1;
select w.address, e.id, e.type::text, e.evm_address, e.alias, e.balance, e.ethereum_nonce, e.delegation_address, e.key,
e.receiver_sig_required, c.runtime_bytecode from (
  select id, null::bytea as address from unnest((select $1::bigint[])) id
  union all
  select f.id, a.address from unnest((select $2::bytea[])) a(address) cross join lateral (
    select id from entity where (evm_address = a.address or alias = a.address) and created_timestamp <= $4 order by created_timestamp desc limit 1) f) w
cross join lateral (
  select * from (
    (select id, type, evm_address, alias, ethereum_nonce, delegation_address, key, receiver_sig_required, deleted, created_timestamp,
  lower(timestamp_range) as since from entity where id = w.id and lower(timestamp_range) <= $4)
    union all
    (select id, type, evm_address, alias, ethereum_nonce, delegation_address, key, receiver_sig_required, deleted, created_timestamp,
  lower(timestamp_range) as since from entity_history where id = w.id and lower(timestamp_range) <= $4 order by lower(timestamp_range) desc limit 1)) v
  order by since desc limit 1) v
cross join lateral (select v.id, v.type, v.evm_address, v.alias, v.ethereum_nonce, v.delegation_address, v.key, v.receiver_sig_required, v.deleted,
  case when v.created_timestamp > $4 then 0 else (select coalesce(own.balance, 0) + coalesce((select sum(amount)::bigint from crypto_transfer
      where entity_id = v.id and consensus_timestamp > coalesce(shot.at, 0) and consensus_timestamp <= $4 and errata is distinct from 'DELETE'), 0)
    from (select max(consensus_timestamp) as at from account_balance where account_id = $5 and consensus_timestamp > $6 and consensus_timestamp <= $4) shot
    left join lateral (select balance from account_balance where account_id = v.id and consensus_timestamp > greatest(shot.at - 2678400000000000, $7)
      and consensus_timestamp <= shot.at order by consensus_timestamp desc limit 1) own on true) end as balance) e
left join contract c on c.id = e.id and not c.id = any($3)
where e.deleted is not true;
select w.ord, s.value from unnest((select $1::bigint[]), (select $2::bytea[])) with ordinality w(contract, slot, ord)
cross join lateral (select coalesce(value_written, value_read) as value from contract_state_change
  where contract_id = w.contract and slot = w.slot and consensus_timestamp <= $3 order by consensus_timestamp desc limit 1) s;
select t.token_id, t.type, e.key, e.auto_renew_account_id, e.auto_renew_period, t.created_timestamp,
  t.decimals, e.deleted, e.expiration_timestamp, t.fee_schedule_key, t.freeze_default, t.freeze_key,
  t.initial_supply, t.kyc_key, t.max_supply, e.memo, t.metadata, t.metadata_key, t.name, t.pause_key,
  t.pause_status, t.supply_key, t.supply_type, t.symbol,
  greatest(lower(t.timestamp_range), lower(e.timestamp_range)),
  least(upper(t.timestamp_range), upper(e.timestamp_range)), t.total_supply,
  t.treasury_account_id, t.wipe_key, t.kyc_status, f.entity_id is not null, f.fixed_fees, f.fractional_fees, f.royalty_fees, lower(f.timestamp_range) from unnest($1::bigint[]) w(id)
cross join lateral (select * from ((select token_id, type, created_timestamp, decimals, fee_schedule_key, freeze_default, freeze_key, freeze_status, initial_supply, kyc_key,
  kyc_status, max_supply, metadata, metadata_key, name, pause_key, pause_status, supply_key, supply_type, symbol, timestamp_range, treasury_account_id,
wipe_key from token where token_id = w.id and lower(timestamp_range) <= $2) union all (select token_id, type, created_timestamp, decimals, fee_schedule_key, freeze_default, freeze_key, freeze_status, initial_supply, kyc_key,
  kyc_status, max_supply, metadata, metadata_key, name, pause_key, pause_status, supply_key, supply_type, symbol, timestamp_range, treasury_account_id,
wipe_key from token_history where token_id = w.id and lower(timestamp_range) <= $2 order by lower(timestamp_range) desc limit 1)) versions order by lower(timestamp_range) desc limit 1) v
cross join lateral (select v.*, (select case when t.type = 'FUNGIBLE_COMMON' then (select coalesce((select sum(b.balance) from (
      select distinct on (account_id) balance from token_balance where token_id = t.token_id
        and consensus_timestamp > greatest(shot.at - 2678400000000000, $3) and consensus_timestamp <= shot.at
      order by account_id, consensus_timestamp desc) b), 0)
    + coalesce((select sum(amount) from token_transfer where token_id = t.token_id and consensus_timestamp > coalesce(shot.at, 0)
and consensus_timestamp <= $2), 0)
    from (select max(consensus_timestamp) as at from account_balance where account_id = $4 and consensus_timestamp > $5
and consensus_timestamp <= $2) shot)::bigint
  else (select count(*) from nft where token_id = t.token_id and created_timestamp <= $2
and (deleted is not true or lower(timestamp_range) > $2)) end from (select v.token_id, v.type) t) as total_supply) t
cross join lateral (select * from ((select id, type, key, auto_renew_account_id, auto_renew_period, deleted, expiration_timestamp, memo, timestamp_range from entity where id = w.id and lower(timestamp_range) <= $2) union all (select id, type, key, auto_renew_account_id, auto_renew_period, deleted, expiration_timestamp, memo, timestamp_range from entity_history where id = w.id and lower(timestamp_range) <= $2 order by lower(timestamp_range) desc limit 1)) versions order by lower(timestamp_range) desc limit 1) e
left join lateral (select * from ((select entity_id, fixed_fees, fractional_fees, royalty_fees, timestamp_range from custom_fee where entity_id = w.id and lower(timestamp_range) <= $2) union all (select entity_id, fixed_fees, fractional_fees, royalty_fees, timestamp_range from custom_fee_history where entity_id = w.id and lower(timestamp_range) <= $2 order by lower(timestamp_range) desc limit 1)) versions order by lower(timestamp_range) desc limit 1) f on true
where e.type = 'TOKEN' and e.deleted is not true;
select a.account_id, a.token_id, case when t.type = 'FUNGIBLE_COMMON'
then (select coalesce((select balance from token_balance where account_id = a.account_id and token_id = a.token_id
        and consensus_timestamp > greatest(shot.at - 2678400000000000, $1) and consensus_timestamp <= shot.at
order by consensus_timestamp desc limit 1), 0)
      + coalesce((select sum(amount)::bigint from token_transfer where account_id = a.account_id and token_id = a.token_id
        and consensus_timestamp > coalesce(shot.at, 0) and consensus_timestamp <= $2), 0)
    from (select max(consensus_timestamp) as at from account_balance where account_id = $3 and consensus_timestamp > $4
and consensus_timestamp <= $2) shot)
  else (select count(*) from nft where account_id = a.account_id and token_id = a.token_id and lower(timestamp_range) <= $2 and deleted is not true)
    + (select count(*) from nft_history where account_id = a.account_id and token_id = a.token_id and timestamp_range @> $2::bigint
and deleted is not true) end, coalesce(a.freeze_status, t.freeze_status), coalesce(a.kyc_status, t.kyc_status), a.automatic_association
from (select distinct * from unnest($5::bigint[], $6::bigint[]) w(account, token)) w
cross join lateral (select * from ((select account_id, token_id, associated, freeze_status, kyc_status, automatic_association, timestamp_range from token_account where account_id = w.account and token_id = w.token and lower(timestamp_range) <= $2) union all (select account_id, token_id, associated, freeze_status, kyc_status, automatic_association, timestamp_range from token_account_history where account_id = w.account and token_id = w.token and lower(timestamp_range) <= $2 order by lower(timestamp_range) desc limit 1)) versions order by lower(timestamp_range) desc limit 1) a
join token t on t.token_id = a.token_id where a.associated;
select n.token_id, n.serial_number, n.account_id, n.created_timestamp, n.delegating_spender,
  n.deleted or coalesce(e.deleted, false), n.metadata, n.spender, lower(n.timestamp_range),
  upper(n.timestamp_range) from unnest($1::bigint[], $2::bigint[]) w(token, serial)
cross join lateral (select * from ((select token_id, serial_number, account_id, created_timestamp, delegating_spender, deleted, metadata, spender, timestamp_range from nft where token_id = w.token and serial_number = w.serial and lower(timestamp_range) <= $3) union all (select token_id, serial_number, account_id, created_timestamp, delegating_spender, deleted, metadata, spender, timestamp_range from nft_history where token_id = w.token and serial_number = w.serial and lower(timestamp_range) <= $3 order by lower(timestamp_range) desc limit 1)) versions order by lower(timestamp_range) desc limit 1) n
cross join lateral (select * from ((select id, deleted, timestamp_range from entity where id = w.token and lower(timestamp_range) <= $3) union all (select id, deleted, timestamp_range from entity_history where id = w.token and lower(timestamp_range) <= $3 order by lower(timestamp_range) desc limit 1)) versions order by lower(timestamp_range) desc limit 1) e
where n.deleted is not true and e.deleted is not true;
select w.owner, w.spender, w.token, coalesce(
  t.amount_granted + coalesce((select sum(amount) from token_transfer where account_id = w.owner and token_id = w.token and payer_account_id = w.spender
    and is_approval and consensus_timestamp > lower(t.timestamp_range) and consensus_timestamp <= $1), 0),
  h.amount_granted + coalesce((select sum(amount) from crypto_transfer where entity_id = w.owner and payer_account_id = w.spender
    and is_approval and consensus_timestamp > lower(h.timestamp_range) and consensus_timestamp <= $1 and errata is distinct from 'DELETE'),
0))::bigint from unnest($2::bigint[], $3::bigint[], $4::bigint[]) w(owner, spender, token)
left join lateral (select * from ((select amount_granted, timestamp_range from token_allowance where owner = w.owner and spender = w.spender and token_id = w.token and w.token <> 0 and lower(timestamp_range) <= $1) union all (select amount_granted, timestamp_range from token_allowance_history where owner = w.owner and spender = w.spender and token_id = w.token and w.token <> 0 and lower(timestamp_range) <= $1 order by lower(timestamp_range) desc limit 1)) versions order by lower(timestamp_range) desc limit 1) t on true
left join lateral (select * from ((select amount_granted, timestamp_range from crypto_allowance where owner = w.owner and spender = w.spender and w.token = 0 and lower(timestamp_range) <= $1) union all (select amount_granted, timestamp_range from crypto_allowance_history where owner = w.owner and spender = w.spender and w.token = 0 and lower(timestamp_range) <= $1 order by lower(timestamp_range) desc limit 1)) versions order by lower(timestamp_range) desc limit 1) h on true
where coalesce(t.amount_granted, h.amount_granted) is not null;
select w.owner, w.spender, w.token, 1::bigint from unnest($1::bigint[], $2::bigint[], $3::bigint[]) w(owner, spender, token)
cross join lateral (select * from ((select approved_for_all, timestamp_range from nft_allowance where owner = w.owner and spender = w.spender and token_id = w.token and lower(timestamp_range) <= $4) union all (select approved_for_all, timestamp_range from nft_allowance_history where owner = w.owner and spender = w.spender and token_id = w.token and lower(timestamp_range) <= $4 order by lower(timestamp_range) desc limit 1)) versions order by lower(timestamp_range) desc limit 1) a where a.approved_for_all;
select e.id, coalesce(e.max_automatic_token_associations, 0)::bigint, (select count(*) from token_account r
  cross join lateral (select * from ((select associated, automatic_association, timestamp_range from token_account where account_id = r.account_id and token_id = r.token_id and lower(timestamp_range) <= $1) union all (select associated, automatic_association, timestamp_range from token_account_history where account_id = r.account_id and token_id = r.token_id and lower(timestamp_range) <= $1 order by lower(timestamp_range) desc limit 1)) versions order by lower(timestamp_range) desc limit 1) a
  where r.account_id = e.id and a.associated and a.automatic_association)
from unnest($2::bigint[]) w(id)
cross join lateral (select * from ((select id, max_automatic_token_associations, timestamp_range from entity where id = w.id and lower(timestamp_range) <= $1) union all (select id, max_automatic_token_associations, timestamp_range from entity_history where id = w.id and lower(timestamp_range) <= $1 order by lower(timestamp_range) desc limit 1)) versions order by lower(timestamp_range) desc limit 1) e;
select w.id, coalesce((select max(serial_number) from nft where token_id = w.id and created_timestamp <= $1), 0), 0::bigint
from unnest($2::bigint[]) w(id);
select w.sender, w.receiver, w.token, w.serial, coalesce(a.amount, 0)
from unnest(@senders::bigint[], @receivers::bigint[], @tokens::bigint[], @serials::bigint[]) w(sender, receiver, token, serial)
cross join lateral (select * from ((select amount, state, timestamp_range from token_airdrop where sender_account_id = w.sender and receiver_account_id = w.receiver and token_id = w.token and serial_number = w.serial and lower(timestamp_range) <= @instant) union all (select amount, state, timestamp_range from token_airdrop_history where sender_account_id = w.sender and receiver_account_id = w.receiver and token_id = w.token and serial_number = w.serial and lower(timestamp_range) <= @instant order by lower(timestamp_range) desc limit 1)) versions order by lower(timestamp_range) desc limit 1) a where a.state = 'PENDING';

-- former state, distributed
select index, hash, consensus_start, consensus_end, hapi_version_major, hapi_version_minor from record_file where index = $1  limit 1;
with entity as materialized (select * from entity where id = any($1::bigint[]) or evm_address = any($2::bytea[]) or alias = any($2::bytea[])),
entity_history as materialized (select * from entity_history where id in (select id from entity) and lower(timestamp_range) <= $4),
contract as materialized (select * from contract where id in (select id from entity) and not id = any($3::bigint[])),
shot as materialized (select coalesce(max(consensus_timestamp), 0) as at from account_balance where account_id = $5 and consensus_timestamp > $6
  and consensus_timestamp <= $4),
crypto_transfer as materialized (select entity_id, $4::bigint as consensus_timestamp, sum(amount) as amount, null::text as errata from crypto_transfer
  where entity_id in (select id from entity) and consensus_timestamp > (select at from shot) and consensus_timestamp <= $4
  and errata is distinct from 'DELETE' group by entity_id)
select w.address, e.id, e.type::text, e.evm_address, e.alias, e.balance, e.ethereum_nonce, e.delegation_address, e.key,
e.receiver_sig_required, c.runtime_bytecode from (
  select id, null::bytea as address from unnest($1::bigint[]) id
  union all
  select f.id, a.address from unnest($2::bytea[]) a(address) cross join lateral (
    select id from entity where (evm_address = a.address or alias = a.address) and created_timestamp <= $4 order by created_timestamp desc limit 1) f) w
cross join lateral (
  select * from (
    (select id, type, evm_address, alias, ethereum_nonce, delegation_address, key, receiver_sig_required, deleted, created_timestamp,
  lower(timestamp_range) as since from entity where id = w.id and lower(timestamp_range) <= $4)
    union all
    (select id, type, evm_address, alias, ethereum_nonce, delegation_address, key, receiver_sig_required, deleted, created_timestamp,
  lower(timestamp_range) as since from entity_history where id = w.id and lower(timestamp_range) <= $4 order by lower(timestamp_range) desc limit 1)) v
  order by since desc limit 1) v
cross join lateral (select v.id, v.type, v.evm_address, v.alias, v.ethereum_nonce, v.delegation_address, v.key, v.receiver_sig_required, v.deleted,
  case when v.created_timestamp > $4 then 0 else (select coalesce(own.balance, 0) + coalesce((select sum(amount)::bigint from crypto_transfer
      where entity_id = v.id and consensus_timestamp > coalesce(shot.at, 0) and consensus_timestamp <= $4 and errata is distinct from 'DELETE'), 0)
    from (select max(consensus_timestamp) as at from account_balance where account_id = $5 and consensus_timestamp > $6 and consensus_timestamp <= $4) shot
    left join lateral (select balance from account_balance where account_id = v.id and consensus_timestamp > greatest(shot.at - 2678400000000000, $7)
      and consensus_timestamp <= shot.at order by consensus_timestamp desc limit 1) own on true) end as balance) e
left join contract c on c.id = e.id and not c.id = any($3)
where e.deleted is not true;
with contract_state_change as materialized (select distinct on (contract_id, slot) * from contract_state_change
  where contract_id = any($1::bigint[]) and slot = any($2::bytea[]) and consensus_timestamp <= $3 order by contract_id, slot, consensus_timestamp desc)
select w.ord, s.value from unnest($1::bigint[], $2::bytea[]) with ordinality w(contract, slot, ord)
cross join lateral (select coalesce(value_written, value_read) as value from contract_state_change
  where contract_id = w.contract and slot = w.slot and consensus_timestamp <= $3 order by consensus_timestamp desc limit 1) s;
with shot as materialized (select coalesce(max(at), 0) as at from (select max(consensus_timestamp) as at from account_balance where account_id = $1 and consensus_timestamp > $2
and consensus_timestamp <= $3) shot),
token_transfer as materialized (select account_id, token_id, $3::bigint as consensus_timestamp,
  sum(amount)::bigint as amount from token_transfer where token_id = any($4::bigint[])
  and consensus_timestamp > (select at from shot) and consensus_timestamp <= $3 group by account_id, token_id),
token as materialized (select * from token where token_id = any($4::bigint[])),
token_history as materialized (select * from token_history where token_id = any($4::bigint[]) and lower(timestamp_range) <= $3),
nft as materialized (select * from nft where token_id = any($4::bigint[])),
entity as materialized (select * from entity where id = any($4::bigint[])),
entity_history as materialized (select * from entity_history where id = any($4::bigint[]) and lower(timestamp_range) <= $3),
custom_fee as materialized (select * from custom_fee where entity_id = any($4::bigint[])),
custom_fee_history as materialized (select * from custom_fee_history where entity_id = any($4::bigint[]) and lower(timestamp_range) <= $3)
select t.token_id, t.type, e.key, e.auto_renew_account_id, e.auto_renew_period, t.created_timestamp,
  t.decimals, e.deleted, e.expiration_timestamp, t.fee_schedule_key, t.freeze_default, t.freeze_key,
  t.initial_supply, t.kyc_key, t.max_supply, e.memo, t.metadata, t.metadata_key, t.name, t.pause_key,
  t.pause_status, t.supply_key, t.supply_type, t.symbol,
  greatest(lower(t.timestamp_range), lower(e.timestamp_range)),
  least(upper(t.timestamp_range), upper(e.timestamp_range)), t.total_supply,
  t.treasury_account_id, t.wipe_key, t.kyc_status, f.entity_id is not null, f.fixed_fees, f.fractional_fees, f.royalty_fees, lower(f.timestamp_range) from unnest($4::bigint[]) w(id)
cross join lateral (select * from ((select token_id, type, created_timestamp, decimals, fee_schedule_key, freeze_default, freeze_key, freeze_status, initial_supply, kyc_key,
  kyc_status, max_supply, metadata, metadata_key, name, pause_key, pause_status, supply_key, supply_type, symbol, timestamp_range, treasury_account_id,
wipe_key from token where token_id = w.id and lower(timestamp_range) <= $3) union all (select token_id, type, created_timestamp, decimals, fee_schedule_key, freeze_default, freeze_key, freeze_status, initial_supply, kyc_key,
  kyc_status, max_supply, metadata, metadata_key, name, pause_key, pause_status, supply_key, supply_type, symbol, timestamp_range, treasury_account_id,
wipe_key from token_history where token_id = w.id and lower(timestamp_range) <= $3 order by lower(timestamp_range) desc limit 1)) versions order by lower(timestamp_range) desc limit 1) v
cross join lateral (select v.*, (select case when t.type = 'FUNGIBLE_COMMON' then (select coalesce((select sum(b.balance) from (
      select distinct on (account_id) balance from token_balance where token_id = t.token_id
        and consensus_timestamp > greatest(shot.at - 2678400000000000, $5) and consensus_timestamp <= shot.at
      order by account_id, consensus_timestamp desc) b), 0)
    + coalesce((select sum(amount) from token_transfer where token_id = t.token_id and consensus_timestamp > coalesce(shot.at, 0)
and consensus_timestamp <= $3), 0)
    from (select max(consensus_timestamp) as at from account_balance where account_id = $1 and consensus_timestamp > $2
and consensus_timestamp <= $3) shot)::bigint
  else (select count(*) from nft where token_id = t.token_id and created_timestamp <= $3
and (deleted is not true or lower(timestamp_range) > $3)) end from (select v.token_id, v.type) t) as total_supply) t
cross join lateral (select * from ((select id, type, key, auto_renew_account_id, auto_renew_period, deleted, expiration_timestamp, memo, timestamp_range from entity where id = w.id and lower(timestamp_range) <= $3) union all (select id, type, key, auto_renew_account_id, auto_renew_period, deleted, expiration_timestamp, memo, timestamp_range from entity_history where id = w.id and lower(timestamp_range) <= $3 order by lower(timestamp_range) desc limit 1)) versions order by lower(timestamp_range) desc limit 1) e
left join lateral (select * from ((select entity_id, fixed_fees, fractional_fees, royalty_fees, timestamp_range from custom_fee where entity_id = w.id and lower(timestamp_range) <= $3) union all (select entity_id, fixed_fees, fractional_fees, royalty_fees, timestamp_range from custom_fee_history where entity_id = w.id and lower(timestamp_range) <= $3 order by lower(timestamp_range) desc limit 1)) versions order by lower(timestamp_range) desc limit 1) f on true
where e.type = 'TOKEN' and e.deleted is not true;
with shot as materialized (select coalesce(max(at), 0) as at from (select max(consensus_timestamp) as at from account_balance where account_id = $1 and consensus_timestamp > $2
and consensus_timestamp <= $3) shot),
token_transfer as materialized (select account_id, token_id, $3::bigint as consensus_timestamp,
  sum(amount)::bigint as amount from token_transfer where account_id = any($4::bigint[]) and token_id = any($5::bigint[])
  and consensus_timestamp > (select at from shot) and consensus_timestamp <= $3 group by account_id, token_id),
nft as materialized (select * from nft where token_id = any($5::bigint[]) and account_id = any($4::bigint[])),
nft_history as materialized (select * from nft_history where token_id = any($5::bigint[]) and account_id = any($4::bigint[]) and lower(timestamp_range) <= $3),
token_account as materialized (select * from token_account where account_id = any($4::bigint[]) and token_id = any($5::bigint[])),
token_account_history as materialized (select * from token_account_history where account_id = any($4::bigint[]) and token_id = any($5::bigint[]) and lower(timestamp_range) <= $3),
token as materialized (select * from token where token_id = any($5::bigint[]))
select a.account_id, a.token_id, case when t.type = 'FUNGIBLE_COMMON'
then (select coalesce((select balance from token_balance where account_id = a.account_id and token_id = a.token_id
        and consensus_timestamp > greatest(shot.at - 2678400000000000, $6) and consensus_timestamp <= shot.at
order by consensus_timestamp desc limit 1), 0)
      + coalesce((select sum(amount)::bigint from token_transfer where account_id = a.account_id and token_id = a.token_id
        and consensus_timestamp > coalesce(shot.at, 0) and consensus_timestamp <= $3), 0)
    from (select max(consensus_timestamp) as at from account_balance where account_id = $1 and consensus_timestamp > $2
and consensus_timestamp <= $3) shot)
  else (select count(*) from nft where account_id = a.account_id and token_id = a.token_id and lower(timestamp_range) <= $3 and deleted is not true)
    + (select count(*) from nft_history where account_id = a.account_id and token_id = a.token_id and timestamp_range @> $3::bigint
and deleted is not true) end, coalesce(a.freeze_status, t.freeze_status), coalesce(a.kyc_status, t.kyc_status), a.automatic_association
from (select distinct * from unnest($4::bigint[], $5::bigint[]) w(account, token)) w
cross join lateral (select * from ((select account_id, token_id, associated, freeze_status, kyc_status, automatic_association, timestamp_range from token_account where account_id = w.account and token_id = w.token and lower(timestamp_range) <= $3) union all (select account_id, token_id, associated, freeze_status, kyc_status, automatic_association, timestamp_range from token_account_history where account_id = w.account and token_id = w.token and lower(timestamp_range) <= $3 order by lower(timestamp_range) desc limit 1)) versions order by lower(timestamp_range) desc limit 1) a
join token t on t.token_id = a.token_id where a.associated;
with nft as materialized (select * from nft where token_id = any($1::bigint[]) and serial_number = any($2::bigint[])),
nft_history as materialized (select * from nft_history where token_id = any($1::bigint[]) and serial_number = any($2::bigint[]) and lower(timestamp_range) <= $3),
entity as materialized (select * from entity where id = any($1::bigint[])),
entity_history as materialized (select * from entity_history where id = any($1::bigint[]) and lower(timestamp_range) <= $3)
select n.token_id, n.serial_number, n.account_id, n.created_timestamp, n.delegating_spender,
  n.deleted or coalesce(e.deleted, false), n.metadata, n.spender, lower(n.timestamp_range),
  upper(n.timestamp_range) from unnest($1::bigint[], $2::bigint[]) w(token, serial)
cross join lateral (select * from ((select token_id, serial_number, account_id, created_timestamp, delegating_spender, deleted, metadata, spender, timestamp_range from nft where token_id = w.token and serial_number = w.serial and lower(timestamp_range) <= $3) union all (select token_id, serial_number, account_id, created_timestamp, delegating_spender, deleted, metadata, spender, timestamp_range from nft_history where token_id = w.token and serial_number = w.serial and lower(timestamp_range) <= $3 order by lower(timestamp_range) desc limit 1)) versions order by lower(timestamp_range) desc limit 1) n
cross join lateral (select * from ((select id, deleted, timestamp_range from entity where id = w.token and lower(timestamp_range) <= $3) union all (select id, deleted, timestamp_range from entity_history where id = w.token and lower(timestamp_range) <= $3 order by lower(timestamp_range) desc limit 1)) versions order by lower(timestamp_range) desc limit 1) e
where n.deleted is not true and e.deleted is not true;
with token_transfer as materialized (select * from token_transfer where account_id = any($1::bigint[]) and token_id = any($2::bigint[]) and payer_account_id = any($3::bigint[])),
crypto_transfer as materialized (select * from crypto_transfer where entity_id = any($1::bigint[]) and payer_account_id = any($3::bigint[])),
token_allowance as materialized (select * from token_allowance where owner = any($1::bigint[]) and spender = any($3::bigint[]) and token_id = any($2::bigint[])),
token_allowance_history as materialized (select * from token_allowance_history where owner = any($1::bigint[]) and spender = any($3::bigint[]) and token_id = any($2::bigint[]) and lower(timestamp_range) <= $4),
crypto_allowance as materialized (select * from crypto_allowance where owner = any($1::bigint[]) and spender = any($3::bigint[])),
crypto_allowance_history as materialized (select * from crypto_allowance_history where owner = any($1::bigint[]) and spender = any($3::bigint[]) and lower(timestamp_range) <= $4)
select w.owner, w.spender, w.token, coalesce(
  t.amount_granted + coalesce((select sum(amount) from token_transfer where account_id = w.owner and token_id = w.token and payer_account_id = w.spender
    and is_approval and consensus_timestamp > lower(t.timestamp_range) and consensus_timestamp <= $4), 0),
  h.amount_granted + coalesce((select sum(amount) from crypto_transfer where entity_id = w.owner and payer_account_id = w.spender
    and is_approval and consensus_timestamp > lower(h.timestamp_range) and consensus_timestamp <= $4 and errata is distinct from 'DELETE'),
0))::bigint from unnest($1::bigint[], $3::bigint[], $2::bigint[]) w(owner, spender, token)
left join lateral (select * from ((select amount_granted, timestamp_range from token_allowance where owner = w.owner and spender = w.spender and token_id = w.token and w.token <> 0 and lower(timestamp_range) <= $4) union all (select amount_granted, timestamp_range from token_allowance_history where owner = w.owner and spender = w.spender and token_id = w.token and w.token <> 0 and lower(timestamp_range) <= $4 order by lower(timestamp_range) desc limit 1)) versions order by lower(timestamp_range) desc limit 1) t on true
left join lateral (select * from ((select amount_granted, timestamp_range from crypto_allowance where owner = w.owner and spender = w.spender and w.token = 0 and lower(timestamp_range) <= $4) union all (select amount_granted, timestamp_range from crypto_allowance_history where owner = w.owner and spender = w.spender and w.token = 0 and lower(timestamp_range) <= $4 order by lower(timestamp_range) desc limit 1)) versions order by lower(timestamp_range) desc limit 1) h on true
where coalesce(t.amount_granted, h.amount_granted) is not null;
with nft_allowance as materialized (select * from nft_allowance where owner = any($1::bigint[]) and spender = any($2::bigint[]) and token_id = any($3::bigint[])),
nft_allowance_history as materialized (select * from nft_allowance_history where owner = any($1::bigint[]) and spender = any($2::bigint[]) and token_id = any($3::bigint[]) and lower(timestamp_range) <= $4)
select w.owner, w.spender, w.token, 1::bigint from unnest($1::bigint[], $2::bigint[], $3::bigint[]) w(owner, spender, token)
cross join lateral (select * from ((select approved_for_all, timestamp_range from nft_allowance where owner = w.owner and spender = w.spender and token_id = w.token and lower(timestamp_range) <= $4) union all (select approved_for_all, timestamp_range from nft_allowance_history where owner = w.owner and spender = w.spender and token_id = w.token and lower(timestamp_range) <= $4 order by lower(timestamp_range) desc limit 1)) versions order by lower(timestamp_range) desc limit 1) a where a.approved_for_all;
with token_account as materialized (select * from token_account where account_id = any($1::bigint[])),
token_account_history as materialized (select * from token_account_history where account_id = any($1::bigint[]) and lower(timestamp_range) <= $2),
entity as materialized (select * from entity where id = any($1::bigint[])),
entity_history as materialized (select * from entity_history where id = any($1::bigint[]) and lower(timestamp_range) <= $2)
select e.id, coalesce(e.max_automatic_token_associations, 0)::bigint, (select count(*) from token_account r
  cross join lateral (select * from ((select associated, automatic_association, timestamp_range from token_account where account_id = r.account_id and token_id = r.token_id and lower(timestamp_range) <= $2) union all (select associated, automatic_association, timestamp_range from token_account_history where account_id = r.account_id and token_id = r.token_id and lower(timestamp_range) <= $2 order by lower(timestamp_range) desc limit 1)) versions order by lower(timestamp_range) desc limit 1) a
  where r.account_id = e.id and a.associated and a.automatic_association)
from unnest($1::bigint[]) w(id)
cross join lateral (select * from ((select id, max_automatic_token_associations, timestamp_range from entity where id = w.id and lower(timestamp_range) <= $2) union all (select id, max_automatic_token_associations, timestamp_range from entity_history where id = w.id and lower(timestamp_range) <= $2 order by lower(timestamp_range) desc limit 1)) versions order by lower(timestamp_range) desc limit 1) e;
with nft as materialized (select token_id, created_timestamp, max(serial_number) as serial_number
  from nft where token_id = any($1::bigint[]) group by token_id, created_timestamp)
select w.id, coalesce((select max(serial_number) from nft where token_id = w.id and created_timestamp <= $2), 0), 0::bigint
from unnest($1::bigint[]) w(id);
with token_airdrop as materialized (select * from token_airdrop where sender_account_id = any(@senders::bigint[]) and receiver_account_id = any(@receivers::bigint[]) and token_id = any(@tokens::bigint[]) and serial_number = any(@serials::bigint[])),
token_airdrop_history as materialized (select * from token_airdrop_history where sender_account_id = any(@senders::bigint[]) and receiver_account_id = any(@receivers::bigint[]) and token_id = any(@tokens::bigint[]) and serial_number = any(@serials::bigint[]) and lower(timestamp_range) <= @instant)
select w.sender, w.receiver, w.token, w.serial, coalesce(a.amount, 0)
from unnest(@senders::bigint[], @receivers::bigint[], @tokens::bigint[], @serials::bigint[]) w(sender, receiver, token, serial)
cross join lateral (select * from ((select amount, state, timestamp_range from token_airdrop where sender_account_id = w.sender and receiver_account_id = w.receiver and token_id = w.token and serial_number = w.serial and lower(timestamp_range) <= @instant) union all (select amount, state, timestamp_range from token_airdrop_history where sender_account_id = w.sender and receiver_account_id = w.receiver and token_id = w.token and serial_number = w.serial and lower(timestamp_range) <= @instant order by lower(timestamp_range) desc limit 1)) versions order by lower(timestamp_range) desc limit 1) a where a.state = 'PENDING';

-- input of a transaction
select (select type = $3 from transaction where consensus_timestamp = $1 limit 1),
  coalesce((select failed_initcode from contract_result where consensus_timestamp = $1 and contract_id = $2 limit 1), c.initcode),
  (select string_agg(d.file_data, '' order by d.consensus_timestamp) from file_data d
  where d.entity_id = c.file_id and d.consensus_timestamp <= $1 and d.consensus_timestamp >= (
    select max(consensus_timestamp) from file_data where entity_id = c.file_id and consensus_timestamp <= $1 and (transaction_type = 17 or transaction_type = 19 and length(file_data) > 0))), e.call_data, (select string_agg(d.file_data, '' order by d.consensus_timestamp) from file_data d
  where d.entity_id = e.call_data_id and d.consensus_timestamp <= $1 and d.consensus_timestamp >= (
    select max(consensus_timestamp) from file_data where entity_id = e.call_data_id and consensus_timestamp <= $1 and (transaction_type = 17 or transaction_type = 19 and length(file_data) > 0)))
from (select) one left join contract c on c.id = $2 left join ethereum_transaction e on e.consensus_timestamp = $1 limit 1;

-- input of a transaction, distributed
with transaction as materialized (select type, consensus_timestamp
from transaction where consensus_timestamp = $1),
contract_result as materialized (select * from contract_result where consensus_timestamp = $1 and contract_id = $2),
contract as materialized (select * from contract where id = $2),
ethereum_transaction as materialized (select * from ethereum_transaction where consensus_timestamp = $1),
file_data as materialized (select * from file_data where entity_id in (select file_id from contract union all select call_data_id from ethereum_transaction)
  and consensus_timestamp <= $1)
select (select type = $3 from transaction where consensus_timestamp = $1 limit 1),
  coalesce((select failed_initcode from contract_result where consensus_timestamp = $1 and contract_id = $2 limit 1), c.initcode),
  (select string_agg(d.file_data, '' order by d.consensus_timestamp) from file_data d
  where d.entity_id = c.file_id and d.consensus_timestamp <= $1 and d.consensus_timestamp >= (
    select max(consensus_timestamp) from file_data where entity_id = c.file_id and consensus_timestamp <= $1 and (transaction_type = 17 or transaction_type = 19 and length(file_data) > 0))), e.call_data, (select string_agg(d.file_data, '' order by d.consensus_timestamp) from file_data d
  where d.entity_id = e.call_data_id and d.consensus_timestamp <= $1 and d.consensus_timestamp >= (
    select max(consensus_timestamp) from file_data where entity_id = e.call_data_id and consensus_timestamp <= $1 and (transaction_type = 17 or transaction_type = 19 and length(file_data) > 0)))
from (select) one left join contract c on c.id = $2 left join ethereum_transaction e on e.consensus_timestamp = $1 limit 1;

