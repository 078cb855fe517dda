-- +goose Up
-- File contents.

-- Parts of file contents, one per transaction that created, replaced or appended content.
create table file_data (
    file_data            bytea            null,
    consensus_timestamp  nanos_timestamp  not null,
    entity_id            entity_id        not null,
    transaction_type     smallint         not null,
    primary key (consensus_timestamp)
);
create index file_data__id_timestamp on file_data (entity_id, consensus_timestamp);
