-- +goose Up
-- Hooks of accounts and their storage.

-- Hooks and their owners.
create table hook (
    contract_id        bigint                null,
    created_timestamp  bigint                null,
    hook_id            bigint                not null,
    owner_id           bigint                not null,
    timestamp_range    int8range             null,
    extension_point    hook_extension_point  not null  default 'ACCOUNT_ALLOWANCE_HOOK',
    deleted            boolean               not null  default false,
    admin_key          bytea                 null,
    type               hook_type             not null  default 'EVM',
    primary key (owner_id, hook_id)
);

-- Earlier versions of hooks.
create table hook_history (like hook including defaults);

-- Current values of a hook's storage slots.
create table hook_storage (
    created_timestamp   bigint   not null,
    hook_id             bigint   not null,
    modified_timestamp  bigint   not null,
    owner_id            bigint   not null,
    key                 bytea    not null,
    value               bytea    not null,
    deleted             boolean  not null  default false,
    primary key (owner_id, hook_id, key)
);

-- Storage slots that a transaction of a hook read or wrote.
create table hook_storage_change (
    consensus_timestamp  bigint   not null,
    hook_id              bigint   not null,
    owner_id             bigint   not null,
    key                  bytea    not null,
    value_read           bytea    not null,
    value_written        bytea    null,
    deleted              boolean  not null  default false,
    primary key (owner_id, hook_id, key, consensus_timestamp)
);
