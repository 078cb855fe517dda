-- +goose Up
-- Contracts, their calls, logs, traces and storage.

-- Code of contracts.
create table contract (
    id                bigint  not null,
    file_id           bigint  null,
    initcode          bytea   null,
    runtime_bytecode  bytea   null,
    primary key (id)
);

-- Results of contract calls, contract creations and Ethereum transactions.
create table contract_result (
    function_parameters   bytea            not null,
    gas_limit             bigint           not null,
    function_result       bytea            null,
    gas_used              bigint           null,
    consensus_timestamp   nanos_timestamp  not null,
    amount                bigint           null,
    bloom                 bytea            null,
    call_result           bytea            null,
    contract_id           bigint           not null,
    created_contract_ids  bigint[]         null,
    error_message         text             null,
    payer_account_id      bigint           not null,
    sender_id             bigint           null,
    failed_initcode       bytea            null,
    transaction_hash      bytea            null,
    transaction_index     integer          null,
    transaction_result    smallint         not null,
    transaction_nonce     integer          not null  default 0,
    gas_consumed          bigint           null,
    primary key (consensus_timestamp)
);
create index contract_result__id_sender_timestamp
    on contract_result (contract_id, sender_id, consensus_timestamp);
create index contract_result__id_timestamp on contract_result (contract_id, consensus_timestamp);
create index contract_result__sender_timestamp on contract_result (sender_id, consensus_timestamp);

-- Logs that contracts emitted, and logs derived from transfers and approvals of tokens.
create table contract_log (
    bloom                bytea    not null,
    consensus_timestamp  bigint   not null,
    contract_id          bigint   not null,
    data                 bytea    not null,
    index                integer  not null,
    topic0               bytea    null,
    topic1               bytea    null,
    topic2               bytea    null,
    topic3               bytea    null,
    payer_account_id     bigint   not null,
    root_contract_id     bigint   null,
    transaction_hash     bytea    null,
    transaction_index    integer  null,
    synthetic            boolean  null,
    primary key (consensus_timestamp, index)
);
create index contract_log__contract_id_timestamp_index
    on contract_log (contract_id, consensus_timestamp desc, index);
create index contract_log__synthetic_timestamp on contract_log (consensus_timestamp desc, index desc)
    where synthetic is true;

-- Call traces.
create table contract_action (
    call_depth           integer      not null,
    call_type            integer      null,
    caller               bigint       null,
    caller_type          entity_type  null      default 'CONTRACT',
    consensus_timestamp  bigint       not null,
    gas                  bigint       not null,
    gas_used             bigint       not null,
    index                integer      not null,
    input                bytea        null,
    recipient_account    bigint       null,
    recipient_address    bytea        null,
    recipient_contract   bigint       null,
    result_data          bytea        null,
    result_data_type     integer      not null,
    value                bigint       not null,
    call_operation_type  integer      null,
    payer_account_id     bigint       not null,
    primary key (consensus_timestamp, index)
);

-- Current values of storage slots.
create table contract_state (
    contract_id         bigint  not null,
    created_timestamp   bigint  not null,
    modified_timestamp  bigint  not null,
    slot                bytea   not null,
    value               bytea   null,
    primary key (contract_id, slot)
);

-- Storage slots that a transaction read or wrote.
create table contract_state_change (
    consensus_timestamp  bigint   not null,
    contract_id          bigint   not null,
    payer_account_id     bigint   not null,
    slot                 bytea    not null,
    value_read           bytea    not null,
    value_written        bytea    null,
    migration            boolean  not null  default false,
    primary key (consensus_timestamp, contract_id, slot)
);
create index contract_state_change__id_slot_timestamp
    on contract_state_change (contract_id, slot, consensus_timestamp);

-- One row per party of a contract transaction, with the ids of all parties.
create table contract_transaction (
    consensus_timestamp  bigint    not null,
    entity_id            bigint    not null,
    contract_ids         bigint[]  not null,
    payer_account_id     bigint    not null,
    constraint contract_transaction__pk primary key (consensus_timestamp, entity_id)
);

-- 32-byte hashes of contract transactions, with time, payer and result.
create table contract_transaction_hash (
    consensus_timestamp  bigint    not null,
    hash                 bytea     not null,
    payer_account_id     bigint    not null,
    entity_id            bigint    not null,
    transaction_result   smallint  not null
);
create index contract_transaction_hash__hash on contract_transaction_hash using hash (hash);

-- Decoded Ethereum transactions.
create table ethereum_transaction (
    call_data_id              bigint    null,
    call_data                 bytea     null,
    chain_id                  bytea     null,
    consensus_timestamp       bigint    not null,
    data                      bytea     not null,
    gas_limit                 bigint    not null,
    gas_price                 bytea     null,
    hash                      bytea     not null,
    max_fee_per_gas           bytea     null,
    max_gas_allowance         bigint    not null,
    max_priority_fee_per_gas  bytea     null,
    nonce                     bigint    not null,
    payer_account_id          bigint    not null,
    recovery_id               smallint  null,
    signature_r               bytea     not null,
    signature_s               bytea     not null,
    signature_v               bytea     null,
    to_address                bytea     null,
    type                      smallint  not null,
    value                     bytea     null,
    authorization_list        jsonb     null,
    access_list               jsonb     null,
    primary key (consensus_timestamp)
);
