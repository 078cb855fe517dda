-- +goose Up
-- Extensions, types and the staging schema of the ledger's tables.
--
-- Roles are not created: they belong to the whole server, and the operator decides who may read. A reader needs usage on the schema public and select on its
-- tables.

-- For the gist index on (account_id, timestamp_range) of nft_history.
create extension if not exists btree_gist with schema public;
-- For searches in token names.
create extension if not exists pg_trgm with schema public;

create type airdrop_state        as enum ('CANCELLED', 'CLAIMED', 'PENDING');
create type entity_type          as enum ('UNKNOWN', 'ACCOUNT', 'CONTRACT', 'FILE', 'TOPIC', 'TOKEN', 'SCHEDULE');
create type errata_type          as enum ('INSERT', 'DELETE');
create type hook_extension_point as enum ('ACCOUNT_ALLOWANCE_HOOK');
create type hook_type            as enum ('EVM');
create type token_pause_status   as enum ('NOT_APPLICABLE', 'PAUSED', 'UNPAUSED');
create type token_supply_type    as enum ('INFINITE', 'FINITE');
create type token_type           as enum ('FUNGIBLE_COMMON', 'NON_FUNGIBLE_UNIQUE');

-- Shard, realm and number in one integer: 10, 16 and 38 bits.
create domain entity_id        as bigint;
-- Not used by a table, but part of the schema that writers expect.
create domain entity_num       as integer;
create domain entity_realm_num as smallint;
create domain entity_type_id   as character(1);
-- 10^-8 hbar.
create domain hbar_tinybars    as bigint;
-- Nanoseconds since the Unix epoch.
create domain nanos_timestamp  as bigint;

-- Writers stage their bulk upserts in this schema. create_temp_table_safe creates the tables.
create schema if not exists temporary;

-- Writers name staging tables without their schema. A database that already has a search path is not changed, nor is one that the migrating role does not
-- own.
-- +goose StatementBegin
do $$
begin
    if not exists (select
                   from pg_db_role_setting, unnest(setconfig) as setting
                   where setdatabase = (select oid from pg_database where datname = current_database())
                     and setrole = 0
                     and setting like 'search_path=%') then
        execute format('alter database %I set search_path = public, temporary', current_database());
    end if;
exception
    when insufficient_privilege then
        raise notice 'search_path of database % stays as it is', current_database();
end
$$;
-- +goose StatementEnd
