-- +goose Up
-- Accounts and other entities, their balances, stakes and hbar allowances.

-- Accounts, contracts, files, topics, tokens and schedules: current versions.
create table entity (
    auto_renew_account_id             bigint             null,
    auto_renew_period                 bigint             null,
    created_timestamp                 bigint             null,
    deleted                           boolean            null,
    expiration_timestamp              bigint             null,
    id                                bigint             not null,
    key                               bytea              null,
    memo                              text               not null  default '',
    num                               bigint             not null,
    public_key                        character varying  null,
    proxy_account_id                  bigint             null,
    realm                             bigint             not null,
    shard                             bigint             not null,
    receiver_sig_required             boolean            null,
    max_automatic_token_associations  integer            null,
    timestamp_range                   int8range          not null,
    type                              entity_type        not null  default 'UNKNOWN',
    alias                             bytea              null,
    ethereum_nonce                    bigint             null      default 0,
    evm_address                       bytea              null,
    decline_reward                    boolean            not null  default false,
    staked_account_id                 bigint             null,
    staked_node_id                    bigint             null      default -1,
    stake_period_start                bigint             null      default -1,
    obtainer_id                       bigint             null,
    permanent_removal                 boolean            null,
    balance                           bigint             null,
    balance_timestamp                 bigint             null,
    delegation_address                bytea              null,
    primary key (id)
);
create index entity__alias on entity (alias) where alias is not null;
create index entity__evm_address on entity (evm_address) where evm_address is not null;
create index entity__public_key_type on entity (public_key, type) where public_key is not null;
create index entity__type_id on entity (type, id);

-- Earlier versions of entities.
create table entity_history (like entity including defaults);
create index entity_history__alias on entity_history (alias) where alias is not null;
create index entity_history__evm_address on entity_history (evm_address) where evm_address is not null;
create index entity_history__id_lower_timestamp on entity_history (id, lower(timestamp_range));
create index entity_history__timestamp_range on entity_history using gist (timestamp_range);

-- Stake and pending reward of each account that stakes to a node, as of the last staking period.
create table entity_stake (
    end_stake_period      bigint     not null,
    id                    bigint     not null,
    pending_reward        bigint     not null,
    staked_node_id_start  bigint     not null,
    staked_to_me          bigint     not null,
    stake_total_start     bigint     not null,
    timestamp_range       int8range  not null,
    primary key (id)
);

-- Earlier versions of stakes.
create table entity_stake_history (like entity_stake including defaults);
create index entity_stake_history__id_lower_timestamp on entity_stake_history (id, lower(timestamp_range));
create index entity_stake_history__timestamp_range on entity_stake_history using gist (timestamp_range);

-- Entities that are related to transactions. Filled only if the writer is configured to do so.
create table entity_transaction (
    consensus_timestamp  bigint    not null,
    entity_id            bigint    not null,
    payer_account_id     bigint    not null,
    result               smallint  not null,
    type                 smallint  not null,
    primary key (entity_id, consensus_timestamp)
);

-- Times of the balance snapshots.
create table account_balance_file (
    consensus_timestamp  bigint                  not null,
    count                bigint                  not null,
    load_start           bigint                  not null,
    load_end             bigint                  not null,
    file_hash            character varying(96)   null,
    name                 character varying(250)  not null,
    bytes                bytea                   null,
    time_offset          integer                 not null  default 0,
    synthetic            boolean                 not null  default false,
    primary key (consensus_timestamp)
);
create index account_balance_file__name on account_balance_file (name);

-- Hbar balances of the snapshots. Only the first snapshot of a month is complete; the others contain changes.
create table account_balance (
    consensus_timestamp  nanos_timestamp  not null,
    balance              hbar_tinybars    not null,
    account_id           entity_id        not null,
    primary key (account_id, consensus_timestamp)
) partition by range (consensus_timestamp);
-- The default partition contains the rows of months without a partition.
create table account_balance_default partition of account_balance default;

-- Hbar that a spender may transfer from an owner's account.
create table crypto_allowance (
    amount_granted    bigint     not null,
    owner             bigint     not null,
    payer_account_id  bigint     not null,
    spender           bigint     not null,
    timestamp_range   int8range  not null,
    amount            bigint     not null  default 0,
    primary key (owner, spender)
);

-- Earlier versions of hbar allowances.
create table crypto_allowance_history (like crypto_allowance including defaults);
create index crypto_allowance_history__timestamp_range
    on crypto_allowance_history using gist (timestamp_range);
create index crypto_allowance_history_owner_spender_lower_timestamp
    on crypto_allowance_history (owner, spender, lower(timestamp_range));

-- Paid staking rewards.
create table staking_reward_transfer (
    account_id           bigint  not null,
    amount               bigint  not null,
    consensus_timestamp  bigint  not null,
    payer_account_id     bigint  not null,
    primary key (consensus_timestamp, account_id)
);
create index staking_reward_transfer__account_timestamp
    on staking_reward_transfer (account_id, consensus_timestamp);

-- Live hashes attached to accounts.
create table live_hash (
    livehash             bytea            null,
    consensus_timestamp  nanos_timestamp  not null,
    primary key (consensus_timestamp)
);
