-- +goose Up
-- Contents of files.

-- Contents of files piece by piece: what created, replaced or extended them.
create table file_data (
    file_data            bytea            null,
    consensus_timestamp  nanos_timestamp  not null,
    entity_id            entity_id        not null,
    transaction_type     smallint         not null,
    primary key (consensus_timestamp)
);
create index file_data__id_timestamp on file_data (entity_id, consensus_timestamp);
