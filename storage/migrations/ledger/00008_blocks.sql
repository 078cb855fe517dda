-- +goose Up
-- Blocks.

-- Blocks.
create table record_file (
    name                                character varying(250)  not null,
    load_start                          bigint                  not null,
    load_end                            bigint                  not null,
    hash                                character varying(96)   not null,
    prev_hash                           character varying(96)   not null,
    consensus_start                     bigint                  not null,
    consensus_end                       bigint                  not null,
    count                               bigint                  not null,
    digest_algorithm                    integer                 not null,
    hapi_version_major                  integer                 null,
    hapi_version_minor                  integer                 null,
    hapi_version_patch                  integer                 null,
    version                             integer                 not null,
    file_hash                           character varying(96)   not null,
    bytes                               bytea                   null,
    index                               bigint                  not null,
    gas_used                            bigint                  null      default -1,
    logs_bloom                          bytea                   null,
    size                                integer                 null,
    sidecar_count                       integer                 not null  default 0,
    software_version_major              integer                 null,
    software_version_minor              integer                 null,
    software_version_patch              integer                 null,
    round_start                         bigint                  null,
    round_end                           bigint                  null,
    previous_wrapped_record_block_hash  bytea                   null,
    wrapped_record_block_hash           bytea                   null,
    receipts_root                       bytea                   null,
    primary key (consensus_end)
);
create index record_file__hash on record_file (hash collate "C");
create index record_file__index on record_file (index);

-- Sidecar files of blocks.
create table sidecar_file (
    bytes           bytea                   null,
    count           integer                 null,
    consensus_end   bigint                  not null,
    hash_algorithm  integer                 not null,
    hash            bytea                   not null,
    id              integer                 not null,
    name            character varying(250)  not null,
    size            integer                 null,
    types           integer[]               not null,
    primary key (consensus_end, id)
);
