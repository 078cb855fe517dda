-- +goose Up
-- Nodes, address books, staking periods and other data about the network.

-- Address books, with the time from which each is valid.
create table address_book (
    start_consensus_timestamp  nanos_timestamp  not null,
    end_consensus_timestamp    nanos_timestamp  null,
    file_id                    entity_id        not null,
    node_count                 integer          null,
    file_data                  bytea            not null,
    primary key (start_consensus_timestamp)
);

-- Nodes of an address book.
create table address_book_entry (
    consensus_timestamp  nanos_timestamp          not null,
    memo                 character varying(128)   null,
    public_key           character varying(1024)  null,
    node_id              bigint                   not null,
    node_account_id      entity_id                not null,
    node_cert_hash       bytea                    null,
    description          character varying(100)   null,
    stake                bigint                   null,
    primary key (consensus_timestamp, node_id)
);
create index address_book_entry__timestamp on address_book_entry (consensus_timestamp);

-- Service endpoints of the nodes of an address book.
create table address_book_service_endpoint (
    consensus_timestamp  bigint                  not null,
    ip_address_v4        character varying(15)   not null  default '',
    node_id              bigint                  not null,
    port                 integer                 not null,
    domain_name          character varying(253)  not null  default ''
);
create index address_book_service_endpoint__timestamp_node_id
    on address_book_service_endpoint (consensus_timestamp, node_id);

-- Nodes as managed by transactions.
create table node (
    admin_key                    bytea      null,
    created_timestamp            bigint     null,
    deleted                      boolean    not null  default false,
    node_id                      bigint     not null,
    timestamp_range              int8range  not null,
    decline_reward               boolean    not null  default false,
    grpc_proxy_endpoint          jsonb      null,
    account_id                   bigint     null,
    associated_registered_nodes  bigint[]   null,
    constraint node__pk primary key (node_id)
);

-- Earlier versions of nodes.
create table node_history (like node including defaults);
create index node_history__node_id_lower_timestamp on node_history (node_id, lower(timestamp_range));

-- Stake and reward rate of each node per staking period.
create table node_stake (
    consensus_timestamp  bigint  not null,
    epoch_day            bigint  not null,
    node_id              bigint  not null,
    reward_rate          bigint  not null,
    stake                bigint  not null,
    stake_rewarded       bigint  not null,
    staking_period       bigint  not null,
    max_stake            bigint  not null,
    min_stake            bigint  not null,
    stake_not_rewarded   bigint  not null,
    primary key (consensus_timestamp, node_id)
);
create index node_stake__epoch_day on node_stake (epoch_day);

-- Stake and rewards of the whole network per staking period.
create table network_stake (
    consensus_timestamp                bigint  not null,
    epoch_day                          bigint  not null,
    max_staking_reward_rate_per_hbar   bigint  not null,
    node_reward_fee_denominator        bigint  not null,
    node_reward_fee_numerator          bigint  not null,
    stake_total                        bigint  not null,
    staking_period                     bigint  not null,
    staking_period_duration            bigint  not null,
    staking_periods_stored             bigint  not null,
    staking_reward_fee_denominator     bigint  not null,
    staking_reward_fee_numerator       bigint  not null,
    staking_reward_rate                bigint  not null,
    staking_start_threshold            bigint  not null,
    max_stake_rewarded                 bigint  not null  default 0,
    max_total_reward                   bigint  not null  default 0,
    reserved_staking_rewards           bigint  not null  default 0,
    reward_balance_threshold           bigint  not null  default 0,
    unreserved_staking_reward_balance  bigint  not null  default 0,
    primary key (consensus_timestamp)
);

-- Block nodes, mirror nodes, relays and other registered services.
create table registered_node (
    admin_key           bytea                   null,
    created_timestamp   bigint                  null,
    deleted             boolean                 not null  default false,
    description         character varying(100)  null,
    registered_node_id  bigint                  not null,
    service_endpoints   jsonb                   null,
    timestamp_range     int8range               not null,
    type                smallint[]              not null  default '{}',
    constraint registered_node__pk primary key (registered_node_id)
);
create index registered_node__type on registered_node using gin (type) where deleted is false;

-- Earlier versions of registered nodes.
create table registered_node_history (like registered_node including defaults);
create index registered_node_history__node_id_lower_timestamp
    on registered_node_history (registered_node_id, lower(timestamp_range));

-- Announced freezes of the network.
create table network_freeze (
    consensus_timestamp  bigint    not null,
    end_time             bigint    null,
    file_hash            bytea     not null,
    file_id              bigint    null,
    payer_account_id     bigint    not null,
    start_time           bigint    not null,
    type                 smallint  not null,
    primary key (consensus_timestamp)
);

-- Ledger ids with their proof keys.
create table ledger (
    consensus_timestamp             bigint  not null,
    history_proof_verification_key  bytea   not null,
    ledger_id                       bytea   not null,
    node_contributions              jsonb   not null,
    primary key (ledger_id)
);
