-- +goose Up
-- Topics and their messages.

-- Keys of topics.
create table topic (
    admin_key            bytea      null,
    created_timestamp    bigint     null,
    id                   bigint     not null,
    fee_exempt_key_list  bytea      null,
    fee_schedule_key     bytea      null,
    submit_key           bytea      null,
    timestamp_range      int8range  not null,
    primary key (id)
);

-- Earlier versions of topics.
create table topic_history (like topic including defaults);
create index topic_history__id_lower_timestamp_range on topic_history (id, lower(timestamp_range));
create index topic_history__timestamp_range on topic_history using gist (timestamp_range);

-- Messages of topics.
create table topic_message (
    consensus_timestamp     nanos_timestamp  not null,
    message                 bytea            not null,
    running_hash            bytea            not null,
    sequence_number         bigint           not null,
    running_hash_version    smallint         null,
    chunk_num               integer          null,
    chunk_total             integer          null,
    payer_account_id        entity_id        null,
    valid_start_timestamp   nanos_timestamp  null,
    topic_id                bigint           not null,
    initial_transaction_id  bytea            null
);
create unique index topic_message__topic_id_seqnum on topic_message (topic_id, sequence_number);
create index topic_message__topic_id_timestamp on topic_message (topic_id, consensus_timestamp);

-- Ranges of sequence numbers and times for each time partition of the messages.
create table topic_message_lookup (
    partition              text       not null,
    sequence_number_range  int8range  not null,
    timestamp_range        int8range  not null,
    topic_id               bigint     not null,
    primary key (topic_id, partition)
);
