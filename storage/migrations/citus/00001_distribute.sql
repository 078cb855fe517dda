-- +goose Up
-- Distributes the tables of an empty database over the workers of a Citus cluster. Tables of the group of entity have the rows of an entity on one worker.
-- Keys contain the distribution column, and columns have no domains.

-- +goose StatementBegin
do $$
begin
    if to_regclass('pg_dist_node') is null then
        raise exception 'the database does not have the extension citus';
    end if;
    if exists (select from record_file) or exists (select from entity) or exists (select from transaction) then
        raise exception 'the ledger tables are not empty';
    end if;
end
$$;
-- +goose StatementEnd

alter table contract_action drop constraint contract_action_pkey, add primary key (consensus_timestamp, index, payer_account_id);
alter table contract_log drop constraint contract_log_pkey, add primary key (consensus_timestamp, index, contract_id);
alter table contract_result drop constraint contract_result_pkey, add primary key (consensus_timestamp, contract_id);
alter table ethereum_transaction drop constraint ethereum_transaction_pkey, add primary key (consensus_timestamp, payer_account_id);
alter table file_data drop constraint file_data_pkey;
alter table network_freeze drop constraint network_freeze_pkey, add primary key (consensus_timestamp, payer_account_id);
alter table prng drop constraint prng_pkey, add primary key (consensus_timestamp, payer_account_id);
alter table staking_reward_transfer drop constraint staking_reward_transfer_pkey,
    add primary key (consensus_timestamp, account_id, payer_account_id);
alter table transaction drop constraint transaction_pkey;
create index transaction__consensus_timestamp on transaction (consensus_timestamp);

-- The hash has 32 bytes, by which the table is distributed. The rest is the suffix.
drop table transaction_hash;
create table transaction_hash (
    consensus_timestamp  bigint  not null,
    hash                 bytea   not null,
    payer_account_id     bigint  null,
    hash_suffix          bytea   null
);
create index transaction_hash__hash on transaction_hash using hash (hash);
-- +goose StatementBegin
create or replace function get_transaction_info_by_hash(bytea)
    returns table (consensus_timestamp bigint, hash bytea, payer_account_id bigint)
    language plpgsql
    stable
    strict
    rows 1
as $$
begin
    return query select t.consensus_timestamp, t.hash || coalesce(t.hash_suffix, ''), t.payer_account_id from public.transaction_hash t where t.hash = $1;
end
$$;
-- +goose StatementEnd

-- +goose StatementBegin
do $$
declare
    item record;
begin
    for item in
        select relname, attname from pg_class
        join pg_attribute on attrelid = pg_class.oid and attnum > 0
        join pg_type on pg_type.oid = atttypid and typtype = 'd'
        where relnamespace = 'public'::regnamespace and relkind = 'r' and not relispartition
    loop
        execute format('alter table public.%I alter column %I type bigint', item.relname, item.attname);
    end loop;
end
$$;
-- +goose StatementEnd

select create_distributed_table('entity', 'id', colocate_with => 'none');
select create_distributed_table('assessed_custom_fee', 'payer_account_id', colocate_with => 'entity');
select create_distributed_table('contract', 'id', colocate_with => 'entity');
select create_distributed_table('contract_action', 'payer_account_id', colocate_with => 'entity');
select create_distributed_table('contract_log', 'contract_id', colocate_with => 'entity');
select create_distributed_table('contract_result', 'contract_id', colocate_with => 'entity');
select create_distributed_table('contract_state', 'contract_id', colocate_with => 'entity');
select create_distributed_table('contract_state_change', 'contract_id', colocate_with => 'entity');
select create_distributed_table('contract_transaction', 'entity_id', colocate_with => 'entity');
select create_distributed_table('contract_transaction_hash', 'hash', colocate_with => 'none');
select create_distributed_table('crypto_allowance', 'owner', colocate_with => 'entity');
select create_distributed_table('crypto_allowance_history', 'owner', colocate_with => 'entity');
select create_distributed_table('crypto_transfer', 'payer_account_id', colocate_with => 'entity');
select create_distributed_table('custom_fee', 'entity_id', colocate_with => 'entity');
select create_distributed_table('custom_fee_history', 'entity_id', colocate_with => 'entity');
select create_distributed_table('entity_history', 'id', colocate_with => 'entity');
select create_distributed_table('entity_stake', 'id', colocate_with => 'entity');
select create_distributed_table('entity_stake_history', 'id', colocate_with => 'entity');
select create_distributed_table('entity_transaction', 'entity_id', colocate_with => 'entity');
select create_distributed_table('ethereum_transaction', 'payer_account_id', colocate_with => 'entity');
select create_distributed_table('file_data', 'entity_id', colocate_with => 'entity');
select create_distributed_table('hook', 'owner_id', colocate_with => 'entity');
select create_distributed_table('hook_history', 'owner_id', colocate_with => 'entity');
select create_distributed_table('hook_storage', 'owner_id', colocate_with => 'entity');
select create_distributed_table('hook_storage_change', 'owner_id', colocate_with => 'entity');
select create_distributed_table('network_freeze', 'payer_account_id', colocate_with => 'entity');
select create_distributed_table('nft', 'token_id', colocate_with => 'entity');
select create_distributed_table('nft_allowance', 'owner', colocate_with => 'entity');
select create_distributed_table('nft_allowance_history', 'owner', colocate_with => 'entity');
select create_distributed_table('nft_history', 'token_id', colocate_with => 'entity');
select create_distributed_table('prng', 'payer_account_id', colocate_with => 'entity');
select create_distributed_table('schedule', 'schedule_id', colocate_with => 'entity');
select create_distributed_table('staking_reward_transfer', 'account_id', colocate_with => 'entity');
select create_distributed_table('token', 'token_id', colocate_with => 'entity');
select create_distributed_table('token_account', 'account_id', colocate_with => 'entity');
select create_distributed_table('token_account_history', 'account_id', colocate_with => 'entity');
select create_distributed_table('token_airdrop', 'receiver_account_id', colocate_with => 'entity');
select create_distributed_table('token_airdrop_history', 'receiver_account_id', colocate_with => 'entity');
select create_distributed_table('token_allowance', 'owner', colocate_with => 'entity');
select create_distributed_table('token_allowance_history', 'owner', colocate_with => 'entity');
select create_distributed_table('token_history', 'token_id', colocate_with => 'entity');
select create_distributed_table('token_transfer', 'payer_account_id', colocate_with => 'entity');
select create_distributed_table('topic', 'id', colocate_with => 'entity');
select create_distributed_table('topic_history', 'id', colocate_with => 'entity');
select create_distributed_table('topic_message', 'topic_id', colocate_with => 'entity');
select create_distributed_table('topic_message_lookup', 'topic_id', colocate_with => 'entity');
select create_distributed_table('transaction', 'payer_account_id', colocate_with => 'entity');
select create_distributed_table('transaction_hash', 'hash', colocate_with => 'none');
select create_distributed_table('transaction_signature', 'entity_id', colocate_with => 'entity');
select create_reference_table('account_balance_file');
