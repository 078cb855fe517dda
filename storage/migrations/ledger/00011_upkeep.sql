-- +goose Up
-- Maintenance tables. The gateway does not read them.

-- Results of the check that balances match transfers.
create table reconciliation_job (
    consensus_timestamp  bigint                    not null,
    count                bigint                    not null,
    error                text                      not null  default '',
    timestamp_end        timestamp with time zone  null,
    timestamp_start      timestamp with time zone  not null,
    status               smallint                  not null,
    primary key (timestamp_start)
);

-- Hbar balance snapshots in the former format, with all accounts in each snapshot.
create table account_balance_old (
    consensus_timestamp  nanos_timestamp  not null,
    balance              hbar_tinybars    not null,
    account_id           entity_id        not null,
    constraint account_balance__pk primary key (consensus_timestamp, account_id)
);

-- Token balance snapshots in the former format, with all relationships in each snapshot.
create table token_balance_old (
    consensus_timestamp  bigint     not null,
    account_id           entity_id  not null,
    balance              bigint     not null,
    token_id             entity_id  not null,
    constraint token_balance__pk primary key (consensus_timestamp, account_id, token_id)
);

-- Transfers that the payer requested, without fees. No longer written.
create table non_fee_transfer (
    entity_id            entity_id        null,
    consensus_timestamp  nanos_timestamp  not null,
    amount               hbar_tinybars    not null,
    payer_account_id     bigint           not null,
    is_approval          boolean          null
);
create index non_fee_transfer__consensus_timestamp on non_fee_transfer (consensus_timestamp);
