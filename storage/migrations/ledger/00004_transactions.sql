-- +goose Up
-- Transactions, their transfers and hashes.

-- Transactions in consensus order.
create table transaction (
    consensus_timestamp             bigint         not null,
    type                            smallint       not null,
    result                          smallint       not null,
    payer_account_id                entity_id      not null,
    valid_start_ns                  bigint         not null,
    valid_duration_seconds          bigint         null,
    node_account_id                 entity_id      null,
    entity_id                       entity_id      null,
    initial_balance                 bigint         null      default 0,
    max_fee                         hbar_tinybars  null,
    charged_tx_fee                  bigint         null,
    memo                            bytea          null,
    transaction_hash                bytea          null,
    transaction_bytes               bytea          null,
    scheduled                       boolean        not null  default false,
    nonce                           integer        not null  default 0,
    parent_consensus_timestamp      bigint         null,
    errata                          errata_type    null,
    index                           integer        null,
    nft_transfer                    jsonb          null,
    itemized_transfer               jsonb          null,
    transaction_record_bytes        bytea          null,
    max_custom_fees                 bytea[]        null,
    batch_key                       bytea          null,
    inner_transactions              bigint[]       null,
    high_volume                     boolean        not null  default false,
    congestion_pricing_multiplier   bigint         null,
    high_volume_pricing_multiplier  bigint         null,
    primary key (consensus_timestamp)
);
create index transaction__payer_account_id_consensus_ns on transaction (payer_account_id, consensus_timestamp);
create index transaction__transaction_id on transaction (valid_start_ns, payer_account_id);
create index transaction__type_consensus_timestamp on transaction (type, consensus_timestamp);

-- Hbar transfers, including fees. The sum of a transaction's amounts is zero.
create table crypto_transfer (
    entity_id            entity_id        not null,
    consensus_timestamp  nanos_timestamp  not null,
    amount               hbar_tinybars    not null,
    payer_account_id     bigint           not null,
    is_approval          boolean          null,
    errata               errata_type      null
);
create index crypto_transfer__consensus_timestamp on crypto_transfer (consensus_timestamp);
create index crypto_transfer__entity_id_consensus_timestamp
    on crypto_transfer (entity_id, consensus_timestamp)
    where entity_id <> 98;

-- Transaction hashes and Ethereum hashes, with payer and time. Partitioned by the first byte modulo 32.
create table transaction_hash (
    consensus_timestamp  bigint  not null,
    hash                 bytea   not null,
    payer_account_id     bigint  null,
    hash_suffix          bytea   null
) partition by list (mod(get_byte(hash, 0), 32));
create index transaction_hash__hash on transaction_hash using hash ((substring(hash from 1 for 32)));
-- +goose StatementBegin
do $$
begin
    for i in 0..31 loop
        execute format('create table %I partition of transaction_hash for values in (%s)',
                       'transaction_hash_' || lpad(i::text, 2, '0'), i);
    end loop;
end
$$;
-- +goose StatementEnd

-- Signatures of transactions, by default only of those that create or sign schedules.
create table transaction_signature (
    consensus_timestamp  bigint    not null,
    public_key_prefix    bytea     not null,
    entity_id            bigint    null,
    signature            bytea     not null,
    type                 smallint  null
);
create index transaction_signature__entity_id
    on transaction_signature (entity_id desc, consensus_timestamp desc);

-- Scheduled transactions and their execution times.
create table schedule (
    consensus_timestamp  bigint   not null,
    creator_account_id   bigint   not null,
    executed_timestamp   bigint   null,
    payer_account_id     bigint   not null,
    schedule_id          bigint   not null,
    transaction_body     bytea    not null,
    expiration_time      bigint   null,
    wait_for_expiry      boolean  not null  default false,
    primary key (schedule_id)
);
create index schedule__creator_account_id on schedule (creator_account_id desc);

-- Random numbers that transactions requested.
create table prng (
    consensus_timestamp  bigint   not null,
    range                integer  not null,
    prng_bytes           bytea    null,
    prng_number          integer  null,
    payer_account_id     bigint   not null,
    primary key (consensus_timestamp)
);
